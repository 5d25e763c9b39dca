"""Properties of every forum, whatever was posted in it and in whatever order it is listed."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invented_posts import AUTHORS, CHAIR, OTHER, PUBLIC, REVIEWER, post
from peercorpus.conversations import threads
from peercorpus.conversations.build import build_conversations
from peercorpus.conversations.reminders import is_reminder
from peercorpus.conversations.turns import merge_turns
from peercorpus.discussion.replies import EPOCH, in_time_order
from peercorpus.models.chat_messages import ChatOptions, Response, Speaker, ThirdParties, to_chat_messages
from peercorpus.records.enums import ConversationKind, PostKind, Role
from peercorpus.records.reviews import Conversation, Post

TITLES = (
    *("Message to AC", "Response", "Response 2", "Response (cont.)", "Response to Reviewer B2cD"),
    *(None, "Response", "Response (1/2)", "Response (2/2)", "Part 2", "Response to Reviewer A1bC", "Response to all"),
    *("To Reviewers A1bC and B2cD", "Reminder", "R2"),
)
TEXTS = ("", "Yes.", "Dear Reviewer B2cD, no.", "Have we addressed your concerns? The phase ends soon.", "A1bC: 0.4.")
KINDS = (PostKind.COMMENT, PostKind.COMMENT, PostKind.REVIEW, PostKind.REBUTTAL, PostKind.DECISION)


@st.composite
def forums(draw: st.DrawFn) -> list[Post]:
    """Posts that answer each other, the paper, or missing posts; some simultaneous, deleted or hidden."""
    posts: list[Post] = []
    for number in range(draw(st.integers(0, 9))):
        above = draw(st.sampled_from([None, None, "gone", *(f"p{before}" for before in range(number + 1))]))
        posts.append(
            post(
                f"p{number}",
                draw(st.integers(0, 4)),
                draw(st.sampled_from([REVIEWER, OTHER, AUTHORS, AUTHORS, CHAIR, PUBLIC])),
                above,
                kind=draw(st.sampled_from(KINDS)),
                title=draw(st.sampled_from(TITLES)),
                text=draw(st.sampled_from(TEXTS)),
                deleted=draw(st.sampled_from([False, False, False, True])),
                readers_public=draw(st.sampled_from([True, True, True, False])),
            )
        )
    return posts


def all_above(post: Post, by_id: dict[str, Post]) -> list[Post]:
    """Yield a post, the post it answers, and so on, while they are known and none recurs."""
    above: list[Post] = []
    found: Post | None = post
    while found is not None and found not in above:
        above.append(found)
        found = by_id.get(found.reply_to) if found.reply_to else None
    return above


@given(forums())
def test_every_post_has_one_place(posts: list[Post]) -> None:
    conversations, left = build_conversations(posts)
    turns = Counter(post_id for talk in conversations for turn in talk.turns for post_id in turn.post_ids)
    context = {response.post_id for talk in conversations for response in talk.context}
    aside = Counter(found.post_id for found, _, _ in left)
    assert turns + Counter(context) + aside == Counter(one.post_id for one in posts)
    assert all(talk.kind is ConversationKind.REVIEW or not talk.context for talk in conversations)


@given(forums())
def test_turns_alternate_in_time_order(posts: list[Post]) -> None:
    place = {one.post_id: number for number, one in enumerate(in_time_order(posts))}
    by_id = {one.post_id: one for one in posts}
    times = {one.post_id: max(above.created_at or EPOCH for above in all_above(one, by_id)) for one in posts}
    for talk in build_conversations(posts)[0]:
        firsts = [min(place[post_id] for post_id in turn.post_ids) for turn in talk.turns]
        lasts = [max(place[post_id] for post_id in turn.post_ids) for turn in talk.turns]
        assert all(last < first for last, first in zip(lasts, firsts[1:], strict=False))
        speakers = [(turn.role, turn.signature) for turn in talk.turns]
        outside = {beside.post_id for beside in talk.context} | {one.post_id for one in posts if one.kind == "decision"}
        ends = [times[post_id] for post_id in outside]
        for turn, following, (one, other) in zip(talk.turns, talk.turns[1:], pairwise(speakers), strict=False):
            last, first = max(times[name] for name in turn.post_ids), min(times[name] for name in following.post_ids)
            assert one != other or any(last <= end <= first for end in ends)


@pytest.mark.slow
@given(forums(), st.randoms())
def test_the_order_of_posts_changes_nothing(posts: list[Post], random: object) -> None:
    shuffled = list(posts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    conversations, left = build_conversations(posts)
    again, left_again = build_conversations(shuffled)
    assert again == conversations
    assert sorted(map(repr, left_again)) == sorted(map(repr, left))


@given(forums(), st.integers(0, 9), st.integers(0, 9))
def test_merging_is_associative_and_idempotent(posts: list[Post], one: int, other: int) -> None:
    groups = [(each,) for each in in_time_order(posts)]
    first, second = sorted((one, other))
    parts = groups[:first], groups[first:second], groups[second:]
    merged = merge_turns(groups)
    assert merge_turns(merged) == merged
    left = merge_turns([*merge_turns([*parts[0], *parts[1]]), *parts[2]])
    right = merge_turns([*parts[0], *merge_turns([*parts[1], *parts[2]])])
    assert left == right == merged


def _said(talk: Conversation, view: ChatOptions) -> list[str]:
    shown = {response.post_id: Response(None, f"<{response.post_id}>") for response in talk.context}
    return [message.speaker.value for message in to_chat_messages(talk, view, shown, "The paper.")]


@pytest.mark.slow
@given(
    forums(),
    st.builds(
        ChatOptions,
        assistant=st.sampled_from([Role.REVIEWER, Role.AUTHOR]),
        others=st.sampled_from(ThirdParties),
        ends_answered=st.booleans(),
        system=st.sampled_from([None, "Discuss."]),
    ),
)
def test_a_dialogue_alternates_strictly_starting_with_the_user(posts: list[Post], view: ChatOptions) -> None:
    for talk in build_conversations(posts)[0]:
        said = [speaker for speaker in _said(talk, view) if speaker != Speaker.SYSTEM]
        assert said == (["user", "assistant"] * len(said))[: len(said)]
        assert not (view.ends_answered and said and said[-1] == "user")


@given(forums())
def test_no_reminder_shares_a_turn_with_an_answer(posts: list[Post]) -> None:
    conversations, _ = build_conversations(posts)
    urging = {one.post_id for one in posts if is_reminder(one.title, one.text)}
    silent = {one.post_id for one in posts if not one.text}
    for talk in conversations:
        for turn in talk.turns:
            assert not turn.is_reminder or (len({*turn.post_ids} - silent) == 1 and urging >= {*turn.post_ids} - silent)
            late = [post_id for post_id in turn.post_ids[1:] if post_id in urging]
            is_answer = turn.role is Role.AUTHOR and not urging.issuperset(turn.post_ids[:1])
            assert talk.kind is not ConversationKind.REVIEW or not (is_answer and late)


def test_a_first_reply_is_not_searched_for_reminders(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bool:
        raise AssertionError("The words of a post that cannot be a reminder were searched.")

    monkeypatch.setattr(threads, "is_reminder", refuse)
    answer = post("p1", 1, AUTHORS, "p0", text="Have we addressed your concerns? The phase ends soon.")
    conversations, left = build_conversations([post("p0", 0, REVIEWER, kind=PostKind.REVIEW, text="Weak."), answer])
    assert not left
    assert [turn.post_ids for turn in conversations[0].turns] == [("p0",), ("p1",)]
