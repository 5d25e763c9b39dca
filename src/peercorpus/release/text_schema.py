"""Declare the columns of the configuration `texts`: the text of every published version, whole and block by block."""

import pyarrow as pa

from peercorpus.records.arrow_schema import arrow_type
from peercorpus.records.blocks import Mention, PageBox, TableCell, TextBlock
from peercorpus.records.documents import TextHeading
from peercorpus.release.schemas import COUNT, MOMENT, PLACE, TEXT, TIME, TRUTH, column, describe

HEADING = describe(
    arrow_type(TextHeading),
    level="1 for a section, 2 for a subsection, and so on",
    title="as in the text, with its number",
    page="from 1",
)
BOX = describe(
    arrow_type(PageBox),
    page="from 1",
    x0="left edge, in points from the left edge of the page as it is shown upright",
    y0="lower edge, in points from its lower edge",
    x1="right edge",
    y1="upper edge",
)
CELL = describe(
    arrow_type(TableCell),
    row="of its first row, from 0",
    column="of its first column, from 0",
    row_span="rows that it takes",
    column_span="columns that it takes",
    is_head="whether it is in the heads of the columns",
    text="without the escapes of Markdown; empty cells are left out",
)
_BLOCK_TYPES = {"boxes": pa.list_(BOX), "cells": pa.list_(CELL)}
BLOCK = describe(
    pa.struct([field.with_type(_BLOCK_TYPES.get(field.name, field.type)) for field in arrow_type(TextBlock)]),
    block_id="number within the text, from 0",
    kind="`title`, `heading`, `paragraph`, `list_item`, `formula`, `table`, `caption`, `listing`, …",
    start="offset of its first character in `markdown`",
    end="offset behind its last character; equal to `start` for what is not in `markdown`",
    boxes="its places: one for each page and column; empty if not known",
    level="of a heading: 1 for a section, 2 for a subsection, and so on",
    number="of a heading, formula, caption or bibliography entry, as printed, without brackets",
    caption_of="`figure`, `table`, `algorithm` or `listing`; null for all but captions",
    describes="`block_id` of the table or listing that a caption describes; null if not known",
    latex="of a formula in commands alone, without dollar signs and number",
    sureness="how sure it is that a formula equals its source, from 0 to 1",
    cells="of a table, row by row",
    text="of what is not in `markdown`, such as a running header; null in a release without authors",
)
MENTION = describe(
    arrow_type(Mention),
    kind="`citation`, `equation`, `figure`, `table`, `algorithm`, `listing` or `section`",
    block_id="the block in which it stands",
    start="offset of its first character in `markdown`",
    end="offset behind its last character",
    number="what it names: the number as printed, or authors and year",
    target="`block_id` of what it refers to; null if that is not there, not clear, or in another work",
)
TEXTS = pa.schema(
    [
        *PLACE,
        column("edit_id", TEXT, "as in `versions`"),
        column("sha256", TEXT, "of the file; of a published text, of its bytes"),
        column("created_at", TIME, "when the version was uploaded"),
        column(
            "is_initial", TRUTH, "whether it is what the reviewers read, as far as `grade` says; proven for some grades"
        ),
        column("grade", TEXT, "how that is known; null for all other versions"),
        column("moment", TEXT, MOMENT),
        column("licence", TEXT, "of the submission, verbatim, as in `papers`"),
        column("text_engine", TEXT, "the engine that read it, and its version"),
        column("pages", COUNT, "null if a published record does not state it"),
        column("markdown", TEXT, "pages are joined by a line of three dashes"),
        column("markdown_chars", pa.int64(), "characters of `markdown`"),
        column("headings", pa.list_(HEADING), "in the order of the text; empty if the engine reports none"),
        column("latex", TEXT, "`markdown` as a LaTeX document; null unless published with --latex"),
        column(
            "blocks",
            pa.list_(BLOCK),
            "`markdown` block by block; null unless published with --blocks, and if the engine knows no blocks",
        ),
        column("mentions", pa.list_(MENTION), "what `markdown` refers to, in its order; null where `blocks` is"),
    ]
)
