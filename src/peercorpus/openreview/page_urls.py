"""Read the ids in URLs of OpenReview's pages: of venues and papers."""

from collections.abc import Mapping
from urllib.parse import parse_qs

from peercorpus.errors import PeercorpusError

_HOST = "openreview.net/"
_GROUP_PAGES = frozenset({"group"})
_NOTE_PAGES = frozenset({"forum", "pdf", "revisions", "attachment", "references/pdf", "notes"})


def read_group_id(text: str) -> str | None:
    """Return the group id in the URL of a group's page, "" if it states none; None if this is not such a URL.

    >>> read_group_id("https://openreview.net/group?id=ICLR.cc/2024/Conference#tab-accept-oral")
    'ICLR.cc/2024/Conference'
    >>> read_group_id("openreview.net/forum?id=rkgO66VKDS"), read_group_id("ICLR.cc/2024/Conference")
    (None, None)
    """
    query = _read_query(text, _GROUP_PAGES)
    return None if query is None else query.get("id", "")


def is_forum_page(text: str) -> bool:
    """Return whether a text is the URL of a paper's forum, its PDF or a post in its forum.

    >>> is_forum_page("https://openreview.net/forum?id=rkgO66VKDS"), is_forum_page("ICLR.cc/2024/Conference")
    (True, False)
    """
    return _read_query(text, _NOTE_PAGES) is not None


def read_forum_id(text: str) -> str:
    """Return the id of a paper, given as the id or as the URL of its forum, its PDF, or a post in its forum.

    >>> read_forum_id("https://openreview.net/forum?id=rkgO66VKDS&noteId=SklHTlGjB"), read_forum_id(" rkgO66VKDS ")
    ('rkgO66VKDS', 'rkgO66VKDS')

    Raises:
        PeercorpusError: It is a URL without the id of a paper.
    """
    query = _read_query(text, _NOTE_PAGES)
    is_url = "://" in text or _HOST in text
    forum_id = query.get("id") if query is not None else None if is_url else text.strip()
    if forum_id:
        return forum_id
    raise PeercorpusError(
        f"'{text}' names no paper: expected an id such as rkgO66VKDS, or the URL of a forum, such as"
        " https://openreview.net/forum?id=rkgO66VKDS."
    )


def _read_query(text: str, pages: frozenset[str]) -> Mapping[str, str] | None:
    """Return the query parameters in the URL of one of these OpenReview pages; None if it is not such a URL."""
    address, _, query = text.strip().partition("#")[0].partition("?")
    before, host, page = address.partition(_HOST)
    prefix = before.partition("://")[2] if "://" in before else before
    if not host or page.strip("/") not in pages or (prefix and not prefix.endswith(".")) or "/" in prefix:
        return None
    return {name: values[0].strip() for name, values in parse_qs(query).items()}
