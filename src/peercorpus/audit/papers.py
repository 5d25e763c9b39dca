"""Define the papers of an audit, read their decisions, and set aside what cannot be audited."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from peercorpus.errors import TableError
from peercorpus.importers.datasets import find_folders
from peercorpus.importers.reader import PaperParts, Source, StatedPaper
from peercorpus.records.enums import Status

ACCEPTING = frozenset(
    {"accept", "accepted", "acceptance", "poster", "oral", "spotlight", "notable", "talk", "published"}
)
REJECTING = frozenset({"reject", "rejected", "rejection", "decline", "declined"})
NEITHER = frozenset({"desk", "withdrawn", "withdraw", "withdrawal", "invite", "pending"})
"""Words for papers that were not decided after review or were sent elsewhere; these papers are set aside."""
YES = frozenset({"1", "1.0", "true", "yes", "y"})
NO = frozenset({"0", "0.0", "false", "no", "n"})
WORD = re.compile(r"[^\W_]+")


def parse_decision(value: object) -> bool | None:
    """Return whether a paper was accepted; None if the value says neither.

    Case is ignored. A value decides if it contains a word of `ACCEPTING` and none of `REJECTING`, or the reverse, and
    none of `NEITHER`; "not" negates acceptance. A whole value may also be one of `YES` or `NO`, a truth value, 1 or 0.

    >>> [parse_decision(value) for value in ("Accept (Poster)", "Reject", "not accepted", True, 0, "yes")]
    [True, False, False, True, False, True]
    >>> [parse_decision(value) for value in ("Withdrawn", "Desk reject", "Invite to workshop track", "6: weak", 6)]
    [None, None, None, None, None]
    """
    if isinstance(value, bool | int | float):
        return bool(value) if value in {0, 1} else None
    if not isinstance(value, str):
        return None
    words = [word.casefold() for word in WORD.findall(value)]
    bare = words[0] if len(words) == 1 else value.strip()
    return bare in YES if bare in YES | NO else _read_words(words)


def _read_words(words: list[str]) -> bool | None:
    accepts, rejects = not ACCEPTING.isdisjoint(words), not REJECTING.isdisjoint(words)
    if accepts == rejects or not NEITHER.isdisjoint(words):
        return None
    if "not" in words:
        return False if accepts else None
    return accepts


NO_DECISION = "no decision"
UNREAD_DECISION = "a decision that says neither accepted nor rejected"
UNREAD_TEXT = "a text that is not one string"
REPEATED = "the same content as a row before"
MOST_CHARACTERS = 10_000_000
"""Number of characters of a text that are read."""
WHOLE_CHARACTERS = 1_000
"""Equal texts with at least this many characters are the same paper; a shorter text may stand in for a missing one."""


class SourceRecord(NamedTuple):
    """One record, unchanged from its file or table.

    Attributes:
        record_id: None if the record has none; its content then identifies it.
        names_paper: Whether the id is known to be the paper's; otherwise it may be that of one of its rows, such as a
            review.
        text: The text as stored; None or empty if it is missing.
        decision: The decision as stored.
        traits: Further properties that might give the decision away, such as the grade of its version.
        why_not: Why the record cannot be audited, if its source determines that; otherwise None.
    """

    record_id: str | None
    text: Any
    decision: Any
    traits: Mapping[str, str]
    why_not: str | None = None
    names_paper: bool = True


class AuditedPaper(NamedTuple):
    """One paper of an audit.

    Attributes:
        key: Digest of its whole content; rows are sorted by it, so that their order in the source does not matter.
        text: The text; empty if it is missing.
    """

    key: bytes
    record_id: str
    text: str
    accepted: bool
    traits: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AuditSource:
    """A corpus to audit.

    Attributes:
        name: Name of the file or folder, without its parents.
        text: The column of the text.
        decision: The column of the decision.
        entries: Reads all entries from the beginning.
        total: Number of entries; None if unknown before they are read.
        passed_over: Files of the folder that lack these columns or are in a format that cannot be read.
    """

    name: str
    text: str
    decision: str
    entries: Callable[[], Iterator[SourceRecord]]
    total: int | None = None
    passed_over: tuple[str, ...] = ()


@dataclass(slots=True)
class RowCounts:
    """Counts of the rows that a pass read and set aside.

    Attributes:
        names: For rows that occur more than once under different ids, by key: the first of their ids in sorted order.
    """

    read: int = 0
    aside: Counter[str] = field(default_factory=Counter)
    names: dict[bytes, str] = field(default_factory=dict)


def _make_key(entry: SourceRecord, accepted: bool, own: str) -> bytes:
    parts = [own, entry.text or "", str(accepted), *(f"{k}={v}" for k, v in sorted(entry.traits.items()))]
    digest = blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()


def _explain_unfit(entry: SourceRecord, accepted: bool | None) -> str | None:
    """Return why an entry is set aside; None if it is not."""
    if entry.why_not is not None:
        return entry.why_not
    if entry.decision is None or entry.decision == "":
        return NO_DECISION
    if accepted is None:
        return UNREAD_DECISION
    return None if entry.text is None or isinstance(entry.text, str) else UNREAD_TEXT


def read_papers(source: AuditSource, taken: RowCounts) -> Iterator[AuditedPaper]:
    """Yield each row that can be audited once; count in `taken` all that were read and set aside.

    A paper with one row per review is one paper: counted several times, it would be in both training and test folds.
    Short or missing texts without an id are taken as different papers.
    """
    seen: dict[bytes, str] = {}
    nameless: Counter[bytes] = Counter()
    for entry in source.entries():
        taken.read += 1
        accepted = parse_decision(entry.decision)
        reason = _explain_unfit(entry, accepted)
        if reason is not None or accepted is None:
            taken.aside[reason or UNREAD_DECISION] += 1
            continue
        is_whole = len(entry.text or "") >= WHOLE_CHARACTERS
        key = _make_key(entry, accepted, "" if is_whole and not entry.names_paper else entry.record_id or "")
        if not entry.record_id and not is_whole:
            nameless[key] += 1
            key = _make_key(entry, accepted, f"\0{nameless[key]}")
        record_id = entry.record_id or f"row-{key.hex()[:12]}"
        if key in seen:
            taken.aside[REPEATED] += 1
            if record_id < taken.names.get(key, seen[key]):
                taken.names[key] = record_id
            continue
        seen[key] = record_id
        text = (entry.text or "")[:MOST_CHARACTERS]
        yield AuditedPaper(key=key, record_id=record_id, text=text.strip(), accepted=accepted, traits=entry.traits)


UNUSABLE = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, OSError, msgspec.DecodeError)
"""Exceptions that reading a damaged file, or one of another structure, may raise."""
DECIDED = {Status.ACCEPTED: "accepted", Status.REJECTED: "rejected"}


def layout_source(path: Path) -> AuditSource | None:
    """Return the papers of a folder in one of these layouts; None if it is in none of them.

    Raises:
        TableError: A file is damaged.
    """
    files = sorted(inner for inner in path.rglob("*") if inner.is_file()) if path.is_dir() else []
    try:
        layouts = [*find_folders(files)]
    except (ValueError, OSError) as error:
        raise _damaged(path, error) from None
    if not layouts:
        return None

    def entries() -> Iterator[SourceRecord]:
        for layout in layouts:
            yield from _read(layout)

    taken = {inner for layout in layouts for inner in layout.files}
    others = tuple(inner.relative_to(path).as_posix() for inner in files if inner not in taken)
    names = ", ".join(sorted({layout.reader.dataset.value for layout in layouts}))
    return AuditSource(path.resolve().name, f"texts of {names}", f"decisions of {names}", entries, None, others)


def _read(layout: Source) -> Iterator[SourceRecord]:
    """Yield the papers of a layout.

    Raises:
        TableError: A file is damaged.
    """
    try:
        for record in layout.records():
            body = msgspec.json.decode(record.body, type=PaperParts)  # Empty if it cannot be read.
            stated = layout.reader.read(body.parts)
            decision = stated.decision or DECIDED.get(stated.status or _read_label(stated))
            yield SourceRecord(body.paper_id or None, stated.text, decision, {})
    except UNUSABLE as error:
        raise _damaged(layout.root, error) from None


def _damaged(path: Path, error: Exception) -> TableError:
    what = "one of its files is damaged or has an unexpected structure"
    return TableError(f"'{path.name}' cannot be read: {what} ({type(error).__name__}).")


def _read_label(stated: StatedPaper) -> Status:
    """Return what a dataset itself uses as the decision if it knows none, as PeerRead does for arXiv papers."""
    label = stated.extra.get("accepted")
    return (Status.ACCEPTED if label else Status.REJECTED) if isinstance(label, bool) else Status.UNKNOWN
