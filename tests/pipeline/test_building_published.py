"""Published records become the same tables as notes; what they do not state is null, and every sum agrees."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release
from commands import Run
from in_this_process import build_here
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.importers.reviewbench import drop_shape
from peercorpus.pipeline.status import read_status
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import (
    Aspect,
    Grade,
    PaperSource,
    Phase,
    PostKind,
    Reason,
    Role,
    ScoreSource,
    SectionKind,
    Status,
    VersionMoment,
)
from peercorpus.records.papers import Paper, PaperVersion, SetAside
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.release.request import ReleaseLayout
from peercorpus.release.schemas import ReviewBench
from peercorpus.workspace.workspace import Workspace, open_workspace
from published_records import (
    KITES,
    TEXT,
    re2_paper,
    re2_rebuttal,
    re2_scores,
    reviewbench_review,
    reviewbench_row,
    write_json,
    write_manuscript,
    write_parquet,
)
from reviewbench_rows import invented_rows

STAND_IN = "published/Kites/2023/Conference"


def take(workspace: Workspace, folder: Path, **files: object) -> None:
    """Import files by name, build, and check every sum."""
    for name, content in files.items():
        if name.startswith("RE"):
            write_json(folder / "in" / f"{name}.json", content)
        elif isinstance(content, list):
            write_parquet(folder / "in" / f"{name}.parquet", content)
    import_dumps(workspace, [folder / "in"])
    build_here(workspace)
    standing = read_status(workspace)
    assert standing.holds, standing.balances
    assert list(standing.unfinished) == []


def rows(workspace: Workspace, kind: Any, venue_id: str = KITES) -> list[Any]:
    return list(workspace.tables.read(kind, venue_id))


def aside(workspace: Workspace, venue_id: str = KITES) -> dict[tuple[str, str], Reason]:
    return {(row.stage, row.record_id): row.reason for row in rows(workspace, SetAside, venue_id)}


@pytest.mark.slow
def test_reviewbench_row_becomes_a_paper(tmp_path: Path, workspace: Workspace) -> None:
    take(workspace, tmp_path, kites=[reviewbench_row()])
    (paper,) = rows(workspace, Paper)
    assert (paper.forum_id, paper.title, paper.number, paper.year) == ("kite1", "On Kites", 7, 2023)
    assert (paper.status, paper.decision, paper.decision_comment) == (Status.ACCEPTED, "Accept (poster)", "It flies.")
    assert (paper.tldr, paper.decided_at, paper.licence, paper.created_at) == (None, None, None, None)
    (review,) = rows(workspace, Review)
    assert (review.review_id, review.reviewer, review.created_at) == ("r1", "Reviewer_AbCd", None)
    assert (review.revised, review.final_justification) == (None, None)
    assert [(one.field, one.value, one.low, one.high, one.label) for one in review.scores] == [
        ("rating", 6, None, None, "6: marginally above"),
        ("confidence", 4, None, None, "4"),
        ("soundness", 3, None, None, "3 good"),
    ]
    assert {one.source for one in review.scores} == {ScoreSource.PUBLISHED}
    assert [(one.kind, one.text) for one in review.sections] == [(SectionKind.SUMMARY, "Kites are flown.")]
    assert json.loads(drop_shape(review.extra)) == {"code_of_conduct": "Yes"}
    posts = {post.post_id: post for post in rows(workspace, Post)}
    assert {(post.kind, post.role, post.reply_to, post.signature) for post in posts.values()} == {
        (PostKind.REVIEW, Role.REVIEWER, None, "Reviewer_AbCd"),
        (PostKind.REBUTTAL, Role.AUTHOR, "r1", ""),
        (PostKind.REBUTTAL, Role.AUTHOR, None, ""),
    }
    assert {(post.created_at, post.invitation) for post in posts.values()} == {(None, "")}
    (conversation,) = rows(workspace, Conversation)
    assert [turn.text for turn in conversation.turns] == ["Kites are flown.", "We thank the reviewer."]
    assert [response.post_id for response in conversation.context] == ["kite1/rebuttal"]


@pytest.mark.slow
def test_published_text_is_verbatim(tmp_path: Path, workspace: Workspace) -> None:
    empty = reviewbench_row("kite2", markdown="", markdown_chars=0)
    take(workspace, tmp_path, kites=[reviewbench_row(), reviewbench_row("kite3"), empty])
    versions = rows(workspace, PaperVersion)
    assert [(one.forum_id, one.is_initial, one.grade, one.is_pdf) for one in versions] == [
        ("kite1", False, Grade.UNSTATED, False),
        ("kite3", False, Grade.UNSTATED, False),
    ]
    assert "does not state" in versions[0].evidence.rule
    (text,) = rows(workspace, PaperText)
    assert (text.markdown, text.engine, text.engine_version, text.pages) == (TEXT, "reviewbench", "", None)
    assert text.sha256 == versions[0].sha256 == versions[1].sha256
    assert aside(workspace) == {("choose_versions", "reviewbench:kite2"): Reason.NO_TEXT}
    publish_release(workspace, tmp_path / "out")
    (path,) = (tmp_path / "out" / "data" / "papers").iterdir()
    assert pq.read_table(path, columns=["markdown"]).column(0).to_pylist() == [TEXT, "", TEXT]


@pytest.mark.slow
def test_re2_gives_scores_of_both_times(tmp_path: Path, workspace: Workspace) -> None:
    write_manuscript(tmp_path / "in")
    take(workspace, tmp_path, REVIEWS_train=[re2_paper()], REBUTTAL_test=[re2_rebuttal()])
    (paper,) = rows(workspace, Paper, STAND_IN)
    assert (paper.conference, paper.year, paper.track, paper.title) == ("kites", 2023, "main", None)
    assert (paper.status, paper.decision_comment) == (Status.ACCEPTED, "It flies.")
    (review,) = rows(workspace, Review, STAND_IN)
    ratings = [(one.phase, one.value, one.label) for one in review.scores if one.aspect is Aspect.RECOMMENDATION]
    assert ratings == [(Phase.INITIAL, 5, "5: borderline"), (Phase.FINAL, 7, "7: accept")]
    assert [one.field for one in review.scores[:4]] == ["rating", "confidence", "soundness", "presentation"]
    assert (review.title, review.revised) == (None, True)
    assert json.loads(review.extra) == {}
    assert json.loads(paper.extra) == {"conference_year_track": "Kites 2023 Conference"}
    (conversation,) = rows(workspace, Conversation, STAND_IN)
    assert [(turn.role, turn.signature, turn.text) for turn in conversation.turns] == [
        (Role.REVIEWER, "Reviewer_AbCd", "Kites are flown. Why?"),
        (Role.AUTHOR, "", "Title: Response\nBecause of the wind."),
        (Role.REVIEWER, "Reviewer_AbCd", "I see.\n\nI raise my score."),
    ]
    assert {(turn.title, turn.created_at, turn.post_ids) for turn in conversation.turns} == {(None, None, ())}
    (version,) = rows(workspace, PaperVersion, STAND_IN)
    assert (version.is_initial, version.grade) == (True, Grade.STATED)
    assert (version.moment, version.created_at) == (VersionMoment.INITIAL, None)
    (text,) = rows(workspace, PaperText, STAND_IN)
    assert (text.engine, text.markdown) == ("re2", TEXT)
    assert aside(workspace, STAND_IN) == {
        ("build_conversations", "re2-reviews:kite1/1"): Reason.OUTSIDE_CONVERSATION,
        ("link_papers", "kite1"): Reason.NO_WORDS,
    }


UNREADABLE: dict[str, tuple[dict[str, Any], str, str]] = {
    "reviews that are no list": ({"kites": [reviewbench_row(reviews_json='{"a": 1}')]}, "normalise", KITES),
    "reviews cut off": ({"kites": [reviewbench_row(reviews_json='[{"a')]}, "normalise", KITES),
    "a decision that is a list": ({"REVIEWS_a": [re2_paper(decision=["Accept"])]}, "normalise", STAND_IN),
    "a review that is a text": ({"REVIEWS_a": [re2_paper(reviews=["Good."])]}, "normalise", STAND_IN),
    "a role of nobody": (
        {"REVIEWS_a": [re2_paper()], "REBUTTAL_a": [re2_rebuttal(messages=[{"role": "chair", "content": "x"}])]},
        "build_conversations",
        STAND_IN,
    ),
    "no word of the reviewer": (
        {"REVIEWS_a": [re2_paper()], "REBUTTAL_a": [re2_rebuttal(messages=[{"role": "user", "content": "x"}])]},
        "build_conversations",
        STAND_IN,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_record_is_set_aside(tmp_path: Path, workspace: Workspace, name: str) -> None:
    files, stage, venue_id = UNREADABLE[name]
    take(workspace, tmp_path, **files)
    left = [key[0] for key, reason in aside(workspace, venue_id).items() if reason is Reason.RECORD_UNREADABLE]
    assert left == [stage]


def test_paper_may_have_nothing_else(tmp_path: Path, workspace: Workspace) -> None:
    write_manuscript(tmp_path / "in", "kite2")
    unreadable = re2_rebuttal("kite3", messages=[{"content": "x"}])
    take(workspace, tmp_path, REBUTTAL_test=[re2_rebuttal(), unreadable])
    papers = rows(workspace, Paper, STAND_IN)
    assert [(paper.forum_id, paper.known_from, paper.status) for paper in papers] == [
        ("kite1", PaperSource.RECORD, Status.UNKNOWN),
        ("kite2", PaperSource.RECORD, Status.UNKNOWN),
    ]
    assert {(paper.title, paper.decision, paper.authors, paper.extra) for paper in papers} == {
        (None, None, (), '{"conference_year_track":"Kites 2023 Conference"}')
    }
    assert [talk.conversation_id for talk in rows(workspace, Conversation, STAND_IN)] == ["kite1/Reviewer_AbCd"]
    assert [text.markdown for text in rows(workspace, PaperText, STAND_IN)] == [TEXT]
    left = aside(workspace, STAND_IN)
    assert left["build_conversations", "re2-rebuttal:kite3/Reviewer_AbCd"] is Reason.FORUM_MISSING
    assert [key for key, reason in left.items() if reason is not Reason.NO_WORDS] == [
        ("build_conversations", "re2-rebuttal:kite3/Reviewer_AbCd")
    ]


def test_conversation_keeps_what_is_stated(tmp_path: Path, workspace: Workspace) -> None:
    with_paper = re2_rebuttal(reviewer_id="Reviewer_Ef", rounds=3)
    with_paper["messages"][1]["content"] = f"Here it is: {TEXT}"
    take(workspace, tmp_path, REVIEWS_a=[re2_paper()], REBUTTAL_a=[re2_rebuttal(), with_paper])
    short, long = (json.loads(talk.extra) for talk in rows(workspace, Conversation, STAND_IN))
    assert short == {"conference_year_track": "Kites 2023 Conference", "opening": re2_rebuttal()["messages"][:2]}
    assert long == {"conference_year_track": "Kites 2023 Conference", "rounds": 3}


def test_both_datasets_make_one_paper(tmp_path: Path, workspace: Workspace) -> None:
    write_manuscript(tmp_path / "in", text="Another text.")
    files = {"kites": [reviewbench_row()], "REVIEWS_train": [re2_paper()], "REBUTTAL_train": [re2_rebuttal()]}
    take(workspace, tmp_path, **files)
    assert [paper.title for paper in rows(workspace, Paper)] == ["On Kites"]
    assert "normalise" not in {stage for stage, _ in aside(workspace)}
    assert sorted(text.engine for text in rows(workspace, PaperText)) == ["re2", "reviewbench"]
    (conversation,) = rows(workspace, Conversation)
    assert len(conversation.turns) == 3
    assert [response.post_id for response in conversation.context] == ["kite1/rebuttal"]


def note(forum_id: str, **more: Any) -> dict[str, Any]:
    content = {"title": {"value": "As OpenReview has it"}}
    invitations = [f"{KITES}/-/Submission"]
    readers = {"readers": ["everyone"], "domain": KITES, "tcdate": 1, "tmdate": 2}
    return {"id": forum_id, "forum": forum_id, "invitations": invitations, "content": content, **readers, **more}


@pytest.mark.slow
@pytest.mark.parametrize("order", [("notes", "published"), ("published", "notes")])
def test_own_notes_take_precedence(tmp_path: Path, workspace: Workspace, order: tuple[str, str]) -> None:
    hidden = note("kite2", readers=[KITES])
    write_json(tmp_path / "notes" / "notes.json", [note("kite1"), hidden])
    published = tmp_path / "published"
    write_manuscript(published)
    write_json(published / "REVIEWS_train.json", [re2_paper("kite1"), re2_paper("kite2"), re2_paper("kite3")])
    write_json(published / "REBUTTAL_train.json", [re2_rebuttal("kite1")])
    for name in order:
        import_dumps(workspace, [tmp_path / name])
        build_here(workspace)
    assert read_status(workspace).holds
    assert [paper.title for paper in rows(workspace, Paper)] == ["As OpenReview has it"]
    assert [paper.forum_id for paper in rows(workspace, Paper, STAND_IN)] == ["kite3"]
    left = {record_id: reason for (_, record_id), reason in aside(workspace).items()}
    for record_id in ("re2-reviews:kite1", "re2-reviews:kite2", "re2-rebuttal:kite1/Reviewer_AbCd"):
        assert left[record_id] is Reason.SUPERSEDED
    assert [(one.edit_id, one.grade) for one in rows(workspace, PaperVersion)] == [("re2-text:kite1", Grade.STATED)]
    assert [text.markdown for text in rows(workspace, PaperText)] == [TEXT]
    assert left["kite2"] is Reason.NOT_PUBLIC


@pytest.mark.slow
def test_repeated_score_is_read_once(tmp_path: Path, workspace: Workspace) -> None:
    review = reviewbench_review(rating=4, overall_recommendation="4: Accept", confidence=None)
    take(workspace, tmp_path, kites=[reviewbench_row(reviews=[review])])
    (read,) = rows(workspace, Review)
    assert [(one.field, one.value) for one in read.scores] == [("soundness", 3), ("overall_recommendation", 4)]
    odd = re2_scores("null") | {"aspect_score": "soundness: 3 good\nvery sound"}
    paper = re2_paper("kite9")
    paper["reviews"][0] |= {"initial_score": odd, "final_score": None}
    take(workspace, tmp_path, REVIEWS_odd=[paper])
    (read,) = rows(workspace, Review, STAND_IN)
    assert [(one.field, one.phase) for one in read.scores] == [
        ("confidence", Phase.INITIAL),
        ("soundness", Phase.INITIAL),
    ]
    assert json.loads(read.extra)["initial_score"] == odd
    assert read.revised is None


@pytest.mark.slow
def test_separate_answers_are_read_alike(tmp_path: Path, workspace: Workspace) -> None:
    review = reviewbench_review(
        summary="",
        extra_scores={
            "novelty": 3,
            "wingspan": 2,
            "rating": 9,
            "rating_initial": 5,
            "confidence_initial_claimed": 2,
            "experience_assessment": None,
        },
        extra_text={
            "title": "Kites!",
            "summary": "In the air.",
            "summary_initial": "On the ground.",
            "experience_assessment_label": "I fly.",
            "ropes": "",
        },
        extra_other={"flag_for_ethics_review": ["No"], "updated_fields": ["summary"]},
    )
    take(workspace, tmp_path, kites=[reviewbench_row(reviews=[review])])
    (read,) = rows(workspace, Review)
    assert {(one.field, one.aspect, one.phase, one.value, one.label) for one in read.scores} >= {
        ("rating", Aspect.RECOMMENDATION, Phase.FINAL, 6, "6: marginally above"),
        ("rating", Aspect.RECOMMENDATION, Phase.INITIAL, 5, "5"),
        ("confidence", Aspect.CONFIDENCE, Phase.INITIAL, 2, "2"),
        ("novelty", Aspect.NOVELTY, Phase.FINAL, 3, "3"),
        ("wingspan", Aspect.OTHER, Phase.FINAL, 2, "2"),
        ("experience_assessment", Aspect.CONFIDENCE, Phase.FINAL, None, "I fly."),
    }
    assert [one.source for one in read.scores if one.phase is Phase.INITIAL] == [
        ScoreSource.PUBLISHED,
        ScoreSource.TEXT,
    ]
    assert (read.title, [(one.field, one.text) for one in read.sections]) == ("Kites!", [("summary", "In the air.")])
    assert [(one.field, one.text) for one in read.initial_sections] == [("summary", "On the ground.")]
    assert read.updated_fields == ("summary",)
    assert json.loads(drop_shape(read.extra)) == {
        "code_of_conduct": "Yes",
        "flag_for_ethics_review": ["No"],
        "extra_scores": {"rating": 9},
    }


@pytest.mark.slow
def test_rebuilding_published_records_does_nothing(tmp_path: Path, workspace: Workspace) -> None:
    take(workspace, tmp_path, kites=[reviewbench_row(), reviewbench_row("kite2", markdown="Another.")])
    assert all(step.was_finished for step in build_here(workspace))
    before = [rows(workspace, kind) for kind in (Paper, Review, Post, PaperVersion, Conversation)]
    texts = sorted(rows(workspace, PaperText), key=repr)
    shutil.rmtree(workspace.folder / "tables")
    build_here(workspace)
    assert [rows(workspace, kind) for kind in (Paper, Review, Post, PaperVersion, Conversation)] == before
    assert sorted(rows(workspace, PaperText), key=repr) == texts


def published_rows(release: Path) -> dict[str, dict[str, Any]]:
    tables = (pq.read_table(path) for path in sorted((release / "data" / "papers").iterdir()))
    return {row["forum_id"]: row for table in tables for row in table.to_pylist()}


SAME = ("conference", "year", "track", "venue_id", "paper_number", "title", "abstract", "authors", "keywords", "tldr")


@pytest.mark.slow
def test_own_release_can_be_imported(run: Run, demo_folder: Path, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    imported = run("import", demo_folder / "release", "--workspace", corpus)
    assert imported.code == 0
    assert "published records" in imported.out
    assert run("build", "--workspace", corpus).code == 0
    assert "All sums agree" in run("status", "--workspace", corpus).out
    assert run("publish", "--workspace", corpus, "--out", out).code == 0
    before, after = published_rows(demo_folder / "release"), published_rows(out)
    assert before.keys() == after.keys()
    for forum_id, row in before.items():
        again = after[forum_id]
        assert [again[name] for name in SAME] == [row[name] for name in SAME]
        assert (again["num_reviews"], again["decision"]) == (row["num_reviews"], row["decision"])
        assert again["author_rebuttal"] == row["author_rebuttal"]
        for one, other in zip(json.loads(again["reviews_json"]), json.loads(row["reviews_json"]), strict=True):
            known = {name: value for name, value in other.items() if value not in (None, "")}
            assert {name: one.get(name) for name in known} == known
        assert again["markdown"] == row["markdown"]


def read_rows(release: Path) -> dict[str, dict[str, Any]]:
    rows = [row for path in sorted(release.glob("data/*.parquet")) for row in pq.read_table(path).to_pylist()]
    return {row["forum_id"]: row for row in rows}


@pytest.fixture(scope="module")
def given_rows() -> dict[str, dict[str, Any]]:
    return {row["forum_id"]: row for row in invented_rows()}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, given_rows: Mapping[str, dict[str, Any]]) -> Path:
    folder = tmp_path_factory.mktemp("trip")
    write_parquet(folder / "in" / "data" / "a-00000-of-00001.parquet", list(given_rows.values()))
    with open_workspace(folder / "corpus", create=True) as workspace:
        import_dumps(workspace, [folder / "in"])
        build_here(workspace)
        standing = read_status(workspace)
        assert standing.holds, standing.balances
        publish_release(workspace, folder / "out", layout=ReleaseLayout.REVIEWBENCH)
    return folder / "out"


@pytest.mark.slow
@pytest.mark.parametrize("column", ReviewBench.schema.names)
def test_every_column_survives_the_round_trip(
    release: Path, given_rows: Mapping[str, dict[str, Any]], column: str
) -> None:
    back = read_rows(release)
    assert back.keys() == given_rows.keys()
    if column != "reviews_json":
        assert {key: row[column] for key, row in back.items()} == {key: row[column] for key, row in given_rows.items()}
        return
    for key, row in given_rows.items():
        said = back[key][column]
        if not row[column] or row[column] == "[]":
            assert said == row[column]
            continue
        # Compared as encoded text, so that the order of members and 8 versus 8.0 matter.
        assert json.dumps(json.loads(said)) == json.dumps(json.loads(row[column])), key


@pytest.mark.slow
def test_files_have_the_cards_names(release: Path) -> None:
    names = [re.fullmatch(r"([a-z]+)-(\d{5})-of-(\d{5})\.parquet", path.name) for path in (release / "data").iterdir()]
    files = Counter(name[1] for name in names if name)
    assert sorted(files) == ["colm", "corl", "emnlp", "iclr", "icml", "neurips", "tmlr"]
    assert files.total() == len(names)
    assert all(name and int(name[2]) < int(name[3]) == files[name[1]] for name in names)
    for path in (release / "data").iterdir():
        assert pq.read_schema(path).equals(ReviewBench.schema)
