"""Which items of two sequences correspond, in order, with work that is bounded whatever the sequences are.

Source: equal items that are unique on both sides anchor the rest (patience diff: B. Cohen, "Patience Diff
Advantages", https://bramcohen.livejournal.com/73318.html, 2010).
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

DEEPEST = 40
"""How often a range may be divided at its anchors."""

SMALL = 2_500
"""Comparisons, left times right, up to which a range without anchors is searched item by item."""

SIMILAR = 0.5
"""Share of the words of two sentences that they have in common (Dice), from which one is the other, changed."""

USUAL = 10
"""A word that more sentences have is a usual one."""

LIKELY = 12
"""How many sentences, those that share most of the other words, are compared with each."""

LONGEST = 200
"""Words of a sentence that are looked at to tell whether it was changed."""

Pairs = list[tuple[int, int]]
Span = tuple[int, int, int, int]
WORD = re.compile(r"\w+")
TAG = re.compile(r"</?su[bp]>")


def match(left: Sequence[str], right: Sequence[str]) -> Pairs:
    """Pairs of places of equal items, rising on both sides.

    >>> match(["a", "b", "c"], ["x", "a", "c"])
    [(0, 1), (2, 2)]
    """
    found: Pairs = []
    ranges: list[tuple[Span, int]] = [((0, len(left), 0, len(right)), 0)]
    while ranges:
        span, depth = ranges.pop()
        equal, (a, b, c, d) = _at_the_ends(left, right, span)
        found.extend(equal)
        if a == b or c == d:
            continue
        anchors = _anchors(left, right, (a, b, c, d)) if depth < DEEPEST else []
        if anchors:
            found.extend(anchors)
            ends = [(a - 1, c - 1), *anchors, (b, d)]
            ranges.extend(((i + 1, k, j + 1, m), depth + 1) for (i, j), (k, m) in pairwise(ends))
        elif (b - a) * (d - c) <= SMALL:
            found.extend(_searched(left, right, (a, b, c, d)))
    return sorted(found)


def _at_the_ends(left: Sequence[str], right: Sequence[str], span: Span) -> tuple[Pairs, Span]:
    a, b, c, d = span
    found = []
    while a < b and c < d and left[a] == right[c]:
        found.append((a, c))
        a, c = a + 1, c + 1
    while a < b and c < d and left[b - 1] == right[d - 1]:
        b, d = b - 1, d - 1
        found.append((b, d))
    return found, (a, b, c, d)


def _anchors(left: Sequence[str], right: Sequence[str], span: Span) -> Pairs:
    """Equal items that are unique on both sides, the longest series of them that rises."""
    a, b, c, d = span
    on_left, on_right = Counter(left[a:b]), Counter(right[c:d])
    places = {right[j]: j for j in range(c, d) if on_right[right[j]] == 1}
    pairs = [(i, places[left[i]]) for i in range(a, b) if on_left[left[i]] == 1 and left[i] in places]
    ends: list[int] = []
    rows: list[int] = []
    before: list[int] = []
    for row, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        before.append(rows[at - 1] if at else -1)
        ends[at : at + 1], rows[at : at + 1] = [j], [row]
    row, rising = rows[-1] if rows else -1, []
    while row >= 0:
        rising.append(pairs[row])
        row = before[row]
    return rising[::-1]


def _searched(left: Sequence[str], right: Sequence[str], span: Span) -> Pairs:
    a, b, c, d = span
    blocks = SequenceMatcher(None, left[a:b], right[c:d], autojunk=False).get_matching_blocks()
    return [(a + block.a + step, c + block.b + step) for block in blocks for step in range(block.size)]


def match_similar(left: Sequence[str], right: Sequence[str]) -> Pairs:
    """Pairs of places of sentences of which one is a changed form of the other, each in one pair, the most alike first.

    Their order says nothing, for floats and edits move sentences; those that share only usual words are not compared.

    >>> match_similar(["We train on ten sets."], ["It is new.", "We train on twelve sets."])
    [(0, 1)]
    """
    olds, news = ([_counted(sentence) for sentence in side] for side in (left, right))
    index: dict[str, list[int]] = defaultdict(list)
    for place, words in enumerate(news):
        for word in words:
            index[word].append(place)
    rows = []
    for place, own in enumerate(olds):
        votes = Counter(at for word in own if len(index.get(word, ())) <= USUAL for at in index.get(word, ()))
        for at, _ in votes.most_common(LIKELY):
            share = _shared(own, news[at])
            if share >= SIMILAR:
                rows.append((-share, abs(place - at), place, at))
    found: Pairs = []
    taken: tuple[set[int], set[int]] = set(), set()
    for _, _, place, at in sorted(rows):
        if place not in taken[0] and at not in taken[1]:
            found.append((place, at))
            taken[0].add(place)
            taken[1].add(at)
    return sorted(found)


def _counted(sentence: str) -> Counter[str]:
    return Counter(WORD.findall(TAG.sub(" ", sentence.replace("-\n", "")).casefold())[:LONGEST])


def _shared(left: Counter[str], right: Counter[str]) -> float:
    size = left.total() + right.total()
    return 2 * sum(min(number, right[word]) for word, number in left.items() if word in right) / size if size else 0.0
