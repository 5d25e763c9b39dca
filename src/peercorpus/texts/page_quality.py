"""Find pages whose text layer is unreadable, and measure the agreement of two texts.

Thresholds were set on 373 pages of papers with a good text layer; see each constant.
"""

import re
import unicodedata
from collections.abc import Hashable, Iterable, Sequence

from peercorpus.pdf.glyphs import TextRun
from peercorpus.pdf.math_fonts import to_plain_text
from peercorpus.pdf.shapes import Shapes
from peercorpus.texts.engine import UNKNOWN

MIN_PAGE_CHARACTERS = 50
"""Minimum characters of a page with text; a mere running header has about forty."""

MIN_SCAN_SHARE = 0.5
"""Share of a page under images above which a page with few characters is a scan."""

MIN_DRAWN_STROKES = 300
"""Number of paths on a page with few characters above which its letters may be drawn; a plain figure has fewer."""

MAX_UNKNOWN_SHARE = 0.02
"""Share of characters that represent no letter above which the encoding is broken; 373 pages of papers had none."""

MIN_LANGUAGE_WORDS = 100
"""Minimum words of a page from which its language can be judged."""

MIN_SMALL_WORD_SHARE = 0.01
"""Minimum share of small English words; of 373 pages of papers half had 26 % or more, and all 3 % or more."""

VOWEL_SHARES = (0.25, 0.55)
"""Range of the share of vowels among letters in prose; 373 pages of papers had 0.34 to 0.42."""

SMALL_WORDS = frozenset(
    [
        "the",
        "of",
        "and",
        "to",
        "in",
        "a",
        "is",
        "for",
        "we",
        "that",
        "with",
        "as",
        "on",
        "are",
        "by",
        "this",
        "be",
        "an",
        "from",
        "it",
        "at",
        "or",
        "which",
    ]
)
ASCII_WORD = re.compile(r"[A-Za-z]+")


def explain_unreadable(text: str, shapes: Shapes, area: float) -> str | None:
    """Return why a page of `area` square points must be recognised from its image; None if it is usable or empty."""
    characters = sum(not character.isspace() for character in text)
    if characters < MIN_PAGE_CHARACTERS:
        is_drawn = measure_covered_area(shapes) > MIN_SCAN_SHARE * area or len(shapes.strokes) >= MIN_DRAWN_STROKES
        return "image only" if is_drawn else None
    if len(UNKNOWN.findall(text)) > MAX_UNKNOWN_SHARE * characters:
        return "unknown characters"
    return "no language" if _is_gibberish(text, characters) else None


def read_characters(runs: Iterable[TextRun]) -> str:
    """Return the text of a page for `explain_unreadable`, with symbols in place of the codes of maths fonts."""
    return " ".join(to_plain_text(run.text, run.font.name) if run.font.is_maths else run.text for run in runs)


def measure_covered_area(shapes: Shapes) -> float:
    """Return the area under images and included drawings in square points; overlaps count twice."""
    return sum((box.right - box.left) * (box.top - box.bottom) for box in (*shapes.images, *shapes.forms))


def _is_gibberish(text: str, characters: int) -> bool:
    """Return whether the letters of the text differ from those shown, as caused by a font with a wrong table."""
    words = ASCII_WORD.findall(text.lower())
    letters = "".join(words)
    if len(words) < MIN_LANGUAGE_WORDS or len(letters) < characters / 2:
        return False
    vowels = sum(map(letters.count, "aeiou")) / len(letters)
    small = sum(word in SMALL_WORDS for word in words) / len(words)
    lowest, highest = VOWEL_SHARES
    return small < MIN_SMALL_WORD_SHARE and not lowest <= vowels <= highest


DIVIDED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")
MARKUP = re.compile(r"\\[A-Za-z]+|</?[A-Za-z][^<>\n]{0,80}>|!?\]\((?:[^)\n\]]++|\](?!\())*+\)")
"""Matches LaTeX commands, HTML tags and link addresses, which only one of two texts may have."""

WORD = re.compile(r"[^\W\d_]{2,}")


def words(text: str) -> list[str]:
    r"""Return the words of a text without markup, single letters and numbers, in which formulas and tables differ.

    >>> words("# Over-\nall <b>is</b> $\\alpha x_1$ **memory**")
    ['overall', 'is', 'memory']
    """
    plain = unicodedata.normalize("NFKC", DIVIDED.sub("", text))
    return WORD.findall(MARKUP.sub(" ", plain).casefold())


def text_agreement(left: str, right: str) -> float:
    """Return the share of words that two texts have in common in the same order, on [0, 1]; 1 if neither has any.

    >>> text_agreement("We show that delay is momentum.", "We show that delay is not momentum.")
    0.9230769230769231
    """
    left_words = words(left)
    right_words = words(right)
    total = len(left_words) + len(right_words)
    return 2 * longest_common(left_words, right_words) / total if total else 1.0


def longest_common(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence.

    Source: Hyyrö, "Bit-parallel LCS-length computation revisited" (AWOCA 2004), equation 1. A row of the table is
        stored as the bits of one integer, so comparing two pages takes about a millisecond.

    >>> longest_common("abcbdab", "bdcaba")
    4
    """
    places: dict[Hashable, int] = {}
    for index, word in enumerate(left):
        places[word] = places.get(word, 0) | 1 << index
    full = (1 << len(left)) - 1
    row = full
    for word in right:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & full
    return len(left) - row.bit_count()
