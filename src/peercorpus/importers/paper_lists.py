"""Read lists of papers with their ratings: papercopilot's paperlists, and tables of ids, titles, ratings and decisions.

Sources: papercopilot/paperlists (`<venue>/<venue><year>.json`, ratings as "6;8;5"), Chillee/OpenReviewExplorer (JSON,
ratings as lists), fedebotu/ICLR2023-OpenReviewData (CSV, lists in cells), SakanaAI/AI-Scientist (`ratings_subset.tsv`,
a column for each rating).
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from peercorpus.importers.reader import (
    ABOUT_PERSONS,
    FORUM_URL,
    DamagedRow,
    PaperParts,
    Reader,
    Record,
    Row,
    Source,
    StatedPaper,
    StatedReview,
    are_forum_ids,
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
from peercorpus.importers.tables import UNREADABLE, is_table, list_columns, read_columns, read_rows, take_first
from peercorpus.records.datasets import Dataset
from peercorpus.records.enums import Status
from peercorpus.wording.untrusted_text import show_path

ROW, TEXT = "row", "text"
TEXT_SUFFIXES = (".txt", ".md", ".markdown", ".mmd")
MIN_TEXTS = 2
"""Fewest texts that a table must name for a folder to be one of texts: a single one may be a README."""
OF_A_MODEL = re.compile(
    r"(?:^|[^a-z])(?:llms?|gpt|claude|gemini|llama|generated|predictions?)(?:[^a-z]|$)", re.IGNORECASE
)
"""Matches names of files and folders with reviews by a model, such as AI-Scientist's `llm_reviews/gpt-4o….csv`."""
IDS = ("forum_id", "forum", "paper_id", "submission_id", "id", "openreview_id", "url", "site", "link", "permalink")
FORUM_COLUMNS = ("forum_id", "forum", "openreview_id")
"""Columns that contain OpenReview's ids, whatever they look like."""
DECISIONS = ("decision", "paper_decision", "final_decision", "status", "accepted")
TITLES = ("title", "paper_title")
RATINGS = ("rating", "ratings", "scores", "recommendation", "recommendations")
BY_REVIEWER = frozenset(
    (
        *("rating", "ratings", "scores", "recommendation", "recommendations", "confidence", "confidences"),
        *("soundness", "presentation", "contribution", "correctness", "technical_novelty", "empirical_novelty"),
        *("originality", "quality", "clarity", "significance", "novelty", "excitement", "reproducibility"),
        *("technical_quality", "scope", "suitability"),
    )
)
"""Columns with one value for each reviewer, in the same order."""
SINGULAR = {"ratings": "rating", "scores": "rating", "confidences": "confidence", "recommendations": "recommendation"}
REVIEWERS = ("reviewers", "reviewer_ids")
NO_RATING = re.compile(r"-1(?:\.0+)?")
"""Matches what papercopilot/paperlists writes for a rating or confidence that it could not read."""


def has_ratings(rows: Sequence[Row]) -> bool:
    """Return whether rows are those of a list of papers: an id, and a title with an outcome or ratings."""
    columns = list_columns(rows)
    has_outcome = find_column(columns, DECISIONS) is not None
    has_scores = find_column(columns, RATINGS) is not None or "0" in columns
    has_title = find_column(columns, TITLES) is not None
    return find_column(columns, IDS) is not None and (has_scores or has_outcome) and (has_title or "0" in columns)


def read_paper_row(parts: Row) -> StatedPaper:
    """Return the paper of a row, with a review for each rating; a second title, outcome or id goes to `extra`."""
    left = keep_stated(parts[ROW])
    paper_id = make_paper_id(find_id(left), "")
    reviews, used = _read_reviews(left)
    used |= {name for name in IDS if make_paper_id(left.get(name), "") == paper_id}
    left = {name: value for name, value in left.items() if name not in used}
    status = _take_status(left)
    authors, keywords = _split(left.get("authors", left.get("author"))), _split(left.get("keywords"))
    if keywords:
        del left["keywords"]
    return StatedPaper(
        title=take_text(left, TITLES),
        abstract=take_text(left, ("abstract",)),
        authors=authors,
        keywords=keywords,
        tldr=take_text(left, ("tldr",)),
        primary_area=take_text(left, ("primary_area",)),
        decision=None if status in {Status.ACCEPTED, Status.REJECTED} else take_text(left, DECISIONS),
        status=status,
        text=as_text(parts.get(TEXT)),
        reviews=reviews,
        extra={name: value for name, value in left.items() if not ABOUT_PERSONS.fullmatch(name)},
    )


def _take_status(row: Row) -> Status | None:
    name = find_column(row, DECISIONS)
    if name is not None and isinstance(row[name], bool):
        return Status.ACCEPTED if row.pop(name) else Status.REJECTED
    is_withdrawn = str(row.get("withdraw", row.get("withdrawn", ""))).casefold() in {"1", "1.0", "true"}
    return Status.WITHDRAWN if is_withdrawn and name is None else None


def _read_reviews(row: Row) -> tuple[tuple[StatedReview, ...], set[str]]:
    """Return a review for each reviewer, and the columns used."""
    numbered = sorted((name for name in row if name.isdigit()), key=int)
    # "ratings" beside "rating": the second is their mean.
    repeated = {SINGULAR[name] for name in row if name in SINGULAR}
    given = [name for name in row if name in BY_REVIEWER - repeated]
    columns = {SINGULAR.get(name, name): list_cell(row[name]) for name in given}
    used = {*numbered, *given}
    if numbered and "rating" not in columns:
        columns["rating"] = [row[name] for name in numbered]
    ids = next((list_cell(row[name]) for name in REVIEWERS if name in row), [])
    number = _count_reviewers(columns, ids)
    # A column with a different number of values cannot be assigned to reviewers: it is stored with the paper.
    fitting = {name: values for name, values in columns.items() if len(values) == number}
    used -= {name for name in used if SINGULAR.get(name, name) not in fitting and not name.isdigit()}
    reviewers = ids if len(ids) == number else [None] * number
    used |= {*REVIEWERS} if len(ids) == number else set()
    reviews = []
    for place, reviewer in enumerate(map(as_text, reviewers)):
        answers = {name: values[place] for name, values in fitting.items() if is_stated(values[place])}
        unrated = frozenset(name for name, answer in answers.items() if NO_RATING.fullmatch(str(answer).strip()))
        reviews.append(StatedReview(answers, reviewer=reviewer, unrated=unrated))
    return tuple(reviews), used


def _count_reviewers(columns: Mapping[str, list[Any]], ids: Sequence[Any]) -> int:
    """Return the number of reviewers of a row: that of ratings, otherwise the number of values that columns agree on.

    A single value may be a mean.
    """
    for name in ("rating", "recommendation"):
        if name in columns:
            return len(columns[name])
    numbers = {len(values) for values in (*columns.values(), ids) if values}
    return max(numbers) if len(numbers) == 1 and max(numbers) > 1 else 0


def list_cell(value: object) -> list[Any]:
    """Return the values of a cell: a list, a list as text, values separated by semicolons, or one value.

    >>> list_cell("6;8;5"), list_cell("[6, 8]"), list_cell("['a', 'b']"), list_cell(7), list_cell("5: weak; but novel")
    (['6', '8', '5'], [6, 8], ['a', 'b'], [7], ['5: weak; but novel'])
    """
    if isinstance(value, list | tuple):
        return list(value)
    if not isinstance(value, str):
        return [value]
    text = value.strip()
    if text.startswith("[") and text.endswith("]"):
        for written in (text, text.replace("'", '"')):
            try:
                found = json.loads(written)
            except ValueError:
                continue
            return found if isinstance(found, list) else [found]
        return [value]
    parts = [part.strip() for part in text.split(";")]
    return parts if len(parts) > 1 and all(" " not in part and len(part) <= 24 for part in parts) else [text]


def _split(value: object) -> tuple[str, ...]:
    if isinstance(value, str) and not value.strip().startswith("["):
        value = value.split(";" if ";" in value else ",")
    values = list_cell(value) if value is not None else []
    return tuple(name.strip() for name in values if isinstance(name, str) and name.strip())


def find_id(row: Row) -> object | None:
    """Return the id of a row's paper: preferably a forum in a link, otherwise any id; None if there is none."""
    values = [row[column] for name in IDS if (column := find_column(row, (name,))) and is_stated(row[column])]
    linked = (value for value in values if isinstance(value, str) and FORUM_URL.search(value))
    return next(linked, values[0] if values else None)


def peek(table: Path, find: Callable[[Row], object | None]) -> tuple[Iterator[Row], bool]:
    """Return the rows of a table, and whether its ids are OpenReview's, judging by the first rows or a column name."""
    rows = read_rows(table)
    first = take_first(rows)
    is_said = find_column(list_columns(first), FORUM_COLUMNS) is not None
    return chain(first, rows), is_said or are_forum_ids(map(find, first))


def list_papers(source: Source) -> Iterator[Record]:
    """Yield the record of each row, with the paper's text if the folder has it."""
    table = source.table or source.root
    texts = {path.stem: path for path in source.files if path != table}
    dataset = source.reader.dataset
    is_of_texts = dataset is Dataset.TEXT_FOLDER
    label = table.parent.name if is_of_texts else stem_of(table)
    named = Path(show_path(table.parent.absolute().name)) if is_of_texts else table
    rows, is_forum = peek(table, find_id)
    for number, row in enumerate(rows, 1):
        if isinstance(row, DamagedRow):
            yield Record(dataset, row.name, problem=row.reason)
            continue
        stated = find_id(row)
        parts: Row = {ROW: row}
        if str(stated) in texts:
            parts[TEXT] = texts[str(stated)].read_text(encoding="utf-8", errors="replace")
        body = PaperParts(make_paper_id(stated, label, is_forum=is_forum), parts, name_row(row, named))
        yield make_record(dataset, f"{show_path(table.name)}, row {number}" if is_of_texts else f"row {number}", body)


def find_texts(reader: Reader, files: Sequence[Path]) -> Iterator[Source]:
    """Yield the tables of decisions whose ids are the names of texts in the same folder, each with its texts."""
    texts = {path.stem: path for path in files if path.suffix.lower() in TEXT_SUFFIXES}
    taken: set[Path] = set()
    for path in files if len(texts) >= MIN_TEXTS else ():
        columns = [] if not is_table(path) or OF_A_MODEL.search(path.as_posix()) else read_columns(path)
        if find_column(columns, IDS) is None or find_column(columns, DECISIONS) is None:
            continue
        try:
            ids = {str(one) for row in read_rows(path) if (one := find_id(row)) is not None}
        except UNREADABLE:
            continue
        own = [texts[one] for one in sorted(ids & texts.keys()) if texts[one] not in taken]
        if len(own) >= MIN_TEXTS:
            taken.update(own)
            yield Source(reader, path.parent, (path, *own), path)


LIST_READER = Reader(
    Dataset.PAPER_LIST,
    "lists of papers",
    "a list of papers with an id, a title, and ratings or a decision",
    list_papers,
    read_paper_row,
    suits=has_ratings,
)
TEXT_READER = Reader(
    Dataset.TEXT_FOLDER,
    "tables of decisions with texts",
    "a folder of texts with a table of decisions",
    list_papers,
    read_paper_row,
    find_texts,
    has_text=True,
)
"""Source: SakanaAI/AI-Scientist, `review_iclr_bench`: `iclr_parsed/<forum id>.txt` and `ratings_subset.tsv`."""
