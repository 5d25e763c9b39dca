"""Define the fields of the search index, and make the document of one paper, which contains only what may be shown."""

import unicodedata
from collections.abc import Iterator
from dataclasses import asdict

import msgspec
import tantivy
import zstandard

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.explorer.paper_row import PaperRow, texts_by_post
from peercorpus.explorer.querying.names import (
    AUTHORS,
    INITIALS,
    REVIEWER,
    list_forms,
    list_initials,
    list_pseudonym_words,
)
from peercorpus.explorer.querying.searched_fields import FOLDED_IDS, IDS, STEMS, VOCABULARY, WRITTEN, SearchedFields
from peercorpus.explorer.querying.typed_query import CONDITIONS
from peercorpus.explorer.querying.venue_names import VENUE, write_names
from peercorpus.wording.untrusted_text import redact_people

TEXTS_OF_PAPER = ("title", "abstract", "keywords", AUTHORS)
AI = "ai"
"""The field of the AI reviews and the posts below them, which are searched only if a query names it."""
TEXTS_OF_POSTS = ("reviews", "answers", "others", AI)
"""Fields with a value for each post."""
TEXTS = (*TEXTS_OF_PAPER, *TEXTS_OF_POSTS)
"""Fields whose passages are shown; all but `AI` are searched if a query names none."""
TEXT = "text"
"""The field of the paper's own text, which is searched as well; it is stored in `READ`."""
TEXT_WORDS = "text_words"
"""The field with the words of that text as they are written, in lower case and without accents."""
PSEUDONYMS = "pseudonyms"
"""The field with the pseudonyms of reviewers as they are shown, and the ids of their reviews."""
READ = "read"
"""The field with the paper's own text as far as it is searched, compressed, for passages."""
POST_IDS = "post_ids"
"""The field with the ids of the posts whose texts are the values of fields, by field."""
WORDS = ("venue_id", "conference", "track", "status", "grade", "keyword")
NUMBERS = (
    *("year", "reviews_count", "rating", "confidence", "rating_unit", "first_unit", "change_unit", "rating_spread"),
    *("spread_unit", "turns", "discussed", "created"),
)
_RATED = 1e6
"""Added to the turns of a paper with a rating, so that it comes before those without one in the order `discussed`."""
TRUTHS = ("has_rebuttal", "score_changed")
MAX_TEXT_CHARACTERS = 50_000
"""Characters of a paper's text that are searched, from its beginning: in most papers all but the appendix."""
_LONGEST_ADDRESS = 1_000
"""Characters in which any e-mail address ends; RFC 5321 allows 320, and several may be written as one."""
_TEXT_CHARACTERS_AS_ONE = 2
"""Characters of a text that are counted as one: its words take less of the writer's memory than those of reviews,
which are stored as well."""
FIELDS_SEARCHED = SearchedFields(
    weights={"title": 4.0, "keywords": 3.0, AUTHORS: 3.0, "abstract": 2.0}
    | dict.fromkeys(("reviews", "answers", "others"), 1.0)
    | {TEXT: 0.5, VENUE: 0.5, REVIEWER: 0.5},
    unstemmed=frozenset({AUTHORS, VENUE, REVIEWER}),
    vocabularies=(VOCABULARY, TEXT_WORDS),
    named=(AI,),
    conditions=CONDITIONS,
    further=("forum_id", *WORDS, *NUMBERS, *TRUTHS),
)
"""A word in the title counts as much as four in a review."""
_LEVEL = 3
"""Level of Zstandard; text in posts that recurs in conversations and points is stored once."""


def make_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("forum_id", tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("row", stored=True)
    builder.add_bytes_field("shown", stored=True)
    builder.add_text_field(IDS, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(FOLDED_IDS, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(VOCABULARY, tokenizer_name=WRITTEN, index_option="basic")
    for name in TEXTS:
        is_stemmed = name not in FIELDS_SEARCHED.unstemmed
        builder.add_text_field(name, stored=True, tokenizer_name=STEMS if is_stemmed else "default")
    builder.add_text_field(VENUE, tokenizer_name="default")
    builder.add_text_field(REVIEWER, tokenizer_name="default")
    builder.add_text_field(INITIALS, tokenizer_name="default", index_option="basic")
    builder.add_bytes_field(PSEUDONYMS, stored=True)
    builder.add_text_field(TEXT, tokenizer_name=STEMS)
    builder.add_text_field(TEXT_WORDS, tokenizer_name=WRITTEN, index_option="basic")
    builder.add_bytes_field(READ, stored=True)
    builder.add_bytes_field(POST_IDS, stored=True)
    for name in WORDS:
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in NUMBERS:
        builder.add_float_field(name, indexed=True, fast=True)
    for name in TRUTHS:
        builder.add_boolean_field(name, indexed=True, fast=True)
    return builder.build()


def make_document(forum: PublicForum, row: PaperRow, text: str = "") -> tuple[tantivy.Document, int]:
    """Return the document of a paper, and the number of characters that are searched in it.

    `forum` has the points of its reviews; `text` is the paper's own, "" if there is none.
    """
    values = asdict(row)
    document = tantivy.Document()
    document.add_text("forum_id", row.forum_id)
    document.add_bytes("row", msgspec.json.encode(row))
    document.add_bytes("shown", zstandard.compress(msgspec.msgpack.encode(forum), _LEVEL))
    characters = _add_texts(document, forum, row, text)
    for note_id in list_ids(forum):
        document.add_text(IDS, note_id)
        document.add_text(FOLDED_IDS, note_id.lower())
    for name in WORDS:
        for word in row.keywords if name == "keyword" else (values[name],):
            if word:
                document.add_text(name, word.strip().lower())
    created = forum.paper.created_at
    numbers = values | {
        "reviews_count": row.reviews,
        "created": created.timestamp() if created else None,
        "discussed": row.turns + (_RATED if row.rating is not None else 0),
    }
    for name in NUMBERS:
        if numbers[name] is not None:
            document.add_float(name, float(numbers[name]))
    for name in TRUTHS:
        if values[name] is not None:
            document.add_boolean(name, values[name])
    return document, characters


def _add_texts(document: tantivy.Document, forum: PublicForum, row: PaperRow, text: str) -> int:
    """Add all that is searched by its words, and return the number of characters; those of the text count a third."""
    characters = 0
    post_ids: dict[str, list[str]] = {}
    for name, post_id, collected in _collect_texts(forum, row):
        searched = _compose(collected)
        document.add_text(name, searched)
        if name != AI:
            document.add_text(VOCABULARY, searched)
        characters += len(searched)
        if name in TEXTS_OF_POSTS:
            post_ids.setdefault(name, []).append(post_id)
    document.add_bytes(POST_IDS, msgspec.msgpack.encode(post_ids))
    _add_names(document, forum)
    names = write_names(row.venue_id, row.conference, row.year)
    document.add_text(VENUE, names)
    document.add_text(VOCABULARY, names)
    of_paper = cut_text(text)
    document.add_text(TEXT, of_paper)
    document.add_text(TEXT_WORDS, of_paper)
    if of_paper:
        document.add_bytes(READ, zstandard.compress(of_paper.encode(), _LEVEL))
    return characters + len(of_paper) // _TEXT_CHARACTERS_AS_ONE


def cut_text(text: str) -> str:
    """Return as much of a paper's own text as is searched, without e-mail addresses and profile ids."""
    # One at the end must not be cut before it is recognised.
    whole: str = redact_people(_compose(text[: MAX_TEXT_CHARACTERS + _LONGEST_ADDRESS]))
    return whole[:MAX_TEXT_CHARACTERS]


def _add_names(document: tantivy.Document, forum: PublicForum) -> None:
    """Add the forms of names of authors, and the pseudonyms of reviewers."""
    for author in filter(None, forum.paper.authors):
        name = _compose(redact_people(author))
        for form in list_forms(name):
            document.add_text(AUTHORS, form)
            document.add_text(VOCABULARY, form)
        document.add_text(INITIALS, " ".join(list_initials(name)))
    pseudonyms = [(redact_people(review.reviewer), review.review_id) for review in forum.reviews]
    for pseudonym, _ in pseudonyms:
        document.add_text(REVIEWER, " ".join(list_pseudonym_words(pseudonym)))
    document.add_bytes(PSEUDONYMS, msgspec.msgpack.encode(pseudonyms))


def _compose(text: str) -> str:
    """Return a text with each letter and its accent as one sign, as one word is split otherwise."""
    return unicodedata.normalize("NFC", text)


def _collect_texts(forum: PublicForum, row: PaperRow) -> Iterator[tuple[str, str, str]]:
    """Yield each text with its field, and the id of its post between them; "" if it is none of a post."""
    yield "title", "", row.title or ""
    yield "abstract", "", row.abstract or ""
    yield "keywords", "", "; ".join(row.keywords)
    # First as they are written: a passage shows the first value of a field.
    yield AUTHORS, "", ", ".join(redact_people(author) for author in forum.paper.authors)
    for name, post_id, text in texts_by_post(forum):
        yield name, post_id, redact_people(text)
    for ai_review in forum.ai_reviews:
        texts = [ai_review.title, *(section.text for section in ai_review.sections)]
        yield AI, ai_review.ai_review_id, redact_people("\n\n".join(filter(None, texts)))
        for reply in ai_review.replies:
            yield AI, reply.post_id, redact_people("\n\n".join(filter(None, (reply.title, reply.text))))


def list_ids(forum: PublicForum) -> Iterator[str]:
    """Yield the ids of a paper and of everything public in its forum."""
    yield forum.paper.forum_id
    ids = [*(review.review_id for review in forum.reviews), *(post.post_id for post in forum.posts)]
    ids += (note_id for review in forum.ai_reviews for note_id in review.note_ids)
    yield from dict.fromkeys(ids)


def read_post_ids(document: tantivy.Document, name: str) -> list[str]:
    """Return the ids of the posts whose texts are in a field, in order; "" for a text that is not from a post."""
    by_field = msgspec.msgpack.decode(bytes(document.get_first(POST_IDS) or b""), type=dict[str, list[str]])
    return by_field[name]


def read_pseudonyms(document: tantivy.Document) -> list[tuple[str, str]]:
    """Return the pseudonym of each reviewer and the id of the review."""
    return msgspec.msgpack.decode(bytes(document.get_first(PSEUDONYMS) or b""), type=list[tuple[str, str]])


def read_text(document: tantivy.Document) -> str:
    """Return the paper's own text as far as it is searched; "" if there is none."""
    compressed = bytes(document.get_first(READ) or b"")
    return zstandard.decompress(compressed).decode() if compressed else ""


def read_row(document: tantivy.Document) -> PaperRow:
    """Decode the summary of a paper."""
    return msgspec.json.decode(bytes(document.get_first("row") or b""), type=PaperRow)


def read_forum(document: tantivy.Document) -> PublicForum:
    """Decode what may be shown of a paper: from a table, whose rows are read by the thousand, it would take longer."""
    return msgspec.msgpack.decode(zstandard.decompress(bytes(document.get_first("shown") or b"")), type=PublicForum)
