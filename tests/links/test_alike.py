"""What says that two papers are one work, and what does not."""

from dataclasses import replace

import pytest

from peercorpus.links.alike import (
    BY_ABSTRACT,
    BY_BOTH,
    BY_SOME_TEXT,
    BY_TEXT,
    BY_TITLE,
    FEWEST_RUNS,
    Compared,
    head_of,
    runs_of,
    share,
    text_share,
)

CLOUDS = "Counting the White Clouds of Three Towns"
ABSTRACT = (
    "We count clouds above three towns. A camera looks up, and each picture is cut into squares of equal size. Adding"
    " up the white ones gives a count that is exact, and lower than was thought since 1802."
)
OTHER = (
    "Rivers carry more sand in spring than in autumn. From the records of forty gauges we learn how much, and show that"
    " neither rain nor melting snow alone can tell it; a model with both halves the error."
)
EDITED = ABSTRACT.replace("A camera looks up, and each picture", "Each picture of a camera").replace("exact", "right")


def rule(one: tuple[str | None, str | None], other: tuple[str | None, str | None], text: float | None = None) -> object:
    heads = head_of(*one), head_of(*other)
    return replace(Compared(heads).likeness(*heads), text=text).rule()


def words(start: int, count: int) -> str:
    """A text of which no two words are equal."""
    return " ".join(
        f"w{chr(97 + n // 676 % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(start, start + count)
    )


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((CLOUDS, ABSTRACT), (CLOUDS.upper(), ABSTRACT), BY_ABSTRACT),
        ((CLOUDS, ABSTRACT), ("A Wholly New Name", ABSTRACT), BY_ABSTRACT),
        ((None, ABSTRACT), (CLOUDS, ABSTRACT), BY_ABSTRACT),
        ((CLOUDS, ABSTRACT), ("Counting White Clouds of Three Cities", EDITED), BY_ABSTRACT),
        ((CLOUDS, ABSTRACT), (CLOUDS, OTHER + " " + ABSTRACT[:100]), BY_BOTH),
        ((CLOUDS, ABSTRACT), (CLOUDS, OTHER + " " + ABSTRACT[:60]), BY_TITLE),
        ((CLOUDS, "We count."), (CLOUDS, "We count!"), BY_TITLE),
        ((CLOUDS, ABSTRACT), (CLOUDS, OTHER), None),
        ((CLOUDS, None), (CLOUDS, None), None),
        ((CLOUDS, ABSTRACT), (CLOUDS, None), None),
        (("Introduction", None), ("Introduction", None), None),
        (("Introduction", "We introduce."), ("Introduction", "We introduce."), None),
        (("Clouds", "We count."), ("Rivers", "We count."), None),
        ((CLOUDS + ", Part I", ABSTRACT), (CLOUDS + ", Part II", ABSTRACT), None),
        (("The Cloud Challenge 2023", ABSTRACT), ("The Cloud Challenge 2024", ABSTRACT), None),
        (("", ""), ("", ""), None),
    ],
)
def test_without_texts_titles_and_abstracts_decide(
    one: tuple[str | None, str | None], other: tuple[str | None, str | None], expected: str | None
) -> None:
    assert rule(one, other) == rule(other, one) == expected


@pytest.mark.parametrize(
    ("one", "other", "text", "expected"),
    [
        ((CLOUDS, ABSTRACT), (CLOUDS, OTHER), 0.4, BY_TEXT),
        ((CLOUDS, None), (CLOUDS, None), 0.9, BY_TEXT),
        ((CLOUDS + " I", ABSTRACT), (CLOUDS + " II", ABSTRACT), 0.9, BY_TEXT),
        ((CLOUDS, ABSTRACT), (CLOUDS, OTHER), 0.2, BY_SOME_TEXT),
        ((CLOUDS + " I", ABSTRACT), (CLOUDS + " II", ABSTRACT), 0.2, None),
        ((CLOUDS, ABSTRACT), ("Of Rivers", OTHER), 0.2, None),
        ((CLOUDS, ABSTRACT), (CLOUDS, ABSTRACT), 0.1, None),
    ],
)
def test_where_both_texts_are_held_they_decide(
    one: tuple[str | None, str | None], other: tuple[str | None, str | None], text: float, expected: str | None
) -> None:
    assert rule(one, other, text) == expected


def test_a_similarity_is_none_where_a_side_lacks_it() -> None:
    heads = head_of(CLOUDS, None), head_of(None, ABSTRACT)
    found = Compared(heads).likeness(*heads)
    assert (found.title, found.abstract, found.text) == (None, None, None)
    assert not found.may_be_one()
    assert share({"a", "b"}, {"b", "c"}) == pytest.approx(1 / 3)


def test_what_many_papers_say_does_not_make_two_of_them_one_work() -> None:
    heads = [
        head_of(
            f"{name} {CLOUDS}", f"{ABSTRACT} With {name} we sort {' '.join(f'{name}{number}' for number in range(14))}."
        )
        for name in "abcdefghijkl"
    ]
    many, few = Compared(heads), Compared(heads[:4])
    assert few.likeness(*heads[:2]).rule() == BY_ABSTRACT
    assert many.likeness(*heads[:2]).rule() is None
    assert not many.likeness(*heads[:2]).may_be_one()
    assert many.likeness(heads[0], heads[0]).rule() == BY_ABSTRACT


def test_texts_are_compared_without_references_checklist_and_numbers() -> None:
    body, more = words(0, 400), words(1_000, 400)
    references = "\n## References\n" + words(2_000, 400)
    checklist = "\n# NeurIPS Paper Checklist\n" + words(3_000, 400)
    appendix = "\n## Appendix\n" + words(4_000, 10)
    one, other = runs_of(body + references + checklist), runs_of(more + references + checklist)
    assert text_share(one, other) == 0
    assert runs_of(body + references) == runs_of(body)
    assert runs_of(body + references + appendix) > runs_of(body)
    assert runs_of("1 2 3\n" + body.replace(" ", " 7 ")) == runs_of(body)


def test_a_text_that_was_added_to_is_the_same_and_a_short_one_says_nothing() -> None:
    body = words(0, 400)
    assert text_share(runs_of(body), runs_of(body + " " + words(1_000, 2_000))) == 1
    assert text_share(runs_of(words(0, FEWEST_RUNS)), runs_of(body)) is None
    assert text_share(runs_of(""), runs_of(body)) is None


@pytest.mark.parametrize("name", ["References", "## References", "**References**", "7 References", "BIBLIOGRAPHY"])
def test_references_are_known_by_their_heading(name: str) -> None:
    assert runs_of(f"{words(0, 50)}\n{name}\n{words(500, 50)}") == runs_of(words(0, 50))
