"""Lines joined to running text: words divided at the end of a line, and addresses that go over it."""

import re
from collections import Counter
from collections.abc import Iterable

from peercorpus.texts.layout.lines import Line

LAST = re.compile(r"([^\W\d_]+)-?$")
FIRST = re.compile(r"([^\W\d_]+)")
WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
ADDRESS = re.compile(
    r"(?:https?:/{0,2}|www\.|doi\.org|ftp://)\S*$|\bdoi:\s*\S+$|(?<![\w.])10\.\d{4,5}/\S*$", re.IGNORECASE
)
DOI = "doi: "
"""What belongs to an address, though a space stands behind it."""
SCHEME = re.compile(r"\W?(?:https?|ftp)://", re.IGNORECASE)
NEAR = 8
"""Characters at the beginning of a line in which the rest of such a scheme is."""
GOES_ON = re.compile(r"[/_\-=?&%#~:+]$")
ANOTHER = re.compile(r"(?:arxiv|doi|url|is[sb]n|pmid|https?)\b|(?:19|20)\d\d[.,]?$", re.IGNORECASE)
"""What begins something else behind the stop at the end of an address."""
REST = re.compile(
    r"\S*[/_=?&%#~]\S*|\S*\.\w{2,5}[.,]?$|[\w.\-]*\d[\w.\-]*[.,]?$|(?:html?|pdf|com|org|net|edu|io|ai)[.,)]*$"
)
SUSPENDED = re.compile(r"(?:and|or)\s")
"""What stands behind the hyphen of a first word that shares its end with another, as in "pre- and post-processing"."""
HYPHENS = ("-", "\u2010")
DASHES = ("\u2013", "\u2014")

BEFORE = frozenset(
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
"""What stands before a hyphen in the compounds of papers."""
BEHIND = frozenset(
    [
        *("based", "aware", "free", "like", "specific", "wise", "level", "art", "time", "of", "to", "the", "in", "by"),
        *("dependent", "driven", "trained", "scale", "dimensional", "order", "rank", "tuning", "tuned", "shot", "hand"),
        *("world", "grained", "attention", "agnostic", "oriented", "guided", "related", "known", "off", "end", "side"),
        *("case", "step", "supervised", "efficient", "friendly", "conditioned", "invariant", "equivariant"),
    ]
)
"""What stands behind one."""
BETWEEN = frozenset(["of", "to", "in", "on", "by", "up", "at", "as", "no"])
"""What stands between two."""
ENDINGS = frozenset(
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
"""What stands behind the first part of a divided word, though that is a word of its own."""
FEWEST = 3
"""Letters behind the hyphen of a divided word, at least, in the rules by which English is set."""


class Joiner:
    """Joins lines with the vocabulary of the paper itself."""

    def __init__(self, lines: Iterable[Line]) -> None:
        words: list[str] = []
        was_cut = False
        for line in lines:
            found = WORDS.findall(line.text.casefold())
            is_cut = line.is_cut or line.text.endswith(HYPHENS)
            # The halves of a divided word are no words.
            words += found[was_cut : len(found) - is_cut]
            was_cut = is_cut
        self._known = Counter(words)
        self._compounds = Counter({word: number for word, number in self._known.items() if "-" in word})
        for word, number in self._compounds.items():
            for part in word.split("-"):
                self._known[part] += number

    def join(self, before: str, after: str, *, is_cut: bool) -> str:
        """Two lines as one.

        Args:
            before: The first, without the hyphen at its end where `is_cut`.
            after: The second.
            is_cut: Whether pdfium found a hyphen at the end of the first.
        """
        # The paragraph before may be long; only its last word counts.
        start = before.rfind(" ") + 1
        word = before[start:]
        if is_cut:
            return f"{before}- {after}" if SUSPENDED.match(after) else before + self._hyphen(word, after) + after
        if before.endswith(HYPHENS) and before[-2:-1].strip() and after[:1].isalnum():
            if SUSPENDED.match(after):
                return f"{before} {after}"
            is_divided = before[-2].isalpha() and after[0].isalpha()
            return before[:-1] + (self._hyphen(word[:-1], after) if is_divided else "-") + after
        if "//" in after[:NEAR] and SCHEME.match(word + after) and not SCHEME.match(word):
            return before + after
        address = ADDRESS.search(before[start - len(DOI) :] if before.endswith(DOI, 0, start) else word)
        if address and _goes_on(address[0], after):
            return before + after
        return before + after if _is_one_word(before, after) else f"{before} {after}"

    def _hyphen(self, word: str, after: str) -> str:
        """What stands in a divided word, a hyphen or nothing: as the paper has it elsewhere, else by its parts."""
        left, right = LAST.search(word), FIRST.match(after)
        if left is None or right is None or ADDRESS.search(word):
            return "-"
        first, second = left[1].casefold(), right[1].casefold()
        whole, compound = self._known[first + second], self._compounds[f"{first}-{second}"]
        if whole or compound:
            return "" if whole > compound else "-"
        return "-" if right[1][0].isupper() or self._are_two(word[: left.end(1)], second) else ""

    def _are_two(self, word: str, second: str) -> bool:
        """Whether two parts are two words: by what is usual, else by whether the paper has each of them alone."""
        *others, written = re.split(r"[^\w]|[\d_]", word)
        first = written.casefold()
        if len(first) == 1 or len(second) < FEWEST:
            return True
        if len(first) == 2:
            return written.isupper() or bool(others and first in BETWEEN)
        if second in BEHIND or (first in BEFORE and second not in ENDINGS):
            return True
        return len(second) >= 3 and self._known[first] > 0 and self._known[second] > 0


def _is_one_word(before: str, after: str) -> bool:
    """Whether a dash or a stroke at the end of a line binds two words."""
    if before.endswith("/"):
        return before[-2:-1].isalnum() and after[:1].isalnum()
    return before.endswith(DASHES) and bool(before[-2:-1].strip()) and after[:1].isalnum()


def _goes_on(address: str, after: str) -> bool:
    """Whether an address at the end of a line goes on in the next one."""
    if not after or after[0] in '([\u201c"' or address.endswith((",", ";", ")", ">")):
        return False
    if GOES_ON.search(address):
        return True
    piece = after.split(maxsplit=1)[0]
    if address.endswith(".") and (piece[0].isupper() or ANOTHER.match(piece)):
        return False
    return REST.match(piece) is not None
