"""Read lists of papers with their ratings: papercopilot's paperlists, and tables of ids, titles, ratings and decisions.

Sources: papercopilot/paperlists (`<venue>/<venue><year>.json`, ratings as "6;8;5"), Chillee/OpenReviewExplorer (JSON,
ratings as lists), fedebotu/ICLR2023-OpenReviewData (CSV, lists in cells), SakanaAI/AI-Scientist (`ratings_subset.tsv`,
a column for each rating).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from peercorpus.records.enums import Status
from peercorpus.records.layouts.stated import FORUM_URL, Row, StatedPaper, StatedReview, as_text, is_stated

ROW = "row"
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
ABOUT_PERSONS = re.compile(
    r"author.*|contributors?|gender|homepage|dblp|google_scholar|gs_.*|orcid|linkedin|or_profile|e?mails?"
    r"|affs?(_.*)?|affiliations?|position|bibtex"
)
"""Matches columns that describe the authors as persons, which are stored only in `raw.db`."""


def find_column(row: Iterable[str], names: Iterable[str]) -> str | None:
    """Return the column with the first of these names, ignoring case; None if there is none."""
    lowered = {name.casefold(): name for name in row}
    return next((lowered[name] for name in names if name in lowered), None)


def has_ratings(columns: Iterable[str]) -> bool:
    """Return whether columns are those of a list of papers: an id, and a title with an outcome or ratings."""
    columns = list(columns)
    has_outcome = find_column(columns, DECISIONS) is not None
    has_scores = find_column(columns, RATINGS) is not None or "0" in columns
    has_title = find_column(columns, TITLES) is not None
    return find_column(columns, IDS) is not None and (has_scores or has_outcome) and (has_title or "0" in columns)


def read_paper_row(parts: Row) -> StatedPaper:
    """Return the paper of a row, with a review for each rating."""
    row: Row = parts[ROW]
    lowered = {name.casefold(): value for name, value in row.items() if is_stated(value)}
    title, decision = (
        next((lowered[name] for name in names if name in lowered), None) for names in (TITLES, DECISIONS)
    )
    reviews, used = _read_reviews(lowered)
    used |= {*TITLES, *DECISIONS, "abstract", "keywords", "tldr", "primary_area", "author", "authors", *IDS}
    return StatedPaper(
        title=as_text(title),
        abstract=as_text(lowered.get("abstract")),
        authors=_split(lowered.get("authors", lowered.get("author"))),
        keywords=_split(lowered.get("keywords")),
        tldr=as_text(lowered.get("tldr")),
        primary_area=as_text(lowered.get("primary_area")),
        decision=as_text(decision),
        status=_read_status(lowered, decision),
        reviews=reviews,
        extra={
            name: value for name, value in lowered.items() if name not in used and not ABOUT_PERSONS.fullmatch(name)
        },
    )


def _read_status(row: Row, decision: object) -> Status | None:
    if isinstance(decision, bool):
        return Status.ACCEPTED if decision else Status.REJECTED
    is_withdrawn = str(row.get("withdraw", row.get("withdrawn", ""))).casefold() in {"1", "1.0", "true"}
    return Status.WITHDRAWN if is_withdrawn and decision is None else None


def _read_reviews(row: Row) -> tuple[tuple[StatedReview, ...], set[str]]:
    """Return a review for each reviewer, and the columns used."""
    numbered = sorted((name for name in row if name.isdigit()), key=int)
    # "ratings" beside "rating": the second is their mean.
    given = [name for name in row if name in BY_REVIEWER and name not in _singulars(row)]
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
    reviews = [
        _read_review({name: values[place] for name, values in fitting.items() if is_stated(values[place])}, reviewer)
        for place, reviewer in enumerate(map(as_text, reviewers))
    ]
    return tuple(reviews), used


def _read_review(answers: Mapping[str, Any], reviewer: str | None) -> StatedReview:
    unrated = frozenset(name for name, answer in answers.items() if NO_RATING.fullmatch(str(answer).strip()))
    return StatedReview(answers, reviewer=reviewer, unrated=unrated)


def _count_reviewers(columns: Mapping[str, list[Any]], ids: Sequence[Any]) -> int:
    """Return the number of reviewers of a row: that of ratings, otherwise the number of values that columns agree on.

    A single value may be a mean.
    """
    for name in ("rating", "recommendation"):
        if name in columns:
            return len(columns[name])
    numbers = {len(values) for values in (*columns.values(), ids) if values}
    return max(numbers) if len(numbers) == 1 and max(numbers) > 1 else 0


def _singulars(row: Row) -> set[str]:
    """Return the names whose plural the row also has."""
    return {SINGULAR[name] for name in row if name in SINGULAR}


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
    return parts if len(parts) > 1 and all(_is_short(part) for part in parts) else [text]


def _is_short(part: str) -> bool:
    return " " not in part and len(part) <= 24


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
