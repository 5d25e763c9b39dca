"""Texts of `audit leaks` and `audit grades`: the tables, warnings and JSON."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from peercorpus.audit.features import Example
from peercorpus.audit.leak_audit import Audit, Finding
from peercorpus.audit.predictors import FeatureKind
from peercorpus.audit.report import JSON_NAME, PAGE_NAME
from peercorpus.audit.version_grades import PaperUse, Proportion, ProportionDifference, VenueGrades, bias, provable
from peercorpus.records.enums import Grade, Status
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.untrusted_text import escape_controls

_COLUMNS = 100
_NAME_COLUMNS = 50
_SHOWN_FEATURES = 10
"""Features in the table; the reports have more."""
_SHOWN_CONTRADICTIONS = 5
"""Contradictions named in the table; the JSON has all."""
UNKNOWN = "-"

HEADS = tuple("ABCDEFGHI-")
LEGEND = """\
Papers by the grade of their best version: A exact, B exact_attachment, C unrevised,
D only_before_review (A to D prove it initial); E unrevised_likely, F before_first_review;
G stated and H unstated, texts of published datasets; I unavailable; - no version is known.
initial: share of papers with a version that is proven to be initial; '-': no papers.
In brackets: 95 % interval (Wilson 1927; for the difference Newcombe 1998)."""

NO_LEAN = "Proven initial versions are not significantly more frequent among accepted or rejected papers."


def leaks_report(audit: Audit) -> Iterator[str]:
    """Yield the lines of a leak audit: what was tested, and the features that predict the decision best."""
    yield (
        f"{escape_controls(audit.source.name, 40)}: {plural(audit.read, 'paper')} read,"
        f" {audit.accepted:,} accepted and {audit.rejected:,} rejected audited."
    )
    for reason, number in audit.set_aside.items():
        yield f"  set aside: {number:,} with {reason}"
    for what, number in audit.untried.items():
        yield f"  not tested: {number:,} {what}"
    if audit.source.passed_over:
        yield f"  skipped: {plural(len(audit.source.passed_over), 'file')} without these columns"
    yield f"Majority {_percent(audit.majority)}; best of {plural(audit.tried, 'feature')} by chance" + (
        f" {_percent(audit.chance.accuracy)} (balanced {_percent(audit.chance.balanced)})."
    )
    yield ""
    yield f"{'feature':<{_NAME_COLUMNS}} accuracy   gain  balanced  accepted  rejected"
    for finding in audit.findings[:_SHOWN_FEATURES]:
        yield _feature_line(finding)
        yield from (_example_line(example) for example in finding.examples[: finding.is_leak])


def _example_line(shown: Example) -> str:
    decision = "accepted" if shown.accepted else "rejected"
    line = f"      such as {shown.record_id} ({decision}){': ' if shown.context else ''}{shown.context}"
    return line if line.isprintable() and len(line) <= _COLUMNS else escape_controls(line, _COLUMNS - 1)[:_COLUMNS]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _feature_line(finding: Finding) -> str:
    value = max(finding.values, key=lambda value: value.accepted + value.rejected)
    name = finding.feature.title
    if finding.feature.kind in {FeatureKind.NUMBER, FeatureKind.CATEGORY}:
        name = f"{name}: {value.name}"
    shown = escape_controls(name, _NAME_COLUMNS - 3)
    mark = "! " if finding.is_leak else "  "
    return (
        f"{mark + shown:<{_NAME_COLUMNS}} {_percent(finding.outcome.accuracy):>8} {100 * finding.gain:>+6.1f}"
        f"  {_percent(finding.outcome.balanced):>8} {value.accepted:>9,} {value.rejected:>9,}"
    )


def grades_report(venues: Sequence[VenueGrades]) -> Iterator[str]:
    """Yield the lines of the report on grades, at most 100 columns wide."""
    yield f"  {'decision':<13} {'papers':>7}" + "".join(f"{head:>6}" for head in HEADS) + f"{'initial':>9}"
    for venue in venues:
        yield from _status_lines(venue)
    yield from ("", *LEGEND.splitlines(), "", f"{'proven initial version':<44} {'accepted':>24} {'rejected':>24}")
    for venue in venues:
        yield from _bias_lines(_printable(venue.venue_id), [venue])
    yield from _bias_lines("all", venues)
    yield from caveats(venues) if any(caveats(venues)) else (NO_LEAN,)
    task_heads = "".join(f"{task.value:>15}" for task in PaperUse)
    yield from ("", "Papers that each task can use", f"{'':<31}{'papers':>8}{'':>1}{task_heads}")
    for venue in venues:
        yield from _task_lines(venue)
    yield from _file_lines(venues)


def _printable(venue_id: str, most: int = 98) -> str:
    shown = escape_controls(venue_id, most)
    return shown if len(shown) <= most + 1 else f"{shown[:most]}\u2026"


def _status_lines(venue: VenueGrades) -> Iterator[str]:
    for year in _years(venue):
        name = _printable(venue.venue_id, 90)
        yield f"{name} ({UNKNOWN if year is None else year})"
        for status in Status:
            counts = [venue.grades[year, status, grade] for grade in (*Grade, None)]
            value = provable([venue], status, year).value
            if value is not None:
                cells = "".join(f" {count:>5}" for count in counts)
                yield f"  {status.value:<13} {sum(counts):>7,}{cells}{100 * value:>7.1f} %"


def _years(venue: VenueGrades) -> list[int | None]:
    return sorted({year for year, _, _ in venue.grades}, key=lambda year: (year is None, year or 0))


def _bias_lines(name: str, venues: Sequence[VenueGrades]) -> Iterator[str]:
    difference = bias(venues)
    if len(name) > 44:
        yield name
        name = ""
    yield f"{name:<44} {_share(difference.first):>24} {_share(difference.second):>24}"
    if difference.value is not None and difference.interval is not None:
        low, high = (100 * end for end in difference.interval)
        yield f"  difference {100 * difference.value:+.1f} ({low:+.1f} to {high:+.1f}) percentage points"


def _share(share: Proportion) -> str:
    if share.value is None or share.interval is None:
        return f"{UNKNOWN} of 0"
    low, high = (100 * end for end in share.interval)
    return f"{100 * share.value:.1f} % ({low:.0f}-{high:.0f}) of {share.of:,}"


def caveats(venues: Sequence[VenueGrades]) -> Iterator[str]:
    """Yield a warning if proven initial versions are significantly more frequent among accepted or rejected papers."""
    for leans, status in ((-1, "rejected"), (1, "accepted")):
        where = [_printable(venue.venue_id) for venue in venues if bias([venue]).leans == leans]
        everywhere = bias(venues).leans == leans
        if where or everywhere:
            named = "the whole corpus" if everywhere else f"{len(where)} of {len(venues)} venues"
            yield f"Proven initial versions are more frequent among {status} papers in {named}:"
            yield "results on these papers alone do not apply to all papers."


def _task_lines(venue: VenueGrades) -> Iterator[str]:
    name = _printable(venue.venue_id)
    if len(name) > 30:
        yield name
        name = ""
    shares = [venue.use(task) for task in PaperUse]
    cells = (f"{UNKNOWN if share.value is None else f'{share.count:,} ({share.value:.0%})':>15}" for share in shares)
    yield f"{name:<31}{venue.papers:>8,} " + "".join(cells)


def _file_lines(venues: Sequence[VenueGrades]) -> Iterator[str]:
    files = sum(venue.files for venue in venues)
    contradictions = [contradiction for venue in venues for contradiction in venue.contradictions]
    number = f"{len(contradictions):,}" if files else UNKNOWN
    yield ""
    yield f"Files that appear to be a later version than the one chosen: {number} of {files:,} inspected."
    yield from (
        f"  {_printable(contradiction.forum_id)[:40]}: {contradiction.grade.value}"
        for contradiction in contradictions[:_SHOWN_CONTRADICTIONS]
    )
    if len(contradictions) > _SHOWN_CONTRADICTIONS:
        yield f"  and {len(contradictions) - _SHOWN_CONTRADICTIONS:,} more; --json lists all"


def grades_to_json(venues: Sequence[VenueGrades]) -> dict[str, Any]:
    """Return the report on grades for JSON; a share of zero papers is null."""
    return {
        "venues": [_venue_json(venue) for venue in venues],
        "bias": _difference_json(bias(venues)),
        "caveats": [" ".join(caveats(venues))] if any(caveats(venues)) else [],
    }


def _venue_json(venue: VenueGrades) -> dict[str, Any]:
    decisions = [
        {
            "year": year,
            "status": status.value,
            "grades": {grade.value if grade else "none": venue.grades[year, status, grade] for grade in (*Grade, None)},
            "provably_initial": _share_json(provable([venue], status, year)),
        }
        for year in _years(venue)
        for status in Status
        if provable([venue], status, year).of
    ]
    return {
        "venue_id": venue.venue_id,
        "papers": venue.papers,
        "decisions": decisions,
        "bias": _difference_json(bias([venue])),
        "usable": {task.value: _share_json(venue.use(task)) for task in PaperUse},
        "files_looked_into": venue.files,
        "contradictions": [
            {"forum_id": file.forum_id, "grade": file.grade.value, "rule": file.rule} for file in venue.contradictions
        ]
        if venue.files
        else None,
    }


def _share_json(share: Proportion) -> dict[str, Any]:
    return {"papers": share.count, "of": share.of, "share": share.value, "interval": share.interval}


def _difference_json(difference: ProportionDifference) -> dict[str, Any]:
    return {
        "accepted": _share_json(difference.first),
        "rejected": _share_json(difference.second),
        "difference": difference.value,
        "interval": difference.interval,
    }


def reports_written(folder: Path) -> str:
    """Return where the reports of a leak audit are."""
    return f"The reports are {folder / JSON_NAME} and {folder / PAGE_NAME}."
