"""Points about the same paper that make the same criticism, by their rare words and the places they name."""

import pytest

from peercorpus.criticism.matching import (
    MAX_POINTS,
    Criticism,
    PointMatcher,
    group_points,
    read_criticism,
    read_criticisms,
)

FIRST = "Weaknesses:\n- The kites were flown on one beach only.\n- There is no comparison with balloons."
SECOND = "Weaknesses:\n- Kites flown on a single beach prove little.\n- The glue is not described."
THIRD = "Weaknesses:\n- All kites flew over the same beach.\n- Balloons would be a fair comparison.\n- Typos abound."


def points(*texts: str) -> list[list[Criticism]]:
    return [read_criticisms(text) for text in texts]


def matcher(*texts: str) -> PointMatcher:
    return PointMatcher(point for each in points(*texts) for point in each)


def test_only_critical_points_are_compared_and_praise_is_not() -> None:
    review = "Strengths:\n- Elegant kites.\n\nWeaknesses:\n- The string breaks.\n\nQuestions:\n- Why hemp?"
    assert [sorted(one.words) for one in read_criticisms(review)] == [["break", "str"], ["hemp"]]


def test_references_to_places_are_read_under_their_usual_names() -> None:
    assert read_criticism("See Fig. 2 and figure 3.").places == {("figure", "2"), ("figure", "3")}


def test_a_score_equals_one_computed_by_hand() -> None:
    one, other = (Criticism(frozenset(words), frozenset()) for words in ({"kit", "beach"}, {"beach", "glu"}))
    known = PointMatcher([one, other])
    # Two points: ln(1 + 3/1.5) for a word of one of them, ln(1 + 3/2.5) for one of both, by the first, squared.
    common = (0.788457 / 1.098612) ** 2
    expected = 2 * common / (0.5 + 2 * (1 + common))
    assert known.score(one, other) == pytest.approx(expected, abs=1e-6)
    assert known.score(one, other) == known.score(other, one)


def test_identical_words_match() -> None:
    common = Criticism(frozenset({"kit"}), frozenset())
    known = PointMatcher([common] * 30)
    assert known.score(common, common) == 1.0
    assert known.score(common, Criticism(frozenset({"glu"}), frozenset())) == 0.0


def test_a_rare_word_counts_more() -> None:
    rare, usual = ({"hemp"}, {"kit"})
    held = [Criticism(frozenset(words), frozenset()) for words in ({"kit", "a1"}, {"kit", "b1"}, {"kit", "hemp"})]
    known = PointMatcher(held)
    scores = [
        known.score(Criticism(frozenset(word | {"x1"}), frozenset()), Criticism(frozenset(word | {"y1"}), frozenset()))
        for word in (rare, usual)
    ]
    assert scores[0] > scores[1] > 0


def test_points_on_other_figures_never_match() -> None:
    known = matcher(FIRST, SECOND, THIRD)
    figures = [read_criticism(f"The axis of Figure {number} lacks a unit.") for number in (2, 3, 2)]
    figures[2] = read_criticism("In Fig. 2 I miss a unit.")
    other = read_criticism("I miss a unit.")
    assert known.score(figures[0], figures[1]) == 0.0
    assert known.score(figures[0], figures[2]) > known.score(figures[0], other) > 0


def test_several_reviewers_points_are_one_group() -> None:
    groups = group_points(points(FIRST, SECOND, THIRD), matcher(FIRST, SECOND, THIRD))
    assert sorted(map(sorted, groups)) == [
        [(0, 0), (1, 0), (2, 0)],
        [(0, 1), (2, 1)],
        [(1, 1)],
        [(2, 2)],
    ]
    twice = points("Weaknesses:\n- The glue is old.\n- The glue is old.")
    assert sorted(map(sorted, group_points(twice, PointMatcher(twice[0])))) == [[(0, 0)], [(0, 1)]]


def test_the_order_of_reviews_changes_no_group() -> None:
    texts = [FIRST, SECOND, THIRD]
    read = points(*texts)
    known = matcher(*texts)

    def contents(order: list[int]) -> set[frozenset[Criticism]]:
        reviews = [read[place] for place in order]
        return {frozenset(reviews[at][place] for at, place in group) for group in group_points(reviews, known)}

    assert contents([0, 1, 2]) == contents([2, 0, 1]) == contents([1, 2, 0])


def test_of_many_points_the_first_count() -> None:
    many = "Weaknesses:\n" + "\n".join(f"- The kite number k{number} falls." for number in range(MAX_POINTS + 5))
    read = read_criticisms(many)
    assert len(read) == MAX_POINTS
    assert "k0" in read[0].words
