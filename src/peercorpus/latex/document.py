r"""Write the Markdown of a paper as a complete LaTeX document.

It needs only a basic TeX installation (article, amsmath, amssymb, array, booktabs, longtable, geometry, hyperref,
iftex) and compiles with pdflatex and xelatex. Every word of the Markdown is in it, in the same order. Text from outside
is escaped; a formula is typeset if all its commands are known to be harmless (`maths_commands`), and otherwise shown as
text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from peercorpus.latex.blocks import Block, Break, Code, Heading, Items, Note, Paragraph, Quotation, Table, read_blocks
from peercorpus.latex.characters import escape_text, find_unset
from peercorpus.latex.inline import InlineWriter, Refusals
from peercorpus.wording.untrusted_text import replace_controls

VERSION = 1
"""Raised by hand whenever the same Markdown yields a different document."""
MARK = "% Written by peercorpus from Markdown, version "
"""Beginning of a document, followed by `VERSION`."""
_PREAMBLE = r"""\documentclass{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
  \newcommand{\showcode}[1]{\DeclareUnicodeCharacter{#1}{\texttt{[U+#1]}}}
\else
  \usepackage{fontspec}
  \newcommand{\showcode}[1]{\begingroup\lccode`\~="#1\lowercase{\endgroup
    \protected\def~}{\iffontchar\font"#1 \char"#1 \else\texttt{[U+#1]}\fi}\catcode"#1=\active}
\fi
\usepackage{amsmath,amssymb}
\usepackage{array,booktabs,longtable}
\usepackage[margin=25mm]{geometry}
\usepackage[hidelinks]{hyperref}
\setcounter{MaxMatrixCols}{100}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt plus 2pt}
\setlength{\emergencystretch}{3em}
\providecommand{\bbone}{1\mkern-4.5mu\mathrm{l}}
\providecommand{\codeline}[1]{{\ttfamily\small\strut #1\par}}
"""
_LINE = 120
"""Number of characters after which a line is broken at the next space."""
_MOST_UNBROKEN = 2000
"""Number of characters without a space after which a line is broken after a brace, as TeX limits lines."""
_AFTER_BRACE = re.compile(r"\}(?=[^{])|(?<!\\)(?=\\_)")
_LEVELS = ("section", "subsection", "subsubsection", "paragraph", "subparagraph")
_CAPTION = re.compile(r"(?:\*\*)?(?:Figure|Fig\.|Table|Algorithm|Listing) ?[A-Z]?\.?\d+(?:\.\d+)*(?:\*\*)?[.:|]")
_MOST_COLUMNS = 60
"""Largest number of columns of a table; a wider one is shown as text."""
_WIDE_CHARACTERS = 90
"""Number of characters in a row above which a table's columns get fixed widths and cells are broken into lines."""


@dataclass(frozen=True, slots=True)
class LatexText:
    """A LaTeX document, with the number of its formulas, and of those shown as text by reason."""

    latex: str
    formulas: int
    shown_as_text: Counter[str]


def write_latex(markdown: str) -> LatexText:
    r"""Return Markdown as a LaTeX document.

    >>> print(write_latex("# On herbs\n\nAbout 5% of $α$.").latex.partition("\\begin{document}")[2])
    <BLANKLINE>
    \title{On herbs}
    \author{}
    \date{}
    \maketitle
    <BLANKLINE>
    About 5\% of $\alpha$.
    \end{document}
    <BLANKLINE>
    """
    writer = _DocumentWriter()
    blocks = read_blocks(replace_controls(_encodable(markdown)).expandtabs(4).split("\n"))
    body = writer.write(blocks)
    unset = "".join(f"\\showcode{{{ord(char):04X}}}\n" for char in find_unset(body))
    refused = writer.refusals.reasons.total()
    head = f"{MARK}{VERSION}.\n% It compiles with pdflatex and xelatex, and reads no other file.\n"
    if refused:
        head += f"% {refused:,} of {writer.refusals.formulas:,} formulas are shown as text; a comment says why.\n"
    latex = f"{head}{_PREAMBLE}{unset}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    return LatexText(latex, writer.refusals.formulas, writer.refusals.reasons)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


class _DocumentWriter:
    def __init__(self) -> None:
        self.refusals = Refusals()
        self._inline = InlineWriter(self.refusals)
        self._top = 1
        self._title: Heading | None = None

    def write(self, blocks: Sequence[Block]) -> str:
        first = blocks[0] if blocks else None
        self._title = first if isinstance(first, Heading) and first.level == 1 else None
        levels = [block.level for block in blocks if isinstance(block, Heading) and block is not self._title]
        self._top = min(levels, default=1)
        return self._write_all(blocks) or r"\mbox{}"

    def _write_all(self, blocks: Iterable[Block]) -> str:
        return "\n\n".join(self._write(block) for block in blocks)

    def _write(self, block: Block) -> str:
        match block:
            case Heading():
                latex = self._write_heading(block)
            case Paragraph(text):
                latex = self._write_paragraph(text)
            case Code():
                latex = _write_code(block)
            case Note(label, text):
                latex = rf"{{\footnotesize\textsuperscript{{{escape_text(label)}}} {self._inline.write(text)}\par}}"
            case Break():
                latex = r"\newpage"
            case Table():
                latex = self._write_table(block)
            case Quotation(inner):
                latex = f"\\begin{{quote}}\n{self._write_all(inner)}\n\\end{{quote}}"
            case Items():
                latex = self._write_items(block)
        return self.refusals.take_comments() + "\n".join(_break_lines(latex.split("\n")))

    def _write_heading(self, heading: Heading) -> str:
        text = self._inline.write(heading.text, has_displays=False)
        if heading is self._title:
            return f"\\title{{{text}}}\n\\author{{}}\n\\date{{}}\n\\maketitle"
        return rf"\{_LEVELS[min(heading.level - self._top, len(_LEVELS) - 1)]}*{{{text}}}"

    def _write_paragraph(self, text: str) -> str:
        latex = self._inline.write(text).strip("\n")
        return f"\\begin{{quote}}\n\\small\n{latex}\n\\end{{quote}}" if _CAPTION.match(text) else latex

    def _write_items(self, block: Items) -> str:
        lines = [r"\begin{itemize}"]
        for item in block.items:
            mark = rf"[{{{escape_text(item.mark)}}}]" if item.mark else ""
            inner = self._write_all(item.blocks)
            lines.append(rf"\item{mark} {_guard(inner)}".rstrip())
        return "\n".join([*lines, r"\end{itemize}"])

    def _write_table(self, table: Table) -> str:
        if len(table.columns) > _MOST_COLUMNS:
            return _write_code(Code(tuple(" | ".join(row) for row in table.rows)))
        head, *body = [
            " & ".join(_guard(self._inline.write(cell.replace("\n", " "), has_displays=False)) for cell in row)
            for row in table.rows
        ]
        rows = "".join(f"{row} \\\\\n" for row in body)
        return (
            f"{{\\small\\setlength{{\\tabcolsep}}{{4pt}}\n\\begin{{longtable}}{{{_write_columns(table)}}}\n\\toprule\n"
            f"{head} \\\\\n\\midrule\n\\endhead\n{rows}\\bottomrule\n\\end{{longtable}}}}"
        )


def _write_columns(table: Table) -> str:
    """Return the column specification of a table: natural widths, or shares of the line if a row is too long."""
    widths = [max(map(len, cells)) for cells in zip(*table.rows, strict=True)]
    if sum(widths) <= _WIDE_CHARACTERS:
        return f"@{{}}{table.columns}@{{}}"
    # A long cell should not take the space of all others.
    weights = [min(max(width, 4), 60) for width in widths]
    sides = {"l": r"\raggedright", "c": r"\centering", "r": r"\raggedleft"}
    return "".join(
        rf">{{{sides[side]}\arraybackslash}}p{{{max(0.94 * weight / sum(weights), 0.02):.3f}\linewidth}}"
        for side, weight in zip(table.columns, weights, strict=True)
    )


def _guard(latex: str) -> str:
    """Return the text after a command, guarded from being read as an optional argument or an asterisk."""
    return f"{{}}{latex}" if latex.lstrip()[:1] in {"[", "*"} else latex


def _write_code(code: Code) -> str:
    text = "\n".join(code.lines)
    info = f"\\codeline{{{escape_text(code.info)}}}\n" if code.info else ""
    if text.isascii() and r"\end" not in text and all(len(line) < _MOST_VERBATIM for line in code.lines):
        return f"{info}\\begin{{verbatim}}\n{text}\n\\end{{verbatim}}"
    return f"{info}{{\\raggedright\n" + "\n".join(map(_write_code_line, code.lines)) + "\n}"


_MOST_VERBATIM = 1000


def _write_code_line(line: str) -> str:
    inner = line.lstrip(" ")
    return rf"\codeline{{{'~' * (len(line) - len(inner))}{escape_text(inner)}}}"


def _break_lines(lines: Iterable[str]) -> Iterable[str]:
    """Yield the lines, long ones broken at spaces; those within `verbatim` are unchanged."""
    is_verbatim = False
    for line in lines:
        is_verbatim = (is_verbatim or line == r"\begin{verbatim}") and line != r"\end{verbatim}"
        start, end = 0, len(line.rstrip())
        while len(line) - start > _LINE and not is_verbatim and line[start] != "%":
            at = line.rfind(" ", start, start + _LINE)
            at = line.find(" ", start + _LINE) if at <= start or line[at - 1] == "\\" else at
            is_far = at < 0 or at - start > 2 * _MOST_UNBROKEN
            brace = _AFTER_BRACE.search(line, start + _MOST_UNBROKEN, at if at >= 0 else len(line)) if is_far else None
            if brace is not None:
                # The comment sign hides the end of the line, which would otherwise be a space.
                yield f"{line[start : brace.end()]}%"
                start = brace.end()
                continue
            if at < 0 or line[at - 1] == "\\" or at >= end:
                break
            yield line[start:at]
            start = at + 1
        yield line[start:]
