"""Rejoin words and URLs that are divided at line ends."""

import re
from collections import Counter
from collections.abc import Iterable

from peercorpus.texts.layout.blocks import TextLine

_LAST_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]++)-?$")
_FIRST_WORD = re.compile(r"([^\W\d_]+)")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ASCII_WORDS = re.compile(r"[a-z]+(?:-[a-z]+)*")
"""The same in lower-case ASCII letters, which takes two thirds of the time."""
_ADDRESS = re.compile(
    r"(?:https?:/{0,2}|www\.|doi\.org|ftp://)\S*$|\bdoi:\s*\S+$|(?<![\w.])10\.\d{4,5}/\S*$", re.IGNORECASE
)
"""A URL or DOI at the end of a line."""
_DOI_PREFIX = "doi: "
"""Part of an address although it ends with a space."""
_URL_SCHEME = re.compile(r"\W?(?:https?|ftp)://", re.IGNORECASE)
_MAX_SCHEME_CHARACTERS = 8
"""Number of characters at the start of a line that are searched for the rest of a divided scheme."""
_OPEN_ADDRESS = re.compile(r"[/_\-=?&%#~:+]$")
_AFTER_ADDRESS = re.compile(r"(?:arxiv|doi|url|is[sb]n|pmid|https?)\b|(?:19|20)\d\d[.,]?$", re.IGNORECASE)
"""Text that does not continue an address ending with a full stop."""
_ADDRESS_REST = re.compile(
    r"\S*[/_=?&%#~]\S*|\S*\.\w{2,5}[.,]?$|(?=[\w.\-]*\d)[\w.\-]++,?$|(?:html?|pdf|com|org|net|edu|io|ai)[.,)]*$"
)
_SUSPENDED = re.compile(r"(?:and|or)\s")
"""Words after a suspended hyphen, as in "pre- and post-processing"."""
_UNSPACED = re.compile(r"[\u2e80-\u2fff\u3001-\u30ff\u31c0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Han characters, kana and their punctuation, between which lines end without a space; Korean words have spaces."""
_FULL_WIDTH_SIGN = re.compile(r"[\u3001-\u3003\u3008-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]")
"""Punctuation that carries its own space."""
_HYPHENS = ("-", "\u2010")
_DASHES = ("\u2013", "\u2014")

_COMPOUND_FIRST_PARTS = frozenset(
    [
        *("real", "well", "fine", "state", "self", "high", "low", "large", "small", "long", "short", "single", "one"),
        *(
            "two",
            "three",
            "four",
            "half",
            "full",
            "zero",
            "few",
            "many",
            "end",
            "top",
            "hard",
            "soft",
            "open",
            "closed",
        ),
        *("deep", "near", "right", "left", "cross", "best", "worst", "fast", "slow", "data", "task", "time", "model"),
        *("domain", "human", "plug", "first", "second", "third"),
    ]
)
_COMPOUND_LAST_PARTS = frozenset(
    [
        *("based", "aware", "free", "like", "specific", "wise", "level", "art", "time", "of", "to", "the", "in", "by"),
        *("dependent", "driven", "trained", "scale", "dimensional", "order", "rank", "tuning", "tuned", "shot", "hand"),
        *("world", "grained", "attention", "agnostic", "oriented", "guided", "related", "known", "off", "end", "side"),
        *("case", "step", "supervised", "efficient", "friendly", "conditioned", "invariant", "equivariant"),
    ]
)
_COMPOUND_MIDDLE_PARTS = frozenset(["of", "to", "in", "on", "by", "up", "at", "as", "no"])
_WORD_ENDINGS = frozenset(
    [
        *(
            "ing",
            "ings",
            "ers",
            "est",
            "ment",
            "ments",
            "ness",
            "istic",
            "ity",
            "ary",
            "ize",
            "ized",
            "izes",
            "ization",
        ),
        *("ise", "ised", "isation", "able", "less", "ward", "wards", "ware", "max", "light", "lights"),
        *("base", "bases", "set", "sets", "ular", "ally", "ling", "ical"),
    ]
)
"""Endings of divided words whose first part may itself be a word."""
_MIN_DIVIDED_LETTERS = 3
"""Minimum letters after the hyphen of a divided word, by the rules of English typesetting."""


class Dehyphenator:
    """Joins lines, using the vocabulary of the paper to decide on hyphens."""

    def __init__(self, lines: Iterable[TextLine]) -> None:
        words: list[str] = []
        was_cut = False
        for line in lines:
            text = line.text.casefold()
            line_words = (_ASCII_WORDS if text.isascii() else _WORDS).findall(text)
            is_cut = line.is_cut or text.endswith(_HYPHENS)
            # The halves of a divided word are not words.
            words += line_words[was_cut : len(line_words) - is_cut]
            was_cut = is_cut
        self._known = Counter(words)
        self._compounds = Counter({word: number for word, number in self._known.items() if "-" in word})
        for word, number in self._compounds.items():
            for part in word.split("-"):
                self._known[part] += number

    def join(self, before: str, after: str, *, is_cut: bool) -> str:
        """Join two lines; `is_cut` if pdfium reported a hyphen, which `before` lacks."""
        # The text before may be long; only its last word matters.
        start = before.rfind(" ") + 1
        word = before[start:]
        if is_cut:
            return (
                f"{before}- {after}" if _SUSPENDED.match(after) else before + self._choose_hyphen(word, after) + after
            )
        if before.endswith(_HYPHENS) and before[-2:-1].strip() and after[:1].isalnum():
            if _SUSPENDED.match(after):
                return f"{before} {after}"
            is_divided = before[-2].isalpha() and after[0].isalpha()
            return before[:-1] + (self._choose_hyphen(word[:-1], after) if is_divided else "-") + after
        if "//" in after[:_MAX_SCHEME_CHARACTERS] and _URL_SCHEME.match(word + after) and not _URL_SCHEME.match(word):
            return before + after
        word = before[start - len(_DOI_PREFIX) :] if before.endswith(_DOI_PREFIX, 0, start) else word
        address = _ADDRESS.search(word) if "." in word or ":" in word else None
        if address and _address_continues(address[0], after):
            return before + after
        return before + after if _is_one_word(before, after) or _is_unspaced(before, after) else f"{before} {after}"

    def _choose_hyphen(self, word: str, after: str) -> str:
        left, right = _LAST_WORD.search(word), _FIRST_WORD.match(after)
        if left is None or right is None or _ADDRESS.search(word):
            return "-"
        first, second = left[1].casefold(), right[1].casefold()
        joined_count = self._known[first + second]
        compound_count = self._compounds[f"{first}-{second}"]
        if joined_count or compound_count:
            return "" if joined_count > compound_count else "-"
        return "-" if right[1][0].isupper() or self._are_two(word[: left.end(1)], second) else ""

    def _are_two(self, word: str, second: str) -> bool:
        *others, written = re.split(r"[^\w]|[\d_]", word)
        first = written.casefold()
        if len(first) == 1 or len(second) < _MIN_DIVIDED_LETTERS:
            return True
        if len(first) == 2:
            return written.isupper() or bool(others and first in _COMPOUND_MIDDLE_PARTS)
        if second in _COMPOUND_LAST_PARTS or (first in _COMPOUND_FIRST_PARTS and second not in _WORD_ENDINGS):
            return True
        return len(second) >= 3 and self._known[first] > 0 and self._known[second] > 0


def _is_one_word(before: str, after: str) -> bool:
    if before.endswith("/"):
        return before[-2:-1].isalnum() and after[:1].isalnum()
    return before.endswith(_DASHES) and bool(before[-2:-1].strip()) and after[:1].isalnum()


def _is_unspaced(before: str, after: str) -> bool:
    last, first = before[-1:], after[:1]
    if last.isascii() and first.isascii():
        return False
    are_unspaced = _UNSPACED.match(last) and _UNSPACED.match(first)
    return bool(are_unspaced or _FULL_WIDTH_SIGN.match(last) or _FULL_WIDTH_SIGN.match(first))


def _address_continues(address: str, after: str) -> bool:
    if not after or after[0] in '([\u201c"' or address.endswith((",", ";", ")", ">")):
        return False
    if _OPEN_ADDRESS.search(address):
        return True
    piece = after.split(maxsplit=1)[0]
    if address.endswith(".") and (piece[0].isupper() or _AFTER_ADDRESS.match(piece)):
        return False
    return _ADDRESS_REST.match(piece) is not None
