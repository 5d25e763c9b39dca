"""Read the plain words of a text: without case, accents, LaTeX and markup."""

import html
import re
import unicodedata

ACCENT = re.compile(r"\\(?:[`'^\"~=.]|[cHkruvdbt](?=[\s{]))\s*\{?\\?([A-Za-z])\}?")
"""Matches an accented letter in LaTeX: `\\'e`, `\\"{o}`, `\\v{s}`."""

SYMBOL = re.compile(r"\\(ss|ae|oe|aa|o|l|i|j)(?![A-Za-z])\s?(?:\{\})?", re.IGNORECASE)
"""Matches a special letter in LaTeX: `\\ss`, `\\o{}`."""

COMMAND = re.compile(r"\\[A-Za-z]+\*?")
TAG = re.compile(r"</?[A-Za-z][^<>]{0,40}>")
HYPHENATED = re.compile(r"[-\u00ad\u2010\u2011](?<=[^\W\d_].)\s*\n\s*(?=[^\W\d_])")
"""Matches the break inside a word that is hyphenated at the end of a line."""

LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "\u0131": "i"})
COMBINING = re.compile("[\u0300-\u036f]+")
WORD = re.compile(r"[^\W_]+")


def plain_words(text: str) -> list[str]:
    r"""Return the words of a text in order, in lower case and without accents, markup and punctuation.

    Hyphens and dashes separate words, except for hyphenation at the end of a line.

    >>> plain_words("Poincar\\'e Maps \u2014 \\emph{Na\u00efve} $k$-NN &amp; Stra\u00dfe"), plain_words("$\\to$ !")
    (['poincare', 'maps', 'naive', 'k', 'nn', 'strasse'], ['to'])
    """
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = COMMAND.sub(_replace_command, SYMBOL.sub(r"\1", ACCENT.sub(r"\1", text)))
    if "<" in text:
        text = TAG.sub(" ", text)
    text = HYPHENATED.sub("", text)
    if not text.isascii():
        text = COMBINING.sub("", unicodedata.normalize("NFKD", text)).casefold().translate(LETTERS)
    return WORD.findall(text.lower())


def _replace_command(command: re.Match[str]) -> str:
    r"""Return the name of a command that is a symbol (`\alpha`), and a space for one that formats braces (`\emph{`)."""
    return " " if command.string[command.end() : command.end() + 1] == "{" else f" {command[0][1:].rstrip('*')} "
