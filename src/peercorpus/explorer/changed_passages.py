"""What differs between the version the reviewers read and the last one, by section, word by word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from peercorpus.file_records import Change
from peercorpus.kinds import ChangeKind

LONGEST_MARKED = 500
"""Words of a passage in which single words are marked; comparing longer ones takes long."""

Piece = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage before and after, in pieces; the second of each piece says whether only this side has it."""

    kind: ChangeKind
    before: Sequence[Piece]
    after: Sequence[Piece]


def by_section(changes: Sequence[Change]) -> Iterator[tuple[str | None, list[Passage]]]:
    """The passages under the heading above each, in the order of the text."""
    for section, group in groupby(sorted(changes, key=lambda one: one.number), lambda one: one.section):
        yield section, [_passage(change) for change in group]


def _passage(change: Change) -> Passage:
    before, after = change.before.split(), change.after.split()
    if change.kind is not ChangeKind.CHANGED or max(len(before), len(after)) > LONGEST_MARKED:
        return Passage(change.kind, [(change.before, False)], [(change.after, False)])
    left, right = list[Piece](), list[Piece]()
    for what, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        is_same = what == "equal"
        left += [(" ".join(before[i:j]) + " ", not is_same)] if j > i else []
        right += [(" ".join(after[k:m]) + " ", not is_same)] if m > k else []
    return Passage(change.kind, left, right)
