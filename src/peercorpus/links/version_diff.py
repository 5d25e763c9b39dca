"""Find the passages that were added, removed, changed or moved between two versions of a paper.

Sections are paired by the sentences that they share, otherwise by heading. Equal sentences are matched first: in order
within a pair of sections, then anywhere, as moved ones. The rest are matched by similarity, first within pairs of
sections. Sentences still unmatched were added or removed, together with adjacent copies of other sentences.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter

from peercorpus.links.citations import find_labels, mask_numbers
from peercorpus.links.section_pairs import pair_sections
from peercorpus.links.sections import read_text_sections
from peercorpus.links.sentence_matches import match, match_similar
from peercorpus.links.sentences import Sentence
from peercorpus.records.enums import ChangeKind

MIN_SIMILARITY = 0.5
"""Minimum Dice coefficient of two sentences in paired sections for one to be a changed form of the other."""

MIN_DISTANT_SIMILARITY = 0.6
"""Minimum Dice coefficient of two sentences under different headings for one to be a changed form of the other."""

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
    """One of the two texts.

    Attributes:
        text: The whole text.
        headings: Headings of its sections, in order.
        sentences: Sentences of all sections, in order.
        keys: Key by which each sentence is matched.
        sections: Index of the section of each sentence.
        spans: First sentence of each section, and the one after its last.
    """

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
    """A passage to be reported.

    Attributes:
        spot: Sentence of the earlier text at which it is reported, or after which if only the later text has it.
        kind: Kind of the change.
        old: Its sentences in the earlier text; None if it was added.
        new: Its sentences in the later text; None if it was removed.
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
    moved = _match_moved(old, new, in_place)
    changed = _match_changed(old, new, counterparts)
    matched = in_place | moved | changed
    removed, old_copies = _divide_rest(old, matched.keys(), new)
    added, new_copies = _divide_rest(new, set(matched.values()), old)
    moved |= _match_in_turn((old, old_copies), (new, new_copies))
    arrived = set(moved.values())
    from_old = moved | _find_copies(old, [i for i in old_copies if i not in moved], new)
    from_new = _find_copies(new, [j for j in new_copies if j not in arrived], old)
    spots = _find_spots(old, new, counterparts, in_place)
    own_old = {i: i for i in removed}
    own_new = {j: j for j in added}
    told_by_old = [
        *(_Passage(i, ChangeKind.CHANGED, (i, i + 1), (j, j + 1)) for i, j in changed.items()),
        *(_Passage(run[0], ChangeKind.REMOVED, run, None) for run, _ in _find_runs(old, old, own_old)),
        *(_Passage(run[0], ChangeKind.MOVED, run, place) for run, place in _find_runs(old, new, from_old)),
    ]
    told_by_new = [
        *((run[0], _Passage(spots[run[0]], ChangeKind.ADDED, None, run)) for run, _ in _find_runs(new, new, own_new)),
        *((run[0], _Passage(spots[run[0]], ChangeKind.MOVED, at, run)) for run, at in _find_runs(new, old, from_new)),
    ]
    passages = [*told_by_old, *(passage for _, passage in sorted(told_by_new, key=itemgetter(0)))]
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
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + len(part.sentences))
    return _Side(
        text=text,
        headings=[part.heading for part in parts],
        sentences=sentences,
        keys=[mask_numbers(sentence.key, labels, with_names=cites_by_number) for sentence in sentences],
        sections=[section for section, part in enumerate(parts) for _ in part.sentences],
        spans=[*pairwise(ends)],
    )


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
    """Match equal sentences of two lists, first with first."""
    old, old_indices = left
    new, new_indices = right
    free: dict[str, list[int]] = defaultdict(list)
    for j in reversed(new_indices):
        free[new.keys[j]].append(j)
    return {i: places.pop() for i in old_indices if (places := free.get(old.keys[i]))}


def _match_moved(old: _Side, new: _Side, in_place: Mapping[int, int]) -> Matches:
    """Match equal sentences wherever they are.

    Sentences that remain exactly once in each text come first, then their neighbours, so that a moved passage stays
    whole; then other long ones.
    """
    taken = set(in_place.values())
    left_old = [i for i in range(len(old.keys)) if i not in in_place]
    left_new = [j for j in range(len(new.keys)) if j not in taken]
    places: dict[str, list[int]] = defaultdict(list)
    for j in left_new:
        places[new.keys[j]].append(j)
    counts: dict[str, int] = defaultdict(int)
    for i in left_old:
        counts[old.keys[i]] += 1
    moved: Matches = {
        i: places[key][0]
        for i in left_old
        if len(key := old.keys[i]) >= MIN_MOVED_CHARACTERS and counts[key] == 1 and len(places.get(key, ())) == 1
    }
    taken.update(moved.values())
    for step, indices in ((1, left_old), (-1, left_old[::-1])):
        for i in indices:
            neighbour = moved.get(i - step)
            if i in moved or neighbour is None:
                continue
            j = neighbour + step
            if 0 <= j < len(new.keys) and j not in taken and new.keys[j] == old.keys[i]:
                moved[i] = j
                taken.add(j)
    long_old = [i for i in left_old if i not in moved and len(old.keys[i]) >= MIN_MOVED_CHARACTERS]
    return moved | _match_in_turn((old, long_old), (new, [j for j in left_new if j not in taken]))


def _match_changed(old: _Side, new: _Side, counterparts: Mapping[int, int]) -> Matches:
    """Match sentences in only one text with the most similar ones in the other, in paired sections if possible."""
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


def _find_copies(side: _Side, indices: Sequence[int], other: _Side) -> Matches:
    """Return, for sentences repeated on this side, the first occurrence on the other side."""
    first = {key: index for index, key in reversed([*enumerate(other.keys)])}
    return {index: first[side.keys[index]] for index in indices}


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
