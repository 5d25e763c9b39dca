"""Score the Markdown of a typeset paper against its source.

The measures of prose, headings, tables and margins are defined like those of the recorded papers; formulas in the
output are left out before words are compared. All are in [0, 1] except hyphens.
"""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from formula_tokens import normalise
from invented_paper import RUN_IN_LEVEL, Truth, fold, read_words

from peercorpus.texts.page_quality import longest_common

LOWER_IS_BETTER = frozenset({"figure", "lines", "header", "pageno", "hyph"})
MEASURES = {
    "order": "share of the body's words kept in reading order",
    "intact": "share of the body's runs of five words",
    "h_f1": "F1 of the headings",
    "h_level": "share of steps between headings that go up or down as they should",
    "refs": "references kept whole",
    "caps": "captions kept whole",
    "notes": "footnotes kept whole",
    "tbl": "numeric cells that are in tables",
    "tblp": "share of numbers in tables that are cells",
    "rows": "rows of tables whose cells are all cells",
    "urls": "addresses kept whole",
    "equal": "display formulas that are equal after normalising",
    "number": "display formulas with their own numbers",
    "sure": "formulas with a confidence of at least .9 that are equal; none if no confidence is given",
    "inline": "formulas within text that are equal",
    "figure": "words inside figures that are in the prose",
    "code": "lines of algorithms on a line of their own, in order",
    "lines": "line numbers of the margin that leaked",
    "header": "running headers that leaked",
    "pageno": "page numbers that leaked",
    "hyph": "line-break hyphens left, per 1,000 words",
}
TARGETS = {
    "order": 0.995,
    "intact": 0.97,
    "h_f1": 0.95,
    "h_level": 0.98,
    "refs": 1.0,
    "caps": 1.0,
    "notes": 1.0,
    "tbl": 0.9,
    "tblp": 0.9,
    "rows": 0.9,
    "urls": 1.0,
    "equal": 0.9,
    "number": 0.98,
    "sure": 0.95,
    "inline": 0.9,
    "figure": 0.0,
    "code": 1.0,
    "lines": 0.005,
    "header": 0.0,
    "pageno": 0.0,
    "hyph": 0.0,
}
"""Targets for every style: minima, or maxima for measures where less is better."""
_HEADING_LIKENESS = 0.9
_KEPT_SHARE = 0.8
_LIKENESS = 0.4
"""Lowest similarity of two formulas that may be the same."""
_SURE = 0.9
_FREE_HEADINGS = {"abstract", "references", "acknowledgements", "acknowledgments", "appendix", "appendices", "keywords"}
_DISPLAY = re.compile(r"\$\$(.+?)\$\$(?:[ \t]*\(([^()\n]{1,8})\))?", re.DOTALL)
_LONE = re.compile(r"^(?:\(([\w.]{1,8})\) )?\$([^$\n]+)\$[.,;]?(?: \(([\w.]{1,8})\))?$", re.MULTILINE)
"""A display formula as written by engines that mark all formulas with single dollars."""
_TAG = re.compile(r"\\tag\*?\{\(?([^{}()]+)\)?\}")


@dataclass(frozen=True, slots=True)
class ReadFormula:
    """A display formula in the output; `sureness` is None if the engine gives no confidence."""

    latex: str
    numbers: tuple[str, ...]
    sureness: float | None = None


def likeness(left: Sequence[Hashable], right: Sequence[Hashable]) -> float:
    """Return the similarity of two sequences: twice what they have in common, divided by their total length."""
    return 2 * longest_common(left, right) / max(1, len(left) + len(right))


def read_displays(markdown: str) -> list[ReadFormula]:
    r"""Return the display formulas of a Markdown text, with numbers beside them or in `\tag`.

    >>> read_displays("$$x$$ (3)") == read_displays("(3) $x$")
    True
    """
    read = []
    lone = [(latex, before or behind) for before, latex, behind in _LONE.findall(markdown)]
    for latex, number in [*_DISPLAY.findall(markdown), *lone]:
        rows = split_rows(latex)
        tags = [tuple(_TAG.findall(row)) for row in rows]
        behind = tuple(re.findall(r"[\w.]+", number))
        if behind and not any(tags):
            tags[len(tags) - len(behind) :] = [(number,) for number in behind]
        read += [ReadFormula(_TAG.sub("", row), tag) for row, tag in zip(rows, tags, strict=True)]
    return read


def split_rows(latex: str) -> list[str]:
    r"""Return the rows of a system that is aligned as a whole; any other formula unchanged.

    >>> split_rows(r"\begin{aligned}a &= b \\\\ &= c\end{aligned}")
    ['a &= b ', ' &= c']
    """
    system = re.fullmatch(
        r"\s*\\begin\{(aligned|align\*?|gathered|split|array)\}(?:\{[lcr]*\})?(.*)\\end\{\1\}[\s,.;]*", latex, re.DOTALL
    )
    if not system:
        return [latex]
    rows = [""]
    depth = 0
    for part in re.split(r"(\\begin\{|\\end\{|\\\\)", system[2]):
        depth += {r"\begin{": 1, r"\end{": -1}.get(part, 0)
        if part == r"\\" and not depth:
            rows.append("")
        else:
            rows[-1] += part
    return [row for row in rows if row.strip()]


def without_formulas(markdown: str) -> str:
    """Return a text without its formulas and links."""
    text = re.sub(r"(?<!\\)\$\$.+?\$\$", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"(?<![\\$])\$[^$\n]+\$", " ", text)
    return re.sub(r"!?\[([^\]\n]*)\]\([^)\n]*\)", r"\1", text)


def plain(text: str) -> str:
    """Return a text without emphasis and tags."""
    text = re.sub(r"</?(?:sub|sup|b|i|em|strong)>", "", text)
    return re.sub(r"<[^>]{1,30}>", " ", text).replace("**", "").replace("&lt;", "<").replace("&amp;", "&")


def runs(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    """Return all runs of `length` words."""
    return [tuple(words[place : place + length]) for place in range(len(words) - length + 1)]


def score(markdown: str, truth: Truth, formulas: Sequence[ReadFormula] | None = None) -> dict[str, float | None]:
    """Return every measure; None if the paper has nothing of the kind.

    Args:
        markdown: Output of an engine.
        truth: See `make_truth`.
        formulas: Display formulas, from an engine that gives its confidence; None reads them from the Markdown.
    """
    prose = plain(without_formulas(markdown))
    words = read_words(prose)
    body = [word for part in truth["flow"] for word in part]
    fives = set(runs(words, 5))
    wanted = [run for part in truth["flow"] for run in runs(part, 5)]
    displays = read_displays(markdown) if formulas is None else formulas
    return {
        "order": longest_common(body, words) / len(body),
        "intact": sum(run in fives for run in wanted) / len(wanted),
        **score_headings(markdown, truth),
        **_score_parts(words, truth),
        **_score_tables(markdown, truth),
        **score_formulas(displays, truth),
        "inline": _score_inline(markdown, truth),
        "figure": _score_figures(prose, truth),
        "code": _score_code(markdown, truth),
        **_score_margins(markdown, truth),
        "hyph": _count_hyphens(prose, truth) * 1000 / max(1, len(words)),
        "urls": sum(url.rstrip("/") in markdown.replace("\\", "") for url in truth["urls"]) / len(truth["urls"]),
    }


def find_shortfalls(scores: Mapping[str, float | None]) -> dict[str, float]:
    """Return the scores that fall short of their targets, rounded to three digits."""
    return {
        measure: round(value, 3)
        for measure, value in scores.items()
        if value is not None and falls_short(measure, value)
    }


def falls_short(measure: str, value: float) -> bool:
    """Return whether a score falls short of its target."""
    return value > TARGETS[measure] if measure in LOWER_IS_BETTER else value < TARGETS[measure]


def _heading_keys(text: str) -> set[str]:
    """Return a heading reduced to letters and digits, with and without its number."""
    text = re.sub(r"[`*_#$\\]", "", fold(plain(text))).strip()
    no_number = re.sub(r"^(\d+(\.\d+)*[.)]?\s+)+", "", text)
    no_letter = re.sub(r"^(appendix\s+)?([a-z]|[ivx]+)(\.\d+)*[.:)]?\s+", "", no_number)
    return {re.sub(r"[^a-z0-9]", "", form) for form in (text, no_number, no_letter)} - {""}


def _are_alike(left: set[str], right: set[str]) -> bool:
    return any(a == b or (min(len(a), len(b)) > 6 and likeness(a, b) >= _HEADING_LIKENESS) for a in left for b in right)


def score_headings(markdown: str, truth: Truth) -> dict[str, float | None]:
    """Return the F1 and the levels of the headings."""
    found = [(len(marks), text) for marks, text in re.findall(r"^ {0,3}(#{1,6})\s+(.*\S)", markdown, re.MULTILINE)]
    wanted = [(level, _heading_keys(text)) for level, text in truth["headings"] if level < RUN_IN_LEVEL]
    free = [_heading_keys(text) for level, text in truth["headings"] if level >= RUN_IN_LEVEL]
    free.append(_heading_keys(truth["title"]))
    used: set[int] = set()
    pairs = []
    for level, keys in wanted:
        places = (place for place, (_, text) in enumerate(found) if place not in used)
        match = next((place for place in places if _are_alike(keys, _heading_keys(found[place][1]))), None)
        if match is not None:
            used.add(match)
            pairs.append((level, found[match][0]))
    false = sum(
        place not in used and not keys & _FREE_HEADINGS and not any(_are_alike(other, keys) for other in free)
        for place, (_, text) in enumerate(found)
        if (keys := _heading_keys(text))
    )
    steps = [_sign(b[0] - a[0]) == _sign(b[1] - a[1]) for a, b in pairwise(pairs)]
    return {
        "h_f1": 2 * len(pairs) / (len(wanted) + len(pairs) + false),
        "h_level": sum(steps) / len(steps) if len(steps) > 2 else None,
    }


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _score_parts(words: Sequence[str], truth: Truth) -> dict[str, float | None]:
    """Return the shares of references, captions and footnotes that keep most of their runs of three words."""
    threes = set(runs(words, 3))
    scores: dict[str, float | None] = {}
    for name, key in (("refs", "references"), ("caps", "captions"), ("notes", "footnotes")):
        kept = [
            sum(run in threes for run in parts) / len(parts) >= _KEPT_SHARE
            for part in truth[key]
            if (parts := runs(part, 3))
        ]
        scores[name] = sum(kept) / len(kept) if kept else None
    return scores


def _score_tables(markdown: str, truth: Truth) -> dict[str, float | None]:
    cells: Counter[str] = Counter()
    for line in markdown.split("\n"):
        if line.lstrip().startswith("|") or "<td" in line:
            parts = re.split(r"[\s|±/$]+|<[^>]*>|\*\*", line)
            cells.update(cell for part in parts if (cell := re.sub(r"[^0-9a-z.]", "", fold(part))))
    wanted = sum((Counter(table) for table in truth["tables"]), Counter[str]())
    numbers = sum(count for cell, count in cells.items() if re.search(r"\d", cell))
    common = (cells & wanted).total()
    rows = Counter(_read_row(line.split("|")) for line in markdown.split("\n") if line.lstrip().startswith("|"))
    wanted_rows = Counter(_read_row(row) for row in truth["table_rows"])
    return {
        "tbl": common / wanted.total(),
        "tblp": common / numbers if numbers else 0.0,
        "rows": (rows & wanted_rows).total() / wanted_rows.total(),
    }


def _read_row(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the filled cells of a row, without emphasis and dollars."""
    return tuple(plain for cell in cells if (plain := re.sub(r"[*$\s]+", " ", cell).strip()))


def match_formulas(
    found: Sequence[ReadFormula], truth: Truth
) -> list[tuple[Mapping[str, Any], ReadFormula | None, float]]:
    """Return each display formula of the truth with the most similar one of the output, best pairs first."""
    wanted = [formula for formula in truth["formulas"] if formula["display"]]
    tokens = [normalise(formula["latex"]) for formula in wanted]
    found_tokens = [normalise(formula.latex) for formula in found]
    ranked = sorted(
        ((likeness(a, b), -row, -column) for row, a in enumerate(tokens) for column, b in enumerate(found_tokens)),
        reverse=True,
    )
    chosen: dict[int, tuple[int, float]] = {}
    used = set()
    for value, row, column in ranked:
        if value >= _LIKENESS and -row not in chosen and -column not in used:
            chosen[-row] = (-column, value)
            used.add(-column)
    return [
        (formula, found[chosen[row][0]], chosen[row][1]) if row in chosen else (formula, None, 0.0)
        for row, formula in enumerate(wanted)
    ]


def is_equal(latex: str, wanted: str) -> bool:
    """Return whether two formulas are the same after normalising."""
    return normalise(latex) == normalise(wanted)


def score_formulas(found: Sequence[ReadFormula], truth: Truth) -> dict[str, float | None]:
    """Return the shares of displays that are equal and numbered correctly, and the accuracy of the confident ones."""
    pairs = match_formulas(found, truth)
    equal = [read is not None and is_equal(read.latex, wanted["latex"]) for wanted, read, _ in pairs]
    numbered = [read is not None and list(read.numbers) == wanted["numbers"] for wanted, read, _ in pairs]
    right = {id(read) for (_, read, _), is_right in zip(pairs, equal, strict=True) if is_right}
    sure = [id(formula) in right for formula in found if formula.sureness is not None and formula.sureness >= _SURE]
    return {
        "equal": sum(equal) / len(equal),
        "number": sum(numbered) / len(numbered),
        "sure": sum(sure) / len(sure) if sure else None,
    }


def _score_inline(markdown: str, truth: Truth) -> float:
    wanted = Counter(normalise(formula["latex"]) for formula in truth["formulas"] if not formula["display"])
    text = re.sub(r"\$\$.+?\$\$", " ", markdown, flags=re.DOTALL)
    found = Counter(normalise(latex) for latex in re.findall(r"(?<![\\$])\$([^$\n]+)\$", text))
    return (wanted & found).total() / wanted.total()


def _score_figures(prose: str, truth: Truth) -> float:
    """Return the share of the labels inside figures that are in the text."""
    labels = [label for figure in truth["figures"] for label in figure]
    return sum(bool(re.search(rf"(?<![\w.]){re.escape(label)}(?![\w.]*\w)", prose)) for label in labels) / len(labels)


def _score_code(markdown: str, truth: Truth) -> float | None:
    """Return the share of lines of algorithms that are lines of the output, in the same order."""
    wanted = [tuple(read_words(line)) for algorithm in truth["algorithms"] for line in algorithm]
    lines = [tuple(read_words(without_formulas(plain(line)))) for line in markdown.split("\n")]
    return longest_common(wanted, [line for line in lines if line]) / len(wanted) if wanted else None


def _score_margins(markdown: str, truth: Truth) -> dict[str, float | None]:
    margin = Counter[str](truth["margin_numbers"])
    seen = Counter(re.findall(r"(?<![\w.])\d{1,4}(?![\w.]*\d)", markdown))
    legit = truth["legit_numbers"]
    leaked = sum(min(count, max(0, seen[number] - legit.get(number, 0))) for number, count in margin.items())
    flat = re.sub(r"[^a-z]", "", fold(markdown))
    headers = truth["running_headers"]
    lone = {line.strip("# *_-") for line in markdown.split("\n")}
    pages = truth["pages"]
    return {
        "lines": leaked / margin.total() if margin else None,
        "header": sum(max(0, flat.count(header) - 1) for header in headers) / pages if headers else None,
        "pageno": sum(str(number) in lone for number in range(2, pages + 1)) / max(1, pages - 1),
    }


def _count_hyphens(prose: str, truth: Truth) -> int:
    """Return how many words of the paper are still split at the end of a line."""
    vocabulary = set(truth["vocabulary"])
    broken = re.findall(r"\b([a-z]{2,})[-\u2010\u00ad\u00ac\ufffe\x02][ \r\n]+([a-z]{2,})\b", fold(prose))
    return sum(a + b in vocabulary or f"{a}-{b}" in truth["compounds"] for a, b in broken)
