"""Which posts are shown to a person for a decision, and how a decision changes the conversations."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from in_this_process import build_here
from invented_posts import AUTHORS, OTHER, REVIEWER, post
from peercorpus.conversations.build import build_conversations
from peercorpus.conversations.reminder_review import MOST_OBJECTIONS, RuleResult, decide, judge_forum, judge_words
from peercorpus.conversations.reminders import find_objections, is_reminder
from peercorpus.corpus.reminder_decisions import LIST, Decision, Verdict, read_decisions
from peercorpus.errors import PeercorpusError
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Reason
from peercorpus.records.papers import SetAside
from peercorpus.records.reviews import Conversation, Post
from peercorpus.workspace.workspace import Workspace, open_workspace
from published_records import reviewbench_review, reviewbench_row, write_parquet

NUDGE = "Dear Reviewer, the discussion ends soon. Have we addressed your concerns?"
NEARLY = "Dear Reviewer, the discussion ends soon. Have our kites with tails addressed your concerns?"
REVIEW = post("A", 1, REVIEWER)
ANSWER = post("a", 2, AUTHORS, "A", text="The gap is 0.4 with three seeds.")


def decisions(**verdicts: Verdict) -> dict[str, Decision]:
    return {post_id: Decision(post_id, verdict) for post_id, verdict in verdicts.items()}


def turns(posts: list[Post], **verdicts: Verdict) -> list[tuple[str, ...]]:
    conversations, _ = build_conversations(posts, decisions=decisions(**verdicts))
    return [turn.post_ids for conversation in conversations for turn in conversation.turns]


def test_doubtful_posts_are_listed_in_threads() -> None:
    posts = [
        REVIEW,
        ANSWER,
        post("n", 3, AUTHORS, "A", text=NUDGE),
        post("B", 1, OTHER),
        post("b", 2, AUTHORS, "B", text="We added a table with 0.4 points, see Section 3. Please look at it."),
        post("m", 3, AUTHORS, "B", text=NEARLY),
        post("g", 4, OTHER, "m", text="Yes."),
        post("p", 5, AUTHORS, "B", text=NUDGE),
        post("q", 6, OTHER, "p", text="I know."),
    ]
    found = {one.post.post_id: one for one in judge_forum(posts, {})}
    assert {name: one.result for name, one in found.items() if name != "b"} == {
        "n": RuleResult.TAKEN,
        "m": RuleResult.WORDS,
        "p": RuleResult.PLACE,
    }
    taken = found["n"]
    assert (taken.objections, taken.is_set_aside, taken.reviewer) == ((), True, REVIEWER[1])
    assert [one.post_id for one in taken.before] == ["A", "a"]
    assert taken.after == ()
    nearly = found["m"]
    assert 0 < len(nearly.objections) <= MOST_OBJECTIONS
    assert any("'kites'" in objection for objection in nearly.objections)
    assert [one.post_id for one in nearly.before] == ["B", "b"]
    assert [one.post_id for one in nearly.after] == ["g", "p"]
    assert nearly.to_json()["score"] == len(nearly.objections)
    assert nearly.to_json()["after"][0]["text"] == "Yes."


def test_a_post_with_a_decision_is_always_listed() -> None:
    (listed,) = judge_forum([REVIEW, ANSWER], decisions(a=Verdict.REMINDER))
    assert (listed.post.post_id, listed.result, listed.is_set_aside) == ("a", RuleResult.CLEAR, True)


@pytest.mark.parametrize(
    "text", [NUDGE, NEARLY, "Please look: 0.4.", "Thank you for all.", "Yes. Please reply.", "Bitte ü?"]
)
def test_an_asking_post_is_a_reminder(text: str) -> None:
    assert (find_objections(None, text) == ()) is is_reminder(None, text)


@pytest.mark.parametrize("name", ["first.jsonl", "held_out.jsonl"])
def test_the_list_has_most_reminders_and_little_else(name: str) -> None:
    lines = (Path(__file__).parent / "labelled" / name).read_text(encoding="utf-8").splitlines()
    posts = [json.loads(line) for line in lines]
    every = Counter(one["label"] for one in posts)
    listed = Counter(one["label"] for one in posts if judge_words(one["title"], one["text"]) is not RuleResult.CLEAR)
    assert listed["reminder"] >= 0.85 * every["reminder"]
    assert listed["content"] <= 0.07 * every["content"]


def test_a_users_decision_overrules_the_rule() -> None:
    posts = [REVIEW, ANSWER, post("n", 3, AUTHORS, "A", text=NUDGE)]
    assert turns(posts) == [("A",), ("a",)]
    assert turns(posts, n=Verdict.KEEP) == [("A",), ("a", "n")]
    assert turns(posts, a=Verdict.REMINDER, n=Verdict.KEEP) == [("A",), ("n",)]
    _, left = build_conversations(posts, decisions=decisions(a=Verdict.REMINDER, n=Verdict.KEEP))
    assert [(one.post_id, reason, LIST in detail) for one, reason, detail in left] == [("a", Reason.REMINDER, True)]


def test_reviews_are_never_dropped() -> None:
    to_all = post("n", 3, AUTHORS, text="To all: our kites fly.")
    letter = post("l", 4, AUTHORS, title="Message to AC", text="Dear AC, please ask the reviewers to reply.")
    posts = [REVIEW, ANSWER, to_all, letter]
    conversations, _ = build_conversations(posts)
    assert len(conversations) == 2
    everything = decisions(n=Verdict.REMINDER, l=Verdict.REMINDER, A=Verdict.REMINDER)
    (conversation,), left = build_conversations(posts, decisions=everything)
    assert conversation.context == ()
    assert conversation.turns[0].post_ids == ("A",)
    assert sorted(one.post_id for one, _, _ in left) == ["l", "n"]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Two venues with a paper of one review and its rebuttal each."""
    rows = [
        reviewbench_row(
            f"kite{n}", venue_id=f"Kites.cc/{n}/Conference", reviews=[reviewbench_review(review_id=f"r{n}")]
        )
        for n in (2022, 2023)
    ]
    write_parquet(tmp_path / "in" / "kites.parquet", rows)
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        import_dumps(opened, [tmp_path / "in"])
        build_here(opened)
        yield opened


def spoken(workspace: Workspace, year: int) -> list[str]:
    (conversation,) = workspace.tables.read(Conversation, f"Kites.cc/{year}/Conference")
    return [turn.text for turn in conversation.turns]


@pytest.mark.slow
def test_a_decision_rebuilds_one_venue(workspace: Workspace) -> None:
    assert [len(spoken(workspace, year)) for year in (2022, 2023)] == [2, 2]
    decide(workspace, drop=["r2022/rebuttal"], note="only thanks")
    assert list(read_status(workspace).unfinished) == [("build_conversations", "Kites.cc/2022/Conference")]
    build_here(workspace)
    standing = read_status(workspace)
    assert (list(standing.unfinished), standing.holds) == ([], True)
    assert [len(spoken(workspace, year)) for year in (2022, 2023)] == [1, 2]
    aside = {one.record_id: one.reason for one in workspace.tables.read(SetAside, "Kites.cc/2022/Conference")}
    assert aside["r2022/rebuttal"] is Reason.REMINDER
    (workspace.folder / LIST).write_text("r2022/rebuttal\treminder\t2026-01-01\tanother note\n")
    assert list(read_status(workspace).unfinished) == []
    decide(workspace, undo=["r2022/rebuttal"])
    assert read_decisions(workspace.folder) == {}
    build_here(workspace)
    assert len(spoken(workspace, 2022)) == 2


@pytest.mark.slow
def test_a_bad_line_stops_the_build(workspace: Workspace) -> None:
    (workspace.folder / LIST).write_text("r2022/rebuttal\tmaybe\n")
    with pytest.raises(PeercorpusError, match=r"Line 1 .* 'maybe' is not a decision"):
        build_here(workspace)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"drop": ["nothing"]}, "'nothing' .* no post"),
        ({"keep": ["r2022"]}, "'r2022' .* 'reviewer'"),
        ({"undo": ["r2022/rebuttal"]}, "no decision on 'r2022/rebuttal'"),
        ({"drop": ["r2022/rebuttal"], "keep": ["r2022/rebuttal"]}, "'r2022/rebuttal' is named by two"),
    ],
)
def test_an_invalid_decision_changes_nothing(workspace: Workspace, asked: dict[str, list[str]], named: str) -> None:
    with pytest.raises(PeercorpusError, match=named):
        decide(workspace, **asked)  # type: ignore[arg-type]
    assert not (workspace.folder / LIST).exists()
