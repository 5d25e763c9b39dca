"""What posts say: one text of several fields; answers in several posts, the order of these parts, one title for all.

Read off the recorded forums and others' titles: "(1/2)", "[2/3]", "(Part 2)", "Part II", "2 of 3", "(2)", "cont'd",
"first half".
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from peercorpus.records import Post, Turn

ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 99, "one": 1, "two": 2, "three": 3, "four": 4}
ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
LETTERS = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
MOST_PARTS = 20
_COUNT = rf"\d{{1,2}}|{'|'.join(sorted(ROMAN, key=len, reverse=True))}"
_WORD = "|".join(word for word, number in ORDINALS.items() if number < 5)
_NUMBER, _TOTAL = rf"(?P<number>{_COUNT})", rf"\s*(?:/|of|out of)\s*(?P<total>{_COUNT}|n)"
_DASH = r"\s*[-\u2013\u2014:,]*\s*"
_OPEN, _SHUT = r"\s*[-\u2013\u2014:,]*\s*[(\[{<]\s*", r"\s*[)\]}>]\s*[:.]?"
MARKERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_OPEN}(?:part|pt\.?|page|post|comment)?\s*#?\s*{_NUMBER}{_TOTAL}{_SHUT}",
        rf"{_OPEN}(?:part|pt\.?)\s*#?\s*(?P<number>{_COUNT}|[a-e]|{_WORD}){_SHUT}",
        rf"{_OPEN}(?P<number>first|second|third|fourth|last)\s+(?:half|part){_SHUT}",
        rf"{_OPEN}#?(?P<number>\d{{1,2}}|(?-i:I{{1,3}}|IV|VI{{0,3}}))\s*[)\]}}>]\s*$",
        rf"{_OPEN}(?P<more>cont(?:inued|inuation|inues|inue|['\u2019]?d)?\.?){_SHUT}",
        rf"{_DASH}(?<![A-Za-z])(?:part|pt\.?)\s*#?\s*(?P<number>{_COUNT}|[a-e]|{_WORD})(?:\s*\(?{_TOTAL}\)?|\b(?!\s+of\b))\s*[:.]?",
        rf"{_DASH}\b(?P<number>first|second|third|fourth|last)\s+half\b",
        rf"{_DASH}(?<![\w./])(?P<number>\d{{1,2}})\s*(?:/|\s+of\s+|\s+out of\s+)\s*(?P<total>\d{{1,2}}|n\b)"
        r"(?![\w/])\s*[:.]?",
        r"\s+(?P<number>(?-i:II|III|IV|V|VI{1,3}))\s*$",
        r"\s*[-\u2013\u2014:,]+\s*(?P<more>cont(?:inued|inuation|['\u2019]?d)\.?)\s*$",
        r"\s+(?P<more>(?:continued|cont['\u2019]?d))\.?\s*$",
    )
)
"""The surest first; the first that is found counts."""
UNSURE = (3, 7, 8)
"""Marks that may be something else, a score or a date, where no other title bears them out."""
LONGEST = 300
"""Characters of a title that are looked at."""
OPENING_CHARACTERS = 80
"""How much of a post without a title may hold the mark of a part."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a title says of its post.

    Attributes:
        stem: The title without the mark of a part.
        number: From 1; None where it is no numbered part.
        total: How many there are; None where the title does not say.
        is_sure: Whether the mark can be nothing else.
    """

    stem: str
    number: int | None = None
    total: int | None = None
    is_sure: bool = True


def _number(said: str | None) -> int | None:
    if not said:
        return None
    said = said.lower()
    if said.isdigit():
        return int(said)
    return ORDINALS.get(said) or ROMAN.get(said) or LETTERS.get(said)


@lru_cache(4_096)
def read_part(title: str) -> Part:
    """The part that a title says its post is.

    >>> read_part("Response to Reviewer NkPg (Part 2)")
    Part(stem='Response to Reviewer NkPg', number=2, total=None, is_sure=True)
    >>> read_part("[1/3] Rebuttal")
    Part(stem='Rebuttal', number=1, total=3, is_sure=True)
    >>> read_part("Ablation on 24/7 data").number
    """
    # What others write may be long, and full of space: then these patterns would take minutes.
    title = " ".join(unicodedata.normalize("NFKC", title[:LONGEST]).split())
    for kind, marker in enumerate(MARKERS):
        found = marker.search(title)
        if found is None:
            continue
        groups = found.groupdict()
        number, total = _number(groups.get("number")), _number(groups.get("total"))
        if total is not None and not (1 <= (number or 0) <= total <= MOST_PARTS and total > 1):
            continue
        stem = " ".join(f"{title[: found.start()]} {title[found.end() :]}".split()).strip(" -\u2013\u2014:,")
        return Part(stem, number, total, kind not in UNSURE)
    return Part(title)


def part_of(post: Post) -> Part:
    """The part that a post says it is, in its title or, where it has none, at its very beginning."""
    if post.title:
        return read_part(post.title)
    opening = post.text.lstrip().partition("\n")[0].strip("*#_ ")
    found = read_part(opening) if len(opening) <= OPENING_CHARACTERS else Part("")
    return found if found.number is not None else Part("")


def in_reading_order(posts: Sequence[Post]) -> list[Post]:
    """Posts of one speaker in time order, the numbered parts of one answer put in their own order.

    Only where all numbers of one stem differ: else two answers have parts, and time alone tells them apart.
    """
    if len(posts) < 2:
        return list(posts)
    places: dict[Hashable, list[int]] = defaultdict(list)
    parts = [part_of(post) for post in posts]
    for place, part in enumerate(parts):
        if part.number is not None:
            places[part.stem.casefold(), part.total].append(place)
    ordered = list(posts)
    for of_one in places.values():
        numbers = [parts[place].number or 0 for place in of_one]
        if len(set(numbers)) == len(numbers):
            for place, (_, source) in zip(of_one, sorted(zip(numbers, of_one, strict=True)), strict=True):
                ordered[place] = posts[source]
    return ordered


def title_of(posts: Sequence[Post]) -> str | None:
    """One title for posts that are one turn: the one most of them share but for the mark of a part, else the first.

    A title whose mark may be something else keeps it where no other post shares the rest. None where none has a title.
    """
    parts = [(post.title, read_part(post.title)) for post in posts if post.title]
    shared = Counter(part.stem.casefold() for _, part in parts)
    titles = [
        part.stem if part.stem and (part.is_sure or shared[part.stem.casefold()] > 1) else title
        for title, part in parts
    ]
    return max(titles, key=lambda title: shared[title.casefold()], default=None)


def join_prose(passages: Mapping[str, str]) -> str:
    r"""One passage as it is; several each under its field's name, as a Markdown heading.

    >>> join_prose({"comment": "Thank you."}), join_prose({"pros": "Clear.", "cons": "Short."})
    ('Thank you.', '### pros\n\nClear.\n\n### cons\n\nShort.')
    """
    if len(passages) <= 1:
        return "".join(passages.values())
    return "\n\n".join(f"### {name}\n\n{text}" for name, text in passages.items())


def saying(turn: Turn, posts: Sequence[Post]) -> Turn:
    """A turn with the words of these posts, in this order; a review speaks as first given, where that is held."""
    return replace(
        turn,
        title=title_of(posts),
        text="\n\n".join(post.text if post.initial_text is None else post.initial_text for post in posts),
        post_ids=tuple(post.post_id for post in posts),
        holds_update=any(post.holds_update for post in posts),
        titles=tuple(post.title for post in posts),
    )
