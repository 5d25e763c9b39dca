"""Split the fields of a review into points, by the form's field first, then headings and lists, then words.

The points of `split_text` cover the text without gaps: joined in order, they are the text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType

from peercorpus.criticism.kinds import read_aspect, read_heading_kind, read_sentence_kind, split_words
from peercorpus.criticism.passages import BOLD_LINE, Passage, read_passages
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
"""Kind of all points in a field that is meant for one kind only."""

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
"""Words that begin a further criticism within a paragraph."""

MIN_SENTENCES = 2
"""Fewest sentences of a point after which such a word begins another one; our choice."""


MAX_TITLE_SENTENCES = 2
"""Most sentences of a title in bold, including its label; our choice."""


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
    if not passages and text.strip():  # Rules and dashes only.
        return [
            TextPoint(0, len(text), PointKind.OTHER, KindSource.NONE, None, None, (PointSentence(0, len(text), ()),))
        ]
    reader = _KindReader(FIELD_KINDS.get(section_kind), has_signs={"+", "-"} <= {one.mark for one in passages})
    points: list[TextPoint] = []
    title: str | None = None
    for _, block in groupby(map(reader.read, passages), key=lambda one: one.passage.block):
        sentences = [*block]
        points.extend(_split_block(sentences, title))
        title = _read_title(title, sentences)
    return points


class _KindReader:
    """Classifies each sentence of one text by kind; sentences must come in order.

    Args:
        field_kind: Kind of everything in the field; None if it is for several kinds.
        has_signs: Whether the text has items marked `+` and items marked `-`.
    """

    def __init__(self, field_kind: PointKind | None, *, has_signs: bool) -> None:
        self._field_kind = field_kind
        self._signs = {"+": PointKind.STRENGTH, "-": PointKind.WEAKNESS} if has_signs else {}
        self._below: PointKind | None = None
        self._before: PointKind | None = None
        self._block = -1
        self._is_opening = True

    def read(self, passage: Passage) -> _Sentence:
        """Return a passage with its words and its kind."""
        words = split_words(passage.words)
        if passage.block != self._block:
            self._block, self._before = passage.block, None
        if passage.is_heading:
            self._below = read_heading_kind(words)
        if passage.is_heading or passage.is_reference:
            return _Sentence(passage, words, PointKind.OTHER, KindSource.NONE)
        stated = self._below or self._signs.get(passage.mark)
        if stated is not None:
            return _Sentence(passage, words, stated, KindSource.HEADING)
        if self._field_kind is not None:
            return _Sentence(passage, words, self._field_kind, KindSource.FIELD)
        kind = self._read_words(passage, words)
        return _Sentence(passage, words, kind, KindSource.NONE if kind is PointKind.OTHER else KindSource.WORDS)

    def _read_words(self, passage: Passage, words: Sequence[str]) -> PointKind:
        """Return the kind that the words indicate, or that of the sentence before; `summary` at the beginning."""
        indicated = read_sentence_kind(words, is_question=passage.words.endswith("?"))
        self._is_opening = self._is_opening and not passage.is_item and indicated not in CRITICAL_KINDS
        self._before = indicated or self._before or (PointKind.SUMMARY if self._is_opening else PointKind.OTHER)
        return self._before


def _read_title(title: str | None, block: Sequence[_Sentence]) -> str | None:
    """Return the label that applies to the paragraphs after a block: that of a title in bold ("**W1. Clouds**")."""
    first = block[0].passage
    if not first.is_item and not first.is_heading:
        return title
    is_title = len(block) <= MAX_TITLE_SENTENCES and BOLD_LINE.match(" ".join(one.passage.words for one in block))
    return first.label if is_title else None


def _split_block(sentences: Sequence[_Sentence], label: str | None) -> Iterator[TextPoint]:
    """Yield the points of one paragraph or list item: an item is one point."""
    first = sentences[0].passage
    if first.is_item or first.is_heading:
        yield _make_point(sentences, first.label)
        return
    for _, run in groupby(sentences, key=_read_side):
        for part in _split_run([*run]):
            yield _make_point(part, label)


def _read_side(sentence: _Sentence) -> PointKind | None:
    """Return the side of a sentence: its kind, or None for all critical kinds."""
    return None if sentence.kind in CRITICAL_KINDS else sentence.kind


def _split_run(sentences: Sequence[_Sentence]) -> Iterator[Sequence[_Sentence]]:
    """Yield successive sentences of one side as points: a further criticism begins another point."""
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
    """Return the kind of most sentences, and how it was determined; kinds that ask for an answer take precedence."""
    counts: dict[PointKind, int] = {}
    sources: dict[PointKind, KindSource] = {}
    for sentence in sentences:
        counts[sentence.kind] = counts.get(sentence.kind, 0) + 1
        sources.setdefault(sentence.kind, sentence.source)
    critical = {kind: count for kind, count in counts.items() if kind in CRITICAL_KINDS}
    chosen = critical or counts
    kind = max(chosen, key=lambda one: chosen[one])
    return kind, sources[kind]
