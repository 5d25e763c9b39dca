"""Find the passages that were added, removed or changed between two versions of a paper.

Sections are paired by heading, else by sentences in common. Within a pair, equal sentences are matched first, sentences
that moved elsewhere are left out, and what remains is matched by similarity.

Matching is patience diff: equal items that are unique on both sides anchor the rest. Source: B. Cohen, "Patience Diff
Advantages", https://bramcohen.livejournal.com/73318.html, 2010.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, pairwise

from peercorpus.links.sections import TextSection, read_text_sections
from peercorpus.links.sentences import Sentence
from peercorpus.records.enums import ChangeKind

MAX_DEPTH = 40
"""Maximum times that a range is divided at its anchors."""

MAX_SEARCHED_CELLS = 2_500
"""Maximum size, left items times right items, of a range without anchors that is searched item by item."""

MIN_SENTENCE_SIMILARITY = 0.5
"""Minimum Dice coefficient of the words of two sentences for one to be the other, changed."""

MAX_WORD_SENTENCES = 10
"""Maximum sentences that contain a word for it to suggest candidates; more common words do not."""

MAX_CANDIDATES = 12
"""Sentences, those with most suggesting words in common, that are compared with each sentence."""

MAX_COMPARED_WORDS = 200
"""Words of a sentence, from its beginning, that are compared."""

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
        anchors = _find_anchors(left, right, (a, b, c, d)) if depth < MAX_DEPTH else []
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


def _find_anchors(left: Sequence[str], right: Sequence[str], span: Span) -> Pairs:
    """Return the longest increasing series of equal items that occur once on each side (patience diff)."""
    a, b, c, d = span
    left_counts = Counter(left[a:b])
    right_counts = Counter(right[c:d])
    right_positions = {right[j]: j for j in range(c, d) if right_counts[right[j]] == 1}
    pairs = [
        (i, right_positions[left[i]]) for i in range(a, b) if left_counts[left[i]] == 1 and left[i] in right_positions
    ]
    ends: list[int] = []  # by length of a series, the least right position at which one ends
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


def match_similar(left: Sequence[str], right: Sequence[str]) -> Pairs:
    """Match sentences of which one is a changed form of the other, the most similar first, each at most once.

    The order of sentences does not matter, because floats and edits move them. Sentences that share only words of more
    than ten sentences are not compared.

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
        for new, _ in votes.most_common(MAX_CANDIDATES):
            similarity = _dice(words, new_counts[new])
            if similarity >= MIN_SENTENCE_SIMILARITY:
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
    """Return the Dice coefficient of two bags of words, on [0, 1]."""
    size = left.total() + right.total()
    return 2 * sum(min(number, right[word]) for word, number in left.items() if word in right) / size if size else 0.0


MIN_SECTION_OVERLAP = 0.3
"""Minimum share of the shorter section's sentences that two sections of different headings must have in common."""

MAX_SECTION_PAIRS = 10_000
"""Maximum pairs of sections without a namesake, left times right; with more, none are compared."""

MIN_MOVED_CHARACTERS = 20
"""Minimum characters of a sentence's key for it to count as moved to another section; a shorter one may be another."""

SECTION_NUMBER = re.compile(r"^(\d+|[A-Z])(\.\d+)*\.?\s+")
NO_SECTION = TextSection(None, ())


@dataclass(frozen=True, slots=True)
class TextDifference:
    """A passage that differs between two texts.

    Attributes:
        kind: Whether it was added, removed or changed.
        section: Heading of its section in the earlier text, or in the later one for an added passage; None before the
            first heading.
        before: Passage of the earlier text, verbatim, without line numbers, running headers and floats; empty where it
            was added.
        after: Passage of the later text, likewise; empty where it was removed.
    """

    kind: ChangeKind
    section: str | None
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TextComparison:
    """Result of comparing two texts.

    Attributes:
        passages: Differences in the order of the earlier text; sections that only the later text has come last.
        equal: Number of sentences that both texts have, moved ones included.
        before: Number of sentences of the earlier text.
        after: Number of sentences of the later text.
    """

    passages: tuple[TextDifference, ...]
    equal: int
    before: int
    after: int


def find_differences(earlier: str, later: str) -> TextComparison:
    r"""Compare two texts sentence by sentence.

    >>> comparison = find_differences("Abstract\nWe sort.", "Abstract\nWe sort. It is fast.")
    >>> comparison.passages
    (TextDifference(kind=<ChangeKind.ADDED: 'added'>, section='Abstract', before='', after='It is fast.'),)
    """
    old_sections = read_text_sections(earlier)
    new_sections = read_text_sections(later)
    matches = [(old, new, match(_keys(old), _keys(new))) for old, new in _pair_sections(old_sections, new_sections)]
    moved = _count_moved(matches)
    moved_from = moved.copy()
    moved_to = moved.copy()
    passages: list[TextDifference] = []
    for number, (old, new, pairs) in enumerate(matches):
        gaps = [
            (_drop_moved(number, removed, moved_from), _drop_moved(number, added, moved_to))
            for removed, added in _find_gaps(old, new, pairs)
        ]
        passages.extend(_describe_gaps((earlier, old.heading), (later, new.heading), gaps))
    return TextComparison(
        tuple(passages),
        equal=sum(len(pairs) for _, _, pairs in matches) + moved.total(),
        before=sum(len(section.sentences) for section in old_sections),
        after=sum(len(section.sentences) for section in new_sections),
    )


def _keys(section: TextSection) -> list[str]:
    return [sentence.key for sentence in section.sentences]


def _pair_sections(
    old_sections: Sequence[TextSection], new_sections: Sequence[TextSection]
) -> list[tuple[TextSection, TextSection]]:
    """Return every section of both texts once, with its counterpart or with an empty section."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for new, section in reversed([*enumerate(new_sections)]):
        by_name[_name(section)].append(new)
    paired = {old: by_name[name].pop() for old, section in enumerate(old_sections) if by_name[name := _name(section)]}
    unpaired_old = [old for old in range(len(old_sections)) if old not in paired]
    unpaired_new = sorted({*range(len(new_sections))} - {*paired.values()})
    paired |= dict(_pair_by_sentences(old_sections, new_sections, unpaired_old, unpaired_new))
    has_counterpart = set(paired.values())
    return [
        *((section, new_sections[paired[i]] if i in paired else NO_SECTION) for i, section in enumerate(old_sections)),
        *((NO_SECTION, section) for i, section in enumerate(new_sections) if i not in has_counterpart),
    ]


def _name(section: TextSection) -> str:
    """Return a heading without its number, which changes when a section is inserted before it."""
    return re.sub(r"\W+", " ", SECTION_NUMBER.sub("", section.heading or "")).strip().casefold()


def _pair_by_sentences(
    old_sections: Sequence[TextSection],
    new_sections: Sequence[TextSection],
    unpaired_old: Sequence[int],
    unpaired_new: Sequence[int],
) -> Iterator[tuple[int, int]]:
    """Pair sections of different headings by the sentences that they share, each with the one that shares most."""
    if len(unpaired_old) * len(unpaired_new) > MAX_SECTION_PAIRS:
        return
    new_keys = {new: set(_keys(new_sections[new])) for new in unpaired_new}
    for old in unpaired_old:
        old_keys = set(_keys(old_sections[old]))
        overlaps = {new: len(old_keys & keys) / max(1, min(len(old_keys), len(keys))) for new, keys in new_keys.items()}
        best = max(overlaps, key=lambda new: overlaps[new], default=None)
        if best is not None and overlaps[best] >= MIN_SECTION_OVERLAP:
            del new_keys[best]
            yield old, best


def _find_gaps(
    old_section: TextSection, new_section: TextSection, pairs: Pairs
) -> Iterator[tuple[Sequence[Sentence], Sequence[Sentence]]]:
    """Yield the sentences between equal ones, on both sides."""
    old_start = 0
    new_start = 0
    for old, new in [*pairs, (len(old_section.sentences), len(new_section.sentences))]:
        if old > old_start or new > new_start:
            yield old_section.sentences[old_start:old], new_section.sentences[new_start:new]
        old_start = old + 1
        new_start = new + 1


def _count_moved(matches: Sequence[tuple[TextSection, TextSection, Pairs]]) -> Counter[str]:
    """Count the sentences that are unmatched at their position and occur unmatched elsewhere in the other text."""
    removed_counts = Counter[str]()
    added_counts = Counter[str]()
    for number, (old, new, pairs) in enumerate(matches):
        for removed, added in _find_gaps(old, new, pairs):
            removed_counts.update(_moving_key(number, sentence) for sentence in removed)
            added_counts.update(_moving_key(number, sentence) for sentence in added)
    return removed_counts & added_counts


def _moving_key(section: int, sentence: Sentence) -> str:
    """Return the key by which a moved sentence is recognised; a short one only within its section."""
    return sentence.key if len(sentence.key) >= MIN_MOVED_CHARACTERS else f"{section} {sentence.key}"


Runs = list[list[Sentence]]
"""Runs of sentences that follow each other with nothing in between."""


def _drop_moved(section: int, sentences: Sequence[Sentence], moved: Counter[str]) -> Runs:
    """Return unbroken runs of the sentences that did not move; each moved one is taken off the count in `moved`."""
    runs: Runs = [[]]
    for sentence in sentences:
        key = _moving_key(section, sentence)
        if moved[key] > 0:
            moved[key] -= 1
            runs.append([])
        else:
            runs[-1].append(sentence)
    return runs


Side = tuple[str, str | None]
"""A whole text and the heading of one of its sections."""


def _describe_gaps(left: Side, right: Side, gaps: Sequence[tuple[Runs, Runs]]) -> Iterator[TextDifference]:
    """Yield the passages that were removed, changed and added between two sections."""
    old_text, old_heading = left
    new_text, new_heading = right
    old_sentences = [sentence for removed, _ in gaps for run in removed for sentence in run]
    new_sentences = [sentence for _, added in gaps for run in added for sentence in run]
    pairs = match_similar(
        [sentence.words for sentence in old_sentences], [sentence.words for sentence in new_sentences]
    )
    changed_to = {old_sentences[old].start: new_sentences[new] for old, new in pairs}
    changed_starts = {new_sentences[new].start for _, new in pairs}
    for removed, added in gaps:
        for run in _isolate(removed, changed_to.keys()):
            before = _join_words(old_text, run)
            after = changed_to.get(run[0].start)
            if after:
                yield TextDifference(
                    kind=ChangeKind.CHANGED, section=old_heading, before=before, after=_join_words(new_text, [after])
                )
            else:
                yield TextDifference(kind=ChangeKind.REMOVED, section=old_heading, before=before, after="")
        for run in _isolate(added, changed_starts):
            if run[0].start not in changed_starts:
                yield TextDifference(
                    kind=ChangeKind.ADDED, section=new_heading, before="", after=_join_words(new_text, run)
                )


def _isolate(runs: Runs, alone: Set[int]) -> Iterator[list[Sentence]]:
    """Yield the runs divided so that each sentence whose start is in `alone` is a run of its own."""
    for run in runs:
        for is_alone, group in groupby(run, key=lambda sentence: sentence.start in alone):
            if is_alone:
                yield from ([sentence] for sentence in group)
            else:
                yield [*group]


def _join_words(text: str, run: Sequence[Sentence]) -> str:
    """Join sentences with the space between them in the text, or a line feed where more than space is there."""
    between = (text[sentence.end : following.start] for sentence, following in pairwise(run))
    spaces = (space if space.isspace() else "\n" for space in between)
    return run[0].words + "".join(space + sentence.words for space, sentence in zip(spaces, run[1:], strict=True))
