"""Compare a release with the numbers in a dataset's card or paper, row by row, stating the reason of each difference.

A reason is stated only if the workspace or the release shows it; otherwise it is "not known".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from peercorpus.recipes.measure import COLUMNS, Place, PlaceCounts, ReleaseMeasures
from peercorpus.recipes.recipe import Printed, Quantity, Recipe, RecipeName, ScopeVenue
from peercorpus.recipes.state import VenueEvidence
from peercorpus.records.enums import Reason
from peercorpus.release.columns import type_name
from peercorpus.release.schemas import ReviewBench
from peercorpus.venues.venue_id import year_of
from peercorpus.wording.counted_nouns import plural, verb

NOT_KNOWN = "not known"
ABOUT_SHARE = 0.01
"""Largest relative difference from a number printed as approximate; our choice: the card's own differ by 0.9 %."""


class Verdict(StrEnum):
    """Result of comparing the release with the printed value."""

    SAME = "same"
    ABOUT = "about the same"
    PRESENT = "present"
    """The printed value is not a number to compare, and the release has it."""
    DIFFERENT = "different"
    NOT_MADE = "missing"
    NOT_PRINTED = "not printed"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row of a conformance report.

    Attributes:
        printed: The value in the card or paper; None if it prints none.
        made: The value in the release; None if it has none.
        reasons: Reasons of the difference; empty if there is none.
        source: Place of the printed value; None if there is none.
    """

    section: str
    what: str
    printed: str | None
    made: str | None
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """The recipe, the counts of the release, and the workspace's evidence about missing data."""

    recipe: Recipe
    made: ReleaseMeasures
    evidence: Mapping[str, VenueEvidence]

    @property
    def is_of_files_alone(self) -> bool:
        """Whether the data come from published files only, without any harvested list."""
        evidence = self.evidence.values()
        return any(one.records for one in evidence) and all(one.is_listed is None for one in evidence)

    def venues(self, split: str | None = None) -> list[ScopeVenue]:
        """Return the venues of the scope, or of one of its splits."""
        return [venue for venue in self.recipe.venue if split in {None, venue.split}]

    def evidence_of(self, split: str | None) -> list[VenueEvidence]:
        """Return the evidence on the venues of a split, or on all venues of the workspace if None."""
        if split is None:
            return list(self.evidence.values())
        ids = {venue.id for venue in self.venues(split)}
        ids |= {place.venue_id for place in self.made.places if place.split == split}
        return [evidence for venue_id, evidence in self.evidence.items() if venue_id in ids]


def compare(subject: Subject) -> list[Comparison]:
    """Return every comparison, section by section, except those of files outside the release."""
    rows = [*compare_numbers(subject), *compare_places(subject)]
    if subject.recipe.name is RecipeName.REVIEWBENCH:
        rows += [*compare_columns(subject.made), *compare_review_keys(subject), *compare_splits(subject)]
    return rows


def compare_numbers(subject: Subject) -> Iterator[Comparison]:
    """Yield a row for each printed number."""
    for printed in subject.recipe.printed:
        made = _measure(subject, printed)
        what = f"{printed.what.value.replace('_', ' ')}{f' of {printed.split}' if printed.split else ''}"
        verdict = _judge(printed, made)
        is_equal = verdict in {Verdict.SAME, Verdict.ABOUT}
        yield Comparison(
            section="Numbers",
            what=what,
            printed=_write_number(printed.what, printed.value, is_about=printed.is_about),
            made=None if made is None else _write_number(printed.what, made),
            verdict=verdict,
            reasons=() if is_equal else tuple(_explain_number(subject, printed, made)),
            source=subject.recipe.sources[printed.source],
        )


def _write_number(what: Quantity, value: int, *, is_about: bool = False) -> str:
    is_year = what in {Quantity.FIRST_YEAR, Quantity.LAST_YEAR}
    return f"{'≈ ' if is_about else ''}{value if is_year else f'{value:,}'}"


def _judge(printed: Printed, made: int | None) -> Verdict:
    if made is None:
        return Verdict.NOT_MADE
    if made == printed.value:
        return Verdict.SAME
    is_near = abs(made - printed.value) <= ABOUT_SHARE * printed.value
    return Verdict.ABOUT if printed.is_about and is_near else Verdict.DIFFERENT


def _measure(subject: Subject, printed: Printed) -> int | None:
    made, total = subject.made, subject.made.total(printed.split)
    years = [place.year for place in made.places if place.year is not None]
    values: dict[Quantity, int | None] = {
        Quantity.PAPERS: total.papers,
        Quantity.REVIEWS: total.reviews,
        Quantity.PAGES: total.pages,
        Quantity.BYTES: total.size_bytes,
        Quantity.DOWNLOAD_BYTES: made.download_bytes,
        Quantity.WITHOUT_TEXT: total.papers - total.texts,
        Quantity.CONFERENCES: len({place.conference for place in made.places}),
        Quantity.VENUES: len(_find_combinations(subject)),
        Quantity.FIRST_YEAR: min(years, default=None),
        Quantity.LAST_YEAR: max(years, default=None),
        Quantity.REBUTTALS: made.rebuttals,
        Quantity.REBUTTAL_PAPERS: made.rebuttal_papers,
        Quantity.REVIEW_TEST_PAPERS: made.test_papers.get("review"),
        Quantity.REBUTTAL_TEST_PAPERS: made.test_papers.get("rebuttal"),
    }
    return values[printed.what]


def _find_combinations(subject: Subject) -> set[tuple[str | None, int | None, str | None]]:
    """Return the combinations of split, year and track with papers; the rounds of one track count once."""
    scope = {venue.id: venue for venue in subject.recipe.venue}
    if not subject.recipe.splits:
        return {(place.venue_id, place.year, None) for place in subject.made.places}
    found = set[tuple[str | None, int | None, str | None]]()
    for place in subject.made.places:
        venue = scope.get(place.venue_id)
        # A journal's papers span many years and count once.
        year = year_of(place.venue_id)
        found.add((place.split, year, venue.track if venue else place.venue_id))
    return found


def _explain_number(subject: Subject, printed: Printed, made: int | None) -> Iterator[str]:
    """Yield the reasons for a difference; "not known" for the unexplained part."""
    what = printed.what
    if made is None:
        yield "the release has no splits" if what.value.endswith("test_papers") else "the release has no conversations"
    elif what is Quantity.PAPERS:
        yield from _explain_papers(subject, printed.split, printed.value, made)
    elif what in {Quantity.VENUES, Quantity.CONFERENCES, Quantity.FIRST_YEAR, Quantity.LAST_YEAR}:
        yield from _explain_venues(subject, what, printed.value, made)
    elif what in {Quantity.REVIEW_TEST_PAPERS, Quantity.REBUTTAL_TEST_PAPERS}:
        papers = subject.made.total().papers
        stated = subject.recipe.find_printed(Quantity.PAPERS) or papers
        yield f"the release has {papers:,} of {plural(stated, 'paper')}" if papers != stated else NOT_KNOWN
    else:
        yield from _explain_by_papers(subject, printed.split)


def _explain_by_papers(subject: Subject, split: str | None) -> Iterator[str]:
    """Yield the reasons for a different number of reviews, pages, conversations or bytes."""
    total = subject.made.total(split)
    stated = subject.recipe.find_printed(Quantity.PAPERS, split)
    if stated is not None and stated != total.papers:
        yield f"the release has {total.papers:,} of {plural(stated, 'paper')}"
    elif total.texts < total.papers:
        without = total.papers - total.texts
        yield f"{plural(without, 'paper')} {verb(without, 'has', 'have')} no text"
    else:
        yield NOT_KNOWN


def _explain_venues(subject: Subject, what: Quantity, printed: int, made: int) -> Iterator[str]:
    missing = [venue for venue in subject.venues() if venue.id not in {place.venue_id for place in subject.made.places}]
    reasons = []
    held = sum(one.records > 0 for one in subject.evidence.values())
    if subject.is_of_files_alone and held < subject.recipe.stated_venues:
        reasons.append(f"the imported files contain papers of {plural(held, 'venue')}")
    if missing:
        reasons.append(f"no paper of {_list_venues(missing)}")
    if subject.recipe.unnamed:
        reasons.append(_not_named(subject.recipe))
    if what is Quantity.VENUES and subject.recipe.splits and made > printed - len(missing):
        reasons.append("the table Coverage does not count NeurIPS 2021 Datasets and Benchmarks, which Schema names")
    yield from reasons or [NOT_KNOWN]


def _not_named(recipe: Recipe) -> str:
    unnamed = recipe.unnamed or 0
    return f"{unnamed} of {plural(recipe.stated_venues, 'venue')} {verb(unnamed, 'is', 'are')} not named publicly"


def _explain_papers(subject: Subject, split: str | None, printed: int, made: int) -> Iterator[str]:
    """Yield the reasons for a different number of papers, and the part that they leave unexplained."""
    evidence = subject.evidence_of(split)
    counted = [
        *((sum(one.taken_down for one in evidence), "taken down"),),
        *_count_set_aside(evidence),
    ]
    counted = [(count, reason) for count, reason in counted if count]
    records = sum(one.records for one in evidence)
    if records and not any(one.is_listed is not None for one in evidence) and records < printed:
        counted.append((printed - records, f"the imported files contain {plural(records, 'paper')}"))
    listed = {venue_id for venue_id, one in subject.evidence.items() if one.is_listed is not None or one.records}
    absent = [venue for venue in subject.venues(split) if venue.id not in listed]
    partial = [venue_id for venue_id, one in subject.evidence.items() if one.is_listed is False]
    partial = [venue_id for venue_id in partial if venue_id in {venue.id for venue in subject.venues(split)}]
    open_ended = [f"not harvested: {_list_venues(absent)}"] if absent else []
    open_ended += [f"not listed completely: {', '.join(partial)}"] if partial else []
    if subject.recipe.unnamed and split is None:
        open_ended.append(_not_named(subject.recipe))
    yield from (f"{count:,}: {reason}" for count, reason in counted)
    yield from open_ended
    unexplained = abs(printed - made) - sum(count for count, _ in counted)
    if made > printed or (unexplained > 0 and not open_ended) or not (counted or open_ended):
        yield NOT_KNOWN if made > printed or not counted else f"{unexplained:,}: {NOT_KNOWN}"


def _count_set_aside(evidence: Iterable[VenueEvidence]) -> list[tuple[int, str]]:
    totals: dict[Reason, int] = {}
    for one in evidence:
        for reason, count in one.set_aside.items():
            totals[reason] = totals.get(reason, 0) + count
    return [(count, f"set aside ({reason.value})") for reason, count in sorted(totals.items())]


NAMED_VENUES = 5
"""Number of venues that a reason names; the section on conferences, years and tracks lists all."""


def _list_venues(venues: Sequence[ScopeVenue]) -> str:
    named = ", ".join(str(venue.id or venue.name) for venue in venues[:NAMED_VENUES])
    return named if len(venues) <= NAMED_VENUES else f"{named} and {len(venues) - NAMED_VENUES} more, listed below"


def compare_places(subject: Subject) -> Iterator[Comparison]:
    """Yield a row for each venue of the scope, then for each other venue in the release.

    Neither card prints numbers for a venue and year, so the verdict only states whether there are papers.
    """
    by_venue: dict[str, dict[Place, PlaceCounts]] = {}
    for place, counts in subject.made.places.items():
        by_venue.setdefault(place.venue_id, {})[place] = counts
    for venue in subject.recipe.venue:
        found = by_venue.pop(venue.id or "", {})
        source = subject.recipe.sources[venue.source]
        if not found:
            yield _missing_place(subject, venue, source)
        for place, counts in sorted(found.items(), key=str):
            yield _place_row(place, counts, "", source)
    remark = "" if subject.recipe.unnamed else ", not in the scope"
    for venue_id in sorted(by_venue):
        for place, counts in sorted(by_venue[venue_id].items(), key=str):
            yield _place_row(place, counts, remark, None)


def _missing_place(subject: Subject, venue: ScopeVenue, source: str) -> Comparison:
    evidence = subject.evidence.get(venue.id or "")
    reason = "not harvested, and not in the imported files" if evidence is None else NOT_KNOWN
    if evidence is not None and (reasons := _count_set_aside([evidence])):
        reason = "; ".join(f"{count:,}: {why}" for count, why in reasons)
    return Comparison(
        section="Conferences, years and tracks",
        what=str(venue.id or venue.name),
        printed="in the scope",
        made=None,
        verdict=Verdict.NOT_MADE,
        reasons=(reason,),
        source=source,
    )


def _place_row(place: Place, counts: PlaceCounts, remark: str, source: str | None) -> Comparison:
    year = "no year" if place.year is None else str(place.year)
    return Comparison(
        section="Conferences, years and tracks",
        what=f"{place.venue_id}: {place.conference}, {year}, {place.track or 'no track'}{remark}",
        printed=None if source is None else "in the scope",
        made=(
            f"{plural(counts.papers, 'paper')}, {plural(counts.reviews, 'review')}, {plural(counts.pages, 'page')},"
            f" {counts.papers - counts.texts:,} without text"
        ),
        verdict=Verdict.NOT_PRINTED if source is None else Verdict.PRESENT,
        source=source,
    )


def compare_columns(made: ReleaseMeasures) -> Iterator[Comparison]:
    """Yield a row for each of ReviewBench's columns, with its type and position, then for each further column."""
    names = list(made.columns)
    for position, field in enumerate(ReviewBench.schema, 1):
        is_there = field.name in names
        printed = f"{type_name(field.type)}, column {position}"
        has = f"{made.columns[field.name]}, column {names.index(field.name) + 1}" if is_there else None
        verdict = Verdict.NOT_MADE if has is None else Verdict.SAME if has == printed else Verdict.DIFFERENT
        reasons = () if verdict is Verdict.SAME else ("the files of the release differ" if not names else NOT_KNOWN,)
        yield Comparison("Columns", field.name, printed, has, verdict, reasons, "Schema and dataset_info of the card")
    for name in names:
        if name not in COLUMNS:
            yield Comparison("Columns", name, None, made.columns[name], Verdict.NOT_PRINTED)


def compare_review_keys(subject: Subject) -> Iterator[Comparison]:
    """Yield a row for each documented key of `reviews_json`: the reviews with it, and the conferences with values."""
    made = subject.made
    reviews = made.keys.get("review_id", 0)
    for group in subject.recipe.review_keys:
        reviewed = [split for split in group.splits if made.total(split).reviews]
        for name in group.names:
            having, filled = made.keys.get(name, 0), made.filled.get(name, set())
            reasons = _explain_key(having, reviews, [split for split in reviewed if split not in filled])
            where = ", ".join(sorted(filled)) or "no conference"
            yield Comparison(
                section="Keys of reviews_json",
                what=name,
                printed=f"in every review; with a value: {group.where}",
                made=f"in {having:,} of {plural(reviews, 'review')}; with a value: {where}" if having else None,
                verdict=Verdict.NOT_MADE if not having else Verdict.DIFFERENT if reasons else Verdict.SAME,
                reasons=reasons,
                source=subject.recipe.sources["schema"],
            )
    documented = {name for group in subject.recipe.review_keys for name in group.names}
    for name in sorted(made.keys.keys() - documented):
        has = f"in {made.keys[name]:,} of {plural(reviews, 'review')}"
        yield Comparison("Keys of reviews_json", name, None, has, Verdict.NOT_PRINTED)
    if made.unreadable:
        has = f"{plural(made.unreadable, 'paper')} whose reviews_json is not a list of objects"
        yield Comparison("Keys of reviews_json", "readable", None, has, Verdict.NOT_PRINTED)


def _explain_key(having: int, reviews: int, without: Sequence[str]) -> tuple[str, ...]:
    """Return the reasons why a key of some reviews differs from its printed description; empty if it does not.

    Reviews of the splits `without` should have a value, but have none.
    """
    if not reviews:
        return ("the release has no reviews",)
    if having < reviews:
        return (NOT_KNOWN,)
    return (f"no value in the reviews of {', '.join(without)}: {NOT_KNOWN}",) if without else ()


def compare_splits(subject: Subject) -> Iterator[Comparison]:
    """Yield a row for each split of the card, then for each further one."""
    made = subject.made.splits
    for split in subject.recipe.splits:
        reason = f"no paper of {_list_venues(subject.venues(split))}"
        is_there = split in made
        yield Comparison(
            section="Splits",
            what=split,
            printed=f"data/{split}-*",
            made=plural(subject.made.total(split).papers, "paper") if is_there else None,
            verdict=Verdict.PRESENT if is_there else Verdict.NOT_MADE,
            reasons=() if is_there else (reason,),
            source=subject.recipe.sources["dataset_info"],
        )
    for split in made:
        if split not in subject.recipe.splits:
            has = plural(subject.made.total(split).papers, "paper")
            yield Comparison("Splits", split, None, has, Verdict.NOT_PRINTED)
