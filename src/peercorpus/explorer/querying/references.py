"""Recognise an id of OpenReview, or the address of one of its pages, among the words of a search."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from tantivy import Query

from peercorpus.explorer.querying.searched_fields import IDS
from peercorpus.explorer.search_index import OpenIndex

_ADDRESS = re.compile(r"(?:https?://)?(?:[a-z0-9-]+\.)?openreview\.net/\S+", re.IGNORECASE)
_ID = re.compile(r"[\w-]{4,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper that is asked for by its id.

    Attributes:
        forum_id: The paper, or what may be the id of a post in its forum.
        note_id: A post in its forum; None for the paper itself.
    """

    forum_id: str
    note_id: str | None = None


def read_address(words: str) -> Reference | None:
    """Return what the address of a page of OpenReview names, or None if the words are no such address.

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
    """Return the paper or post that the words name by its address or id, or None if they are words to search for."""
    address = read_address(words)
    if address is not None:
        return address
    is_id = _ID.fullmatch(words) is not None and opened.searcher.doc_freq(IDS, words) > 0
    return Reference(words) if is_id else None


def query_of(opened: OpenIndex, reference: Reference) -> Query:
    """Return what finds the paper of a reference."""
    return Query.term_query(opened.schema, IDS, reference.forum_id, "basic")
