"""A forum takes time in proportion to its posts, whatever answers what."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from hostile_texts import find_growth
from invented_posts import AUTHORS, CHAIR, OTHER, PUBLIC, REVIEWER, post
from invented_tables import paper
from peercorpus.cli.text.show import show_record
from peercorpus.conversations.build import build_conversations
from peercorpus.corpus.forums import Forum
from peercorpus.corpus.public_forums import keep_public
from peercorpus.explorer.paper_page import read_dialogues
from peercorpus.forms.form import ReviewForm
from peercorpus.forms.normalise import RawForum, normalise_forum
from peercorpus.forms.venue_forms import VenueReader
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.models.chat_messages import ChatOptions, Response, to_chat_messages
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import PostKind, Role
from peercorpus.records.papers import Paper
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
    """Each answers a different deleted post."""
    gone = [post(f"gone{number}", 0, REVIEWER, deleted=True) for number in range(size // 2)]
    return [*gone, *(post(f"p{number}", 1, AUTHORS, f"gone{number}") for number in range(size // 2))]


def make_answers_to_all(size: int) -> list[Post]:
    """A fiftieth of the posts to all answers each of 50 reviewers, between the turns."""
    reviews = [post(name, 0, (role, name)) for role, name in REVIEWERS[:50]]
    answers = [post(f"p{number}", number + 1, AUTHORS, title=f"To all {number}") for number in range(size // 2)]
    further = [
        post(f"q{number}", number + 1.5, REVIEWERS[number % 50], REVIEWERS[number % 50][1])
        for number in range(size // 2)
    ]
    return [*reviews, *answers, *further]


def make_answers_to_200(size: int) -> list[Post]:
    """A fifth of the posts to all answers each of 200 reviewers."""
    reviews = [post(name, 0, (role, name)) for role, name in REVIEWERS]
    answers = [post(f"p{number}", number + 1, AUTHORS, title=f"To all {number}") for number in range(size // 5)]
    further = [
        post(f"q{number}", number / 4, REVIEWERS[number % 200], REVIEWERS[number % 200][1])
        for number in range(size - size // 5)
    ]
    return [*reviews, *answers, *further]


def make_to_public(size: int) -> list[Post]:
    """The authors address the public, all with different names."""
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
        make_answers_to_200,
        make_to_public,
        make_circle,
    )
}


class Rows:
    """Return the posts read from raw notes."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self.left = 0

    def add(self, record: object) -> None:
        self.posts += [record] if isinstance(record, Post) else []

    def set_aside(self, *_: object) -> None:
        self.left += 1


READER = VenueReader(
    venue_id="V",
    raw=None,  # type: ignore[arg-type]
    words=VenueVocabulary(),
    derived={"official_review": ReviewForm("inferred:V", {})},
    gone=frozenset(),
    unconfirmed=frozenset(),
)
INVITATIONS = {PostKind.REVIEW: "Official_Review", PostKind.COMMENT: "Official_Comment"}
SIGNATURES = {Role.PUBLIC: "~Ada_Example1"}
ROOT = Note(id="f", forum="f", tcdate=1, readers=["everyone"], invitations=["V/-/Submission"], content={})
AI_REVIEW = Note(
    id="ai",
    forum="f",
    replyto="f",
    tcdate=2,
    readers=["everyone"],
    signatures=["V/Submission1/AI_Reviewer"],
    invitations=["V/Submission1/-/AI_Review"],
    content={"review": {"value": "Kites."}},
)


def to_note(one: Post) -> Note:
    """The raw note that a post is read from, changed together with all others."""
    assert one.created_at is not None
    return Note(
        id=one.post_id,
        forum="f",
        replyto=one.reply_to or "f",
        tcdate=int(one.created_at.timestamp() * 1000),
        tmdate=10**14,
        ddate=1 if one.deleted else None,
        readers=["everyone"],
        signatures=[SIGNATURES.get(one.role, f"V/Submission1/{one.signature}")],
        invitations=[f"V/Submission1/-/{INVITATIONS[one.kind]}", "V/-/Edit"],
        content={"title": {"value": one.title}, "comment": {"value": one.text}},
    )


def read_everything(notes: Sequence[Note], paper_record: Paper) -> None:
    """Read the notes of a forum as posts, build its conversations and show them in all ways."""
    rows = Rows()
    normalise_forum(RawForum("f", [ROOT, AI_REVIEW, *notes]), READER, str, rows, has_paper=True)  # type: ignore[arg-type]
    assert len(rows.posts) == len(notes)
    conversations, left = build_conversations(rows.posts)
    assert len(left) <= len(rows.posts)
    read_dialogues(keep_public(Forum(paper_record, [], rows.posts, [], conversations)))
    show_record(Forum(paper_record, [], rows.posts, [], conversations), is_brief=True)
    responses = {one.post_id: Response(one.title, one.text) for one in rows.posts if one.kind is PostKind.COMMENT}
    for conversation in conversations:
        to_chat_messages(conversation, ChatOptions(), responses)


def make_call(make: Callable[[int], Sequence[Post]], size: int) -> Callable[[], object]:
    return partial(read_everything, [to_note(one) for one in make(size)], paper("f"))


@pytest.mark.parametrize("name", FORUMS)
def test_a_small_forum_is_processed_in_linear_time(name: str) -> None:
    assert find_growth(partial(make_call, FORUMS[name]), [200], 0.5) is None


@pytest.mark.slow(43)
@pytest.mark.fault(
    "input",
    "a forum of 10,000 replies in a chain, a star, a circle, in parts, misplaced, or below deleted posts",
    "nothing: it is read, built and shown in time in proportion to its posts",
    times=11,
)
@pytest.mark.parametrize("name", FORUMS)
def test_a_large_forum_is_processed_in_linear_time(name: str) -> None:
    assert find_growth(partial(make_call, FORUMS[name]), [2_500, 10_000], 0.5, limit_s=60) is None
