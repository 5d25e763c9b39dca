"""Read one file in any process: its text, the references in it, and the time taken."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import msgspec

from peercorpus.corpus.structured_text import StructuredText
from peercorpus.records.blocks import BibliographyEntry, Mention, TextBlock
from peercorpus.texts.engine import Converted, EngineJob, convert_file


@dataclass(frozen=True, slots=True)
class TextParts:
    """The blocks of a text, and the references in it."""

    blocks: tuple[TextBlock, ...]
    mentions: tuple[Mention, ...]
    bibliography: tuple[BibliographyEntry, ...]

    def __reduce__(self) -> tuple[Callable[[bytes], "TextParts"], tuple[bytes]]:
        """Pickle as MessagePack, like `Converted`."""
        return partial(msgspec.msgpack.decode, type=TextParts), (msgspec.msgpack.encode(self),)


def find_parts(converted: Converted) -> TextParts | None:
    """Return the parts of a text; None if its engine reports no blocks."""
    if converted.blocks is None:
        return None
    text = StructuredText(converted.markdown, converted.blocks)
    return TextParts(text.blocks, text.mentions, text.bibliography)


class TimedText(NamedTuple):
    """The text of one file without its blocks, these with the references (None if unreported), and the seconds."""

    converted: Converted
    parts: TextParts | None
    seconds: float


def convert_timed(job: EngineJob, *, commands: bool = False) -> TimedText:
    """Read one file, its formulas in commands or signs, and find the references in its text."""
    started = time.perf_counter()
    converted = convert_file(job)
    if commands:
        from peercorpus.texts.formula_commands import write_formula_commands

        converted = write_formula_commands(converted)
    parts = find_parts(converted)
    return TimedText(replace(converted, blocks=None), parts, time.perf_counter() - started)
