"""Read tables with one review in each row, and DISAPERE's pairs of review and response in sentences.

A table names the paper in a column such as `forum_id` or `paper_id`, and has a review's text in one or more others.
Source of the pairs: nnkennard/DISAPERE, `final_dataset`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from peercorpus.importers.paper_lists import DECISIONS, IDS, TITLES, peek
from peercorpus.importers.reader import (
    ABOUT_PERSONS,
    DamagedRow,
    PaperParts,
    Reader,
    Record,
    Row,
    Source,
    StatedPaper,
    StatedReview,
    as_text,
    find_column,
    is_stated,
    keep_stated,
    make_paper_id,
    make_record,
    name_row,
    stem_of,
    take_text,
)
from peercorpus.importers.tables import list_columns, read_rows
from peercorpus.records.datasets import Dataset

ROWS = "rows"
PAPER_IDS = tuple(name for name in IDS if name != "id")
REVIEW_IDS = ("review_id", "note_id", "rid", "id")
REVIEWERS = ("reviewer", "reviewer_id", "signature", "signatures")
RESPONSES = ("rebuttal", "author_response", "response")
TEXTS = (
    *("review", "review_text", "review_content", "main_review", "comments", "comments_to_authors", "report"),
    *("summary_of_the_review", "strengths", "weaknesses", "strength_and_weaknesses", "strengths_and_weaknesses"),
    *("paper_summary", "summary_of_strengths", "summary_of_weaknesses", "summary_of_the_paper"),
)
OF_VENUE = frozenset({"venue", "conference", "year", "track", "split"})
OF_PAPER = frozenset({*PAPER_IDS, *TITLES, *DECISIONS, *OF_VENUE, "abstract", "paper_title"})
SENTENCES = "review_sentences"
OF_A_PAIR = frozenset({"forum_id", "review_id", "title", "reviewer", "rating"})
NO_TEXT = re.compile(r"(?:https?://\S+|[\d.;,:\s-]*)")
"""Matches a link, or numbers: paperlists has these in columns called `review` and `strengths`."""


def has_reviews(rows: Sequence[Row]) -> bool:
    """Return whether rows are those of a table of reviews: they name papers, and some contain a review's text."""
    columns = list_columns(rows)
    if is_pair(columns):
        return True
    texts = [column for name in TEXTS if (column := find_column(columns, (name,))) is not None]
    names_paper = find_column(columns, PAPER_IDS) is not None
    return names_paper and any(
        (text := as_text(row.get(column))) is not None and not NO_TEXT.fullmatch(text.strip())
        for row in rows
        for column in texts
    )


def is_pair(columns: Iterable[str]) -> bool:
    """Return whether a record is a pair of DISAPERE."""
    return {SENTENCES, "metadata"} <= set(columns)


def find_paper(row: Row) -> object | None:
    """Return the id of a row's paper; None if there is none."""
    if is_pair(row):
        return (row.get("metadata") or {}).get("forum_id")
    column = find_column(row, PAPER_IDS)
    return row[column] if column and is_stated(row[column]) else None


def read_review_rows(parts: Row) -> StatedPaper:
    """Return the paper of some rows, with the review in each."""
    lowered = [keep_stated(row) for row in parts[ROWS]]
    first = lowered[0]
    if is_pair(first):
        return StatedPaper(title=as_text(first["metadata"].get("title")), reviews=tuple(map(_read_pair, lowered)))
    of_paper = {name: row[name] for row in reversed(lowered) for name in sorted(OF_PAPER - {"title"}) if name in row}
    paper_id = make_paper_id(find_paper(first), "")
    return StatedPaper(
        title=take_text(of_paper, ("paper_title",)),
        abstract=take_text(of_paper, ("abstract",)),
        decision=take_text(of_paper, DECISIONS),
        reviews=tuple(_read_review(row) for row in lowered),
        extra={
            name: value
            for name, value in of_paper.items()
            if name not in PAPER_IDS or make_paper_id(value, "") != paper_id
        },
    )


def _read_review(row: Row) -> StatedReview:
    left = {name: value for name, value in row.items() if name not in OF_PAPER - {"title"}}
    review_id, reviewer, response = (take_text(left, names) for names in (REVIEW_IDS, REVIEWERS, RESPONSES))
    answers = {name: value for name, value in left.items() if not ABOUT_PERSONS.fullmatch(name)}
    return StatedReview(answers, review_id, reviewer, response)


def _read_pair(row: Row) -> StatedReview:
    metadata = row["metadata"]
    answers = {"review": _join(row[SENTENCES])}
    answers |= {"rating": metadata["rating"]} if is_stated(metadata.get("rating")) else {}
    response = _join(row.get("rebuttal_sentences") or ())
    review_id, reviewer = as_text(metadata.get("review_id")), as_text(metadata.get("reviewer"))
    extra = {name: value for name, value in metadata.items() if name not in OF_A_PAIR and is_stated(value)}
    return StatedReview(answers, review_id, reviewer, response or None, extra=extra)


def _join(sentences: Iterable[Row]) -> str:
    """Return sentences as one text, each with its suffix."""
    parts = [f"{one.get('text') or ''}{one.get('suffix') or ' '}" for one in sentences]
    return "".join(parts).strip()


def list_reviews(source: Source) -> Iterator[Record]:
    """Yield each paper once the last of its rows was read, so that the rows of only a few papers are in memory."""
    all_rows, is_forum = peek(source.root, find_paper)

    def name_paper(row: Row) -> str:
        return make_paper_id(find_paper(row), stem_of(source.root), is_forum=is_forum)

    last = {name_paper(row): number for number, row in enumerate(read_rows(source.root), 1)}
    rows: dict[str, list[tuple[int, Row]]] = defaultdict(list)
    for number, row in enumerate(all_rows, 1):
        if isinstance(row, DamagedRow):
            yield Record(Dataset.REVIEW_TABLE, row.name, problem=row.reason)
            continue
        paper_id = name_paper(row)
        rows[paper_id].append((number, row))
        if paper_id and number < last[paper_id]:
            continue
        (first, head), *_ = own = rows.pop(paper_id)
        body = PaperParts(paper_id, {ROWS: [one for _, one in own]}, name_row(head, source.root))
        yield make_record(Dataset.REVIEW_TABLE, f"row {first}", body)


READER = Reader(
    Dataset.REVIEW_TABLE,
    "tables of reviews",
    "a table of reviews with forum_id or paper_id",
    list_reviews,
    read_review_rows,
    suits=has_reviews,
)
