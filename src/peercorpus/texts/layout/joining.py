"""Lines joined to running text: words divided at the end of a line, and addresses that go over it."""

import re
from collections import Counter
from collections.abc import Iterable

from peercorpus.texts.layout.lines import Line

LAST = re.compile(r"([^\W\d_]+)-?$")
FIRST = re.compile(r"([^\W\d_]+)")
WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
ADDRESS = re.compile(r"(?:https?:/{0,2}|www\.|doi\.org|ftp://)\S*$", re.IGNORECASE)
GOES_ON = re.compile(r"[/._\-=?&%#~:+]$")
REST = re.compile(r"\S*[/_=?&%#~]\S*|\S*\.\w{2,5}[.,]?$|[a-z0-9\-]*\d[a-z0-9\-]*[.,]?$")
HYPHENS = ("-", "\u2010")

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
        *("domain", "human", "plug", "out", "first", "second", "third"),
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
        word = before[before.rfind(" ") + 1 :]
        if is_cut:
            return before + self._hyphen(word, after) + after
        if before.endswith(HYPHENS) and before[-2:-1].isalpha() and after[:1].islower():
            return before[:-1] + self._hyphen(word[:-1], after) + after
        address = ADDRESS.search(word) if "." in word or ":" in word else None
        if address and _goes_on(address[0], after):
            return before + after
        is_one_word = before.endswith(("\u2014", "/")) and before[-2:-1].isalnum() and after[:1].isalnum()
        return before + after if is_one_word else f"{before} {after}"

    def _hyphen(self, word: str, after: str) -> str:
        """What stands in a divided word, a hyphen or nothing: as the paper has it elsewhere, else by its parts."""
        left, right = LAST.search(word), FIRST.match(after)
        if left is None or right is None or right[1][0].isupper() or ADDRESS.search(word):
            return "-"
        first, second = left[1].casefold(), right[1].casefold()
        whole, compound = self._known[first + second], self._compounds[f"{first}-{second}"]
        is_one = whole > compound if whole or compound else not self._are_two(first, second)
        return "" if is_one else "-"

    def _are_two(self, first: str, second: str) -> bool:
        """Whether two parts are two words: by what is usual, else by whether the paper has each of them alone."""
        if second in BEHIND or first in BEFORE:
            return True
        return min(len(first), len(second)) >= 3 and self._known[first] > 0 and self._known[second] > 0


def _goes_on(address: str, after: str) -> bool:
    """Whether an address at the end of a line goes on in the next one."""
    if not after or after[0] in '([\u201c"' or address.endswith((",", ";", ")", ">")):
        return False
    if GOES_ON.search(address):
        return not (address.endswith(".") and after[0].isupper())
    return REST.match(after.split(maxsplit=1)[0]) is not None
