"""How a forum's posts become conversations."""

import time
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from invented_posts import AUTHORS, CHAIR, OTHER, PUBLIC, REVIEWER, post
from invented_tables import review
from peercorpus.conversations.build import build_conversations
from peercorpus.discussion.replies import in_time_order
from peercorpus.records.enums import ConversationKind, PostKind, Reason, Role
from peercorpus.records.reviews import Post


def threads(posts: list[Post]) -> dict[str, list[str]]:
    """Reviewer to turns, each as the ids merged in it."""
    return {name: turns for (kind, name), turns in every_thread(posts).items() if kind is ConversationKind.REVIEW}


def every_thread(posts: list[Post]) -> dict[tuple[ConversationKind, str], list[str]]:
    """Kind and name of each conversation to its turns."""
    conversations, _ = build_conversations(posts)
    return {(one.kind, one.reviewer): ["+".join(turn.post_ids) for turn in one.turns] for one in conversations}


A, B = REVIEWER[1], OTHER[1]
NUDGE = "The discussion ends soon. Have we addressed your concerns?"
NUDGED = post("n", 3, AUTHORS, "A", text=NUDGE)
REVIEW_A, REVIEW_B = post("A", 0, REVIEWER), post("B", 1, OTHER)


@pytest.mark.parametrize(
    ("posts", "expected"),
    [
        ([REVIEW_A], {A: ["A"]}),
        ([REVIEW_A, REVIEW_B], {A: ["A"], B: ["B"]}),
        ([REVIEW_A, post("a1", 2, AUTHORS, "A"), post("r1", 3, REVIEWER, "a1")], {A: ["A", "a1", "r1"]}),
        ([REVIEW_A, post("1of2", 2, AUTHORS, "A"), post("2of2", 3, AUTHORS, "A")], {A: ["A", "1of2+2of2"]}),
        ([REVIEW_A, post("1", 2, AUTHORS, "A"), post("2", 3, AUTHORS, "1")], {A: ["A", "1+2"]}),
        ([REVIEW_A, post("a", 2, AUTHORS, "A"), post("c", 3, CHAIR, "a"), post("r", 4, REVIEWER, "c")],
         {A: ["A", "a", "c", "r"]}),
        ([REVIEW_A, REVIEW_B, post("b", 2, OTHER, "A")], {A: ["A", "b"], B: ["B"]}),
        ([REVIEW_A, post("g", 2, AUTHORS), post("r", 3, REVIEWER, "g")], {A: ["A", "r"]}),
        ([REVIEW_A, post("lost", 3, REVIEWER, "gone")], {A: ["A+lost"]}),
        ([post("c", 0, REVIEWER, kind=PostKind.COMMENT), post("a", 1, AUTHORS, "c")], {A: ["c", "a"]}),
        ([post("p", 0, PUBLIC)], {}),
    ],
)  # fmt: skip
def test_each_reviewer_has_one_conversation_in_time_order(posts: list[Post], expected: dict[str, list[str]]) -> None:
    assert threads(posts) == expected


def test_the_order_of_listing_does_not_matter() -> None:
    posts = [REVIEW_A, REVIEW_B, post("a1", 2, AUTHORS, "A"), post("r1", 3, REVIEWER, "a1"), post("g", 4, AUTHORS)]
    assert len({repr(build_conversations(list(order))[0]) for order in permutations(posts)}) == 1


def test_a_response_to_all_is_context() -> None:
    conversations, left = build_conversations([REVIEW_A, REVIEW_B, post("g2", 5, AUTHORS), post("g1", 4, AUTHORS)])
    assert [[response.post_id for response in one.context] for one in conversations] == [["g1", "g2"], ["g1", "g2"]]
    assert [len(one.turns) for one in conversations] == [1, 1]
    assert left == []


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        (post("x", 2, AUTHORS, "A", deleted=True), Reason.DELETED),
        (post("x", 2, AUTHORS, "A", readers_public=False), Reason.NOT_PUBLIC),
        (post("x", 2, CHAIR, kind=PostKind.OTHER), Reason.OUTSIDE_CONVERSATION),
        (post("x", 2, AUTHORS, "gone"), Reason.OUTSIDE_CONVERSATION),
    ],
)
def test_other_posts_are_set_aside(left_out: Post, reason: Reason) -> None:
    conversations, left = build_conversations([REVIEW_A, left_out])
    assert [(found.post_id, why) for found, why, _ in left] == [("x", reason)]
    assert all("x" not in turn.post_ids for one in conversations for turn in one.turns)


def test_a_deleted_parent_keeps_the_place() -> None:
    gone = post("gone", 2, AUTHORS, "A", deleted=True)
    assert threads([REVIEW_A, gone, post("r", 3, REVIEWER, "gone"), post("a", 4, AUTHORS, "r")]) == {A: ["A+r", "a"]}


@pytest.mark.parametrize("hidden", [{"deleted": True}, {"readers_public": False}])
def test_answers_to_hidden_reviews_are_set_aside(hidden: dict[str, Any]) -> None:
    review = post("B", 1, OTHER, **hidden)
    conversations, left = build_conversations([REVIEW_A, review, post("b", 2, AUTHORS, "B")])
    assert [one.reviewer for one in conversations] == [A]
    assert {found.post_id: why for found, why, _ in left}["b"] is Reason.OUTSIDE_CONVERSATION


@pytest.mark.parametrize("hidden", [{"deleted": True}, {"readers_public": False}, {"kind": PostKind.OTHER}])
def test_no_post_is_lost_if_no_conversation_remains(hidden: dict[str, Any]) -> None:
    posts = [post("B", 0, OTHER, **hidden), post("a", 1, REVIEWER, "B"), post("all", 2, AUTHORS)]
    conversations, left = build_conversations(posts)
    used = {post_id for one in conversations for turn in one.turns for post_id in turn.post_ids}
    used |= {response.post_id for one in conversations for response in one.context}
    assert used | {found.post_id for found, _, _ in left} == {"B", "a", "all"}


def test_chained_responses_are_context_too() -> None:
    parts = [post("1", 2, AUTHORS), post("2", 3, AUTHORS, "1"), post("3", 4, AUTHORS, "2")]
    (conversation,), left = build_conversations([REVIEW_A, *parts])
    assert ([response.post_id for response in conversation.context], left) == (["1", "2", "3"], [])


def test_circles_of_answers_do_not_hang() -> None:
    assert threads([REVIEW_A, post("x", 2, AUTHORS, "y"), post("y", 3, AUTHORS, "x")]) == {A: ["A"]}


def test_a_turn_joins_its_posts() -> None:
    parts = [post("one", 2, AUTHORS, "A", title="Answer (1/2)"), post("two", 3, AUTHORS, "A", title="Answer (2/2)")]
    (conversation,), _ = build_conversations([REVIEW_A, *parts])
    turn = conversation.turns[1]
    assert (turn.text, turn.title, turn.created_at) == ("one\n\ntwo", "Answer", parts[0].created_at)
    assert conversation.conversation_id == "f/Reviewer_A1bC"


def test_a_changed_review_shows_its_beginning() -> None:
    changed = post("A", 0, REVIEWER, text="Better now.", initial_text="Bad.")
    ((conversation,), _) = build_conversations([changed, post("a1", 2, AUTHORS, "A")])
    assert [(turn.text, turn.holds_update) for turn in conversation.turns] == [("Bad.", False), ("a1", False)]


def test_a_turn_with_later_additions_is_flagged() -> None:
    ((conversation,), _) = build_conversations([post("A", 0, REVIEWER, holds_update=True), post("a", 1, AUTHORS, "A")])
    assert [turn.holds_update for turn in conversation.turns] == [True, False]


@pytest.mark.parametrize(
    "addressed",
    [
        {"title": "Response to Reviewer A1bC"},
        {"title": "To Reviewer A1bC (1/2)"},
        {"title": "Rebuttal", "text": "Dear Reviewer A1bC,\n\nthank you. Reviewer B2cD asked the same."},
        {"title": None, "text": "@Reviewer a1bc: yes."},
        {"title": "A1bC: answers"},
        {"title": "Response to Reviewer A1bC: answers to all questions"},
        {"title": "Response to Reviewer A1bC's concerns on each dataset"},
        {"title": None, "text": "Dear Reviewer A1bC, thank you for all your comments."},
        {"title": "Rebuttal", "text": "**Reviewer A1bC**\n\nKites fly."},
        {"title": "Rebuttal", "text": "We thank Reviewer A1bC for the idea.\n\nKites fly."},
    ],
)
def test_a_named_reviewer_gets_the_answer(addressed: dict[str, Any]) -> None:
    assert threads([REVIEW_A, REVIEW_B, post("a", 2, AUTHORS, **addressed)])[A] == ["A", "a"]


@pytest.mark.parametrize(
    "addressed",
    [
        {"title": "Response to Reviewers A1bC and B2cD"},
        {"title": "Response to all reviewers", "text": "Dear Reviewer A1bC, dear Reviewer B2cD, thank you."},
        {"title": "General response", "text": "We thank Reviewer A1bC for the idea."},
        {"title": "Response to R1"},
        {"title": "To Reviewer A1bC and all"},
        {"title": "Concerns", "text": "Dear AC and reviewers, we write to you."},
        {"title": "Summary for the AC and all reviewers"},
        {"title": "Rebuttal", "text": "We thank Reviewer A1bC for the idea, and B2cD for another."},
        {"title": "Errors in $R_1$ and R@1"},
        {"title": "Response to Reviewer Zz9z"},
    ],
)
def test_a_reply_to_several_is_context(addressed: dict[str, Any]) -> None:
    posts = [REVIEW_A, REVIEW_B, post("a", 2, AUTHORS, **addressed)]
    assert threads(posts) == {A: ["A"], B: ["B"]}
    conversations, left = build_conversations(posts)
    assert [[beside.post_id for beside in one.context] for one in conversations] == [["a"], ["a"]]
    assert left == []


def test_numbers_may_identify_reviewers() -> None:
    numbered = [post(f"review{n}", n, (Role.REVIEWER, f"AnonReviewer{n}")) for n in (1, 2)]
    assert threads([*numbered, post("a", 5, AUTHORS, title="Reply to R2")])["AnonReviewer2"] == ["review2", "a"]
    key = post("g", 3, AUTHORS, title="Overview", text="R1 = Reviewer B2cD, R2 = Reviewer A1bC.")
    found = threads([REVIEW_A, REVIEW_B, key, post("a", 5, AUTHORS, title="Reply to R2")])
    assert found == {A: ["A", "a"], B: ["B"]}


def test_later_parts_follow_the_first() -> None:
    first = post("1", 2, AUTHORS, title="Response to Reviewer A1bC (1/2)")
    assert threads([REVIEW_A, REVIEW_B, first, post("2", 3, AUTHORS, "1", title="(2/2)")])[A] == ["A", "1+2"]


def test_parts_follow_the_one_that_names_its_reviewer() -> None:
    first = post("1", 2, AUTHORS, title="Rebuttal (1/2)", text="Dear Reviewer A1bC,\n\nKites fly.")
    parts = [first, post("2", 3, AUTHORS, title="Rebuttal (2/2)")]
    assert threads([REVIEW_A, REVIEW_B, *parts])[A] == ["A", "1+2"]
    other = post("3", 4, AUTHORS, title="Rebuttal (1/2)", text="Dear Reviewer B2cD,\n\nthey fall.")
    assert threads([REVIEW_A, REVIEW_B, *parts, other]) == {A: ["A", "1"], B: ["B", "3"]}


def test_ids_of_letters_keep_their_case() -> None:
    reviews = [post(name, 0, (Role.REVIEWER, f"Reviewer_{name}")) for name in ("4821", "sAid")]
    assert threads([*reviews, post("a", 1, AUTHORS, title="Response to Reviewer 4821")])["Reviewer_4821"] == [
        "4821",
        "a",
    ]
    answer = post("a", 1, AUTHORS, title="What the reviewer said")
    assert threads([*reviews, answer])["Reviewer_sAid"] == ["sAid"]


def test_long_titles_are_parsed_quickly() -> None:
    began = time.process_time()
    spaces = post("a", 1, AUTHORS, title="Response" + " " * 5_000 + "x", text="R1, " * 5_000)
    nudge = post("n", 2, AUTHORS, text="please" + "\n" * 5_000 + "-" * 5_000)
    build_conversations([post("A", 0, (Role.REVIEWER, "AnonReviewer1")), spaces, nudge])
    assert time.process_time() - began < 5


def test_answers_below_responses_find_their_reviewer() -> None:
    posts = [REVIEW_A, REVIEW_B, post("g", 2, AUTHORS), post("b", 3, OTHER, "g"), post("a", 4, AUTHORS, "b")]
    assert threads(posts) == {A: ["A"], B: ["B", "b", "a"]}


def test_parts_out_of_order_are_sorted() -> None:
    parts = [post(f"{n}of3", 5 - n, AUTHORS, "A", title=f"Response ({n}/3)") for n in (1, 2, 3)]
    assert threads([REVIEW_A, *parts]) == {A: ["A", "1of3+2of3+3of3"]}


def test_a_reply_never_precedes_its_parent() -> None:
    day = [post("z", 2, AUTHORS, "A"), post("m", 2, REVIEWER, "z"), post("a", 2, AUTHORS, "m")]
    assert threads([*day, REVIEW_A]) == {A: ["A", "z", "m", "a"]}


def test_a_last_reminder_is_set_aside() -> None:
    posts = [
        REVIEW_A,
        post("a", 2, AUTHORS, "A"),
        post("n1", 3, AUTHORS, "a", text=NUDGE),
        post("n2", 4, AUTHORS, "A", text=NUDGE),
    ]
    conversations, left = build_conversations(posts)
    assert [turn.post_ids for turn in conversations[0].turns] == [("A",), ("a",)]
    assert sorted((found.post_id, why) for found, why, _ in left) == [("n1", Reason.REMINDER), ("n2", Reason.REMINDER)]


@pytest.mark.parametrize(
    ("posts", "kept"),
    [
        ([NUDGED], ["A", "n"]),
        ([post("a", 2, AUTHORS, "A"), post("n", 3, AUTHORS, "A", text=f"{NUDGE} It is 0.4.")], ["A", "a+n"]),
        ([post("a", 2, AUTHORS, "A"), post("q", 3, REVIEWER, "a"), post("n", 4, AUTHORS, "q", text=NUDGE)],
         ["A", "a", "q", "n"]),
    ],
)  # fmt: skip
def test_first_posts_are_no_reminders(posts: list[Post], kept: list[str]) -> None:
    assert threads([REVIEW_A, *posts]) == {"Reviewer_A1bC": kept}


@pytest.mark.parametrize(
    ("later", "turns"),
    [
        ([post("r", 4, REVIEWER, "n")], ["A", "a", "n!", "r"]),
        ([post("r", 4, REVIEWER, "A")], ["A", "a", "n!", "r"]),
        ([post("r", 4, REVIEWER, "a")], ["A", "a", "r"]),
        ([post("b", 4, AUTHORS, "A")], ["A", "a+b"]),
        ([post("b", 4, AUTHORS, "A"), post("r", 5, REVIEWER, "n")], ["A", "a", "n!", "b", "r"]),
        ([post("m", 4, AUTHORS, "A", text=NUDGE), post("r", 5, REVIEWER, "m")], ["A", "a", "m!", "r"]),
    ],
)
def test_an_answered_reminder_is_a_turn(later: list[Post], turns: list[str]) -> None:
    conversations, left = build_conversations([REVIEW_A, post("a", 2, AUTHORS, "A"), NUDGED, *later])
    shown = ["+".join(turn.post_ids) + "!" * turn.is_reminder for turn in conversations[0].turns]
    assert shown == turns
    assert [one.post_id for one, _, _ in left] == [] if "n!" in turns else ["n"]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (None, "This is a gentle reminder that the discussion ends soon."),
        (None, "Dear Reviewer, have you had a chance to look at our last reply?"),
        ("Following up", "Is anything still unclear?"),
        (None, "We have not heard back from you. Please let us know."),
    ],
)
@pytest.mark.parametrize("answers", [[post("a", 2, AUTHORS, "A")], [post("g", 2, AUTHORS)]])
def test_a_nudge_at_the_end_reminds(title: str | None, text: str, answers: list[Post]) -> None:
    above = answers[0].post_id
    asked = post("q", 3, REVIEWER, "A" if above == "g" else "a")
    nudge = post("n", 4, AUTHORS, "q", title=title, text=text)
    (talk,), left = build_conversations([REVIEW_A, *answers, asked, nudge])
    assert [turn.post_ids for turn in talk.turns][-1] == ("q",)
    assert [(one.post_id, why) for one, why, _ in left] == [("n", Reason.REMINDER)]
    (talk,), left = build_conversations([REVIEW_A, *answers, asked, nudge, post("r", 5, REVIEWER, "n")])
    assert [(turn.post_ids, turn.is_reminder) for turn in talk.turns][-2:] == [(("n",), True), (("r",), False)]
    assert left == []


def test_an_only_nudge_stays() -> None:
    asked, nudge = post("q", 2, REVIEWER, "A"), post("n", 3, AUTHORS, "q", text="A gentle reminder: please reply.")
    (talk,), left = build_conversations([REVIEW_A, asked, nudge])
    assert ([turn.post_ids for turn in talk.turns][-1], left) == (("n",), [])


def test_a_reminder_to_all_is_not_context() -> None:
    conversations, left = build_conversations([REVIEW_A, post("a", 2, AUTHORS, "A"), post("n", 3, AUTHORS, text=NUDGE)])
    assert conversations[0].context == ()
    assert [(found.post_id, why) for found, why, _ in left] == [("n", Reason.REMINDER)]


def test_an_orphan_keeps_its_place_and_is_marked() -> None:
    gone = post("gone", 2, REVIEWER, "A", deleted=True)
    named = post("x", 3, AUTHORS, "not held", title="Response to Reviewer A1bC")
    conversations, _ = build_conversations([REVIEW_A, gone, post("a", 2.5, AUTHORS, "gone"), named])
    assert [(turn.post_ids, turn.orphan_ids) for turn in conversations[0].turns] == [
        (("A",), ()),
        (("a", "x"), ("a", "x")),
    ]


DECISION = post("d", 6, (Role.PROGRAM_CHAIR, "Program_Chairs"), kind=PostKind.DECISION)
ETHICS = (Role.ETHICS_REVIEWER, "Ethics_Reviewer_E1fG")


@pytest.mark.parametrize(
    ("posts", "turns"),
    [
        ([post("g", 2, AUTHORS), post("r", 3, REVIEWER, "A")], ["A", "r"]),
        ([post("g", 2, AUTHORS), post("r", 3, REVIEWER, "A"), post("s", 4, REVIEWER, "A")], ["A", "r+s"]),
        ([post("r", 2, REVIEWER, "A"), post("g", 3, AUTHORS)], ["A+r"]),
        ([post("a", 2, AUTHORS, "A"), post("g", 3, AUTHORS), post("b", 4, AUTHORS, "A")], ["A", "a+b"]),
        ([post("g", 2, AUTHORS, title="Response to Reviewers B2cD and C3dE"), post("r", 3, REVIEWER, "A")], ["A+r"]),
        ([post("g", 2, AUTHORS, title="Message to AC"), post("r", 3, REVIEWER, "A")], ["A+r"]),
        ([DECISION, post("r", 7, REVIEWER, "A")], ["A", "r"]),
        ([post("a", 5, AUTHORS, "A"), DECISION, post("b", 7, AUTHORS, "A")], ["A", "a", "b"]),
        ([post("g", 0, AUTHORS), post("r", 0, REVIEWER, "g")], ["A", "r"]),
    ],
)
def test_responses_and_decisions_end_turns(posts: list[Post], turns: list[str]) -> None:
    third = post("C", 1, (Role.REVIEWER, "Reviewer_C3dE"))
    assert threads([REVIEW_A, REVIEW_B, third, *posts])[A] == turns


def test_a_response_to_some_is_theirs() -> None:
    named = post("x", 3, AUTHORS, title="Response to Reviewers 2 and 3", text="Kites fly.\n\nReviewer 3: they fall.")
    conversations, left = build_conversations(
        [*(post(f"r{n}", n / 9, (Role.REVIEWER, f"AnonReviewer{n}")) for n in (1, 2, 3)), named]
    )
    assert [[beside.concerning for beside in one.context] for one in conversations] == [
        [],
        [("Kites fly.",)],
        [("Kites fly.", "Reviewer 3: they fall.")],
    ]
    assert left == []


def test_posts_to_others_are_in_separate_conversations() -> None:
    posts = [
        *(REVIEW_A, post("p", 2, PUBLIC), post("pa", 3, AUTHORS, "p"), post("pr", 4, REVIEWER, "pa"), DECISION),
        *(post("e", 2, ETHICS, kind=PostKind.ETHICS_REVIEW), post("ea", 3, AUTHORS, "e")),
        *(post("m", 5, CHAIR, kind=PostKind.META_REVIEW), post("ma", 7, AUTHORS, "m")),
        *(post("l", 4, AUTHORS, "A", title="Message to AC"), post("c", 4.5, CHAIR, "l")),
        post("w", 8, AUTHORS, kind=PostKind.WITHDRAWAL),
    ]
    assert every_thread(posts) == {
        (ConversationKind.REVIEW, A): ["A+pr"],
        (ConversationKind.CHAIRS, "chairs"): ["l", "c+m", "d", "ma+w"],
        (ConversationKind.ETHICS, ETHICS[1]): ["e", "ea"],
        (ConversationKind.PUBLIC, PUBLIC[1]): ["p", "pa"],
    }
    assert build_conversations(posts)[1] == []


def test_without_readable_reviewers_posts_to_everyone_are_kept() -> None:
    assert every_thread([post("g", 1, AUTHORS)]) == {(ConversationKind.OTHER, "everyone"): ["g"]}


def test_a_misplaced_reply_follows_its_greeting() -> None:
    posts = [
        REVIEW_A,
        REVIEW_B,
        post("x", 3, AUTHORS, "A", title="Response to Reviewer B2cD"),
        post("r", 4, OTHER, "x"),
    ]
    assert threads(posts) == {A: ["A"], B: ["B", "x", "r"]}


LONG = (
    "The kite flies well in strong wind, but nothing is said about weak wind, and that is where most kites fall down."
)


@pytest.mark.parametrize(
    ("first", "second", "text", "is_repeated"),
    [("b", "b", "Thanks.", True), ("b", "c", LONG, True), ("b", "c", "Thanks.", False)],
)
def test_what_a_reviewer_posts_twice_is_one_turn(first: str, second: str, text: str, is_repeated: bool) -> None:
    answers = [post("b", 2, AUTHORS, "A"), post("c", 3, AUTHORS, "A")]
    said = [post("r1", 4, REVIEWER, first, text=text), post("r2", 5, REVIEWER, second, text=f"{text}\n")]
    _, left = build_conversations([REVIEW_A, *answers, *said, post("end", 6, AUTHORS, "r2")])
    assert [(one.post_id, why) for one, why, _ in left] == [("r2", Reason.OUTSIDE_CONVERSATION)] * is_repeated


@pytest.mark.parametrize(
    ("first", "second", "is_repeated"),
    [
        ('{"rating":3}', '{"rating":5}', False),
        ('{"rating":3}', '{"rating":3}', True),
        ('{"rating":3}', "{}", True),
        ('{"flag":"no","rating":3}', '{"rating":3}', True),
        ("{}", '{"rating":3}', False),
    ],
)
def test_another_answer_is_no_repetition(first: str, second: str, is_repeated: bool) -> None:
    again = post("again", 2, REVIEWER, text=LONG)
    said = [replace(post("A", 0, REVIEWER, text=LONG), extra=first), replace(again, extra=second)]
    (talk,), left = build_conversations([*said, post("a", 5, AUTHORS, "A")])
    assert [one.post_id for one, _, _ in left] == ["again"] * is_repeated
    assert ("again" in [post_id for turn in talk.turns for post_id in turn.post_ids]) is not is_repeated


def test_a_third_post_may_repeat_both() -> None:
    scores = ('{"rating":3}', '{"rating":5}', '{"rating":5}')
    said = [replace(post(f"r{place}", place, REVIEWER, text=LONG), extra=extra) for place, extra in enumerate(scores)]
    _, left = build_conversations([*said, post("a", 5, AUTHORS, "r0")])
    assert [(one.post_id, why[:26]) for one, _, why in left] == [("r2", "It repeats the post 'r1' b")]


def test_a_turn_says_why_its_post_was_moved() -> None:
    moved = post("x", 3, AUTHORS, "A", title="Response to Reviewer B2cD", text="Dear Reviewer B2cD, it flies.")
    conversations, _ = build_conversations([REVIEW_A, REVIEW_B, post("b", 2, AUTHORS, "B"), moved])
    turns = {talk.reviewer: talk.turns[-1] for talk in conversations}
    assert turns[B].post_ids == ("b", "x")
    assert turns[B].moved == ("x: addressed to Reviewer_B2cD (title)",)
    assert turns[A].moved == ()


RATING = post("A", 0, REVIEWER, text="", title="Official Review of Paper 1")
WORDS = post("B", 0, OTHER)


def told(*posts: Post) -> tuple[dict[str, list[str]], list[tuple[str, Reason]]]:
    """Return the turns of each conversation, and what is set aside with its reason."""
    talks, left = build_conversations(posts)
    turns = {talk.reviewer: ["+".join(turn.post_ids) for turn in talk.turns] for talk in talks}
    return turns, sorted((one.post_id, reason) for one, reason, _ in left)


@pytest.mark.parametrize(
    "silent",
    [
        RATING,
        replace(RATING, text=" \n"),
        post("d", 1, CHAIR, kind=PostKind.DECISION, text="", title="Paper decision"),
        post("p", 1, PUBLIC, text=""),
    ],
)
def test_an_empty_post_is_only_counted(silent: Post) -> None:
    assert told(WORDS, silent) == ({"Reviewer_B2cD": ["B"]}, [(silent.post_id, Reason.NOTHING_SAID)])


@pytest.mark.parametrize(
    "more", [[post("a", 1, AUTHORS, "A")], [post("r", 1, REVIEWER, "A", text="", title="I keep my score")]]
)
def test_a_discussed_rating_starts_a_conversation(more: list[Post]) -> None:
    turns, left = told(RATING, *more)
    assert turns["Reviewer_A1bC"][0].split("+")[0] == "A"
    assert left == []


@pytest.mark.parametrize("written", [{"initial_text": "Bad."}, {"text": "Bad."}])
def test_any_text_starts_a_conversation(written: dict[str, Any]) -> None:
    assert told(replace(RATING, **written)) == ({"Reviewer_A1bC": ["A"]}, [])


def test_a_justified_rating_starts_a_conversation() -> None:
    given = replace(review("f", "Reviewer_A1bC", review_id="A"), final_justification="It is well.")
    (talk,), left = build_conversations([RATING], [given])
    assert ([turn.final_justification for turn in talk.turns], left) == (["It is well."], [])


def test_responses_to_bare_ratings_are_kept() -> None:
    talks, left = build_conversations([RATING, post("all", 1, AUTHORS)])
    assert [(talk.kind, talk.reviewer, len(talk.turns)) for talk in talks] == [(ConversationKind.OTHER, "everyone", 1)]
    assert [(one.post_id, reason) for one, reason, _ in left] == [("A", Reason.NOTHING_SAID)]


def test_an_empty_post_adds_no_lines() -> None:
    (talk,), _ = build_conversations([RATING, post("r", 1, REVIEWER, "A"), post("s", 2, REVIEWER, "A", text=" ")])
    assert [(turn.text, turn.post_ids) for turn in talk.turns] == [("r", ("A", "r", "s"))]


ANSWER = post("answer", 3, AUTHORS, "A")


@pytest.mark.parametrize("day", [-1, 1, 2.99])
def test_a_reply_follows_a_later_parent(day: float) -> None:
    reply = post("reply", day, REVIEWER, "answer")
    assert threads([reply, REVIEW_A, ANSWER]) == {A: ["A", "answer", "reply"]}, "it replies to what is not yet said"


def test_replies_follow_a_misdated_posts_parent() -> None:
    reply, thanks = post("reply", 1, REVIEWER, "answer"), post("thanks", 2, AUTHORS, "reply")
    assert threads([thanks, reply, REVIEW_A, ANSWER]) == {A: ["A", "answer", "reply", "thanks"]}


def test_a_post_without_a_date_follows_its_parent() -> None:
    reply = post("reply", 0, REVIEWER, "answer", created_at=None)
    assert threads([reply, REVIEW_A, ANSWER]) == {A: ["A", "answer", "reply"]}


def test_other_replies_keep_their_date() -> None:
    beside = post("beside", 1, AUTHORS, "A")
    late = post("late", 1, REVIEWER, "answer")
    found = [one.post_id for one in in_time_order([late, ANSWER, beside, REVIEW_A])]
    assert found == ["A", "beside", "answer", "late"]
