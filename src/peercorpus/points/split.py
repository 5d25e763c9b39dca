"""Split the fields of a review into points: the form's field first, then headings and lists, then words.

`split_text` covers a text without gaps: joined in order, its points are the text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType

from peercorpus.points.kinds import read_aspect, read_heading_kind, read_sentence_kind, split_words
from peercorpus.points.passages import Passage, read_passages
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import CRITICAL_KINDS, KindSource, PointAspect, PointKind

FIELD_KINDS: Mapping[SectionKind, PointKind] = MappingProxyType(
    {
        SectionKind.SUMMARY: PointKind.SUMMARY,
        SectionKind.STRENGTHS: PointKind.STRENGTH,
        SectionKind.WEAKNESSES: PointKind.WEAKNESS,
        SectionKind.QUESTIONS: PointKind.QUESTION,
        SectionKind.LIMITATIONS: PointKind.LIMITATION,
    }
)
"""Kind of every point of a field that is for this kind only."""

OPENERS = frozenset(
    (
        "also",
        "moreover",
        "furthermore",
        "additionally",
        "besides",
        "another",
        "finally",
        "lastly",
        "secondly",
        "thirdly",
    )
)
"""Words with which a further criticism begins within a paragraph."""

MIN_SENTENCES = 2
"""Sentences of a point after which such a word begins another one; our choice."""


@dataclass(frozen=True, slots=True)
class TextPoint:
    """A point of one text; attributes as in `Point`.

    Attributes:
        sentences: Its sentences.
    """

    start: int
    end: int
    kind: PointKind
    kind_source: KindSource
    label: str | None
    aspect: PointAspect | None
    sentences: tuple["PointSentence", ...]


@dataclass(frozen=True, slots=True)
class PointSentence:
    """A sentence of a point: its span in the text, and its words in lower case."""

    start: int
    end: int
    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A passage with its words and its kind."""

    passage: Passage
    words: list[str]
    kind: PointKind
    source: KindSource


def split_text(text: str, section_kind: SectionKind) -> list[TextPoint]:
    """Return the points of a field's text, in order and without gaps; none for an empty text."""
    passages = read_passages(text)
    sentences = [*_read_kinds(passages, FIELD_KINDS.get(section_kind))]
    return [
        point for _, block in groupby(sentences, key=lambda one: one.passage.block) for point in _split_block([*block])
    ]


def _read_kinds(passages: Sequence[Passage], field_kind: PointKind | None) -> Iterator[_Sentence]:
    """Yield the sentences of a text, each with its kind."""
    has_signs = {"+", "-"} <= {passage.mark for passage in passages}
    below: PointKind | None = None
    before: PointKind | None = None
    block = -1
    is_opening = field_kind is None
    for passage in passages:
        words = split_words(passage.words)
        if passage.block != block:
            block, before = passage.block, None
        if passage.is_heading:
            below = read_heading_kind(words)
            yield _Sentence(passage, words, PointKind.OTHER, KindSource.NONE)
            continue
        signed = {"+": PointKind.STRENGTH, "-": PointKind.WEAKNESS}.get(passage.mark) if has_signs else None
        stated = below or signed
        if stated is not None or field_kind is not None:
            source = KindSource.HEADING if stated is not None else KindSource.FIELD
            yield _Sentence(passage, words, stated or field_kind or PointKind.OTHER, source)
            continue
        told = read_sentence_kind(words, is_question=passage.words.endswith("?"))
        is_opening = is_opening and not passage.is_item and told not in CRITICAL_KINDS
        kind = told or before or (PointKind.SUMMARY if is_opening else PointKind.OTHER)
        before = kind
        yield _Sentence(
            passage, words, kind, KindSource.WORDS if told or kind is not PointKind.OTHER else KindSource.NONE
        )


def _split_block(sentences: Sequence[_Sentence]) -> Iterator[TextPoint]:
    """Yield the points of one paragraph or list item: an item is one point."""
    first = sentences[0].passage
    if first.is_item or first.is_heading:
        yield _make_point(sentences, first.label)
        return
    for _, run in groupby(sentences, key=_read_side):
        for part in _split_run([*run]):
            yield _make_point(part, None)


def _read_side(sentence: _Sentence) -> PointKind | None:
    """Return what sets a sentence apart from its neighbours: its kind, or None for all that is critical."""
    return None if sentence.kind in CRITICAL_KINDS else sentence.kind


def _split_run(sentences: Sequence[_Sentence]) -> Iterator[Sequence[_Sentence]]:
    """Yield successive sentences of one side as points: a further criticism begins another one."""
    start = 0
    for index, sentence in enumerate(sentences):
        if index - start >= MIN_SENTENCES and sentence.words and sentence.words[0] in OPENERS:
            yield sentences[start:index]
            start = index
    yield sentences[start:]


def _make_point(sentences: Sequence[_Sentence], label: str | None) -> TextPoint:
    kind, source = _choose_kind(sentences)
    words = [word for sentence in sentences for word in sentence.words]
    return TextPoint(
        start=sentences[0].passage.start,
        end=sentences[-1].passage.end,
        kind=kind,
        kind_source=source,
        label=label,
        aspect=read_aspect(words) if kind is not PointKind.OTHER and kind is not PointKind.SUMMARY else None,
        sentences=tuple(PointSentence(one.passage.start, one.passage.end, one.words) for one in sentences),
    )


def _choose_kind(sentences: Iterable[_Sentence]) -> tuple[PointKind, KindSource]:
    """Return the kind of most sentences, and how it is known; what asks for an answer counts before the rest."""
    counts: dict[PointKind, int] = {}
    sources: dict[PointKind, KindSource] = {}
    for sentence in sentences:
        counts[sentence.kind] = counts.get(sentence.kind, 0) + 1
        sources.setdefault(sentence.kind, sentence.source)
    critical = {kind: count for kind, count in counts.items() if kind in CRITICAL_KINDS}
    chosen = critical or counts
    kind = max(chosen, key=lambda one: chosen[one])
    return kind, sources[kind]
