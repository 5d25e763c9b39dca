"""Find the passages that were added, removed, changed or moved between two versions of a paper.

Sections are paired by the sentences that they share, otherwise by heading. Equal sentences are matched first: in order
within a pair of sections, then anywhere. One moved if it stands once in each text and its place among all others
changed; captions, tables and footnotes, which drift with the page, do not move. The rest are matched by similarity,
first within pairs of sections. Sentences still unmatched were added or removed, and so were copies that only one text
has.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter

from peercorpus.links.sections import pair_sections, read_text_sections
from peercorpus.links.sentence_matches import find_anchors, match, match_similar
from peercorpus.links.sentences import FORMULA, Sentence, find_equations, find_labels, mask_equations, mask_numbers
from peercorpus.records.enums import ChangeKind

MIN_SIMILARITY = 0.5
"""Minimum Dice coefficient of two sentences in paired sections for one to be a changed form of the other."""

MIN_DISTANT_SIMILARITY = 0.6
"""Minimum Dice coefficient of two sentences under different headings for one to be a changed form of the other."""

MIN_IN_GAP_SIMILARITY = 0.4
"""The same minimum if both stand between the same equal sentences."""

MIN_MOVED_CHARACTERS = 20
"""Minimum length of a key to be matched anywhere; a shorter one ("Proof.") belongs to the passage around it."""


@dataclass(frozen=True, slots=True)
class TextDifference:
    """A passage that differs between two texts.

    Attributes:
        kind: Whether it was added, removed, changed or moved.
        section: Heading of its section in the earlier text, or in the later one for an added passage; None before the
            first heading.
        before: Passage of the earlier text, verbatim, without line numbers, running headers and floats; empty if it was
            added.
        after: Passage of the later text, likewise; empty if it was removed.
        later_section: Heading of its section in the later text; None if it was removed or is before the first heading.
    """

    kind: ChangeKind
    section: str | None
    before: str
    after: str
    later_section: str | None


@dataclass(frozen=True, slots=True)
class TextComparison:
    """Result of comparing two texts.

    Attributes:
        passages: Differences in the order of the earlier text; sections only in the later text come last.
        equal: Number of sentences in both texts, including moved ones.
        before: Number of sentences of the earlier text.
        after: Number of sentences of the later text.
    """

    passages: tuple[TextDifference, ...]
    equal: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two texts: its headings and sentences, their keys and sections, and the span of each section."""

    text: str
    headings: Sequence[str | None]
    sentences: Sequence[Sentence]
    keys: Sequence[str]
    sections: Sequence[int]
    spans: Sequence[tuple[int, int]]

    def join(self, first: int, end: int) -> str:
        """Join successive sentences with the space between them, or with a line feed if there is more than space."""
        run = self.sentences[first:end]
        between = (self.text[sentence.end : following.start] for sentence, following in pairwise(run))
        spaces = (space if space.isspace() else "\n" for space in between)
        return run[0].words + "".join(space + sentence.words for space, sentence in zip(spaces, run[1:], strict=True))


Run = tuple[int, int]
"""Index of the first of successive sentences of one section, and of the one after the last."""


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage to be reported at a sentence of the earlier text, with its sentences in both; None in one that lacks
    it.
    """

    spot: int
    kind: ChangeKind
    old: Run | None
    new: Run | None


def find_differences(earlier: str, later: str) -> TextComparison:
    r"""Compare two texts sentence by sentence.

    >>> comparison = find_differences("Abstract\nWe sort.", "Abstract\nWe sort. It is fast.")
    >>> [(passage.kind.value, passage.section, passage.after) for passage in comparison.passages]
    [('added', 'Abstract', 'It is fast.')]
    """
    labels = find_labels(earlier), find_labels(later)
    cites_by_number = bool(labels[0] or labels[1])
    old = _read_side(earlier, labels[0], cites_by_number=cites_by_number)
    new = _read_side(later, labels[1], cites_by_number=cites_by_number)
    counterparts = pair_sections(_keyed_sections(old), _keyed_sections(new))
    in_place = _match_in_place(old, new, counterparts)
    in_place |= _match_rest(old, new, in_place, lambda sentence: sentence.floats)
    moved = _match_moved(old, new, counterparts, in_place)
    in_place |= _match_rest(old, new, in_place | moved, lambda sentence: len(sentence.key) >= MIN_MOVED_CHARACTERS)
    changed = _match_changed(old, new, counterparts, in_place)
    matched = in_place | moved | changed
    removed, old_copies = _divide_rest(old, matched.keys(), new)
    added, new_copies = _divide_rest(new, set(matched.values()), old)
    in_place |= _match_in_turn((old, old_copies), (new, new_copies))
    arrived = set(in_place.values())
    removed += _find_surplus(old, [i for i in old_copies if i not in in_place], new)
    added += _find_surplus(new, [j for j in new_copies if j not in arrived], old)
    spots = _find_spots(old, new, counterparts, in_place)
    own_old = {i: i for i in removed}
    own_new = {j: j for j in added}
    told_by_old = [
        *(_Passage(i, ChangeKind.CHANGED, (i, i + 1), (j, j + 1)) for i, j in changed.items()),
        *(_Passage(run[0], ChangeKind.REMOVED, run, None) for run, _ in _find_runs(old, old, own_old)),
        *(_Passage(run[0], ChangeKind.MOVED, run, place) for run, place in _find_runs(old, new, moved)),
    ]
    told_by_new = (_Passage(spots[run[0]], ChangeKind.ADDED, None, run) for run, _ in _find_runs(new, new, own_new))
    passages = [*told_by_old, *told_by_new]
    passages.sort(key=attrgetter("spot"))
    return TextComparison(
        tuple(_describe(old, new, passage) for passage in passages),
        equal=len(in_place) + len(moved),
        before=len(old.keys),
        after=len(new.keys),
    )


def _read_side(text: str, labels: frozenset[str], *, cites_by_number: bool) -> _Side:
    parts = read_text_sections(text)
    sentences = [sentence for part in parts for sentence in part.sentences]
    equations = find_equations(text)
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + len(part.sentences))
    return _Side(
        text=text,
        headings=[part.heading for part in parts],
        sentences=sentences,
        keys=[
            mask_numbers(_mask_equations(sentence, equations), labels, with_names=cites_by_number)
            for sentence in sentences
        ],
        sections=[section for section, part in enumerate(parts) for _ in part.sentences],
        spans=[*pairwise(ends)],
    )


def _mask_equations(sentence: Sentence, equations: frozenset[str]) -> str:
    if "(" not in sentence.key or sentence.floats:
        return sentence.key
    return mask_equations(sentence.key, FORMULA.sub(" \\0 ", sentence.words), equations)


def _keyed_sections(side: _Side) -> list[tuple[str | None, Sequence[str]]]:
    return [(heading, side.keys[first:end]) for heading, (first, end) in zip(side.headings, side.spans, strict=True)]


Matches = dict[int, int]
"""Matched sentences: index in the earlier text → index in the later one."""


def _match_in_place(old: _Side, new: _Side, counterparts: Mapping[int, int]) -> Matches:
    """Match the equal sentences of paired sections, first those in order, then those moved by floats and edits."""
    matched: Matches = {}
    for old_section, new_section in counterparts.items():
        first, end = old.spans[old_section]
        new_first, new_end = new.spans[new_section]
        pairs = match(old.keys[first:end], new.keys[new_first:new_end])
        inside = {first + i: new_first + j for i, j in pairs}
        taken = set(inside.values())
        matched |= inside
        matched |= _match_in_turn(
            (old, [i for i in range(first, end) if i not in inside]),
            (new, [j for j in range(new_first, new_end) if j not in taken]),
        )
    return matched


def _match_in_turn(left: tuple[_Side, Sequence[int]], right: tuple[_Side, Sequence[int]]) -> Matches:
    old, old_indices = left
    new, new_indices = right
    free: dict[str, list[int]] = defaultdict(list)
    for j in reversed(new_indices):
        free[new.keys[j]].append(j)
    return {i: places.pop() for i in old_indices if (places := free.get(old.keys[i]))}


def _match_rest(old: _Side, new: _Side, matched: Mapping[int, int], may_stand: Callable[[Sentence], bool]) -> Matches:
    """Match equal sentences of a kind that are left, first with first, wherever they stand."""
    taken = set(matched.values())
    return _match_in_turn(
        (old, [i for i, sentence in enumerate(old.sentences) if i not in matched and may_stand(sentence)]),
        (new, [j for j, sentence in enumerate(new.sentences) if j not in taken and may_stand(sentence)]),
    )


def _match_moved(old: _Side, new: _Side, counterparts: Mapping[int, int], in_place: Mapping[int, int]) -> Matches:
    """Match equal sentences that stand once in each text and changed their place among all that do.

    One that kept its order is under another heading only because page layout shifted the heading, if both texts have
    both sections; it did not move. Short neighbours belong to the moved passage.
    """
    counts = Counter(old.keys), Counter(new.keys)
    places = {key: j for j, key in enumerate(new.keys)}
    in_order = set(find_anchors(old.keys, new.keys, (0, len(old.keys), 0, len(new.keys))))
    moved = {
        i: j
        for i, key in enumerate(old.keys)
        if i not in in_place and len(key) >= MIN_MOVED_CHARACTERS and counts[0][key] == counts[1][key] == 1
        if (i, j := places[key]) not in in_order
        or not (old.sections[i] in counterparts and new.sections[j] in counterparts.values())
    }
    taken = {*in_place.values(), *moved.values()}
    for step, indices in ((1, range(len(old.keys))), (-1, range(len(old.keys) - 1, -1, -1))):
        for i in indices:
            j = moved.get(i - step, -2) + step
            is_free = (
                i not in moved and i not in in_place and j not in taken and len(old.keys[i]) < MIN_MOVED_CHARACTERS
            )
            if is_free and 0 <= j < len(new.keys) and new.keys[j] == old.keys[i]:
                moved[i] = j
                taken.add(j)
    return moved


def _match_changed(old: _Side, new: _Side, counterparts: Mapping[int, int], in_place: Mapping[int, int]) -> Matches:
    """Match sentences in only one text with the most similar ones in the other.

    Those in paired sections come first, then those between the same equal sentences.
    """
    old_keys = set(old.keys)
    new_keys = set(new.keys)
    left_old = [i for i, key in enumerate(old.keys) if key not in new_keys]
    left_new = [j for j, key in enumerate(new.keys) if key not in old_keys]
    by_section: dict[int, list[int]] = defaultdict(list)
    for j in left_new:
        by_section[new.sections[j]].append(j)
    changed: Matches = {}
    for section, group in groupby(left_old, key=lambda i: old.sections[i]):
        if section in counterparts:
            changed |= _match_alike(old, [*group], new, by_section[counterparts[section]], MIN_SIMILARITY)
    taken = set(changed.values())
    gaps = _find_gaps(old, new, counterparts, in_place)
    inside: dict[Gap, list[int]] = defaultdict(list)
    for j in left_new:
        if j not in taken and gaps[1][j] is not None:
            inside[gaps[1][j]].append(j)
    for gap, group in groupby((i for i in left_old if i not in changed), key=lambda i: gaps[0][i]):
        changed |= _match_alike(old, [*group], new, inside.pop(gap, []), MIN_IN_GAP_SIMILARITY)
    taken = set(changed.values())
    left_old = [i for i in left_old if i not in changed]
    left_new = [j for j in left_new if j not in taken]
    return changed | _match_alike(old, left_old, new, left_new, MIN_DISTANT_SIMILARITY)


def _match_alike(
    old: _Side, old_indices: Sequence[int], new: _Side, new_indices: Sequence[int], least: float
) -> Matches:
    pairs = match_similar(
        [old.sentences[i].words for i in old_indices], [new.sentences[j].words for j in new_indices], least
    )
    return {old_indices[left]: new_indices[right] for left, right in pairs}


def _divide_rest(side: _Side, matched: Set[int], other: _Side) -> tuple[list[int], list[int]]:
    """Divide the unmatched sentences into those of passages only on this side, and copies of others.

    A copy next to such a sentence belongs to its passage, such as a theorem repeated by a new proof.
    """
    other_keys = set(other.keys)
    rest = [index for index in range(len(side.keys)) if index not in matched]
    own = {index for index in rest if side.keys[index] not in other_keys}
    for step, indices in ((1, rest), (-1, rest[::-1])):
        for index in indices:
            if index - step in own and side.sections[index - step] == side.sections[index]:
                own.add(index)
    return sorted(own), [index for index in rest if index not in own]


def _find_surplus(side: _Side, copies: Sequence[int], other: _Side) -> list[int]:
    """Return the copies that make a sentence more frequent on this side than on the other."""
    surplus = Counter(side.keys)
    surplus.subtract(other.keys)
    found = []
    for index in reversed(copies):
        if surplus[side.keys[index]] > 0:
            surplus[side.keys[index]] -= 1
            found.append(index)
    return found


Gap = tuple[int, int] | None
"""Section of the later text and its last equal sentence so far, -1 if none; None in a section without a counterpart."""


def _find_gaps(
    old: _Side, new: _Side, counterparts: Mapping[int, int], in_place: Mapping[int, int]
) -> tuple[list[Gap], list[Gap]]:
    arrived = set(in_place.values())

    def walk(side: _Side, sections: Mapping[int, int], anchors: Callable[[int], int | None]) -> Iterator[Gap]:
        for section, (first, end) in enumerate(side.spans):
            last = -1
            for index in range(first, end):
                anchor = anchors(index)
                last = last if anchor is None else anchor
                yield (sections[section], last) if section in sections else None

    same = {section: section for section in counterparts.values()}
    return [*walk(old, counterparts, in_place.get)], [*walk(new, same, lambda j: j if j in arrived else None)]


def _find_runs(left: _Side, right: _Side, matches: Mapping[int, int]) -> Iterator[tuple[Run, Run]]:
    """Yield matched sentences as runs that are as long as both sides allow."""
    first = previous = -2
    for i in sorted(matches):
        j = matches[i]
        goes_on = (
            i == previous + 1
            and j == matches[previous] + 1
            and left.sections[i] == left.sections[previous]
            and right.sections[j] == right.sections[j - 1]
        )
        if not goes_on:
            if first >= 0:
                yield (first, previous + 1), (matches[first], matches[previous] + 1)
            first = i
        previous = i
    if first >= 0:
        yield (first, previous + 1), (matches[first], matches[previous] + 1)


def _find_spots(old: _Side, new: _Side, counterparts: Mapping[int, int], in_place: Mapping[int, int]) -> list[int]:
    """Return, for each sentence of the later text, the earlier one after which it is reported if it was added."""
    last_of_gap = [*range(len(old.keys))]
    for i in reversed(range(len(old.keys) - 1)):
        if i + 1 not in in_place and old.sections[i + 1] == old.sections[i]:
            last_of_gap[i] = last_of_gap[i + 1]
    old_section_of = {section: counterpart for counterpart, section in counterparts.items()}
    old_of = {j: i for i, j in in_place.items()}
    spots = []
    for section, (first, end) in enumerate(new.spans):
        spot = len(old.keys)
        if section in old_section_of:
            old_first, old_end = old.spans[old_section_of[section]]
            spot = old_first - 1
            if old_first < old_end and old_first not in in_place:
                spot = last_of_gap[old_first]
        for j in range(first, end):
            spot = last_of_gap[old_of[j]] if j in old_of else spot
            spots.append(spot)
    return spots


def _describe(old: _Side, new: _Side, passage: _Passage) -> TextDifference:
    later_section = new.headings[new.sections[passage.new[0]]] if passage.new else None
    return TextDifference(
        kind=passage.kind,
        section=old.headings[old.sections[passage.old[0]]] if passage.old else later_section,
        before=old.join(*passage.old) if passage.old else "",
        after=new.join(*passage.new) if passage.new else "",
        later_section=later_section,
    )
