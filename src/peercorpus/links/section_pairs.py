"""Pair the sections of two versions of a text by the sentences that they share, otherwise by heading.

Headings are unreliable: a theorem inserted at the beginning renumbers the proofs of all others.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

MAX_SECTIONS_OF_SENTENCE = 16
"""Maximum number of pairs of sections that a sentence may connect to count; one shared by more is not informative."""

MIN_SHARED = 0.3
"""Minimum share of the shorter section's characters in common for two sections to be paired by sentences."""

SAME_NAME_FACTOR = 2
"""Factor for sections of the same name, as all parts of a divided section share some characters with it."""

SECTION_NUMBER = re.compile(r"^(\d+|[A-Z])(\.\d+)*\.?\s+")

KeyedSection = tuple[str | None, Sequence[str]]
"""Heading of a section and the keys of its sentences."""


def pair_sections(old: Sequence[KeyedSection], new: Sequence[KeyedSection]) -> dict[int, int]:
    """Return the counterparts of sections: index in `old` → index in `new`, each at most once.

    >>> pair_sections([("1 A", ["We go."]), ("2 B", ["It is."])], [("1 B", ["We go."]), ("2 A", ["It is."])])
    {0: 0, 1: 1}
    """
    old_names = [_name(heading) for heading, _ in old]
    new_names = [_name(heading) for heading, _ in new]
    old_sizes = [sum(map(len, keys)) for _, keys in old]
    new_sizes = [sum(map(len, keys)) for _, keys in new]
    weights = {
        (i, j): size * (SAME_NAME_FACTOR if old_names[i] == new_names[j] else 1)
        for (i, j), size in _count_shared(old, new).items()
        if size >= MIN_SHARED * min(old_sizes[i], new_sizes[j])
    }
    paired: dict[int, int] = {}
    taken: set[int] = set()
    for i, j in sorted(weights, key=lambda pair: (-weights[pair], pair)):
        if i not in paired and j not in taken:
            paired[i] = j
            taken.add(j)
    free: dict[str, list[int]] = defaultdict(list)
    for j in reversed(range(len(new))):
        if j not in taken:
            free[new_names[j]].append(j)
    for i, name in enumerate(old_names):
        if i not in paired and free[name]:
            paired[i] = free[name].pop()
    return dict(sorted(paired.items()))


def _name(heading: str | None) -> str:
    """Return a heading without its number, which changes when a section is inserted before it."""
    return re.sub(r"\W+", " ", SECTION_NUMBER.sub("", heading or "")).strip().casefold()


def _count_shared(old: Sequence[KeyedSection], new: Sequence[KeyedSection]) -> Mapping[tuple[int, int], float]:
    """Return the number of characters that sections share; a repeated sentence is divided among the pairs."""
    sections_by_key = _find_sections(old), _find_sections(new)
    shared = Counter[tuple[int, int]]()
    for key, old_sections in sections_by_key[0].items():
        new_sections = sections_by_key[1].get(key, ())
        pairs = len(old_sections) * len(new_sections)
        if 0 < pairs <= MAX_SECTIONS_OF_SENTENCE:
            for i in old_sections:
                for j in new_sections:
                    shared[i, j] += len(key) // pairs
    return shared


def _find_sections(sections: Sequence[KeyedSection]) -> dict[str, list[int]]:
    """Return the sections in which each key occurs."""
    found: dict[str, list[int]] = defaultdict(list)
    for index, (_, keys) in enumerate(sections):
        for key in dict.fromkeys(keys):
            found[key].append(index)
    return found
