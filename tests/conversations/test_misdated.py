"""Posts whose dates contradict who answers whom: the tree decides."""

import pytest

from invented_posts import AUTHORS, REVIEWER, post
from peercorpus.conversations.build import build_conversations
from peercorpus.records.replies import in_time_order
from peercorpus.records.reviews import Post

REVIEW = post("review", 0, REVIEWER)
ANSWER = post("answer", 3, AUTHORS, "review")


def turns(*posts: Post) -> list[str]:
    (conversation,), _ = build_conversations(list(posts))
    return ["+".join(turn.post_ids) for turn in conversation.turns]


@pytest.mark.parametrize("day", [-1, 1, 2.99])
def test_a_reply_dated_before_its_parent_is_the_turn_after_it(day: float) -> None:
    reply = post("reply", day, REVIEWER, "answer")
    assert turns(reply, REVIEW, ANSWER) == ["review", "answer", "reply"], "the reviewer replies to what is not yet said"


def test_replies_to_a_misdated_post_follow_that_posts_parent() -> None:
    reply, thanks = post("reply", 1, REVIEWER, "answer"), post("thanks", 2, AUTHORS, "reply")
    assert turns(thanks, reply, REVIEW, ANSWER) == ["review", "answer", "reply", "thanks"]


def test_a_post_without_a_date_follows_its_parent() -> None:
    reply = post("reply", 0, REVIEWER, "answer", created_at=None)
    assert turns(reply, REVIEW, ANSWER) == ["review", "answer", "reply"]


def test_replies_to_other_posts_keep_the_position_of_their_own_date() -> None:
    beside = post("beside", 1, AUTHORS, "review")
    late = post("late", 1, REVIEWER, "answer")
    found = [one.post_id for one in in_time_order([late, ANSWER, beside, REVIEW])]
    assert found == ["review", "beside", "answer", "late"]
