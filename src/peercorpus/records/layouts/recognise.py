"""Recognise layouts in files and folders, and yield their record of each paper."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from peercorpus.records.layouts import nlpeer, paper_lists, peerread, review_tables, text_folders
from peercorpus.records.layouts.flat_notes import has_flat_notes
from peercorpus.records.layouts.stated import (
    DamagedRow,
    LayoutBody,
    Row,
    StatedPaper,
    are_forum_ids,
    is_stated,
    make_paper_id,
)
from peercorpus.records.layouts.tables import (
    UNREADABLE,
    is_table,
    list_columns,
    read_columns,
    read_rows,
    take_first,
)
from peercorpus.records.published_datasets import Dataset
from peercorpus.records.untrusted_text import show_path

NAMES = (
    "OpenReview's notes as JSON, JSON Lines, or a table with columns such as content.title",
    "ReviewBench",
    "Re²",
    "PeerRead (reviews/*.json)",
    "NLPeer (<paper>/v1/reviews.json)",
    "a list of papers with an id, a title, and ratings or a decision",
    "a table of reviews with forum_id or paper_id",
    "a folder of texts with a table of decisions",
)
"""The supported layouts, as listed in errors."""

READERS: dict[Dataset, Callable[[Row], StatedPaper]] = {
    Dataset.PEERREAD: peerread.read_peerread,
    Dataset.NLPEER: nlpeer.read_nlpeer,
    Dataset.TEXT_FOLDER: text_folders.read_text_row,
    Dataset.REVIEW_TABLE: review_tables.read_review_rows,
    Dataset.PAPER_LIST: paper_lists.read_paper_row,
}
"""Reader of each layout, those with reviews and texts before those with only ratings."""

CONFERENCE_YEAR = re.compile(r"(?:PeerRead-)?([A-Za-z]+)[_ -]?((?:19|20)\d\d)(?!\d|-\d)")
"""Matches a conference and its year at the beginning of a name: `iclr_2017`, `iclr2023_20221105`, `ICLR2020`."""

OF_A_MODEL = re.compile(
    r"(?:^|[^a-z])(?:llms?|gpt|claude|gemini|llama|generated|predictions?)(?:[^a-z]|$)", re.IGNORECASE
)
"""Matches names of files and folders with reviews by a model, such as AI-Scientist's `llm_reviews/gpt-4o….csv`."""

MAIN_TRACKS = frozenset({"", "main", "conference"})
NOT_JSON = "a file that cannot be read as JSON"
PEERREAD_FOLDERS = frozenset({"reviews", "parsed_pdfs", "pdfs"})
SHORT_YEAR = re.compile(r"(?<=[A-Za-z])(?=\d\d$)")
"""Matches the position of the missing century in a name of NLPeer: `EMNLP23`."""


class LayoutRecord(NamedTuple):
    """A layout's record of one paper.

    Attributes:
        place: Its location.
        body: Its content; None if it cannot be read.
        problem: Why it cannot be read; None if it can.
        files: Number of files that it consists of.
    """

    place: str
    body: LayoutBody | None
    problem: str | None = None
    files: int = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """Files in a layout.

    Attributes:
        root: The file, or the folder of all its files.
        files: The files that belong to it, whether they are read or not.
        table: The table of decisions that accompanies texts.
    """

    dataset: Dataset
    root: Path
    files: tuple[Path, ...]
    table: Path | None = None

    @property
    def is_of_folders(self) -> bool:
        """Whether each paper has its own files, some of which are not read."""
        return self.dataset in {Dataset.PEERREAD, Dataset.NLPEER}

    def records(self) -> Iterator[LayoutRecord]:
        """Yield the record of each paper.

        Raises:
            ValueError: A table is damaged.
            OSError: A file cannot be read.
        """
        yield from FINDERS[self.dataset](self)


def read_stated(dataset: Dataset, body: bytes) -> StatedPaper:
    """Return the paper that a record states.

    Raises:
        msgspec.DecodeError: The record does not have the structure of its layout.
    """
    parts = msgspec.json.decode(body, type=LayoutBody).parts
    try:
        return READERS[dataset](parts)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise msgspec.ValidationError(f"It does not have the structure of {dataset.value} ({error!r})") from None


def find_table(path: Path, rows: Sequence[Row]) -> Layout | None:
    """Return the layout of one file, judging by its first rows; None if it has none, or contains notes."""
    columns = list_columns(rows)
    if not columns or "content" in columns or has_flat_notes(columns) or OF_A_MODEL.search(path.name):
        return None
    if review_tables.has_reviews(rows):
        return Layout(Dataset.REVIEW_TABLE, path, (path,))
    return Layout(Dataset.PAPER_LIST, path, (path,)) if paper_lists.has_ratings(columns) else None


def find_folders(files: Sequence[Path]) -> list[Layout]:
    """Return the layouts of folders among these files; a file belongs to at most one."""
    peerread_roots, nlpeer_roots = defaultdict[Path, list[Path]](list), defaultdict[Path, list[Path]](list)
    for path in files:
        if path.suffix == ".json" and path.parent.name == "reviews":
            peerread_roots[path.parent.parent].append(path)
        elif path.name == "reviews.json" and re.fullmatch(r"v?\d+", path.parent.name):
            nlpeer_roots[path.parent.parent.parent].append(path)
    found = []
    for root, reviews in peerread_roots.items():
        if any(peerread.is_peerread(_read_object(path)) for path in reviews[:3]):
            own = [path for path in files if path.parent.parent == root and path.parent.name in PEERREAD_FOLDERS]
            found.append(Layout(Dataset.PEERREAD, root, tuple(own)))
    for root, reviews in nlpeer_roots.items():
        if any(nlpeer.is_nlpeer_review(_read_json(path)) for path in reviews[:3]):
            papers = {path.parent.parent for path in reviews}
            own = [path for path in files if not papers.isdisjoint(path.parents)]
            found.append(Layout(Dataset.NLPEER, root, tuple(own)))
    return [*found, *_find_text_folders(files)]


def _find_text_folders(files: Sequence[Path]) -> Iterator[Layout]:
    texts = text_folders.find_texts(files)
    taken: set[Path] = set()
    for path in files if len(texts) >= text_folders.MIN_TEXTS else ():
        if (
            not is_table(path)
            or OF_A_MODEL.search(path.as_posix())
            or not text_folders.has_outcomes(read_columns(path))
        ):
            continue
        own = [texts[one] for one in sorted(_read_ids(path) & texts.keys()) if texts[one] not in taken]
        if len(own) >= text_folders.MIN_TEXTS:
            taken.update(own)
            yield Layout(Dataset.TEXT_FOLDER, path.parent, (path, *own), path)


def _read_ids(table: Path) -> set[str]:
    """Return the ids in the rows of a table; none if it is damaged."""
    try:
        return {str(one) for row in read_rows(table) if (one := paper_lists.find_id(row)) is not None}
    except UNREADABLE:
        return set()


def name_venue(name: str) -> str:
    """Return conference and year from the name of a file or folder, otherwise the name.

    >>> name_venue("iclr2023_20221105"), name_venue("arxiv.cs.ai_2007-2017"), name_venue("my_reviews")
    ('iclr 2023', 'arxiv.cs.ai_2007-2017', 'my_reviews')
    """
    match = CONFERENCE_YEAR.match(name)
    return f"{match[1]} {match[2]}" if match else name


def _stem(path: Path) -> str:
    return show_path(path.name).partition(".")[0]


def _name_row(row: Row, path: Path) -> str:
    """Return where the paper of a row was submitted, from the row or otherwise the file's name."""
    inner = row.get("metadata")
    members = {**row, **(inner if isinstance(inner, dict) else {})}
    lowered = {name.casefold(): value for name, value in members.items() if isinstance(name, str)}
    conference, year = lowered.get("conference"), lowered.get("year")
    named = name_venue(str(conference)) if is_stated(conference) else name_venue(_stem(path))
    if is_stated(conference) and is_stated(year) and str(year) not in named:
        named = f"{named} {year}"
    track = str(lowered.get("track") or "")
    return named if track.casefold() in MAIN_TRACKS else f"{named} {track}"


def _read_json(path: Path) -> object:
    """Return the value of a JSON file; None if it cannot be read."""
    try:
        return json.loads(path.read_bytes())
    except (ValueError, OSError, RecursionError):
        return None


def _read_object(path: Path) -> dict[str, Any]:
    found = _read_json(path)
    return found if isinstance(found, dict) else {}


def _read_parts(place: str, paths: dict[str, Path]) -> tuple[dict[str, Any], LayoutRecord | None]:
    """Return the values of JSON files by name, and a record of the problem if one of them cannot be read."""
    parts = {name: _read_json(path) for name, path in paths.items()}
    is_bad = any(part is None for part in parts.values())
    return parts, LayoutRecord(place, None, NOT_JSON, len(paths)) if is_bad else None


def _find_peerread(layout: Layout) -> Iterator[LayoutRecord]:
    root = layout.root.resolve()
    folder = show_path(root.name if CONFERENCE_YEAR.match(root.name) else root.parent.name)
    parsed = {path.name.removesuffix(".pdf.json"): path for path in layout.files if path.parent.name == "parsed_pdfs"}
    for path in sorted(path for path in layout.files if path.parent.name == "reviews" and path.suffix == ".json"):
        place = show_path(path.relative_to(layout.root))
        paths = {peerread.REVIEW: path} | ({peerread.PARSED: parsed[path.stem]} if path.stem in parsed else {})
        parts, bad = _read_parts(place, paths)
        body = LayoutBody(make_paper_id(path.stem, folder), parts, name_venue(folder))
        yield bad or LayoutRecord(place, body, files=len(paths))


def _find_nlpeer(layout: Layout) -> Iterator[LayoutRecord]:
    root = layout.root.resolve()
    folder = show_path(root.parent.name if root.name == "data" else root.name)
    by_paper: dict[str, list[Path]] = defaultdict(list)
    held = {*layout.files}
    for path in layout.files:
        inner = path.relative_to(layout.root).parts
        if len(inner) == 3 and inner[2] == "reviews.json":
            by_paper[inner[0]].append(path)
    is_forum = are_forum_ids(by_paper)
    for paper, versions in sorted(by_paper.items()):
        ordered = sorted(versions, key=lambda path: int(path.parent.name.removeprefix("v")))
        reviewed = next((path for path in ordered if _read_json(path)), ordered[0])
        paths = {
            nlpeer.REVIEWS: reviewed,
            nlpeer.META: reviewed.parent.parent / "meta.json",
            nlpeer.VERSION_META: reviewed.parent / "meta.json",
            nlpeer.DOCUMENT: reviewed.parent / "paper.itg.json",
        }
        paths = {name: path for name, path in paths.items() if path in held}
        place = show_path(reviewed.relative_to(layout.root))
        parts, bad = _read_parts(place, paths)
        venue = name_venue(SHORT_YEAR.sub(" 20", folder))
        body = LayoutBody(
            make_paper_id(paper, folder, is_forum=is_forum), parts | {"version": reviewed.parent.name}, venue
        )
        yield bad or LayoutRecord(place, body, files=len(paths))


def _peek(table: Path, find_id: Callable[[Row], object | None]) -> tuple[Iterator[Row], bool]:
    """Return the rows of a table, and whether its ids are OpenReview's, judging by the first rows or a column name."""
    rows = read_rows(table)
    first = take_first(rows)
    is_said = paper_lists.find_column(list_columns(first), paper_lists.FORUM_COLUMNS) is not None
    return chain(first, rows), is_said or are_forum_ids(map(find_id, first))


def _find_rows(layout: Layout) -> Iterator[LayoutRecord]:
    rows, is_forum = _peek(layout.root, paper_lists.find_id)
    for number, row in enumerate(rows, 1):
        if isinstance(row, DamagedRow):
            yield LayoutRecord(row.name, None, row.reason)
            continue
        stated = paper_lists.find_id(row)
        paper_id = "" if stated is None else make_paper_id(stated, _stem(layout.root), is_forum=is_forum)
        body = LayoutBody(paper_id, {paper_lists.ROW: row}, _name_row(row, layout.root))
        yield LayoutRecord(f"row {number}", body)


def _find_reviews(layout: Layout) -> Iterator[LayoutRecord]:
    """Yield each paper once the last of its rows was read, so that the rows of only a few papers are in memory."""
    all_rows, is_forum = _peek(layout.root, review_tables.find_paper)

    def name_paper(row: Row) -> str:
        stated = review_tables.find_paper(row)
        return "" if stated is None else make_paper_id(stated, _stem(layout.root), is_forum=is_forum)

    last = {name_paper(row): number for number, row in enumerate(read_rows(layout.root), 1)}
    rows: dict[str, list[tuple[int, Row]]] = defaultdict(list)
    for number, row in enumerate(all_rows, 1):
        if isinstance(row, DamagedRow):
            yield LayoutRecord(row.name, None, row.reason)
            continue
        paper_id = name_paper(row)
        rows[paper_id].append((number, row))
        if paper_id and number < last[paper_id]:
            continue
        (first, head), *_ = own = rows.pop(paper_id)
        body = LayoutBody(paper_id, {review_tables.ROWS: [one for _, one in own]}, _name_row(head, layout.root))
        yield LayoutRecord(f"row {first}", body)


def _find_texts(layout: Layout) -> Iterator[LayoutRecord]:
    table = layout.table or layout.root
    texts = {path.stem: path for path in layout.files if path != table}
    rows, is_forum = _peek(table, paper_lists.find_id)
    for number, row in enumerate(rows, 1):
        if isinstance(row, DamagedRow):
            yield LayoutRecord(row.name, None, row.reason)
            continue
        stated = paper_lists.find_id(row)
        parts: dict[str, Any] = {text_folders.ROW: row}
        if str(stated) in texts:
            parts[text_folders.TEXT] = texts[str(stated)].read_text(encoding="utf-8", errors="replace")
        paper_id = "" if stated is None else make_paper_id(stated, table.parent.name, is_forum=is_forum)
        label = _name_row(row, Path(show_path(table.parent.absolute().name)))
        yield LayoutRecord(f"{show_path(table.name)}, row {number}", LayoutBody(paper_id, parts, label))


FINDERS: dict[Dataset, Callable[[Layout], Iterator[LayoutRecord]]] = {
    Dataset.PEERREAD: _find_peerread,
    Dataset.NLPEER: _find_nlpeer,
    Dataset.PAPER_LIST: _find_rows,
    Dataset.REVIEW_TABLE: _find_reviews,
    Dataset.TEXT_FOLDER: _find_texts,
}
