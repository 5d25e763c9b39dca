"""What was added, removed and changed from one text of a paper to another, section by section.

Sections correspond by their headings, else by the sentences they share. A sentence that only moved is no change, and
neither is what the page puts around the text, nor the list of references.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, pairwise

from peercorpus.kinds import ChangeKind
from peercorpus.links.align import Pairs, match, match_similar
from peercorpus.links.sections import Part, read_parts
from peercorpus.links.sentences import Sentence

SHARED = 0.3
"""Share of the sentences of the shorter of two sections that both have, from which they correspond."""

MANY = 10_000
"""Sections without a namesake, left times right, from which none is compared with all others."""

MOVED = 20
"""Characters from which a sentence found in another section is the same one, moved; a shorter one may be another."""

NUMBER = re.compile(r"^(\d+|[A-Z])(\.\d+)*\.?\s+")
NOTHING = Part(None, ())


@dataclass(frozen=True, slots=True)
class Passage:
    """One difference.

    Attributes:
        section: Heading of the section, of the earlier text where the passage stands in it, else of the later.
        before: Words of the earlier text, verbatim, without line numbers, running headers and what floats between
            them; empty where nothing stood there.
        after: Of the later text, the same.
    """

    kind: ChangeKind
    section: str | None
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts compared.

    Attributes:
        passages: In the order of the earlier text; of a section that only the later has, at the end.
        equal: Sentences that both texts have, moved ones included.
        before: Sentences of the earlier text.
        after: Sentences of the later text.
    """

    passages: tuple[Passage, ...]
    equal: int
    before: int
    after: int


def compare(earlier: str, later: str) -> Comparison:
    r"""Compare two texts.

    >>> compare("Abstract\nWe sort.", "Abstract\nWe sort. It is fast.").passages
    (Passage(kind=<ChangeKind.ADDED: 'added'>, section='Abstract', before='', after='It is fast.'),)
    """
    left, right = read_parts(earlier), read_parts(later)
    couples = [(one, other, match(_keys(one), _keys(other))) for one, other in _couples(left, right)]
    moved = _moved(couples)
    on_left, on_right = moved.copy(), moved.copy()
    passages: list[Passage] = []
    for number, (one, other, pairs) in enumerate(couples):
        gaps = [
            (_unmoved(number, olds, on_left), _unmoved(number, news, on_right))
            for olds, news in _gaps(one, other, pairs)
        ]
        passages.extend(_differences((earlier, one.heading), (later, other.heading), gaps))
    equal = sum(len(pairs) for _, _, pairs in couples) + moved.total()
    sizes = [sum(len(part.sentences) for part in parts) for parts in (left, right)]
    return Comparison(tuple(passages), equal, *sizes)


def _keys(part: Part) -> list[str]:
    return [sentence.key for sentence in part.sentences]


def _name(part: Part) -> str:
    """A heading without its number, which changes where a section is put in before."""
    return re.sub(r"\W+", " ", NUMBER.sub("", part.heading or "")).strip().casefold()


def _couples(left: Sequence[Part], right: Sequence[Part]) -> list[tuple[Part, Part]]:
    """Every section of both texts, once: with the one it corresponds to, or with nothing."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for place, part in reversed([*enumerate(right)]):
        by_name[_name(part)].append(place)
    found = {place: by_name[name].pop() for place, part in enumerate(left) if by_name[name := _name(part)]}
    free = sorted({*range(len(right))} - {*found.values()})
    found |= dict(_alike(left, right, [place for place in range(len(left)) if place not in found], free))
    couples = [(part, right[found[place]] if place in found else NOTHING) for place, part in enumerate(left)]
    taken = set(found.values())
    return [*couples, *((NOTHING, part) for place, part in enumerate(right) if place not in taken)]


def _alike(left: Sequence[Part], right: Sequence[Part], old: list[int], new: list[int]) -> Iterator[tuple[int, int]]:
    """Sections of other headings that share sentences, each with the one that shares most; none of very many."""
    if len(old) * len(new) > MANY:
        return
    keys = {place: set(_keys(right[place])) for place in new}
    for place in old:
        own = set(_keys(left[place]))
        shared = {other: len(own & keys[other]) / max(1, min(len(own), len(keys[other]))) for other in keys}
        best = max(shared, key=lambda other: shared[other], default=None)
        if best is not None and shared[best] >= SHARED:
            del keys[best]
            yield place, best


def _gaps(one: Part, other: Part, pairs: Pairs) -> Iterator[tuple[Sequence[Sentence], Sequence[Sentence]]]:
    """What stands between equal sentences, on both sides."""
    old = new = 0
    for left, right in [*pairs, (len(one.sentences), len(other.sentences))]:
        if left > old or right > new:
            yield one.sentences[old:left], other.sentences[new:right]
        old, new = left + 1, right + 1


def _moved(couples: Sequence[tuple[Part, Part, Pairs]]) -> Counter[str]:
    """Sentences left without an equal one at their place that have one at another, and how often."""
    olds, news = Counter[str](), Counter[str]()
    for number, (one, other, pairs) in enumerate(couples):
        for old, new in _gaps(one, other, pairs):
            olds.update(_known_as(number, sentence) for sentence in old)
            news.update(_known_as(number, sentence) for sentence in new)
    return olds & news


def _known_as(section: int, sentence: Sentence) -> str:
    """What a sentence is known by where it moved to; a short one only in its own section."""
    return sentence.key if len(sentence.key) >= MOVED else f"{section} {sentence.key}"


Runs = list[list[Sentence]]
"""Sentences that follow each other, with nothing in between."""


def _unmoved(section: int, sentences: Sequence[Sentence], moved: Counter[str]) -> Runs:
    """Sentences without the moved ones, in unbroken runs; each moved one is taken out of the count."""
    runs: Runs = [[]]
    for sentence in sentences:
        name = _known_as(section, sentence)
        if moved[name] > 0:
            moved[name] -= 1
            runs.append([])
        else:
            runs[-1].append(sentence)
    return runs


Side = tuple[str, str | None]
"""A text, and the heading of one of its sections."""


def _differences(left: Side, right: Side, gaps: Sequence[tuple[Runs, Runs]]) -> Iterator[Passage]:
    """The passages that tell how one section became the other."""
    olds = [sentence for gap in gaps for run in gap[0] for sentence in run]
    news = [sentence for gap in gaps for run in gap[1] for sentence in run]
    pairs = match_similar([sentence.words for sentence in olds], [sentence.words for sentence in news])
    later = {olds[i].start: news[j] for i, j in pairs}
    taken = {news[j].start for _, j in pairs}
    for removed, added in gaps:
        for run in _divided(removed, later.keys()):
            before, after = _words(left[0], run), later.get(run[0].start)
            if after:
                yield Passage(ChangeKind.CHANGED, left[1], before, _words(right[0], [after]))
            else:
                yield Passage(ChangeKind.REMOVED, left[1], before, "")
        for run in _divided(added, taken):
            if run[0].start not in taken:
                yield Passage(ChangeKind.ADDED, right[1], "", _words(right[0], run))


def _divided(runs: Runs, alone: Set[int]) -> Iterator[list[Sentence]]:
    """Unbroken runs in which some sentences, known by their start, stand alone."""
    for run in runs:
        for is_alone, group in groupby(run, key=lambda sentence: sentence.start in alone):
            if is_alone:
                yield from ([sentence] for sentence in group)
            else:
                yield [*group]


def _words(text: str, run: Sequence[Sentence]) -> str:
    """Sentences with the space that stands between them, or the end of a line where more than space does."""
    between = (text[one.end : other.start] for one, other in pairwise(run))
    spaces = (space if space.isspace() else "\n" for space in between)
    return run[0].words + "".join(space + sentence.words for space, sentence in zip(spaces, run[1:], strict=True))
