"""Split the blocks of a text by page, and join the pages of several engines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from peercorpus.records.blocks import TextBlock
from peercorpus.records.enums import BlockKind
from peercorpus.texts.engine import SEPARATOR, Converted


def split_blocks(converted: Converted) -> list[list[TextBlock]]:
    """Return the blocks of each page, with offsets from the start of the page; without blocks, each page is one."""
    pages: list[list[TextBlock]] = []
    start = 0
    for text in converted.markdown.split(SEPARATOR):
        end = start + len(text)
        if converted.blocks is None:
            pages.append([TextBlock(0, BlockKind.UNDIVIDED, 0, len(text))] if text else [])
        else:
            on_page = (block for block in converted.blocks if start <= block.start <= end)
            pages.append([replace(block, start=block.start - start, end=block.end - start) for block in on_page])
        start = end + len(SEPARATOR)
    return pages


def join_blocks(texts: Iterable[str], pages: Iterable[Sequence[TextBlock]]) -> tuple[TextBlock, ...]:
    """Return the blocks of a whole text, renumbered.

    Args:
        texts: The text of each page.
        pages: The blocks of each page, with offsets from its start.
    """
    joined: list[TextBlock] = []
    start = 0
    for text, blocks in zip(texts, pages, strict=True):
        ids = {block.block_id: number for number, block in enumerate(blocks, len(joined))}
        joined += [
            replace(
                block,
                block_id=ids[block.block_id],
                start=block.start + start,
                end=block.end + start,
                describes=None if block.describes is None else ids.get(block.describes),
            )
            for block in blocks
        ]
        start += len(text) + len(SEPARATOR)
    return tuple(joined)


def renumber_pages(blocks: Iterable[TextBlock], numbers: Mapping[int, int]) -> list[TextBlock]:
    """Return blocks with new page numbers in their boxes, as needed after extracting pages of a file."""
    return [
        replace(block, boxes=tuple(replace(box, page=numbers[box.page]) for box in block.boxes)) for block in blocks
    ]
