"""How far two texts of one page say the same words in the same order."""

import re
import unicodedata
from collections.abc import Sequence

DIVIDED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")
MARKUP = re.compile(r"\\[A-Za-z]+|</?[A-Za-z][^<>\n]{0,80}>|!?\]\([^)\n]*\)")
"""Commands of LaTeX, tags of HTML, addresses of links: what one text has and the other need not."""
WORD = re.compile(r"[^\W\d_]{2,}")


def words(text: str) -> list[str]:
    r"""The words of a text, without markup; single letters and numbers left out, as formulas and tables differ in them.

    >>> words("# Over-\nall <b>is</b> $\\alpha x_1$ **memory**")
    ['overall', 'is', 'memory']
    """
    plain = unicodedata.normalize("NFKC", DIVIDED.sub("", text))
    return WORD.findall(MARKUP.sub(" ", plain).casefold())


def agreement(left: str, right: str) -> float:
    """Share of the words of both texts that both have in the same order, on [0, 1]; 1 where neither has any.

    >>> agreement("We show that delay is momentum.", "We show that delay is not momentum.")
    0.9230769230769231
    """
    one, other = words(left), words(right)
    both = len(one) + len(other)
    return 2 * longest_common(one, other) / both if both else 1.0


def longest_common(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    Source: Hyyrö, "Bit-parallel LCS-length computation revisited" (AWOCA 2004), equation 1: the rows of the table are
    the bits of one number, so two pages take a millisecond.

    >>> longest_common("abcbdab", "bdcaba")
    4
    """
    places: dict[str, int] = {}
    for index, word in enumerate(left):
        places[word] = places.get(word, 0) | 1 << index
    full = (1 << len(left)) - 1
    row = full
    for word in right:
        met = row & places.get(word, 0)
        row = ((row + met) | (row - met)) & full
    return len(left) - row.bit_count()
