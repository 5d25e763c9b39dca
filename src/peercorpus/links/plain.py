"""The words of a title, an abstract or a text, without what only sets them: case, accents, LaTeX, punctuation."""

import html
import re
import unicodedata

ACCENT = re.compile(r"\\(?:[`'^\"~=.]|[cHkruvdbt](?=[\s{]))\s*\{?\\?([A-Za-z])\}?")
"""A letter with an accent as LaTeX writes it: `\\'e`, `\\"{o}`, `\\v{s}`."""
SYMBOL = re.compile(r"\\(ss|ae|oe|aa|o|l|i|j)(?![A-Za-z])\s?(?:\{\})?", re.IGNORECASE)
"""A letter of its own as LaTeX writes it: `\\ss`, `\\o{}`."""
COMMAND = re.compile(r"\\[A-Za-z]+\*?")
TAG = re.compile(r"</?[A-Za-z][^<>]{0,40}>")
DIVIDED = re.compile(r"[-\u00ad\u2010\u2011](?<=[^\W\d_].)\s*\n\s*(?=[^\W\d_])")
"""A word divided at the end of a line."""
LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "\u0131": "i"})
COMBINING = re.compile("[\u0300-\u036f]+")
WORD = re.compile(r"[^\W_]+")


def plain_words(text: str) -> list[str]:
    r"""Words in their order, in small letters without accents; hyphens, dashes and all signs part them.

    >>> plain_words("Poincar\\'e Maps \u2014 \\emph{Na\u00efve} $k$-NN &amp; Stra\u00dfe"), plain_words("$\\to$ !")
    (['poincare', 'maps', 'naive', 'k', 'nn', 'strasse'], ['to'])
    """
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = COMMAND.sub(_name, SYMBOL.sub(r"\1", ACCENT.sub(r"\1", text)))
    if "<" in text:
        text = TAG.sub(" ", text)
    text = DIVIDED.sub("", text)
    if not text.isascii():
        text = COMBINING.sub("", unicodedata.normalize("NFKD", text)).casefold().translate(LETTERS)
    return WORD.findall(text.lower())


def _name(command: re.Match[str]) -> str:
    r"""A command that is a sign by itself (`\alpha`) is its name; one that sets what follows in braces is nothing."""
    return " " if command.string[command.end() : command.end() + 1] == "{" else f" {command[0][1:].rstrip('*')} "
