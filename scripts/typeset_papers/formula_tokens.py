r"""Normalise LaTeX formulas, so that two that look the same in print are equal.

The following is left out or made equal: spaces, sizes of brackets and operators, upright letters and words in formulas
(`\mathrm`, `\text`), punctuation at the end, column marks, redundant braces, the order of sub- and superscript, a
binomial and a column of two rows in parentheses, and commands and Unicode signs with the same meaning
(`formula_signs.toml`). Rows of matrices, and bold, calligraphic, fraktur and blackboard letters, stay unchanged.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\S", re.DOTALL)
_FORMS = tomllib.loads((Path(__file__).parent / "formula_signs.toml").read_text(encoding="utf-8"))
_DROPPED = frozenset(_FORMS["dropped"])
_SAME: Mapping[str, str] = _FORMS["same"]
_SIGNS: Mapping[str, str] = _FORMS["signs"]
_MARKS = {
    "\u0302": r"\hat",
    "\u0303": r"\tilde",
    "\u0304": r"\bar",
    "\u0305": r"\bar",
    "\u0307": r"\dot",
    "\u20d7": r"\vec",
}
_ALPHABETS = {
    "DOUBLE-STRUCK": r"\mathbb",
    "SCRIPT": r"\mathcal",
    "FRAKTUR": r"\mathfrak",
    "BLACK-LETTER": r"\mathfrak",
    "BOLD": r"\mathbf",
}
_ARGUMENTS = {r"\frac": 2, r"\binom": 2, r"\underset": 2, r"\overset": 2, r"\stackrel": 2} | dict.fromkeys(
    [
        r"\sqrt",
        r"\hat",
        r"\tilde",
        r"\bar",
        r"\dot",
        r"\ddot",
        r"\vec",
        r"\underbrace",
        r"\overbrace",
        r"\underline",
        r"\mathbb",
        r"\mathcal",
        r"\mathfrak",
        r"\mathbf",
    ],
    1,
)
_NAMED = re.compile(r"\\(?:log|exp|sin|cos|tanh?|min|max|inf|sup|lim|limsup|liminf|det|arg|ln|dim|ker|diag|Pr|KL)")
"""Names of functions, which equal upright letters."""
_BRACKETS = {
    "pmatrix": "( )",
    "bmatrix": "[ ]",
    "vmatrix": "| |",
    "Bmatrix": r"\{ \}",
    "Vmatrix": r"\Vert \Vert",
    "cases": r"\{ ",
}


def _write_sign(sign: str) -> list[str]:
    """Return the LaTeX tokens of one Unicode sign."""
    if sign in _SIGNS:
        return [_SIGNS[sign]]
    if sign.isascii():
        return [sign]
    name = unicodedata.name(sign, "")
    alphabet = next((command for word, command in _ALPHABETS.items() if word in name.split()), None)
    base = unicodedata.normalize("NFKC", sign)
    base = _SIGNS.get(base, base)
    letter = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)|GREEK ([A-Z]+) SYMBOL", unicodedata.name(base[0], ""))
    if letter:
        command = (letter[2] or letter[3]).lower()
        command = command.capitalize() if letter[1] == "CAPITAL" else command
        base = _SAME.get(rf"\{command}", rf"\{command}")
    return [*([alphabet] if alphabet else []), base]


def _write_accents(text: str) -> str:
    """Return a text with accents as commands."""
    decomposed = (unicodedata.normalize("NFD", sign) for sign in text)
    parts = (parts if parts[1:] in _MARKS else sign for sign, parts in zip(text, decomposed, strict=True))
    marks = "".join(_MARKS)
    accented = rf"(\\[a-zA-Z]+\{{[^{{}}]*\}}|\\[a-zA-Z]+|\S)([{marks}])"
    return re.sub(accented, lambda found: f"{_MARKS[found[2]]}{{{found[1]}}}", "".join(parts))


def _read_tokens(latex: str) -> Iterator[str]:
    text = unicodedata.normalize("NFC", latex)
    for name, brackets in _BRACKETS.items():
        opening, closing = brackets.split(" ")
        text = text.replace(rf"\begin{{{name}}}", f" {opening} ").replace(rf"\end{{{name}}}", f" {closing} ")
    text = re.sub(r"\\(?:begin|end)\{[a-zA-Z]+\*?\}(?:\{[lcr@|]*\})?", " ", text)
    text = re.sub(r"\\(?:left|right)\s*\.(?!\d)|\\(?:label|tag\*?)\{[^{}]*\}|\\[hv]space\{[^{}]*\}", " ", text)
    text = re.sub(r"\.\.\.|···|⋅⋅⋅", r"\\ldots ", text).replace(r"\operatorname*", " ")
    for token in _TOKEN.findall(_write_accents(text)):
        for part in _write_sign(token) if len(token) == 1 else [token]:
            same = _SAME.get(part, part)
            if _NAMED.fullmatch(same):
                yield from same[1:]
            elif same not in _DROPPED:
                yield same


@dataclass(slots=True)
class _Reader:
    tokens: list[str]
    place: int = 0

    def read_group(self) -> list[str]:
        """Return the tokens up to the brace that closes the group, or to the end."""
        read: list[str] = []
        while self.place < len(self.tokens) and self.tokens[self.place] != "}":
            read += self.read_item()
        self.place += 1
        return read

    def read_item(self) -> list[str]:
        """Return the next sign, command or group, with its scripts: subscript first."""
        token = self.tokens[self.place]
        self.place += 1
        if token in {"^", "_", "'"}:
            self.place -= 1
            return self.read_scripts()
        if token == "{":
            item = self.read_group()
        elif token in _ARGUMENTS:
            item = self._read_command(token)
        else:
            item = [token]
        return item + self.read_scripts()

    def read_scripts(self) -> list[str]:
        below: list[str] = []
        above: list[str] = []
        while self.place < len(self.tokens) and self.tokens[self.place] in {"^", "_", "'"}:
            mark = self.tokens[self.place]
            self.place += 1
            if mark == "'":
                above.append("'")
                continue
            script = self.read_argument()
            is_prime = script[:2] == ["^", "{"]
            (below if mark == "_" else above).extend(script[2:-1] if is_prime else script)
        return [*_brace("_", below), *_brace("^", above)]

    def read_argument(self) -> list[str]:
        if self.place >= len(self.tokens):
            return []
        token = self.tokens[self.place]
        self.place += 1
        if token == "{":
            return self.read_group()
        return self._read_command(token) if token in _ARGUMENTS else [token]

    def _read_command(self, command: str) -> list[str]:
        index: list[str] = []
        if command == r"\sqrt" and self.tokens[self.place : self.place + 1] == ["["]:
            end = self.tokens.index("]", self.place) if "]" in self.tokens[self.place :] else self.place
            index = self.tokens[self.place + 1 : end]
            self.place = end + 1
        arguments = [self.read_argument() for _ in range(_ARGUMENTS[command])]
        if command == r"\binom":
            return ["(", *arguments[0], r"\\", *arguments[1], ")"]
        if command in {r"\mathbb", r"\mathcal", r"\mathfrak", r"\mathbf"}:
            return [part for token in arguments[0] for part in (command, token)]
        root = ["[", *index, "]"] if index else []
        return [command, *root, *(part for argument in arguments for part in ("{", *argument, "}"))]


def _brace(mark: str, script: list[str]) -> list[str]:
    return [mark, "{", *script, "}"] if script else []


def normalise(latex: str) -> tuple[str, ...]:
    r"""Return the tokens of a formula.

    >>> normalise(r"\left\| x \right\|_2^{2}.") == normalise("\u2225x\u2225^2_2")
    True
    >>> normalise(r"\mathcal{L}(\hat{\mu}')") == normalise("\u2112(\u03bc\u0302^{\u2032})")
    True
    >>> normalise(r"\mathcal{L}") == normalise("L")
    False
    """
    reader = _Reader(list(_read_tokens(latex)))
    read: list[str] = []
    while reader.place < len(reader.tokens):
        read += reader.read_group()
    while read and read[-1] in {",", ".", ";", r"\\"}:
        read.pop()
    return tuple(read)
