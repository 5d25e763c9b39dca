"""Column heads above one rule: only a head that has the rule to itself spans all of it."""

import pytest

from invented_pages import Cells, InventedPage

BELOW: Cells = {100: "Model", 160: "dev", 200: "test", 260: "dev", 300: "test"}
OURS: Cells = {100: "Ours", 160: "28.4", 200: "27.1", 260: "1.25", 300: "1.31"}
BASE: Cells = {100: "Base", 160: "27.3", 200: "26.0", 260: "1.38", 300: "1.40"}


def heads(above: Cells, *rules: tuple[float, float]) -> list[str]:
    """The heads of a table whose first line has rules below it, each from one height in points to another."""
    page = InventedPage()
    for height in (724, 695, 664):
        page.rule(height, 95, 350)
    for left, right in rules:
        page.rule(709, left, right)
    page.rows(712, above)
    page.rows(700, BELOW)
    page.rows(683, OURS, BASE)
    return page.cells()[0]


@pytest.mark.parametrize("rules", [[(155, 325)], [(155, 225), (255, 325)]], ids=["one rule", "a rule each"])
def test_two_headers_are_each_above_their_own_columns(rules: list[tuple[float, float]]) -> None:
    assert heads({180: "BLEU", 280: "Loss"}, *rules) == ["Model", "BLEU dev", "BLEU test", "Loss dev", "Loss test"]


def test_a_header_spans_the_columns_under_its_rule() -> None:
    said = heads({170: "Scores"}, (155, 325))
    assert said == ["Model", "Scores dev", "Scores test", "Scores dev", "Scores test"]
