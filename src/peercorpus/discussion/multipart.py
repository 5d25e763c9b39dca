"""Recognise numbered parts of one answer, such as "(1/2)", put them in order and determine their common title."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import EllipsisType
from typing import Any

from peercorpus.records.reviews import Post

ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "1st": 1,
    "2nd": 2,
    "3rd": 3,
    "4th": 4,
    "last": 99,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
}
ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
LETTERS = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
_MAX_PARTS = 20
"""A total above this is not a number of parts."""
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
        rf"{_OPEN}(?P<number>first|second|third|fourth|last|1st|2nd|3rd|4th)\s+(?:half|part){_SHUT}",
        rf"{_OPEN}#?(?P<number>\d{{1,2}}|(?-i:I{{1,3}}|IV|VI{{0,3}}))\s*[)\]}}>]\s*$",
        rf"{_OPEN}(?P<more>cont(?:inued|inuation|inues|inue|['\u2019]?d)?\.{{0,3}})"
        rf"[\s,]*(?:(?P<after>\d{{1,2}})|(?P<number>(?-i:II|III|IV|VI{{0,3}})))?{_SHUT}",
        rf"{_DASH}(?<![A-Za-z])(?:part|pt\.?)\s*#?\s*(?P<number>{_COUNT}|[a-e]|{_WORD})(?:\s*\(?{_TOTAL}\)?|\b(?!\s+of\b))\s*[:.]?",
        rf"{_DASH}\b(?P<number>first|second|third|fourth|last)\s+half\b",
        rf"{_DASH}(?<![\w./])(?P<number>\d{{1,2}})\s*(?:/|\s+of\s+|\s+out of\s+)\s*(?P<total>\d{{1,2}}|n\b)"
        r"(?![\w/])\s*[:.]?",
        r"\s+(?P<number>(?-i:II|III|IV|V|VI{1,3}))\s*$",
        r"\s*[-\u2013\u2014:,]+\s*(?P<more>cont(?:inued|inuation|['\u2019]?d)\.?)\s*$",
        r"\s+(?P<more>(?:continued|cont['\u2019]?d|cont\.))\.*\s*$",
        rf"{_OPEN}(?P<open>to be continued)\.*{_SHUT}",
        rf"^(?:part|pt\.?)\s*#?\s*(?P<number>{_COUNT}|{_WORD})\s+of\s+(?:the\s+|our\s+)?"
        r"(?=(?:\w+\s+)?(?:response|reply|rebuttal|answer))",
        r"(?P<kept>(?<!to )\b(?:responses?|repl(?:y|ies)|rebuttals?|answers?))\s*#?\s*(?P<number>\d{1,2})\s*$",
        r"\s+[-\u2013\u2014]\s+#?(?P<number>\d{1,2})\s*$",
    )
)
"""Patterns of part markers, the most certain first; the first match counts."""
NO_PART = re.compile(
    r"(?<![A-Za-z])(?:(?:anon)?reviewers?|referees?|rev|[rqw]|questions?|weakness(?:es)?|points?|concerns?|comments?|issues?"
    r"|tables?|fig(?:ure)?s?|rounds?|sections?|equations?|theorems?|steps?|phase|version|v|appendix)\W*$|\d\W*$",
    re.IGNORECASE,
)
"""Matches words after which a bare number is not a part: "Reviewer - 2", "Questions 1 - 2"."""
_CONTINUED = re.compile(
    r"[\s\-\u2013\u2014:,(\[]*\b(?:continued|continuation|cont['\u2019]?d|cont\.)[\s.)\]]*$", re.IGNORECASE
)
"""Matches what precedes the number of a later part in "Response, continued (II)": the first part is "Response"."""
_BARE_MARKERS = (3, 14, 15)
"""Indices of patterns that are only a number at the end."""
_UNSURE_MARKERS = (3, 7, 8, 14, 15)
"""Indices of patterns that may match something else, such as a score or a date, unless another title confirms them."""
_MAX_TITLE_CHARACTERS = 300
"""Only the beginning of a title is searched: on long texts full of spaces, the patterns would take minutes."""
_MAX_OPENING_CHARACTERS = 80
"""Longest first line, in characters, in which a post without a title may have a part marker."""


@dataclass(frozen=True, slots=True)
class PostPart:
    """A title split into its part marker and the rest.

    Attributes:
        stem: The title without the part marker.
        number: Number of the part, from 1; None if the title has no number.
        total: Number of parts; None if the title does not state it.
        is_sure: False if the marker may be something else, such as a score or a date.
        continues: Whether the marker shows that the post continues another, but not which part it is.
    """

    stem: str
    number: int | None = None
    total: int | None = None
    is_sure: bool = True
    continues: bool = False


def _parse_number(text: str | None) -> int | None:
    if not text:
        return None
    text = text.lower()
    if text.isdigit():
        return int(text)
    return ORDINALS.get(text) or ROMAN.get(text) or LETTERS.get(text)


def read_part(title: str) -> PostPart:
    """Return the part marker of a title, and the title without it.

    >>> read_part("Response to Reviewer NkPg (Part 2)")
    PostPart(stem='Response to Reviewer NkPg', number=2, total=None, is_sure=True, continues=False)
    >>> read_part("[1/3] Rebuttal")
    PostPart(stem='Rebuttal', number=1, total=3, is_sure=True, continues=False)
    >>> read_part("Ablation on 24/7 data").number
    """
    return _read_part(title[:_MAX_TITLE_CHARACTERS])


@lru_cache(16_384)
def _read_part(title: str) -> PostPart:
    title = " ".join(unicodedata.normalize("NFKC", title).split())
    for index, marker in enumerate(MARKERS):
        match = marker.search(title)
        if match is None:
            continue
        groups = match.groupdict()
        number = _parse_number(groups.get("number"))
        total = _parse_number(groups.get("total"))
        if total is not None and not (1 <= (number or 0) <= total <= _MAX_PARTS and total > 1):
            continue
        start = match.end("kept") if groups.get("kept") else match.start()
        stem = " ".join(f"{title[:start]} {title[match.end() :]}".split()).strip(" -\u2013\u2014:,")
        if index in _BARE_MARKERS and NO_PART.search(title[:start]):
            continue
        if after := groups.get("after"):
            number = int(after) + 1
        continues = groups.get("more") is not None and number is None
        if number is not None and number > 1:
            stem = _CONTINUED.sub("", stem)
        return PostPart(stem, number, total, index not in _UNSURE_MARKERS, continues)
    return PostPart(title)


def read_part_of_post(post: Post) -> PostPart:
    """Return the part marker of a post's title or, if it has no title, of its first line."""
    if post.title:
        return read_part(post.title)
    opening = post.text.lstrip().partition("\n")[0].strip("*#_ ")
    part = read_part(opening) if len(opening) <= _MAX_OPENING_CHARACTERS else PostPart("")
    return part if part.is_sure and (part.number is not None or part.continues) else PostPart("")


def sort_by_reading_order(posts: Sequence[Post]) -> list[Post]:
    """Return posts of one speaker in reading order: by time, but with the parts of one answer in the order of numbers.

    Parts with the same stem are reordered only if all their numbers differ; otherwise the speaker wrote several answers
    in parts, and only time distinguishes them. A post at the same position whose whole title is the stem is the first
    part, unless another one is marked as such; a post that only continues an answer comes last.
    """
    if len(posts) < 2:
        return list(posts)
    parts = [read_part_of_post(post) for post in posts]
    totals_by_stem: dict[str, set[int | None]] = defaultdict(set)
    indices_by_stem: dict[str, list[int]] = defaultdict(list)
    for index, part in enumerate(parts):
        indices_by_stem[part.stem.casefold()].append(index)
        if part.number is not None:
            totals_by_stem[part.stem.casefold()].add(part.total)
    for part in parts:
        if part.continues and part.stem.casefold() not in totals_by_stem:
            totals_by_stem[part.stem.casefold()].add(None)
    ordered = list(posts)
    for stem, totals in totals_by_stem.items():
        for total in totals:
            numbers = _number_parts(indices_by_stem[stem], total if len(totals) > 1 else ..., posts, parts)
            if len(set(numbers.values())) == len(numbers):
                for place, source in zip(sorted(numbers), sorted(numbers, key=numbers.__getitem__), strict=True):
                    ordered[place] = posts[source]
    return ordered


def _number_parts(
    mine: Sequence[int], total: int | EllipsisType | None, posts: Sequence[Post], parts: Sequence[PostPart]
) -> dict[int, int]:
    """Return the numbers of the parts of one answer, by their indices among the posts.

    `total` is given if answers with other numbers of parts have the same title, and Ellipsis otherwise.
    """
    numbers = {index: parts[index].number or 0 for index in mine if parts[index].number is not None}
    if total is not ...:
        return {index: number for index, number in numbers.items() if parts[index].total == total}
    more = [index for index in mine if parts[index].continues]
    marked = {*numbers, *more}
    first = _find_first_part([*numbers, *more], [index for index in mine if index not in marked], posts)
    if first is not None and 1 not in numbers.values():
        numbers[first] = 1
    last = max(numbers.values(), default=0)
    return numbers | {index: last + place for place, index in enumerate(more, 1)}


def _find_first_part(marked: Sequence[int], unmarked: Sequence[int], posts: Sequence[Post]) -> int | None:
    answered = {posts[index].reply_to for index in marked}
    linked = [index for index in unmarked if posts[index].post_id in answered]
    ids = {posts[index].post_id for index in marked}
    beside = [index for index in unmarked if posts[index].reply_to in answered | ids]
    for found in (linked, beside):
        if found:
            return found[0] if len(found) == 1 else None
    return None


def merge_titles(posts: Sequence[Post]) -> str | None:
    """Return one title for the posts of a turn: the most frequent one without part markers, or the first of those.

    An uncertain marker is removed only if another post shares the rest of the title. None if no post has a title.
    """
    parts = [(post.title, read_part(post.title)) for post in posts if post.title]
    if not parts:
        return None
    if len(parts) == 1:
        ((title, part),) = parts
        return part.stem if part.stem and part.is_sure else title
    shared = Counter(part.stem.casefold() for _, part in parts)
    titles = [
        part.stem if part.stem and (part.is_sure or shared[part.stem.casefold()] > 1) else title
        for title, part in parts
    ]
    return max(titles, key=lambda title: shared[title.casefold()])


def merge_fields(posts: Sequence[Post]) -> dict[str, Any]:
    """Return the fields of a turn that come from its posts, in this order; for a review its first text, if known."""
    texts = [post.text if post.initial_text is None else post.initial_text for post in posts]
    return {
        "title": merge_titles(posts),
        "text": "\n\n".join(text for text in texts if text.strip()),
        "post_ids": tuple(post.post_id for post in posts),
        "holds_update": any(post.holds_update for post in posts),
        "titles": tuple(post.title for post in posts),
        "moved": tuple(
            f"{post.post_id}: addressed to {' and '.join(post.greets)} ({post.addressed_by})"
            for post in posts
            if post.greets and post.greets == post.addressed_to
        ),
    }
