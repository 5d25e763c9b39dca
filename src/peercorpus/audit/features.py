"""What the dumbest reader sees of a paper: fixed phrases, the author block, length, pages, line numbers, its route."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from peercorpus.audit.source import Row
from peercorpus.openreview.objects import EMAIL
from peercorpus.records import PAGE_BREAK

FIRST_PAGE_CHARACTERS = 3_000
RUN = 15
"""Numbers that follow each other at the edges of lines, from which on they are the numbers of lines."""

ON_FIRST_PAGE = (
    *("anonymous author", "double-blind review", "under review as", "under review", "submitted to", "preprint"),
    *("do not distribute", "published as a conference paper", "published in", "accepted at", "accepted to"),
    *("accepted by", "to appear in", "proceedings of", "copyright", "\u00a9", "equal contribution"),
    *("corresponding author", "correspondence to", "university", "institute", "department of"),
)
"""Signs of a template, or of who wrote it; upper and lower case are one."""
ANYWHERE = (
    *("acknowledgement", "acknowledgment", "supported by", "funded by", "author contributions"),
    *("reproducibility statement", "ethics statement", "camera-ready", "camera ready", "github.com"),
    *("anonymous.4open.science", "huggingface.co", "openreview.net", "published as a conference paper at"),
)
EMAIL_SIGN, LINES_SIGN, MISSING_SIGN = "e-mail address on the first page", "line numbers", "missing text"
PRESENCES = (
    *(f"first page says \u201c{phrase}\u201d" for phrase in ON_FIRST_PAGE),
    *(f"says \u201c{phrase}\u201d" for phrase in ANYWHERE),
    *(EMAIL_SIGN, LINES_SIGN, MISSING_SIGN),
)
"""The fixed features that a paper has or has not, in the order of the bits of `Facts.presences`."""
NUMBERS = ("length in characters", "page count", "words before the abstract")
AUTHOR_BLOCK = "author block"

ABSTRACT = re.compile(r"\babstract\b", re.IGNORECASE)
AFFILIATION = re.compile(
    r"universit|institut|department|laborator|school of|college|academy|\bresearch\b|google|microsoft|\bmeta\b|deepmind"
    r"|nvidia|openai|\binc\b|equal contribution",
    re.IGNORECASE,
)
ADDRESS = re.compile(rf"{EMAIL.pattern}|\}}@\w")
AT_AN_EDGE = re.compile(r"^\W*(\d{1,4})\b|\b(\d{1,4})\W*$")
BLOCK_CHARACTERS = 2_000


class Facts(NamedTuple):
    """What the fixed features see of one row.

    Attributes:
        numbers: Of `NUMBERS`, in order; 0 for a missing text.
        presences: A bit for each of `PRESENCES`.
        categories: A value for each feature with several: the author block, and the row's own traits.
    """

    numbers: tuple[int, ...]
    presences: int
    categories: dict[str, str]


def has_line_numbers(page: str) -> bool:
    r"""Whether lines are numbered, as templates for reviewers do.

    >>> has_line_numbers("\n".join(f"{number:03} words" for number in range(40))), has_line_numbers("1\n2\n3")
    (True, False)
    """
    last, run = -1, 0
    for line in page.splitlines():
        found = AT_AN_EDGE.search(line.strip())
        if found is None:
            continue
        number = int(found[1] or found[2])
        if number == last + 1:
            run += 1
            if run >= RUN:
                return True
        elif not last < number < last + RUN:
            run = 0
        else:
            continue
        last = number
    return False


def author_block(page: str) -> str:
    r"""What stands between the title and the abstract: `anonymous`, `named`, or `none` where neither shows.

    >>> author_block("A title\nAnonymous authors\nAbstract"), author_block("A title\nUniversity of Kites\nAbstract")
    ('anonymous', 'named')
    """
    block = ABSTRACT.split(page[:BLOCK_CHARACTERS], maxsplit=1)[0]
    if "anonymous" in block.lower():
        return "anonymous"
    return "named" if ADDRESS.search(block) or AFFILIATION.search(block) else "none"


def words_before_abstract(page: str) -> int:
    r"""How much stands there: names make it longer, whatever they are; 0 where no abstract shows.

    >>> words_before_abstract("A title\nAda Example\nAbstract\nWords."), words_before_abstract("A title")
    (4, 0)
    """
    before, *after = ABSTRACT.split(page, maxsplit=1)
    return len(before.split()) if after else 0


def _presences(text: str) -> int:
    lowered = " ".join(text.lower().split())
    head = " ".join(text[:FIRST_PAGE_CHARACTERS].lower().split())
    first_page = text.split(PAGE_BREAK, maxsplit=1)[0][: 3 * FIRST_PAGE_CHARACTERS]
    found = [
        *(phrase in head for phrase in ON_FIRST_PAGE),
        *(phrase in lowered for phrase in ANYWHERE),
        ADDRESS.search(text[:FIRST_PAGE_CHARACTERS]) is not None,
        has_line_numbers(first_page),
        not text,
    ]
    return sum(1 << place for place, is_there in enumerate(found) if is_there)


def read_facts(row: Row) -> Facts:
    """The fixed features of one row."""
    # In texts of others a form feed stands between two pages, or nothing that tells.
    pages = max(row.text.count(PAGE_BREAK), row.text.count("\f")) + 1 if row.text else 0
    block = author_block(row.text[:FIRST_PAGE_CHARACTERS]) if row.text else "no text"
    numbers = len(row.text), pages, words_before_abstract(row.text[:FIRST_PAGE_CHARACTERS])
    return Facts(numbers, _presences(row.text), {AUTHOR_BLOCK: block, **row.traits})


def words_of(presence: str) -> str | None:
    """The words that a fixed feature looks for; None where it looks for something else."""
    phrase = presence.partition("\u201c")[2].rstrip("\u201d")
    return phrase or None


def bits(marks: Sequence[bool]) -> int:
    """Truth values as one number, the first one its lowest bit."""
    packed = bytearray((len(marks) + 7) // 8)
    for place, is_set in enumerate(marks):
        if is_set:
            packed[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(packed, "little")
