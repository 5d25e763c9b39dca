"""Read LaTeX back without TeX: whether its parts are balanced, which commands it uses, and its words."""

import re

from peercorpus.latex.signs import ARITY, BIG, ENVIRONMENTS, SYMBOLS, TEXT_COMMANDS

COMMANDS_OF_TEXT = frozenset(
    r"""\title \author \date \maketitle \section \subsection \subsubsection \paragraph \subparagraph \textbf \emph
    \underline \texttt \textsuperscript \textsubscript \href \footnotesize \small \par \newpage \item \leavevmode
    \newline \hspace \mbox \codeline \raggedright \centering \raggedleft \arraybackslash \linewidth \setlength
    \tabcolsep \toprule \midrule \bottomrule \endhead \tag \textbackslash \textasciitilde \textasciicircum
    \textasciigrave \ensuremath \enspace \quad \begin \end \[ \] \{ \} \$ \& \# \% \_ \, \- \` \' \^ \~ \= \u \. \" \r
    \H \v \d \c \k \b""".split()  # noqa: SIM905 -- a list of 90 names
)
COMMANDS_OF_MATHS = (
    SYMBOLS | set(ARITY) | TEXT_COMMANDS | BIG
    | set(r"\left \right \begin \end \limits \nolimits \substack \hspace \\ \not \mathrel \mathopen \mathclose".split())  # noqa: SIM905
)  # fmt: skip
ENVIRONMENTS_OF_TEXT = frozenset({"itemize", "quote", "longtable", "verbatim"})
TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|.", re.DOTALL)
NAME = re.compile(r"\{([A-Za-z*]+)\}")
VERBATIM = re.compile(r"\\begin\{verbatim\}\n.*?\n\\end\{verbatim\}", re.DOTALL)


def body(latex: str) -> str:
    """Return the text between begin and end of the document, without comments."""
    inner = latex.partition("\\begin{document}\n")[2].removesuffix("\n\\end{document}\n")
    assert inner != latex
    return re.sub(r"(?m)(?:^((?:\\item(?:\[\{[^\n]*?\}\])? )*)%[^\n]*|(?<!\\)%)\n", r"\1", f"{inner}\n")


class Balance:
    """Follows groups, environments and formulas; raises AssertionError where TeX would fail."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.last = ""

    def check(self, latex: str) -> None:
        text = VERBATIM.sub("", body(latex))
        position = 0
        while position < len(text):
            match = TOKEN.match(text, position)
            assert match is not None
            position = match.end()
            name = NAME.match(text, position) if match[0] in {r"\begin", r"\end"} else None
            self._take(match[0], name[1] if name else "", text[match.start() - 30 : position + 30])
            position = name.end() if name else position
            self.last = match[0]
        assert self.open == [], self.open

    def _take(self, token: str, name: str, near: str) -> None:
        if token in {"{", r"\begin", r"\left"}:
            self._begin(token, name, near)
        elif token in {"}", r"\end", r"\right"}:
            opened = {"}": "{", r"\end": rf"\begin {name}", r"\right": r"\left"}[token]
            assert self.open, near
            last = self.open.pop()
            assert last == opened or (token == "}" and last == r"\ensuremath"), near
        elif token in {"$", r"\["}:
            self._toggle(token, near)
        elif token == r"\]":
            assert self.open, near
            assert self.open.pop() == r"\[", near
        elif token in "_^":
            assert self._in_maths(), near
        elif token in "#%":
            raise AssertionError(near)
        elif token == "&":
            assert any(mark.startswith(r"\begin") for mark in self.open), near
        elif token[0] == "\\":
            allowed = COMMANDS_OF_MATHS | COMMANDS_OF_TEXT if self._in_maths() else COMMANDS_OF_TEXT | {r"\\"}
            assert token in allowed, f"{token} in {near}"

    def _begin(self, token: str, name: str, near: str) -> None:
        allowed = {*ENVIRONMENTS} if self._in_maths() else ENVIRONMENTS_OF_TEXT
        assert token != r"\begin" or name in allowed, near
        is_ensured = token == "{" and self.last == r"\ensuremath"
        self.open.append(f"{token} {name}" if name else r"\ensuremath" if is_ensured else token)

    def _toggle(self, token: str, near: str) -> None:
        if token == "$" and self.open and self.open[-1] == "$":
            self.open.pop()
            return
        assert not self._in_maths(), near
        self.open.append(token)

    def _in_maths(self) -> bool:
        return not {"$", r"\[", r"\ensuremath"}.isdisjoint(self.open)


def check_balance(latex: str) -> None:
    """Check that groups, environments and formulas end where they should, and that every command is a known one."""
    Balance().check(latex)


def words(latex: str) -> list[str]:
    """The words of a document in their order, without the commands."""
    text = re.sub(r"\\href\{[^{}]*\}", "", body(latex))
    text = re.sub(r"\\(?:begin|end)\{[a-z]+\}(?:\{[^\n]*\})?", " ", text)
    text = re.sub(r"\\(?:setlength\{\\[a-z]+\}\{[^{}]*\})", " ", text)
    text = re.sub(r"\\([{}$&#%_])", r"\1", text)
    text = re.sub(r"\\[A-Za-z]+(?:\{\})?|\\.", " ", text)
    return re.findall(r"[^\W_]+", text)
