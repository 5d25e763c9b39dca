"""Write a conformance report: `conformance.md` for readers and `conformance.json` for programs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from peercorpus.recipes.conformance import Comparison, Verdict
from peercorpus.recipes.recipe import Recipe
from peercorpus.records.counted_nouns import plural, verb
from peercorpus.records.untrusted_text import escape_controls
from peercorpus.workspace.object_store import write_whole

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
