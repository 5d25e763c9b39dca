"""Read ReviewBench's rows, and record the shape of their values, so that an export can reproduce a row exactly.

Papers and reviews contain the meaning of a row. Its shape has the rest: which members it has, in which order, and
every value that the records do not contain in the same form (an absent text that is `""` or None, a rating that is a
number or a label). A text in a record is named in the shape, not repeated, so that what is taken down or masked later
disappears from both.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.importers.reader import Answers, DamagedRow, Id, Record, encode_row
from peercorpus.importers.tables import read_parquet_rows
from peercorpus.records.datasets import Dataset
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Review
from peercorpus.wording.untrusted_text import redact_people


class ReviewBenchRow(msgspec.Struct, frozen=True):
    """A row of ReviewBench; texts that the paper lacks are None or empty."""

    forum_id: Id
    conference: str | None = None
    year: int | None = None
    track: str | None = None
    venue_id: str | None = None
    paper_number: int | None = None
    title: str | None = None
    abstract: str | None = None
    authors: list[str | None] | None = None
    keywords: list[str | None] | None = None
    tldr: str | None = None
    primary_area: str | None = None
    venue: str | None = None
    decision: str | None = None
    decision_comment: str | None = None
    author_rebuttal: str | None = None
    num_reviews: int | None = None
    reviews_json: str | None = None
    markdown: str | None = None
    markdown_chars: int | None = None

    @property
    def reviews(self) -> list[Answers]:
        """Decode the reviews, one flat object each.

        Raises:
            msgspec.DecodeError: `reviews_json` is not a list of objects.
        """
        return msgspec.json.decode(self.reviews_json, type=list[Answers]) if self.reviews_json else []


COLUMNS = ReviewBenchRow.__struct_fields__
"""Column names by which a Parquet file is recognised as ReviewBench."""
KINDS = dict.fromkeys(("year", "paper_number", "num_reviews", "markdown_chars"), "whole numbers") | dict.fromkeys(
    ("authors", "keywords"), "lists of texts"
)
"""Types of ReviewBench's columns that do not contain texts."""
SHAPE = "reviewbench_json"
"""Key of a shape, as JSON, in the `extra` of papers and reviews."""
EXTRA_SCORES, EXTRA_TEXT, EXTRA_OTHER = "extra_scores", "extra_text", "extra_other"
EXTRA_FIELDS = (EXTRA_SCORES, EXTRA_TEXT, EXTRA_OTHER)
"""Members in which ReviewBench, and releases of peercorpus, store answers that have no separate member."""
_HELD = "$"
"""Only member of an object that refers to a text stored elsewhere; an original object with this member is wrapped."""


def find_column_fault(path: Path) -> str | None:
    """Return the problem with the first of ReviewBench's columns that a Parquet file lacks or has with another type.

    None if there is no problem; further columns do not matter.

    Raises:
        pa.ArrowException: The file is not Parquet, or is truncated.
        OSError: It cannot be read.
    """
    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
    for name in COLUMNS:
        fields = [field for field in schema if field.name == name]
        if len(fields) != 1:
            return f"the column '{name}' is {'present twice' if fields else 'missing'}"
        wanted = KINDS.get(name, "texts")
        if not _is_of_kind(fields[0].type, wanted):
            return f"the column '{name}' has the type {fields[0].type}, not {wanted}"
    return None


def _is_of_kind(kind: pa.DataType, wanted: str) -> bool:
    if pa.types.is_null(kind):
        return True
    if wanted == "whole numbers":
        # Pandas writes whole numbers with gaps as floats.
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    if wanted == "lists of texts":
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        return bool(is_list and _is_of_kind(kind.value_type, "texts"))
    if pa.types.is_dictionary(kind):
        return _is_of_kind(kind.value_type, wanted)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def read_reviewbench(path: Path) -> Iterator[Record]:
    """Yield the rows of a Parquet file in order."""
    for number, row in enumerate(read_parquet_rows(path), 1):
        problem = row.reason if isinstance(row, DamagedRow) else None
        yield Record(Dataset.REVIEWBENCH, f"row {number}", encode_row(row), problem)


def put_away(value: Any, held: Mapping[str, str], name: str = "") -> Any:  # noqa: ANN401 -- any JSON value
    """Return a JSON value in which every text that is stored under the name of its member is replaced by that name.

    >>> put_away({"summary": "It flies.", "title": ""}, {"summary": "It flies."})
    {'summary': {'$': 'summary'}, 'title': ''}
    """
    if isinstance(value, dict):
        inner = {key: put_away(member, held, key) for key, member in value.items()}
        return {_HELD: inner} if _HELD in inner else inner
    if isinstance(value, list):
        return [put_away(item, held) for item in value]
    return {_HELD: name} if value and isinstance(value, str) and held.get(name) == value else value


def take_out(value: Any, held: Mapping[str, str]) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value from which `put_away` made this one; a text that is no longer stored is empty.

    >>> take_out(put_away({"$": 1, "summary": "It flies."}, {"summary": "It flies."}), {})
    {'$': 1, 'summary': ''}
    """
    if isinstance(value, list):
        return [take_out(item, held) for item in value]
    if not isinstance(value, dict):
        return value
    stood = value.get(_HELD)
    if isinstance(stood, str):
        return held.get(stood, "")
    return {key: take_out(member, held) for key, member in (value if stood is None else stood).items()}


def write_shape(shape: Mapping[str, Any]) -> str:
    """Return a shape as JSON whose members keep their order, with e-mail addresses and profile ids masked."""
    return json.dumps(redact_people(shape), ensure_ascii=False, separators=(",", ":"))


def read_shape(extra: str) -> dict[str, Any] | None:
    """Return the shape in the `extra` of a paper or review; None if it is not from ReviewBench."""
    if SHAPE not in extra:
        return None
    text = json.loads(extra).get(SHAPE)
    return None if text is None else json.loads(text)


def drop_shape(extra: str) -> str:
    """Return `extra` without a shape, which adds nothing to other columns."""
    if SHAPE not in extra:
        return extra
    return json.dumps({name: value for name, value in json.loads(extra).items() if name != SHAPE}, ensure_ascii=False)


def texts_of_review(review: Review, rebuttal: str | None) -> dict[str, str]:
    """Return every text in a review, by ReviewBench's name for it; `rebuttal` is the response to the review."""
    extra = {name: value for name, value in json.loads(review.extra or "{}").items() if isinstance(value, str)}
    extra.pop(SHAPE, None)
    single = {
        "review_id": review.review_id,
        "reviewer": review.reviewer,
        "title": review.title,
        "final_justification": review.final_justification,
        "rebuttal": rebuttal,
    }
    return (
        extra
        | {f"{section.field}_initial": section.text for section in review.initial_sections}
        | {section.field: section.text for section in review.sections}
        | {name: text for name, text in single.items() if text}
    )


def columns_of_paper(paper: Paper) -> dict[str, Any]:
    """Return the ReviewBench columns contained in a paper's own record; unknown values are empty."""
    return {
        "forum_id": paper.forum_id,
        "conference": paper.conference,
        "year": paper.year,
        "track": paper.track,
        "venue_id": paper.venue_id,
        "paper_number": paper.number,
        "title": paper.title or "",
        "abstract": paper.abstract or "",
        "authors": list(paper.authors),
        "keywords": list(paper.keywords),
        "tldr": paper.tldr or "",
        "primary_area": paper.primary_area or "",
        "venue": paper.venue or "",
        "decision": paper.decision or "",
        "decision_comment": paper.decision_comment or "",
    }
