"""docs/report.md lists all statistics and figures."""

from pathlib import Path

from peercorpus.corpus.filters import FIELDS
from peercorpus.report.panels import PANELS, POINT_PANELS, RE2_PANELS

TEXT = (Path(__file__).parents[2] / "docs" / "report.md").read_text()


def named(heading: str) -> list[str]:
    """The names in the first column of the table under a heading."""
    rows = [
        line.split("|")[1].strip()
        for line in TEXT.partition(f"## {heading}")[2].partition("\n## ")[0].splitlines()
        if "|" in line
    ]
    return [row.strip("`") for row in rows[2:]]


def test_every_figure_is_in_the_document() -> None:
    assert named("The figures\n") == list(PANELS)
    assert named("Points and their answers\n") == list(POINT_PANELS)
    assert named("The figures of Re²\n") == list(RE2_PANELS)


def test_every_condition_is_documented_with_all_its_values() -> None:
    assert named("Conditions") == list(FIELDS)
    for field in FIELDS.values():
        assert field.says in TEXT
        assert all(f"`{word}`" in TEXT for word in field.words)
