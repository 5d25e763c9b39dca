"""Read the earlier submission that a submission itself names, in a field such as `previous_URL` or `paper_link`.

Such a field contains a link to an OpenReview forum, or a forum's id, alone or with words around it. The names of the
fields and the words are data: `named_submissions.toml`, with their sources.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from peercorpus.criticism.sentence_ends import find_sentence_ends
from peercorpus.execution.stage import digest_of_data

_DATA = tomllib.loads(files(__package__).joinpath("named_submissions.toml").read_text(encoding="utf-8"))
DIGEST = digest_of_data(_DATA)
"""Digest of the words, part of the content key of the links."""

_FIELDS = {name: frozenset(words) for name, words in _DATA["fields"].items()}
_SAYS_EARLIER = re.compile(_DATA["sentences"]["earlier"], re.IGNORECASE)
_SAYS_OTHER = re.compile(_DATA["sentences"]["other"], re.IGNORECASE)
_POSTS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _DATA["posts"].items()}
_ABOUT_OTHERS = tuple(_DATA["venues"]["about_others"])
STOCK = frozenset(_DATA["abstracts"]["stock"])
"""Words, beside the small ones, of sentences that any abstract may contain."""

_LINK = re.compile(
    r"(?<![\w.-])(?:https?://)?(?:[\w-]+\.)?openreview\.net/(?:forum|pdf|attachment|revisions)/?(?:\?|%3F)"
    r"(?:[^\s\"'<>)\]]{0,500}?(?:&amp;|&|%26))??id(?:=|%3D)(?P<id>[A-Za-z0-9_-]+)[^\s\"'<>)\]]*",
    re.IGNORECASE,
)
"""Matches a link to a page or a file of a forum; the first of `id` and `noteId` names the forum."""

_FORUM_ID = re.compile(r"(?=[\w-]*[A-Za-z])(?=[\w-]*\d|[A-Za-z]*[a-z][A-Z])[A-Za-z0-9_-]{9,12}")
"""Matches a forum's id by itself: 9 to 12 characters with a digit or mixed case, like all ids of recorded notes."""

_NO_ID = re.compile(r"[A-Za-z]+\d{1,4}")
"""Matches a word followed by a number, such as "NeurIPS2022": an id only if a forum of the workspace has it."""

_BETWEEN_IDS = re.compile(r"[\s,;]+")
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_FEW_WORDS = 6
"""Most words beside a link with which its sentence only says where something is; our choice."""
_REACH = 400
"""Number of characters on either side of a link that are read as its sentence: some have no end."""
_LIST_WORDS = 6
"""Most words per link with which a text with several links is a list of them, as in "ICLR 2023: …, then TMLR: …"."""

_HERE = "(link)"
"""Stands for the link in question in the words of its sentence."""


def _compile_statements(our: str) -> tuple[re.Pattern[str], ...]:
    """Return the statements about this very paper, in which each phrase contains only phrases before it."""
    phrases = {"our": our}
    for name, phrase in _DATA["phrases"].items():
        phrases[name] = _fill(phrase, phrases)
    return tuple(re.compile(_fill(one, phrases), re.IGNORECASE) for one in _DATA["statements"].values())


def _fill(pattern: str, phrases: Mapping[str, str]) -> str:
    """Return a pattern with its phrases filled in, the link as it stands in a sentence, and a space for any space."""
    filled = re.sub(r"\{([a-z]+)\}", lambda name: phrases[name[1]], pattern)
    return filled.replace("(link)", re.escape(_HERE)).replace(" ", r"\s+")


_STATEMENTS = (_compile_statements("(?!)"), _compile_statements("our"))
"""Without "our paper", which is not the one under review if it is not its authors who write; and with it."""


class NamedSubmission(NamedTuple):
    """A forum that a submission names as its earlier one.

    Attributes:
        field: Name of the field, as in the form.
    """

    forum_id: str
    field: str


def read_named_submissions(extra: str, venue_id: str, held: Set[str] = frozenset()) -> list[NamedSubmission]:
    """Return the forums that a submission names as its earlier ones, each once, in the order of its fields.

    >>> read_named_submissions('{"previous_URL": "https://openreview.net/forum?id=B1ckMDqlg"}', "aclweb.org/ACL/ARR")
    [NamedSubmission(forum_id='B1ckMDqlg', field='previous_URL')]
    """
    found: dict[str, str] = {}
    for field, value, is_prose in _find_fields(extra, venue_id):
        for forum_id in _read_value(value, held, is_prose=is_prose):
            found.setdefault(forum_id, field)
    return [NamedSubmission(forum_id, field) for forum_id, field in found.items()]


def read_linked_forums(text: str, *, is_by_authors: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield each forum linked in a post, and whether its sentence calls it an earlier submission of this very paper.

    So may the sentence before, if that of the link says little more than where ("See LINK."). Links in sentences about
    other papers (comparisons, companions, citations) are left out.

    >>> [*read_linked_forums("A resubmission of https://openreview.net/forum?id=B1ckMDqlg. It compares badly.")]
    [('B1ckMDqlg', True)]
    """
    was_said = False
    for start, end in pairwise([0, *find_sentence_ends(text), len(text)]):
        sentence = text[start:end]
        links = [*_LINK.finditer(sentence)]
        for link in links:
            stop = link.start() + len(link[0].rstrip(".,;:!?"))
            near = sentence[max(0, link.start() - _REACH) : link.start()], sentence[stop : stop + _REACH]
            before, after = (_LINK.sub("another", part) for part in near)
            is_stated = _is_stated(before, after, is_by_authors=is_by_authors)
            is_bare = _only_says_where(before, after)
            if is_stated or is_bare:
                yield link["id"], is_stated or was_said
        was_said = not links and _find_statement(sentence, is_by_authors=is_by_authors) is not None


def _is_stated(before: str, after: str, *, is_by_authors: bool) -> bool:
    found = _find_statement(f"{before}{_HERE}{after}", is_by_authors=is_by_authors)
    if found is None:
        return False
    start, end = found
    is_later = start >= len(before) + len(_HERE)
    between = after[: start - len(before) - len(_HERE)] if is_later else before[end:]
    if _SAYS_OTHER.search(between) or _POSTS["apart"].search(between):
        return False
    return is_later or end > len(before) or _POSTS["after"].match(after) is not None


def _find_statement(words: str, *, is_by_authors: bool) -> tuple[int, int] | None:
    """Return where a sentence says that this paper was submitted before; None if it does not, or leaves it open."""
    found = next(filter(None, (one.search(words) for one in _STATEMENTS[is_by_authors])), None)
    return None if found is None or _POSTS["open"].search(words, 0, found.end()) else found.span()


def _only_says_where(before: str, after: str) -> bool:
    """Return whether a sentence says little more than where its link leads, and nothing of another paper."""
    words = f"{before} {after}"
    is_short = len(words.split()) <= _FEW_WORDS and _POSTS["after"].match(after) is not None
    is_of_other = _SAYS_OTHER.search(words) or _POSTS["apart"].search(words)
    return (is_short or _POSTS["there"].search(words) is not None) and not is_of_other


def has_naming_field(extra: str, venue_id: str) -> bool:
    """Return whether a submission has a field for an earlier one, whatever its content."""
    return next(_find_fields(extra, venue_id), None) is not None


def is_commitment(field: str) -> bool:
    """Return whether a field commits the submission that it names, with its reviews, to a venue that decides on it.

    >>> is_commitment("paper_link"), is_commitment("commitment_url"), is_commitment("previous_URL")
    (True, True, False)
    """
    words = _split_name(field)
    return not _FIELDS["commitment"].isdisjoint(("_".join(words), *words))


def _split_name(field: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_CAMEL.sub("_", field))]


def _find_fields(extra: str, venue_id: str) -> Iterator[tuple[str, object, bool]]:
    if extra == "{}" or any(name in venue_id.casefold() for name in _ABOUT_OTHERS):
        return
    for field, value in msgspec.json.decode(extra, type=dict[str, Any]).items():
        is_prose = _is_prose(field)
        if is_prose is not None:
            yield field, value, is_prose


def _is_prose(field: str) -> bool | None:
    """Return whether a field that names an earlier submission is prose; None for other fields."""
    words = _split_name(field)
    if "_".join(words) in _FIELDS["named"]:
        return False
    if not _FIELDS["other"].isdisjoint(words):
        return None
    if (_FIELDS["earlier"] | _FIELDS["commitment"]).isdisjoint(words) or _FIELDS["thing"].isdisjoint(words):
        return None
    return not _FIELDS["prose"].isdisjoint(words)


def _read_value(value: object, held: Set[str], *, is_prose: bool) -> Iterator[str]:
    """Yield the forum ids in the value of a field: a text, or a list or an object of texts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _read_value(part, held, is_prose=is_prose)
    elif isinstance(value, str):
        bare = value.strip()
        links = list(_LINK.finditer(bare))
        ids = [] if links else _read_bare_ids(bare, held, is_prose=is_prose)
        if ids:
            yield from ids
        elif is_prose or not _is_list(bare, links):
            yield from _read_prose(bare)
        else:
            yield from (link["id"] for link in links)


def _read_bare_ids(text: str, held: Set[str], *, is_prose: bool) -> list[str]:
    """Return the ids if a text is a list of ids; none if it contains anything else."""
    parts = [part for part in _BETWEEN_IDS.split(text) if part]
    are_ids = (
        part in held or (not is_prose and _FORUM_ID.fullmatch(part) and not _NO_ID.fullmatch(part)) for part in parts
    )
    return parts if all(are_ids) else []


def _is_list(text: str, links: Sequence[re.Match[str]]) -> bool:
    if len({link["id"] for link in links}) == 1:
        return not _SAYS_OTHER.search(_LINK.sub(" ", text))
    return len(_WORD.findall(_LINK.sub(" ", text))) <= _LIST_WORDS * len(links)


def _read_prose(text: str) -> Iterator[str]:
    """Yield the forums whose sentence says that they are the earlier submission, or that are the whole text."""
    whole = _LINK.fullmatch(text)
    if whole:
        yield whole["id"]
        return
    for sentence in _SENTENCE_END.split(text):
        words = _LINK.sub(" ", sentence)
        if _SAYS_EARLIER.search(words) and not _SAYS_OTHER.search(words):
            yield from (link["id"] for link in _LINK.finditer(sentence))
