"""What a PDF engine is, and which there are.

A worker process imports this module and one engine; it therefore imports nothing heavy.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast

from peercorpus.errors import PeercorpusError, UnreadablePdfError

SEPARATOR = "\n\n---\n\n"
"""What stands between two pages; no page may contain it."""

ENGINES: Mapping[str, str] = MappingProxyType({"pdfium-text": "peercorpus.texts.pdfium_text:PdfiumText"})
"""Name → where the class is; imported only when it is chosen."""

RULE = re.compile(r"^(?=[ \t]*---[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Converted:
    """One PDF as Markdown.

    Attributes:
        markdown: Pages joined by `SEPARATOR`.
        pages: Number of pages.
        characters: Characters of all pages, separators not counted; 0 where the file holds no text.
        problems: What the engine could not do, in words.
    """

    markdown: str
    pages: int
    characters: int
    problems: tuple[str, ...]


class Engine(Protocol):
    """Turns one PDF into Markdown; made without arguments, in the process that uses it.

    Attributes:
        name: The name in `ENGINES`.
        version: Changes whenever the same file would give another text.
    """

    name: str
    version: str

    def convert(self, pdf: bytes) -> Converted:
        """Read one file.

        Raises:
            UnreadablePdfError: It is broken, encrypted, or no PDF.
        """
        ...


def join_pages(pages: Sequence[str], problems: Sequence[str] = ()) -> Converted:
    r"""Pages as one text that splits into the same pages again: a line that is a rule is escaped.

    >>> join_pages(["One.\n\n---\n\nStill one.", "Two."]).markdown.split(SEPARATOR)
    ['One.\n\n\\---\n\nStill one.', 'Two.']
    """
    escaped = [RULE.sub(r"\\", page) for page in pages]
    return Converted(SEPARATOR.join(escaped), len(pages), sum(map(len, escaped)), tuple(problems))


def load_engine(name: str) -> Engine:
    """Make the engine of this name.

    Raises:
        PeercorpusError: There is none.
    """
    if name not in ENGINES:
        raise PeercorpusError(f"There is no PDF engine '{name}'; choose one of: {', '.join(sorted(ENGINES))}.")
    module, _, attribute = ENGINES[name].partition(":")
    return cast(Engine, getattr(import_module(module), attribute)())


@dataclass(frozen=True, slots=True)
class Job:
    """One file to read with one engine; small enough to send to another process."""

    sha256: str
    path: Path
    engine: str


def convert_file(job: Job) -> Converted:
    """Read one file from disk, in whatever process this is called.

    Raises:
        UnreadablePdfError: The file is not there, or the engine cannot read it.
    """
    try:
        pdf = job.path.read_bytes()
    except OSError as error:
        raise UnreadablePdfError(f"The file cannot be opened: {error.strerror}.") from None
    return load_engine(job.engine).convert(pdf)
