"""Make the columns `blocks` and `mentions` of a text, with offsets in the text that is published."""

from dataclasses import replace

from peercorpus.records.blocks import TextBlock
from peercorpus.records.structured_text import StructuredText
from peercorpus.records.untrusted_text import redact_people
from peercorpus.release.record_rows import Row, as_row


def mask_blocks(text: StructuredText, masked: str) -> StructuredText | None:
    """Return a text with e-mail addresses and profile ids masked, its blocks at their new offsets.

    Args:
        text: The text as it was read.
        masked: Its Markdown with what names people masked.

    Returns:
        None where an address reaches over two blocks, so that their offsets are not known.
    """
    if text.markdown == masked:
        return text
    blocks: list[TextBlock] = []
    written = ""
    at = 0
    for block in text.blocks:
        written += text.markdown[at : block.start]
        start = len(written)
        written += redact_people(text.read(block))
        blocks.append(replace(block, start=start, end=len(written)))
        at = block.end
    return StructuredText(masked, tuple(blocks)) if written + text.markdown[at:] == masked else None


def block_columns(text: StructuredText | None, *, with_authors: bool) -> Row:
    """Return the columns of a text, null where it has no blocks.

    Args:
        text: The text that is published.
        with_authors: Whether people are named; otherwise the words of running headers, which may name authors, are not
            published.
    """
    if text is None:
        return {"blocks": None, "mentions": None}
    blocks = [block if with_authors else replace(block, text=None) for block in text.blocks]
    row: Row = redact_people({"blocks": list(map(as_row, blocks)), "mentions": list(map(as_row, text.mentions))})
    return row
