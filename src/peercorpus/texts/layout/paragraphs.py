"""Lines put together to blocks, in the order in which a paper is read."""

import re
from collections.abc import Sequence
from itertools import zip_longest
from math import inf

from peercorpus.texts.layout.blocks import Block, Body, Kind
from peercorpus.texts.layout.columns import LONG, Columns
from peercorpus.texts.layout.headings import Headings
from peercorpus.texts.layout.lines import Line, ends_sentence

CAPTION = re.compile(
    r"(?:(?:Supplementary |Extended Data )?(?:Figure|Fig\.|Table|Tab\.|Algorithm|Listing|Scheme|Box)\s*"
    r"(?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*\s*(?:[.:|\u2013\u2014]|$|\((?=[a-z]\)))|(?:TABLE|FIGURE|FIG\.)\s*(?:[IVX]+|\d+)\b|Algorithm\s+\d+\s+[A-Z])"
)
BULLET = re.compile(r"[•‣▪■●◦○∙⋄♦\u2013\u2014►▶✓➢⃁·\uf0b7\uf0a7\uf0d8\uf076\uf0fc]\s*(?=\S)|[-*]\s+(?=\S)")
"""How an item begins; the last five are the bullets of word processors, in the codes of symbol fonts."""
DASH = re.compile(r"[-\u2013\u2014·*]")
"""What begins an item, or stands inside a sentence."""
STATEMENT = re.compile(
    r"(?:Theorem|Lemma|Corollary|Proposition|Definition|Remark|Example|Assumption|Claim|Conjecture|Fact|Observation)"
    r"\s+[A-Z]?\.?\d|Proof\b"
)
NUMBERED_ITEM = re.compile(r"(?:\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})\)|(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+\S")
LABEL = re.compile(r"\[(?:\d{1,3}|[A-Za-z+]{2,8}\d{2}[a-z]?)\]\s*|\d{1,3}\.\s+(?=[A-Z])")
MARK = re.compile(r"\d{1,2}|[*†‡§¶\u2217♯♠♣]")
REFERENCES = re.compile(r"(?:\W|\d)*(?:references|bibliography)\W*$", re.IGNORECASE)

SHORT = 2.0
"""How far, in the size of the font, a line ends before its column does that ends a paragraph."""
INDENTED = 0.7
"""How far, in the size of the font, the first line of a paragraph begins inside its column."""
APART = 1.32
"""Step to the next line over the leading, from which on another paragraph begins."""
PUSHED = 2.4
"""The same, up to which the line of a paragraph is pushed down by a tall formula."""
NAMES_END = 0.75
"""Share of the width of a column before which a line below the title ends that stands by itself."""
VERY_SHORT = 6.0
"""How far a line ends before its column does, in the size of the font, that ends a paragraph without any space."""
WORD = 0.6
"""Width of a character, in the size of the font, at most."""
FAR = 6.0
"""Step over the leading, from which on a line stands elsewhere."""
SET_SMALLER = 0.95
"""Size over that of the body, below which a line is none of it."""
# Tuples, as the hash of a member of an enumeration takes longer than a look at five of them.
RUNNING = (Kind.PARAGRAPH, Kind.ITEM)
ASIDE = (Kind.FOOTNOTE, Kind.CAPTION, Kind.TABLE, Kind.LISTING)
"""Blocks that may stand inside a paragraph: at the foot of a column, or floating."""
FLOWING = (*RUNNING, *ASIDE)


class Paragraphs:
    """Takes the lines of a paper, page by page.

    Attributes:
        blocks: What was made of them so far.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._headings = Headings(body)
        self._columns = Columns(((0.0, 0.0),))
        self._before: Line | None = None
        self._in_references = False
        self.blocks: list[Block] = []

    def read(self, items: Sequence[Line | Block], columns: Columns) -> None:
        """Take the lines of a page in the order in which they are read, with the blocks already made of some."""
        self._columns = columns
        for item, after in zip_longest(items, items[1:]):
            if isinstance(item, Block):
                self.blocks.append(item)
                self._before = None
            else:
                self._take(item, after)

    def _take(self, line: Line, after: Line | Block | None) -> None:
        block = self.blocks[-1] if self.blocks else None
        if block is not None and block.kind is Kind.HEADING and self._wraps(block, line):
            block.lines.append(line)
        elif level := self._headings.read(
            line, after, self._columns, step=self._step(line), is_apart=self._is_apart(line)
        ):
            self._in_references = bool(REFERENCES.match(line.text))
            self.blocks.append(Block(Kind.HEADING, line.page, [line], level))
        else:
            kind = self._begins(line, block)
            if kind is not None or block is None:
                self.blocks.append(Block(kind or Kind.PARAGRAPH, line.page, [line]))
            else:
                block.lines.append(line)
        self._before = line

    def _wraps(self, block: Block, line: Line) -> bool:
        return len(block.lines) < 4 and self._headings.wraps(
            block.lines[-1], line, self._columns, step=self._step(line)
        )

    def _step(self, line: Line) -> float:
        """From the line before down to this one, in points; below 0 where it stands elsewhere."""
        before = self._before
        return before.base - line.base if before is not None and before.page == line.page else -inf

    def _is_apart(self, line: Line) -> bool:
        step = self._step(line)
        after_heading = bool(self.blocks) and self.blocks[-1].kind is Kind.HEADING
        return after_heading or step < 0 or step > 1.25 * self._body.leading_of(line)

    def _is_short(self, line: Line) -> bool:
        return line.right < self._columns.of(line)[1] - SHORT * line.size

    def _begins(self, line: Line, block: Block | None) -> Kind | None:
        """The kind of the block that a line begins; None where it goes on with the last one."""
        before, text = self._before, line.text
        if CAPTION.match(text) and (before is None or self._is_apart(line) or self._differs(line, before)):
            return Kind.CAPTION
        if self._is_footnote(line):
            return Kind.FOOTNOTE
        if self._in_references:
            return self._entry(line, block)
        if self._is_item(line, block):
            return Kind.ITEM
        if before is None or block is None or block.kind not in FLOWING or self._differs(line, before):
            return Kind.PARAGRAPH
        step, leading = self._step(line), self._body.leading_of(line)
        if step < -2 or step > FAR * leading:
            return self._elsewhere(line, block, before)
        if self._is_in_front(line, before):
            return Kind.PARAGRAPH
        if step > APART * leading:
            return None if self._is_pushed_down(line, block, before, step) else Kind.PARAGRAPH
        if step < 0.4 * line.size or block.kind not in RUNNING:
            return None
        return Kind.PARAGRAPH if self._is_new(line, block, before, step > 1.1 * leading) else None

    def _is_in_front(self, line: Line, before: Line) -> bool:
        """Whether a line stands by itself below the title: authors, where they work, notes."""
        if self._headings.has_begun or line.page > 0 or before.is_cut or before.text.endswith((",", " and", "&")):
            return False
        left, right = self._columns.of(before)
        if before.right < left + NAMES_END * (right - left):
            return True
        are_justified = abs(line.left - before.left) < 1 > abs(line.right - before.right)
        return (
            before.left > left + before.size
            and not are_justified
            and all(abs(sum(self._columns.of(one)) - one.left - one.right) < one.size for one in (line, before))
        )

    def _is_pushed_down(self, line: Line, block: Block, before: Line, step: float) -> bool:
        """Whether a sentence goes on in a line that a tall formula, such as a fraction, has pushed down."""
        if block.kind not in RUNNING or step > PUSHED * self._body.leading_of(line) or self._is_short(before):
            return False
        is_flush = -INDENTED * line.size < before.left - line.left < 4 * line.size
        is_open = before.characters >= LONG and (before.is_cut or not ends_sentence(before.text))
        return is_flush and is_open and (before.is_cut or line.text[:1].islower() or line.runs[0].font.is_maths)

    @staticmethod
    def _differs(line: Line, before: Line) -> bool:
        return abs(line.size - before.size) > 0.08 * before.size

    def _is_footnote(self, line: Line) -> bool:
        mark = line.runs[0]
        is_raised = mark.size < 0.88 * line.size and mark.base > line.base + 0.15 * line.size
        return is_raised and line.size < 0.96 * self._body.size and bool(MARK.fullmatch(mark.text))

    def _is_item(self, line: Line, block: Block | None) -> bool:
        left = self._columns.of(line)[0]
        before = self._before
        if BULLET.match(line.text):
            return line.left > left - 3 and not (DASH.match(line.text) and self._is_inside(line, block, before))
        if before is None or not NUMBERED_ITEM.match(line.text):
            return False
        ended = ends_sentence(before.text)
        return (block is not None and block.kind is Kind.ITEM and (ended or self._is_short(before))) or (
            ended or line.left > left + 5
        )

    def _is_inside(self, line: Line, block: Block | None, before: Line | None) -> bool:
        """Whether a dash at the beginning of a line stands inside a sentence that fills the line before."""
        if before is None or block is None or block.kind not in RUNNING:
            return False
        if ends_sentence(before.text) or self._is_short(before) or BULLET.match(block.lines[0].text):
            return False
        step = self._step(line)
        return step <= APART * self._body.leading_of(line) and (step < 0 or line.left < before.left + 5)

    def _elsewhere(self, line: Line, block: Block, before: Line) -> Kind | None:
        """At the top of another column or page: whether a sentence goes on there."""
        if block.kind not in RUNNING:
            return Kind.PARAGRAPH
        is_open = before.characters >= LONG and not ends_sentence(before.text)
        goes_on = line.text[:1].islower() or not self._is_short(before)
        return None if before.is_cut or (is_open and goes_on) else Kind.PARAGRAPH

    def _is_new(self, line: Line, block: Block, before: Line, has_space: bool) -> bool:
        """Whether another paragraph begins, by its indent or by how the last one ended."""
        left, ended = self._columns.of(line)[0], ends_sentence(before.text)
        is_broken_off = ended and self._is_broken_off(block, line)
        if block.kind is Kind.ITEM:
            is_outside = line.left < max(one.left for one in block.lines[:2]) - 1.5
            return is_outside and (has_space or ended) and self._is_short(before)
        if is_broken_off or (ended and _is_statement(line)):
            return True
        is_indented = INDENTED * line.size < line.left - left < 4 * line.size
        was_indented = before.left > self._columns.of(before)[0] + INDENTED * line.size
        if is_indented and not was_indented and (ended or self._is_short(before)):
            return True
        return self._is_short(before) and ended and (has_space or line.runs[0].font.is_bold)

    def _is_broken_off(self, block: Block, line: Line) -> bool:
        """Whether the last line ends far before its column does and its neighbours do, as none beside a figure does.

        The next word would have fitted on it.
        """
        before = block.lines[-1]
        end = max(one.right for one in (*block.lines[-2:-1], line))
        room = min(end, self._columns.of(before)[1]) - before.right
        word = line.text.partition(" ")[0]
        return room > max(VERY_SHORT, WORD * (len(word) + 1)) * line.size

    def _entry(self, line: Line, block: Block | None) -> Kind | None:
        """Entries of a bibliography begin with a label, with space above, or hang out of the others' lines."""
        before = self._before
        if LABEL.match(line.text) or block is None or block.kind is not Kind.ENTRY or before is None:
            return Kind.ENTRY
        if LABEL.match(block.lines[0].text):
            return None
        if self._step(line) > 1.25 * self._body.leading_of(line):
            return Kind.ENTRY
        return Kind.ENTRY if line.left - self._columns.of(line)[0] < 4 else None


def _is_statement(line: Line) -> bool:
    """Whether a line begins with the name of a theorem or of its like, or a proof, set off from the text."""
    font = line.runs[0].font
    return (font.is_bold or font.is_italic or font.is_small_capitals) and bool(STATEMENT.match(line.text))


def rejoin(blocks: Sequence[Block], body: Body) -> list[Block]:
    """The same blocks, paragraphs made whole that a figure, a table or a footnote stands in."""
    kept: list[Block] = []
    for block in blocks:
        first = _interrupted(kept, block, body) if block.kind is Kind.PARAGRAPH and block.lines else None
        if first is None:
            kept.append(block)
        else:
            first.lines += block.lines
    return kept


def _interrupted(kept: Sequence[Block], block: Block, body: Body) -> Block | None:
    """The paragraph that a block goes on with, behind what stands between them."""
    if not block.lines[0].text[:1].islower() or _is_aside(block, body):
        return None
    for before in reversed(kept):
        if before.kind in RUNNING and before.lines and not _is_aside(before, body):
            last = before.lines[-1]
            is_open = last.is_cut or not ends_sentence(last.text)
            return before if is_open and before is not kept[-1] and block.page - last.page <= 1 else None
        if before.kind not in FLOWING:
            return None
    return None


def _is_aside(block: Block, body: Body) -> bool:
    """Whether a paragraph is none of the body: set smaller, or a label below a part of a figure."""
    first = block.lines[0]
    return first.size < SET_SMALLER * body.size or (
        len(block.lines) == 1 and first.text.startswith("(") and first.characters < LONG
    )
