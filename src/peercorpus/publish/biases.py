"""What leans in a release, each with the release's own numbers: said in the card and in Croissant alike."""

from collections.abc import Callable, Iterator, Sequence

from peercorpus.kinds import Status
from peercorpus.publish.tally import Tally, VenueTally
from peercorpus.venues.catalogue import row_of
from peercorpus.venues.row import Visibility

Show = Callable[[str], str]
"""Gives text from OpenReview as the place it stands in shows it: escaped in the card, as it is in JSON."""
HIDING = {Visibility.REJECTED_OPT_IN, Visibility.ACCEPTED_ONLY}
COMPARED = (Status.ACCEPTED, Status.REJECTED, Status.WITHDRAWN, Status.DESK_REJECTED)


def biases(tally: Tally, show: Show) -> list[str]:
    """Every known bias that this release can have, a paragraph each."""
    told = (_rejected_absent, _reverted, _initial_missing, _first_scores, _updated, _public_only)
    return [said for one in told for said in one(tally, show)]


def _visibility(venue: VenueTally) -> Visibility | None:
    row = row_of(venue.venue_id)
    return row.visibility if row else None


def _share(count: int, of: int) -> str:
    return f"{count:,} of {of:,} ({count / of:.0%})"


def _words(status: Status) -> str:
    return status.value.replace("_", " ")


def _counted(venues: Sequence[VenueTally], show: Show) -> str:
    one_each = (
        f"{show(venue.venue_id)} ({venue.of_status(Status.ACCEPTED):,} accepted, {venue.of_status(Status.REJECTED):,}"
        " rejected)"
        for venue in venues
    )
    return ", ".join(one_each)


def _rejected_absent(tally: Tally, show: Show) -> Iterator[str]:
    hiding = [venue for venue in tally.venues if _visibility(venue) in HIDING]
    silent = [
        venue
        for venue in tally.venues
        if venue not in hiding and venue.of_status(Status.ACCEPTED) and not venue.of_status(Status.REJECTED)
    ]
    if hiding:
        yield (
            "Rejected papers are absent or chosen by their authors at venues that show them at their authors' wish"
            f" alone, or not at all: {_counted(hiding, show)}."
        )
    if silent:
        yield f"Of these venues no rejected paper is here, for whatever reason: {_counted(silent, show)}."
    accepted, rejected = (sum(venue.of_status(one) for venue in tally.venues) for one in COMPARED[:2])
    if accepted + rejected:
        yield (
            f"Of the papers that were accepted or rejected, {_share(accepted, accepted + rejected)} are accepted: the"
            " share of what is shown, which is no venue's rate of acceptance where some are hidden."
        )


def _reverted(tally: Tally, show: Show) -> Iterator[str]:
    for venue in tally.venues:
        if _visibility(venue) is Visibility.REVERTED_BEFORE_DISCUSSION and venue.reviews:
            yield (
                f"{show(venue.venue_id)} put its reviews back to how they stood before the discussion: the scores of"
                f" its {venue.reviews:,} reviews are those first given, and what the discussion changed is not known."
            )


def _initial_missing(tally: Tally, _: Show) -> Iterator[str]:
    """Whether the text that the reviewers read is missing more often for some decision."""
    counted = {one: sum(venue.of_status(one) for venue in tally.venues) for one in COMPARED}
    missing = {
        one: count - sum(venue.with_text[one] for venue in tally.venues) for one, count in counted.items() if count
    }
    if not missing:
        return
    named = "; ".join(f"{_words(one)} {_share(count, counted[one])}" for one, count in missing.items())
    shares = {one: count / counted[one] for one, count in missing.items()}
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    if len(shares) == 1:
        leaning = "There is no other outcome to compare with."
    elif shares[most] == shares[least]:
        leaning = "It is missing as often whatever became of the paper."
    else:
        leaning = (
            f"It is missing most often where the paper is {_words(most)}, least often where it is {_words(least)}:"
            f" whoever reads only papers with a text sees too few that are {_words(most)}."
        )
    yield f"The text that the reviewers read is missing, by what became of the paper: {named}. {leaning}"


def _first_scores(tally: Tally, _: Show) -> Iterator[str]:
    doubts, reviews = tally.doubts, sum(venue.reviews for venue in tally.venues)
    if doubts.scores:
        yield (
            f"What was first given is not known of {_share(doubts.scores_unknown, doubts.scores)} scores; of"
            f" {doubts.scores_told:,} it is known by the reviewer's own words alone (`initial_source` is `text`)."
        )
    if reviews:
        yield (
            f"Nothing tells whether the reviewer changed {_share(doubts.unrevealed, reviews)} reviews (`revised` is"
            " null): such a review may hold what was written after the discussion without a visible trace."
        )


def _updated(tally: Tally, _: Show) -> Iterator[str]:
    if tally.doubts.updated:
        reviews = sum(venue.reviews for venue in tally.venues)
        yield (
            f"{_share(tally.doubts.updated, reviews)} reviews say of themselves that a part was added later, and what"
            " was first written is not held (`updated_fields`, `holds_update`)."
        )


def _public_only(tally: Tally, _: Show) -> Iterator[str]:
    papers = sum(venue.papers for venue in tally.venues)
    yield (
        "Only what everyone may read is here, and venues differ in what they open:"
        f" {_share(tally.doubts.unreviewed, papers)} papers have no review."
        if papers
        else "Only what everyone may read is here."
    )
