"""The addressee of an authors' post, and how it is known."""

from typing import Any

import pytest

from invented_posts import AUTHORS, CHAIR, OTHER, PUBLIC, REVIEWER, post
from peercorpus.discussion.addressees import address_posts
from peercorpus.discussion.letters import find_letter, is_confidential
from peercorpus.records.enums import PostKind, Role
from peercorpus.records.reviews import Post

A, B = REVIEWER[1], OTHER[1]
REVIEWS = [post("A", 0, REVIEWER), post("B", 1, OTHER)]
NUMBERED = [post(f"r{n}", n, (Role.REVIEWER, f"AnonReviewer{n}")) for n in (1, 2, 3, 4)]
ETHICS = (Role.ETHICS_REVIEWER, "Ethics_Reviewer_E1fG")


def address(posts: list[Post], post_id: str = "x") -> tuple[list[str], str | None, list[str]]:
    """Return a post's addressee, how it is known, and other people it greets."""
    (found,) = (one for one in address_posts(posts) if one.post_id == post_id)
    return list(found.addressed_to), found.addressed_by, list(found.greets)


@pytest.mark.parametrize(
    ("written", "to", "by"),
    [
        ({}, ["everyone"], "tree"),
        ({"title": "Response to Reviewers 2 and 4"}, ["AnonReviewer2", "AnonReviewer4"], "title"),
        ({"title": "Response to R2, R3 & R4"}, ["AnonReviewer2", "AnonReviewer3", "AnonReviewer4"], "title"),
        ({"title": "To Reviewers 2-4"}, ["AnonReviewer2", "AnonReviewer3", "AnonReviewer4"], "title"),
        ({"text": "Dear Reviewer 2 and Reviewer 4, thank you."}, ["AnonReviewer2", "AnonReviewer4"], "greeting"),
        ({"text": "Dear Reviewer 2, all reviewers asked for tails."}, ["AnonReviewer2"], "greeting"),
        ({"title": "Response to all reviewers"}, ["everyone"], "title"),
        ({"title": "Message to AC: a misreading"}, ["chairs"], "title"),
        ({"title": "To the Area Chair"}, ["chairs"], "title"),
        ({"title": "Summary", "text": "Dear ACs and SAC,\n\nkites fly."}, ["chairs"], "greeting"),
        ({"title": "Concerns about Reviewer 2", "text": "Dear AC, Reviewer 2 is wrong."}, ["chairs"], "greeting"),
        ({"text": "Dear AC and reviewers, kites fly."}, ["everyone"], "greeting"),
        ({"text": "Dear Reviewers and Area Chairs,"}, ["everyone"], "greeting"),
        ({"text": "Dear AC, reviewers raised a point."}, ["chairs"], "greeting"),
        ({"title": "To AC and Reviewer 3"}, ["AnonReviewer3", "chairs"], "title"),
        ({"title": "Confidential comments"}, ["chairs"], "title"),
        ({"invitation": "V/Paper1/-/Confidential_Comment"}, ["chairs"], "invitation"),
        ({"kind": PostKind.WITHDRAWAL}, ["chairs"], "invitation"),
        ({"title": "Response to public comment"}, ["public"], "title"),
        ({"title": "Response to Ethics Reviewers"}, ["ethics"], "title"),
        ({"title": "Response to Reviewer 9"}, [], "none"),
        ({"reply_to": "gone"}, [], "none"),
    ],
)
def test_a_forum_post_addresses_named_reviewers(written: dict[str, Any], to: list[str], by: str) -> None:
    assert address([*NUMBERED, post("x", 5, AUTHORS, **written)]) == (to, by, [])


@pytest.mark.parametrize(
    ("above", "to"),
    [
        (post("y", 2, REVIEWER), [A]),
        (post("y", 2, OTHER, "A"), [B]),
        (post("y", 2, CHAIR, "A"), ["chairs"]),
        (post("y", 2, PUBLIC), ["public"]),
        (post("y", 2, ETHICS), ["ethics"]),
        (post("y", 2, AUTHORS, "A"), [A]),
    ],
)
def test_a_reply_addresses_the_author_of_its_parent(above: Post, to: list[str]) -> None:
    assert address([*REVIEWS, above, post("x", 3, AUTHORS, "y")]) == (to, "tree", [])


def test_parts_share_their_reviewer() -> None:
    first = post("1", 2, AUTHORS, title="Rebuttal", text="Dear Reviewer A1bC, kites fly.")
    assert address([*REVIEWS, first, post("x", 3, AUTHORS, title="Rebuttal (Part 2)")]) == ([A], "part", [])


GREETS_B = post("x", 3, AUTHORS, "A", title="Response to Reviewer B2cD", text="Kites fly.")


def test_a_certainly_misplaced_post_is_moved() -> None:
    assert address([*REVIEWS, GREETS_B]) == ([B], "title", [B])


@pytest.mark.parametrize(
    "more",
    [
        [post("b", 2, AUTHORS, "B")],
        [post("b", 2, AUTHORS, title="Response to Reviewer B2cD")],
        [post("r", 4, REVIEWER, "x")],
    ],
)
def test_a_possibly_misplaced_post_is_flagged(more: list[Post]) -> None:
    assert address([*REVIEWS, GREETS_B, *more]) == ([A], "tree", [B])


def test_invented_numbers_move_no_reply() -> None:
    answers = [post(f"a{n}", 5, AUTHORS, f"r{n}", title=f"Response to Reviewer {5 - n}") for n in (1, 2, 3, 4)]
    assert address([*NUMBERED, *answers], "a1") == (["AnonReviewer1"], "tree", ["AnonReviewer4"])


@pytest.mark.parametrize(
    "text",
    ["We thank Reviewer B2cD for the idea.", "As Reviewer B2cD notes, kites fly.", "Reviewer B2cD asked the same."],
)
def test_mentioning_another_reviewer_is_not_a_greeting(text: str) -> None:
    assert address([*REVIEWS, post("x", 3, AUTHORS, "A", text=text)]) == ([A], "tree", [])


@pytest.mark.parametrize(
    "title",
    [
        *(
            *("Extension to PC", "Extension to AC circuits", "Comparison to PCs", "AC power flow"),
            "Response to meta-learning",
        ),
        *("Chair detection: results", "Response to AC-OPF question", "On confidential data", "Response to Reviewer 2"),
    ],
)
def test_another_title_is_no_letter(title: str) -> None:
    assert (find_letter(title, is_title=True), is_confidential(title)) == (None, False)


@pytest.mark.parametrize(
    ("title", "text", "below", "owner"),
    [
        ("Response to Reviewer B2cD", "Dear Reviewer B2cD, as Reviewer A1bC says, it flies.", [], B),
        ("Response to Reviewer B2cD", "Thanks. As Reviewer A1bC says, it flies.", [], A),
        ("Response to Reviewer B2cD", "Thanks.", [post("r", 4, OTHER, "x")], B),
        ("Response to Reviewer B2cD", "Dear Reviewer B2cD, it flies.", [post("r", 4, REVIEWER, "x")], A),
        ("Response to Reviewer B2cD", "Dear Reviewer A1bC, it flies.", [], A),
        ("On Reviewer B2cD", "Reviewer B2cD is wrong.", [], A),
    ],
)
def test_title_and_greeting_move_a_post(title: str, text: str, below: list[Post], owner: str) -> None:
    answer = post("b", 2, AUTHORS, "B")
    posts = {
        one.post_id: one
        for one in address_posts([*REVIEWS, answer, post("x", 3, AUTHORS, "A", title=title, text=text), *below])
    }
    assert posts["x"].addressed_to == (owner,)
