"""Describe a release, how it was made and its known biases, for the card and the Croissant metadata."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from peercorpus.corpus.reminder_decisions import Verdict
from peercorpus.corpus.text_choice import TextChoice
from peercorpus.records.enums import Status, Unseen
from peercorpus.release.card.citation import CITED, TITLE, release_bibtex, release_version
from peercorpus.release.counts import ReleaseCounts, VenueCounts
from peercorpus.release.request import ReleaseLayout
from peercorpus.venues.catalogue import VenueRow, Visibility, row_of
from peercorpus.venues.own_venues import OwnInvitations, OwnWords, extend_row
from peercorpus.venues.rules import warn_of_pooling
from peercorpus.wording.counted_nouns import plural
from peercorpus.workspace.workspace import OWN_VENUES

Show = Callable[[str], str]
"""Formats text from OpenReview for its destination: escaped for the card, unchanged for JSON."""
HIDING = {Visibility.REJECTED_OPT_IN, Visibility.ACCEPTED_ONLY}
COMPARED = (Status.ACCEPTED, Status.REJECTED, Status.WITHDRAWN, Status.DESK_REJECTED)


def biases(tally: ReleaseCounts, show: Show) -> list[str]:
    """Return every known bias that applies to this release, one paragraph each."""
    finders = (
        _find_rejected_absent,
        _find_reverted,
        _find_pooled,
        _find_initial_missing,
        _find_later_texts,
        _find_first_scores_unknown,
        _find_updated,
        _find_ai_reviews,
        _find_readers_unstated,
        _find_unseen_replies,
        _find_public_only,
    )
    return [bias for find in finders for bias in find(tally, show)]


def extended_row(venue: VenueCounts) -> VenueRow | None:
    """Return the catalogue's row of a venue, extended by the user's at the time of the release."""
    row = row_of(venue.venue_id)
    return extend_row(row, venue.own) if venue.own else row


def _look_up_visibility(venue: VenueCounts) -> Visibility | None:
    row = extended_row(venue)
    return row.visibility if row else None


def _find_pooled(tally: ReleaseCounts, show: Show) -> Iterator[str]:
    rows = {venue.venue_id: extended_row(venue) for venue in tally.venues if venue.papers}
    warning = warn_of_pooling(rows, rows)
    yield from [f"A number over the whole release {show(warning[0].lower() + warning[1:])}"] if warning else []


def _describe_own_rows(tally: ReleaseCounts, show: Show) -> Iterator[str]:
    """Yield the statements of the workspace's `venues.toml` about each venue, with their sources."""
    for venue in tally.venues:
        own = venue.own
        if own is None:
            continue
        dues = {"abstracts": own.abstract_deadline, "full papers": own.full_deadline, "reviews": own.review_deadline}
        said = [
            f"{what} were due at {due.at:%Y-%m-%d %H:%M:%S} UTC ({show(due.source)})"
            for what, due in dues.items()
            if due is not None
        ]
        said += [
            f"the workspace's file states its {what} ({show(own.source)})"
            for what, is_stated in {
                "review form": own.form is not None,
                "names for replies, scores, roles or decision fields": own.words != OwnWords(),
                "statuses": bool(own.statuses),
                "visibility": own.visibility is not None,
                "invitations that change a PDF": own.invitations != OwnInvitations(),
            }.items()
            if is_stated
        ]
        yield (
            f"For {show(venue.venue_id)}, whoever made the workspace stated in its `{OWN_VENUES}`:"
            f" {'; '.join(said) or 'nothing that its tables show'}. `inputs.json` has the row and the file's digest."
        )


def _format_share(count: int, of: int) -> str:
    return f"{count:,} of {of:,} ({count / of:.0%})"


def _spell_status(status: Status) -> str:
    return status.value.replace("_", " ")


def _list_counts(venues: Sequence[VenueCounts], show: Show) -> str:
    one_each = (
        f"{show(venue.venue_id)} ({venue.of_status(Status.ACCEPTED):,} accepted, {venue.of_status(Status.REJECTED):,}"
        " rejected)"
        for venue in venues
    )
    return ", ".join(one_each)


def _find_rejected_absent(tally: ReleaseCounts, show: Show) -> Iterator[str]:
    hiding = [venue for venue in tally.venues if _look_up_visibility(venue) in HIDING]
    silent = [
        venue
        for venue in tally.venues
        if venue not in hiding and venue.of_status(Status.ACCEPTED) and not venue.of_status(Status.REJECTED)
    ]
    if hiding:
        yield (
            "These venues publish rejected papers only if their authors agree, or not at all, so rejected papers are"
            f" missing or self-selected: {_list_counts(hiding, show)}."
        )
    if silent:
        yield f"These venues have no rejected papers here; why is not known: {_list_counts(silent, show)}."
    accepted, rejected = (sum(venue.of_status(status) for venue in tally.venues) for status in COMPARED[:2])
    if accepted + rejected:
        yield (
            f"Of the papers that were accepted or rejected, {_format_share(accepted, accepted + rejected)} are"
            " accepted. That is a share of the public papers; where rejected papers are hidden, it is not the venue's"
            " acceptance rate."
        )


def _find_reverted(tally: ReleaseCounts, show: Show) -> Iterator[str]:
    for venue in tally.venues:
        if _look_up_visibility(venue) is Visibility.REVERTED_BEFORE_DISCUSSION and venue.reviews:
            yield (
                f"{show(venue.venue_id)} reset its reviews to their state before the discussion: the scores of its"
                f" {venue.reviews:,} reviews are those first given, and what the discussion changed is not known."
            )


def _find_initial_missing(tally: ReleaseCounts, _: Show) -> Iterator[str]:
    """Yield whether the text that the reviewers read is missing more often for one outcome than for another."""
    counted = {status: sum(venue.of_status(status) for venue in tally.venues) for status in COMPARED}
    missing = {
        status: count - sum(venue.with_initial[status] for venue in tally.venues)
        for status, count in counted.items()
        if count
    }
    if not missing:
        return
    named = "; ".join(
        f"{_spell_status(status)} {_format_share(count, counted[status])}" for status, count in missing.items()
    )
    shares = {status: count / counted[status] for status, count in missing.items()}
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    if len(shares) == 1:
        leaning = "There is no other outcome to compare with."
    elif shares[most] == shares[least]:
        leaning = "It is missing equally often for each outcome."
    else:
        leaning = (
            f"It is missing most often where the paper is {_spell_status(most)}, least often where it is"
            f" {_spell_status(least)}: papers that are {_spell_status(most)} are under-represented among those with"
            " such a text."
        )
    yield (
        "A text that is proven to be what the reviewers read is missing for these papers, by outcome:"
        f" {named}. {leaning}"
    )


def _find_later_texts(tally: ReleaseCounts, _: Show) -> Iterator[str]:
    """Yield how many papers of each outcome have a text that is not proven to be what the reviewers read."""
    unproven = {
        status: sum(venue.with_text[status] - venue.with_initial[status] for venue in tally.venues)
        for status in COMPARED
    }
    if any(unproven.values()):
        named = "; ".join(
            f"{_spell_status(status)} {_format_share(count, sum(venue.with_text[status] for venue in tally.venues))}"
            for status, count in unproven.items()
            if count
        )
        yield (
            "Of the papers with a text, these have one that is not proven to be what the reviewers read, by outcome:"
            f" {named}. Such a text may be of a later version and give the decision away;"
            f" {_TOLD_APART[tally.request.layout]}."
        )


_TOLD_APART = {
    ReleaseLayout.PEERCORPUS: "`grade` tells them apart",
    ReleaseLayout.REVIEWBENCH: "no column of this layout tells them apart",
}


def _name_columns(tally: ReleaseCounts, names: str) -> str:
    """Return the columns that show a doubt, in brackets; nothing in a layout without them."""
    return f" ({names})" if tally.request.layout is ReleaseLayout.PEERCORPUS else ""


def _find_first_scores_unknown(tally: ReleaseCounts, _: Show) -> Iterator[str]:
    doubts = tally.doubts
    reviews = sum(venue.reviews for venue in tally.venues)
    if doubts.scores:
        yield (
            f"The value first given is not known for {_format_share(doubts.scores_unknown, doubts.scores)} scores; of"
            f" {doubts.scores_told:,} it is known only from the reviewer's own words"
            f"{_name_columns(tally, '`initial_source` is `text`')}."
        )
    if reviews:
        yield (
            f"It is not known whether {_format_share(doubts.unrevealed, reviews)} reviews were changed"
            f"{_name_columns(tally, '`revised` is null')}: they may contain text written after the discussion, with no"
            " visible trace of it."
        )


def _find_updated(tally: ReleaseCounts, _: Show) -> Iterator[str]:
    if tally.doubts.updated:
        reviews = sum(venue.reviews for venue in tally.venues)
        yield (
            f"{_format_share(tally.doubts.updated, reviews)} reviews state that a part was added later, and their first"
            f" text is not known{_name_columns(tally, '`updated_fields`, `holds_update`')}."
        )


def _find_ai_reviews(tally: ReleaseCounts, _: Show) -> Iterator[str]:
    if tally.ai_reviews:
        yield (
            f"{tally.ai_reviews:,} reviews are by an AI, or may be by their signer's name (`certainty`). They are in"
            " `ai_reviews` alone, with the authors' answers and the surveys that rate them: no other configuration,"
            " count, conversation or split includes them. Whether people had an AI write their reviews is not known."
        )


def _find_public_only(tally: ReleaseCounts, _: Show) -> Iterator[str]:
    papers = sum(venue.papers for venue in tally.venues)
    yield (
        "Only public records are included, and venues differ in what they make public:"
        f" {_format_share(tally.doubts.unreviewed, papers)} papers have no review."
        if papers
        else "Only public records are included."
    )


def _find_readers_unstated(tally: ReleaseCounts, show: Show) -> Iterator[str]:
    unstated = {venue.venue_id: venue.readers_unstated for venue in tally.venues if venue.readers_unstated}
    if unstated:
        yield (
            "Some of it was imported from dumps in which nothing names readers; it counts as public, but nothing proves"
            f" it: {', '.join(f'{show(venue_id)} ({count:,} notes)' for venue_id, count in unstated.items())}."
        )


def _find_unseen_replies(tally: ReleaseCounts, show: Show) -> Iterator[str]:
    """Yield what the numbers of replies prove about those that are in no row, by venue."""
    by_venue = [
        f"{show(venue.venue_id)}: {venue.unseen[Unseen.NONE]:,} papers with none, {venue.unseen[Unseen.NOT_SHOWN]:,}"
        f" with at least {venue.replies_not_shown:,} replies that were not shown to us (hidden, or deleted earlier),"
        f" {venue.unseen[Unseen.DELETED]:,} with replies deleted since ({venue.replies_deleted:,} in all),"
        f" {venue.unseen[Unseen.UNKNOWN]:,} not known"
        for venue in tally.venues
        if venue.unseen.total() > venue.unseen[Unseen.UNKNOWN]
    ]
    if by_venue:
        yield (
            "What was posted and is not here is counted by gaps in the numbers of replies, which show nothing after the"
            f" last reply that was seen. {'; '.join(by_venue)}. Of other venues it is not known."
        )
    elif tally.venues:
        yield "No numbers of replies show how many were posted and are not here."


DESCRIPTIONS = {
    ReleaseLayout.PEERCORPUS: (
        "Submissions with their texts, each graded by whether it is the version that the reviewers read; every public"
        " official review and meta-review, the exchange with each reviewer, every other post, and the decision"
    ),
    ReleaseLayout.REVIEWBENCH: (
        "Submissions with the text that the reviewers read or that of another version; every public official review"
        " with the authors' answer to it, their response to all reviewers, the meta-review, and the decision"
    ),
}
"""Contents of a release, by its layout."""
COLLECTION = (
    "peercorpus requested from OpenReview's API everything about the listed venues that everyone may read, or imported"
    " recorded responses of the API, and stored it as received; where the card names published datasets, their records"
    " were imported too. No people were surveyed."
)
RAW_DATA = (
    "The responses of OpenReview's API and the PDFs stored there, in every version that was received. They stay in the"
    " workspace from which the release was made and are not part of it."
)
PREPROCESSING = [
    "Review forms are read from the venue's own invitation, so each score and text has the field name and the scale of"
    " the form in which it was given. If no invitation can be read, a declared form is used, or the form is inferred"
    " from the answers and its scales stay unknown.",
    "Each PDF's history is compared with the submission deadline, and the version that the reviewers read is graded by"
    " how that is known. {choice}",
    "PDFs are converted to Markdown by the engine that `text_engine` names; texts of published datasets are unchanged.",
    "Replies are ordered into conversations, one per reviewer and further ones with others; posts that form one"
    " answer are merged.",
    "Records that a step cannot read are set aside with a reason and counted.",
]
_TEXTS_CHOSEN = {
    TextChoice.INITIAL: (
        "The text of a paper is one that is accepted as the version that the reviewers read; other papers have none."
    ),
    TextChoice.BEST: "The text of a paper is the best available, with its grade.",
    TextChoice.ALL: "The text of a paper is the best available, with its grade; `texts` has that of every version.",
}
_IN_TASKS = " The configurations for tasks have only texts of grade `{grade}` or better."
IMPUTATION = "Missing values are not imputed: a value that OpenReview does not state is null."
MANIPULATION = (
    "E-mail addresses and OpenReview profile ids inside texts are replaced by `[e-mail]` and `[profile]`. Everything"
    " else is verbatim."
)
ANNOTATION = (
    "Nothing was annotated for this release. Scores and texts are what the reviewers entered in the venue's review"
    " form; the aspect of a score, and its place on Re²'s scale, are derived from the wording of the form by rules."
)
DEMOGRAPHICS = "Not known: reviewers are anonymous."
LIMITATIONS = [
    "The release shows OpenReview at the time of the harvest: earlier and later states are not included.",
    "Texts are extracted from PDFs: formulas and tables may be damaged, and a page that is an image has no text unless"
    " it was read by OCR.",
    "Scores of different venues are on different scales.",
    "Only the listed venues are covered; they were not chosen to be representative of peer review in general.",
]
USES = [
    "Research on peer review: what reviewers write, how scores change in the discussion, which papers are accepted.",
    "Training and testing models that review a paper or discuss a review, with the splits of the release, to help"
    " authors and reviewers.",
    "It must not be used to decide on a paper, a person or a job, or to find out who wrote a review.",
]
SOCIAL_IMPACT = (
    "Models trained on it may help authors before they submit, and reviewers to check their own work. They also learn"
    " what reviewers favour and may entrench it; reviews written by machines could displace the human judgement that"
    " they were trained on."
)
PEOPLE = [
    "Reviewers, area chairs and other members of a committee are anonymous in OpenReview and stay so: their ids are"
    " valid within one paper only and identify nobody. Do not try to identify them.",
    "People who commented under their own name appear under a pseudonym, made with a key that is not published.",
    "E-mail addresses and profile ids inside texts, including the Markdown of the papers, are masked; an address that"
    " is written out in words, or broken up by spaces, is not found.",
    "What people wrote about themselves in a paper, a review or a comment is unchanged.",
]
AUTHORS = "Authors are named where OpenReview names them{in_tasks}."
NO_AUTHORS = {
    ReleaseLayout.PEERCORPUS: (
        "Authors are not named, except where a text names them. Left out are changes naming an author, and texts that"
        " name one on their first page, unless they are proven to be what the reviewers read. If no author of a paper"
        " is known by a full name, all its changes and all its unproven texts are left out."
    ),
    ReleaseLayout.REVIEWBENCH: (
        "Authors are not named, except where a text names them; texts that are not proven to be what the reviewers read"
        " and name one on their first page are left out, as are those of papers of which no author is known by a full"
        " name."
    ),
}
REMOVAL = (
    "A later release replaces this one{kept}. Anyone who wrote a paper, a review or a"
    " comment may ask for its removal: write to the publishers of this release, and give the id of the paper or note,"
    " or the profile of the author. The workspace keeps these ids in `takedown.txt`, and no later export contains what"
    " they name. `takedown.json` counts what was left out for this reason; it has a salted hash of each id, but none of"
    " the content."
)
LICENCES = {
    ReleaseLayout.PEERCORPUS: (
        "There is no single licence, and none is granted here. A submission is under the licence stated on its page on"
        " OpenReview, if one is stated: the column `licence` of `papers` has it. Reviews and comments are under"
        " OpenReview's terms of use, and under the licence that their note states (`licence`); if their writers were"
        " asked for consent, `consent` has their answer."
    ),
    ReleaseLayout.REVIEWBENCH: (
        "There is no single licence, and none is granted here. A submission is under the licence stated on its page on"
        " OpenReview, if one is stated. Reviews are under OpenReview's terms of use, and under the licence that their"
        " note states. This layout has no column for either: `papers` and `reviews` of the default layout have one."
    ),
}
KEYWORDS = ["peer review", "OpenReview", "rebuttal", "scholarly documents", "peercorpus"]


@dataclass(frozen=True, slots=True)
class Statements:
    """All statements on a release.

    Attributes:
        dataset: The properties of the data set, by their names in Croissant.
        rai: The properties in Croissant's RAI vocabulary.
    """

    dataset: dict[str, Any]
    rai: dict[str, Any]

    def as_markdown(self) -> dict[str, str]:
        """Return all properties as Markdown: a single statement as a paragraph, several as a list."""
        return {
            name: value if isinstance(value, str) else "\n".join(f"- {statement}" for statement in value)
            for name, value in {**self.dataset, **self.rai}.items()
        }


def missing_venues(tally: ReleaseCounts, show: Show) -> str:
    """Return the sentences on incomplete venues, and on rows left out of this release."""
    partial = [show(venue.venue_id) for venue in tally.venues if venue.is_listed is False]
    imported = [show(venue.venue_id) for venue in tally.venues if venue.is_listed is None and not venue.records]
    sentences = []
    if partial:
        sentences.append(f"Harvested only in part, so papers are missing: {', '.join(partial)}.")
    if imported:
        sentences.append(f"Imported from recorded responses, which may be incomplete: {', '.join(imported)}.")
    for dataset, (title, licence, _) in CITED.items():
        if held := [show(venue.venue_id) for venue in tally.venues if venue.records[dataset]]:
            sentences.append(
                f"Papers of these venues that were not requested from OpenReview itself come from {title} ({licence}),"
                f" which must be credited: {', '.join(held)}."
            )
    return " ".join(
        [*(sentences or ["Every venue was listed completely when it was harvested."]), _list_left_out(tally)]
    )


def _list_left_out(tally: ReleaseCounts) -> str:
    counts = {f"{what} that are not public": count for what, count in sorted(tally.withheld.items())}
    counts |= dict(sorted(tally.left_out.items()))
    counts["reviews and conversations without a paper"] = tally.orphans
    counts["links to papers outside this release"] = tally.links_left_out
    taken_down = sorted(tally.taken_down.items())
    counts |= {f"{what.replace('ai_', 'AI ')} that were taken down": count for what, count in taken_down}
    named = [f"{count:,} {what}" for what, count in counts.items() if count]
    return f"Left out of this release: {'; '.join(named)}." if named else "No rows of the tables were left out."


def _describe_reminders(tally: ReleaseCounts) -> list[str]:
    """Return the sentences on manual decisions about the authors' posts; empty if there were none."""
    if not tally.reminders:
        return []
    left, kept = (tally.reminders[verdict] for verdict in (Verdict.REMINDER, Verdict.KEEP))
    return [
        "Posts of the authors that only ask for a reply are left out of conversations by a rule, which a person"
        f" overruled or confirmed for {left + kept:,} posts of the workspace: {left:,} left out, {kept:,} kept."
    ]


def _describe(tally: ReleaseCounts) -> str:
    or_recorded = ", or as recorded in published datasets" if any(venue.records for venue in tally.venues) else ""
    return f"{DESCRIPTIONS[tally.request.layout]}, as shown publicly on OpenReview{or_recorded}."


def _describe_names(tally: ReleaseCounts) -> str:
    if tally.request.no_authors:
        return NO_AUTHORS[tally.request.layout]
    return AUTHORS.format(in_tasks="" if tally.request.drawn is None else ", but not in the configurations for tasks")


def _describe_steps(tally: ReleaseCounts) -> list[str]:
    rule = tally.request.text_rule
    in_tasks = "" if tally.request.drawn is None else _IN_TASKS.format(grade=rule.worst_grade)
    choice = _TEXTS_CHOSEN[rule.choice] + in_tasks
    return [step.format(choice=choice) for step in PREPROCESSING]


def state_release(tally: ReleaseCounts, show: Show = str) -> Statements:
    """Return all statements on a release.

    Args:
        tally: The counts of the release.
        show: Formats text from OpenReview.
    """
    papers, reviews = sum(venue.papers for venue in tally.venues), sum(venue.reviews for venue in tally.venues)
    first, newest = tally.harvested or (None, None)
    dated = {"datePublished": f"{newest:%Y-%m-%d}"} if newest else {}
    dataset = {
        "name": TITLE,
        "description": _describe(tally),
        "license": LICENCES[tally.request.layout],
        "citeAs": release_bibtex(newest, papers, reviews),
        "version": release_version(newest),
        **dated,
        "keywords": KEYWORDS,
        "inLanguage": "en",
        "isBasedOn": "https://openreview.net",
    }
    secondary = ["Secondary Data analysis"] if any(venue.records for venue in tally.venues) else []
    rai = {
        "dataCollection": COLLECTION,
        "dataCollectionType": ["Web API", "User-generated content data", *secondary],
        "dataCollectionMissingData": missing_venues(tally, show),
        "dataCollectionRawData": RAW_DATA,
        **({"dataCollectionTimeframe": [f"{day:%Y-%m-%d}" for day in (first, newest)]} if first and newest else {}),
        "dataImputationProtocol": IMPUTATION,
        "dataManipulationProtocol": MANIPULATION,
        "dataPreprocessingProtocol": [
            *_describe_steps(tally),
            *_describe_reminders(tally),
            *_describe_own_rows(tally, show),
        ],
        "dataAnnotationProtocol": ANNOTATION,
        "dataAnnotationPlatform": ["OpenReview"],
        "annotationsPerItem": f"{plural(reviews, 'review')} of {plural(papers, 'paper')}",
        "annotatorDemographics": [DEMOGRAPHICS],
        "machineAnnotationTools": [
            f"{show(name)}: {plural(count, 'text')}" for name, count in sorted(tally.engines.items())
        ],
        "dataUseCases": USES,
        "dataBiases": biases(tally, show),
        "dataLimitations": LIMITATIONS,
        "dataSocialImpact": SOCIAL_IMPACT,
        "personalSensitiveInformation": [*PEOPLE, _describe_names(tally)],
        "dataReleaseMaintenancePlan": REMOVAL.format(
            kept="" if tally.request.drawn is None else ", and a paper keeps its split in it"
        ),
    }
    return Statements(dataset, {name: statement for name, statement in rai.items() if statement})
