"""How a forum's posts become conversations."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from peercorpus.conversations.threads import build_conversations
from peercorpus.kinds import PostKind, Reason, Role
from peercorpus.records import Post

START = datetime(2024, 11, 1, tzinfo=UTC)
REVIEWER = (Role.REVIEWER, "Reviewer_A")
OTHER = (Role.REVIEWER, "Reviewer_B")
AUTHORS = (Role.AUTHOR, "Authors")
CHAIR = (Role.AREA_CHAIR, "Area_Chair_X")
PUBLIC = (Role.PUBLIC, "public_1")


def post(post_id: str, day: int, speaker: tuple[Role, str], reply_to: str | None = None, **more: Any) -> Post:
    """A public comment of a day; a review where it is a reviewer's answer to the paper itself."""
    kind = PostKind.REVIEW if speaker[0] is Role.REVIEWER and reply_to is None else PostKind.COMMENT
    given: dict[str, Any] = {
        "post_id": post_id,
        "forum_id": "f",
        "venue_id": "V",
        "reply_to": reply_to,
        "kind": kind,
        "role": speaker[0],
        "invitation": "",
        "signature": speaker[1],
        "created_at": START + timedelta(days=day),
        "modified_at": None,
        "title": None,
        "text": post_id,
        "readers_public": True,
        "deleted": False,
        "extra": "{}",
    }
    return Post(**given | more)


def threads(posts: list[Post]) -> dict[str, list[str]]:
    """Reviewer to turns, each as the ids merged in it."""
    conversations, _ = build_conversations(posts)
    return {one.reviewer: ["+".join(turn.post_ids) for turn in one.turns] for one in conversations}


REVIEW_A, REVIEW_B = post("A", 0, REVIEWER), post("B", 1, OTHER)


@pytest.mark.parametrize(
    ("posts", "expected"),
    [
        ([REVIEW_A], {"Reviewer_A": ["A"]}),
        ([REVIEW_A, REVIEW_B], {"Reviewer_A": ["A"], "Reviewer_B": ["B"]}),
        ([REVIEW_A, post("a1", 2, AUTHORS, "A"), post("r1", 3, REVIEWER, "a1")], {"Reviewer_A": ["A", "a1", "r1"]}),
        ([REVIEW_A, post("1of2", 2, AUTHORS, "A"), post("2of2", 3, AUTHORS, "A")], {"Reviewer_A": ["A", "1of2+2of2"]}),
        ([REVIEW_A, post("1", 2, AUTHORS, "A"), post("2", 3, AUTHORS, "1")], {"Reviewer_A": ["A", "1+2"]}),
        ([REVIEW_A, post("a", 2, AUTHORS, "A"), post("c", 3, CHAIR, "a"), post("r", 4, REVIEWER, "c")],
         {"Reviewer_A": ["A", "a", "c", "r"]}),
        ([REVIEW_A, REVIEW_B, post("b", 2, OTHER, "A")], {"Reviewer_A": ["A", "b"], "Reviewer_B": ["B"]}),
        ([REVIEW_A, post("g", 2, AUTHORS), post("r", 3, REVIEWER, "g")], {"Reviewer_A": ["A+r"]}),
        ([REVIEW_A, post("lost", 3, REVIEWER, "gone")], {"Reviewer_A": ["A+lost"]}),
        ([post("c", 0, REVIEWER, kind=PostKind.COMMENT), post("a", 1, AUTHORS, "c")], {"Reviewer_A": ["c", "a"]}),
        ([post("p", 0, PUBLIC)], {}),
    ],
)  # fmt: skip
def test_each_reviewer_has_one_conversation_in_time_order(posts: list[Post], expected: dict[str, list[str]]) -> None:
    assert threads(posts) == expected


def test_the_order_in_which_posts_are_listed_does_not_matter() -> None:
    posts = [REVIEW_A, REVIEW_B, post("a1", 2, AUTHORS, "A"), post("r1", 3, REVIEWER, "a1"), post("g", 4, AUTHORS)]
    assert len({repr(build_conversations(list(order))[0]) for order in permutations(posts)}) == 1


def test_a_response_to_all_is_context_of_every_conversation_and_a_turn_of_none() -> None:
    conversations, left = build_conversations([REVIEW_A, REVIEW_B, post("g2", 5, AUTHORS), post("g1", 4, AUTHORS)])
    assert [one.context for one in conversations] == [("g1", "g2"), ("g1", "g2")]
    assert [len(one.turns) for one in conversations] == [1, 1]
    assert left == []


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        (post("x", 2, AUTHORS, "A", deleted=True), Reason.DELETED),
        (post("x", 2, AUTHORS, "A", readers_public=False), Reason.NOT_PUBLIC),
        (post("x", 2, (Role.PROGRAM_CHAIR, "Program_Chairs"), kind=PostKind.DECISION), Reason.OUTSIDE_CONVERSATION),
        (post("x", 2, PUBLIC), Reason.OUTSIDE_CONVERSATION),
        (post("x", 2, AUTHORS, "gone"), Reason.OUTSIDE_CONVERSATION),
    ],
)
def test_a_post_that_is_no_turn_is_set_aside_with_the_reason(left_out: Post, reason: Reason) -> None:
    conversations, left = build_conversations([REVIEW_A, left_out])
    assert [(found.post_id, why) for found, why, _ in left] == [("x", reason)]
    assert all("x" not in turn.post_ids for one in conversations for turn in one.turns)


def test_a_reply_under_a_deleted_post_keeps_its_place_in_the_thread() -> None:
    gone = post("gone", 2, AUTHORS, "A", deleted=True)
    assert threads([REVIEW_A, gone, post("r", 3, REVIEWER, "gone"), post("a", 4, AUTHORS, "r")]) == {
        "Reviewer_A": ["A+r", "a"]
    }


@pytest.mark.parametrize("hidden", [{"deleted": True}, {"readers_public": False}])
def test_an_answer_to_a_review_that_cannot_be_read_is_set_aside(hidden: dict[str, Any]) -> None:
    review = post("B", 1, OTHER, **hidden)
    conversations, left = build_conversations([REVIEW_A, review, post("b", 2, AUTHORS, "B")])
    assert [one.reviewer for one in conversations] == ["Reviewer_A"]
    assert {found.post_id: why for found, why, _ in left}["b"] is Reason.OUTSIDE_CONVERSATION


@pytest.mark.parametrize("hidden", [{"deleted": True}, {"readers_public": False}, {"kind": PostKind.OTHER}])
def test_no_post_is_lost_where_no_conversation_is_left(hidden: dict[str, Any]) -> None:
    posts = [post("B", 0, OTHER, **hidden), post("a", 1, REVIEWER, "B"), post("all", 2, AUTHORS)]
    conversations, left = build_conversations(posts)
    used = {post_id for one in conversations for turn in one.turns for post_id in turn.post_ids}
    used |= {post_id for one in conversations for post_id in one.context}
    assert used | {found.post_id for found, _, _ in left} == {"B", "a", "all"}


def test_the_parts_of_a_response_to_all_that_answer_each_other_are_context_too() -> None:
    parts = [post("1", 2, AUTHORS), post("2", 3, AUTHORS, "1"), post("3", 4, AUTHORS, "2")]
    (conversation,), left = build_conversations([REVIEW_A, *parts])
    assert (conversation.context, left) == (("1", "2", "3"), [])


def test_posts_that_answer_each_other_in_a_circle_do_not_hang() -> None:
    assert threads([REVIEW_A, post("x", 2, AUTHORS, "y"), post("y", 3, AUTHORS, "x")]) == {"Reviewer_A": ["A"]}


def test_a_turn_has_the_texts_of_its_posts_and_the_first_title_and_time() -> None:
    parts = [post("one", 2, AUTHORS, "A", title="Answer (1/2)"), post("two", 3, AUTHORS, "A", title="Answer (2/2)")]
    (conversation,), _ = build_conversations([REVIEW_A, *parts])
    turn = conversation.turns[1]
    assert (turn.text, turn.title, turn.created_at) == ("one\n\ntwo", "Answer (1/2)", parts[0].created_at)
    assert conversation.conversation_id == "f/Reviewer_A"


def test_a_review_that_was_changed_speaks_as_it_was_first_given() -> None:
    changed = post("A", 0, REVIEWER, text="Better now.", initial_text="Bad.")
    ((conversation,), _) = build_conversations([changed, post("a1", 2, AUTHORS, "A")])
    assert [(turn.text, turn.holds_update) for turn in conversation.turns] == [("Bad.", False), ("a1", False)]


def test_a_turn_that_holds_what_was_added_later_says_so() -> None:
    ((conversation,), _) = build_conversations([post("A", 0, REVIEWER, holds_update=True), post("a", 1, AUTHORS, "A")])
    assert [turn.holds_update for turn in conversation.turns] == [True, False]
