"""Lines are put together as a reader does it."""

from invented_lines import BODY, BOLD, LEFT, RIGHT, blocks, line, run, stacked
from peercorpus.texts.layout.blocks import Block, Kind
from peercorpus.texts.layout.lines import Line
from peercorpus.texts.layout.paragraphs import rejoin

FULL = "These words fill the whole of their column from its left end to the right"


def told(found: list[Block]) -> list[tuple[Kind, list[str]]]:
    return [(block.kind, [one.text for one in block.lines]) for block in found]


def test_lines_at_the_usual_distance_are_one_paragraph() -> None:
    found = blocks(*stacked(line(FULL), line(FULL), line("end.", right=150.0)))
    assert told(found) == [(Kind.PARAGRAPH, [FULL, FULL, "end."])]


def test_an_indent_space_above_or_another_size_begin_a_paragraph() -> None:
    end, more = line(f"{FULL}.", 688.0), line(FULL, 676.0, left=LEFT + 12)
    assert len(blocks(line(FULL), end, more)) == 2
    assert len(blocks(line(FULL), line(FULL, 680.0))) == 2
    assert len(blocks(line(FULL), line(FULL, 688.0, size=8.0))) == 2


def test_a_short_last_line_ends_a_paragraph_where_there_is_space() -> None:
    lines = stacked(line(FULL), line("end.", right=150.0), line(FULL), step=13.5)
    assert len(blocks(*lines)) == 2


def test_a_sentence_goes_on_at_the_top_of_the_next_page() -> None:
    first, second = line(FULL, 100.0), line("and goes on here.", 700.0, page=1)
    assert told(blocks(first, second)) == [(Kind.PARAGRAPH, [FULL, "and goes on here."])]
    assert len(blocks(line(f"{FULL}.", 100.0), line("And here is another.", page=1))) == 2


def test_items_captions_and_footnotes_are_told() -> None:
    mark = run("1", LEFT, 54.0, 6.0)
    note = Line([mark, run("A note.", LEFT + 4, 50.0, 8.0, has_space=False)], LEFT, 200.0, 50.0, 8.0, 0)
    found = blocks(
        line("• One point", 700.0, right=200.0),
        line("• Another point", 688.0, right=200.0),
        line("Figure 2: What it shows", 600.0, right=250.0),
        note,
    )
    assert [block.kind for block in found] == [Kind.ITEM, Kind.ITEM, Kind.CAPTION, Kind.FOOTNOTE]


def references(*entries: Line) -> list[tuple[Kind, list[str]]]:
    heading = line("References", 720.0, font=BOLD, size=12.0, right=180.0)
    return told(blocks(heading, *stacked(*entries)))[1:]


def test_entries_with_labels_and_entries_that_hang_out() -> None:
    labelled = references(line("[1] A. One. First."), line("Continued."), line("[2] B. Two. Second."))
    assert [lines for _, lines in labelled] == [["[1] A. One. First.", "Continued."], ["[2] B. Two. Second."]]
    hanging = references(line("A. One. First."), line("Continued.", left=LEFT + 12), line("B. Two."))
    assert [lines for _, lines in hanging] == [["A. One. First.", "Continued."], ["B. Two."]]


def test_a_paragraph_with_a_table_in_it_is_made_whole() -> None:
    table = Block(Kind.TABLE, 0, [], markdown="| 1 |")
    found = rejoin(blocks(line(FULL), table, line("ends behind it.", 500.0, right=200.0)), BODY)
    assert [(block.kind, len(block.lines)) for block in found] == [(Kind.PARAGRAPH, 2), (Kind.TABLE, 0)]
    found = rejoin(blocks(line(f"{FULL}."), table, line("Another one.", 500.0, right=RIGHT)), BODY)
    assert [block.kind for block in found] == [Kind.PARAGRAPH, Kind.TABLE, Kind.PARAGRAPH]
