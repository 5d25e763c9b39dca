"""Match the sentences of two texts: equal ones in order, and changed ones by shared words.

Equal ones are matched by patience diff: items that are unique on both sides anchor the rest. Source: B. Cohen,
"Patience Diff Advantages", https://bramcohen.livejournal.com/73318.html, 2010.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

MAX_DEPTH = 40
"""Maximum number of times that a range is divided at its anchors."""

MAX_SEARCHED_CELLS = 2_500
"""Maximum size (left items times right items) of a range without anchors that is searched item by item."""

MAX_WORD_SENTENCES = 10
"""Maximum number of sentences that contain a word for it to suggest candidates; more common words do not."""

MAX_CANDIDATES = 12
"""Number of sentences compared with each sentence: those with the most suggesting words in common."""

MAX_COMPARED_WORDS = 200
"""Number of words from the beginning of a sentence that are compared."""

Pairs = list[tuple[int, int]]
"""Matched positions, left and right."""

Span = tuple[int, int, int, int]
"""Start and end on the left, start and end on the right."""

WORD = re.compile(r"\w+")
TAG = re.compile(r"</?su[bp]>")


def match(left: Sequence[str], right: Sequence[str]) -> Pairs:
    """Return the positions of equal items, in increasing order on both sides.

    >>> match(["a", "b", "c"], ["x", "a", "c"])
    [(0, 1), (2, 2)]
    """
    matched: Pairs = []
    ranges: list[tuple[Span, int]] = [((0, len(left), 0, len(right)), 0)]
    while ranges:
        span, depth = ranges.pop()
        equal, (a, b, c, d) = _match_ends(left, right, span)
        matched.extend(equal)
        if a == b or c == d:
            continue
        anchors = find_anchors(left, right, (a, b, c, d)) if depth < MAX_DEPTH else []
        if anchors:
            matched.extend(anchors)
            ends = [(a - 1, c - 1), *anchors, (b, d)]
            ranges.extend(((i + 1, k, j + 1, m), depth + 1) for (i, j), (k, m) in pairwise(ends))
        elif (b - a) * (d - c) <= MAX_SEARCHED_CELLS:
            blocks = SequenceMatcher(None, left[a:b], right[c:d], autojunk=False).get_matching_blocks()
            matched.extend((a + block.a + step, c + block.b + step) for block in blocks for step in range(block.size))
    return sorted(matched)


def _match_ends(left: Sequence[str], right: Sequence[str], span: Span) -> tuple[Pairs, Span]:
    """Match equal items at both ends of a range; return them and the range that remains."""
    a, b, c, d = span
    matched = []
    while a < b and c < d and left[a] == right[c]:
        matched.append((a, c))
        a += 1
        c += 1
    while a < b and c < d and left[b - 1] == right[d - 1]:
        b -= 1
        d -= 1
        matched.append((b, d))
    return matched, (a, b, c, d)


def find_anchors(left: Sequence[str], right: Sequence[str], span: Span) -> Pairs:
    """Return the longest increasing series of equal items that occur once on each side (patience diff)."""
    a, b, c, d = span
    left_counts = Counter(left[a:b])
    right_counts = Counter(right[c:d])
    right_positions = {right[j]: j for j in range(c, d) if right_counts[right[j]] == 1}
    pairs = [
        (i, right_positions[left[i]]) for i in range(a, b) if left_counts[left[i]] == 1 and left[i] in right_positions
    ]
    ends: list[int] = []  # by length of a series, the smallest right position at which one ends
    rows: list[int] = []  # the pair at which that series ends
    previous: list[int] = []  # by pair, the one before it in its series
    for row, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        previous.append(rows[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        rows[length : length + 1] = [row]
    row = rows[-1] if rows else -1
    series = []
    while row >= 0:
        series.append(pairs[row])
        row = previous[row]
    return series[::-1]


def match_similar(left: Sequence[str], right: Sequence[str], least: float = 0.5) -> Pairs:
    """Match sentences that are changed forms of each other, most similar first, each at most once.

    The order of sentences is ignored, because floats and edits move them. Among more than twelve, sentences that share
    only words of more than ten sentences are not compared.

    >>> match_similar(["We train on ten sets."], ["It is new.", "We train on twelve sets."])
    [(0, 1)]
    """
    old_counts = [_count_words(sentence) for sentence in left]
    new_counts = [_count_words(sentence) for sentence in right]
    sentences_by_word: dict[str, list[int]] = defaultdict(list)
    for new, words in enumerate(new_counts):
        for word in words:
            sentences_by_word[word].append(new)
    ranked = []
    for old, words in enumerate(old_counts):
        suggestions = (sentences_by_word.get(word, ()) for word in words)
        votes = Counter(new for sentences in suggestions if len(sentences) <= MAX_WORD_SENTENCES for new in sentences)
        candidates = [new for new, _ in votes.most_common(MAX_CANDIDATES)]
        for new in candidates if len(right) > MAX_CANDIDATES else range(len(right)):
            similarity = _dice(words, new_counts[new])
            if similarity >= least:
                ranked.append((-similarity, abs(old - new), old, new))
    matched_old: set[int] = set()
    matched_new: set[int] = set()
    matched: Pairs = []
    for _, _, old, new in sorted(ranked):
        if old not in matched_old and new not in matched_new:
            matched.append((old, new))
            matched_old.add(old)
            matched_new.add(new)
    return sorted(matched)


def _count_words(sentence: str) -> Counter[str]:
    return Counter(WORD.findall(TAG.sub(" ", sentence.replace("-\n", "")).casefold())[:MAX_COMPARED_WORDS])


def _dice(left: Counter[str], right: Counter[str]) -> float:
    size = left.total() + right.total()
    return 2 * sum(min(number, right[word]) for word, number in left.items() if word in right) / size if size else 0.0
