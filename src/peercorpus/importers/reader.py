"""What a reader of another dataset's format recognises and yields: records of papers, and what they state."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from peercorpus.records.datasets import Dataset
from peercorpus.records.enums import PostKind, Role, Status
from peercorpus.wording.untrusted_text import show_path

Id = Annotated[str, msgspec.Meta(min_length=1)]
Answers = dict[str, Any]
Row = dict[str, Any]
"""A row of a table, or a JSON object: values by name."""


class DamagedRow(Row):
    """A row without values, in place of one that cannot be read.

    Attributes:
        reason: Why it cannot be read, in the same words for all rows with this damage.
        name: Which row it is, with the details of its damage.
    """

    def __init__(self, reason: str, name: str) -> None:
        """Set the attributes."""
        super().__init__()
        self.reason, self.name = reason, name


class PaperParts(msgspec.Struct, frozen=True):
    """The body of a record in `raw.db`: the content of the files on one paper, verbatim.

    Attributes:
        conference_year_track: Where the paper was submitted, as named in the files or their folder.
        parts: The content of each file, or each row of a table, on the paper.
    """

    paper_id: str
    parts: dict[str, Any]
    conference_year_track: str | None = None


@dataclass(frozen=True, slots=True)
class StatedReview:
    """One review.

    Attributes:
        answers: Scores and texts by their names in the format.
        scores: Names of the answers that the format itself treats as scores.
        extra: Values that are neither score nor text.
        unrated: Names of the answers whose number stands for "no rating" in the format.
    """

    answers: Mapping[str, Any]
    review_id: str | None = None
    reviewer: str | None = None
    response: str | None = None
    scores: frozenset[str] = frozenset()
    extra: Mapping[str, Any] = field(default_factory=dict)
    unrated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StatedPost:
    """A post that is not a review."""

    kind: PostKind
    role: Role
    signature: str
    title: str | None
    text: str


@dataclass(frozen=True, slots=True)
class StatedPaper:
    """One paper with its reviews; missing statements are None.

    Attributes:
        year: Counts only if the id of the venue contains none.
        status: Its outcome, if the format states it by more than a decision's wording.
        extra: Values in no other attribute, without those that describe the authors as persons.
    """

    title: str | None = None
    abstract: str | None = None
    authors: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    tldr: str | None = None
    primary_area: str | None = None
    year: int | None = None
    number: int | None = None
    venue: str | None = None
    decision: str | None = None
    decision_comment: str | None = None
    status: Status | None = None
    text: str | None = None
    reviews: tuple[StatedReview, ...] = ()
    posts: tuple[StatedPost, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


class Record(NamedTuple):
    """A record of one paper, to be stored or set aside.

    Attributes:
        place: Its position in the file, or its file.
        body: Its content as JSON; empty if it cannot be read.
        problem: Why it is set aside; None if it is not.
    """

    dataset: Dataset
    place: str
    body: bytes = b""
    problem: str | None = None
    files: int = 1


@dataclass(frozen=True, slots=True)
class Source:
    """Files that one reader reads.

    Attributes:
        table: The table of decisions that accompanies texts.
    """

    reader: "Reader"
    root: Path
    files: tuple[Path, ...]
    table: Path | None = None

    def records(self) -> Iterator[Record]:
        """Yield the record of each paper.

        Raises:
            ValueError: A table is damaged.
            OSError: A file cannot be read.
        """
        yield from self.reader.records(self)


@dataclass(frozen=True, slots=True)
class Reader:
    """One format of another dataset's papers.

    Attributes:
        described: The format in a few words, for errors.
        find: Returns the files of this format among those of a folder; None if each is recognised by its rows.
        suits: Returns whether the first rows of a table have this format; None if it is no table.
        records: Yields the record of each paper; may raise ValueError and OSError.
        is_of_folders: Whether each paper has its own files, some of which are not read.
        has_text: Whether a record may contain the text of a paper.
    """

    dataset: Dataset
    name: str
    described: str
    records: Callable[[Source], Iterator[Record]]
    read: Callable[[Row], StatedPaper]
    find: Callable[["Reader", Sequence[Path]], Iterable[Source]] | None = None
    suits: Callable[[Sequence[Row]], bool] | None = None
    is_of_folders: bool = False
    has_text: bool = False

    def read_body(self, body: bytes) -> StatedPaper:
        """Return the paper that a record states.

        Raises:
            msgspec.DecodeError: The record does not have the structure of its format.
        """
        parts = msgspec.json.decode(body, type=PaperParts).parts
        try:
            return self.read(parts)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            problem = f"It does not have the structure of {self.dataset.value} ({error!r})"
            raise msgspec.ValidationError(problem) from None


FORUM_ID = re.compile(r"(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{8,14}")
"""Matches an id with the length and characters of OpenReview's."""
FORUM_URL = re.compile(r"(?<![\w-])openreview\.net/(?:forum|pdf)\?(?:[^#\s]{0,500}?&)?id=(?P<id>[\w-]+)")
OUTSIDE_AN_ID = re.compile(r"[^\w-]+")
CONFERENCE_YEAR = re.compile(r"(?:PeerRead-)?([A-Za-z]+)[_ -]?((?:19|20)\d\d)(?!\d|-\d)")
"""Matches a conference and its year at the beginning of a name: `iclr_2017`, `iclr2023_20221105`, `ICLR2020`."""
MAIN_TRACKS = frozenset({"", "main", "conference"})
ABOUT_PERSONS = re.compile(
    r"author.*|contributors?|gender|homepage|dblp|google_scholar|gs_.*|orcid|linkedin|or_profile|e?mails?"
    r"|affs?(_.*)?|affiliations?|position|bibtex"
)
"""Matches columns that describe the authors as persons, which are stored only in `raw.db`."""
NOT_JSON = "a file that cannot be read as JSON"


def are_forum_ids(stated: Iterable[object]) -> bool:
    """Return whether most of the ids of a table are OpenReview's, nearly all of which contain a capital letter.

    Other ids are numbers, digests, names of files, or ids of other services.

    >>> are_forum_ids(["B1ckMDqlg", "ryxz8cvydh"]), are_forum_ids(["paper1764"]), are_forum_ids(["9a79208392", 316])
    (True, False, False)
    """
    ids = [str(one).strip() for one in stated if one is not None]
    return 2 * sum(bool(FORUM_ID.fullmatch(one)) and one != one.lower() for one in ids) >= max(len(ids), 1)


def make_paper_id(stated: object, label: str, *, is_forum: bool = False) -> str:
    """Return the forum id that a value states, or an id made from it that no forum has; empty for None.

    Args:
        stated: A link to a forum, or an id.
        label: Label that distinguishes the table from others.
        is_forum: Whether ids in the right format are OpenReview's.

    >>> make_paper_id("https://openreview.net/forum?id=B1ckMDqlg", ""), make_paper_id(316, "iclr_2017")
    ('B1ckMDqlg', 'iclr_2017-316')
    >>> make_paper_id("paper1764", "ijcai2024"), make_paper_id("B1ckMDqlg", "iclr2017", is_forum=True)
    ('ijcai2024-paper1764', 'B1ckMDqlg')
    """
    if stated is None:
        return ""
    text = str(stated).strip()
    url = FORUM_URL.search(text)
    if url:
        return url["id"]
    if is_forum and FORUM_ID.fullmatch(text):
        return text
    return OUTSIDE_AN_ID.sub("_", f"{label}-{text}" if label else text).strip("_")


def as_text(value: object) -> str | None:
    """Return a text, or None if a value is missing or empty ("", "null", "nan")."""
    return value if isinstance(value, str) and value.strip().lower() not in {"", "null", "none", "nan"} else None


def is_stated(value: object) -> bool:
    """Return whether a cell has a value: not None, NaN or an empty text."""
    return value is not None and value == value and (not isinstance(value, str) or as_text(value) is not None)


def take_text(row: Row, names: Iterable[str]) -> str | None:
    """Remove and return the text under the first of these names that has one; None if none has."""
    name = next((name for name in names if as_text(row.get(name)) is not None), None)
    return None if name is None else str(row.pop(name))


def keep_stated(row: Row) -> Row:
    """Return the stated values of a row, by lower-case names."""
    return {name.casefold(): value for name, value in row.items() if is_stated(value)}


def find_column(row: Iterable[str], names: Iterable[str]) -> str | None:
    """Return the column with the first of these names, ignoring case; None if there is none."""
    lowered = {name.casefold(): name for name in row}
    return next((lowered[name] for name in names if name in lowered), None)


def name_venue(name: str) -> str:
    """Return conference and year from the name of a file or folder, otherwise the name.

    >>> name_venue("iclr2023_20221105"), name_venue("arxiv.cs.ai_2007-2017"), name_venue("my_reviews")
    ('iclr 2023', 'arxiv.cs.ai_2007-2017', 'my_reviews')
    """
    match = CONFERENCE_YEAR.match(name)
    return f"{match[1]} {match[2]}" if match else name


def stem_of(path: Path) -> str:
    """Return the name of a file up to its first dot."""
    return show_path(path.name).partition(".")[0]


def name_row(row: Row, path: Path) -> str:
    """Return where the paper of a row was submitted, from the row or otherwise the file's name."""
    inner = row.get("metadata")
    members = {**row, **(inner if isinstance(inner, dict) else {})}
    lowered = {name.casefold(): value for name, value in members.items() if isinstance(name, str)}
    conference, year = lowered.get("conference"), lowered.get("year")
    named = name_venue(str(conference)) if is_stated(conference) else name_venue(stem_of(path))
    if is_stated(conference) and is_stated(year) and str(year) not in named:
        named = f"{named} {year}"
    track = str(lowered.get("track") or "")
    return named if track.casefold() in MAIN_TRACKS else f"{named} {track}"


def read_json_file(path: Path) -> object:
    """Return the value of a JSON file; None if it cannot be read."""
    try:
        return json.loads(path.read_bytes())
    except (ValueError, OSError, RecursionError):
        return None


def encode_row(row: object) -> bytes:
    """Return a row as JSON; a value that JSON has no form for, such as a number of NumPy, is written as text."""
    return msgspec.json.encode(row, enc_hook=str)


def make_record(dataset: Dataset, place: str, body: PaperParts, files: int = 1) -> Record:
    """Return the record of a paper; one that names no paper cannot be stored."""
    return Record(dataset, place, encode_row(body), None if body.paper_id else "it names no paper", files)


def record_of_files(dataset: Dataset, root: Path, paths: Mapping[str, Path], body: PaperParts) -> Record:
    """Return the record of a paper whose parts are JSON files, the first of which names it.

    `body` has its id and place, and further parts.
    """
    place = show_path(next(iter(paths.values())).relative_to(root))
    parts = {name: read_json_file(path) for name, path in paths.items()}
    if any(part is None for part in parts.values()):
        return Record(dataset, place, b"", NOT_JSON, len(paths))
    return make_record(dataset, place, msgspec.structs.replace(body, parts=parts | body.parts), len(paths))
