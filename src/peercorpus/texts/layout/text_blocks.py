"""Describe the blocks of a paper as records: their offsets in the Markdown, their places, numbers and captions."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from peercorpus.records.blocks import PageBox, TextBlock
from peercorpus.records.enums import BlockKind, MentionKind
from peercorpus.texts.engine import SEPARATOR, escape_rules
from peercorpus.texts.layout.blocks import Block, TextLine

_ASCENT_EM = 0.8
_DESCENT_EM = 0.25
"""Height of a line above its baseline and its depth below it, in em."""
_MAX_RISE_EM = 0.9
"""Height above the previous line, in em, from which a line is at the top of another column."""
_MAX_STEP_EM = 4.0
"""Distance of two baselines of a block, in em, from which something is between them."""
_MAX_CAPTION_GAP_POINTS = 42.0
"""Maximum distance of a table or a listing from its caption, in points."""
_CAPTION_NUMBER = re.compile(
    r"[\W_]*(?:Supplementary |Extended Data )?(?P<kind>fig|tab|alg|list)\w*\.?\s*"
    r"(?P<number>(?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*|[IVX]+\b)",
    re.IGNORECASE,
)
_CAPTION_KINDS = {
    "fig": MentionKind.FIGURE,
    "tab": MentionKind.TABLE,
    "alg": MentionKind.ALGORITHM,
    "list": MentionKind.LISTING,
}
_HEADING_NUMBER = re.compile(
    r"#+ (?:(?:Appendix|Section|Supplement)\s+)?"
    r"(?P<number>\d+(?:\.\d+)*|[A-Z]\d*(?:\.\d+)*(?=[.:)]|\s+[^a-z\s])|[IVX]+(?=\.\s)|[A-Z](?=$))[.:)]?(?=\s|$)"
)
_ENTRY_NUMBER = re.compile(
    r"\\?\[(?P<number>[\w+]{1,12})\\?\]|(?P<plain>\d{1,3})\.\s+(?=[A-Z])|<sup>(?P<raised>\d{1,3})</sup>"
    r"|\((?P<round>\d{1,3})\)\s+(?=[A-Z])"
)
_DESCRIBED = {
    MentionKind.TABLE: (BlockKind.TABLE,),
    MentionKind.ALGORITHM: (BlockKind.LISTING,),
    MentionKind.LISTING: (BlockKind.LISTING,),
}


def describe_blocks(blocks: Sequence[Block], headers: Sequence[Sequence[TextBlock]]) -> list[TextBlock]:
    """Return the blocks of a paper as records, in the order of its Markdown."""
    by_page: list[list[Block]] = [[] for _ in headers]
    for block in blocks:
        by_page[block.page].append(block)
    records: list[TextBlock] = []
    start = 0
    for page, of_page in enumerate(by_page):
        start += len(SEPARATOR) if page else 0
        above, below = _split_headers(headers[page])
        for header in above:
            records.append(replace(header, block_id=len(records), start=start, end=start))
        for number, block in enumerate(of_page):
            start += 2 if number else 0
            end = start + len(escape_rules(str(block.markdown)))
            records.append(_describe(block, len(records), start, end))
            start = end
        for header in below:
            records.append(replace(header, block_id=len(records), start=start, end=start))
    return _match_captions(records)


def make_headers(lines: Sequence[TextLine], height: float) -> list[TextBlock]:
    """Return running headers, footers and page numbers as records without offsets, from top to bottom."""
    return [
        TextBlock(
            block_id=-1,
            kind=BlockKind.PAGE_HEADER if line.base > height / 2 else BlockKind.PAGE_FOOTER,
            start=-1,
            end=-1,
            boxes=_enclose_lines([line]),
            text=line.text,
        )
        for line in sorted(lines, key=lambda line: (-round(line.base), line.left))
    ]


def _split_headers(headers: Sequence[TextBlock]) -> tuple[list[TextBlock], list[TextBlock]]:
    above = [header for header in headers if header.kind is BlockKind.PAGE_HEADER]
    return above, [header for header in headers if header.kind is not BlockKind.PAGE_HEADER]


def _describe(block: Block, block_id: int, start: int, end: int) -> TextBlock:
    kind = block.kind
    boxes = (_round(block.page, *block.box),) if block.box is not None else _enclose_lines(block.lines)
    if kind is BlockKind.PARAGRAPH:  # the most frequent kind has no further fields
        return TextBlock(block_id, kind, start, end, boxes)
    number, caption_of = _read_number(block)
    return TextBlock(
        block_id=block_id,
        kind=kind,
        start=start,
        end=end,
        boxes=boxes,
        level=block.level or None,
        number=number,
        caption_of=caption_of,
        latex=block.latex,
        sureness=None if block.sureness is None else round(block.sureness, 3),
        cells=tuple(block.cells),
    )


def _read_number(block: Block) -> tuple[str | None, MentionKind | None]:
    text = str(block.markdown)
    if block.kind is BlockKind.CAPTION:
        caption = _CAPTION_NUMBER.match(text)
        return (caption["number"], _CAPTION_KINDS[caption["kind"].lower()]) if caption else (None, None)
    pattern = {BlockKind.HEADING: _HEADING_NUMBER, BlockKind.ENTRY: _ENTRY_NUMBER}.get(block.kind)
    found = pattern.match(text) if pattern else None
    return (next(filter(None, found.groups())) if found else block.number), None


def _enclose_lines(lines: Iterable[TextLine]) -> tuple[PageBox, ...]:
    boxes: list[PageBox] = []
    page = -1
    base = left = right = bottom = top = 0.0
    for line in lines:
        size = line.size
        step = base - line.base
        if line.page != page or not -_MAX_RISE_EM * size < step < _MAX_STEP_EM * size:
            if page >= 0:
                boxes.append(_round(page, left, bottom, right, top))
            page = line.page
            left, right = line.left, line.right
            bottom, top = line.base - _DESCENT_EM * size, line.base + _ASCENT_EM * size
        else:
            left = min(left, line.left)
            right = max(right, line.right)
            bottom = min(bottom, line.base - _DESCENT_EM * size)
            top = max(top, line.base + _ASCENT_EM * size)
        base = line.base
    if page >= 0:
        boxes.append(_round(page, left, bottom, right, top))
    return tuple(boxes)


def _round(page: int, left: float, bottom: float, right: float, top: float) -> PageBox:
    return PageBox(page + 1, round(left, 1), round(bottom, 1), round(right, 1), round(top, 1))


def _match_captions(blocks: list[TextBlock]) -> list[TextBlock]:
    described = [block for block in blocks if block.kind in {BlockKind.TABLE, BlockKind.LISTING} and block.boxes]
    captions = [block for block in blocks if block.caption_of in _DESCRIBED and block.boxes]
    for caption in captions:
        own = _find_nearest(caption, [block for block in described if _fits(caption, block)])
        back = _find_nearest(own, [block for block in captions if _fits(block, own)]) if own else None
        if own is not None and back is caption:
            blocks[caption.block_id] = replace(caption, describes=own.block_id)
    return blocks


def _fits(caption: TextBlock, block: TextBlock) -> bool:
    return caption.caption_of is not None and block.kind in _DESCRIBED[caption.caption_of]


def _find_nearest(block: TextBlock, others: Sequence[TextBlock]) -> TextBlock | None:
    gaps = [(gap, other.block_id, other) for other in others if (gap := _measure_gap(block, other)) is not None]
    gap, _, nearest = min(gaps, default=(0.0, -1, None))
    return nearest if gap <= _MAX_CAPTION_GAP_POINTS else None


def _measure_gap(block: TextBlock, other: TextBlock) -> float | None:
    here, there = block.boxes[0], other.boxes[0]
    if here.page != there.page or min(here.x1, there.x1) - max(here.x0, there.x0) <= 0:
        return None
    return max(0.0, here.y0 - there.y1, there.y0 - here.y1)
