"""The stored tables of Re² match those of its paper, number by number."""

import re
from pathlib import Path

import pytest

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.re2.printed import PrintedRows, printed_tables, read_printed

PAPER = Path(__file__).parents[3] / "shared" / "seeds" / "003_dadfd69eaaab54c8.txt"
NAMES = ("acceptance", "scores", "review", "rebuttal", "judge")
SIGNS = re.compile(r"[{}$\\\s]|pm|scriptstyle|underline|overline|textbf|±")


def parts() -> dict[str, PrintedRows]:
    return {name: getattr(read_printed(), name) for name in NAMES}


def test_each_table_has_all_rows_and_columns() -> None:
    assert {name: (len(part.rows), len(part.columns)) for name, part in parts().items()} == {
        "acceptance": (8, 4),
        "scores": (8, 2),
        "review": (8, 5),
        "rebuttal": (4, 5),
        "judge": (4, 5),
    }
    for part in parts().values():
        assert {len(row) for row in part.rows} == {1 + len(part.columns)}
        assert all(re.fullmatch(r"\d+\.\d{2,3} ± (\d\.\d{2,3}|\?)", cell) for _, *cells in part.rows for cell in cells)


def test_six_deviations_are_stated_as_unknown() -> None:
    unknown = [cell for part in parts().values() for row in part.rows for cell in row if cell.endswith("?")]
    assert unknown == ["66.24 ± ?", "59.76 ± ?", "58.60 ± ?", "60.21 ± ?", "8.032 ± ?", "7.677 ± ?"]
    assert any("± ?" in sentence for sentence in read_printed().differences)


def test_the_judges_table_is_shown_only_with_judged_discussions() -> None:
    assert [title for title, _ in printed_tables(BenchTask.REBUTTAL, is_judged=True)][1:] == ["Re²: judged, 1 to 10"]
    assert len(printed_tables(BenchTask.REBUTTAL, is_judged=False)) == 1
    assert len(printed_tables(BenchTask.REVIEW, is_judged=True)) == 1


@pytest.mark.real
@pytest.mark.skipif(not PAPER.is_file(), reason="the paper is not beside this checkout, in ../shared/seeds")
def test_every_number_is_in_the_paper() -> None:
    text = PAPER.read_text(encoding="utf-8")
    tables = SIGNS.sub("", text[text.index("3.2 Experimental Results") : text.index("4 Related Work")])
    cells = [cell for part in parts().values() for _, *numbers in part.rows for cell in numbers]
    # Two cells are joined by a typesetting mark: the number and its deviation are separate.
    apart = {"8.229 ± 0.003", "8.297 ± 0.000", "7.944 ± 0.000"}
    wanted = [SIGNS.sub("", cell.removesuffix("?")) for cell in cells if cell not in apart]
    assert [cell for cell in wanted if cell not in tables] == []
    assert all(cell.partition(" ")[0] in tables for cell in apart)
