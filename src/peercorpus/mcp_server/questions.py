"""The SQL behind each tool: plain queries of the public tables.

Long texts come in parts of `PART_CHARS` characters, one row each, so that every text can be read to its end.
"""

from collections.abc import Sequence
from typing import Literal

from peercorpus.errors import PeercorpusError

PART_CHARS = 6_000
"""Length of one part of a long text, in characters."""
MOST_WORDS = 20
"""Most words in a search."""
CriticismKind = Literal["weaknesses", "questions", "limitations", "assessment", "ethics"]
"""Kinds of passages of a review that criticise; `assessment` is a form's single field for both praise and criticism."""
By = Literal["venue", "conference", "year", "status"]

Parameters = list[str | int | float | bool | None]
Question = tuple[str, Parameters]
"""A statement and the values of its placeholders."""

_PARTS = f"greatest(1, CAST(ceil(length(text) / {PART_CHARS}.0) AS BIGINT))"


def _in_parts(rows: str, order: str) -> str:
    """Return a query that yields each row once per part of its column `text`."""
    return (
        f"SELECT rows.* EXCLUDE (text), part, {_PARTS} AS parts,"
        f" substr(text, CAST((part - 1) * {PART_CHARS} + 1 AS BIGINT), {PART_CHARS}) AS text"
        f" FROM ({rows}) AS rows, unnest(range(1, {_PARTS} + 1)) AS numbered(part) ORDER BY {order}, part"
    )


def _split_words(words: str) -> list[str]:
    split = words.casefold().split()
    if len(split) > MOST_WORDS:
        raise PeercorpusError(f"A search has at most {MOST_WORDS} words, got {len(split)}.")
    return split


def _match(
    searched: str, words: Sequence[str], conference: str | None, year: int | None, status: str | None
) -> Question:
    """Return the conditions of a search and their values."""
    conditions = [f"contains(lower({searched}), ?)" for _ in words]
    values: Parameters = list(words)
    for column, value in (("conference", conference), ("year", year), ("status", status)):
        if value is not None:
            conditions.append(f"papers.{column} = ?")
            values.append(value)
    return " AND ".join(conditions) or "true", values


def papers_with(words: str, conference: str | None, year: int | None, status: str | None) -> Question:
    """Return the search for papers with all words in title, abstract or keywords, matches in the title first."""
    split = _split_words(words)
    searched = "concat_ws(' ', title, abstract, tldr, array_to_string(keywords, ' '))"
    where, values = _match(searched, split, conference, year, status)
    hits = " + ".join("CAST(contains(lower(title), ?) AS INT)" for _ in split) or "CAST(0 AS INT)"
    sql = (
        "SELECT forum_id, conference, year, venue_id, status, grade, num_reviews,"
        " list_transform(reviews, lambda one: one.review_id) AS review_ids,"
        " list_transform(reviews, lambda one: one.rating) AS rating, title, keywords,"
        f" substr(abstract, 1, 600) AS abstract_begins FROM papers_full AS papers WHERE {where}"
        f" ORDER BY {hits} DESC, year DESC NULLS LAST, forum_id"
    )
    return sql, [*values, *split]


def criticisms_with(
    words: str, kinds: Sequence[CriticismKind], conference: str | None, year: int | None, status: str | None
) -> Question:
    """Return the search for review passages with all words; each result begins shortly before the first word."""
    split = _split_words(words)
    where, values = _match("s.text", split, conference, year, status)
    chosen = ", ".join("?" for _ in kinds)
    first = "greatest(1, strpos(lower(s.text), ?) - 200)" if split else "1"
    sql = (
        "SELECT r.forum_id, r.review_id, r.reviewer, r.conference, r.year, papers.status, r.rating, r.confidence,"
        f" s.kind, s.field, {first} AS from_character, length(s.text) AS characters,"
        " substr(s.text, from_character, 1500) AS text"
        " FROM (SELECT *, unnest(sections) AS s FROM reviews) AS r JOIN papers_full AS papers USING (forum_id)"
        f" WHERE s.kind IN ({chosen}) AND {where} ORDER BY r.year DESC NULLS LAST, r.review_id, s.field"
    )
    return sql, [*split[:1], *kinds, *values]


def paper_record(forum_id: str) -> Question:
    """Return the record of a paper, with the ids of all its posts."""
    sql = (
        "SELECT forum_id, conference, year, venue_id, status, grade, created_at, decided_at, num_reviews,"
        " markdown_chars, list_transform(reviews, lambda one: one.review_id) AS review_ids,"
        " list_transform(posts, lambda one: one.post_id) AS post_ids,"
        " (SELECT list(conversation_id ORDER BY conversation_id) FROM conversations AS talk"
        " WHERE talk.forum_id = papers.forum_id) AS conversation_ids,"
        " title, abstract, authors, keywords, tldr, primary_area, track, venue, decision, decision_comment, licence"
        " FROM papers_full AS papers WHERE forum_id = ?"
    )
    return sql, [forum_id]


def review_texts(forum_id: str) -> Question:
    """Return the passages of all reviews of a paper."""
    rows = (
        "SELECT forum_id, review_id, reviewer, created_at, rating, confidence, revised, s.kind AS kind,"
        " s.field AS field, s.text AS text, place FROM (SELECT *, unnest(sections) AS s,"
        " generate_subscripts(sections, 1) AS place FROM reviews WHERE forum_id = ?)"
    )
    return _in_parts(rows, "created_at NULLS LAST, review_id, place").replace("(text)", "(text, place)", 1), [forum_id]


def post_texts(forum_id: str) -> Question:
    """Return all posts to a paper other than reviews, in time order."""
    rows = (
        "SELECT forum_id, post_id, reply_to, kind, role, created_at, signature, title, text FROM posts"
        " WHERE forum_id = ?"
    )
    return _in_parts(rows, "created_at NULLS LAST, post_id"), [forum_id]


def conversation_turns(conversation_id: str) -> Question:
    """Return the turns of a conversation, in time order."""
    rows = (
        "SELECT conversation_id, forum_id, reviewer, turn, t.role AS role, t.post_ids AS post_ids,"
        " t.created_at AS created_at, t.signature AS signature, t.title AS title, t.text AS text"
        " FROM (SELECT *, unnest(turns) AS t, generate_subscripts(turns, 1) AS turn FROM conversations"
        " WHERE conversation_id = ?)"
    )
    return _in_parts(rows, "turn"), [conversation_id]


def paper_text(forum_id: str) -> Question:
    """Return the text of a paper."""
    rows = "SELECT forum_id, grade, markdown AS text FROM papers_full WHERE forum_id = ? AND markdown <> ''"
    return _in_parts(rows, "forum_id"), [forum_id]


def paper_scores(forum_id: str) -> Question:
    """Return every score of a paper: as first given, at the decision, and final."""
    sql = (
        "SELECT forum_id, review_id, reviewer, aspect, initial, at_decision, final, low, high, revised, field,"
        " initial_label, final_label FROM scores WHERE forum_id = ? ORDER BY review_id, aspect, field"
    )
    return sql, [forum_id]


def counts(by: By, conference: str | None, year: int | None) -> Question:
    """Return counts of papers and reviews by one column; mean ratings only by venue, since scales differ."""
    column = "venue_id" if by == "venue" else by
    where, values = _match("title", (), conference, year, None)
    mean = ", avg(list_avg(list_transform(reviews, lambda one: one.rating))) AS mean_rating" if by == "venue" else ""
    outcomes = ", ".join(
        f"count(*) FILTER (status = '{status}') AS {status}" for status in ("accepted", "rejected", "withdrawn")
    )
    sql = (
        f"SELECT {column}, count(*) AS papers, {outcomes}, CAST(sum(num_reviews) AS BIGINT) AS reviews{mean}"
        f" FROM papers_full AS papers WHERE {where} GROUP BY {column} ORDER BY {column} NULLS LAST"
    )
    return sql, values
