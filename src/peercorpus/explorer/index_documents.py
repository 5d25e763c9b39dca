"""Define the fields of the search index, and make the document of one paper, which holds only what may be shown."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import msgspec
import tantivy
import zstandard

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.explorer.paper_row import PaperRow, searched_texts
from peercorpus.records.papers import Link
from peercorpus.records.points import Point
from peercorpus.records.untrusted_text import redact_people

TEXTS = ("title", "abstract", "reviews", "answers", "others")
"""Fields that are searched if a query names none."""
WORDS = ("venue_id", "conference", "track", "status", "grade", "keywords")
NUMBERS = (
    *("year", "reviews_count", "rating", "confidence", "rating_unit", "first_unit", "change_unit", "rating_spread"),
    *("spread_unit", "turns", "discussed", "created"),
)
_RATED = 1e6
"""Added to the turns of a paper with a rating, so that it comes before those without one in the order `discussed`."""
TRUTHS = ("has_rebuttal", "score_changed")
_TOKENIZER = "en_stem"
_LEVEL = 3
"""Of Zstandard; what a forum says in posts and again in conversations and points is stored once."""


def make_schema() -> tantivy.Schema:
    """Return the fields of the index."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("forum_id", tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("row", stored=True)
    builder.add_bytes_field("shown", stored=True)
    for name in TEXTS:
        builder.add_text_field(name, stored=True, tokenizer_name=_TOKENIZER)
    for name in WORDS:
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in NUMBERS:
        builder.add_float_field(name, indexed=True, fast=True)
    for name in TRUTHS:
        builder.add_boolean_field(name, indexed=True, fast=True)
    return builder.build()


@dataclass(frozen=True, slots=True)
class Stored:
    """What the index stores of a paper: its row, and its links with other submissions of the same work."""

    row: PaperRow
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class ShownPaper:
    """What may be shown of a paper: its records, and the points of its reviews."""

    forum: PublicForum
    points: Sequence[Point] = ()


def make_document(shown: ShownPaper, stored: Stored) -> tuple[tantivy.Document, int]:
    """Return the document of a paper, and the number of characters that are searched in it."""
    forum = shown.forum
    row = asdict(stored.row)
    document = tantivy.Document()
    document.add_text("forum_id", stored.row.forum_id)
    document.add_bytes("row", msgspec.json.encode(stored))
    document.add_bytes("shown", zstandard.compress(msgspec.msgpack.encode(shown), _LEVEL))
    characters = 0
    for name, text in _collect_texts(forum, stored.row):
        document.add_text(name, text)
        characters += len(text)
    for name in WORDS:
        for word in row[name] if name == "keywords" else (row[name],):
            if word:
                document.add_text(name, word.strip().lower())
    created = forum.paper.created_at
    numbers = row | {
        "reviews_count": row["reviews"],
        "created": created.timestamp() if created else None,
        "discussed": row["turns"] + (_RATED if row["rating"] is not None else 0),
    }
    for name in NUMBERS:
        if numbers[name] is not None:
            document.add_float(name, float(numbers[name]))
    for name in TRUTHS:
        if row[name] is not None:
            document.add_boolean(name, row[name])
    return document, characters


def _collect_texts(forum: PublicForum, row: PaperRow) -> Iterator[tuple[str, str]]:
    yield "title", row.title or ""
    yield "abstract", row.abstract or ""
    by_field: dict[str, list[str]] = {}
    for name, text in searched_texts(forum):
        by_field.setdefault(name, []).append(redact_people(text))
    for name, texts in by_field.items():
        yield name, "\n\n".join(texts)


def read_stored(document: tantivy.Document) -> Stored:
    """Decode what the index stores of a paper."""
    return msgspec.json.decode(bytes(document.get_first("row") or b""), type=Stored)


def read_shown(document: tantivy.Document) -> ShownPaper:
    """Decode what may be shown of a paper: from a table, whose rows are read by the thousand, it would take longer."""
    return msgspec.msgpack.decode(zstandard.decompress(bytes(document.get_first("shown") or b"")), type=ShownPaper)
