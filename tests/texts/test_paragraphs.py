"""Lines are joined as a reader would join them, and lists of references without a heading are recognised."""

import pytest

from invented_lines import BODY, BOLD, LEFT, ONE_COLUMN, RIGHT, SERIF, blocks, line, run, stacked
from invented_pdfs import typeset
from peercorpus.corpus.structured_text import StructuredText
from peercorpus.pdf.glyphs import Font, read_font
from peercorpus.texts.layout.blocks import Block, BlockKind, TextLine
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.hyphenation import Dehyphenator
from peercorpus.texts.layout.paragraphs import rejoin
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout, block_markdown
from peercorpus.texts.layout.references import find_unheaded_references

FULL = "These words fill the whole of their column from its left end to the right"


def told(found: list[Block]) -> list[tuple[BlockKind, list[str]]]:
    return [(block.kind, [one.text for one in block.lines]) for block in found]


def test_an_indent_starts_a_paragraph() -> None:
    end, more = line(f"{FULL}.", 688.0), line(FULL, 676.0, left=LEFT + 12)
    assert len(blocks(line(FULL), end, more)) == 2
    assert len(blocks(line(FULL), line(FULL, 680.0))) == 2
    assert len(blocks(line(FULL), line(FULL, 688.0, size=8.0))) == 2


def test_items_captions_and_footnotes_are_recognised() -> None:
    mark = run("1", LEFT, 54.0, 6.0)
    note = TextLine([mark, run("A note.", LEFT + 4, 50.0, 8.0, has_space=False)], LEFT, 200.0, 50.0, 8.0, 0)
    found = blocks(
        line("• One point", 700.0, right=200.0),
        line("• Another point", 688.0, right=200.0),
        line("Figure 2: What it shows", 600.0, right=250.0),
        note,
    )
    assert [block.kind for block in found] == [BlockKind.ITEM, BlockKind.ITEM, BlockKind.CAPTION, BlockKind.FOOTNOTE]


def references(*entries: TextLine) -> list[tuple[BlockKind, list[str]]]:
    heading = line("References", 720.0, font=BOLD, size=12.0, right=180.0)
    return told(blocks(heading, *stacked(*entries)))[1:]


def test_labelled_and_hanging_entries_are_recognised() -> None:
    labelled = references(line("[1] A. One. First."), line("Continued."), line("[2] B. Two. Second."))
    assert [lines for _, lines in labelled] == [["[1] A. One. First.", "Continued."], ["[2] B. Two. Second."]]
    hanging = references(line("A. One. First."), line("Continued.", left=LEFT + 12), line("B. Two."))
    assert [lines for _, lines in hanging] == [["A. One. First.", "Continued."], ["B. Two."]]


def raised(number: str, text: str, base: float = 700.0, size: float = 10.0) -> TextLine:
    """A line that begins with a raised number."""
    mark = run(number, LEFT, base + 0.4 * size, 0.7 * size)
    words = run(text, LEFT + 4, base, size, has_space=False)
    return TextLine([mark, words], LEFT, RIGHT, base, size, 0)


def test_numbers_that_count_on_are_labels() -> None:
    heading = line("References", 720.0, font=BOLD, size=12.0, right=180.0)
    above = blocks(heading, raised("1", "A. One."), raised("2", "B. Two.", 688.0), raised("7", "to the 7.", 676.0))
    assert [lines for _, lines in told(above)[1:]] == [["1A. One."], ["2B. Two.", "7to the 7."]]
    round_labels = references(line("(1) A. One, 4"), line("(3) Herbs Press."), line("(2) B. Two."))
    assert [lines for _, lines in round_labels] == [["(1) A. One, 4", "(3) Herbs Press."], ["(2) B. Two."]]


def test_a_paragraph_interrupted_by_a_table_is_joined() -> None:
    table = Block(BlockKind.TABLE, 0, [], markdown="| 1 |")
    found = rejoin(blocks(line(FULL), table, line("ends behind it.", 500.0, right=200.0)), BODY)
    assert [(block.kind, len(block.lines)) for block in found] == [(BlockKind.PARAGRAPH, 2), (BlockKind.TABLE, 0)]
    found = rejoin(blocks(line(f"{FULL}."), table, line("Another one.", 500.0, right=RIGHT)), BODY)
    assert [block.kind for block in found] == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]


@pytest.mark.parametrize(
    ("rest", "parts"),
    [("goes on behind the page.", 2), ("30 of them are kept.", 2), ("Another text in small print.", 1)],
)
def test_a_footnote_continues_on_the_next_page(rest: str, parts: int) -> None:
    mark = run("1", LEFT, 54.0, 6.0)
    note = TextLine([mark, run("A note that", LEFT + 4, 50.0, 8.0, has_space=False)], LEFT, RIGHT, 50.0, 8.0, 0)
    pages = (
        [line("The first page ends here.", 100.0), note],
        [line(FULL, 100.0, page=1), line(rest, 50.0, size=8.0, page=1)],
        [line("ends on the third page.", 700.0, right=200.0, page=2)],
    )
    found = rejoin(blocks(*(one for page in pages for one in page)), BODY)
    assert [len(block.lines) for block in found if block.kind is BlockKind.FOOTNOTE] == [parts]
    (text,) = (block for block in found if block.lines[0].text == FULL)
    assert text.lines[-1].text == "ends on the third page."


def rendered(*lines: TextLine) -> str:
    return block_markdown(Block(BlockKind.PARAGRAPH, 0, list(lines)), Dehyphenator(lines))


def in_parts(*parts: tuple[str, Font]) -> TextLine:
    runs = [run(text, LEFT + 100.0 * at, font=font) for at, (text, font) in enumerate(parts)]
    return TextLine(runs, LEFT, RIGHT, 700.0, 10.0, 0)


def test_a_bold_run_in_heading_is_marked() -> None:
    italic = read_font("Times-Italic")
    assert rendered(in_parts(("Data.", BOLD), ("We use", SERIF)), line("kites.")) == "**Data.** We use kites."
    assert rendered(in_parts(("Why kites?", BOLD), ("They fly.", SERIF))) == "**Why kites?** They fly."
    assert rendered(in_parts(("Theorem 1.", BOLD), ("All kites fly.", italic))) == "**Theorem 1.** All kites fly."
    colon = [run("Data", font=BOLD), run(": we use", LEFT + 50, has_space=False)]
    assert rendered(TextLine(colon, LEFT, RIGHT, 700.0, 10.0, 0)) == "**Data:** we use"


def test_other_bold_words_are_not_marked() -> None:
    assert rendered(in_parts(("We", BOLD), ("use kites.", SERIF))) == "We use kites."
    assert rendered(in_parts(("Data.", BOLD)), line("We use kites.")) == "Data. We use kites."
    assert rendered(in_parts(("We use", SERIF), ("Data.", BOLD), ("More", SERIF))) == "We use Data. More"
    assert rendered(in_parts(("12.", BOLD), ("More", SERIF))) == "12. More"


@pytest.mark.parametrize(("head", "rest"), [("Kite-2", ".5 flies."), ("arXiv:", "2101 has it."), ("approx.", "imate")])
def test_a_bold_run_ends_with_a_word(head: str, rest: str) -> None:
    parts = [run(head, font=BOLD), run(rest, LEFT + 50, has_space=False)]
    assert rendered(TextLine(parts, LEFT, RIGHT, 700.0, 10.0, 0)) == f"{head}{rest}"


@pytest.mark.parametrize("sign", ["\u2013 ", "\u2014 ", "- "])
def test_a_dash_in_a_sentence_is_no_item(sign: str) -> None:
    found = blocks(*stacked(line(FULL), line(f"{sign}as was said {sign}and goes on"), line("to its end.", right=200.0)))
    assert [block.kind for block in found] == [BlockKind.PARAGRAPH]
    found = blocks(*stacked(line("They are:", right=150.0), line(f"{sign}one point"), line(f"{sign}another point")))
    assert [block.kind for block in found] == [BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.ITEM]


def test_an_interrupted_labelled_entry_is_joined() -> None:
    def join(first: str, second: str) -> list[list[str]]:
        entries = [Block(BlockKind.ENTRY, 0, [line(text)]) for text in (first, second)]
        joined = rejoin([entries[0], Block(BlockKind.CAPTION, 0, [line("Figure 1: Kites")]), entries[1]], BODY)
        return [[one.text for one in block.lines] for block in joined if block.kind is BlockKind.ENTRY]

    assert join("[3] A. One. Herbs of", "the coast. 2019.") == [["[3] A. One. Herbs of", "the coast. 2019."]]
    assert len(join("[3] A. One. Herbs of", "[4] B. Two. 2019.")) == 2
    assert len(join("[3] A. One. Herbs. 2019.", "the coast. 2019.")) == 2
    assert len(join("A. One. Herbs of", "B. Two. 2019.")) == 2


def begun(number: str, title: str, behind: str, base: float, number_font: Font = SERIF) -> TextLine:
    """A line with a number, a bold title and the rest of the line."""
    runs = [run(number, LEFT, base, font=number_font)]
    for text, font in ((title, BOLD), (behind, SERIF)):
        runs += [run(text, runs[-1].right + 5, base, font=font)] if text else []
    return TextLine(runs, LEFT, RIGHT, base, 10.0, 0)


@pytest.mark.parametrize("number_font", [SERIF, BOLD])
def test_a_heading_has_its_paragraph(number_font: Font) -> None:
    section = line("1. Clouds", 740.0, size=12.0, font=BOLD, right=200.0)
    lines = [begun("1.1.", "Rain.", "It falls on the", 700.0, number_font), line(FULL, 688.0)]
    lines += [begun("1.2.", "Snow.", "It falls too", 660.0, number_font), line("and stays.", 648.0, right=200.0)]
    assert told(blocks(section, *lines)) == [
        (BlockKind.HEADING, ["1. Clouds"]),
        (BlockKind.HEADING, ["1.1. Rain."]),
        (BlockKind.PARAGRAPH, ["It falls on the", FULL]),
        (BlockKind.HEADING, ["1.2. Snow."]),
        (BlockKind.PARAGRAPH, ["It falls too", "and stays."]),
    ]


@pytest.mark.parametrize(
    ("number", "title", "behind"),
    [
        ("1.3.", "Rain.", "It falls"),
        ("1.1.", "Rain", "falls on it"),
        ("2.", "Rain.", "It falls"),
        ("1.1.", "w.r.t.", "m"),
    ],
    ids=["not the next number", "no end of a title", "a list item", "no words behind"],
)
def test_a_bold_number_that_counts_on(number: str, title: str, behind: str) -> None:
    section = line("1. Clouds", 740.0, size=12.0, font=BOLD, right=200.0)
    first = begun(number, title, behind, 700.0)
    assert first.text in [text for _, texts in told(blocks(section, first, line(FULL, 688.0))) for text in texts]


ENTRIES = ("[1] A. One. Herbs,", "2019.", "[2] B. Two. Teas, 2020.", "[3] C. Three. Cups, 2021.")


def page(*texts: str, number: int = 0, left: float = LEFT) -> list[TextLine | Block]:
    return [line(text, 700.0 - 12 * at, left=left, page=number) for at, text in enumerate(texts)]


def begins(*pages: list[TextLine | Block]) -> list[str]:
    return [found.text for found in find_unheaded_references(pages, [ONE_COLUMN] * len(pages))]


def test_numbers_with_years_are_references() -> None:
    assert begins(page("The end.", *ENTRIES)) == ["[1] A. One. Herbs,"]


def test_references_continue_on_the_next_page() -> None:
    columns = PageColumns(((LEFT, 250.0), (260.0, RIGHT)))
    lines = [*page(*ENTRIES[:2]), *page(ENTRIES[2], left=260.0)]
    pages = [lines, page(ENTRIES[3], number=1)]
    assert [found.text for found in find_unheaded_references(pages, [columns, ONE_COLUMN])] == ["[1] A. One. Herbs,"]


@pytest.mark.parametrize(
    "texts",
    [
        ENTRIES[:3],
        ("[1] First", "[2] Second", "[3] Third", "[4] Fourth"),
        ("[1] In 2019", "[3] in 2020", "[2] in 2021", "[4] in 2022"),
        ("[1] In 2019", *["it was said,"] * 20, "[2] in 2020", "[3] in 2021"),
    ],
    ids=["two entries", "no years", "another order", "too far apart"],
)
def test_other_numbers_are_not_references(texts: tuple[str, ...]) -> None:
    assert begins(page(*texts)) == []


def test_superscript_citations_are_linked() -> None:
    page = r"""#set text(size: 10pt, font: "New Computer Modern")
#align(center)[#text(17pt)[Herbs and Teas] \\ A. Kelp,#super[1,2] B. Wrack#super[2]]
= 1 Introduction
#lorem(80) Herbs were weighed,#super[1,2] and teas were poured.#super[3\u{2013}5] Ten#super[th] boats, 10#super[3] cups
and #super[4]He were seen by Smith and others.#super[4] #lorem(80)

= References
#set text(size: 8pt)
#set par(hanging-indent: 10pt, spacing: 5pt, leading: 5pt)
#super[1]A. Kelp and B. Wrack, Sixteen harmonics are enough for all of us and for all of them who read long titles of
papers, Tidal Letters 2, 77 (2009).

#super[2]C. Dune, Kernels, Coasts 19, 1001 (2012).

#super[3]D. Reed, Samples, Journal 3, 2 (2013).

#super[4]E. Smith, Samples, Journal 3, 3 (2013).

#super[5]F. Reed, Samples, Journal 3, 4 (2013).
"""
    converted = PdfiumLayout().convert(typeset(page))
    assert converted.blocks is not None
    text = StructuredText(converted.markdown, converted.blocks)
    assert [entry.number for entry in text.bibliography] == ["1", "2", "3", "4", "5"]
    targets = [text.find_target(mention) for mention in text.mentions]
    assert [target and target.number for target in targets] == ["1", "2", "3", "4", "5", "4"]
