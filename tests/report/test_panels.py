"""Figures match their descriptions: title and n are in the picture, n adds up, and axes have units."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from invented_sources import Given, Rows, paper, review, talk
from peercorpus.corpus.filters import FIELDS
from peercorpus.report.figure_style import styled
from peercorpus.report.panels import PANELS, POINT_PANELS, RE2_PANELS, Panel

ALL_PANELS = {**PANELS, **RE2_PANELS}
EMPTY = "model_written"
"""The figure needs hundreds of texts from before 2022; its own tests draw it."""


def many(conferences: int = 14, years: int = 15) -> Given:
    """More conferences, years, venues, keywords and reasons than fit, with missing values, outliers and a long tail."""
    papers: Rows = []
    reviews: Rows = []
    turns: Rows = []
    tokens: Rows = []
    for place in range(conferences):
        for number in range(years if place < 3 else 3 + (place == 5)):
            forum_id = f"c{place:02}-{number}"
            status = ("accepted", "rejected", "withdrawn", None)[(place + number) % 4]
            year = None if place == 4 else 2010 + number
            words = [f"k{(place + number) % 13}", f"k{number}"] if number % 5 else []
            grade = ("exact", "unrevised", None)[number % 3]
            papers.append(paper(forum_id, f"c{place:02}", year, status=status, keywords=words, grade=grade))
            for reviewer in range(number % 3 + (number % 7 > 0)):
                last = None if (number + reviewer) % 6 == 5 else float(1 + (3 * number + 5 * reviewer + place) % 11)
                first = None if reviewer == 1 else float(1 + (place + number) % 11)
                reviews.append(review(forum_id, first, last, place=reviewer, unified=last))
                talked = ("r", "ra", "rar", "rarara")[(number + reviewer) % 4]
                hours = (0.0, None, 3.0, -4.0, 2_000.0, 2_001.0)[: len(talked)] if number == 2 else ()
                turns += talk(f"{forum_id}/{reviewer}", talked, hours)
            tokens.append({"forum_id": forum_id, "review_id": f"{forum_id}-0", "tokens": 200 * number + place})
    tokens[-1]["tokens"] = 900_000
    tokens[0]["tokens"] = 0
    aside = [
        {"forum_id": None, "venue_id": "c00/2010", "stage": "one", "reason": f"reason_{place}", "rows": 1 + place**3}
        for place in range(20)
    ]
    return Given(
        papers=papers, reviews=reviews, turns=turns, paper_tokens=tokens[5:], review_tokens=tokens, set_aside=aside
    )


def few() -> Given:
    """One paper with two reviews, one without a score, and an answer."""
    one = {"forum_id": "p", "review_id": "p-0", "tokens": 1}
    return Given(
        papers=[paper("p", "iclr", None, keywords=["k", "k2"], status="rejected")],
        reviews=[review("p", 3.0, 5.0, unified=5.0), review("p", None, 6.0, place=1, unified=None)],
        turns=talk("p/1", "rar"),
        paper_tokens=[one],
        review_tokens=[one],
        set_aside=[{"forum_id": None, "venue_id": "v", "stage": "one", "reason": "r", "rows": 3}],
    )


CORPORA = {"many": many(), "few": few()}


def labels(axes: Axes) -> list[str]:
    """Return the labels of ticks, and the title of the axes."""
    return [*(one.get_text() for one in (*axes.get_xticklabels(), *axes.get_yticklabels())), axes.get_title("left")]


def total(texts: Iterable[str], pattern: str) -> int:
    """The sum of the numbers in texts that match a pattern."""
    matches = (re.search(pattern, text) for text in texts)
    return sum(int(match[1].replace(",", "")) for match in matches if match)


def widths(figure: Figure) -> int:
    return round(sum(bar.get_width() for bar in figure.axes[0].patches if isinstance(bar, Rectangle)))


def heights(figure: Figure) -> int:
    return round(sum(bar.get_height() for bar in figure.axes[0].patches if isinstance(bar, Rectangle)))


def labelled(figure: Figure) -> int:
    return sum(total(labels(axes), r"n = ([\d,]+)") for axes in figure.axes)


def cells(figure: Figure) -> int:
    return total((one.get_text() for one in figure.axes[0].texts), r"^([\d,]+)$")


def counts_line(figure: Figure) -> Text:
    """The line below the title."""
    (line,) = (one for one in figure.axes[0].texts if one.get_text().startswith("n = "))
    return line


def stated(figure: Figure) -> int:
    found = re.match(r"n = ([\d,]+) [a-z]", counts_line(figure).get_text())
    assert found
    return int(found[1].replace(",", ""))


READ: Mapping[str, Callable[[Figure], int]] = {
    "papers_and_reviews": widths,
    "paper_length": heights,
    "review_length": heights,
    "score_violins": labelled,
    "score_changes": widths,
    "reviewer_agreement": labelled,
    "rebuttals": cells,
    "turns": heights,
    "response_delays": labelled,
    "grades": labelled,
    "completeness": lambda figure: total(labels(figure.axes[0]), r"\(([\d,]+) papers?\)"),
    "set_aside": widths,
    "review_load": labelled,
    "responses_by_area": lambda figure: total(labels(figure.axes[0]), r"n = ([\d,]+)"),
}
"""Return how many items are drawn, read from bars, cells and labels."""

SAME = {
    "fig2a_paper_length": "paper_length",
    "fig2b_review_length": "review_length",
    "fig2c_papers_and_reviews": "papers_and_reviews",
    "fig2d_rebuttals": "rebuttals",
    "fig2f_scores": "score_violins",
    "fig3_violin_details": "score_violins",
}


@cache
def draw(panel: Panel, corpus: str) -> Figure:
    with styled():
        figure = panel.draw(panel.statistic(CORPORA[corpus]))
        figure.draw_without_rendering()
    return figure


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", [*READ, *SAME])
def test_n_is_the_number_drawn(name: str, corpus: str) -> None:
    figure = draw(ALL_PANELS[name], corpus)
    assert READ[SAME.get(name, name)](figure) == stated(figure) > 0


def test_figures_without_overlapping_rows_are_checked() -> None:
    # No review of these corpora has a due date; test_reviewing draws some that have.
    assert ALL_PANELS.keys() - READ.keys() - SAME.keys() == {"keywords", "fig2e_keywords", "late_reviews", EMPTY}


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_n_of_keywords_counts_each_paper_once(corpus: str) -> None:
    figure = draw(PANELS["keywords"], corpus)
    shown = {label.get_text() for label in figure.axes[0].get_yticklabels()}
    papers = CORPORA[corpus].papers.filter(CORPORA[corpus].papers["keywords"].list.set_intersection(list(shown)) != [])
    assert stated(figure) == papers.height > 0


def test_what_does_not_fit_is_counted() -> None:
    for name in ("papers_and_reviews", "rebuttals", "completeness", "set_aside"):
        statistic = PANELS[name].statistic(CORPORA["many"])
        figure = draw(PANELS[name], "many")
        beyond = re.search(r"; ([\d,]+) more only in the table", counts_line(figure).get_text())
        assert beyond
        assert stated(figure) + int(beyond[1].replace(",", "")) == statistic.n


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("panel", ALL_PANELS.values(), ids=list(ALL_PANELS))
def test_a_figure_has_title_and_units(panel: Panel, corpus: str) -> None:
    figure = draw(panel, corpus)
    title = figure.get_suptitle()
    assert " ".join(title.split()) == panel.title
    if panel.name == EMPTY:
        return
    for axes in figure.axes:
        if axes.axison and axes.get_xticks().size and axes.get_subplotspec().is_last_row():  # type: ignore[union-attr]
            names = [label.get_text() for label in axes.get_xticklabels()]
            assert axes.get_xlabel() or any(re.search("[a-z]", one) for one in names)


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("panel", ALL_PANELS.values(), ids=list(ALL_PANELS))
def test_no_text_is_cut_off(panel: Panel, corpus: str) -> None:
    figure = draw(panel, corpus)
    width, height = figure.get_size_inches()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    drawn = figure.get_tightbbox(renderer)
    assert (drawn.x0 > -0.02, drawn.y0 > -0.02, drawn.x1 < width + 0.02, drawn.y1 < height + 0.02) == (True,) * 4
    line = counts_line(figure).get_window_extent(renderer)
    assert line.x1 < width * figure.dpi
    for axes in figure.axes:
        inside = axes.get_tightbbox(renderer)
        assert inside is None or inside.y1 <= line.y0 + 1


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
