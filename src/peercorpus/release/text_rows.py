"""Pick the published texts of a paper; make the rows of `texts`, and of `changes` between them.

`corpus.text_choice` decides which texts are published. Only texts with an accepted grade are part of a task.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from peercorpus.corpus.figures import VenueFigures, find_caption_block
from peercorpus.corpus.forums import Forum
from peercorpus.corpus.structured_text import StructuredText, fold_letters
from peercorpus.corpus.text_choice import TextRule, choose_shown, is_publishable
from peercorpus.corpus.texts import VenueTexts
from peercorpus.latex.document import write_latex
from peercorpus.records.blocks import TextBlock
from peercorpus.records.documents import PAGE_BREAK, Change, Figure
from peercorpus.records.enums import Grade
from peercorpus.records.papers import PaperVersion
from peercorpus.release.record_rows import Row, as_row
from peercorpus.wording.untrusted_text import redact_people


def mask_blocks(text: StructuredText, masked: str) -> StructuredText | None:
    """Return a text with e-mail addresses and profile ids masked, its blocks at their new offsets.

    Args:
        text: The text as read from the file.
        masked: Its Markdown with names of people masked.

    Returns:
        None if an address spans two blocks, so that their offsets are not known.
    """
    if text.markdown == masked:
        return text
    blocks: list[TextBlock] = []
    written = ""
    at = 0
    for block in text.blocks:
        written += text.markdown[at : block.start]
        start = len(written)
        written += redact_people(text.read(block))
        blocks.append(replace(block, start=start, end=len(written)))
        at = block.end
    return StructuredText(masked, tuple(blocks)) if written + text.markdown[at:] == masked else None


def block_columns(text: StructuredText | None, *, with_authors: bool) -> Row:
    """Return the columns of a text; null if it has no blocks.

    Args:
        text: The published text.
        with_authors: Whether people may be named; otherwise the text of running headers, which may name authors, is not
            published.
    """
    if text is None:
        return {"blocks": None, "mentions": None}
    blocks = [block if with_authors else replace(block, text=None) for block in text.blocks]
    row: Row = redact_people({"blocks": list(map(as_row, blocks)), "mentions": list(map(as_row, text.mentions))})
    return row


OF_UNKNOWN_AUTHORS, NAMING_AUTHORS = "of authors who are not known", "that name an author"
"""Why a release without names has no text or change: whether it names an author cannot be checked, or it does."""


@dataclass(frozen=True, slots=True)
class PickedTexts:
    """The versions of one paper with published texts.

    Attributes:
        best: The version whose text represents the paper; None if there is none.
        shown: The versions in `texts`, in their order; `best` is one of them.
        refused: The reason why each other text is left out, by the sha256 of its file.
    """

    best: PaperVersion | None
    shown: list[PaperVersion]
    refused: dict[str, str]


def pick_texts(forum: Forum, texts: VenueTexts, rule: TextRule, *, with_authors: bool) -> PickedTexts:
    """Pick the published texts of a forum.

    Args:
        forum: A forum with the names of its authors, but without its taken-down parts.
        texts: The texts of its venue.
        rule: The rule for publishing texts.
        with_authors: Whether authors are named. Otherwise a text that is not proven initial is left out if it names one
            on its first page, or if no author's full name is known, so that this cannot be checked.
    """
    refused: dict[str, str] = {}

    def is_open(version: PaperVersion) -> bool:
        if with_authors or is_publishable(version):
            return True
        sha256 = str(version.sha256)
        if sha256 not in refused:
            why = _explain_refusal(texts.read(sha256).partition(PAGE_BREAK)[0], forum.paper.authors)
            if why is None:
                return True
            refused[sha256] = why
        return False

    held = [version for version in forum.versions if version.sha256 in texts]
    beside = [version for version in rule.choose_beside(held) if is_open(version)]
    best = rule.choose_best([version for version in held if is_open(version)], texts)
    shown = [version for version in held if version is best or version in beside]
    return PickedTexts(best, shown, refused)


def count_text_rows(forum: Forum, texts: VenueTexts, changes: Iterable[Change], rule: TextRule) -> Counter[str]:
    """Count a forum's publishable texts and the changes between them, including those naming authors."""
    shown = _find_compared(forum, texts)
    between = sum({change.left_sha256, change.right_sha256} <= shown.keys() for change in changes)
    return Counter(texts=len(pick_texts(forum, texts, rule, with_authors=True).shown), changes=between)


def _find_compared(forum: Forum, texts: VenueTexts) -> dict[str, PaperVersion]:
    """Return the versions with published changes between them, by file."""
    return {str(one.sha256): one for one in choose_shown(forum.versions) if one.sha256 in texts}


def names_author(text: str, authors: Sequence[str]) -> bool:
    """Return whether a text names one of these people by first and last name; a single word is too ambiguous.

    >>> names_author("By Ada  Example", ["Ada Example"]), names_author("Ada is a language.", ["Ada"])
    (True, False)
    >>> names_author("ADA M. EXAMPLE¹", ["Ada Example"]), names_author("Example, Áda", ["Ada Marie Example"])
    (True, True)
    """
    words = fold_letters(text)
    return any(
        re.search(_pattern(fold_letters(author).split()), words) for author in authors if len(author.split()) > 1
    )


def _pattern(name: Sequence[str]) -> str:
    """Return a pattern for a name in either order, with at most two other words in between."""
    first, last = re.escape(name[0]), re.escape(name[-1])
    return rf"(?<!\w){first}(?:\W+\w+){{0,2}}?\W+{last}(?![^\W\d_])|(?<!\w){last}\W+{first}(?![^\W\d_])"


_OF_VERSION = ("edit_id", "sha256", "created_at", "is_initial", "grade", "moment")


def _text_row(
    version: PaperVersion, texts: VenueTexts, paper_columns: Row, rule: TextRule, *, with_authors: bool
) -> Row:
    sha256 = str(version.sha256)
    outline = texts.outline(sha256)
    row: Row = redact_people(
        {name: getattr(version, name) for name in _OF_VERSION}
        | {
            "text_engine": texts.engine(sha256),
            "pages": outline.pages,
            "markdown": texts.read(sha256),
            "headings": [as_row(heading) for heading in outline.headings],
        }
        | paper_columns
    )
    # Without the escapes that LaTeX does not need, an address may appear that they hid.
    latex = redact_people(write_latex(row["markdown"]).latex) if rule.with_latex else None
    masked = None
    if rule.with_blocks and outline.blocks is not None:
        masked = mask_blocks(StructuredText(texts.read(sha256), outline.blocks), row["markdown"])
    more = {"markdown_chars": len(row["markdown"]), "latex": latex}
    return row | more | block_columns(masked, with_authors=with_authors)


def _explain_refusal(text: str, authors: Sequence[str]) -> str | None:
    """Return why a text is not published in a release without names, or None if it names no author."""
    if not any(len(author.split()) > 1 for author in authors):
        return OF_UNKNOWN_AUTHORS
    return NAMING_AUTHORS if names_author(text, authors) else None


def build_text_rows(
    forum: Forum,
    texts: VenueTexts,
    picked: PickedTexts,
    changes: Iterable[Change],
    paper_columns: Row,
    rule: TextRule,
    *,
    with_authors: bool,
) -> tuple[list[Row], list[Row], Counter[str]]:
    """Return the rows of `texts` and `changes` of one forum, and the number of those left out, by kind.

    Args:
        forum: A forum without its taken-down parts.
        texts: The texts of its venue, including later ones.
        picked: The published texts of the forum.
        changes: The changes between its versions.
        paper_columns: The paper's columns, part of each row.
        rule: Whether each text is included as LaTeX and block by block, too.
        with_authors: Whether authors are named. Otherwise changes naming one are left out, and all changes if no
            author's full name is known.
    """
    authors = forum.paper.authors
    left_out = Counter(f"texts {why}" for why in picked.refused.values())
    with_licence = paper_columns | {"licence": forum.paper.licence}
    compared = _find_compared(forum, texts)
    change_rows = []
    for change in changes:
        earlier, later = compared.get(change.left_sha256), compared.get(change.right_sha256)
        if earlier is None or later is None:
            left_out["changes of a text that is not here"] += 1
            continue
        words = "\n".join((change.before, change.after, change.section or "", change.later_section or ""))
        why = None if with_authors else _explain_refusal(words, authors)
        if why is not None:
            left_out[f"changes {why}"] += 1
        else:
            moments = {"left_grade": earlier.grade, "right_moment": later.moment}
            change_rows.append(redact_people(as_row(change) | moments | paper_columns))
    rows = [_text_row(version, texts, with_licence, rule, with_authors=with_authors) for version in picked.shown]
    unplaced = sum(
        row["blocks"] is None and texts.outline(row["sha256"]).blocks is not None for row in rows if rule.with_blocks
    )
    left_out += Counter({"blocks of a text with an address over two of them": unplaced})
    return rows, change_rows, left_out


PAPER_COLUMNS = ("forum_id", "venue_id", "conference", "year", "licence", "grade")


@dataclass(slots=True)
class FigureCounts:
    """Counts of the figures of a release.

    Attributes:
        captions: Captions of figures and tables in the files of published texts.
        images: Images by the grade of their version.
        kinds: Images by the kind of their content.
        problems: Captions without an image, by reason.
    """

    captions: int = 0
    images: Counter[Grade | None] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)


def build_figure_rows(paper: Row, figures: VenueFigures, counts: FigureCounts) -> list[Row]:
    """Return the rows of one paper, and count them and captions without an image.

    Args:
        paper: Its row of `papers_full`; `text_sha256` names the file with the figures.
        figures: The figures of its venue.
        counts: Counts of the release, to be increased.
    """
    if paper["text_sha256"] is None:
        return []
    rows: list[Row] = []
    for figure in figures.read(paper["text_sha256"]):
        counts.captions += 1
        if figure.image is None:
            counts.problems[str(figure.problem)] += 1
            continue
        counts.images[paper["grade"]] += 1
        counts.kinds[figure.kind] += 1
        rows.append(_figure_row(figure, paper))
    return rows


def _figure_row(figure: Figure, paper: Row) -> Row:
    row: Row = redact_people({name: getattr(figure, name) for name in ("label", "caption")})
    # The name is made only from the digest: untrusted text must not choose a path.
    image = {"bytes": figure.image, "path": f"{figure.sha256}-{figure.number:03d}.{figure.image_format}"}
    return row | {
        **{name: paper[name] for name in PAPER_COLUMNS},
        **{name: getattr(figure, name) for name in ("sha256", "number", "kind", "page", "width_px", "height_px")},
        "box": [figure.x0, figure.y0, figure.x1, figure.y1],
        "block": find_caption_block(paper["markdown"], figure),
        "image": image,
        "format": figure.image_format,
    }
