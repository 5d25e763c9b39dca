"""The figures of Re²'s profile, against hand-worked numbers, SciPy, and records imported from both datasets."""

from pathlib import Path

import polars as pl
import pytest
from scipy import stats

import invented_tables as made
from invented_sources import Given, paper, review
from naming import by_name
from peercorpus.models.token_counts import words_and_signs
from peercorpus.records.enums import Aspect, Phase, ScoreSource
from peercorpus.records.scores import Score
from peercorpus.report.corpus_sources import WorkspaceSource
from peercorpus.report.re2_figures import (
    BOX,
    GRID_POINTS,
    grid_between,
    measure_box,
    measure_shape,
    score_violins,
    spread,
)


def unified(forum_id: str, *scores: float | None) -> list[dict[str, object]]:
    return [review(forum_id, one, one, place=place, unified=one) for place, one in enumerate(scores)]


@pytest.mark.parametrize("values", [[1, 3, 5, 6, 6, 8, 10], [4, 6], [5.5, 5.5, 5.5, 6.5] * 20])
def test_the_density_is_that_of_scipy(values: list[float]) -> None:
    shape = measure_shape(pl.Series("unified", values, pl.Float64))
    kernel = stats.gaussian_kde(values, bw_method="scott")
    width = float(kernel.covariance[0, 0] ** 0.5)
    low, high = min(values) - 2 * width, max(values) + 2 * width
    assert [shape[name] for name in ("bandwidth", "tail_low", "tail_high")] == pytest.approx([width, low, high])
    assert shape["density"] == pytest.approx(kernel(grid_between(low, high)).tolist())
    assert len(grid_between(low, high)) == GRID_POINTS


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # Q1 4, Q3 6: the fences 1 and 9 are not scores, but the whiskers still end there (eq. 3 and 4).
        ([0.5, 4, 4, 5, 6, 6, 10], (1, 4, 5, 6, 9)),
        # The data end within the fences: the whiskers end with them.
        ([3, 4, 5, 6, 7], (3, 4, 5, 6, 7)),
        ([8], (8, 8, 8, 8, 8)),
    ],
)
def test_whiskers_are_those_of_equations_3_and_4(values: list[float], expected: tuple[float, ...]) -> None:
    measured = measure_box(pl.Series("unified", values, pl.Float64))
    assert tuple(measured[name] for name in BOX) == expected


def test_the_ten_largest_conferences_are_shown() -> None:
    papers = [paper(f"{venue}{n}", venue) for place, venue in enumerate("abcdefghijkl") for n in range(20 - place)]
    reviews = [one for given in papers for one in unified(given["forum_id"], 5, 7)] + unified("a0", 6, None)[1:]
    shown = score_violins(Given(papers=papers, reviews=reviews))
    assert shown.table["conference"].to_list() == list("abcdefghij")
    assert shown.table.row(0, named=True)["papers"] == 20
    assert (shown.n, by_name(shown.unknown, "1 to 10")) == (2 * sum(range(11, 21)), {"1 to 10": 1})
    assert shown.table["median"].unique().to_list() == [6]


def test_overlapping_labels_are_moved_apart() -> None:
    assert spread([5, 5, 5], 1) == [4, 5, 6]
    assert spread([1, 1, 2.5], 1) == [0.5, 1.5, 2.5]
    assert spread([1, 1, 2], 1) == pytest.approx([1 / 3, 4 / 3, 7 / 3])


def test_a_unified_value_comes_from_its_form(tmp_path: Path) -> None:
    def scored(phase: Phase, **known: float | None) -> Score:
        return Score(Aspect.RECOMMENDATION, "rating", 2, 1, 4, "2", phase, ScoreSource.PUBLISHED, **known)  # type: ignore[arg-type]

    given = {
        "R1": (scored(Phase.INITIAL, unified=3), scored(Phase.FINAL, unified=6.5, stated_unified=7)),
        "R2": (scored(Phase.INITIAL, stated_unified=3),),
        "R3": (scored(Phase.FINAL),),
        "R4": (scored(Phase.FINAL), Score(Aspect.CLARITY, "clarity", 2, 1, 4, "2", Phase.FINAL, ScoreSource.NOTE)),
    }
    records = [made.paper("a"), *(made.review("a", name, scores=scores) for name, scores in given.items())]
    with made.invented(tmp_path / "corpus", {made.ICLR: records}) as workspace:
        frame = WorkspaceSource(workspace, words_and_signs()).reviews.sort("review_id")
    assert frame["unified"].to_list() == [6.5, 3, None, None]
    assert frame["aspect_scores"].to_list() == [0, 0, 0, 1]
