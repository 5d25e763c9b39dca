"""Compare a recipe's products other than the release: Re²'s files, and the figures of its paper."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.recipes.conformance import NOT_KNOWN, Comparison, Verdict
from peercorpus.recipes.recipe import Recipe
from peercorpus.recipes.state import VenueEvidence
from peercorpus.release.folder import Release
from peercorpus.release.table1 import HAS, printed_rows
from peercorpus.report.write_report import dataset_row
from peercorpus.wording.counted_nouns import plural, verb
from peercorpus.wording.untrusted_text import escape_controls
from peercorpus.workspace.object_store import write_whole

NUMBERS = "numbers.json"
"""File of a report with the numbers of each figure."""
EXPORT = "export.json"
"""File of an export that lists all others."""
MANUSCRIPT_NAME = "Initial_manuscript.md"
RE2_FILES = {
    "REVIEWS_train.json": ("paper_id", "conference_year_track", "reviews", "metareview", "decision"),
    "REVIEWS_test.json": ("paper_id", "conference_year_track", "reviews", "metareview", "decision"),
    "REBUTTAL_train.json": ("paper_id", "conference_year_track", "reviewer_id", "messages"),
    "REBUTTAL_test.json": ("paper_id", "conference_year_track", "reviewer_id", "messages"),
}
"""Files of Re², each with the members that readers of its records need; source: the card's examples of records."""
_HEAD_BYTES = 1 << 22
"""Bytes of a file that are read to find its first record."""


class _Figure(msgspec.Struct):
    n: int
    of: str
    says: str


class _Numbers(msgspec.Struct):
    figures: dict[str, _Figure]


def compare_figures(recipe: Recipe, report: Path | None) -> Iterator[Comparison]:
    """Yield a row for each figure of the paper: the paper's statement about it, and the numbers of the report's figure.

    Raises:
        PeercorpusError: The report cannot be read.
    """
    figures = _read_figures(report) if report is not None else {}
    for printed in recipe.figure:
        figure = figures.get(printed.panel)
        has_data = figure is not None and figure.n > 0
        reason = "no report was made" if report is None else NOT_KNOWN
        if figure is not None and not has_data:
            reason = figure.says or NOT_KNOWN
        yield Comparison(
            section="Figures 2 and 3",
            what=f"{printed.name}: {printed.what}",
            printed=printed.says,
            made=f"{figure.n:,} {figure.of}: {figure.says}" if figure is not None and has_data else None,
            verdict=Verdict.PRESENT if has_data else Verdict.NOT_MADE,
            reasons=() if has_data else (reason,),
            source="arXiv:2505.07920, §2.2, Fig. 2 and 3",
        )


def compare_table1(release: Path) -> Iterator[Comparison]:
    """Yield a row for each cell of Re²'s row in its Table 1.

    Raises:
        PeercorpusError: The release cannot be read.
        MissingExtraError: Matplotlib is not installed.
    """
    from peercorpus.report.write_report import open_source

    with open_source(release) as source:
        made = dataset_row(source)
    printed = printed_rows()[-1]
    yield _table_cell("data source", printed.source, made.source, Verdict.PRESENT, "")
    tasks = Verdict.SAME if set(printed.tasks) <= set(made.tasks) else Verdict.DIFFERENT
    yield _table_cell(
        "tasks", ", ".join(printed.tasks), ", ".join(made.tasks) or "none", tasks, "no paper for the others"
    )
    for what in HAS:
        counted = made.counts.get(what, 0)
        verdict = Verdict.SAME if (what in printed.has) == (what in made.has) else Verdict.DIFFERENT
        reason = "" if verdict is Verdict.SAME else f"the release counts {counted:,}"
        yield _table_cell(
            what.replace("_", " "),
            _tick(what in printed.has),
            f"{_tick(what in made.has)} ({counted:,})",
            verdict,
            reason,
        )
    for name, number, count in (
        ("# papers", printed.papers, made.papers),
        ("# review comments", printed.review_comments, made.review_comments),
        ("# rebuttals", printed.rebuttal_count, made.rebuttal_count),
    ):
        verdict = Verdict.SAME if number == count else Verdict.DIFFERENT
        yield _table_cell(name, f"{number:,}", f"{count:,}", verdict, "see the same number under Numbers")


def _tick(is_there: bool) -> str:
    return "yes" if is_there else "no"


def _table_cell(what: str, printed: str, made: str, verdict: Verdict, reason: str) -> Comparison:
    is_equal = verdict is not Verdict.DIFFERENT
    reasons = () if is_equal else (reason or NOT_KNOWN,)
    return Comparison("Row of Table 1", what, printed, made, verdict, reasons, "arXiv:2505.07920, Table 1")


def _read_figures(report: Path) -> dict[str, _Figure]:
    path = report / NUMBERS
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Numbers).figures
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        raise PeercorpusError(f"'{path}' cannot be read; delete the report and run the command again.") from None


def compare_export(export: Path | None) -> Iterator[Comparison]:
    """Yield a row for each file of Re²: whether the export has it with the same members in its records.

    Raises:
        PeercorpusError: The export cannot be read.
    """
    names = _read_names(export) if export is not None else set()
    for name, members in RE2_FILES.items():
        has = _read_first_members(export / name) if export is not None and name in names else None
        missing = [member for member in members if has is not None and member not in has]
        reason = (
            f"the export has no such file: no paper is in that split ({name})"
            if export
            else "nothing was exported: no paper has a text that may be trained on"
        )
        yield Comparison(
            section="Files",
            what=name,
            printed=", ".join(members),
            made=None if has is None else ", ".join(has),
            verdict=Verdict.NOT_MADE if has is None else Verdict.DIFFERENT if missing else Verdict.SAME,
            reasons=(reason,) if has is None else (f"without {', '.join(missing)}",) if missing else (),
            source="the card's examples of records",
        )
    manuscripts = sum(name.endswith(f"/{MANUSCRIPT_NAME}") for name in names)
    yield Comparison(
        section="Files",
        what=f"papers/…/{MANUSCRIPT_NAME}",
        printed="one for each paper",
        made=plural(manuscripts, "manuscript") if manuscripts else None,
        verdict=Verdict.PRESENT if manuscripts else Verdict.NOT_MADE,
        reasons=() if manuscripts else ("no exported paper has a text",),
        source="the card and its readers",
    )


def compare_crops(release: Release, evidence: Mapping[str, VenueEvidence]) -> Iterator[Comparison]:
    """Yield a row for the figures of the papers: those in the release, and why others are missing.

    Raises:
        PeercorpusError: A file of the release cannot be read.
    """
    kinds, papers = Counter[str](), set[str]()
    for row in release.rows("figures", None, ("forum_id", "kind")):
        kinds[row["kind"]] += 1
        papers.add(row["forum_id"])
    total = sum(venue.papers for venue in evidence.values())
    pdfs = sum(venue.pdfs for venue in evidence.values())
    made = f"figures: {kinds['figure']:,}, tables: {kinds['table']:,}; of {len(papers):,} of {plural(total, 'paper')}"
    reason = f"PDFs in the workspace: {pdfs:,}; the other papers have no PDF, or one without captions"
    if not pdfs:
        reason = (
            f"the workspace has no PDF: the texts of the {plural(total, 'paper')} were imported as text, which has no"
            " figures"
        )
    yield Comparison(
        section="Files",
        what="figures of the papers",
        printed="included, and not used in its experiments",
        made=made if kinds else None,
        verdict=Verdict.PRESENT if kinds else Verdict.NOT_MADE,
        reasons=() if kinds and len(papers) == total else (reason,),
        source="arXiv:2505.07920, Limitations",
    )


def _read_names(export: Path) -> set[str]:
    path = export / EXPORT
    try:
        return set(json.loads(path.read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        raise PeercorpusError(f"'{path}' cannot be read; delete the export and run the command again.") from None


def _read_first_members(path: Path) -> tuple[str, ...]:
    """Return the members of the first record of a JSON list; empty for an empty list, or an enormous first record."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES).decode("utf-8", "ignore").lstrip().removeprefix("[").lstrip()
    try:
        record, _ = json.JSONDecoder().raw_decode(head)
    except json.JSONDecodeError:
        return ()
    return tuple(record) if isinstance(record, dict) else ()


PAGE = "conformance.md"
DATA = "conformance.json"
NONE = "-"


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """A conformance report.

    Attributes:
        release: sha256 of the release's manifest.
        source: The published files it is based on; None if there were none.
    """

    recipe: Recipe
    release: str
    source: str | None
    rows: Sequence[Comparison]

    @property
    def verdicts(self) -> Counter[Verdict]:
        """Number of rows by verdict."""
        return Counter(row.verdict for row in self.rows)

    @property
    def printed(self) -> int:
        """Number of rows with a comparable value in the card or paper."""
        return len(self.rows) - self.verdicts[Verdict.NOT_PRINTED]

    @property
    def agreeing(self) -> int:
        """Number of rows that are the same, about the same if the card prints ≈, or present without a number."""
        return sum(self.verdicts[verdict] for verdict in (Verdict.SAME, Verdict.ABOUT, Verdict.PRESENT))


def write_conformance(folder: Path, report: ConformanceReport) -> None:
    """Write both files of a report; the JSON comes last, so that a report with it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PAGE, conformance_page(report).encode())
    write_whole(folder / DATA, conformance_data(report))


def conformance_data(report: ConformanceReport) -> bytes:
    """Return a report as JSON: one object with the list `rows`."""
    content = {
        "recipe": report.recipe.name,
        "release": report.release,
        "source": report.source,
        "verdicts": {verdict.value: report.verdicts[verdict] for verdict in Verdict},
        "rows": [asdict(row) for row in report.rows],
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"


def conformance_page(report: ConformanceReport) -> str:
    """Return a report as Markdown: one table per section, with the reason of each difference."""
    recipe = report.recipe
    lines = [
        f"# How this release compares with {recipe.title}",
        "",
        f"{report.agreeing} of {plural(report.printed, 'row')} {verb(report.agreeing, 'agrees', 'agree')} with the"
        ' card or paper. Each difference has the reason that the workspace or the release shows, or "not known".',
        "",
        f"- Release (sha256 of its manifest): `{report.release}`",
        f"- Published files: {_cell(report.source or 'none')}",
        f"- Scope: {_cell(' '.join(recipe.remark.split()))}",
    ]
    named = [row.source for row in report.rows if row.source is not None]
    sources = {source: number for number, source in enumerate(dict.fromkeys([*named, *recipe.sources.values()]), 1)}
    for section in dict.fromkeys(row.section for row in report.rows):
        lines += ["", f"## {section}", "", *_table([row for row in report.rows if row.section == section], sources)]
    lines += ["", "## Sources", "", *(f"{number}. {source}" for source, number in sources.items())]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Comparison], sources: Mapping[str, int]) -> Iterator[str]:
    yield "| what | printed [source] | this release | verdict | reason |"
    yield "|---|---|---|---|---|"
    for row in rows:
        printed = row.printed or NONE
        if row.source is not None:
            printed += f" [{sources[row.source]}]"
        cells = (row.what, printed, row.made or NONE, row.verdict.value, "; ".join(row.reasons))
        yield f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Escape a text for a table cell; ids of venues come from untrusted files."""
    escaped = escape_controls(" ".join(text.split()), 1_000)
    for sign in ("\\", "|", "<", "`", "*", "[", "]"):
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped
