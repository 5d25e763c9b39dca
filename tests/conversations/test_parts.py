"""Which part of an answer a title says a post is, and the one title of a turn."""

import pytest

from invented_posts import AUTHORS, post
from peercorpus.parts import in_reading_order, read_part, title_of


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
        ("Response to Part B of Theorem 1", "Response to Part B of Theorem 1", None),
        ("Response to Reviewer 2", "Response to Reviewer 2", None),
        ("Response to W1/W2", "Response to W1/W2", None),
        ("Training on ImageNet (2012)", "Training on ImageNet (2012)", None),
        ("On 24/7 data", "On 24/7 data", None),
        ("Part of the answer", "Part of the answer", None),
        ("", "", None),
    ],
)
def test_the_mark_of_a_part_is_read_and_the_rest_is_the_stem(title: str, stem: str, number: int | None) -> None:
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
    assert title_of([post(str(n), n, AUTHORS, title=title) for n, title in enumerate(titles)]) == expected


def test_parts_are_ordered_in_the_places_they_hold_and_all_else_stays() -> None:
    titles = ["Note", "Answer (2/2)", "Answer (1/2)", "Thanks"]
    posts = [post(title, day, AUTHORS, title=title) for day, title in enumerate(titles)]
    assert [one.post_id for one in in_reading_order(posts)] == ["Note", "Answer (1/2)", "Answer (2/2)", "Thanks"]


def test_two_answers_with_parts_of_one_name_keep_the_order_of_time() -> None:
    titles = ["Reply (1/2)", "Reply (2/2)", "Reply (1/2)", "Reply (2/2)"]
    posts = [post(str(day), day, AUTHORS, title=title) for day, title in enumerate(titles)]
    assert [one.post_id for one in in_reading_order(posts)] == ["0", "1", "2", "3"]


def test_a_post_without_a_title_may_say_its_part_in_its_first_line() -> None:
    posts = [
        post("b", 1, AUTHORS, text="**Response (2/2)**\n\nMore."),
        post("a", 2, AUTHORS, text="**Response (1/2)**\n\nOne."),
    ]
    assert [one.post_id for one in in_reading_order(posts)] == ["a", "b"]
