"""Sources of statistics: a workspace and its release agree, and nothing hidden is in either."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import invented_tables as made
from asked_releases import publish_release
from invented_tables import ICLR, ICML, NOON, a_forum, what_follows
from peercorpus.errors import PeercorpusError
from peercorpus.models.token_counts import words_and_signs
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.enums import Aspect, Grade, Phase, PostKind, Reason, Role, ScoreSource, Status
from peercorpus.records.reviews import Review
from peercorpus.records.scores import Score
from peercorpus.report.corpus_sources import ReleaseSource, WorkspaceSource
from peercorpus.report.source import CorpusSource, TextKind
from peercorpus.report.write_report import open_source
from peercorpus.workspace.workspace import Workspace

FRAMES = ("papers", "reviews", "paper_tokens", "review_tokens", "talks", "turns", "meta_reviews", "files")


def rating(value: float | None, phase: Phase, field: str = "rating") -> Score:
    return Score(Aspect.RECOMMENDATION, field, value, 1, 10, str(value), phase, ScoreSource.NOTE)


def scored(review_id: str, *scores: Score, revised: bool | None = None) -> Review:
    return made.review("s", review_id, scores=scores, revised=revised)


def the_forums() -> dict[str, list[object]]:
    """Papers with hidden content, and with scores of every kind."""
    hidden = [
        made.paper("h", status=Status.REJECTED),
        made.review("h", "R1", readers_public=False),
        made.review("h", "R2", deleted=True),
        made.review("h", "R3"),
        made.post("h-secret", "h", readers_public=False),
        made.post("h-decision", "h", kind=PostKind.DECISION, role=Role.PROGRAM_CHAIR, readers_public=False),
        made.conversation("h", "R1", [made.turn(Role.REVIEWER, "h-secret")]),
        made.conversation("h", "R3", [made.turn(Role.REVIEWER, "h-not-held")]),
    ]
    first, last = rating(4, Phase.INITIAL), rating(6, Phase.FINAL)
    other = rating(9, Phase.FINAL, "overall")
    scores = [
        made.paper("s", keywords=(), decision_comment="Too bold."),
        made.post("s-meta", "s", kind=PostKind.META_REVIEW, text="Too bold.", readers_public=False),
        made.post("s-decision", "s", kind=PostKind.DECISION, role=Role.PROGRAM_CHAIR),
        scored("R1", first, last),
        scored("R2", rating(6, Phase.INITIAL), last, revised=False),
        scored("R3", last, revised=True),
        scored("R4", other, rating(2, Phase.FINAL, "Rating")),
        scored("R5"),
        scored("R6", rating(None, Phase.FINAL)),
        scored("R7", rating(3, Phase.INITIAL, "preliminary_rating"), rating(5, Phase.FINAL, "final_rating")),
    ]
    late = made.version("z", "sha-z", Grade.UNREVISED_LIKELY, ICML)
    icml = [
        *a_forum("m", ICML),
        *what_follows("m", ICML),
        made.paper("z", ICML),
        late,
        made.text("sha-z", "Not initial.", ICML),
    ]
    return {ICLR: [*a_forum("a"), *hidden, *scores], ICML: icml}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace that tests must not change."""
    with made.invented(tmp_path_factory.mktemp("sources") / "corpus", the_forums()) as workspace:
        yield workspace


@pytest.fixture
def changeable(tmp_path: Path) -> Iterator[Workspace]:
    """The same for a test that changes it."""
    with made.invented(tmp_path / "corpus", the_forums()) as workspace:
        yield workspace


@pytest.fixture(scope="module")
def release(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its release; a test that changes it copies it first."""
    folder = tmp_path_factory.mktemp("release") / "release"
    publish_release(workspace, folder)
    return folder


def source(workspace: Workspace) -> WorkspaceSource:
    return WorkspaceSource(workspace, words_and_signs())


def test_release_and_workspace_give_the_same_statistics(workspace: Workspace, release: Path) -> None:
    of_tables, of_release = source(workspace), ReleaseSource(release, words_and_signs())
    for name in FRAMES:
        assert_frame_equal(getattr(of_tables, name), getattr(of_release, name), check_row_order=False)
    assert of_release.set_aside is None
    assert of_release.listed is None


def texts(given: CorpusSource, kind: TextKind) -> list[tuple[object, ...]]:
    return sorted(row for rows in given.texts(kind) for row in rows.select("forum_id", "text").iter_rows())


@pytest.mark.parametrize("kind", TextKind)
def test_a_release_has_the_texts_of_its_workspace(workspace: Workspace, release: Path, kind: TextKind) -> None:
    found = texts(source(workspace), kind)
    assert found == texts(ReleaseSource(release, words_and_signs()), kind)
    assert found
    assert {forum_id for forum_id, _ in found} <= set("ahmsz")


def test_ai_reviews_are_in_no_population(workspace: Workspace) -> None:
    (said,) = (one for one in what_follows("m", ICML) if isinstance(one, AiReview))
    words = {section.text for section in said.sections} | {reply.text for reply in said.replies if reply.text}
    assert words
    held = [str(text) for kind in TextKind for _, text in texts(source(workspace), kind)]
    assert not [text for text in held if any(each in text for each in words)]


@pytest.mark.slow
def test_texts_exclude_what_is_hidden(changeable: Workspace) -> None:
    assert [forum_id for forum_id, _ in texts(source(changeable), TextKind.REVIEWS)].count("h") == 1
    assert "s" not in [forum_id for forum_id, _ in texts(source(changeable), TextKind.META_REVIEWS)]
    with open_source(changeable.folder, ["conference=icml"]) as chosen:
        assert {forum_id for kind in TextKind for forum_id, _ in texts(chosen, kind)} == {"m"}
    (changeable.folder / "takedown.txt").write_text("m\na-R1\n")
    left = {kind: [forum_id for forum_id, _ in texts(source(changeable), kind)] for kind in TextKind}
    assert "m" not in {forum_id for each in left.values() for forum_id in each}
    assert "a" not in left[TextKind.REVIEWS]
    assert "a" in left[TextKind.REPLIES]


def test_no_frame_contains_what_is_not_public(workspace: Workspace) -> None:
    given = source(workspace)
    for name in ("reviews", "review_tokens"):
        assert given.__getattribute__(name).filter(forum_id="h")["review_id"].to_list() == ["h-R3"]
    assert given.talks.filter(forum_id="h").is_empty()
    assert given.turns.filter(forum_id="h").is_empty()
    assert given.papers.filter(forum_id="h")["status"].to_list() == [None]


def test_scores_have_initial_and_final_values(workspace: Workspace) -> None:
    told = source(workspace).reviews.filter(forum_id="s").sort("review_id")
    assert told.select("rating_initial", "rating_final").rows() == [
        (4, 6),
        (6, 6),
        (None, 6),
        (None, 2),
        (None, None),
        (None, None),
        (3, 5),
    ]


def test_two_phases_share_a_name(tmp_path: Path) -> None:
    other = rating(2, Phase.FINAL, "recommendation")
    both = [(4, Phase.INITIAL, "rating_before"), (6, Phase.FINAL, "rating_after")]
    scores = (other, *(replace(rating(*given), subject="rating") for given in both))
    with made.invented(
        tmp_path / "corpus", {ICLR: [made.paper("a"), made.review("a", "R1", scores=scores)]}
    ) as workspace:
        assert source(workspace).reviews.select("rating_initial", "rating_final").rows() == [(4, 6)]


def test_the_best_text_of_each_paper_is_measured(workspace: Workspace) -> None:
    assert source(workspace).paper_tokens.sort("forum_id").rows() == [
        ("a", 4, "exact"),
        ("m", 4, "exact"),
        ("z", 3, "unrevised_likely"),
    ]


def test_no_frame_contains_what_is_taken_down(changeable: Workspace) -> None:
    (changeable.folder / "takedown.txt").write_text("m\na-R1\n")
    given = source(changeable)
    for name in FRAMES:
        assert "m" not in getattr(given, name)["forum_id"].to_list(), name
    assert given.reviews.filter(forum_id="a").is_empty()
    assert given.turns.filter(forum_id="a")["role"].to_list() == ["author"]
    assert given.papers["forum_id"].to_list() == ["a", "h", "s", "z"]


def test_set_aside_counts_exclude_the_taken_down(changeable: Workspace) -> None:
    with changeable.tables.replacing((), ICLR, "choose_versions", "b" * 64) as replacement:
        for record_id, forum_id in (("1", "a"), ("2", "a"), ("3", None), ("4", "s")):
            replacement.set_aside(record_id, forum_id, Reason.NO_PDF, "none")
    (changeable.folder / "takedown.txt").write_text("s\n")
    rows = source(changeable).set_aside
    assert rows is not None
    assert sorted(rows.select("forum_id", "stage", "reason", "rows").rows(), key=str) == [
        ("a", "choose_versions", "no_pdf", 2),
        (None, "choose_versions", "no_pdf", 1),
    ]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ([], "ahmsz"),
        (["conference=icml"], "mz"),
        (["year<2023", "grade=exact"], "a"),
        (["reviews=0"], "z"),
        (["reviews>1"], "s"),
        (["rating<6"], "s"),
        (["rating=6"], "ahm"),
        (["confidence>=4"], "ahm"),
        (["has_rebuttal=yes"], "am"),
        (["has_rebuttal=no"], "hsz"),
        (["score_changed=yes"], "s"),
        (["keyword=TEST", "keyword=invention"], "ahmz"),
    ],
)
def test_conditions_select_papers_and_their_records(workspace: Workspace, where: list[str], expected: str) -> None:
    with open_source(workspace.folder, where) as chosen:
        assert "".join(sorted(chosen.papers["forum_id"])) == expected
        for name in FRAMES:
            assert set(getattr(chosen, name)["forum_id"]) <= set(expected), name


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("score_changed=no", "score_changed=no"),
        ("status=rejected", "status=rejected"),
        ("keyword=other", "'other'"),
    ],
)
def test_an_unmet_condition_is_refused(workspace: Workspace, where: str, named: str) -> None:
    with pytest.raises(PeercorpusError, match=named), open_source(workspace.folder, [where]):
        pass


def test_an_initial_score_counts_without_phase(tmp_path: Path) -> None:
    sure = made.score("confidence", 4, "4", Aspect.CONFIDENCE, Phase.INITIAL)
    records = [made.paper("a"), made.review("a", "R1", scores=(rating(7, Phase.INITIAL), sure))]
    with made.invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        for where in ("rating=7", "confidence=4"):
            with open_source(workspace.folder, [where]) as chosen:
                assert chosen.papers["forum_id"].to_list() == ["a"], where


@pytest.mark.fault("disk", "a file of a release is no Parquet, before a report", "one sentence that names it")
def test_a_damaged_release_is_one_sentence(release: Path, tmp_path: Path) -> None:
    shutil.copytree(release, tmp_path / "release")
    next((tmp_path / "release" / "data" / "reviews").glob("*.parquet")).write_bytes(b"PAR1 no")
    with pytest.raises(PeercorpusError, match=r"reviews.*\.parquet' of the release is damaged"):
        ReleaseSource(tmp_path / "release", words_and_signs())


def test_the_parts_add_up_to_the_whole(workspace: Workspace) -> None:
    """Assert that a condition and its opposite together select everything with a known value."""
    with (
        open_source(workspace.folder, ["has_rebuttal=yes"]) as one,
        open_source(workspace.folder, ["has_rebuttal=no"]) as other,
    ):
        assert one.papers.height + other.papers.height == one.every == other.every


def test_turns_are_numbered_within_their_conversation(tmp_path: Path) -> None:
    turns = [made.turn(Role.REVIEWER, "a-R1"), replace(made.turn(Role.AUTHOR, "a-answer"), created_at=None)]
    records = [one for one in a_forum("a") if not hasattr(one, "turns")]
    with made.invented(tmp_path / "corpus", {ICLR: [*records, made.conversation("a", "R1", turns)]}) as workspace:
        found, talks = source(workspace).turns, source(workspace).talks
    assert found.select("place", "role", "created_at").rows() == [(0, "reviewer", NOON), (1, "author", None)]
    assert found.schema["created_at"] == pl.Datetime("us", "UTC")
    assert talks["responses"].to_list() == [0]
