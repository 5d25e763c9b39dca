"""What a release says of itself in words, once: the card shows it as Markdown, Croissant as its fields."""

from dataclasses import dataclass
from typing import Any

from peercorpus.publish.biases import Show, biases
from peercorpus.publish.citing import TITLE, entry, release_version
from peercorpus.publish.tally import Tally

DESCRIPTION = (
    "Submissions with the text that the reviewers read, every public official review, the exchange with each reviewer,"
    " and the decision, as OpenReview shows them to everyone."
)
COLLECTION = (
    "peercorpus asked OpenReview's API for all that everyone may read of the venues listed, or took in recorded answers"
    " of it, and stored them as received; where the card names published datasets, records of theirs beside them."
    " Nothing was asked of people."
)
RAW_DATA = (
    "The answers of OpenReview's API and the PDFs that it keeps, every version that was seen. They stay in the"
    " workspace from which the release was made, and are no part of it."
)
PREPROCESSING = [
    "Every review form is read from the venue's own invitation, so that each score and text has the name and the scale"
    " of the form it was given on.",
    "Each PDF's history is compared with the submission deadline; the text is that of a version known to be the one"
    " the reviewers read, or there is none.",
    "The text layer of the PDF becomes Markdown.",
    "Replies are ordered into conversations, one a reviewer; posts that are one answer are merged.",
    "What a step cannot read is set aside with a reason and counted.",
]
IMPUTATION = "Nothing is filled in: a value that OpenReview does not state is null."
MANIPULATION = (
    "E-mail addresses and OpenReview profile ids inside texts are replaced by `[e-mail]` and `[profile]`. All else is"
    " verbatim."
)
ANNOTATION = (
    "Nothing is annotated for this release. The scores and texts are what the venue's reviewers gave in its review"
    " form; which aspect a score is about, and its place on Re²'s scale, follow from the words of the form by rules."
)
DEMOGRAPHICS = "Not known: reviewers are anonymous."
LIMITATIONS = [
    "It is a record as of the harvest: what OpenReview showed before and after is not in it.",
    "The text is extracted, not typeset: formulae and tables lose their shape, and a page that is an image has no"
    " text.",
    "Scores of different venues lie on different scales.",
    "It holds the venues that are listed, which were not chosen to stand for peer review elsewhere.",
]
USES = [
    "Research on peer review: what reviewers write, how scores change in the discussion, what becomes of a paper.",
    "Training and testing models that review a paper or discuss a review, on the sides that the release names, to"
    " help authors and reviewers.",
    "Not to decide on a paper, a person or a job; not to find out who wrote a review.",
]
SOCIAL_IMPACT = (
    "Models that learn from it may help authors before they submit, and reviewers to check themselves. They also learn"
    " what reviewers favour, and may make it the rule; reviews written by machines could crowd out the judgement they"
    " were learnt from."
)
PEOPLE = [
    "Reviewers, area chairs and other members of a committee are anonymous in OpenReview and stay so: the ids hold"
    " within one paper and name nobody. Do not try to identify them.",
    "People who commented under their own name appear by a pseudonym, made with a key that is not published.",
    "E-mail addresses and profile ids inside texts, the Markdown of the papers too, are masked; an address that is"
    " written out in words, or taken apart by spaces, is not found.",
    "What people wrote of themselves inside a paper, a review or a comment stands there as they wrote it.",
]
AUTHORS = "Authors are named where OpenReview names them, and not in the configurations for tasks."
NO_AUTHORS = "Authors are not named, but where a text names them."
REMOVAL = (
    "A later release replaces this one, and a paper keeps its side in it. Whoever wrote a paper, a review or a"
    " comment may ask that it be taken out: write to those who publish this"
    " release, with the id of the paper or of the note, or with the profile of the author. The workspace keeps these"
    " ids in `takedown.txt`, and from then on no export holds what they name. `takedown.json` counts what was left out"
    " for that; of each id it has a salted hash, and nothing of what it named."
)
LICENCE = (
    "There is no one licence, and none is granted here. A submission is under the licence stated on its page on"
    " OpenReview, where one is stated: the column `licence` of `papers` has it. Reviews and comments are under"
    " OpenReview's terms of use."
)
KEYWORDS = ["peer review", "OpenReview", "rebuttal", "scholarly documents", "peercorpus"]


@dataclass(frozen=True, slots=True)
class Statements:
    """All that is said of a release.

    Attributes:
        dataset: The properties of the data set, by their names in Croissant.
        rai: Those of Croissant's RAI vocabulary.
    """

    dataset: dict[str, Any]
    rai: dict[str, Any]


def missing(tally: Tally, show: Show) -> str:
    """Which venues are not here as a whole, and what was left out of this release."""
    partial = [show(venue.venue_id) for venue in tally.venues if venue.is_listed is False]
    imported = [show(venue.venue_id) for venue in tally.venues if venue.is_listed is None and not venue.records]
    records = [show(venue.venue_id) for venue in tally.venues if venue.records]
    said = []
    if partial:
        said.append(f"Harvested in part only, so that papers are missing: {', '.join(partial)}.")
    if imported:
        said.append(f"Imported from recorded answers, which may not be all: {', '.join(imported)}.")
    if records:
        said.append(
            "Papers of these venues that OpenReview itself was not asked for come from published datasets, which are to"
            f" be named: ReviewBench (CC BY 4.0) or Re² (Apache 2.0): {', '.join(records)}."
        )
    return " ".join([*(said or ["Every venue was listed to its end when it was harvested."]), _left_out(tally)])


def _left_out(tally: Tally) -> str:
    counts = {f"{what} that not everyone may read": count for what, count in sorted(tally.withheld.items())}
    counts["reviews and conversations without a paper"] = tally.orphans
    counts["links to papers that are not here"] = tally.links_left_out
    counts |= {f"{what} that were taken down": count for what, count in sorted(tally.taken_down.items())}
    named = [f"{count:,} {what}" for what, count in counts.items() if count]
    return f"Left out of this release: {'; '.join(named)}." if named else "Nothing in the tables was left out."


def state(tally: Tally, show: Show = str) -> Statements:
    """What a release says of itself.

    Args:
        tally: Its counts.
        show: How text from OpenReview is shown.
    """
    papers, reviews = sum(venue.papers for venue in tally.venues), sum(venue.reviews for venue in tally.venues)
    first, newest = tally.harvested or (None, None)
    dated = {"datePublished": f"{newest:%Y-%m-%d}"} if newest else {}
    dataset = {
        "name": TITLE,
        "description": DESCRIPTION,
        "license": LICENCE,
        "citeAs": entry(newest, papers, reviews),
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
        "dataCollectionMissingData": missing(tally, show),
        "dataCollectionRawData": RAW_DATA,
        **({"dataCollectionTimeframe": [f"{day:%Y-%m-%d}" for day in (first, newest)]} if first and newest else {}),
        "dataImputationProtocol": IMPUTATION,
        "dataManipulationProtocol": MANIPULATION,
        "dataPreprocessingProtocol": PREPROCESSING,
        "dataAnnotationProtocol": ANNOTATION,
        "dataAnnotationPlatform": ["OpenReview"],
        "annotationsPerItem": f"{reviews:,} reviews of {papers:,} papers",
        "annotatorDemographics": [DEMOGRAPHICS],
        "machineAnnotationTools": [f"{show(name)}: {count:,} texts" for name, count in sorted(tally.engines.items())],
        "dataUseCases": USES,
        "dataBiases": biases(tally, show),
        "dataLimitations": LIMITATIONS,
        "dataSocialImpact": SOCIAL_IMPACT,
        "personalSensitiveInformation": [*PEOPLE, AUTHORS if tally.names_authors else NO_AUTHORS],
        "dataReleaseMaintenancePlan": REMOVAL,
    }
    return Statements(dataset, {name: said for name, said in rai.items() if said})
