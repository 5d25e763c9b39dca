"""Read the invented paper from `paper.toml`, and determine what a perfect conversion of it contains."""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RUN_IN_LEVEL = 4
"""Level of headings that the truth makes optional: those set at the start of a paragraph."""

Block = Mapping[str, Any]
Truth = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Style:
    """One look of the paper; a row of `styles.toml`.

    Attributes:
        compiler: pdflatex, xelatex or lualatex.
        columns: Columns of the body.
        preamble: LaTeX from the class to the packages.
        front: LaTeX of the title and the abstract; placeholders such as `@title@` are replaced.
        algorithms: Package that typesets algorithms: algpseudocode, algorithm2e or clrs.
        tables: Rules of all tables, if the style has its own: ruledtabular or hline.
        author_year: Whether references are cited by author and year.
        run_in: Whether headings of the third level are set at the start of their paragraph.
        appendix_numbers: Prefix of equation numbers in the appendix; None if numbering continues.
        line_numbers: Format of the numbers in the margin, such as `{:03}`; empty if there are none.
        lines_per_page: How many numbers each page has, if the ruler is fixed to the page.
        header: The running header, without the page number; empty if there is none.
        symbols: LaTeX of the packages for mathematics.
    """

    name: str
    compiler: str
    columns: int
    preamble: str
    front: str
    algorithms: str = "algpseudocode"
    tables: str = ""
    author_year: bool = False
    run_in: bool = False
    appendix_numbers: str | None = None
    line_numbers: str = ""
    lines_per_page: int = 0
    header: str = ""
    symbols: str = r"\usepackage{amsmath,amssymb,mathrsfs}"


@cache
def read_paper() -> Mapping[str, Any]:
    """Return the source: title, abstract, blocks in reading order, and references."""
    return tomllib.loads((HERE / "paper.toml").read_text(encoding="utf-8"))


@cache
def read_styles() -> dict[str, Style]:
    """Return all styles by name."""
    rows = tomllib.loads((HERE / "styles.toml").read_text(encoding="utf-8"))["styles"]
    return {row["name"]: Style(**row) for row in rows}


def short_label(reference: Block) -> str:
    """Return the authors of a reference in citation form.

    >>> short_label({"authors": "N. Brandt, O. Fenwick and U. Sorrel"})
    'Brandt et al.'
    """
    names = [name.split()[-1] for name in re.split(r", | and ", reference["authors"])]
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def find_closing(text: str, start: int) -> int:
    """Return the index of the brace that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return place
    raise ValueError(f"A brace is not closed: {text[start : start + 40]!r}.")


def split_notes(text: str) -> tuple[str, list[str]]:
    """Return a text without its footnotes, and the footnotes."""
    notes = []
    while (start := text.find(r"\footnote{")) >= 0:
        opening = start + len(r"\footnote")
        end = find_closing(text, opening)
        notes.append(text[opening + 1 : end])
        text = text[:start] + text[end + 1 :]
    return text, notes


def read_plain(text: str, style: Style) -> str:
    """Return a text as a reader sees it, without its formulas."""

    def cite(found: re.Match[str]) -> str:
        cited = [next(row for row in read_paper()["references"] if row["key"] == key) for key in found[1].split(",")]
        return "; ".join(f"{short_label(row)}, {row['year']}" for row in cited) if style.author_year else ""

    text = re.sub(r"\\cite\{([^}]*)\}", cite, text)
    text = re.sub(r"\\(?:eqref|url)\{[^}]*\}", " ", text)
    text = re.sub(r"\$[^$]*\$", " ", text)
    return re.sub(r"\\textbf\{([^}]*)\}", r"\1", text).replace("~", " ").strip()


def fold(text: str) -> str:
    """Return a text in lower case and compatibility form."""
    return unicodedata.normalize("NFKC", text).lower()


def read_words(text: str) -> list[str]:
    """Return the words of at least three letters, in lower case."""
    return re.findall(r"[a-z]{3,}", fold(text))


def algorithm_lines(block: Block, style: Style) -> list[str]:
    """Return the lines of an algorithm as its package prints them, without their formulas."""
    package = style.algorithms
    lines = []
    for kind, words in block["lines"]:
        words = re.sub(r"\$[^$]*\$", " ", words)
        first = {
            "input": "Input: " if package == "algorithm2e" else "Require: ",
            "output": "Output: " if package == "algorithm2e" else "Ensure: ",
            "state": "",
            "comment": "",
        }.get(kind, f"{kind} ")
        behind = {"for": " do", "while": " do", "if": " then"}.get(kind, "")
        if kind == "end" and package != "algpseudocode":
            continue
        lines.append(f"{first}{words}{'' if package == 'clrs' else behind}".strip())
    return lines


def read_formulas(style: Style) -> Iterator[dict[str, Any]]:
    """Yield the display formulas, each row of a system separately, with their numbers; then those within texts."""
    count = 0
    prefix = ""
    for block in read_paper()["blocks"]:
        if block["kind"] == "appendix" and style.appendix_numbers is not None:
            count, prefix = 0, style.appendix_numbers
        rows = {"display": [block], "align": block.get("rows", [])}.get(block["kind"])
        if rows is None:
            continue
        for row in rows:
            count += bool(row.get("label"))
            numbers = [f"{prefix}{count}"] if row.get("label") else []
            yield {"latex": row["latex"], "display": True, "numbers": numbers}
    for text in read_texts():
        for latex in re.findall(r"\$([^$]+)\$", text):
            yield {"latex": latex, "display": False, "numbers": []}


def read_texts() -> Iterator[str]:
    """Yield all running text, with its formulas and footnotes."""
    yield read_paper()["abstract"]
    for block in read_paper()["blocks"]:
        if "text" in block and block["kind"] != "heading":
            yield block["text"]
        yield from block.get("items", ())


def figure_words(block: Block) -> list[str]:
    """Return the labels inside a drawn figure."""
    if block["kind"] == "plot":
        return [block["across"], block["along"], *block["curves"], *block["ticks"][0], *block["ticks"][1]]
    return [*block.get("boxes", ()), *block.get("arrows", ())]


def count_cells(block: Block) -> dict[str, int]:
    """Return how often each cell with a digit occurs in a table."""
    return dict(Counter(cell for row in block["rows"] for cell in row if re.search(r"\d", cell)))


def _flow_of(block: Block, style: Style) -> Iterator[str]:
    kind = block["kind"]
    if kind in {"text", "theorem", "definition"}:
        yield f"{block.get('name', '')} {read_plain(split_notes(block['text'])[0], style)}"
    elif kind == "list":
        yield from (read_plain(item, style) for item in block["items"])


def make_truth(style: Style, pages: int, numbered_lines: int = 0) -> Truth:
    """Return what a perfect conversion contains, in the shape of the recorded truths.

    Args:
        style: The look of the paper.
        pages: Pages of the PDF.
        numbered_lines: How many lines have a number in the margin, in total.
    """
    paper = read_paper()
    blocks = paper["blocks"]
    flow = [read_plain(paper["abstract"], style)]
    flow += [text for block in blocks for text in _flow_of(block, style)]
    notes = [note for block in blocks if "text" in block for note in split_notes(block["text"])[1]]
    references = [f"{row['authors']} {read_plain(row['rest'], style)}" for row in paper["references"]]
    captions = [read_plain(block["caption"], style) for block in blocks if "caption" in block]
    seen = fold(" ".join([*flow, *notes, *references, *captions, paper["title"]]))
    formulas = list(read_formulas(style))
    everything = (HERE / "paper.toml").read_text(encoding="utf-8")
    numbers = Counter(re.findall(r"(?<![\w.])\d{1,4}(?![\w.]*\d)", everything))
    return {
        "key": style.name,
        "pages": pages,
        "columns": style.columns,
        "style": style.name,
        "title": paper["title"],
        "headings": [
            [RUN_IN_LEVEL if style.run_in and block["level"] == 3 else block["level"], block["text"]]
            for block in blocks
            if block["kind"] == "heading"
        ],
        "flow": [read_words(text) for text in flow],
        "references": [read_words(text) for text in references],
        "captions": [read_words(text) for text in captions],
        "footnotes": [read_words(text) for text in notes],
        "tables": [count_cells(block) for block in blocks if block["kind"] == "table"],
        "table_rows": [row for block in blocks if block["kind"] == "table" for row in block["rows"]],
        "urls": sorted(set(re.findall(r"\\+url\{([^}]*)\}", everything))),
        "compounds": dict(Counter(re.findall(r"\b[a-z]+(?:-[a-z]+)+\b", seen))),
        "vocabulary": sorted(set(re.findall(r"[a-z]{2,}", seen))),
        "doubled_words": len(re.findall(r"\b([a-z]{3,}) \1\b", seen)),
        "greek": sum(len(GREEK_COMMAND.findall(formula["latex"])) for formula in formulas),
        "margin_numbers": list(_margin_numbers(style, pages, numbered_lines)),
        "legit_numbers": dict(numbers + Counter({str(number): _LEGIT_MARKS for number in range(_LEGIT_NUMBERS)})),
        "running_headers": {re.sub(r"[^a-z]", "", fold(style.header)): pages} if style.header else {},
        "formulas": formulas,
        "figures": [figure_words(block) for block in blocks if block["kind"] in {"plot", "diagram"}],
        "algorithms": [algorithm_lines(block, style) for block in blocks if block["kind"] == "algorithm"],
    }


GREEK_COMMAND = re.compile(
    r"\\(?:alpha|beta|gamma|delta|(?:var)?epsilon|zeta|eta|(?:var)?theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|(?:var)?phi"
    r"|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega)(?![a-zA-Z])"
)
_LEGIT_NUMBERS = 30
_LEGIT_MARKS = 12
"""How often a smaller number may occur as that of a section, an equation, a table, a line of code or a citation."""


def _margin_numbers(style: Style, pages: int, numbered_lines: int) -> Sequence[str]:
    if not style.line_numbers:
        return []
    numbers = range(style.lines_per_page * pages) if style.lines_per_page else range(1, numbered_lines + 1)
    return [style.line_numbers.format(number) for number in numbers]
