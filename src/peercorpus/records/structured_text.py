"""A text with its blocks: read parts of it, and resolve the references in its sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from peercorpus.records.bibliography import read_bibliography
from peercorpus.records.blocks import BibliographyEntry, Mention, TextBlock
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import BlockKind


@dataclass(frozen=True)
class StructuredText:
    """A text with its blocks. The references in its sentences are found on first access.

    Attributes:
        markdown: The whole text.
        blocks: Its blocks, whose offsets are those of `markdown`.
    """

    markdown: str
    blocks: tuple[TextBlock, ...]

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Citations, and mentions of formulas, figures, tables, algorithms and sections, in the order of the text."""
        from peercorpus.records.mentions import find_mentions  # Compiling its expressions takes 15 ms.

        return tuple(find_mentions(self.markdown, self.blocks))

    @cached_property
    def bibliography(self) -> tuple[BibliographyEntry, ...]:
        """Entries of the list of references, in order."""
        return tuple(read_bibliography(self.markdown, self.blocks))

    def read(self, part: TextBlock | Mention) -> str:
        """Return the Markdown of a block, or the words of a mention."""
        return self.markdown[part.start : part.end]

    def of_kind(self, kind: BlockKind | str) -> list[TextBlock]:
        """Return the blocks of a kind, such as "formula"."""
        return [block for block in self.blocks if block.kind == kind]

    def find_target(self, mention: Mention) -> TextBlock | None:
        """Return the block that a mention refers to; None if unknown."""
        return None if mention.target is None else self.blocks[mention.target]

    def find_mentions_of(self, block: TextBlock) -> list[Mention]:
        """Return the references to a block: the citations of an entry, or the mentions of a caption."""
        return [mention for mention in self.mentions if mention.target == block.block_id]

    def find_headings(self, block: TextBlock) -> list[TextBlock]:
        """Return the headings above a block, from the section's heading downwards; empty before the first heading."""
        above: list[TextBlock] = []
        for heading in reversed(self.blocks[: block.block_id]):
            if heading.level is not None and (not above or heading.level < (above[0].level or 0)):
                above.insert(0, heading)
        return above

    def is_whole(self) -> bool:
        """Return whether the blocks form the whole Markdown in order, with nothing else between them."""
        at = 0
        for block in self.blocks:
            if not at <= block.start <= block.end or _has_words(self.markdown[at : block.start]):
                return False
            at = block.end
        return at <= len(self.markdown) and not _has_words(self.markdown[at:])


def _has_words(between: str) -> bool:
    return bool(between.replace(PAGE_BREAK, "").strip())


def convert_blocks(blocks: Sequence[Mapping[str, object]]) -> tuple[TextBlock, ...]:
    """Return blocks as records that were read as dictionaries, from JSON or from a table."""
    return msgspec.convert(blocks, tuple[TextBlock, ...])
