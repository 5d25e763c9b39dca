"""What shows that two papers are the same work, and what does not."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from naming import Naming
from peercorpus.links import similarity
from peercorpus.links.similarity import (
    BY_ABSTRACT,
    BY_AUTHORS,
    BY_BOTH,
    BY_SOME_TEXT,
    BY_TEXT,
    BY_TITLE,
    BY_TITLE_ALONE,
    Likeness,
    PaperComparer,
    RareTerms,
    find_word_runs,
    normalise_head,
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
    heads = normalise_head(*one), normalise_head(*other)
    return replace(PaperComparer(heads).likeness(*heads), text=text).rule()


def words(start: int, count: int) -> str:
    """A text without repeated words."""
    return " ".join(
        f"w{chr(97 + n // 676 % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(start, start + count)
    )


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((CLOUDS, ABSTRACT), (CLOUDS.upper(), ABSTRACT), BY_ABSTRACT),
        ((CLOUDS, ABSTRACT), ("Cloudy Towns", ABSTRACT), BY_ABSTRACT),
        ((CLOUDS, ABSTRACT), ("A Wholly New Name", ABSTRACT), None),
        ((CLOUDS, ABSTRACT), ("The Sand of Rivers", ABSTRACT), None),
        ((None, ABSTRACT), (CLOUDS, ABSTRACT), BY_ABSTRACT),
        ((CLOUDS, ABSTRACT), ("Counting White Clouds of Three Cities", EDITED), BY_ABSTRACT),
        ((CLOUDS, ABSTRACT), (CLOUDS, OTHER + " " + ABSTRACT[:100]), BY_BOTH),
        ((CLOUDS, ABSTRACT), (CLOUDS, OTHER + " " + ABSTRACT[:60]), BY_TITLE),
        ((CLOUDS, "We count."), (CLOUDS, "We count!"), BY_TITLE),
        ((CLOUDS, ABSTRACT), (CLOUDS, OTHER), None),
        ((CLOUDS, None), (CLOUDS, None), BY_TITLE_ALONE),
        ((CLOUDS, ABSTRACT), (CLOUDS.upper() + ".", " "), BY_TITLE_ALONE),
        ((CLOUDS, None), ("Counting the White Clouds of Four Towns", None), None),
        ((CLOUDS + ", Part I", None), (CLOUDS + ", Part II", None), None),
        (("Untitled", None), ("Untitled", None), None),
        (("Response to the Reviewers' Comments", None), ("Response to the Reviewers' Comments", None), None),
        (
            ("Extended Abstract: Workshop Submission 12", None),
            ("Extended Abstract: Workshop Submission 12", None),
            None,
        ),
        (("Of Clouds", None), ("Of Clouds", None), None),
        (("Introduction", None), ("Introduction", None), None),
        (("Introduction", "We introduce."), ("Introduction", "We introduce."), None),
        (("Clouds", "We count."), ("Rivers", "We count."), None),
        ((CLOUDS + ", Part I", ABSTRACT), (CLOUDS + ", Part II", ABSTRACT), None),
        (("The Cloud Challenge 2023", ABSTRACT), ("The Cloud Challenge 2024", ABSTRACT), None),
        (("", ""), ("", ""), None),
    ],
)
def test_without_texts_heads_decide(
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
def test_texts_decide_if_both_are_available(
    one: tuple[str | None, str | None], other: tuple[str | None, str | None], text: float, expected: str | None
) -> None:
    assert rule(one, other, text) == expected


def test_common_phrases_link_no_papers() -> None:
    heads = [
        normalise_head(
            f"{name} {CLOUDS}", f"{ABSTRACT} With {name} we sort {' '.join(f'{name}{number}' for number in range(14))}."
        )
        for name in "abcdefghijkl"
    ]
    many, few = PaperComparer(heads), PaperComparer(heads[:4])
    assert few.likeness(*heads[:2]).rule() == Naming("abstracts", "texts cannot be compared")
    assert many.likeness(*heads[:2]).rule() is None
    assert not many.likeness(*heads[:2]).may_be_one()
    assert many.likeness(heads[0], heads[0]).rule() == Naming("abstracts", "texts cannot be compared")


def test_texts_are_compared_without_references_checklist_and_numbers() -> None:
    body, more = words(0, 400), words(1_000, 400)
    references = "\n## References\n" + words(2_000, 400)
    checklist = "\n# NeurIPS Paper Checklist\n" + words(3_000, 400)
    appendix = "\n## Appendix\n" + words(4_000, 10)
    one, other = find_word_runs(body + references + checklist), find_word_runs(more + references + checklist)
    assert text_share(one, other) == 0
    assert find_word_runs(body + references) == find_word_runs(body)
    assert find_word_runs(body + references + appendix) > find_word_runs(body)
    assert find_word_runs("1 2 3\n" + body.replace(" ", " 7 ")) == find_word_runs(body)


def test_an_extended_text_is_the_same_work() -> None:
    body = words(0, 400)
    assert text_share(find_word_runs(body), find_word_runs(body + " " + words(1_000, 2_000))) == 1
    assert text_share(find_word_runs(words(0, 300)), find_word_runs(body)) is None
    assert text_share(find_word_runs(""), find_word_runs(body)) is None


ADA = ("Ada Lüft", "Bo Nebel", "Cem de la Wolke")


def rule_of_authors(one: Sequence[str], other: Sequence[str], title: str = CLOUDS, text: float | None = None) -> object:
    heads = normalise_head(CLOUDS, ABSTRACT, one), normalise_head(title, OTHER, other)
    if title != CLOUDS:
        heads = normalise_head(title, ABSTRACT, one), normalise_head(title, OTHER, other)
    return replace(PaperComparer(heads).likeness(*heads), text=text).rule()


@pytest.mark.parametrize(
    "other",
    [
        ADA,
        ADA[::-1],
        ("ada luft", "BO NEBEL", "C. Wolke"),
        ("Lüft, Ada", "Nebel, Bo"),
        ("A. Luft", "New Author"),
        ADA[:1],
    ],
)
def test_title_and_authors_link_rewritten_abstracts(other: tuple[str, ...]) -> None:
    assert rule_of_authors(ADA, other) == rule_of_authors(other, ADA) == BY_AUTHORS
    assert rule_of_authors(ADA, other, text=0.05) == BY_AUTHORS
    assert rule_of_authors(ADA, other, "Cloud Towns") == BY_AUTHORS


@pytest.mark.parametrize("other", [(), ("Anonymous",), ("Dot Fern", "Eve Gras"), ("Ada Fern", "Bo Gras"), ("Xu Lüft",)])
def test_equal_titles_by_others_link_nothing(other: tuple[str, ...]) -> None:
    assert rule_of_authors(ADA, other) is None
    assert rule_of_authors(ADA, other, text=0.05) is None


@pytest.mark.parametrize("title", ["Untitled", "Reply", "Author Response", "Supplementary Material", "Clouds", "2024"])
def test_a_generic_title_links_nothing(title: str) -> None:
    assert rule_of_authors(ADA, ADA, title) is None


def test_a_new_title_by_the_same_authors() -> None:
    heads = normalise_head(CLOUDS, ABSTRACT, ADA), normalise_head("A Wholly New Name", ABSTRACT, ADA[:2])
    assert PaperComparer(heads).likeness(*heads).rule() == BY_ABSTRACT


SHORT = "We count white clouds above three towns and find that they are fewer than was thought."
LONG = f"{SHORT} A camera looks up, and each picture is cut into squares."
"""The short one contains more than half of its word pairs."""


@pytest.fixture(autouse=True)
def _few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count words in fewer buckets, which is enough for two papers and fast."""
    monkeypatch.setattr(similarity, "COUNTER_SLOTS", 1 << 12)


def likeness(one: str, other: str) -> Likeness:
    """Return the similarity of two papers with different titles."""
    heads = normalise_head("Clouds Over Town", one), normalise_head("What a Camera Sees of Clouds", other)
    return PaperComparer(heads).likeness(*heads)


def test_a_short_abstract_does_not_make_two_papers_similar() -> None:
    shorter = " ".join(SHORT.split()[:14])
    found = likeness(shorter, " ".join(LONG.split()[:26]))
    assert found.abstract is not None
    assert found.abstract >= 0.5
    assert found.rule() is None
    assert not found.may_be_one()


def test_two_abstracts_just_long_enough_make_papers_similar() -> None:
    assert likeness(SHORT, SHORT).rule() == Naming("abstracts", "texts cannot be compared")


def test_a_phrase_may_be_in_some_papers() -> None:
    papers = [[f"own {number}", "all", *(["some"] if number % 200 == 0 else [])] for number in range(2_000)]
    telling = RareTerms(papers)
    assert telling.of(["all", "some", "own 7"]) == {"some", "own 7"}
    assert RareTerms(papers, most_share=0.001).of(["all", "some", "own 7"]) == {"own 7"}
