"""Find the places of figures and tables on the pages of a paper: each is searched next to its caption.

A caption bounds its figure on one side; running text, other captions and the page furniture bound it on the others. The
figure consists of everything drawn in between, and the words among it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.shapes import Box, Shapes
from peercorpus.records.enums import FigureKind
from peercorpus.texts.layout.blocks import Block, BlockKind, TextLine
from peercorpus.texts.layout.columns import PageColumns
from peercorpus.texts.layout.paragraphs import CAPTION

_LABEL = re.compile(
    r"(?P<part>(?:Supplementary|Extended Data) )?(?P<kind>Fig(?:ure|\.)|Tab(?:le|\.))\s*"
    r"(?P<number>(?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*|[IVX]+\b)",
    re.IGNORECASE,
)
"""Label of a caption; algorithms, listings and boxes are text, so they have no image."""
_NAMES = {FigureKind.FIGURE: "Figure", FigureKind.TABLE: "Table"}

_MAX_GAP_POINTS = 42.0
"""Maximum white space inside a figure, and between it and its caption, in points."""
_MIN_SIDE_POINTS = 12.0
_MIN_FRAME_WIDTH_POINTS, _MIN_FRAME_HEIGHT_POINTS = 60.0, 24.0
"""Minimum size of a drawn box whose text belongs to it, such as a framed example, in points."""
_MAX_DRAWING_SHARE = 0.8
"""Share of the page area from which a drawing is the background of the page."""
_MAX_OVERHANG_POINTS = 20.0
"""Maximum distance that a figure extends beyond the text beside it, in points; line numbers are further out."""
_MIN_COLUMN_SHARE = 0.5
"""Text width of a single-column page, as a share, below which it does not show the width of the column."""
_MARGIN_SHARE = 0.1
"""Usual margin, as a share of the page width."""
_MIN_PROSE_CHARACTERS = 30
"""Minimum characters of a line of prose; labels and cells are shorter."""
_MIN_PROSE_WIDTH_SHARE = 0.6
"""Minimum width of the longest line of a paragraph, as a share of its column."""
_MIN_REPEATS = 3
"""Minimum number of pages on which a drawing recurs at the same place as part of the page design."""
_MAX_DRAWINGS = 20_000
_ASCENT_EM, _DESCENT_EM = 0.8, 0.25
"""Height of a line above its baseline and its depth below it, in em."""
_BOUNDS = frozenset(
    {BlockKind.TITLE, BlockKind.HEADING, BlockKind.CAPTION, BlockKind.FOOTNOTE, BlockKind.FORMULA, BlockKind.ENTRY}
)
"""Kinds of blocks that end a figure wherever they are outside a frame."""


_TEXT_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.LISTING})
"""Kinds of blocks that end a figure if they are prose."""
_MAX_OFFSET_POINTS = 2.0
"""Maximum distance of the baselines of captions side by side, in points."""
_MAX_STEP_EM = 2.5
"""Maximum distance of two baselines of one paragraph, in em."""


@dataclass(frozen=True, slots=True)
class PageDrawing:
    """What a page contains besides its text: boxes of what is drawn, of tables, and of words in figures, and all its
    lines.
    """

    width: float
    height: float
    drawn: Sequence[Box] = ()
    tables: Sequence[Box] = ()
    words: Sequence[Box] = ()
    lines: Sequence[TextLine] = ()


@dataclass(frozen=True, slots=True)
class Region:
    """A caption, its full label ("Figure 3"), its page (from 0), and its figure's place; None if nothing is drawn."""

    kind: FigureKind
    label: str
    caption: str
    page: int
    box: Box | None


def read_label(text: str) -> tuple[FigureKind, str] | None:
    """Return the kind and the full label of a caption; None for a caption of something else.

    >>> read_label("Fig. 3: Loss."), read_label("TABLE IV. Scores"), read_label("Algorithm 1: Sort")
    ((<FigureKind.FIGURE: 'figure'>, 'Figure 3'), (<FigureKind.TABLE: 'table'>, 'Table IV'), None)
    """
    found = _LABEL.match(text)
    if found is None:
        return None
    kind = FigureKind.FIGURE if found["kind"][0] in "Ff" else FigureKind.TABLE
    return kind, f"{(found['part'] or '').capitalize()}{_NAMES[kind]} {found['number']}"


def gather_drawn(shapes: Shapes) -> list[Box]:
    """Return the boxes of everything drawn on a page."""
    drawn = [*shapes.images, *shapes.forms, *shapes.strokes, *shapes.rules, *shapes.uprights]
    return drawn[:_MAX_DRAWINGS]


def enclose(runs: Iterable[TextRun]) -> list[Box]:
    """Return the boxes of runs."""
    return [_text_box(run.left, run.right, run.base, run.base, run.size) for run in runs]


def _text_box(left: float, right: float, low: float, high: float, size: float) -> Box:
    return Box(left, low - _DESCENT_EM * size, right, high + _ASCENT_EM * size)


def _line_box(line: TextLine) -> Box:
    return _text_box(line.left, line.right, line.base, line.base, line.size)


def _unite(boxes: Iterable[Box]) -> Box:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return Box(min(lefts), min(bottoms), max(rights), max(tops))


def _overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    return min(first[1], second[1]) - max(first[0], second[0])


def find_regions(
    blocks: Sequence[Block], drawings: Sequence[PageDrawing], columns: Sequence[PageColumns]
) -> list[Region]:
    """Return a region for every caption of a figure or a table, in the order of the text."""
    furniture = _find_furniture(drawings)
    regions: list[Region] = []
    sides: list[list[Box | None]] = []
    for number, drawing in enumerate(drawings):
        of_page = _separate_captions([block for block in blocks if block.lines and block.lines[0].page == number])
        page = _Page(replace(drawing, drawn=_without_design(drawing, furniture)), columns[number], of_page)
        for block in of_page:
            read = read_label(block.lines[0].text) if block.kind is BlockKind.CAPTION else None
            if read is not None:
                regions.append(Region(*read, str(block.markdown), number, None))
                sides.append([page.search(block, read[0], is_above=is_above) for is_above in (True, False)])
    above = {kind: _is_usually_above(kind, regions, sides) for kind in FigureKind}
    return [
        replace(region, box=_choose_side(found, is_above=above[region.kind]))
        for region, found in zip(regions, sides, strict=True)
    ]


def _separate_captions(blocks: Sequence[Block]) -> list[Block]:
    bases = [block.lines[0].base for block in blocks if block.kind is BlockKind.CAPTION]
    separate: list[Block] = []
    for block in blocks:
        first = block.lines[0]
        is_beside = CAPTION.match(first.text) and any(abs(first.base - base) < _MAX_OFFSET_POINTS for base in bases)
        separate += _split_captions(replace(block, kind=BlockKind.CAPTION) if is_beside else block)
    return separate


def _split_captions(block: Block) -> list[Block]:
    starts = [at for at, line in enumerate(block.lines) if at == 0 or CAPTION.match(line.text)]
    if block.kind is not BlockKind.CAPTION or len(starts) == 1:
        return [block]
    parts = [block.lines[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
    return [replace(block, lines=lines, markdown=" ".join(line.text for line in lines)) for lines in parts]


def _place(box: Box) -> tuple[int, ...]:
    return tuple(round(edge) for edge in box)


def _find_furniture(drawings: Sequence[PageDrawing]) -> set[tuple[int, ...]]:
    """Return the places at which something is drawn on several pages, such as the rule below a running header."""
    places = Counter(place for drawing in drawings for place in set(map(_place, drawing.drawn)))
    return {place for place, pages in places.items() if pages >= _MIN_REPEATS}


def _without_design(drawing: PageDrawing, furniture: set[tuple[int, ...]]) -> list[Box]:
    largest = _MAX_DRAWING_SHARE * drawing.width * drawing.height
    sheet = Box(0.0, 0.0, drawing.width, drawing.height)
    inside = (_intersect(box, sheet) for box in drawing.drawn if _place(box) not in furniture)
    return [box for box in inside if (box.right - box.left) * (box.top - box.bottom) < largest]


def _split_at_gaps(block: Block) -> list[list[TextLine]]:
    groups: list[list[TextLine]] = []
    for line in block.lines:
        if line.page != block.lines[0].page:
            continue
        if groups and 0 <= groups[-1][-1].base - line.base < _MAX_STEP_EM * line.size:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _is_usually_above(kind: FigureKind, regions: Sequence[Region], sides: Sequence[Sequence[Box | None]]) -> bool:
    of_kind = [found for region, found in zip(regions, sides, strict=True) if region.kind is kind]
    above = sum(over is not None and under is None for over, under in of_kind)
    below = sum(over is None and under is not None for over, under in of_kind)
    return above >= below if kind is FigureKind.FIGURE else above > below


def _choose_side(found: Sequence[Box | None], *, is_above: bool) -> Box | None:
    over, under = found
    return (over or under) if is_above else (under or over)


class _Page:
    def __init__(self, drawing: PageDrawing, columns: PageColumns, blocks: Sequence[Block]) -> None:
        self._drawing = drawing
        self._columns = columns
        self._frames = [
            box
            for box in drawing.drawn
            if box.right - box.left >= _MIN_FRAME_WIDTH_POINTS and box.top - box.bottom >= _MIN_FRAME_HEIGHT_POINTS
        ]
        self._solid = [*drawing.drawn, *drawing.tables]
        self._bounds: list[tuple[Box, Block | None]] = []
        self._loose: list[Box] = list(drawing.words)
        self._sort_lines(blocks)

    def _sort_lines(self, blocks: Sequence[Block]) -> None:
        in_blocks: set[int] = set()
        for block in blocks:
            in_blocks |= {id(line) for line in block.lines}
            for lines in _split_at_gaps(block):
                is_bound = block.kind in _BOUNDS or self._is_prose(block.kind, lines)
                for box in map(_line_box, lines):
                    if block.kind is BlockKind.CAPTION or (is_bound and not self._is_framed(box)):
                        self._bounds.append((box, block))
                    else:
                        self._loose.append(box)
        headers = (line for line in self._drawing.lines if id(line) not in in_blocks)
        self._bounds += [(_line_box(line), None) for line in headers if not self._is_framed(_line_box(line))]

    def _is_framed(self, box: Box) -> bool:
        x, y = (box.left + box.right) / 2, (box.bottom + box.top) / 2
        return any(frame.holds(x, y) for frame in self._frames)

    def _is_prose(self, kind: BlockKind, lines: Sequence[TextLine]) -> bool:
        longest = max(lines, key=lambda line: line.characters)
        if kind not in _TEXT_KINDS or longest.characters < _MIN_PROSE_CHARACTERS:
            return False
        left, right = self._columns.of(longest)
        return longest.right - longest.left >= _MIN_PROSE_WIDTH_SHARE * (right - left)

    def search(self, block: Block, kind: FigureKind, *, is_above: bool) -> Box | None:
        caption = _unite(map(_line_box, _split_at_gaps(block)[0]))
        left, right = self._find_sides(block, caption)
        if is_above:
            low, high = caption.top, self._find_end(block, caption, (left, right), is_above=True)
        else:
            low, high = self._find_end(block, caption, (left, right), is_above=False), caption.bottom
        band = Box(left, low, right, high)
        solid = _clip(self._solid, band)
        near = _grow([*solid, *_clip(self._loose, band)], low if is_above else high, is_above=is_above)
        drawn = [box for box in solid if box in near]
        if not drawn:
            return None
        box = _unite(near)
        if kind is FigureKind.TABLE:
            rules = _unite(drawn)  # a table ends with its last rule; a line of text may follow
            box = Box(box.left, rules.bottom, box.right, rules.top)
        box = self._cut_text_beside(block, caption, box)
        is_large = min(box.right - box.left, box.top - box.bottom) >= _MIN_SIDE_POINTS
        return box if is_large else None

    def _find_sides(self, block: Block, caption: Box) -> tuple[float, float]:
        left, right = self._find_column(replace(block.lines[0], left=caption.left, right=caption.right))
        left, right = min(left, caption.left) - _MAX_OVERHANG_POINTS, max(right, caption.right) + _MAX_OVERHANG_POINTS
        for box, other in self._bounds:
            if other is block or _overlap((box.bottom, box.top), (caption.bottom, caption.top)) <= 1:
                continue
            is_caption = other is not None and other.kind is BlockKind.CAPTION
            if box.right <= caption.left:
                left = max(left, (box.right + caption.left) / 2 if is_caption else box.right)
            elif box.left >= caption.right:
                right = min(right, (box.left + caption.right) / 2 if is_caption else box.left)
        return left, right

    def _cut_text_beside(self, block: Block, caption: Box, box: Box) -> Box:
        for other_box, other in self._bounds:
            if other is block or _overlap((other_box.bottom, other_box.top), (box.bottom, box.top)) <= 1:
                continue
            if other_box.right <= caption.left:
                box = box._replace(left=max(box.left, other_box.right))
            elif other_box.left >= caption.right:
                box = box._replace(right=min(box.right, other_box.left))
        return box

    def _find_column(self, line: TextLine) -> tuple[float, float]:
        width = self._drawing.width
        left, right = self._columns.of(line)
        is_known = len(self._columns.spans) > 1 or right - left >= _MIN_COLUMN_SHARE * width
        return (left, right) if is_known else (_MARGIN_SHARE * width, (1 - _MARGIN_SHARE) * width)

    def _find_end(self, block: Block, caption: Box, sides: tuple[float, float], *, is_above: bool) -> float:
        bounding = [
            box
            for box, other in self._bounds
            if other is not block and _overlap((box.left, box.right), sides) > min(10.0, (box.right - box.left) / 2)
        ]
        if is_above:
            ends = (box.bottom for box in bounding if box.bottom >= caption.top - 2)
            return max(caption.top, min(ends, default=self._drawing.height))
        ends = (box.top for box in bounding if box.top <= caption.bottom + 2)
        return min(caption.bottom, max(ends, default=0.0))


def _clip(boxes: Iterable[Box], band: Box) -> list[Box]:
    return [_intersect(box, band) for box in boxes if _is_mostly_in(box, band)]


def _is_mostly_in(box: Box, band: Box) -> bool:
    width = min(box.right - box.left, band.right - band.left)
    is_between = band.bottom <= (box.bottom + box.top) / 2 <= band.top
    return is_between and _overlap((box.left, box.right), (band.left, band.right)) >= 0.5 * width


def _intersect(first: Box, second: Box) -> Box:
    left, bottom = max(first.left, second.left), max(first.bottom, second.bottom)
    return Box(left, bottom, min(first.right, second.right), min(first.top, second.top))


def _grow(boxes: Sequence[Box], start: float, *, is_above: bool) -> list[Box]:
    near: list[Box] = []
    end = start
    for box in sorted(boxes, key=lambda box: box.bottom if is_above else -box.top):
        gap = box.bottom - end if is_above else end - box.top
        if gap > _MAX_GAP_POINTS:
            break
        near.append(box)
        end = max(end, box.top) if is_above else min(end, box.bottom)
    return near


EMPTY = PageDrawing(width=0.0, height=0.0)
