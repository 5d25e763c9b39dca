r"""Check a formula and write it so that it compiles: whitelisted commands, balanced braces, one script of each kind.

ASCII is unchanged; other characters become commands. What would break the document is repaired if that loses nothing
(an empty group between two scripts, `\%` for `%`) and otherwise refused, so that the caller shows the source.
"""

import re
from dataclasses import dataclass, field

from peercorpus.latex.characters import escape_text, write_maths
from peercorpus.latex.signs import (
    ARITY,
    BIG,
    DELIMITERS,
    ENVIRONMENTS,
    MATHS_ACCENTS,
    MOST_COLUMNS,
    OPERATORS,
    OPTIONAL,
    SAME,
    SAME_ENVIRONMENTS,
    SIMPLE,
    SYMBOLS,
    TEXT_COMMANDS,
)
from peercorpus.pdf.math_fonts import UNKNOWN

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_MAX_CHARACTERS = 20_000
_MAX_DEPTH = 30
"""Deepest nesting; TeX itself allows 255 groups, and one level here may take several."""
_LENGTH = re.compile(r"\[\s*+-?\d{0,3}(?:\.\d{1,3})?\s*+(?:pt|em|ex|mm|cm|in)\s*+\]")
"""Matches the space below a row."""
_COLUMNS = re.compile(r"\{([lcr| ]{1,60})\}")
_SPACE = re.compile(r"\{\s*+-?\d{0,2}(?:\.\d{1,3})?\s*+(?:pt|em|ex|mm|cm)\s*+\}")
_ESCAPED = {rf"\{char}": char for char in "{}%#&_$"} | {r"\ ": " ", r"\,": " ", r"\;": " ", "~": " "}
"""Tokens in the text of a formula, and the characters that they show."""
_TAG = re.compile(r"\\tag\*?\{([\w.*'′ -]{1,20})\}", re.ASCII)


class UnfitFormulaError(Exception):
    """A formula that cannot be typeset; the message says why, quoting nothing of the formula except command names."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as LaTeX, without the marks around it; `tag` is its number, if it has one."""

    latex: str
    tag: str | None = None


def read_formula(source: str) -> Formula:
    r"""Return a formula in a form that compiles.

    >>> read_formula(r"β_i = \frac{1}{2}").latex
    '\\beta_i = \\frac{1}{2}'
    >>> read_formula(r"x^a^b & 50%").latex
    '\\begin{aligned}x^a{}^b & 50\\%\\end{aligned}'

    Raises:
        UnfitFormulaError: It would break the document, or uses an unknown command.
    """
    if len(source) > _MAX_CHARACTERS:
        raise UnfitFormulaError("it is too long")
    tags = _TAG.findall(source)
    parser = _Parser(_TOKEN.findall(_TAG.sub("", source).strip()))
    latex = parser.read_row(MOST_COLUMNS)
    if parser.position < len(parser.tokens):
        raise UnfitFormulaError("its braces or environments are not balanced")
    if parser.has_columns or parser.has_rows:
        name = "aligned" if parser.has_columns else "gathered"
        latex = rf"\begin{{{name}}}{latex}\end{{{name}}}"
    if not latex.strip():
        raise UnfitFormulaError("it is empty")
    return Formula(re.sub(r"\s+", " ", latex), " ".join(tags) or None)


def write_with_commands(signs: str) -> str:
    r"""Return a formula in commands, with a box for an unknown symbol; unchanged if it cannot compile.

    >>> write_with_commands("σ ∈ ℝ^d"), write_with_commands(r"\frac{σ")
    ('\\sigma \\in \\mathbb{R}^d', '\\frac{σ')
    """
    try:
        return read_formula(signs.replace(UNKNOWN, r"\Box ")).latex
    except UnfitFormulaError:
        return signs


@dataclass(slots=True)
class _Row:
    """The parts read so far of one row of symbols; `atom` is the index of the last symbol, which bears `scripts`."""

    parts: list[str] = field(default_factory=list)
    atom: int | None = None
    scripts: set[str] = field(default_factory=set)
    last: str = ""
    column: int = 1
    columns: int = 0
    has_rows: bool = False

    def add_atom(self, latex: str) -> None:
        # A command name must be separated from a letter after it.
        glued = self.parts and re.search(r"\\[A-Za-z]+$", self.parts[-1]) and latex[:1].isalpha()
        self.atom = len(self.parts)
        self.parts.append(f" {latex}" if glued else latex)
        self.scripts = set()

    def add_script(self, mark: str, argument: str) -> None:
        is_after_primes = self.last == "'" and argument != ""
        if mark in self.scripts and not is_after_primes:
            self.parts.append("{}")
            self.scripts = set()
        self.scripts.add(mark)
        self.parts.append(mark + argument)

    def add_prime(self) -> None:
        if "^" in self.scripts and self.last != "'":
            self.parts.append("{}")
            self.scripts = set()
        self.scripts.add("^")
        self.parts.append("'")

    def add_accent(self, command: str) -> None:
        at = len(self.parts) if self.atom is None else self.atom
        base = self.parts[at].lstrip() if at < len(self.parts) else ""
        self.parts[at : at + 1] = [f"{command} {base} " if command == r"\not" else f"{command}{{{base}}}"]
        self.atom = at


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0
        self.has_rows = False
        self.has_columns = False

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self.position += 1
        return token

    def _skip_space(self) -> None:
        while self._peek().isspace():
            self.position += 1

    def _match_ahead(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match("".join(self.tokens[self.position : self.position + 80]))
        length = len(match[0]) if match else 0
        while length > 0:
            length -= len(self._take())
        return match

    def read_row(self, columns: int = 0, until: str = "") -> str:
        r"""Read symbols up to `}`, `\end`, `\right` or `until`, which are not taken."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise UnfitFormulaError("it is nested too deeply")
        row = _Row(columns=columns)
        while (token := self._peek()) not in {"", "}", r"\end", r"\right"} and token != until:
            self.position += 1
            self._read_token(token, row)
            row.last = token
        self.depth -= 1
        latex = "".join(row.parts)
        # Rows within a group, which an engine reads if a bracket spans several lines, need a table around them.
        return rf"\begin{{matrix}}{latex}\end{{matrix}}" if row.has_rows and not columns else latex

    def _read_token(self, token: str, row: _Row) -> None:
        if token.isspace():
            row.parts.append(" ")
        elif token in "^_":
            row.add_script(token, self._read_argument())
        elif token == "'":
            row.add_prime()
        elif token in MATHS_ACCENTS:
            row.add_accent(MATHS_ACCENTS[token])
        elif token in {"&", r"\\"}:
            self._separate(token, row)
        elif token == r"\limits" or token == r"\nolimits":
            if row.atom is None or row.parts[row.atom].split("{")[0].strip() not in OPERATORS | {r"\operatorname*"}:
                raise UnfitFormulaError(rf"{token} does not follow an operator")
            row.parts.append(token)
        else:
            row.add_atom(self._read_atom(token))

    def _separate(self, token: str, row: _Row) -> None:
        row.has_rows |= token == r"\\"
        is_outside = self.depth == 1
        self.has_rows |= is_outside and token == r"\\"
        self.has_columns |= is_outside and token == "&"
        row.atom = None
        row.scripts = set()
        row.column = row.column + 1 if token == "&" else 1
        if token == "&":
            if row.column > row.columns > 0:
                raise UnfitFormulaError("a row has too many columns")
            row.parts.append("&" if row.columns else r"\&")
            return
        space = self._match_ahead(_LENGTH)
        following = "".join(self.tokens[self.position : self.position + 2]).lstrip()
        # A bracket or an asterisk would be read as an argument of the command that ends the row.
        row.parts.append(rf"\\{space[0] if space else ''}" + ("{}" if following[:1] in {"[", "*"} else ""))

    def _read_atom(self, token: str) -> str:
        if token == "{":
            inner = self.read_row()
            self._expect("}")
            return f"{{{inner}}}"
        if token in {"%", "#"}:
            return rf"\{token}"
        if token in {"$", "\\", "\0"} or (len(token) == 1 and token < " "):
            raise UnfitFormulaError("it contains a character that has no meaning in a formula")
        if token[0] != "\\":
            return token if token.isascii() else write_maths(token)
        return self._read_command(token)

    def _read_command(self, token: str) -> str:
        if token in SIMPLE:
            return SIMPLE[token]
        token = SAME.get(token, token)
        if token in ARITY:
            return self._read_arguments(token)
        if token in TEXT_COMMANDS:
            return self._read_text_command(token)
        if token in BIG:
            return token + self._read_delimiter()
        if token in {r"\left", r"\begin", r"\substack", r"\hspace"}:
            return self._read_structure(token)
        if token not in SYMBOLS:
            raise UnfitFormulaError(f"{token if token.isascii() else 'a command'} is not a known command for formulas")
        return token

    def _read_structure(self, command: str) -> str:
        if command == r"\left":
            return self._read_pair()
        if command == r"\begin":
            return self._read_environment()
        if command == r"\hspace":
            space = self._match_ahead(_SPACE)
            if space is None:
                raise UnfitFormulaError(r"\hspace has no length")
            return rf"\hspace{space[0]}"
        self._skip_space()
        self._expect("{")
        inner = self._read_table(1)
        self._expect("}")
        return rf"\substack{{{inner}}}"

    def _read_arguments(self, command: str) -> str:
        option = ""
        if command in OPTIONAL:
            self._skip_space()
            if self._peek() == "[":
                self.position += 1
                option = f"[{{{self.read_row(until=']')}}}]"
                self._expect("]")
        return command + option + "".join(self._brace(self._read_argument()) for _ in range(ARITY[command]))

    @staticmethod
    def _brace(argument: str) -> str:
        return argument if argument.startswith("{") else f"{{{argument}}}"

    def _read_argument(self) -> str:
        """Read what a script or a command applies to: one character, or a group with its braces."""
        self._skip_space()
        token = self._take()
        if token in {"", "}", "^", "_", "&", r"\\", r"\end", r"\right", r"\limits", r"\nolimits"}:
            raise UnfitFormulaError("a script or an argument is missing")
        latex = "'" if token == "'" else self._read_atom(token)
        is_single = token == "{" or (len(latex) == 1 and latex != "'")
        return latex if is_single else f"{{{latex}}}"

    def _read_text_command(self, command: str) -> str:
        star = self._take() if command == r"\operatorname" and self._peek() == "*" else ""
        self._skip_space()
        self._expect("{")
        depth = 1
        text = ""
        while depth:
            token = self._take()
            if not token or (token[0] == "\\" and token not in _ESCAPED) or token == "$":
                raise UnfitFormulaError(f"the text in {command} is not plain")
            depth += (token == "{") - (token == "}")
            text += "" if token in "{}" else _ESCAPED.get(token, token)
        return f"{command}{star}{{{escape_text(text)}}}"

    def _read_delimiter(self) -> str:
        self._skip_space()
        token = self._take()
        delimiter = token if not token or token.isascii() else write_maths(token)
        if delimiter not in DELIMITERS:
            raise UnfitFormulaError("a delimiter is missing")
        return f"{delimiter} " if delimiter[-1:].isalpha() else delimiter

    def _read_pair(self) -> str:
        latex = rf"\left{self._read_delimiter()}{self.read_row()}"
        self._expect(r"\right")
        return rf"{latex}\right{self._read_delimiter()}"

    def _read_table(self, columns: int) -> str:
        self.depth += 1
        inner = self.read_row(columns)
        self.depth -= 1
        return inner

    def _read_environment(self) -> str:
        name = self._read_name()
        name = SAME_ENVIRONMENTS.get(name, name)
        if name not in ENVIRONMENTS:
            raise UnfitFormulaError("it has an environment that is not for formulas")
        columns = self._match_ahead(_COLUMNS) if name == "array" else None
        if name == "array" and columns is None:
            raise UnfitFormulaError("an array has no columns")
        inner = self._read_table(len(re.sub(r"[| ]", "", columns[1])) if columns else ENVIRONMENTS[name])
        self._end({name, *(other for other, same in SAME_ENVIRONMENTS.items() if same == name)})
        guard = "{}" if inner.lstrip()[:1] in {"[", "*"} else ""
        return rf"\begin{{{name}}}{columns[0] if columns else ''}{guard}{inner}\end{{{name}}}"

    def _end(self, names: set[str]) -> None:
        self._expect(r"\end")
        if self._read_name() not in names:
            raise UnfitFormulaError("an environment ends that was not begun")

    def _read_name(self) -> str:
        self._expect("{")
        name = ""
        while (token := self._take()) not in {"", "}"}:
            name += token
        return name

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise UnfitFormulaError("its braces or environments are not balanced")
