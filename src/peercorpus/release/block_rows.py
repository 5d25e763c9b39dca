"""Make the columns `blocks` and `mentions` of a text, with offsets in the published text."""

from dataclasses import replace

from peercorpus.records.blocks import TextBlock
from peercorpus.records.structured_text import StructuredText
from peercorpus.records.untrusted_text import redact_people
from peercorpus.release.record_rows import Row, as_row


def mask_blocks(text: StructuredText, masked: str) -> StructuredText | None:
    """Return a text with e-mail addresses and profile ids masked, its blocks at their new offsets.

    Args:
        text: The text as read from the file.
        masked: Its Markdown with names of people masked.

    Returns:
        None if an address spans two blocks, so that their offsets are not known.
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
    """Return the columns of a text; null if it has no blocks.

    Args:
        text: The published text.
        with_authors: Whether people may be named; otherwise the text of running headers, which may name authors, is not
            published.
    """
    if text is None:
        return {"blocks": None, "mentions": None}
    blocks = [block if with_authors else replace(block, text=None) for block in text.blocks]
    row: Row = redact_people({"blocks": list(map(as_row, blocks)), "mentions": list(map(as_row, text.mentions))})
    return row
