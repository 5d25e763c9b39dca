"""Labels of figures are placed with the caption, notices of the first page after its text."""

from invented_lines import BODY, LEFT, line
from peercorpus.texts.layout.blocks import Block, BlockKind, TextLine
from peercorpus.texts.layout.figures import move_labels_behind_captions, move_notices_last

CAPTION = "Figure 2: Two kites"


def one(kind: BlockKind, *lines: TextLine) -> Block:
    return Block(kind, lines[0].page, list(lines))


def texts(blocks: list[Block]) -> list[list[str]]:
    return [[each.text for each in block.lines] for block in blocks]


def label(text: str, left: float, base: float = 500.0) -> Block:
    return one(BlockKind.PARAGRAPH, line(text, base, left=left, right=left + 80))


def test_adjacent_labels_are_added_to_the_caption_below_them() -> None:
    prose, caption = one(BlockKind.PARAGRAPH, line("Some words.")), one(BlockKind.CAPTION, line(CAPTION, 480.0))
    found = move_labels_behind_captions([prose, label("(a) A red one", 120.0), label("(b) A blue one", 280.0), caption])
    assert texts(found) == [["Some words."], [CAPTION, "(a) A red one", "(b) A blue one"]]
    found = move_labels_behind_captions(
        [prose, label("(a) (b) (c)", 120.0), one(BlockKind.CAPTION, line(CAPTION, 480.0))]
    )
    assert texts(found) == [["Some words."], [CAPTION, "(a) (b) (c)"]]


def test_a_label_may_have_a_second_line() -> None:
    labels = [label("(a) A red one", 120.0), label("that flies", 120.0, 490.0), label("(b) Another", 280.0)]
    found = move_labels_behind_captions([*labels, one(BlockKind.CAPTION, line(CAPTION, 470.0))])
    assert texts(found) == [[CAPTION, "(a) A red one", "that flies", "(b) Another"]]


def test_a_list_above_a_figure_and_nonconsecutive_labels_are_kept() -> None:
    for labels in (
        [label("(a) A point", LEFT), label("(b) Another", LEFT, 488.0)],
        [label("(a) A point", 120.0), label("(c) Another", 280.0)],
        [label("(a) Alone", 120.0)],
        [label("(b) A point", 120.0), label("(c) Another", 280.0)],
    ):
        blocks = [*labels, one(BlockKind.CAPTION, line(CAPTION, 470.0))]
        assert move_labels_behind_captions(blocks) == blocks


def test_notices_at_the_foot_of_the_first_page_follow_its_text() -> None:
    first = one(BlockKind.PARAGRAPH, line("Text of the left column", 300.0, right=240.0))
    mark = one(BlockKind.FOOTNOTE, line("1 A university.", 80.0, size=8.0, right=240.0))
    notice = one(BlockKind.PARAGRAPH, line("To appear in a volume on kites.", 60.0, size=8.0, right=240.0))
    second = one(BlockKind.PARAGRAPH, line("Text of the right column.", 600.0, left=260.0))
    later = one(BlockKind.PARAGRAPH, line("Text of the next page.", page=1))
    found = move_notices_last([first, mark, notice, second, later], BODY)
    assert found == [first, second, mark, notice, later]


def test_small_text_above_other_text_stays_where_it_is() -> None:
    authors = one(BlockKind.PARAGRAPH, line("Two authors of a university", 650.0, size=8.0))
    remark = one(BlockKind.PARAGRAPH, line("A remark set small", 400.0, size=8.0))
    blocks = [
        authors,
        one(BlockKind.PARAGRAPH, line("Text.", 600.0)),
        remark,
        one(BlockKind.PARAGRAPH, line("More.", 300.0)),
    ]
    assert move_notices_last(blocks, BODY) == blocks
