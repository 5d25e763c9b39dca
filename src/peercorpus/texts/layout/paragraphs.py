"""Join lines into paragraphs, list items, captions, footnotes and bibliography entries."""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from math import inf

from peercorpus.texts.layout.blocks import Block, BlockKind, Body, TextLine, ends_sentence
from peercorpus.texts.layout.columns import MIN_PROSE_CHARACTERS, PageColumns
from peercorpus.texts.layout.headings import STATEMENT_NAMES, HeadingFinder
from peercorpus.texts.layout.references import EntryLabels, has_label

CAPTION = re.compile(
    r"(?:(?:Supplementary |Extended Data )?(?:Figure|Fig\.|Table|Tab\.|Algorithm|Listing|Scheme|Box)\s*"
    r"(?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*\s*(?:[.:|\u2013\u2014]|$|\((?=[a-z]\)))|(?:TABLE|FIGURE|FIG\.)\s*(?:[IVX]+|\d+)\b|Algorithm\s+\d+\s+[A-Z])"
)
BULLET = re.compile(r"[•‣▪■●◦○∙⋄♦\u2013\u2014►▶✓➢⃁·\uf0b7\uf0a7\uf0d8\uf076\uf0fc]\s*(?=\S)|[-*]\s+(?=\S)")
"""Beginning of a list item; the last five are bullets of word processors, encoded as in symbol fonts."""
_DASH_BULLET = re.compile(r"[-\u2013\u2014·*]")
"""A bullet that may also be a dash or dot inside a sentence."""
_STATEMENT = re.compile(rf"(?:{STATEMENT_NAMES})\s+[A-Z]?\.?\d|Proof\b")
_NUMBERED_ITEM = re.compile(r"(?:\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})\)|(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+\S")
_FOOTNOTE_MARK = re.compile(r"\d{1,2}|[*†‡§¶\u2217♯♠♣]")
_REFERENCES_HEADING = re.compile(r"(?:\W|\d)*(?:references|bibliography)\W*$", re.IGNORECASE)

_MIN_SHORT_LINE_GAP_EM = 2.0
"""Minimum distance from the end of a short line to the right edge of its column, in em; such a line ends a
paragraph.
"""
_MIN_INDENT_EM = 0.7
_MIN_PARAGRAPH_STEP_LEADINGS = 1.32
_MAX_PUSHED_STEP_LEADINGS = 2.4
"""Maximum distance of two baselines inside a paragraph if a tall formula pushes the line down, in leadings."""
_MAX_FRONT_LINE_SHARE = 0.75
"""Share of the column width below which a line under the title ends its block."""
_MIN_VERY_SHORT_GAP_EM = 6.0
"""Minimum distance from the end of a line to its neighbours' ends that by itself ends a paragraph, in em."""
_MAX_CHARACTER_WIDTH_EM = 0.6
_MAX_STEP_LEADINGS = 6.0
"""Maximum distance of a line from the previous one in the same place of the page, in leadings."""
_LEADING_NUMBER = re.compile(r"^\d+ ")
_MAX_NOTE_SIZE_DIFFERENCE = 0.03
"""Maximum difference of the font sizes of two parts of one footnote, as a share."""
MIN_BODY_SIZE_RATIO = 0.95
"""Minimum font size of body text, relative to the body size of the paper."""
# Tuples, because hashing a member of an enumeration takes longer than five comparisons.
RUNNING_TEXT = (BlockKind.PARAGRAPH, BlockKind.ITEM)
_ASIDE = (BlockKind.FOOTNOTE, BlockKind.CAPTION, BlockKind.TABLE, BlockKind.LISTING)
"""Blocks that may interrupt a paragraph: at the foot of a column, or floating."""
_AMONG_REFERENCES = (BlockKind.PARAGRAPH, BlockKind.FOOTNOTE, BlockKind.CAPTION)
"""Blocks of lines that may come between the entries of a list of references."""
_FLOWING = (*RUNNING_TEXT, *_ASIDE)


class Paragraphs:
    """Groups the lines of a paper into blocks, page by page; `unheaded` are first lines of references without a
    heading.
    """

    def __init__(self, body: Body, unheaded: Iterable[TextLine] = ()) -> None:
        self._body = body
        self._unheaded = set(map(id, unheaded))
        self._headings = HeadingFinder(body)
        self._columns = PageColumns(((0.0, 0.0),))
        self._before: TextLine | None = None
        self._labels: EntryLabels | None = None
        self.blocks: list[Block] = []

    def read(self, items: Sequence[TextLine | Block], columns: PageColumns) -> None:
        """Add a page: its lines in reading order, and the blocks already made of some of them."""
        self._columns = columns
        for item, after in zip_longest(items, items[1:]):
            if isinstance(item, Block):
                self.blocks.append(item)
                self._before = None
            elif self._is_apart(item) and (run_in := self._headings.split_run_in(item)):
                head, behind, level = run_in
                self.blocks.append(Block(kind=BlockKind.HEADING, page=head.page, lines=[head], level=level))
                self._add_line(behind, after)
            else:
                self._add_line(item, after)

    def _add_line(self, line: TextLine, after: TextLine | Block | None) -> None:
        block = self.blocks[-1] if self.blocks else None
        step = self._measure_step(line)
        if (
            block is not None
            and block.kind is BlockKind.HEADING
            and len(block.lines) < 4
            and self._headings.wraps(block.lines[-1], line, self._columns, step=step)
        ):
            block.lines.append(line)
        elif level := self._headings.read(line, after, self._columns, step=step, is_apart=self._is_apart(line)):
            self._labels = EntryLabels() if _REFERENCES_HEADING.match(line.text) else None
            self.blocks.append(Block(kind=BlockKind.HEADING, page=line.page, lines=[line], level=level))
        else:
            if id(line) in self._unheaded and self._labels is None:
                self._labels = EntryLabels()
            kind = self._choose_block_kind(line, block)
            if kind is not None or block is None:
                self.blocks.append(Block(kind or BlockKind.PARAGRAPH, line.page, [line]))
            else:
                block.lines.append(line)
        self._before = line

    def _measure_step(self, line: TextLine) -> float:
        """Return the distance from the previous baseline, in points; negative infinity on another page."""
        before = self._before
        return before.base - line.base if before is not None and before.page == line.page else -inf

    def _is_apart(self, line: TextLine) -> bool:
        step = self._measure_step(line)
        after_heading = bool(self.blocks) and self.blocks[-1].kind is BlockKind.HEADING
        return after_heading or step < 0 or step > 1.25 * self._body.leading_of(line)

    def _is_short(self, line: TextLine) -> bool:
        return line.right < self._columns.of(line)[1] - _MIN_SHORT_LINE_GAP_EM * line.size

    def _choose_block_kind(self, line: TextLine, block: Block | None) -> BlockKind | None:
        before = self._before
        text = line.text
        if CAPTION.match(text) and (before is None or self._is_apart(line) or self._differs(line, before)):
            return BlockKind.CAPTION
        if self._labels is not None:
            return self._choose_kind_among_references(line, block, self._labels)
        if self._is_footnote(line):
            return BlockKind.FOOTNOTE
        if self._is_item(line, block):
            return BlockKind.ITEM
        if before is None or block is None or block.kind not in _FLOWING or self._differs(line, before):
            return BlockKind.PARAGRAPH
        step = self._measure_step(line)
        leading = self._body.leading_of(line)
        if step < -2 or step > _MAX_STEP_LEADINGS * leading:
            return self._choose_kind_at_top(line, block, before)
        if self._is_front_matter(line, before):
            return BlockKind.PARAGRAPH
        if step > _MIN_PARAGRAPH_STEP_LEADINGS * leading:
            return None if self._is_pushed_down(line, block, before, step) else BlockKind.PARAGRAPH
        if step < 0.4 * line.size or block.kind not in RUNNING_TEXT:
            return None
        return BlockKind.PARAGRAPH if self._is_new(line, block, before, step > 1.1 * leading) else None

    def _is_front_matter(self, line: TextLine, before: TextLine) -> bool:
        if self._headings.has_begun or line.page > 0 or before.is_cut or before.text.endswith((",", " and", "&")):
            return False
        left, right = self._columns.of(before)
        if before.right < left + _MAX_FRONT_LINE_SHARE * (right - left):
            return True
        are_justified = abs(line.left - before.left) < 1 > abs(line.right - before.right)
        return (
            before.left > left + before.size
            and not are_justified
            and all(
                abs(sum(self._columns.of(other)) - other.left - other.right) < other.size for other in (line, before)
            )
        )

    def _is_pushed_down(self, line: TextLine, block: Block, before: TextLine, step: float) -> bool:
        """Return whether a line continues a sentence although a tall formula, such as a fraction, pushes it down."""
        if (
            block.kind not in RUNNING_TEXT
            or step > _MAX_PUSHED_STEP_LEADINGS * self._body.leading_of(line)
            or self._is_short(before)
        ):
            return False
        is_flush = -_MIN_INDENT_EM * line.size < before.left - line.left < 4 * line.size
        is_open = before.characters >= MIN_PROSE_CHARACTERS and (before.is_cut or not ends_sentence(before.text))
        return is_flush and is_open and (before.is_cut or line.text[:1].islower() or line.runs[0].font.is_maths)

    @staticmethod
    def _differs(line: TextLine, before: TextLine) -> bool:
        return abs(line.size - before.size) > 0.08 * before.size

    def _is_footnote(self, line: TextLine) -> bool:
        mark = line.runs[0]
        is_raised = mark.size < 0.88 * line.size and mark.base > line.base + 0.15 * line.size
        return is_raised and line.size < 0.96 * self._body.size and bool(_FOOTNOTE_MARK.fullmatch(mark.text))

    def _is_item(self, line: TextLine, block: Block | None) -> bool:
        left = self._columns.of(line)[0]
        before = self._before
        if BULLET.match(line.text):
            return line.left > left - 3 and not (
                _DASH_BULLET.match(line.text) and self._is_dash_in_sentence(line, block, before)
            )
        if before is None or not _NUMBERED_ITEM.match(line.text):
            return False
        ended = ends_sentence(before.text)
        return (block is not None and block.kind is BlockKind.ITEM and (ended or self._is_short(before))) or (
            ended or line.left > left + 5
        )

    def _is_dash_in_sentence(self, line: TextLine, block: Block | None, before: TextLine | None) -> bool:
        if before is None or block is None or block.kind not in RUNNING_TEXT:
            return False
        if ends_sentence(before.text) or self._is_short(before) or BULLET.match(block.lines[0].text):
            return False
        step = self._measure_step(line)
        return step <= _MIN_PARAGRAPH_STEP_LEADINGS * self._body.leading_of(line) and (
            step < 0 or line.left < before.left + 5
        )

    def _choose_kind_at_top(self, line: TextLine, block: Block, before: TextLine) -> BlockKind | None:
        if block.kind not in RUNNING_TEXT:
            return BlockKind.PARAGRAPH
        is_open = before.characters >= MIN_PROSE_CHARACTERS and not ends_sentence(before.text)
        goes_on = line.text[:1].islower() or not self._is_short(before)
        return None if before.is_cut or (is_open and goes_on) else BlockKind.PARAGRAPH

    def _is_new(self, line: TextLine, block: Block, before: TextLine, has_space: bool) -> bool:
        left = self._columns.of(line)[0]
        ended = ends_sentence(before.text)
        is_broken_off = ended and self._is_broken_off(block, line)
        if block.kind is BlockKind.ITEM:
            is_outside = line.left < max(other.left for other in block.lines[:2]) - 1.5
            return is_outside and (has_space or ended) and self._is_short(before)
        font = line.runs[0].font
        is_distinct = font.is_bold or font.is_italic or font.is_small_capitals
        if is_broken_off or (ended and is_distinct and _STATEMENT.match(line.text)):
            return True
        is_indented = _MIN_INDENT_EM * line.size < line.left - left < 4 * line.size
        was_indented = before.left > self._columns.of(before)[0] + _MIN_INDENT_EM * line.size
        if is_indented and not was_indented and (ended or self._is_short(before)):
            return True
        return self._is_short(before) and ended and (has_space or line.runs[0].font.is_bold)

    def _is_broken_off(self, block: Block, line: TextLine) -> bool:
        """Return whether the last line, compared with its neighbours, ends so early that the next word would have
        fitted.
        """
        before = block.lines[-1]
        end = max(other.right for other in (*block.lines[-2:-1], line))
        room = min(end, self._columns.of(before)[1]) - before.right
        word = line.text.partition(" ")[0]
        return room > max(_MIN_VERY_SHORT_GAP_EM, _MAX_CHARACTER_WIDTH_EM * (len(word) + 1)) * line.size

    def _choose_kind_among_references(
        self, line: TextLine, block: Block | None, labels: EntryLabels
    ) -> BlockKind | None:
        """Return ENTRY if one begins (label, space above, hanging indent), PARAGRAPH for the rest of a footnote."""
        if labels.begins_entry(line):
            return BlockKind.ENTRY
        if self._is_footnote(line):
            return BlockKind.FOOTNOTE
        before = self._before
        if before is None or block is None:
            return BlockKind.ENTRY
        step = self._measure_step(line) / self._body.leading_of(line)
        differs = self._differs(line, before)
        if block.kind is not BlockKind.ENTRY:
            is_close = 0.4 * line.size < self._measure_step(line) and step <= _MIN_PARAGRAPH_STEP_LEADINGS
            return None if block.kind in _AMONG_REFERENCES and is_close and not differs else BlockKind.ENTRY
        if step > _MIN_PARAGRAPH_STEP_LEADINGS and differs and line.size < before.size:
            return BlockKind.PARAGRAPH
        if has_label(block.lines[0]):
            return None
        return BlockKind.ENTRY if step > 1.25 or line.left - self._columns.of(line)[0] < 4 else None


def rejoin(blocks: Sequence[Block], body: Body) -> list[Block]:
    """Return the blocks with interrupted paragraphs, footnotes and labelled entries joined."""
    kept: list[Block] = []
    # The last of each kind; a paragraph only if nothing but floats and footnotes comes after it.
    text: Block | None = None
    note: Block | None = None
    entry: Block | None = None
    was_note = False
    for block in blocks:
        is_note = note is not None and _continues_note(note, block, body)
        if note is not None and is_note:
            note.lines += block.lines
        elif text is not None and (was_note or text is not kept[-1]) and _continues_text(text, block, body):
            text.lines += block.lines
        elif entry is not None and entry is not kept[-1] and _continues_entry(entry, block):
            entry.lines += block.lines
        else:
            kept.append(block)
            note = block if block.kind is BlockKind.FOOTNOTE else note
            entry = block if block.kind is BlockKind.ENTRY else entry
            text = _choose_open_text(text, block, body)
        was_note = is_note
    return kept


def _choose_open_text(text: Block | None, block: Block, body: Body) -> Block | None:
    if block.kind not in _FLOWING:
        return None
    return block if block.kind in RUNNING_TEXT and block.lines and not _is_aside(block, body) else text


def _is_open(last: TextLine) -> bool:
    return last.is_cut or not ends_sentence(last.text)


def _continues_text(text: Block, block: Block, body: Body) -> bool:
    if block.kind is not BlockKind.PARAGRAPH or not block.lines or not block.lines[0].text[:1].islower():
        return False
    last = text.lines[-1]
    return _is_open(last) and not _is_aside(block, body) and block.page - last.page <= 1


def _continues_entry(entry: Block, block: Block) -> bool:
    if block.kind is not BlockKind.ENTRY or has_label(block.lines[0]) or not has_label(entry.lines[0]):
        return False
    return _is_open(entry.lines[-1]) and block.page - entry.lines[-1].page <= 1


def _continues_note(note: Block, block: Block, body: Body) -> bool:
    if block.kind is not BlockKind.PARAGRAPH or not block.lines:
        return False
    first, last = block.lines[0], note.lines[-1]
    if first.size >= MIN_BODY_SIZE_RATIO * body.size or not _LEADING_NUMBER.sub("", first.text)[:1].islower():
        return False
    is_alike = abs(last.size - first.size) < _MAX_NOTE_SIZE_DIFFERENCE * first.size
    is_elsewhere = last.page < first.page or last.base < first.base or last.right <= first.left
    return _is_open(last) and is_alike and is_elsewhere and last.page >= first.page - 1


def _is_aside(block: Block, body: Body) -> bool:
    first = block.lines[0]
    return first.size < MIN_BODY_SIZE_RATIO * body.size or (
        len(block.lines) == 1 and first.text.startswith("(") and first.characters < MIN_PROSE_CHARACTERS
    )
