"""Samples of a release: conversations as written for trainers, and nothing posted or changed after the decision."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from asked_releases import publish_release
from cards import read_card
from invented_releases import a_release, task_paper
from invented_releases import review as review_row
from invented_releases import score as score_row
from invented_releases import talk as talk_row
from invented_tables import ICLR, NOON, a_forum, conversation, invented, post, score, turn
from peercorpus.benchmark.cases import BenchTask, CaseCounts, CaseSelection, read_cases
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.selection import prepare_selection
from peercorpus.models.chat_messages import Response, to_chat_messages
from peercorpus.records.enums import Aspect, AtDecision, Phase, PostKind, Role
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import ContextPost, Conversation, Post, Review
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import RENDERERS, ExportLayout
from peercorpus.release.exports.request import ExampleRequest, ExportRequest
from peercorpus.release.exports.samples import SYSTEMS, cut_at_paragraph, opening_text
from peercorpus.release.folder import open_release
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.splits import Split
from planted_releases import resign

CONVERSATIONS = "data/conversations/iclr-00000-of-00001.parquet"


def forum(forum_id: str) -> list[object]:
    """A paper whose reviewer replies once."""
    *rest, talk = a_forum(forum_id)
    assert isinstance(talk, Conversation)
    again = post(f"{forum_id}-again", forum_id, role=Role.REVIEWER, signature="R1", reply_to=f"{forum_id}-answer")
    turns = (*talk.turns, replace(turn(Role.REVIEWER, again.post_id), signature="R1"))
    return [*rest, again, replace(talk, turns=turns)]


def with_a_chair(forum_id: str) -> list[object]:
    """A paper with the words of a reviewer, of the authors, and of the area chair, and a response to all."""
    *rest, talk = forum(forum_id)
    assert isinstance(talk, Conversation)
    chair = post(f"{forum_id}-chair", forum_id, role=Role.AREA_CHAIR, signature="AC", reply_to=f"{forum_id}-R1")
    to_all = post(f"{forum_id}-all", forum_id, role=Role.AUTHOR, signature="Authors", reply_to=forum_id)
    turns = [*talk.turns, replace(turn(Role.AREA_CHAIR, chair.post_id), signature="AC")]
    turns += [replace(turn(Role.AUTHOR, f"{forum_id}-answer"), signature="Authors", text="One more word.")]
    shown = (ContextPost(to_all.post_id, 2, ("To R1.",)),)
    return [*rest, chair, to_all, replace(talk, turns=tuple(turns), context=shown)]


def publish(folder: Path, records: list[object]) -> Path:
    """Publish records with splits; return the folder of the release."""
    with invented(folder / "corpus", {ICLR: records}) as workspace:
        publish_release(workspace, folder / "release", splits=SplitRequest(Profile.RE2))
    return folder / "release"


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of conversations in all files of an export, in the order of their papers."""
    lines = [line for path in folder.glob("rebuttal_*.jsonl") for line in path.read_text().splitlines()]
    return sorted(map(json.loads, lines), key=lambda row: str(row["forum_id"]))


RECORDS = [*with_a_chair("f1"), *with_a_chair("f2")]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of two papers that tests must not change."""
    return publish(tmp_path_factory.mktemp("conversations"), RECORDS)


SEEN: list[dict[str, Any]] = [
    {},
    {"assistant": "author"},
    {"paper": "none", "assistant": "author"},
    {"paper": "abstract", "system": False, "others": "leave"},
    {"max_characters": 5, "others": "leave"},
    {"unanswered": True},
    {"assistant": "author", "others": "leave", "unanswered": True},
]
"""Every option of dialogues, of which some are made from the messages of `rebuttal` and others from turns."""


def write_expected(forum_id: str, request: ExportRequest) -> list[tuple[str, str, list[str]]]:
    """Return the speaker, text and posts of each message, made from the records that were published."""
    records = [record for record in RECORDS if getattr(record, "forum_id", None) == forum_id]
    (paper,) = (record for record in records if isinstance(record, Paper))
    (talk,) = (record for record in records if isinstance(record, Conversation))
    responses = {one.post_id: Response(one.title, one.text) for one in records if isinstance(one, Post)}
    body = paper.abstract if request.opening == "abstract" else f"# Text of {forum_id}"
    whole = None if request.opening == "none" else str(opening_text(paper.title, body))
    opening = None if whole is None else cut_at_paragraph(whole, request.max_characters)
    chat = replace(request.chat, system=SYSTEMS[request.chat.assistant] if request.has_system else None)
    return [
        (
            message.speaker.value,
            message.text,
            [*message.answers, *(post_id for number in message.turns for post_id in talk.turns[number].post_ids)],
        )
        for message in to_chat_messages(talk, chat, responses, opening)
    ]


@pytest.mark.parametrize("options", SEEN)
def test_an_exported_dialogue_is_the_conversation(release: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    request = ExportRequest(format=ExportLayout.TRL, task="rebuttal", **options)
    export_release(release, tmp_path / "out", request)
    rows = read_rows(tmp_path / "out")
    assert [row["conversation_id"] for row in rows] == ["f1/R1", "f2/R1"]
    for row in rows:
        shown = [(message["role"], message["content"]) for message in row["messages"]]
        posts = row["post_ids"]
        assert [(*told, of) for told, of in zip(shown, posts, strict=True)] == write_expected(row["forum_id"], request)
        assert (row["assistant"], row["paper_grade"]) == (request.assistant, "exact")


@pytest.mark.slow
def test_a_hidden_conversation_is_in_no_file(tmp_path: Path) -> None:
    hidden = [
        replace(one, readers_public=False, text="SECRET") if getattr(one, "post_id", "") == "f1-again" else one  # type: ignore[type-var]
        for one in forum("f1")
    ]
    release = publish(tmp_path, [*hidden, *forum("f2")])
    for layout in ExportLayout:
        export_release(release, tmp_path / "out", ExportRequest(format=layout))
        said = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.json*"))
        assert ("f1-again" in said, "SECRET" in said, "Words of f2-again." in said) == (False, False, True)


def test_a_release_without_conversations_of_the_task_is_refused(tmp_path: Path) -> None:
    release = a_release(tmp_path / "release")
    other = a_release(tmp_path / "other", {"train": [task_paper("t2")]})
    (release / CONVERSATIONS).write_bytes((other / CONVERSATIONS).read_bytes())
    resign(release)
    wanted = ExportRequest(format=ExportLayout.TRL, assistant="author")
    with pytest.raises(PeercorpusError, match=r"'t1/R1'.*publish"):
        export_release(release, tmp_path / "out", wanted)
    assert not (tmp_path / "out").exists()


BEFORE, AFTER = NOON - timedelta(days=2), NOON + timedelta(days=2)
"""The decision is posted at noon."""

LATE = "PLUGH"
"""A word posted after the decision."""


def a_late_word() -> list[object]:
    """A conversation of four turns, the last two after the decision."""
    said = {
        "f1-R1": (Role.REVIEWER, BEFORE),
        "f1-answer": (Role.AUTHOR, BEFORE),
        "f1-sure": (Role.REVIEWER, BEFORE),
        "f1-thanks": (Role.AUTHOR, AFTER),
        "f1-late": (Role.REVIEWER, AFTER),
    }
    turns = [
        replace(turn(role, name), created_at=at, posted_after_decision=at == AFTER) for name, (role, at) in said.items()
    ]
    turns = [replace(one, text=LATE) if one.posted_after_decision else one for one in turns]
    talk = conversation("f1", "R1", turns)
    posts = [
        post(name, "f1", role=role, signature="R1" if role is Role.REVIEWER else "Authors", created_at=at)
        for name, (role, at) in said.items()
    ]
    kept = [record for record in a_forum("f1") if not isinstance(record, Conversation | Post)]
    return [*kept, replace(posts[0], kind=PostKind.REVIEW), *posts[1:], talk]


def sides_of(layout: ExportLayout) -> list[ExportRequest]:
    """Return exports for the sides that a model can take in a layout; in Re²'s it is always the reviewer."""
    as_reviewer = ExportRequest(format=layout, task="rebuttal")
    if layout is ExportLayout.RE2:
        return [as_reviewer]
    return [as_reviewer, replace(as_reviewer, paper="abstract", assistant="author")]


def published(folder: Path, records: list[object]) -> Path:
    with invented(folder / "corpus", {ICLR: records}) as workspace:
        publish_release(workspace, folder / "out", splits=SplitRequest(Profile.RE2))
    return folder / "out"


def rows(folder: Path, config: str) -> list[dict[str, Any]]:
    return pl.read_parquet(folder / "data" / config / "*.parquet").to_dicts()


@pytest.mark.slow
def test_late_turns_are_in_no_task(tmp_path: Path) -> None:
    release = published(tmp_path, a_late_word())
    (talk,) = rows(release, "conversations")
    assert [one["posted_after_decision"] for one in talk["turns"]] == [False, False, False, True, True]
    (paper,) = rows(release, "rebuttal")
    assert paper["conversations"][0]["post_ids"] == [["f1-R1"], ["f1-answer"], ["f1-sure"]]
    assert LATE not in json.dumps(paper, default=str)
    assert "ends at the decision; turns after it: 2." in read_card(release)


@pytest.mark.slow
@pytest.mark.parametrize("layout", RENDERERS)
def test_no_export_has_turns_after_the_decision(tmp_path: Path, layout: ExportLayout) -> None:
    release = published(tmp_path, a_late_word())
    for request in sides_of(layout):
        folder = tmp_path / request.assistant
        export_release(release, folder, request)
        said = "".join(path.read_text() for path in folder.rglob("*.json*"))
        assert (LATE in said, "Words of f1-answer." in said) == (False, True)


def test_without_times_no_turn_counts_as_after_the_decision(tmp_path: Path) -> None:
    undated = [
        replace(record, turns=tuple(replace(one, posted_after_decision=None) for one in record.turns))
        if isinstance(record, Conversation)
        else record
        for record in a_late_word()
    ]
    (talk,) = rows(published(tmp_path, undated), "rebuttal")[0]["conversations"]
    assert len(talk["messages"]) == 5


@pytest.mark.slow
def test_late_replies_give_no_rebuttal_task(tmp_path: Path) -> None:
    late = [
        replace(record, turns=tuple(replace(one, posted_after_decision=True) for one in record.turns))
        if isinstance(record, Conversation)
        else record
        for record in a_late_word()
    ]
    assert not (published(tmp_path, late) / "data" / "rebuttal").exists()


STATES: Mapping[AtDecision, float | None] = {
    AtDecision.UNCHANGED: 4.0,
    AtDecision.RELEASED: 4.0,
    AtDecision.EDITS: 4.0,
    AtDecision.CHANGED_UNSEEN: None,
    AtDecision.POSTED_AFTER: None,
    AtDecision.NO_DECISION_TIME: 9.0,
    AtDecision.NO_REVIEW_TIME: 9.0,
}
"""Return the last score a task may know, of a review that ends at 9 and was at 4, if that is known."""


def scores_of(state: AtDecision, makes: Any) -> list[Any]:
    then = makes("rating", 4.0, phase=Phase.AT_DECISION) if STATES[state] == 4.0 else None
    return [one for one in (then, makes("rating", 9.0, phase=Phase.FINAL)) if one is not None]


def a_review(state: AtDecision) -> dict[str, Any]:
    """A row of `review_sft` with a review of this state."""

    def make(field: str, value: float, phase: Phase) -> Any:
        scale = {"low": 1.0, "high": 10.0, "unified": value, "aspect": "recommendation"}
        return score_row(field, f"{value:g}", value=value, phase=phase.value, **scale)

    late = state is AtDecision.POSTED_AFTER
    known = {"at_decision": state.value, "posted_after_decision": late, "scores": scores_of(state, make)}
    return review_row("r1", **known)


@pytest.mark.parametrize("state", STATES)
def test_late_score_changes_are_in_no_task(tmp_path: Path, state: AtDecision) -> None:
    expected = STATES[state]
    paper = task_paper("p", reviews=[a_review(state)])
    release = open_release(a_release(tmp_path / "release", {"train": [paper], "test": [paper]}))
    asked = [case.scores for case in read_cases(release, BenchTask.SCORES, CaseSelection(), CaseCounts())]
    assert [values for scores in asked for values in scores[0].values] == ([] if expected is None else [expected])
    chosen = prepare_selection(release, ExampleRequest()).examples(BenchTask.REVIEW, Split.TRAIN, CaseCounts())
    learnt = [example.case.history[-1].text for example in chosen]
    assert len(learnt) == (state is not AtDecision.POSTED_AFTER)
    assert all("9" not in text for text in learnt) is (expected != 9.0 or not learnt)
    exported = export_release(release.folder, tmp_path / "trl", ExportRequest(format=ExportLayout.TRL, task="review"))
    samples = next(file.samples for file in exported.files if file.split is Split.TRAIN)
    assert samples.rows == len(learnt)
    said = "".join(path.read_text() for path in (tmp_path / "trl").glob("*.jsonl"))
    assert ("rating: 9" in said, "rating: 4" in said) == (expected == 9.0, expected == 4.0)
    named = {"scores_at_decision": expected == 4.0, "scores_as_they_stand": expected == 9.0}
    for row in map(json.loads, filter(None, said.splitlines())):
        assert {name: row[name] == "rating" for name in named} == named


@pytest.mark.parametrize("state", STATES)
def test_re2s_final_score_is_at_the_decision(tmp_path: Path, state: AtDecision) -> None:
    expected = STATES[state]
    numbers = {"rating_at_decision": 4.0 if expected == 4.0 else None, "rating_final": 9.0, "rating_initial": None}
    said = ("I doubt it.", "It holds.", "I see.")
    paper = task_paper(
        "p",
        reviews=[a_review(state), review_row("r2", at_decision="unchanged")],
        conversations=[talk_row("p", *said, reviewer="Reviewer_r1", at_decision=state.value, **numbers)],
    )
    release = a_release(tmp_path / "release", {"train": [paper]})
    exported = export_release(release, tmp_path / "out", ExportRequest(format=ExportLayout.RE2))
    (row,) = json.loads((tmp_path / "out" / "REVIEWS_train.json").read_text())
    reviews = {one["reviewer_id"]: one for one in row["reviews"]}
    label = "null" if expected is None else f"{expected:g}"
    late = state is AtDecision.POSTED_AFTER
    assert list(reviews) == ([] if late else ["Reviewer_r1"]) + ["Reviewer_r2"]
    if not late:
        last = reviews["Reviewer_r1"]["final_score"]
        assert last["rating"] == label
        assert row["review_final_ratings_unified"][0] == expected
    (talk,) = json.loads((tmp_path / "out" / "REBUTTAL_train.json").read_text())
    assert talk["final_score"]["rating"] == label
    left_out = exported.files[0].samples.left_out
    assert sum(count for why, count in left_out.items() if "after the decision" in why) == late


@pytest.mark.slow
def test_tasks_show_the_state_at_the_decision(tmp_path: Path) -> None:
    scores = tuple(
        score("rating", value, f"{value:g}", Aspect.RECOMMENDATION, phase)
        for value, phase in ((4.0, Phase.AT_DECISION), (9.0, Phase.FINAL))
    )
    records = [
        replace(record, scores=scores, at_decision=AtDecision.EDITS) if isinstance(record, Review) else record
        for record in a_late_word()
    ]
    release = published(tmp_path, records)
    (review,) = rows(release, "review_sft")[0]["reviews"]
    (talk,) = rows(release, "rebuttal")[0]["conversations"]
    for row in (review, talk):
        assert (row["rating_initial"], row["rating_at_decision"], row["rating_final"]) == (None, 4.0, 9.0)
        assert row["at_decision"] == "edits"
    export_release(release, tmp_path / "re2", ExportRequest(format=ExportLayout.RE2))
    (exported,) = json.loads((tmp_path / "re2" / "REBUTTAL_train.json").read_text())
    assert exported["final_score"]["rating"] == "4"


@pytest.mark.slow
def test_a_hidden_decision_ends_no_conversation(tmp_path: Path) -> None:
    hidden = post("verdict", "f1", kind=PostKind.DECISION, role=Role.PROGRAM_CHAIR, readers_public=False)
    release = published(tmp_path, [*a_late_word(), hidden])
    (talk,) = rows(release, "conversations")
    assert [one["posted_after_decision"] for one in talk["turns"]] == [None] * 5
    assert len(rows(release, "rebuttal")[0]["conversations"][0]["messages"]) == 5


@pytest.mark.slow
@pytest.mark.parametrize(("late", "is_used"), [(True, False), (False, True), (None, True)])
def test_late_reviews_alone_give_no_review_task(tmp_path: Path, late: bool | None, *, is_used: bool) -> None:
    records = [
        replace(record, posted_after_decision=late) if isinstance(record, Review) else record
        for record in a_late_word()
    ]
    assert (published(tmp_path, records) / "data" / "review_sft").exists() is is_used
