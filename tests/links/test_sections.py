"""Markdown is compared block by block: rows as rows, formulas as units, prose across page breaks."""

import time

import pytest

from peercorpus.links.sections import read_text_sections
from peercorpus.links.version_diff import TextComparison, find_differences
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import ChangeKind
from revised_papers import CASES, KINDS, Revision, find_truth, render, revise, score

HEAD = "# On Clouds\n\nAnonymous authors\n\n## Abstract\n\n"
FIRST, REST = "We count, as is usual and in spite of the rain,", "Boltzmann clouds on a bright day. It is known to few."
CAPTION = "Figure 1: A cloud above the town."
NOTE = "<sup>1</sup>Nobody asked us to count them."
TABLE = "| Town | Clouds |\n| --- | --- |\n| Ulm | 17 |\n| Bern | -4 |"
FORMULA = r"$$a = \frac{1}{2}b,$$ (3)"


def told(earlier: str, later: str) -> list[tuple[str, str, str]]:
    passages = find_differences(HEAD + earlier, HEAD + later).passages
    return [(one.kind.value, one.before, one.after) for one in passages]


@pytest.mark.parametrize(
    "later",
    [
        f"{FIRST}\n\n{CAPTION}\n\n{REST}\n\n{NOTE}",
        f"{FIRST}\n\n{NOTE}{PAGE_BREAK}{CAPTION}\n\n{REST}",
        f"{FIRST}{PAGE_BREAK}{REST}\n\n{NOTE}\n\n{CAPTION}",
        f"{FIRST}\n\n7{PAGE_BREAK}{REST}\n\n{NOTE.replace('1', '12')}\n\n{CAPTION}",
    ],
    ids=["behind a caption", "behind a page with both", "behind a page", "with another number"],
)
def test_a_sentence_continues_across_page_furniture(later: str) -> None:
    earlier = f"{CAPTION}\n\n{FIRST} {REST}\n\n{NOTE}"
    assert find_differences(HEAD + earlier, HEAD + later) == TextComparison((), 6, 6, 6)


def test_a_finished_paragraph_does_not_continue() -> None:
    earlier, later = (f"We count them.{between}Theorem 1" for between in ("\n\n", PAGE_BREAK))
    assert told(earlier, later) == []
    assert told(earlier, later + "\n\nIt holds.") == [("added", "", "It holds.")]


def test_table_rows_are_compared_as_rows() -> None:
    assert told(TABLE, TABLE.replace("17", "19")) == [("changed", "| Ulm | 17 |", "| Ulm | 19 |")]
    assert told(TABLE, TABLE + "\n| Graz | 3 |") == [("added", "", "| Graz | 3 |")]
    assert told(TABLE, TABLE.replace("| Ulm | 17 |", "|  Ulm | 17|").replace("--- |", ":---: |")) == []


@pytest.mark.parametrize(
    "later",
    [r"$$a=\frac{1}{2} b ,$$ (3)", r"$$a = \frac{1}{2}\,b\quad ,$$ (4)", "$$\na = \\frac{1}{2}b,\n$$"],
    ids=["space", "space that is written, and a number", "over lines"],
)
def test_a_formulas_spacing_is_no_change(later: str) -> None:
    assert told(f"We have\n\n{FORMULA}\n\nwhere b is.", f"We have\n\n{later}\n\nwhere b is.") == []


def test_a_formula_is_compared_alone() -> None:
    earlier = f"We have\n\n{FORMULA}\n\nwhere b is."
    later = earlier.replace("2}b", "3}b")
    assert told(earlier, later) == [("changed", FORMULA, FORMULA.replace("2}b", "3}b"))]


def test_no_sentence_ends_inside_a_formula() -> None:
    earlier = "It is $f(x). G(y)$ of them. $Q$ is fixed."
    assert told(earlier, earlier.replace("fixed", "free")) == [("changed", "$Q$ is fixed.", "$Q$ is free.")]
    assert told(earlier, earlier.replace("$Q$", "Q")) == []


def test_a_lone_number_and_a_notice_are_ignored() -> None:
    notice = "Proceedings of the $36^{th}$ International Conference on Clouds, 2019."
    (_, abstract) = read_text_sections(f"{HEAD}We do.\n\n12\n\n{notice}\n\nIt rains.")
    assert [sentence.words for sentence in abstract.sentences] == ["We do.", "It rains."]


def test_sentences_are_at_their_stated_offsets() -> None:
    text = f"{HEAD}{FIRST}\n\n{NOTE}{PAGE_BREAK}{CAPTION}\n\n{REST}\n\n{TABLE}\n\n{FORMULA}"
    for part in read_text_sections(text):
        for sentence in part.sentences:
            assert text[sentence.start : sentence.end].startswith(sentence.words[:5])
            assert text[sentence.start : sentence.end].endswith(sentence.words[-5:])


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [
        "$$a$$\n\n",
        "$",
        "$$\na\n",
        "| a | b |\n",
        "<sup>1</sup>Note\n\n",
        "we go\n\n",
        "- a\n",
        "$a $ ",
        "12\n\n",
        "\\,",
    ],
)
def test_any_markdown_is_compared_within_seconds(block: str) -> None:
    started = time.process_time()
    text = HEAD + block * 10_000
    assert find_differences(text, text).passages == ()
    find_differences(text, HEAD + REST)
    assert time.process_time() - started < 30


def test_a_listing_is_compared_by_line() -> None:
    listing = "```\nx = 1\n# Introduction\nif x:\n\n    y = 2\n```"
    assert told(listing, listing.replace("y = 2", "y = 3")) == [("changed", "y = 2", "y = 3")]
    assert [part.heading for part in read_text_sections(f"{HEAD}We count.\n\n{listing}\n\n## 2 Rain")] == [
        None,
        "Abstract",
        "2 Rain",
    ]
    assert told(f"It rains\n\n{listing}\n\nall day.", f"It rains all day.\n\n{listing}") == []


def test_an_unclosed_code_fence_hides_no_heading() -> None:
    assert [part.heading for part in read_text_sections(f"{HEAD}```\n\nWe count.\n\n## 2 Rain\n\nIt rains.")][
        -1
    ] == "2 Rain"


START = "Clouds are counted by all who look\n"
END = "up on a bright day in the afternoon. It is known to few.\n"
FIGURE = "Figure 1: A cloud above the town, as one sees it in the\nafternoon from a hill.\n"
FOOTNOTE = "1Nobody asked us to count them, and we were not paid.\n"


def told_of(comparison: TextComparison) -> list[tuple[str, str, str]]:
    return [(one.kind.value, one.before, one.after) for one in comparison.passages]


@pytest.mark.parametrize(
    "later",
    [
        f"{START}{FIGURE}{END}{FOOTNOTE}",
        f"{START}{FOOTNOTE}3{PAGE_BREAK}{FIGURE}{END}",
        f"{START}{FOOTNOTE}{FIGURE}{END}",
        f"{START}\n{FIGURE}\n{END}\n{FOOTNOTE}",
    ],
    ids=["inside a sentence", "over a page's end", "behind a footnote", "as paragraphs of Markdown"],
)
def test_a_moved_float_is_not_a_change(later: str) -> None:
    earlier = f"Abstract\n{FIGURE}{START}{END}{FOOTNOTE}"
    assert find_differences(earlier, f"Abstract\n{later}") == TextComparison((), 4, 4, 4)


def test_a_changed_caption_is_reported_alone() -> None:
    later = f"Abstract\n{START}{FIGURE.replace('hill', 'tower')}{END}"
    ((kind, before, after),) = told_of(find_differences(f"Abstract\n{START}{END}{FIGURE}", later))
    assert (kind, before, after) == ("changed", FIGURE.strip(), FIGURE.replace("hill", "tower").strip())


@pytest.mark.parametrize("above", ["", "Our words. We"])
def test_text_of_a_figure_belongs_to_it(above: str) -> None:
    figure = "0 1 2\nClouds\nTowns\n"
    earlier = f"Abstract\n{above}{START}{figure}{FIGURE}{END}"
    later = f"Abstract\n{above}{START}7{PAGE_BREAK}{figure}{FIGURE}{END}"
    passages = find_differences(later, later.replace("0 1 2", "0 5 9")).passages
    assert [(one.kind, one.after) for one in passages] == [(ChangeKind.CHANGED, "0 5 9\nClouds\nTowns")]
    assert len(find_differences(earlier, later).passages) > 0


def test_a_proceedings_notice_is_not_a_change() -> None:
    review = "Preliminary work. Under review by the International Conference\non Clouds. Do not distribute.\n"
    final = "Proceedings of the 36 th International Conference on\nClouds, 2019. Copyright 2019 by the author(s).\n"
    earlier, later = (f"Abstract\n{START}{notice}{END}" for notice in (review, final))
    assert find_differences(earlier, later).passages == ()


def test_the_title_is_distinguished_from_the_authors() -> None:
    earlier = "On Clouds\nAnonymous authors\nAbstract\nWe do."
    later = "On Clouds\nA. Smith\nB. Brown\nAbstract\nWe do."
    assert told_of(find_differences(earlier, later)) == [
        ("removed", "Anonymous authors", ""),
        ("added", "", "A. Smith\nB. Brown"),
    ]


def test_a_full_line_continues() -> None:
    rows = "\n".join(f"a{number} b" for number in range(250))
    earlier = f"Abstract\n{rows}\nIt is as bright as day up\nhere"
    later = f"Abstract\n{rows}\nIt is as bright as day\nup here"
    assert find_differences(earlier, later).passages == ()


MOVING = {"sections split", "sections merged", "paragraphs moved", "moved to an appendix", "all at once"}


def compare(paper: Revision) -> list[tuple[str, str, str]]:
    found = find_differences(render(paper.before, paper.old), render(paper.after, paper.new))
    return [(one.kind.value, one.before, one.after) for one in found.passages]


@pytest.mark.parametrize("is_markdown", [True, False], ids=["markdown", "plain"])
@pytest.mark.parametrize("case", CASES)
def test_exactly_the_changes_made_are_reported(case: str, is_markdown: bool) -> None:
    paper = revise(case, 1, is_markdown=is_markdown)
    truth = {kind: len(idents) for kind, idents in find_truth(paper).items()}
    assert min(truth[kind] for kind in KINDS if kind != "moved") >= 5
    assert (truth["moved"] > 0) == (case in MOVING)
    counts = score(paper, compare(paper))
    assert {kind: counts[kind, "hit"] for kind in KINDS} == truth
    assert [counts[kind, "false"] for kind in KINDS] == [0, 0, 0, 0]
