"""Which part of an answer a post is according to its title, and the single title of a turn."""

import pytest

from invented_posts import AUTHORS, post
from peercorpus.discussion.multipart import merge_titles, read_part, sort_by_reading_order


@pytest.mark.parametrize(
    ("title", "stem", "number"),
    [
        ("Response (1/2)", "Response", 1),
        ("Response to Reviewer #3 (2/2)", "Response to Reviewer #3", 2),
        ("Response to Reviewer NkPg (Part 1)", "Response to Reviewer NkPg", 1),
        ("[2/3] Rebuttal", "Rebuttal", 2),
        ("Rebuttal part II", "Rebuttal", 2),
        ("Part II: experiments", "experiments", 2),
        ("Author Response 2 of 3", "Author Response", 2),
        ("Response to Reviewer AbCd - Part 2/3", "Response to Reviewer AbCd", 2),
        ("Response to R1 1/2", "Response to R1", 1),
        ("Reply (2)", "Reply", 2),
        ("Rebuttal [3/n]", "Rebuttal", 3),
        ("Rebuttal - Part B", "Rebuttal", 2),
        ("Answer cont'd", "Answer", None),
        ("Answer (continued)", "Answer", None),
        ("Point-by-point response - first half", "Point-by-point response", 1),
        ("point-by-point response- second half", "point-by-point response", 2),
        ("Rebuttal (II)", "Rebuttal", 2),
        ("Rebuttal 2/n", "Rebuttal", 2),
        ("Rebuttal II", "Rebuttal", 2),
        ("Response_part2", "Response_", 2),
        ("Rebuttal \uff081/2\uff09", "Rebuttal", 1),
        ("Part 2 (of 3)", "", 2),
        ("Author Response 2", "Author Response", 2),
        ("Response #3", "Response", 3),
        ("Response to X - 2", "Response to X", 2),
        ("Response to Reviewer AbCd (2nd part)", "Response to Reviewer AbCd", 2),
        ("Response to Reviewer AbCd (to be continued)", "Response to Reviewer AbCd", None),
        ("Response to Reviewer AbCd cont.", "Response to Reviewer AbCd", None),
        ("Response to Reviewer - 2", "Response to Reviewer - 2", None),
        ("Response to Reviewer (2)", "Response to Reviewer (2)", None),
        ("Response to questions 1 - 2", "Response to questions 1 - 2", None),
        ("Response to Q2", "Response to Q2", None),
        ("Response to rebuttal 2", "Response to rebuttal 2", None),
        ("Rebuttal: round 2", "Rebuttal: round 2", None),
        ("Rebuttal 2 weeks late", "Rebuttal 2 weeks late", None),
        ("See Table 2", "See Table 2", None),
        ("Response to AnonReviewer2", "Response to AnonReviewer2", None),
        ("Response to Part B of Theorem 1", "Response to Part B of Theorem 1", None),
        ("Response to Reviewer 2", "Response to Reviewer 2", None),
        ("Response to W1/W2", "Response to W1/W2", None),
        ("Training on ImageNet (2012)", "Training on ImageNet (2012)", None),
        ("On 24/7 data", "On 24/7 data", None),
        ("Part of the answer", "Part of the answer", None),
        ("", "", None),
    ],
)
def test_a_title_has_part_and_stem(title: str, stem: str, number: int | None) -> None:
    part = read_part(title)
    assert (part.stem, part.number) == (stem, number)


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["Response (1/2)", "Response (2/2)"], "Response"),
        (["A question", "Response (1/2)", "Response (2/2)"], "Response"),
        (["Response (2/2)"], "Response"),
        (["Leaving the same score (8)"], "Leaving the same score (8)"),
        (["Update on 11/20"], "Update on 11/20"),
        (["Reply (1)", "Reply (2)"], "Reply"),
        ([None, "Second"], "Second"),
        (["First", "Second"], "First"),
        (["(2/2)"], "(2/2)"),
        ([None, None], None),
    ],
)
def test_a_turn_has_one_title(titles: list[str | None], expected: str | None) -> None:
    assert merge_titles([post(str(n), n, AUTHORS, title=title) for n, title in enumerate(titles)]) == expected


def test_only_parts_are_sorted() -> None:
    titles = ["Note", "Answer (2/2)", "Answer (1/2)", "Thanks"]
    posts = [post(title, day, AUTHORS, title=title) for day, title in enumerate(titles)]
    assert [one.post_id for one in sort_by_reading_order(posts)] == ["Note", "Answer (1/2)", "Answer (2/2)", "Thanks"]


def test_equal_names_stay_in_time_order() -> None:
    titles = ["Reply (1/2)", "Reply (2/2)", "Reply (1/2)", "Reply (2/2)"]
    posts = [post(str(day), day, AUTHORS, title=title) for day, title in enumerate(titles)]
    assert [one.post_id for one in sort_by_reading_order(posts)] == ["0", "1", "2", "3"]


def test_a_first_line_may_state_the_part() -> None:
    posts = [
        post("b", 1, AUTHORS, text="**Response (2/2)**\n\nMore."),
        post("a", 2, AUTHORS, text="**Response (1/2)**\n\nOne."),
    ]
    assert [one.post_id for one in sort_by_reading_order(posts)] == ["a", "b"]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (["To X (Part 2)", "To X"], ["To X", "To X (Part 2)"]),
        (["To X (cont.)", "To X"], ["To X", "To X (cont.)"]),
        (["To X (continued)", "To X (2/2)", "To X"], ["To X", "To X (2/2)", "To X (continued)"]),
        (["Author Response 2", "Author Response 1"], ["Author Response 1", "Author Response 2"]),
        (["To X - 2", "To X"], ["To X", "To X - 2"]),
        (["Response (3)", "Response (2)", "Response"], ["Response", "Response (2)", "Response (3)"]),
        (["To X Part II", "to x"], ["to x", "To X Part II"]),
        (["To X (Part 2)", "To X (to be continued)"], ["To X (to be continued)", "To X (Part 2)"]),
        (["Response to Reviewer 2", "Response to Reviewer 1"], ["Response to Reviewer 2", "Response to Reviewer 1"]),
        (["Round 2", "Round 1"], ["Round 2", "Round 1"]),
        (["To X (2/2)", "To X", "To X (1/2)"], ["To X (1/2)", "To X", "To X (2/2)"]),
        (["To X (Part 2)", "To Y"], ["To X (Part 2)", "To Y"]),
    ],
)
def test_a_stem_alone_is_part_one(listed: list[str], expected: list[str]) -> None:
    posts = [post(title, 1, AUTHORS, "A", title=title) for title in listed]
    assert [one.post_id for one in sort_by_reading_order(posts)] == expected


def test_the_parent_of_part_two_is_first() -> None:
    posts = [post(name, 1, AUTHORS, "A", title="Answer") for name in "ab"]
    second = post("2", 1, AUTHORS, "b", title="Answer (Part 2)")
    assert [one.post_id for one in sort_by_reading_order([second, *posts])] == ["b", "a", "2"]
    unlinked = post("2", 1, AUTHORS, "A", title="Answer (Part 2)")
    assert [one.post_id for one in sort_by_reading_order([unlinked, *posts])] == ["2", "a", "b"]


def test_a_post_elsewhere_is_not_a_first_part() -> None:
    posts = [post("2", 1, AUTHORS, "A", title="Answer (Part 2)"), post("1", 2, AUTHORS, "r", title="Answer")]
    assert [one.post_id for one in sort_by_reading_order(posts)] == ["2", "1"]


def test_part_two_always_comes_second() -> None:
    posts = [post("2", 1, AUTHORS, "A", title="Answer (Part 2)"), post("1", 2, AUTHORS, "2", title="Answer")]
    assert [one.post_id for one in sort_by_reading_order(posts)] == ["1", "2"]


@pytest.mark.parametrize("title", ["Response continued (II)", "Response, cont'd (2/2)", "Response (continued II)"])
def test_a_continuation_follows_a_first_part_posted_later(title: str) -> None:
    later = post("one", 2, AUTHORS, "A", title="Response")
    assert [one.post_id for one in sort_by_reading_order([post("two", 1, AUTHORS, "A", title=title), later])] == [
        "one",
        "two",
    ]
