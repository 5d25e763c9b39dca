"""Pages whose text layer cannot be read, and why."""

import re

from peercorpus.texts.engine import UNKNOWN
from peercorpus.texts.layout.shapes import Shapes

FEW_CHARACTERS = 50
"""A page with fewer holds no text worth the name; a running head alone has about forty."""
COVERED = 0.5
"""Share of a page under images, from which on a page with few characters is a scan."""
MANY_STROKES = 300
"""Paths of a page with few characters, from which on its letters may be drawn; a plain figure has fewer."""
MOST_UNKNOWN = 0.05
"""Share of signs that stand for no letter, from which on the encoding is broken; 373 pages of papers had none."""
ENOUGH_WORDS = 100
"""Words of a page that tell its language."""
FEWEST_SMALL_WORDS = 0.01
"""Share of small English words; half of 373 pages of papers had 26 % or more, none less than 3 %."""
VOWELS = (0.25, 0.55)
"""Share of vowels among the letters, outside of which a page is no prose; 373 pages of papers had 0.34 to 0.42."""
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
WORD = re.compile(r"[A-Za-z]+")


def why_unreadable(text: str, shapes: Shapes, area: float) -> str | None:
    """Why a page is to be recognised from its image; None where its text will do, or it is empty.

    Args:
        text: All text of the page.
        shapes: What else is drawn on it.
        area: Of the page, in square points.
    """
    characters = sum(not sign.isspace() for sign in text)
    if characters < FEW_CHARACTERS:
        return "image only" if covered(shapes) > COVERED * area or len(shapes.strokes) >= MANY_STROKES else None
    if len(UNKNOWN.findall(text)) > MOST_UNKNOWN * characters:
        return "unknown characters"
    return "no language" if _is_gibberish(text, characters) else None


def covered(shapes: Shapes) -> float:
    """Square points under images and what was included as a whole; what lies over another counts twice."""
    return sum((box.right - box.left) * (box.top - box.bottom) for box in (*shapes.images, *shapes.forms))


def _is_gibberish(text: str, characters: int) -> bool:
    """Whether the letters are others than those printed, as a font with a wrong table gives them."""
    words = WORD.findall(text.lower())
    letters = "".join(words)
    if len(words) < ENOUGH_WORDS or len(letters) < characters / 2:
        return False
    vowels = sum(map(letters.count, "aeiou")) / len(letters)
    small = sum(word in SMALL_WORDS for word in words) / len(words)
    return small < FEWEST_SMALL_WORDS and not VOWELS[0] <= vowels <= VOWELS[1]
