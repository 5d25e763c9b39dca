"""Markdown is compared block by block: rows as rows, formulas as units, prose across page breaks."""

import time

import pytest

from peercorpus.links.sections import read_text_sections
from peercorpus.links.sentences import sentence_key
from peercorpus.links.version_diff import TextComparison, find_differences
from peercorpus.records.documents import PAGE_BREAK

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


def test_a_finished_paragraph_does_not_continue_on_the_next_page() -> None:
    earlier, later = (f"We count them.{between}Theorem 1" for between in ("\n\n", PAGE_BREAK))
    assert told(earlier, later) == []
    assert told(earlier, later + "\n\nIt holds.") == [("added", "", "It holds.")]


def test_short_words_at_the_top_of_a_page_are_not_part_of_a_figure() -> None:
    earlier, later = (f"It rains.{between}We go.\n\n{CAPTION}" for between in ("\n\n", PAGE_BREAK))
    assert told(earlier, later) == []


def test_lines_under_marked_headings_without_blank_lines_are_read_as_printed() -> None:
    earlier = f"# Abstract\n{CAPTION}\nWe count on\nall clouds."
    assert find_differences(earlier, f"# Abstract\nWe count on\n{CAPTION}\nall clouds.").passages == ()


def test_table_rows_are_compared_as_rows() -> None:
    assert told(TABLE, TABLE.replace("17", "19")) == [("changed", "| Ulm | 17 |", "| Ulm | 19 |")]
    assert told(TABLE, TABLE + "\n| Graz | 3 |") == [("added", "", "| Graz | 3 |")]
    assert told(TABLE, TABLE.replace("| Ulm | 17 |", "|  Ulm | 17|").replace("--- |", ":---: |")) == []


def test_a_symbol_in_a_table_row_makes_a_difference() -> None:
    assert told(TABLE, TABLE.replace("-4", "4")) == [("changed", "| Bern | -4 |", "| Bern | 4 |")]


@pytest.mark.parametrize(
    "later",
    [r"$$a=\frac{1}{2} b ,$$ (3)", r"$$a = \frac{1}{2}\,b\quad ,$$ (4)", "$$\na = \\frac{1}{2}b,\n$$"],
    ids=["space", "space that is written, and a number", "over lines"],
)
def test_a_formula_with_other_spacing_or_number_is_not_a_change(later: str) -> None:
    assert told(f"We have\n\n{FORMULA}\n\nwhere b is.", f"We have\n\n{later}\n\nwhere b is.") == []


def test_a_formula_is_compared_without_the_words_around_it() -> None:
    earlier = f"We have\n\n{FORMULA}\n\nwhere b is."
    later = earlier.replace("2}b", "3}b")
    assert told(earlier, later) == [("changed", FORMULA, FORMULA.replace("2}b", "3}b"))]


def test_no_sentence_ends_inside_a_formula_and_one_may_begin_with_it() -> None:
    earlier = "It is $f(x). G(y)$ of them. $Q$ is fixed."
    assert told(earlier, earlier.replace("fixed", "free")) == [("changed", "$Q$ is fixed.", "$Q$ is free.")]
    assert told(earlier, earlier.replace("$Q$", "Q")) == []


@pytest.mark.parametrize(("mark", "later"), [("it.<sup>1</sup>", "it.<sup>12</sup>"), ("it.<sup>1</sup>", "it.")])
def test_the_mark_of_a_footnote_makes_no_difference(mark: str, later: str) -> None:
    assert told(f"We do {mark} It rains.", f"We do {later} It rains.") == []


def test_a_power_makes_a_difference() -> None:
    assert len(told("It has 10<sup>3</sup> clouds.", "It has 10<sup>4</sup> clouds.")) == 1


def test_a_changed_title_is_reported() -> None:
    (passage,) = find_differences(HEAD + "We do.", HEAD.replace("On", "Upon") + "We do.").passages
    assert (passage.section, passage.before, passage.after) == (None, "On Clouds", "Upon Clouds")


def test_a_title_may_begin_with_a_letter_that_could_number_a_section() -> None:
    assert [part.heading for part in read_text_sections("# A Cloud Is Seen\n\nA. Smith\n\n## Abstract\n\nWe do.")] == [
        None,
        "Abstract",
    ]


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


def test_a_key_does_not_depend_on_formula_markup_and_spacing() -> None:
    assert sentence_key(r"$a\,+\quad b$") == sentence_key("a + b")


def test_a_listing_is_compared_line_by_line_and_has_no_headings() -> None:
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
