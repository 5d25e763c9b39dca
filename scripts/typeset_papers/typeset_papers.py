"""Typeset the invented paper in every style with Debian's TeX, and store the PDFs beside the tests.

Usage: typeset_papers.py [--out FOLDER] [STYLE …]. Needs texlive with latex-extra, publishers, science, luatex, xetex
and fonts-recommended; no test needs it. `sheets.json` beside the PDFs records what does not follow from the source: the
numbers of pages and of numbered lines.
"""

import argparse
import json
import os
import re
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pypdfium2 as pdfium
from invented_paper import Block, Style, make_truth, read_paper, read_styles, short_label

KEPT = Path(__file__).parents[2] / "tests" / "texts" / "typeset"
BITMAP_COLUMNS = 48
BITMAP_ROWS = 24
_TIMEOUT_S = 240
_EPOCH = "1700000000"
"""Seconds since 1970 that TeX writes as the date, so that the same source always gives the same file."""

PACKAGES = r"""
\usepackage{graphicx,booktabs,multirow,url,tikz,pgfplots,float,caption}
\pgfplotsset{compat=1.16}
\interfootnotelinepenalty=0
\newcommand{\paperdecl}[2]{\ifcsname #1\endcsname\else\newtheorem{#1}{#2}\fi}
\AtBeginDocument{\paperdecl{theorem}{Theorem}\paperdecl{definition}{Definition}\dimen\footins=7\baselineskip}
\makeatletter
\AtEndDocument{\ifcsname c@linenumber\endcsname\clearpage\typeout{NUMBERED=\the\numexpr\value{linenumber}-1}\fi}
\makeatother
"""
APPENDIX = r"\ifcsname appendices\endcsname\appendices\else\appendix\fi"
COUNT_ANEW = r"\setcounter{equation}{0}\renewcommand{\theequation}{PREFIX\arabic{equation}}"
ALGORITHMS = {
    "algpseudocode": r"\usepackage{algorithm,algpseudocode}",
    "algorithm2e": r"\usepackage[ruled,linesnumbered,vlined]{algorithm2e}",
    "clrs": r"\usepackage{algorithm,tabto}",
}


def write_document(style: Style) -> str:
    """Return the LaTeX of the paper in a style."""
    paper = read_paper()
    packages = style.symbols + PACKAGES + ALGORITHMS[style.algorithms]
    body = "\n\n".join(write_block(block, style) for block in paper["blocks"])
    names = paper["authors"]
    replaced = {
        "title": paper["title"],
        "authors and": r" \and ".join(names),
        "authors comma": ", ".join(names),
        "authors revtex": "\n".join(rf"\author{{{name}}}" for name in names),
        "authors elsevier": "\n".join(rf"\author{{{name}}}" for name in names),
        "institution": paper["institution"],
        "abstract": paper["abstract"].strip(),
        "keywords": paper["keywords"],
        "header": style.header,
    }
    text = f"{style.preamble}{packages}\n\\begin{{document}}\n{style.front}\n{body}\n\\end{{document}}\n"
    for name, value in replaced.items():
        text = text.replace(f"@{name}@", value)
    return text


def write_block(block: Block, style: Style) -> str:
    """Return the LaTeX of one block."""
    kind = block["kind"]
    if kind == "heading":
        return rf"\{'sub' * (block['level'] - 1)}section{{{block['text']}}}"
    if kind == "text":
        return write_cited(block["text"].strip(), style)
    if kind in {"theorem", "definition"}:
        return f"\\begin{{{kind}}}\n{block['text'].strip()}\n\\end{{{kind}}}"
    if kind == "list":
        environment = "enumerate" if block.get("ordered") else "itemize"
        items = "\n".join(rf"\item {item}" for item in block["items"])
        return f"\\begin{{{environment}}}\n{items}\n\\end{{{environment}}}"
    if kind == "appendix":
        return APPENDIX + (COUNT_ANEW.replace("PREFIX", style.appendix_numbers) if style.appendix_numbers else "")
    if kind == "bibliography":
        return write_bibliography(style)
    if kind in {"display", "align"}:
        formula = write_formula(block)
        return (
            f"\\begin{{linenomath}}\n{formula}\n\\end{{linenomath}}"
            if style.line_numbers and not style.lines_per_page
            else formula
        )
    return "\n".join(write_float(block, style))


def write_cited(text: str, style: Style) -> str:
    """Return a text with its citations in the style's format."""
    return text.replace(r"\cite{", r"\citep{") if style.author_year else text


def write_formula(block: Block) -> str:
    """Return a display formula, with a number if it has a label."""
    if block["kind"] == "align":
        rows = [row["latex"] + (rf"\label{{{row['label']}}}" if row["label"] else r"\notag") for row in block["rows"]]
        return "\\begin{align}\n" + " \\\\\n".join(rows) + "\n\\end{align}"
    if "label" in block:
        return f"\\begin{{equation}}\\label{{{block['label']}}}\n{block['latex']}\n\\end{{equation}}"
    return f"\\begin{{equation*}}\n{block['latex']}\n\\end{{equation*}}"


def write_bibliography(style: Style) -> str:
    """Return the list of references."""
    entries = []
    for row in read_paper()["references"]:
        label = f"[{short_label(row)}({row['year']})]" if style.author_year else ""
        entries.append(rf"\bibitem{label}{{{row['key']}}} {row['authors']}. {row['rest']}, {row['year']}.")
    return "\\begin{thebibliography}{99}\n" + "\n".join(entries) + "\n\\end{thebibliography}"


def write_float(block: Block, style: Style) -> Iterator[str]:
    """Yield the LaTeX of a table, a figure or an algorithm, with its caption."""
    kind = block["kind"]
    caption = rf"\caption{{{block['caption']}}}"
    if kind == "algorithm":
        yield from write_algorithm(block, style)
    elif kind == "table":
        yield from (r"\begin{table}[t]\centering", caption, write_table(block, style), r"\end{table}")
    else:
        drawing = {"plot": write_plot, "diagram": write_diagram, "bitmap": write_bitmap}[kind](block)
        yield from (r"\begin{figure}[t]\centering", drawing, caption, r"\end{figure}")


def write_table(block: Block, style: Style) -> str:
    """Return the LaTeX of a table's cells between rules."""
    rules = style.tables if style.tables and block["rules"] in {"booktabs", "hline"} else block["rules"]
    names = {"booktabs": ("toprule", "midrule", "bottomrule"), "groups": ("toprule", "midrule", "bottomrule")}
    top, middle, bottom = (f"\\{name}\n" for name in names.get(rules, ("hline", "hline", "hline")))
    if rules == "ruledtabular":
        top, middle, bottom = "", "\\colrule\n", ""
    rows = [" & ".join(row) + " \\\\\n" for row in block["rows"]]
    if rules == "grid":
        rows = [row + "\\hline\n" for row in rows[:-1]] + rows[-1:]
        middle = ""
    head = ""
    if "head" in block:
        head = " & ".join(rf"\multicolumn{{{width}}}{{c}}{{{text}}}" for text, width in block["head"]) + " \\\\\n"
        head += "\\cmidrule(lr){2-3}\\cmidrule(lr){4-5}\n"
    cells = f"{top}{head}{rows[0]}{middle}{''.join(rows[1:])}{bottom}"
    tabular = f"\\begin{{tabular}}{{{block['columns']}}}\n{cells}\\end{{tabular}}"
    return f"\\begin{{ruledtabular}}\n{tabular}\n\\end{{ruledtabular}}" if rules == "ruledtabular" else tabular


def write_plot(block: Block) -> str:
    """Return a line plot with a legend."""
    across, along = block["ticks"]
    curves = "\n".join(
        rf"\addplot coordinates {{({across[0]},{17 - 2 * shift}) ({across[1]},{11 - shift}) ({across[2]},{9 - shift})"
        rf" ({across[3]},{8.1 - shift / 2})}};"
        for shift in range(len(block["curves"]))
    )
    return (
        "\\begin{tikzpicture}\\begin{axis}[width=.9\\linewidth,height=4.3cm,font=\\scriptsize,"
        f"xlabel={{{block['across']}}},ylabel={{{block['along']}}},xtick={{{','.join(across)}}},ytick={{{','.join(along)}}},"
        f"legend entries={{{','.join(block['curves'])}}},grid=major]\n{curves}\n\\end{{axis}}\\end{{tikzpicture}}"
    )


def write_diagram(block: Block) -> str:
    """Return boxes joined by labelled arrows, in two rows."""
    boxes = block["boxes"]
    nodes = "\n".join(
        rf"\node[draw,rounded corners] (n{place}) at ({place % 3 * 2.55},{-1.2 * (place // 3)}) {{{text}}};"
        for place, text in enumerate(boxes)
    )
    arrows = "\n".join(
        rf"\draw[->] (n{place}) -- node[{'above' if place != 2 else 'right'},font=\tiny] {{{text}}} (n{place + 1});"
        for place, text in enumerate(block["arrows"])
    )
    return f"\\begin{{tikzpicture}}[font=\\scriptsize]\n{nodes}\n{arrows}\n\\end{{tikzpicture}}"


def write_bitmap(_: Block) -> str:
    """Return an image file as a figure."""
    return r"\includegraphics[width=.6\linewidth]{soundings}"


def write_algorithm(block: Block, style: Style) -> Iterator[str]:
    """Yield the LaTeX of an algorithm in the style's package."""
    writer = {"algpseudocode": _write_algpseudocode, "algorithm2e": _write_algorithm2e, "clrs": _write_clrs}
    yield r"\begin{algorithm}[t]"
    yield rf"\caption{{{block['caption']}}}"
    yield from writer[style.algorithms](block["lines"])
    yield r"\end{algorithm}"


def _write_algpseudocode(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    commands = {"input": "Require", "output": "Ensure", "state": "State", "for": "For", "while": "While", "if": "If"}
    yield r"\begin{algorithmic}[1]"
    for kind, words in lines:
        if kind == "end":
            yield rf"\End{words.capitalize()}"
        elif kind == "else":
            yield r"\Else"
        elif kind == "return":
            yield rf"\State \textbf{{return}} {words}"
        elif kind in {"for", "while", "if"}:
            yield rf"\{commands[kind]}{{{words}}}"
        else:
            yield rf"\{commands[kind]} {words}"
    yield r"\end{algorithmic}"


def _write_algorithm2e(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    yield r"\DontPrintSemicolon"
    commands = {"for": "For", "while": "While", "if": "If"}
    for number, (kind, words) in enumerate(lines):
        if kind in {"input", "output"}:
            yield rf"\K{'wIn' if kind == 'input' else 'wOut'}{{{words}}}"
        elif kind in commands:
            has_else = kind == "if" and any(later == "else" for later, _ in lines[number:])
            yield rf"\{'eIf' if has_else else commands[kind]}{{{words}}}{{"
        elif kind == "else":
            yield "}{"
        elif kind == "end":
            yield "}"
        elif kind == "return":
            yield rf"\KwRet{{{words}}}\;"
        else:
            yield words + r"\;"


def _write_clrs(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield numbered lines in textbook style: bold keywords, indentation, no `end`."""
    depth = 0
    number = 0
    yield r"\begin{tabbing}\hspace{1.6em}\=\hspace{1.4em}\=\hspace{1.4em}\=\hspace{1.4em}\=\kill"
    for kind, words in lines:
        if kind == "end":
            depth -= 1
            continue
        first = {"input": r"\textbf{Require:} ", "output": r"\textbf{Ensure:} ", "state": ""}.get(
            kind, rf"\textbf{{{kind}}} "
        )
        is_statement = kind not in {"input", "output"}
        number += is_statement
        label = f"{number}" if is_statement else ""
        shift = depth - (kind == "else")
        yield label + r"\>" * (shift + 1) + first + words + r" \\"
        depth += kind in {"for", "while", "if"}
    yield r"\end{tabbing}"


def write_pictures(folder: Path) -> None:
    """Write the bitmap as PNG: an invented chart of soundings in 48 by 24 squares."""
    rows = [
        bytes((row * row // 3 + column * 5 + row * column) % 256 for column in range(BITMAP_COLUMNS))
        for row in range(BITMAP_ROWS)
    ]

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", BITMAP_COLUMNS, BITMAP_ROWS, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    (folder / "soundings.png").write_bytes(png)


def typeset(style: Style, folder: Path) -> tuple[bytes, int]:
    """Return the PDF of the paper typeset in a style, and how many of its lines are numbered."""
    (folder / "paper.tex").write_text(write_document(style), encoding="utf-8")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _EPOCH, "FORCE_SOURCE_DATE": "1"}
    command = [style.compiler, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(3):
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
        if ended.returncode:
            log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
            start = log.find("\n!")
            raise RuntimeError(f"{style.name}: {log[start if start >= 0 else -600 :][:600]}")
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    if missing := set(re.findall(r"Missing character: (.+)", log)):
        raise RuntimeError(f"{style.name}: these characters were not printed: {'; '.join(sorted(missing))}")
    numbered = re.search(r"NUMBERED=(\d+)", log)
    return (folder / "paper.pdf").read_bytes(), int(numbered[1]) if numbered else 0


def main() -> None:
    """Typeset the named styles, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("styles", nargs="*", help="default: all")
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--truth", type=Path, help="folder to write one JSON per style to")
    parser.add_argument("--sources", type=Path, help="folder to copy the LaTeX to")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    sheets_path = asked.out / "sheets.json"
    sheets = json.loads(sheets_path.read_text(encoding="utf-8")) if sheets_path.exists() else {}
    for name in asked.styles or read_styles():
        style = read_styles()[name]
        with tempfile.TemporaryDirectory() as scratch:
            write_pictures(Path(scratch))
            if asked.sources:
                asked.sources.mkdir(parents=True, exist_ok=True)
                (asked.sources / f"{name}.tex").write_text(write_document(style), encoding="utf-8")
            pdf, numbered = typeset(style, Path(scratch))
        (asked.out / f"{name}.pdf").write_bytes(pdf)
        with pdfium.PdfDocument(pdf) as document:
            sheets[name] = {"pages": len(document), "numbered_lines": numbered}
        print(f"{name}: {len(pdf):,} bytes, {sheets[name]}")
        if asked.truth:
            asked.truth.mkdir(parents=True, exist_ok=True)
            truth = json.dumps(make_truth(style, **sheets[name]), ensure_ascii=False)
            (asked.truth / f"{name}.json").write_text(truth, encoding="utf-8")
    sheets_path.write_text(json.dumps(sheets, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
