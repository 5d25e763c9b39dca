"""Floats are compared separately, wherever they are placed, and split no sentence."""

import pytest

from peercorpus.links.version_diff import TextComparison, find_differences
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import ChangeKind

FIRST = "Clouds are counted by all who look\n"
REST = "up on a bright day in the afternoon. It is known to few.\n"
CAPTION = "Figure 1: A cloud above the town, as one sees it in the\nafternoon from a hill.\n"
NOTE = "1Nobody asked us to count them, and we were not paid.\n"


def told(comparison: TextComparison) -> list[tuple[str, str, str]]:
    return [(one.kind.value, one.before, one.after) for one in comparison.passages]


@pytest.mark.parametrize(
    "later",
    [
        f"{FIRST}{CAPTION}{REST}{NOTE}",
        f"{FIRST}{NOTE}3{PAGE_BREAK}{CAPTION}{REST}",
        f"{FIRST}{NOTE}{CAPTION}{REST}",
        f"{FIRST}\n{CAPTION}\n{REST}\n{NOTE}",
    ],
    ids=["inside a sentence", "over a page's end", "behind a footnote", "as paragraphs of Markdown"],
)
def test_a_moved_float_is_not_a_change(later: str) -> None:
    earlier = f"Abstract\n{CAPTION}{FIRST}{REST}{NOTE}"
    assert find_differences(earlier, f"Abstract\n{later}") == TextComparison((), 4, 4, 4)


def test_a_changed_caption_is_reported_without_the_sentence_around_it() -> None:
    later = f"Abstract\n{FIRST}{CAPTION.replace('hill', 'tower')}{REST}"
    ((kind, before, after),) = told(find_differences(f"Abstract\n{FIRST}{REST}{CAPTION}", later))
    assert (kind, before, after) == ("changed", CAPTION.strip(), CAPTION.replace("hill", "tower").strip())


@pytest.mark.parametrize("between", ["", "\n"])
def test_a_renumbered_footnote_is_not_a_change(between: str) -> None:
    earlier, later = (
        f"Abstract\nWe count them.{between}{number} It is fun.\n{number}{between}{NOTE[1:]}" for number in (1, 12)
    )
    assert find_differences(earlier, later) == TextComparison((), 3, 3, 3)


def test_a_figure_reference_at_the_start_of_a_line_is_not_a_caption() -> None:
    earlier = "Abstract\nThe number of clouds is shown in\nFigure 1. They are all white."
    ((kind, _, after),) = told(find_differences(earlier, earlier.replace("number", "weight")))
    assert (kind, after) == ("changed", "The weight of clouds is shown in\nFigure 1.")


@pytest.mark.parametrize("above", ["", "Our words. We"])
def test_text_of_a_figure_at_the_top_of_a_page_belongs_to_it(above: str) -> None:
    figure = "0 1 2\nClouds\nTowns\n"
    earlier = f"Abstract\n{above}{FIRST}{figure}{CAPTION}{REST}"
    later = f"Abstract\n{above}{FIRST}7{PAGE_BREAK}{figure}{CAPTION}{REST}"
    passages = find_differences(later, later.replace("0 1 2", "0 5 9")).passages
    assert [(one.kind, one.after) for one in passages] == [(ChangeKind.CHANGED, "0 5 9\nClouds\nTowns")]
    assert len(find_differences(earlier, later).passages) > 0


def test_a_proceedings_notice_is_not_a_change() -> None:
    review = "Preliminary work. Under review by the International Conference\non Clouds. Do not distribute.\n"
    final = "Proceedings of the 36 th International Conference on\nClouds, 2019. Copyright 2019 by the author(s).\n"
    earlier, later = (f"Abstract\n{FIRST}{notice}{REST}" for notice in (review, final))
    assert find_differences(earlier, later).passages == ()


def test_the_title_is_distinguished_from_the_authors() -> None:
    earlier = "On Clouds\nAnonymous authors\nAbstract\nWe do."
    later = "On Clouds\nA. Smith\nB. Brown\nAbstract\nWe do."
    assert told(find_differences(earlier, later)) == [
        ("removed", "Anonymous authors", ""),
        ("added", "", "A. Smith\nB. Brown"),
    ]


@pytest.mark.parametrize("bullet", ["\u2022", "-", "*"])
def test_a_list_item_is_a_sentence(bullet: str) -> None:
    earlier = f"Abstract\nWe have:\n{bullet} a cloud\n{bullet} a camera"
    later = f"{earlier}\n{bullet} a hill"
    assert told(find_differences(earlier, later)) == [("added", "", f"{bullet} a hill")]


def test_without_full_stops_a_full_line_continues_on_the_next() -> None:
    rows = "\n".join(f"a{number} b" for number in range(250))
    earlier = f"Abstract\n{rows}\nIt is as bright as day up\nhere"
    later = f"Abstract\n{rows}\nIt is as bright as day\nup here"
    assert find_differences(earlier, later).passages == ()


def test_a_moved_and_changed_sentence_is_reported_once() -> None:
    earlier = "Abstract\nWe count all the clouds. Rain falls. Nobody asked for it."
    later = "Abstract\nRain falls. Nobody asked for it. We count most of the clouds."
    assert told(find_differences(earlier, later)) == [
        ("changed", "We count all the clouds.", "We count most of the clouds.")
    ]
