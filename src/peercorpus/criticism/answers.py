"""Find the passages of the authors' posts that answer each point of a review, with the confidence in each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import fsum

from peercorpus.criticism.align import Attribution, ReviewMatcher, ReviewSentence
from peercorpus.criticism.calibration import calibrate
from peercorpus.criticism.kinds import split_words
from peercorpus.criticism.labels import FIELD_LETTERS, KIND_LETTERS, Label, read_label
from peercorpus.criticism.passages import Passage, read_passages
from peercorpus.criticism.replies import Reply
from peercorpus.criticism.split import TextPoint
from peercorpus.records.points import AnswerMethod, KindSource, PointAnswer
from peercorpus.records.reviews import Section


@dataclass(frozen=True, slots=True)
class ReviewPoint:
    """A point with the section that it is part of."""

    section: Section
    point: TextPoint

    @property
    def labels(self) -> tuple[Label, ...]:
        """Return the labels of the point, completed by the letter of its list if that is known."""
        label = read_label(self.point.label)
        if label is None or label.letter:
            return (label,) if label else ()
        letter = FIELD_LETTERS.get(self.section.kind, "")
        if not letter and self.point.kind_source is KindSource.HEADING:
            letter = KIND_LETTERS.get(self.point.kind, "")
        return (Label(letter, label.number, label.part),)


def make_matcher(points: Sequence[ReviewPoint]) -> ReviewMatcher:
    """Return the matcher that finds the point of a review that a passage is about."""
    sentences = [
        ReviewSentence(
            point=index,
            words=sentence.words,
            kind=one.point.kind,
            is_question=one.section.text[sentence.start : sentence.end].rstrip().endswith("?"),
        )
        for index, one in enumerate(points)
        for sentence in one.point.sentences
    ]
    return ReviewMatcher(sentences, [one.labels for one in points])


def find_answers(matcher: ReviewMatcher, replies: Iterable[Reply]) -> dict[int, list[PointAnswer]]:
    """Return the passages that answer each point, by its index, in the order of the replies."""
    answers: dict[int, list[PointAnswer]] = {}
    for reply in replies:
        for start, part in reply.parts():
            for index, answer in _find_in(matcher, reply, start, part):
                answers.setdefault(index, []).append(answer)
    return answers


def _find_in(matcher: ReviewMatcher, reply: Reply, offset: int, part: str) -> Iterator[tuple[int, PointAnswer]]:
    passages = read_passages(part)
    attributions = matcher.attribute(passages, [split_words(passage.words) for passage in passages])
    pairs = zip(passages, attributions, strict=True)
    for index, run in groupby(pairs, key=lambda pair: pair[1].point):
        answer = None if index is None else _make_answer(reply, offset, [*run])
        if index is not None and answer is not None:
            yield index, answer


def _make_answer(reply: Reply, offset: int, run: Sequence[tuple[Passage, Attribution]]) -> PointAnswer | None:
    """Return the answer made of successive passages about one point; None if they only repeat the point."""
    first = next((place for place, (passage, found) in enumerate(run) if not only_repeats(passage, found)), None)
    if first is None:
        return None
    start = offset + run[first][0].start
    text = reply.text[start : offset + run[-1][0].end]
    lead = len(text) - len(text.lstrip())
    text = text.strip()
    methods = [found.method for _, found in run]
    method = min(methods, key=[*AnswerMethod].index)
    probability = fsum(found.probability for _, found in run) / len(run)
    return PointAnswer(
        post_id=reply.post_id,
        start=start + lead,
        end=start + lead + len(text),
        text=text,
        method=method,
        confidence=calibrate(probability, method, is_to_all=reply.is_to_all),
        is_to_all=reply.is_to_all,
        created_at=reply.created_at,
    )


def only_repeats(passage: Passage, found: Attribution) -> bool:
    """Return whether a passage only repeats words of the point, or is the heading above the answer."""
    return passage.is_heading or (found.method is AnswerMethod.QUOTE and found.is_repeated)
