"""Shape answers: bounded, with a cursor for the next page, and with untrusted text under a key of its own."""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peercorpus.errors import PeercorpusError
from peercorpus.sql.query import MOST_OFFSET

ANSWER_CHARS = 24_000
"""Most characters that the items of one answer take up as JSON."""
UNTRUSTED = "untrusted"
"""The key for everything that others wrote."""
OWN = frozenset(
    (
        *("forum_id", "review_id", "post_id", "post_ids", "conversation_id", "conversation_ids", "review_ids"),
        *("reply_to", "reviewer", "venue_id", "conference", "year", "status", "grade", "kind", "role", "aspect"),
        *("created_at", "decided_at", "rating", "confidence", "rating_at_decision", "low", "high", "initial"),
        *("final", "at_decision", "revised", "part", "parts", "turn", "num_reviews", "markdown_chars", "papers"),
        *("reviews", "conversations", "accepted", "rejected", "withdrawn", "mean_rating", "table", "rows", "type"),
        *("says", "characters", "from_character"),
    )
)
"""Columns with ids, numbers, times, and words of our own vocabulary."""
_PLAIN = re.compile(r"[\w./:~+-]{1,256}")
"""Matches an id or a word, not a sentence."""
_PLAIN_TEXTS = frozenset({"says", "type"})
"""Columns with sentences of our own."""


def _is_plain(value: Any) -> bool:  # noqa: ANN401 -- any value of a cell
    if isinstance(value, str):
        return _PLAIN.fullmatch(value) is not None
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return not isinstance(value, dict)


def make_item(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as an item; text written by others and malformed ids go under `untrusted`.

    >>> make_item({"forum_id": "abc", "title": "Obey me", "year": 2024})
    {'forum_id': 'abc', 'year': 2024, 'untrusted': {'title': 'Obey me'}}
    >>> make_item({"forum_id": "Obey me now"})
    {'untrusted': {'forum_id': 'Obey me now'}}
    """
    own = {name for name, value in row.items() if name in OWN and (name in _PLAIN_TEXTS or _is_plain(value))}
    item: dict[str, Any] = {name: value for name, value in row.items() if name in own}
    others = {name: value for name, value in row.items() if name not in own}
    return item | ({UNTRUSTED: others} if others else {})


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer begins in the rows of a question.

    Attributes:
        question: Digest of the corpus, the tool and its arguments.
        offset: Rows before it.
    """

    question: str
    offset: int = 0

    def cursor(self, items: int) -> str:
        """Return the cursor for the next answer, given the number of items in this one."""
        content = f"{self.question} {self.offset + items}".encode()
        return base64.urlsafe_b64encode(content).decode().rstrip("=")


def find_place(corpus: str, tool: str, arguments: Mapping[str, object], cursor: str | None) -> Place:
    """Return where the answer to a question begins.

    Raises:
        PeercorpusError: The cursor is invalid, or belongs to another question.
    """
    asked = json.dumps([corpus, tool, arguments], sort_keys=True, default=str)
    question = hashlib.sha256(asked.encode(errors="surrogatepass")).hexdigest()[:16]
    if cursor is None:
        return Place(question)
    try:
        content = base64.urlsafe_b64decode(cursor[:200].encode("ascii") + b"==").decode("ascii")
    except (ValueError, binascii.Error):
        content = ""
    found = re.fullmatch(r"([0-9a-f]{16}) ([0-9]{1,7})", content)
    if found is None or found[1] != question or int(found[2]) > MOST_OFFSET:
        raise PeercorpusError(
            "This tool did not return that cursor for these arguments; repeat the same arguments with next_cursor, or"
            " leave the cursor out."
        )
    return Place(question, int(found[2]))


def _size(item: object) -> int:
    return len(json.dumps(item, ensure_ascii=False))


def _squeeze(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item that is too large on its own, with each larger value cut to the beginning of its JSON."""
    share = ANSWER_CHARS // (2 * (len(item) + len(item.get(UNTRUSTED, ()))))

    def cut(value: object) -> object:
        text = json.dumps(value, ensure_ascii=False)
        return value if len(text) <= share else f"{text[:share]}…[{len(text) - share} more characters]"

    others = {str(name)[:100]: cut(value) for name, value in item.get(UNTRUSTED, {}).items()}
    return {name: cut(value) for name, value in item.items() if name != UNTRUSTED} | {UNTRUSTED: others}


def make_answer(corpus: str, items: Sequence[dict[str, Any]], place: Place, limit: int) -> dict[str, Any]:
    """Return the answer: as many items as fit, and a cursor if more follow.

    The items begin at `place`; one more than `limit` follows if there are more.
    """
    shown: list[dict[str, Any]] = []
    chars = 0
    for item in items[:limit]:
        fitting = item if _size(item) <= ANSWER_CHARS else _squeeze(item)
        chars += _size(fitting)
        if shown and chars > ANSWER_CHARS:
            break
        shown.append(fitting)
    more = len(items) > len(shown)
    return {"corpus": corpus, "items": shown, "next_cursor": place.cursor(len(shown)) if more else None}
