"""Recognise an id of OpenReview, or the address of one of its pages, among the words of a search."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from tantivy import Query

from peercorpus.explorer.querying.searched_fields import FOLDED_IDS, IDS, VOCABULARY, split_words
from peercorpus.explorer.search_index import OpenIndex

_ADDRESS = re.compile(r"(?:https?://)?(?:[a-z0-9-]+\.)?openreview\.net/\S+", re.IGNORECASE)
_AROUND = " \t\"'<>()[]{}.,;\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
"""Signs that come along where an id or an address is copied from a text."""
_ID = re.compile(r"[\w-]{4,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper requested by its id.

    Attributes:
        forum_id: The paper, or what may be the id of a post in its forum.
        note_id: A post in its forum; None for the paper itself.
    """

    forum_id: str
    note_id: str | None = None


def read_address(words: str) -> Reference | None:
    """Return the reference in the URL of an OpenReview page, or None if the words are not such a URL.

    >>> read_address("https://openreview.net/forum?id=aB-1&noteId=cD2#discussion")
    Reference(forum_id='aB-1', note_id='cD2')
    >>> read_address("openreview.net/pdf?id=aB-1"), read_address("openreview")
    (Reference(forum_id='aB-1', note_id=None), None)
    """
    if not _ADDRESS.fullmatch(words):
        return None
    try:
        named = parse_qs(urlsplit(words if "//" in words else f"//{words}").query, max_num_fields=20)
    except ValueError:
        return None
    forum_id, note_id = (named.get(name, [""])[-1] for name in ("id", "noteId"))
    if not forum_id:
        return Reference(note_id) if note_id else None
    return Reference(forum_id, note_id if note_id not in ("", forum_id) else None)


def find_reference(opened: OpenIndex, words: str) -> Reference | None:
    """Return the paper or post that the words name by its address or id, or None if they are words to search for.

    Quotation marks and the like around it do not count. An id typed in other letter case counts if exactly one paper
    has such an id, and no text has it as a word.
    """
    words = words.strip(_AROUND)
    address = read_address(words)
    if address is not None:
        return address
    if _ID.fullmatch(words) is None:
        return None
    searcher = opened.searcher
    is_id = searcher.doc_freq(IDS, words) > 0
    if not is_id and searcher.doc_freq(FOLDED_IDS, words.lower()) == 1:
        is_id = not any(searcher.doc_freq(VOCABULARY, part) for part in split_words(words))
    return Reference(words) if is_id else None


def query_of(opened: OpenIndex, reference: Reference) -> Query:
    """Return the query for the paper of a reference; letter case matters only if several papers have the id."""
    searcher, folded = opened.searcher, reference.forum_id.lower()
    if not searcher.doc_freq(IDS, reference.forum_id) and searcher.doc_freq(FOLDED_IDS, folded) == 1:
        return Query.term_query(opened.schema, FOLDED_IDS, folded, "basic")
    return Query.term_query(opened.schema, IDS, reference.forum_id, "basic")


def find_place(places: Mapping[str, str], note_id: str) -> str | None:
    """Return the place of a post by its id; in other letter case if exactly one post has such an id."""
    if note_id in places:
        return places[note_id]
    folded = {place for other, place in places.items() if other.lower() == note_id.lower()}
    return folded.pop() if len(folded) == 1 else None
