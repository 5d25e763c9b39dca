"""Algorithms and programs keep their lines and indentation; text that only resembles them does not."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hostile_texts import find_growth
from invented_lines import BODY, BOLD, LEFT, ONE_COLUMN, RIGHT, line, run
from invented_pdfs import typeset
from peercorpus.pdf.glyphs import read_font
from peercorpus.pdf.shapes import Box
from peercorpus.texts.layout.blocks import Block, BlockKind, Body, TextLine
from peercorpus.texts.layout.hyphenation import Dehyphenator
from peercorpus.texts.layout.listings import replace_listings
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

MONO, LETTERS = read_font("CMTT10"), read_font("CMMI10")
FULL = "These words fill the whole of their column from its left end to the right"
WIDTH = 5.0


def rules(*heights: float) -> list[Box]:
    return [Box(LEFT, height, RIGHT, height + 0.5) for height in heights]


def down(*lines: TextLine, top: float = 686.0, step: float = 12.0) -> list[TextLine]:
    for number, one in enumerate(lines):
        one.base = top - number * step
        for part in one.runs:
            part.base = one.base
    return list(lines)


def short(text: str, depth: int = 0) -> TextLine:
    return line(text, left=LEFT + 10.0 * depth, right=LEFT + 10.0 * depth + WIDTH * len(text))


def code(text: str, column: int = 0) -> TextLine:
    left = LEFT + WIDTH * column
    return line(text, left=left, right=left + WIDTH * len(text), font=MONO)


def found(lines: list[TextLine], *heights: float, body: Body = BODY) -> list[TextLine | Block]:
    return replace_listings(lines, rules(*heights), ONE_COLUMN, body, Dehyphenator(lines))


def listing(lines: list[TextLine], *heights: float) -> str:
    (block,) = [one for one in found(lines, *heights) if isinstance(one, Block) and one.kind is BlockKind.LISTING]
    return str(block.markdown)


def head(text: str = "Algorithm 1 Counting clouds") -> TextLine:
    return line(text, 700.0, right=250.0)


STEPS = ("Input: a sky", 0), ("for each cloud do", 0), ("count it", 1), ("end for", 0), ("return the count", 0)


def test_an_algorithm_between_rules_keeps_lines() -> None:
    lines = [line(FULL, 740.0), head(), *down(*(short(*one) for one in STEPS)), line(FULL, 600.0)]
    before, caption, block, after = found(lines, 710.0, 696.0, 630.0)
    assert (before, after) == (lines[0], lines[-1])
    assert isinstance(caption, Block)
    assert (caption.kind, caption.lines) == (BlockKind.CAPTION, [lines[1]])
    assert isinstance(block, Block)
    assert block.markdown == "```\nInput: a sky\nfor each cloud do\n  count it\nend for\nreturn the count\n```"


def numbered(number: str, text: str, depth: int) -> TextLine:
    parts = [run(number, LEFT + 5, size=9.0), run(text, LEFT + 20.0 + 10.0 * depth)]
    return TextLine(parts, LEFT + 5, parts[1].right, 0.0, 10.0, 0)


def test_numbers_and_indentation_stay() -> None:
    steps = [numbered(f"{at}:", text, depth) for at, (text, depth) in enumerate(STEPS, 9)]
    expected = " 9: Input: a sky\n10: for each cloud do\n11:   count it\n12: end for\n13: return the count"
    assert listing([head(), *down(*steps)], 710.0, 696.0, 630.0) == f"```\n{expected}\n```"


def test_numbered_prose_is_no_algorithm() -> None:
    points = down(*(numbered(f"{at}:", "Clouds are counted by hand", 0) for at in (1, 2, 3, 4)))
    assert found(points) == points


def test_a_caption_with_prose_between_rules_is_unchanged() -> None:
    lines = [head(), *down(line(f"1. First, {FULL}"), line(FULL), line("2. Then we end."))]
    assert found(lines, 710.0, 696.0, 630.0) == lines
    steps = [head(), *down(*(short(*one) for one in STEPS))]
    assert found(steps, 710.0) == steps


def test_a_continued_step_is_one() -> None:
    wide, rest = line("return the number of all the clouds that are in-", right=RIGHT, is_cut=True), short("deed there")
    wide.runs[0].text = wide.runs[0].text.removesuffix("-")
    steps = down(short("Input: a sky"), wide, rest)
    assert "are indeed there\n" in listing([head(), *steps], 710.0, 696.0, 630.0)


@pytest.mark.parametrize("depth", [1, 3, 5])
def test_a_numbered_step_continues_at_its_margin(depth: int) -> None:
    wide = numbered("2:", "count every single one of the", 1)
    wide.right = wide.runs[-1].right = RIGHT
    steps = [numbered("1:", "for each cloud do", 0), wide, short("clouds there", depth)]
    text = listing([head(), *down(*steps, numbered("3:", "end for", 0))], 710.0, 696.0, 630.0)
    assert text == "```\n1: for each cloud do\n2:   count every single one of the clouds there\n3: end for\n```"


def test_a_program_is_kept_verbatim() -> None:
    program = down(code("def count(sky):"), code("# all of them", 4), code("return len(sky_of[1:])", 4))
    program += down(code("count(blue)"), top=program[-1].base - 24.0)
    expected = "def count(sky):\n    # all of them\n    return len(sky_of[1:])\n\ncount(blue)"
    assert listing(program) == f"```\n{expected}\n```"


@pytest.mark.parametrize("text", ["ada@example.org", "https://example.org/clouds"])
def test_urls_are_not_a_program(text: str) -> None:
    lines = down(code(text), code(text), code(text))
    assert found(lines) == lines


@pytest.mark.parametrize("name", ["NimbusMonL-Regu", "CMITT10", "SourceCodePro-Regular", "LucidaConsole", "SFTT1000"])
def test_the_fonts_of_programs_are_known_by_name(name: str) -> None:
    assert read_font(name).is_mono
    assert not read_font("MonotypeCorsiva").is_mono


@pytest.mark.parametrize(
    ("font", "text"), [("CMMI10", "x ."), ("CMMI10", "x \u25b7"), ("MSAM10", "\u25b7"), ("LASY10", "\u2704")]
)
def test_a_triangle_is_no_formula(font: str, text: str) -> None:
    steps = [short(*one) for one in STEPS]
    triangle = replace(run(text, LEFT + 80), font=read_font(font), has_space=True)
    comment = replace(run("one more", LEFT + 110), has_space=True)
    steps[2].runs += [triangle, comment]
    assert "\u25b7 one more" in listing([head(), *down(*steps)], 710.0, 696.0, 630.0)


def make_steps(left: float, end: str, mark: str = "") -> list[TextLine]:
    """The steps of an algorithm from a left edge: a number, then words, some of them starting in bold."""
    texts = ["count the clouds", "**for** each cloud do", "send a boat", f"**return** {end}"]
    lines = []
    for number, text in enumerate(texts, 1):
        bold, _, words = text.removeprefix("**").rpartition("**")
        parts = [run(f"{number}{mark}", left), run(bold, left + 14, font=BOLD), run(words.strip(), left + 45)]
        lines.append(TextLine([part for part in parts if part.text], left, left + 130, 0.0, 10.0, 0))
    return down(*lines)


@pytest.mark.parametrize("mark", ["", ":"])
def test_algorithms_side_by_side_are_written_in_sequence(mark: str) -> None:
    lines = [*make_steps(LEFT, "the count", mark), *make_steps(LEFT + 150, "the height", mark)]
    left, right = (str(one.markdown).split("\n") for one in found(lines) if isinstance(one, Block))
    assert left == ["```", *(f"{text}" for text in left[1:5]), "```"]
    assert [text.split()[0].strip(":") for text in left[1:5]] == list("1234")
    assert (left[4].split()[1:], right[4].split()[1:]) == (["return", "the", "count"], ["return", "the", "height"])


def test_side_by_side_algorithms_of_a_page() -> None:
    steps = "1#h(14pt)count {0} \\\n 2#h(14pt)*for* each {0} *do* \\\n 3#h(24pt)send a boat \\\n 4#h(14pt)*return* {0}"
    cells = ", ".join(
        f"[*Algorithm {at}* Counting {what} \\\n {steps.format(what)}]" for at, what in ((1, "sky"), (2, "sea"))
    )
    page = f"#lorem(60)\n\n#grid(columns: (1fr, 1fr), column-gutter: 14pt, {cells})\n\n#lorem(60)"
    text = PdfiumLayout().convert(typeset(page)).markdown
    listings = [part.split("\n") for part in text.split("```")[1::2]]
    assert [[line.split()[-1] for line in one[1:-1]] for one in listings] == [
        ["sky", "do", "boat", "sky"],
        ["sea", "do", "boat", "sea"],
    ]


def test_step_numbers_beyond_the_column_are_no_algorithm() -> None:
    lines = down(*(line(number, left=RIGHT + 20, right=RIGHT + 25) for number in "123"))
    assert found(lines) == lines


@pytest.mark.parametrize("numbers", ["1", "12", "123"])
def test_step_numbers_are_processed_in_linear_time(numbers: str) -> None:
    def find(size: int) -> Callable[[], object]:
        texts = [numbers[at % len(numbers)] for at in range(size)]
        lines = [line(text, 700.0 - 0.01 * at, right=LEFT + WIDTH) for at, text in enumerate(texts)]
        return lambda: replace_listings(lines, [], ONE_COLUMN, BODY, Dehyphenator([]))

    assert find_growth(find, [500, 4_000], 0.05) is None


ALGORITHMS = Path(__file__).parent / "algorithms"
FORMULA = re.compile(r"\$[^$]+\$(?: ?= ?)?")
NUMBERED = """\
Data: graph $, source $
 1 foreach $ do
 2    $;
 3 end
 4 while $ do
 5    take $ with the least $ from $;
 6    if $ then
 7       stop;
 8    else
 9       $;  // relax
10    end
11 end
12 return $"""
BOXED = """\
Data: numbers $
$;
for $ to $ do
   $;
end
return $"""
UNDECORATED = """\
$
for $ to $ do
  $
  if $ then
    break
  end if
end for
return $"""
SORT = """\
Insertion-Sort$
1 for $ to $.length
2     key $
3     // Insert $ into the sorted sequence $.
4     $
5     while $ and $ key
6          $
7          $
8     $key"""
HEAP = """\
Max-Heapify$
 1 $Left$
 2 $Right$
 3 if $.heap-size and $
 4     largest $
 5 else largest $
 6 if $.heap-size and $[largest]
 7     largest $
 8 if largest $
 9     exchange $[largest]
10     Max-Heapify($, largest)"""


def read_listings(name: str) -> tuple[list[str], str]:
    """Return the fenced blocks, each formula as a dollar sign, and the text without them."""
    markdown = PdfiumLayout().convert((ALGORITHMS / f"{name}.pdf").read_bytes()).markdown
    prose, fenced = markdown.split("```")[::2], markdown.split("```")[1::2]
    return [FORMULA.sub("$", block).strip("\n") for block in fenced], "\n".join(prose)


@pytest.mark.parametrize(
    ("name", "listings"), [("algorithm2e", [NUMBERED, BOXED, UNDECORATED]), ("clrs", [SORT, HEAP])]
)
def test_an_algorithm_keeps_its_steps(name: str, listings: list[str]) -> None:
    assert read_listings(name)[0] == listings
