"""A report's statistics of points, against numbers worked out by hand; nothing hidden or taken down counts."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from matplotlib.patches import Rectangle
from polars.testing import assert_frame_equal

import invented_tables as made
from asked_releases import publish_release
from invented_sources import Given, paper, review
from invented_tables import ICLR, ICML, NOON, a_forum
from model_endpoint import completion, serving
from naming import Naming, by_name
from peercorpus.models.endpoint import MODEL_KEY_VARIABLE, AskedModel, ModelSettings
from peercorpus.models.token_counts import words_and_signs
from peercorpus.records.enums import Aspect, Phase, PostKind, Role, ScoreSource, SectionKind
from peercorpus.records.points import AnswerMethod, KindSource, Point, PointAnswer, PointAspect, PointKind
from peercorpus.records.reviews import Post, Review, Section
from peercorpus.records.scores import Score
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.report.corpus_sources import WorkspaceSource
from peercorpus.report.figure_style import figure_bytes, styled
from peercorpus.report.panels import PANELS, POINT_PANELS
from peercorpus.report.point_statistics import answers_and_scores, point_delays, points_answered
from peercorpus.report.write_report import ReportFiles, compute_statistic, open_source, write_report
from peercorpus.workspace.workspace import Workspace

BLAME, ANSWER = "Why?\n", "Done."
EXPERIMENTS, NOVELTY, CLARITY = PointAspect.EXPERIMENTS, PointAspect.NOVELTY, PointAspect.CLARITY


def answer(post_id: str, confidence: float = 0.89, days: float | None = 2) -> PointAnswer:
    posted = None if days is None else NOON + timedelta(days=days)
    return PointAnswer(
        post_id, 0, len(ANSWER), ANSWER, AnswerMethod.QUOTE, confidence, is_to_all=False, created_at=posted
    )


def point(
    review_id: str,
    number: int,
    *answers: PointAnswer,
    kind: PointKind = PointKind.WEAKNESS,
    aspect: PointAspect | None = EXPERIMENTS,
    venue_id: str = ICLR,
) -> Point:
    forum_id, _, reviewer = review_id.partition("-")
    return Point(
        point_id=f"{review_id}/{number}",
        forum_id=forum_id,
        venue_id=venue_id,
        review_id=review_id,
        reviewer=reviewer,
        number=number,
        field="weaknesses",
        section_kind=SectionKind.WEAKNESSES,
        start=len(BLAME) * (number - 1),
        end=len(BLAME) * number,
        text=BLAME,
        kind=kind,
        kind_source=KindSource.FIELD,
        label=None,
        aspect=aspect,
        answers=answers,
    )


def the_points() -> list[Point]:
    """Those of `a` and of two reviews that not everyone may read; five of a-R1 and one of u-R1 ask for an answer."""
    return [
        point("a-R1", 1, answer("a-answer")),
        point("a-R1", 2, answer("a-to-all", 0.43, None), kind=PointKind.QUESTION, aspect=NOVELTY),
        point("a-R1", 3, aspect=None),
        point("a-R1", 4, answer("a-answer"), kind=PointKind.STRENGTH),
        point("a-R1", 5, answer("a-secret"), kind=PointKind.SUGGESTION, aspect=CLARITY),
        point("a-R1", 6, answer("a-gone", 0.97, 1), answer("a-answer", 0.54, 2), answer("a-to-all", 0.43, 4)),
        point("h-R1", 1, answer("h-answer")),
        point("h-R2", 1, answer("h-answer")),
        point("u-R1", 1, aspect=NOVELTY),
    ]


def as_said(records: Iterable[object]) -> list[object]:
    """Records whose reviews and posts say what the points and answers quote: a-R1 has six points, others have one."""

    def say(record: object) -> object:
        if isinstance(record, Review):
            blame = BLAME * (6 if record.review_id == "a-R1" else 1)
            return replace(record, sections=(Section(SectionKind.WEAKNESSES, "weaknesses", blame),))
        return replace(record, text=ANSWER) if isinstance(record, Post) else record

    return [say(record) for record in records]


def the_records() -> list[object]:
    """A paper with a public review, one with a hidden and a deleted one, and one whose exchange is in a record."""
    turns = [made.turn(Role.REVIEWER), made.turn(Role.AUTHOR)]
    records = [
        *a_forum("a"),
        made.post("a-secret", "a", readers_public=False),
        made.post("a-gone", "a", deleted=True),
        made.paper("h"),
        made.review("h", "R1", readers_public=False),
        made.review("h", "R2", deleted=True),
        made.post("h-answer", "h"),
        made.paper("u"),
        made.review("u", "R1"),
        made.conversation("u", "R1", [replace(turn, text="We know.") for turn in turns]),
    ]
    return as_said(records)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Points of the first of two venues."""
    venues = {ICLR: [*the_records(), *the_points()], ICML: a_forum("m", ICML)}
    with made.invented(tmp_path / "corpus", venues) as one:
        yield one


Rows = list[tuple[Any, ...]]


def counted(workspace: Workspace) -> Rows:
    """Each group of points: review, kind, aspect, answered, confidence, days, number."""
    parts = WorkspaceSource(workspace, words_and_signs()).points()
    rows = [row for rows in parts for row in rows.drop("forum_id").iter_rows()]
    return sorted(rows, key=str)


LINKED: Rows = [
    ("a-R1", "question", "novelty", True, 0.43, None, 1),
    ("a-R1", "suggestion", "clarity", False, None, None, 1),
    ("a-R1", "weakness", "experiments", True, 0.54, 2.0, 1),
    ("a-R1", "weakness", "experiments", True, 0.89, 2.0, 1),
    ("a-R1", "weakness", None, False, None, None, 1),
]
"""Of `the_points`: those of the review whose exchange is in posts."""
UNLINKED: Rows = [("u-R1", "weakness", "novelty", None, None, None, 1)]


@pytest.mark.slow
def test_public_points_count_with_public_answers(workspace: Workspace) -> None:
    assert counted(workspace) == [*LINKED, *UNLINKED]


def test_an_answer_in_a_post_counts(tmp_path: Path) -> None:
    found = point("u-R1", 1, answer("u-answer"))
    records = [*the_records(), made.post("u-answer", "u"), found]
    with made.invented(tmp_path / "corpus", {ICLR: records}) as one:
        assert counted(one) == [("u-R1", "weakness", "experiments", True, 0.89, 2.0, 1)]


def test_similar_points_are_one_row_wherever_they_occur(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.report.venue_counts.POINT_ROWS", 1)
    put(workspace, [point("a-R1", 1), point("a-R1", 2, kind=PointKind.QUESTION), point("a-R1", 3)])
    assert counted(workspace) == [
        ("a-R1", "question", "experiments", False, None, None, 1),
        ("a-R1", "weakness", "experiments", False, None, None, 2),
    ]


def test_a_missing_time_hides_the_first_answer(workspace: Workspace) -> None:
    put(workspace, [point("a-R1", 1, answer("a-answer", 0.89, 2), answer("a-to-all", 0.43, None))])
    assert counted(workspace) == [("a-R1", "weakness", "experiments", True, 0.89, None, 1)]


def put(workspace: Workspace, points: Sequence[Point]) -> None:
    with workspace.tables.replacing(("9-points",), ICLR, "find_points", "b" * 64) as replacement:
        for one in points:
            replacement.add(one)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("listed", "left"),
    [
        (
            "a-answer",
            [
                ("a-R1", "question", "novelty", True, 0.43, None, 1),
                ("a-R1", "suggestion", "clarity", False, None, None, 1),
                ("a-R1", "weakness", "experiments", False, None, None, 1),
                ("a-R1", "weakness", "experiments", True, 0.43, 4.0, 1),
                ("a-R1", "weakness", None, False, None, None, 1),
                *UNLINKED,
            ],
        ),
        ("a-R1", UNLINKED),
        ("a", UNLINKED),
        ("u", LINKED),
    ],
)
def test_taken_down_points_are_neither_counted_nor_cached(workspace: Workspace, listed: str, left: Rows) -> None:
    assert counted(workspace) != left
    (workspace.folder / "takedown.txt").write_text(f"{listed}\n")
    assert counted(workspace) == left


def figures_of(written: ReportFiles) -> int:
    """Return the number of figures, including those with nothing to draw."""
    return written.figures + len(written.empty)


@pytest.mark.slow
def test_release_and_workspace_count_alike(workspace: Workspace, tmp_path: Path) -> None:
    release = tmp_path / "release"
    (workspace.folder / "takedown.txt").write_text("a-answer\n")
    publish_release(workspace, release, points=True)
    for name in POINT_PANELS:
        told, of_release = (compute_statistic(folder, name) for folder in (workspace.folder, release))
        assert_frame_equal(of_release.table, told.table)
        assert (of_release.n, of_release.unknown) == (told.n, told.unknown)
    assert compute_statistic(release, "points_answered").n == 5
    with open_source(release) as source:
        assert source.point_venues == [ICLR]


@pytest.mark.slow
def test_a_models_answer_has_no_confidence(workspace: Workspace, tmp_path: Path) -> None:
    put(workspace, [point("a-R1", 1), *(point("a-R1", number, kind=PointKind.STRENGTH) for number in range(2, 7))])
    with serving(completion("P1: S1")) as stand:
        settings = ModelSettings(stand.url, "kite-1", MODEL_KEY_VARIABLE)
        with closing(AskedModel.of(settings, None, "run", 9)) as model:
            publish_release(workspace, tmp_path / "release", points=True, annotator=Annotator(model))
    told = compute_statistic(tmp_path / "release", "points_answered").table.row(0, named=True)
    assert (told["points"], told["answered"], told["answered_at_0.5"]) == (1, 1, 0)


def numbers(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "numbers.json").read_text())
    return found


@pytest.mark.slow
def test_a_report_states_its_points_coverage(workspace: Workspace, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert figures_of(write_report(workspace.folder, out)) == len(PANELS) + len(POINT_PANELS)
    figures = numbers(out)["figures"]
    assert [name for name in figures if name in POINT_PANELS] == list(POINT_PANELS)
    assert list(figures).index("points_answered") == list(figures).index("model_written") + 1
    assert numbers(out)["venues_with_points"] == [ICLR]
    assert figures["points_answered"]["says"] == Naming("Of 5 points", "60 %", "40 %", "1 of 2 venues", ICLR, ": 1.")
    for name in POINT_PANELS:
        assert {path.suffix for path in out.glob(f"{name}.*")} == {".pdf", ".svg", ".png", ".csv"}
        assert f'id="{name}"' in (out / "report.html").read_text()


def test_a_raised_score_is_read_from_the_workspace(tmp_path: Path) -> None:
    scores = [
        Score(Aspect.RECOMMENDATION, "rating", value, 1, 10, str(value), phase, ScoreSource.NOTE, higher_is_better=True)
        for value, phase in ((4, Phase.INITIAL), (6, Phase.FINAL))
    ]
    reviewed = made.post("a-R1", "a", kind=PostKind.REVIEW, role=Role.REVIEWER)
    posts = [made.paper("a"), made.review("a", "R1", scores=tuple(scores)), reviewed, made.post("a-answer", "a")]
    with made.invented(tmp_path / "corpus", {ICLR: [*posts, *the_points()[:1]]}) as one:
        table = compute_statistic(one.folder, "answers_and_scores").table
    assert table.select("aspect", "reviews_answered", "raised_answered").rows() == [
        ("all", 1, 1),
        ("experiments", 1, 1),
    ]


def row(
    review_id: str, aspect: str | None = "novelty", confidence: float | None = None, **other: Any
) -> dict[str, Any]:
    """A group of points; with a confidence it is answered."""
    values = {"review_id": review_id, "forum_id": review_id.partition("-")[0], "kind": "weakness", "points": 1}
    return values | {"aspect": aspect, "confidence": confidence, "answered": confidence is not None} | other


def given(points: Sequence[dict[str, Any]], names: str = "abcd", **other: Any) -> Given:
    rows: dict[str, Any] = {"papers": [paper(name) for name in names], "point_venues": ["iclr/2024"]}
    return Given(**(rows | {"points": list(points)} | other))


def test_answered_points_are_split_three_ways() -> None:
    points = [
        row("a-0", "novelty", 0.89, points=3),
        row("a-0", "novelty", 0.43),
        row("a-0", "novelty", kind="question", points=4),
        row("b-0", None, 0.5),
        row("b-0", None, answered=None, points=2),
        row("c-0", "ethics", answered=None),
    ]
    papers = [paper("a"), paper("b", "icml"), paper("c", "icml")]
    found = points_answered(given(points, papers=papers))
    assert found.table.rows() == [
        ("all", "all", 9, 5, 5 / 9, 4, 4 / 9, 3),
        ("kind", "weakness", 5, 5, 1.0, 4, 0.8, 3),
        ("kind", "question", 4, 0, 0.0, 0, 0.0, 0),
        ("aspect", "novelty", 8, 4, 0.5, 3, 0.375, 0),
        ("aspect", "ethics", 0, 0, None, 0, None, 1),
        ("aspect", "not known", 1, 1, 1.0, 1, 1.0, 2),
        ("conference", "icml", 1, 1, 1.0, 1, 1.0, 3),
        ("conference", "iclr", 8, 4, 0.5, 3, 0.375, 0),
    ]
    assert (found.n, by_name(found.unknown, "published record")) == (9, {"published record": 3})
    assert "56 % have one, 44 % one of confidence 0.5" in found.says


def test_no_small_row_is_mentioned() -> None:
    some = [row("a-0", "novelty", 0.9, points=30), row("a-0", "clarity", points=30), row("a-0", "ethics", points=29)]
    says = points_answered(given([*some, row("a-0", None, points=90)])).says
    assert says == Naming("largest share is novelty (100 %)", "smallest clarity (0 %)")


def test_score_changes_with_and_without_an_answer() -> None:
    """Four papers with a review each: two answered, one of which was raised; two unanswered, neither raised."""
    reviews = [
        review("a", 3, 5),
        review("b", 5, 5),
        review("c", 5, 3),
        review("d", 5, 5),
        review("d", None, 5, place=1),
        review("d", 5, None, place=2),
        review("d", 3, 5, place=3),
    ]
    points = [
        row("a-0", "novelty", 0.9),
        row("a-0", "novelty"),
        row("a-0", "clarity"),
        row("b-0", "novelty", 0.9),
        row("c-0", "novelty", points=2),
        row("d-0", None),
        row("d-1", "novelty", 0.9),
        row("d-2", "novelty"),
        row("d-3", "clarity", answered=None),
    ]
    found = answers_and_scores(given(points, reviews=reviews))
    names = ("aspect", "reviews_answered", "raised_answered", "reviews_not_answered", "raised_not_answered")
    assert found.table.select(*names, "change_not_known", "answer_not_known").rows() == [
        ("all", 2, 1, 2, 0, 2, 1),
        ("novelty", 2, 1, 1, 0, 2, 0),
        ("clarity", 0, 0, 1, 1, 0, 1),
        ("not known", 0, 0, 1, 0, 0, 0),
    ]
    assert found.n == 4
    assert by_name(found.unknown, "first score", "scale", "published record") == {
        "first score": 1,
        "scale": 1,
        "published record": 1,
    }
    assert "50 % of the 2 reviews with an answered point and in 0 % of the 2 reviews without one" in found.says
    assert found.says.endswith("This is an association, not a cause.")


def test_intervals_are_over_papers() -> None:
    """Wilson's interval for two of four papers is 0.150 to 0.850; four agreeing reviews of each add nothing."""
    one_each = [review(name, 3, 5 if name in "ab" else 3) for name in "abcd"]
    four_each = [review(name, 3, 5 if name in "ab" else 3, place=place) for name in "abcd" for place in range(4)]
    for reviews, bounds in ((one_each, (0.150, 0.850)), (four_each, (0.125, 0.875))):
        points = [row(one["review_id"], "novelty", 0.9) for one in reviews]
        found, _ = answers_and_scores(given(points, reviews=reviews)).table.to_dicts()
        assert found["share_answered"] == 0.5
        assert (found["low_answered"], found["high_answered"]) == pytest.approx(bounds, abs=0.001)
        assert (found["share_not_answered"], found["difference"]) == (None, None)


def test_an_aspect_is_mentioned_beyond_its_interval() -> None:
    names = [f"p{number}" for number in range(60)]
    reviews = [review(name, 3, 5 if number < 30 else 3) for number, name in enumerate(names)]
    points = [row(f"{name}-0", "clarity", 0.9 if number < 30 else None) for number, name in enumerate(names)]
    points += [row(f"{name}-0", "ethics", None if number < 30 else 0.9) for number, name in enumerate(names)]
    points += [row(f"{name}-0", "novelty", 0.9 if number % 2 else None) for number, name in enumerate(names)]
    papers = [paper(name) for name in names]
    found = answers_and_scores(given(points, papers=papers, reviews=reviews))
    assert found.says == Naming("above 0 for points about clarity.", "below 0 for points about ethics.")
    by_aspect = {one["aspect"]: one for one in found.table.to_dicts()}
    assert (by_aspect["clarity"]["difference"], by_aspect["ethics"]["difference"]) == (1.0, -1.0)
    assert by_aspect["novelty"]["difference_low"] < 0 < by_aspect["novelty"]["difference_high"]


def test_days_to_the_first_answer() -> None:
    points = [
        row("a-0", "novelty", 0.9, days=1.0, points=3),
        row("a-0", None, 0.9, days=5.0),
        row("b-0", "novelty", 0.9, days=0.0),
        row("b-0", "novelty", 0.9, points=2),
        row("b-0", "novelty", 0.9, days=-1.0),
        row("b-0", "novelty"),
    ]
    papers = [paper("a"), paper("b", "icml")]
    found = point_delays(given(points, papers=papers))
    assert found.table.select("by", "name", "points", "lower_quartile_days", "median_days", "p90_days").rows() == [
        ("all", "all", 5, 1.0, 1.0, pytest.approx(3.4)),
        ("conference", "iclr", 4, 1.0, 1.0, pytest.approx(3.8)),
        ("conference", "icml", 1, 0.0, 0.0, 0.0),
        ("aspect", "novelty", 4, 0.75, 1.0, 1.0),
        ("aspect", "not known", 1, 5.0, 5.0, 5.0),
    ]
    assert (found.n, by_name(found.unknown, "missing", "before")) == (5, {"missing": 2, "before": 1})
    assert found.says == Naming("1 day after the review at the median")


@pytest.mark.parametrize("name", POINT_PANELS)
def test_a_statistic_without_points_says_why(name: str) -> None:
    for of, word in (
        (Given(), "publish --points"),
        (given([], point_venues=[]), "--points"),
        (given([]), "selection"),
        (given([row("a-0", answered=None)]), "selection"),
    ):
        found = POINT_PANELS[name].statistic(of)
        assert (found.n, found.table.height) == (0, 0)
        assert word in found.why
        with styled():
            assert figure_bytes(POINT_PANELS[name].draw(found), "svg").startswith(b"<?xml")


def test_answers_without_times_or_scores_are_reported() -> None:
    source = given([row("a-0", "novelty", 0.9)], reviews=[review("a", None, 5)])
    assert "known time" in point_delays(source).why
    assert "known first" in answers_and_scores(source).why
    assert points_answered(source).n == 1


def a_source() -> Given:
    papers = [paper(f"{venue}{number}", venue) for venue in ("iclr", "icml") for number in range(6)]
    ids = [one["forum_id"] for one in papers]
    reviews = [review(one, 3, 3 + number % 3) for number, one in enumerate(ids)]
    aspects = [*(aspect.value for aspect in PointAspect), None]
    points = [
        row(f"{one}-0", aspect, None if (number + place) % 3 else 0.43 + place / 20, days=number + place / 2)
        for number, one in enumerate(ids)
        for place, aspect in enumerate(aspects)
    ]
    return given(points, papers=papers, reviews=reviews)


def test_n_is_the_number_of_rows() -> None:
    source = a_source()
    for name, by in (("points_answered", "kind"), ("points_answered", "aspect"), ("point_delays", "aspect")):
        found = POINT_PANELS[name].statistic(source)
        assert found.table.filter(by=by)["points"].sum() == found.n > 0
    first = answers_and_scores(source).table.row(0, named=True)
    assert first["reviews_answered"] + first["reviews_not_answered"] == answers_and_scores(source).n == 12


def test_a_bar_is_as_long_as_its_share() -> None:
    found = points_answered(given([row("a-0", "novelty", 0.9), row("a-0", "novelty", 0.43), row("a-0", points=2)]))
    with styled():
        axes = POINT_PANELS["points_answered"].draw(found).axes
    for one in axes:
        assert [bar.get_width() for bar in one.patches if isinstance(bar, Rectangle)] == [0.25, 0.25]
        assert [label.get_text() for label in one.get_yticklabels()] == [Naming("(n = 4)")]
