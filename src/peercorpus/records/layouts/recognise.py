"""Recognise the layouts in files and folders, and yield what they have of each paper."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from peercorpus.records.layouts import nlpeer, paper_lists, peerread, review_tables, text_folders
from peercorpus.records.layouts.flat_notes import has_flat_notes
from peercorpus.records.layouts.stated import LayoutBody, Row, StatedPaper, is_stated, make_paper_id
from peercorpus.records.layouts.tables import is_table, read_columns, read_rows
from peercorpus.records.published_datasets import Dataset

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
"""The layouts that are read, as errors list them."""

READERS: dict[Dataset, Callable[[Row], StatedPaper]] = {
    Dataset.PEERREAD: peerread.read_peerread,
    Dataset.NLPEER: nlpeer.read_nlpeer,
    Dataset.TEXT_FOLDER: text_folders.read_text_row,
    Dataset.REVIEW_TABLE: review_tables.read_review_rows,
    Dataset.PAPER_LIST: paper_lists.read_paper_row,
}
"""Reader of each layout, those with reviews and texts before those with ratings alone."""

CONFERENCE_YEAR = re.compile(r"(?:PeerRead-)?([A-Za-z]+)[_ -]?((?:19|20)\d\d)(?!\d|-\d)")
"""A conference and its year at the beginning of a name: `iclr_2017`, `iclr2023_20221105`, `ICLR2020`."""

OF_A_MODEL = re.compile(
    r"(?:^|[^a-z])(?:llms?|gpt|claude|gemini|llama|generated|predictions?)(?:[^a-z]|$)", re.IGNORECASE
)
"""Names of files and folders whose reviews a model wrote, as AI-Scientist's `llm_reviews/gpt-4o….csv`."""

MAIN_TRACKS = frozenset({"", "main", "conference"})


@dataclass(frozen=True, slots=True)
class Layout:
    """Files in a layout.

    Attributes:
        root: The file, or the folder of all its files.
        files: The files that belong to it.
        table: The table of decisions beside texts.
    """

    dataset: Dataset
    root: Path
    files: tuple[Path, ...]
    table: Path | None = None

    def records(self) -> Iterator[tuple[str, LayoutBody]]:
        """Yield the place and the body of each paper's record.

        Raises:
            ValueError: A file is damaged.
            OSError: A file cannot be read.
        """
        yield from FINDERS[self.dataset](self)


def read_stated(dataset: Dataset, body: bytes) -> StatedPaper:
    """Return what a record states.

    Raises:
        msgspec.DecodeError: The record does not have the shape of its layout.
    """
    parts = msgspec.json.decode(body, type=LayoutBody).parts
    try:
        return READERS[dataset](parts)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise msgspec.ValidationError(f"It does not have the shape of {dataset.value} ({error!r})") from None


def find_table(path: Path) -> Layout | None:
    """Return the layout of one file; None where it is of none, or of notes."""
    columns = read_columns(path) if is_table(path) else []
    if not columns or "content" in columns or has_flat_notes(columns) or OF_A_MODEL.search(path.name):
        return None
    if review_tables.has_reviews(columns):
        return Layout(Dataset.REVIEW_TABLE, path, (path,))
    return Layout(Dataset.PAPER_LIST, path, (path,)) if paper_lists.has_ratings(columns) else None


def find_folders(files: Sequence[Path]) -> list[Layout]:
    """Return the layouts of folders among these files; a file belongs to one at most."""
    peerread_roots, nlpeer_roots = defaultdict[Path, list[Path]](list), defaultdict[Path, list[Path]](list)
    for path in files:
        if path.suffix == ".json" and path.parent.name == "reviews":
            peerread_roots[path.parent.parent].append(path)
        elif path.name == "reviews.json" and re.fullmatch(r"v?\d+", path.parent.name):
            nlpeer_roots[path.parent.parent.parent].append(path)
    found = []
    for root, reviews in peerread_roots.items():
        if any(peerread.is_peerread(_read_object(path)) for path in reviews[:3]):
            own = [path for path in files if root in path.parents and path.suffix == ".json"]
            found.append(Layout(Dataset.PEERREAD, root, tuple(own)))
    for root, reviews in nlpeer_roots.items():
        if any(nlpeer.is_nlpeer_review(_read_json(path)) for path in reviews[:3]):
            own = [path for path in files if root in path.parents and path.suffix == ".json"]
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
        ids = {str(one) for row in read_rows(path) if (one := paper_lists.find_id(row)) is not None}
        own = [texts[one] for one in sorted(ids & texts.keys()) if texts[one] not in taken]
        if len(own) >= text_folders.MIN_TEXTS:
            taken.update(own)
            yield Layout(Dataset.TEXT_FOLDER, path.parent, (path, *own), path)


def name_venue(name: str) -> str:
    """Return conference and year as the name of a file or folder has them, else the name.

    >>> name_venue("iclr2023_20221105"), name_venue("arxiv.cs.ai_2007-2017"), name_venue("my_reviews")
    ('iclr 2023', 'arxiv.cs.ai_2007-2017', 'my_reviews')
    """
    match = CONFERENCE_YEAR.match(name)
    return f"{match[1]} {match[2]}" if match else name


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]


def _name_row(row: Row, path: Path) -> str:
    """Return where the paper of a row was submitted, as the row or else the file's name says it."""
    inner = row.get("metadata")
    lowered = {name.casefold(): value for name, value in {**row, **(inner if isinstance(inner, dict) else {})}.items()}
    conference, year = lowered.get("conference"), lowered.get("year")
    named = name_venue(str(conference)) if is_stated(conference) else name_venue(_stem(path))
    if is_stated(conference) and is_stated(year) and str(year) not in named:
        named = f"{named} {year}"
    track = str(lowered.get("track") or "")
    return named if track.casefold() in MAIN_TRACKS else f"{named} {track}"


def _read_json(path: Path) -> object:
    return json.loads(path.read_bytes())


def _read_object(path: Path) -> dict[str, Any]:
    try:
        found = _read_json(path)
    except (ValueError, OSError):
        return {}
    return found if isinstance(found, dict) else {}


def _find_peerread(layout: Layout) -> Iterator[tuple[str, LayoutBody]]:
    names = (part for part in reversed(layout.root.absolute().parts) if CONFERENCE_YEAR.match(part))
    folder = next(names, layout.root.absolute().parent.name)
    parsed = {path.name.removesuffix(".pdf.json"): path for path in layout.files if path.parent.name == "parsed_pdfs"}
    for path in sorted(path for path in layout.files if path.parent.name == "reviews"):
        parts = {peerread.REVIEW: _read_json(path)}
        if path.stem in parsed:
            parts[peerread.PARSED] = _read_json(parsed[path.stem])
        place = path.relative_to(layout.root).as_posix()
        yield place, LayoutBody(make_paper_id(f"{path.stem}.", folder), parts, name_venue(folder))


def _find_nlpeer(layout: Layout) -> Iterator[tuple[str, LayoutBody]]:
    root = layout.root.absolute()
    folder = root.parent.name if root.name == "data" else root.name
    by_paper: dict[str, list[Path]] = defaultdict(list)
    for path in layout.files:
        inner = path.relative_to(layout.root).parts
        if len(inner) == 3 and inner[2] == "reviews.json":
            by_paper[inner[0]].append(path)
    for paper, versions in sorted(by_paper.items()):
        ordered = sorted(versions, key=lambda path: int(path.parent.name.removeprefix("v")))
        reviewed = next((path for path in ordered if _read_json(path)), ordered[0])
        parts: dict[str, Any] = {nlpeer.REVIEWS: _read_json(reviewed), "version": reviewed.parent.name}
        beside = {
            nlpeer.META: reviewed.parent.parent / "meta.json",
            nlpeer.VERSION_META: reviewed.parent / "meta.json",
            nlpeer.DOCUMENT: reviewed.parent / "paper.itg.json",
        }
        parts |= {name: _read_json(path) for name, path in beside.items() if path.is_file()}
        place = reviewed.relative_to(layout.root).as_posix()
        yield place, LayoutBody(make_paper_id(paper, folder), parts, name_venue(folder))


def _find_rows(layout: Layout) -> Iterator[tuple[str, LayoutBody]]:
    for number, row in enumerate(read_rows(layout.root), 1):
        stated = paper_lists.find_id(row)
        paper_id = "" if stated is None else make_paper_id(stated, _stem(layout.root))
        yield f"row {number}", LayoutBody(paper_id, {paper_lists.ROW: row}, _name_row(row, layout.root))


def _find_reviews(layout: Layout) -> Iterator[tuple[str, LayoutBody]]:
    rows: dict[str, list[Row]] = defaultdict(list)
    first: dict[str, int] = {}
    for number, row in enumerate(read_rows(layout.root), 1):
        stated = review_tables.find_paper(row)
        paper_id = "" if stated is None else make_paper_id(stated, _stem(layout.root))
        rows[paper_id or f"\0{number}"].append(row)
        first.setdefault(paper_id or f"\0{number}", number)
    for paper_id, own in rows.items():
        body = LayoutBody(paper_id.partition("\0")[0], {review_tables.ROWS: own}, _name_row(own[0], layout.root))
        yield f"row {first[paper_id]}", body


def _find_texts(layout: Layout) -> Iterator[tuple[str, LayoutBody]]:
    table = layout.table or layout.root
    texts = {path.stem: path for path in layout.files if path != table}
    for number, row in enumerate(read_rows(table), 1):
        stated = paper_lists.find_id(row)
        parts: dict[str, Any] = {text_folders.ROW: row}
        if str(stated) in texts:
            parts[text_folders.TEXT] = texts[str(stated)].read_text(encoding="utf-8", errors="replace")
        paper_id = "" if stated is None else make_paper_id(stated, table.parent.name)
        label = _name_row(row, Path(table.parent.absolute().name))
        yield f"{table.name}, row {number}", LayoutBody(paper_id, parts, label)


FINDERS: dict[Dataset, Callable[[Layout], Iterator[tuple[str, LayoutBody]]]] = {
    Dataset.PEERREAD: _find_peerread,
    Dataset.NLPEER: _find_nlpeer,
    Dataset.PAPER_LIST: _find_rows,
    Dataset.REVIEW_TABLE: _find_reviews,
    Dataset.TEXT_FOLDER: _find_texts,
}
