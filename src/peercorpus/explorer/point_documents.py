"""Define the fields of the index of points, and make the document of one point, with only what may be shown."""

from dataclasses import dataclass

import msgspec
import tantivy

from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.querying.searched_fields import STEMS, VOCABULARY, WRITTEN, SearchedFields
from peercorpus.records.points import Point, PointAspect, PointKind, Reaction
from peercorpus.wording.untrusted_text import redact_people

TEXT = "text"
"""The field that is searched if a query names none."""
POINT_ID = "point_id"
"""The field with the id of a point."""
WORDS = ("venue_id", "year", "kind", "aspect", "answered")
CLASS = "class"
"""The field with kind, aspect and answered joined, so that the points of a search are counted by all three at once."""
FIELDS_SEARCHED = SearchedFields({TEXT: 1.0}, further=WORDS)
SEPARATOR = "|"
"""Between the parts of a class."""
NO_ASPECT = "none"
"""Value for an unknown aspect of a point."""


@dataclass(frozen=True, slots=True)
class PointRow:
    """One point in a list of points of many papers; its text is a separate field.

    Attributes:
        title: The paper's title, with e-mail addresses and profile ids masked; None if it has none.
        review_id: The review, which with `number` determines its place on the paper's page.
        answers: Number of passages of the authors that answer it.
    """

    point_id: str
    forum_id: str
    venue_id: str
    title: str | None
    review_id: str
    number: int
    reviewer: str
    kind: PointKind
    label: str | None
    aspect: PointAspect | None
    answers: int
    reaction: Reaction | None


def make_point_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_bytes_field("row", stored=True)
    builder.add_text_field(POINT_ID, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(VOCABULARY, tokenizer_name=WRITTEN, index_option="basic")
    builder.add_text_field(TEXT, stored=True, tokenizer_name=STEMS)
    for name in WORDS:
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(CLASS, fast=True, tokenizer_name="raw", index_option="basic")
    builder.add_boolean_field("is_critical", indexed=True)
    builder.add_float_field("created", fast=True)
    return builder.build()


def make_point_document(point: Point, paper: PaperRow, created: float | None) -> tuple[tantivy.Document, int]:
    """Return the document of a point, and the number of characters that are searched in it.

    `created` is when the paper was submitted, in seconds since 1970; None if unknown.
    """
    text = redact_people(point.text.strip())
    document = tantivy.Document()
    document.add_text(TEXT, text)
    document.add_text(POINT_ID, point.point_id)
    document.add_text(VOCABULARY, text)
    document.add_bytes("row", msgspec.msgpack.encode(_make_row(point, paper)))
    classified = (point.kind.value, str(point.aspect or NO_ASPECT), "yes" if point.answers else "no")
    document.add_text(CLASS, SEPARATOR.join(classified))
    values = (point.venue_id.lower(), str(paper.year or ""), *classified)
    for name, value in zip(WORDS, values, strict=True):
        if value:
            document.add_text(name, value)
    document.add_boolean("is_critical", point.is_critical)
    if created is not None:
        document.add_float("created", created)
    return document, len(text)


def _make_row(point: Point, paper: PaperRow) -> PointRow:
    return PointRow(
        point_id=point.point_id,
        forum_id=point.forum_id,
        venue_id=point.venue_id,
        title=paper.title,
        review_id=point.review_id,
        number=point.number,
        reviewer=point.reviewer,
        kind=point.kind,
        label=point.label,
        aspect=point.aspect,
        answers=len(point.answers),
        reaction=point.reaction.reaction if point.reaction else None,
    )


def read_point_row(document: tantivy.Document) -> PointRow:
    """Decode the data on a point that the index stores beside its text."""
    return msgspec.msgpack.decode(bytes(document.get_first("row") or b""), type=PointRow)
