"""Typeset the versions of manuscripts with Typst."""

import base64
import re
import threading
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from peercorpus.errors import MissingExtraError
from peercorpus.simulator.world.papers import Draft, Manuscript, ManuscriptSection

SPECIAL = re.compile(r"([\\#*_`<>@\[\]~/\"'=+-])")
DOCUMENT_ID = re.compile(rb"/ID\[\(([^)]{24})\)")
COMPILING = threading.Lock()


@dataclass(frozen=True, slots=True)
class PageStyle:
    """Page style of a venue's papers."""

    short: str
    columns: int
    ruled: bool
    rolling: bool


# A harvest requests the files venue by venue; 600 long papers of one venue have about 30 different files.
@lru_cache(maxsize=1_024)
def typeset(manuscript: Manuscript, layout: PageStyle, version: Draft) -> bytes:
    """Return the PDF of a manuscript.

    Raises:
        MissingExtraError: Typst is not installed.
    """
    source = _source(manuscript, layout, version).encode()
    with COMPILING:
        pdf: bytes = _compiler().compile(source, format="pdf", timestamp=0)
    return pdf


def stamp(pdf: bytes, mark: str) -> bytes:
    """Return the PDF with a different document id, so that its bytes differ."""
    digits = base64.b64encode(bytes.fromhex(mark)[:16])
    return DOCUMENT_ID.sub(lambda match: match[0].replace(match[1], digits), pdf, count=1)


@cache
def _compiler() -> Any:  # noqa: ANN401 -- typst is an extra, so its types may be missing
    try:
        import typst
    except ImportError as error:
        raise MissingExtraError("typst", "demo") from error
    return typst.Compiler(ignore_system_fonts=True)


def _source(manuscript: Manuscript, layout: PageStyle, version: Draft) -> str:
    passages = [passage for passage in manuscript.passages if passage.since <= version]
    body = "\n\n".join(_passage(manuscript, passage, version) for passage in passages)
    references = "\n\n".join(f"#par(hanging-indent: 1em)[{_escape(entry)}]" for entry in manuscript.references)
    inset = "0pt" if layout.columns > 1 else "8mm"
    return "\n".join(
        (
            _preamble(manuscript, layout, version),
            _front(manuscript, layout, version),
            f"#block(inset: (x: {inset}))[#align(center)[*Abstract*] {_escape(manuscript.abstract)}]",
            body,
            f"#heading(numbering: none)[References]\n#set text(size: 9pt)\n{references}",
        )
    )


def _preamble(manuscript: Manuscript, layout: PageStyle, version: Draft) -> str:
    is_final = version is Draft.CAMERA_READY
    size = 9 if manuscript.is_long else 10.5 if layout.columns > 1 else 11
    margin = 20 if layout.columns > 1 or manuscript.is_long else 36
    numbers = "n => text(size: 6pt, fill: luma(120))[#n]" if layout.ruled and not is_final else "none"
    title = manuscript.title.replace("\\", "\\\\").replace('"', '\\"')
    return f"""
#set document(title: "{title}", date: none)
#set page(paper: "us-letter", margin: (x: {margin}mm, y: 27mm), numbering: "1",
  header: align(left)[#text(size: 8pt)[{_escape(_running_head(layout, is_final))}]])
#set text(font: "Libertinus Serif", size: {size}pt)
#set par(justify: true, spacing: 1.1em, leading: 0.72em)
#set par.line(numbering: {numbers})
#set heading(numbering: "1.1")
#show heading: set text(size: 11.5pt)
#set math.equation(numbering: "(1)")
#show figure: set par.line(numbering: none)
""".strip()


def _running_head(layout: PageStyle, is_final: bool) -> str:
    if layout.rolling:
        return f"Published in {layout.short}" if is_final else f"Under review as submission to {layout.short}"
    if is_final:
        return f"Published as a conference paper at {layout.short}"
    return f"Under review as a conference paper at {layout.short}"


def _front(manuscript: Manuscript, layout: PageStyle, version: Draft) -> str:
    by = "Anonymous authors \\ Paper under double-blind review"
    if version is Draft.CAMERA_READY:
        by = _escape(", ".join(manuscript.authors))
    placed = '#place(top + center, scope: "parent", float: true)' if layout.columns > 1 else ""
    front = f'#align(center)[#text(size: 16pt, weight: "bold")[{_escape(manuscript.title)}]\n\n{by}]'
    # A title can span the columns only if the page itself has columns.
    return f"#set page(columns: {layout.columns})\n{placed}[{front}]" if placed else front


def _passage(manuscript: Manuscript, passage: ManuscriptSection, version: Draft) -> str:
    text = passage.revised if passage.revised and version >= Draft.REBUTTAL else passage.text
    paragraphs = [_paragraph(manuscript, paragraph.strip()) for paragraph in text.split("\n\n")]
    return f"= {_escape(passage.heading)}\n\n" + "\n\n".join(paragraphs)


def _paragraph(manuscript: Manuscript, paragraph: str) -> str:
    if paragraph == "{equation}":
        return f"$ {manuscript.equation} $"
    if paragraph == "{table}":
        cells = ", ".join(f"[{_escape(cell)}]" for row in manuscript.table for cell in row)
        table = f"table(columns: {len(manuscript.table[0])}, stroke: (x: none, y: 0.4pt), {cells})"
        return f"#figure({table}, caption: [{_escape(manuscript.caption)}])"
    return _escape(paragraph)


def _escape(text: str) -> str:
    """Escape characters that Typst would read as markup, outside `$…$`."""
    parts = text.split("$")
    parts[::2] = [SPECIAL.sub(r"\\\1", part) for part in parts[::2]]
    return "$".join(parts)
