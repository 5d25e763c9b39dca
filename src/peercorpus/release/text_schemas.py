"""The columns of the configurations about files and texts: versions, texts, figures and changes."""

from datetime import datetime
from typing import Annotated

from peercorpus.records.blocks import Mention, TextBlock
from peercorpus.records.documents import TextHeading
from peercorpus.release.columns import Count, Image
from peercorpus.release.schemas import Moment, Place


class Versions(Place, name="versions", per="PDF of a submission", group_rows=5_000, key=("forum_id", "edit_id")):
    edit_id: Annotated[str, "the edit or reference that uploaded it; the forum's id if only the last one is known"]
    created_at: datetime
    modified_at: datetime
    path: Annotated[str, "OpenReview's own path of the file; equal paths are equal files"]
    sha256: Annotated[str, "of the file; null if it was not fetched"]
    is_initial: Annotated[bool, "whether it is what the reviewers read, as far as `grade` says"]
    grade: Annotated[str, "how that is known; null for all other versions"]
    moment: Annotated[str, "when in the paper's life it was uploaded; null if that is not known"]
    title: Annotated[str, "of the paper in that version, where the edit has it"]
    abstract: Annotated[str, "of the paper in that version, where the edit has it"]
    deadline: Annotated[datetime, "the cut-off used, with its grace"]
    deadline_source: Annotated[str, "where it was read"]
    rule: Annotated[str, "the rule applied, in words"]
    invitation: Annotated[str, "of the edit that uploaded it"]
    file_says: Annotated[
        str, "which version the file appears to be: `submitted`, `final`, `nothing`; null: not inspected"
    ]
    file_signs: Annotated[tuple[str, ...], "the signs of that in the file"]


class Texts(
    Place,
    name="texts",
    per="version of a submission whose text is published, including later ones",
    group_rows=100,
    key=("forum_id", "edit_id"),
):
    edit_id: Annotated[str, "as in `versions`"]
    sha256: Annotated[str, "of the file; of a published text, of its bytes"]
    created_at: Annotated[datetime, "when the version was uploaded"]
    is_initial: Annotated[bool, "whether it is what the reviewers read, as far as `grade` says; proven for some grades"]
    grade: Annotated[str, "how that is known; null for all other versions"]
    moment: Moment
    licence: Annotated[str, "of the submission, verbatim, as in `papers`"]
    text_engine: Annotated[str, "the engine that read it, and its version"]
    pages: Annotated[Count, "null if a published record does not state it"]
    markdown: Annotated[str, "pages are joined by a line of three dashes"]
    markdown_chars: Annotated[int, "characters of `markdown`"]
    headings: Annotated[tuple[TextHeading, ...], "in the order of the text; empty if the engine reports none"]
    latex: Annotated[str, "`markdown` as a LaTeX document; null unless published with --latex"]
    blocks: Annotated[
        tuple[TextBlock, ...],
        "`markdown` block by block; null unless published with --blocks, and if the engine knows no blocks",
    ]
    mentions: Annotated[tuple[Mention, ...], "what `markdown` refers to, in its order; null where `blocks` is"]


class Figures(
    Place,
    name="figures",
    per="image of a figure or a table of the text in `papers`, with its caption",
    group_rows=25,
    key=("forum_id", "number"),
):
    sha256: Annotated[str, "of the PDF, as `text_sha256` in `papers_full`"]
    grade: Annotated[str, "of the version that the PDF is, as in `papers_full`"]
    number: Annotated[Count, "of the caption within the PDF, from 1"]
    kind: Annotated[str, "`figure` or `table`, as the caption says"]
    label: Annotated[str, "of the caption, in full: `Figure 3`"]
    caption: Annotated[str, "as Markdown"]
    page: Annotated[Count, "from 1"]
    box: Annotated[
        tuple[float, ...],
        "left, lower, right and upper edge without the caption, in points from the lower left corner of the page",
    ]
    block: Annotated[
        Count,
        "which block of `markdown`, split at blank lines and counted from 0, is the caption; null: none begins with"
        " the label on that page",
    ]
    image: Annotated[Image, "what is in the box"]
    width_px: Count
    height_px: Count
    format: Annotated[str, "of the image: `webp`"]
    licence: Annotated[str, "of the submission, verbatim; null if its page on OpenReview states none"]


class Changes(
    Place,
    name="changes",
    per="passage that differs between what the reviewers read and the last version",
    group_rows=1_000,
    key=("forum_id", "number"),
):
    number: Annotated[Count, "number of the change within the paper, from 1, in the order of the earlier text"]
    changes: Annotated[Count, "number of changes of the paper"]
    kind: Annotated[str, "`added`, `removed`, `changed`, `moved` (the same words under another heading)"]
    section: Annotated[str, "the heading above it: in the later text if it was added, else in the earlier one"]
    later_section: Annotated[str, "the heading above it in the later text; null if it was removed"]
    before: Annotated[str, "the passage in the text that the reviewers read; empty if it was added"]
    after: Annotated[str, "the passage in the last text; empty if it was removed"]
    left_sha256: Annotated[str, "of the file that the reviewers read, as in `texts`"]
    left_grade: Annotated[str, "how it is known that they did"]
    right_sha256: Annotated[str, "of the last file, as in `versions`"]
    right_moment: Moment
