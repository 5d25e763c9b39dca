"""A forum costs time in proportion to its posts, whatever answers what."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from hostile_texts import find_growth
from invented_posts import AUTHORS, CHAIR, OTHER, PUBLIC, REVIEWER, post
from invented_tables import paper
from peercorpus.cli.text.show import show_record
from peercorpus.conversations.build import build_conversations
from peercorpus.corpus.forums import Forum, PaperRecord
from peercorpus.corpus.public_forums import keep_public
from peercorpus.explorer.paper_page import read_dialogues
from peercorpus.forms.posts import read_addressees
from peercorpus.models.chat_messages import ChatOptions, Response, to_chat_messages
from peercorpus.records.enums import PostKind, Role
from peercorpus.records.reviews import Post

SPEAKERS = (REVIEWER, AUTHORS, OTHER, AUTHORS, PUBLIC, CHAIR)
REVIEWERS = [(Role.REVIEWER, f"Reviewer_r{number:03}") for number in range(200)]
REMINDER = "Have we addressed your concerns? The discussion ends soon."


def make_chain(size: int) -> list[Post]:
    """Each answers the one before."""
    above = [None, *(f"p{number}" for number in range(size - 1))]
    return [post(f"p{number}", number, SPEAKERS[number % 6], above[number]) for number in range(size)]


def make_star(size: int) -> list[Post]:
    """Each answers one review."""
    answers = [post(f"p{number}", number, SPEAKERS[number % 6], "review", text=REMINDER) for number in range(1, size)]
    return [post("review", 0, REVIEWER, text="Why?"), *answers]


def make_reminders(size: int) -> list[Post]:
    """The authors remind one reviewer again and again."""
    reminders = [post(f"p{number}", number, AUTHORS, "review", text=REMINDER) for number in range(2, size)]
    return [post("review", 0, REVIEWER, text="Why?"), post("p1", 1, AUTHORS, "review", text="Yes."), *reminders]


def make_misplaced(size: int) -> list[Post]:
    """The authors greet one reviewer below the other's review."""
    reviews = [post("one", 0, REVIEWER), post("other", 0, OTHER)]
    greetings = [
        post(f"p{number}", number, AUTHORS, "one", text="Dear Reviewer B2cD, yes.") for number in range(2, size)
    ]
    return [*reviews, *greetings]


def make_parts(size: int) -> list[Post]:
    """The authors post as many answers in two parts as there can be."""
    title = "Answer {} ({}/2)"
    parts = [
        post(f"p{number}", number, AUTHORS, "review", title=title.format(number // 2, number % 2 + 1))
        for number in range(size)
    ]
    return [post("review", 0, REVIEWER), *parts]


def make_same_parts(size: int) -> list[Post]:
    """All are the first of two parts."""
    parts = [post(f"p{number}", number, AUTHORS, "review", title="Answer (1/2)") for number in range(size)]
    return [post("review", 0, REVIEWER), *parts]


def make_orphans(size: int) -> list[Post]:
    """Each answers a post of its own that is deleted."""
    gone = [post(f"gone{number}", 0, REVIEWER, deleted=True) for number in range(size // 2)]
    return [*gone, *(post(f"p{number}", 1, AUTHORS, f"gone{number}") for number in range(size // 2))]


def make_answers_to_all(size: int) -> list[Post]:
    """Each of 50 reviewers is answered by a fiftieth of the posts to all, between the turns."""
    reviews = [post(name, 0, (role, name)) for role, name in REVIEWERS[:50]]
    answers = [post(f"p{number}", number + 1, AUTHORS, title=f"To all {number}") for number in range(size // 2)]
    further = [
        post(f"q{number}", number + 1.5, REVIEWERS[number % 50], REVIEWERS[number % 50][1])
        for number in range(size // 2)
    ]
    return [*reviews, *answers, *further]


def make_to_public(size: int) -> list[Post]:
    """The authors address the public, who all have other names."""
    public = [post(f"a{number}", 0, (Role.PUBLIC, f"public_{number}")) for number in range(size // 2)]
    answers = [post(f"p{number}", 1, AUTHORS, title="Public comment: reply") for number in range(size // 2)]
    return [*public, *answers]


def make_circle(size: int) -> list[Post]:
    """Each answers the next, and the last the first."""
    return [post(f"p{number}", number, SPEAKERS[number % 6], f"p{(number + 1) % size}") for number in range(size)]


FORUMS: dict[str, Callable[[int], list[Post]]] = {
    make.__name__.removeprefix("make_"): make
    for make in (
        make_chain,
        make_star,
        make_reminders,
        make_misplaced,
        make_parts,
        make_same_parts,
        make_orphans,
        make_answers_to_all,
        make_to_public,
        make_circle,
    )
}


def read_everything(forum: Forum) -> None:
    """Address the posts of a forum, build its conversations and show them in all ways."""
    posts = read_addressees(forum.posts)
    conversations, left = build_conversations(posts)
    assert len(left) <= len(posts)
    whole = Forum(forum.paper, [], posts, [], conversations)
    read_dialogues(keep_public(whole))
    show_record(PaperRecord(forum.paper, [], posts, [], conversations, [], []), is_brief=True)
    responses = {each.post_id: Response(each.title, each.text) for each in posts if each.kind is PostKind.COMMENT}
    for conversation in conversations:
        to_chat_messages(conversation, ChatOptions(), responses)


def make_call(make: Callable[[int], Sequence[Post]], size: int) -> Callable[[], object]:
    return partial(read_everything, Forum(paper("f"), [], list(make(size)), [], []))


@pytest.mark.parametrize("name", FORUMS)
def test_a_small_forum_takes_time_in_proportion_to_its_posts(name: str) -> None:
    assert find_growth(partial(make_call, FORUMS[name]), [100, 200, 400], 0.25) is None


@pytest.mark.parametrize("name", FORUMS)
def test_a_large_forum_takes_time_in_proportion_to_its_posts(name: str) -> None:
    assert find_growth(partial(make_call, FORUMS[name]), [1_250, 2_500, 5_000, 10_000], 0.25, limit_s=60) is None
