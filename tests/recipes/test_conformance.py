"""A conformance report states only reasons that apply."""

import re
from collections import Counter

import pytest

from peercorpus.recipes.conformance import NOT_KNOWN, Comparison, Subject, Verdict, compare, compare_numbers
from peercorpus.recipes.measure import Place, PlaceCounts, ReleaseMeasures
from peercorpus.recipes.product_files import ConformanceReport, conformance_page
from peercorpus.recipes.recipe import RecipeName, read_recipe
from peercorpus.recipes.state import VenueEvidence
from peercorpus.records.enums import Reason

REVIEWBENCH, RE2 = read_recipe(RecipeName.REVIEWBENCH), read_recipe(RecipeName.RE2)
COLM = ("colmweb.org/COLM/2024/Conference", "colmweb.org/COLM/2025/Conference")


def measured(**papers: int) -> ReleaseMeasures:
    """A release with a number of papers of each year of COLM."""
    made = ReleaseMeasures()
    for venue_id, count in papers.items():
        place = Place("colm", f"colmweb.org/COLM/{venue_id[1:]}/Conference", "colm", int(venue_id[1:]), "main")
        made.places[place] = PlaceCounts(papers=count, reviews=3 * count, pages=20 * count, texts=count)
    return made


def number_of(subject: Subject, what: str, printed: str) -> Comparison:
    (row,) = [row for row in compare_numbers(subject) if (row.what, row.printed) == (what, printed)]
    return row


def test_equal_numbers_need_no_reason() -> None:
    subject = Subject(REVIEWBENCH, measured(y2024=300, y2025=417), {})
    assert number_of(subject, "papers of colm", "717").verdict is Verdict.SAME
    row = number_of(subject, "papers of colm", "≈ 720")
    assert (row.verdict, row.reasons, row.made) == (Verdict.ABOUT, (), "717")


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (22_274, Verdict.DIFFERENT),
        (22_275, Verdict.ABOUT),
        (22_500, Verdict.SAME),
        (22_725, Verdict.ABOUT),
        (22_726, Verdict.DIFFERENT),
    ],
)
def test_approximate_numbers_differ_by_one_percent_of_them(made: int, verdict: Verdict) -> None:
    release = ReleaseMeasures()
    release.places[Place("iclr", "ICLR.cc/2024/Conference", "iclr", 2024, "main")] = PlaceCounts(papers=made)
    assert number_of(Subject(REVIEWBENCH, release, {}), "papers of iclr", "≈ 22,500").verdict is verdict


def test_an_unexplained_difference_has_an_unknown_reason() -> None:
    evidence = {venue_id: VenueEvidence(is_listed=True) for venue_id in COLM}
    less = number_of(Subject(REVIEWBENCH, measured(y2024=300, y2025=410), evidence), "papers of colm", "717")
    assert (less.verdict, less.reasons) == (Verdict.DIFFERENT, (NOT_KNOWN,))
    more = number_of(Subject(REVIEWBENCH, measured(y2024=300, y2025=420), evidence), "papers of colm", "717")
    assert more.reasons == (NOT_KNOWN,)


def test_counted_reasons_leave_the_rest_unknown() -> None:
    evidence = {
        COLM[0]: VenueEvidence(is_listed=True, taken_down=2, set_aside=Counter({Reason.RECORD_UNREADABLE: 3})),
        COLM[1]: VenueEvidence(is_listed=True),
    }
    row = number_of(Subject(REVIEWBENCH, measured(y2024=300, y2025=407), evidence), "papers of colm", "717")
    assert row.reasons == ("2: taken down", "3: set aside (record_unreadable)", f"5: {NOT_KNOWN}")


def test_a_missing_venue_has_no_number() -> None:
    evidence = {COLM[1]: VenueEvidence(is_listed=True)}
    subject = Subject(REVIEWBENCH, measured(y2025=400), evidence)
    assert number_of(subject, "papers of colm", "717").reasons == (f"not harvested: {COLM[0]}",)
    missing = [row for row in compare(subject) if row.what == COLM[0]]
    assert [(row.made, row.verdict) for row in missing] == [(None, Verdict.NOT_MADE)]
    assert missing[0].reasons == ("not harvested, and not in the imported files",)


def test_files_with_fewer_records_explain_differences() -> None:
    evidence = {venue_id: VenueEvidence(records=100, papers=100) for venue_id in COLM}
    row = number_of(Subject(REVIEWBENCH, measured(y2024=100, y2025=100), evidence), "papers of colm", "717")
    assert row.reasons == ("517: the imported files contain 200 papers",)


def test_unnamed_venues_are_a_reason() -> None:
    made = measured(y2024=5)
    made.test_papers = {"review": 1_000}
    subject = Subject(RE2, made, {})
    assert "43 of 45 venues are not named publicly" in number_of(subject, "papers", "19,926").reasons
    assert number_of(subject, "review test papers", "1,000").verdict is Verdict.SAME
    absent = number_of(subject, "rebuttal test papers", "500")
    assert (absent.verdict, absent.reasons) == (Verdict.NOT_MADE, ("the release has no splits",))


def test_columns_of_another_type_or_order_are_different() -> None:
    made = measured(y2024=1)
    made.columns = {"conference": "string", "forum_id": "string", "year": "int64", "licence": "string"}
    rows = {row.what: row for row in compare(Subject(REVIEWBENCH, made, {})) if row.section == "Columns"}
    assert rows["forum_id"].verdict is rows["year"].verdict is Verdict.DIFFERENT
    assert rows["abstract"].verdict is Verdict.NOT_MADE
    assert rows["licence"].verdict is Verdict.NOT_PRINTED


def test_names_from_files_cannot_break_the_page() -> None:
    place = Place("colm", "x|y`<b>\n# z", "colm", 2024, "main")
    made = ReleaseMeasures(places={place: PlaceCounts(papers=1)})
    page = conformance_page(ConformanceReport(REVIEWBENCH, "0" * 64, None, compare(Subject(REVIEWBENCH, made, {}))))
    (line,) = [line for line in page.splitlines() if "x\\|y" in line]
    assert line.count(" | ") == 4
    assert "\\<b>" in line


def test_an_empty_filled_key_differs() -> None:
    made = measured(y2024=2)
    made.keys = Counter({"review_id": 6, "summary": 6, "soundness": 6, "reviewer": 5})
    made.filled["summary"] = {"colm"}
    rows = {row.what: row for row in compare(Subject(REVIEWBENCH, made, {})) if row.section.startswith("Keys")}
    assert (rows["summary"].verdict, rows["summary"].reasons) == (Verdict.SAME, ())
    assert (rows["review_id"].verdict, rows["review_id"].reasons) == (
        Verdict.DIFFERENT,
        (f"no value in the reviews of colm: {NOT_KNOWN}",),
    )
    # The card states it for other conferences, whose reviews the release lacks.
    assert rows["soundness"].verdict is Verdict.SAME
    assert (rows["reviewer"].verdict, rows["reviewer"].reasons) == (Verdict.DIFFERENT, (NOT_KNOWN,))
    assert rows["quality"].verdict is Verdict.NOT_MADE


def test_every_printed_number_names_its_source() -> None:
    page = conformance_page(
        ConformanceReport(REVIEWBENCH, "0" * 64, None, compare(Subject(REVIEWBENCH, measured(y2024=1), {})))
    )
    numbered = dict(re.findall(r"^(\d+)\. (.*)$", page, re.MULTILINE))
    exact, about = (
        re.search(rf"^\| papers of colm \| {number} \\\[(\d+)\\\]", page, re.MULTILINE) for number in (717, "≈ 720")
    )
    assert exact is not None
    assert about is not None
    assert numbered[exact[1]].endswith("dataset_info")
    assert numbered[about[1]].endswith("Coverage")
