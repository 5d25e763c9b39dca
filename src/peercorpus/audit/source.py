"""What is audited: papers with a text and a decision, read anew for every pass, in memory bounded by a batch."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from peercorpus.audit.decisions import read_decision

NO_DECISION = "no decision"
UNREAD_DECISION = "a decision that says neither accepted nor rejected"
UNREAD_TEXT = "a text that is not one string"
REPEATED = "the same content as a row before"
MOST_CHARACTERS = 10_000_000
"""Of a text that are looked at."""
WHOLE_CHARACTERS = 1_000
"""From which length on two equal texts are of one paper; a shorter one may stand for a text that is missing."""


class Entry(NamedTuple):
    """One record as it stands in its file or table.

    Attributes:
        record_id: None where the record has none; it is then named by its content.
        names_paper: Whether the id is the paper's, and not perhaps that of one row of it, such as a review's.
        text: As it stands there: a text, or None or an empty one where it is missing.
        decision: As it stands there.
        traits: What else is known of the row and might tell the decision, such as the grade of its version.
        why_not: Why the row cannot be audited, where its source knows; None elsewhere.
    """

    record_id: str | None
    text: Any
    decision: Any
    traits: Mapping[str, str]
    why_not: str | None = None
    names_paper: bool = True


class Row(NamedTuple):
    """One paper to audit.

    Attributes:
        key: What stands for its whole content; rows are put in this order, whatever order they came in.
        text: Empty where it is missing.
    """

    key: bytes
    record_id: str
    text: str
    accepted: bool
    traits: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus to audit.

    Attributes:
        name: Of the file or folder, without the folders above.
        text: The column of the text.
        decision: The column of the decision.
        entries: Reads all entries from the beginning.
        total: How many there are; None where that is not known before they are read.
        passed_over: Files of the folder that have no such columns, or are in no format that is read.
    """

    name: str
    text: str
    decision: str
    entries: Callable[[], Iterator[Entry]]
    total: int | None = None
    passed_over: tuple[str, ...] = ()


@dataclass(slots=True)
class Taken:
    """How many rows a pass read, and how many it set aside, by reason.

    Attributes:
        names: Of rows that stand there more than once under several ids, by key: the first id in their own order.
    """

    read: int = 0
    aside: Counter[str] = field(default_factory=Counter)
    names: dict[bytes, str] = field(default_factory=dict)


def _key(entry: Entry, accepted: bool, own: str) -> bytes:
    parts = [own, entry.text or "", str(accepted), *(f"{k}={v}" for k, v in sorted(entry.traits.items()))]
    digest = blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()


def _unfit(entry: Entry, accepted: bool | None) -> str | None:
    """Why an entry is set aside; None where it is not."""
    if entry.why_not is not None:
        return entry.why_not
    if entry.decision is None or entry.decision == "":
        return NO_DECISION
    if accepted is None:
        return UNREAD_DECISION
    return None if entry.text is None or isinstance(entry.text, str) else UNREAD_TEXT


def read_rows(source: Source, taken: Taken) -> Iterator[Row]:
    """The rows that can be audited, each once; `taken` counts all that were read, and those set aside.

    A paper that stands in a row for each of its reviews is one paper: counted as several, it would vouch for itself.
    Short or missing texts without an id are of a paper each.
    """
    seen: dict[bytes, str] = {}
    nameless: Counter[bytes] = Counter()
    for entry in source.entries():
        taken.read += 1
        accepted = read_decision(entry.decision)
        reason = _unfit(entry, accepted)
        if reason is not None or accepted is None:
            taken.aside[reason or UNREAD_DECISION] += 1
            continue
        is_whole = len(entry.text or "") >= WHOLE_CHARACTERS
        key = _key(entry, accepted, "" if is_whole and not entry.names_paper else entry.record_id or "")
        if not entry.record_id and not is_whole:
            nameless[key] += 1
            key = _key(entry, accepted, f"\0{nameless[key]}")
        record_id = entry.record_id or f"row-{key.hex()[:12]}"
        if key in seen:
            taken.aside[REPEATED] += 1
            if record_id < taken.names.get(key, seen[key]):
                taken.names[key] = record_id
            continue
        seen[key] = record_id
        text = (entry.text or "")[:MOST_CHARACTERS]
        yield Row(key, record_id, text.strip(), accepted, entry.traits)
