"""Measures what a model adds to the points that rules find, on the counted half of DISAPERE.

The model gets the same questions as with `publish --points model`: only what the rules left open.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from uuid import uuid4

import pointing
from peercorpus.criticism.answers import find_answers, make_matcher
from peercorpus.models.endpoint import MODEL_KEY_VARIABLE, AskedModel, ModelSettings
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import Point
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.release.point_rows import Annotation
from pointing import LabelledPair, Labels, Pairs


def make_points(pair: LabelledPair) -> Iterator[Point]:
    """The points of a pair as the stage writes them, with the answers by rules; their ids are their indices."""
    answers = find_answers(make_matcher(pair.points), [pair.reply])
    for index, one in enumerate(pair.points):
        yield Point(
            point_id=str(index),
            forum_id=pair.forum_id,
            venue_id="",
            review_id=pair.forum_id,
            reviewer="",
            number=index + 1,
            field=one.section.field,
            section_kind=SectionKind.ASSESSMENT,
            start=one.point.start,
            end=one.point.end,
            text=pair.review[one.point.start : one.point.end],
            kind=one.point.kind,
            kind_source=one.point.kind_source,
            label=one.point.label,
            aspect=one.point.aspect,
            answers=tuple(answers.get(index, ())),
        )


@dataclass
class Gain:
    """Results of a model for the test pairs, compared with those of the rules.

    Attributes:
        told: For each pair what the model told, by the index of the point.
        found: For each pair people's pairs of sentences, those of the rules, and those that the model added.
        answers: Answers that the model told, and how many of them are right.
    """

    told: list[tuple[LabelledPair, Mapping[int, Annotation]]] = field(default_factory=list)
    found: list[tuple[LabelledPair, Pairs, Pairs]] = field(default_factory=list)
    answers: int = 0
    right: int = 0

    @property
    def pairs(self) -> list[LabelledPair]:
        """The pairs that were counted."""
        return [pair for pair, _ in self.told]

    def add(self, pair: LabelledPair, told: Mapping[int, Annotation]) -> None:
        """Add one pair."""
        added: Pairs = set()
        for index, annotation in told.items():
            for answer in annotation.answers:
                own = pointing.sentences_of(pair, answer)
                inside = [about for about, point in enumerate(pair.point_of) if point == index]
                added.update(product(own, inside))
                self.answers += bool(own)
                self.right += bool(own) and pointing.is_right(pair, index, own)
        self.told.append((pair, told))
        self.found.append((pair, pointing.attribute(pair), added))

    def measure(self, *, with_model: bool) -> tuple[float, float, float, float]:
        """Precision, recall and F1 of pairs of sentences, and F1 of pairs of a sentence and a point."""
        found = [(pair, rules | added if with_model else rules) for pair, rules, added in self.found]
        by_point = [(pointing.by_point(pair, pair.gold), pointing.by_point(pair, told)) for pair, told in found]
        return (*pointing.measure((pair.gold, told) for pair, told in found), pointing.measure(by_point)[2])

    def labels(self, *, with_model: bool) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
        """People's labels of sentences with those of their points: kinds, and aspects if known."""
        by_pair = {id(pair): told for pair, told in self.told}

        def tell(pair: LabelledPair, place: int) -> Labels:
            kind, aspect = pointing.by_rules(pair, place)
            annotation = by_pair[id(pair)].get(place, Annotation()) if with_model else Annotation()
            return annotation.kind or kind, annotation.aspect or aspect

        return pointing.count_labels(self.pairs, tell)


def ask_model(pairs: Sequence[LabelledPair], annotator: Annotator) -> Gain:
    """Ask the model about the counted pairs."""
    gain = Gain()
    for pair in pairs:
        if pair.is_counted:
            told = annotator.annotate_review([*make_points(pair)], [pair.reply])
            gain.add(pair, {int(name): annotation for name, annotation in told.items()})
    return gain


def _agree(counts: Counter[tuple[str, str]]) -> int:
    return sum(count for (label, told), count in counts.items() if label == told)


def print_gain(gain: Gain, annotator: Annotator) -> None:
    """Print the tables: rules alone, and with the model."""
    print(
        f"\n{len(gain.pairs)} pairs; {annotator.model.name} told {annotator.kinds} kinds, {annotator.aspects} aspects"
    )
    print(f"and the answers to {annotator.answered} points; {annotator.unread} questions had no usable answer.")
    print("\n| answers | precision | recall | F1, sentences | F1, points |\n|---|---:|---:|---:|---:|")
    for name, with_model in (("rules", False), ("rules and model", True)):
        print(f"| {name} | {' | '.join(f'{one:.3f}' for one in gain.measure(with_model=with_model))} |")
    print(f"\nAnswers that the model told: {gain.answers}; right: {gain.right / max(gain.answers, 1):.3f}.")
    print("\n| labels | kinds right | asks for an answer: precision | recall | aspects told | right |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, with_model in (("rules", False), ("rules and model", True)):
        kinds, aspects = gain.labels(with_model=with_model)
        precision, recall = pointing.find_critical(kinds)
        shares = f"{_agree(kinds) / max(kinds.total(), 1):.3f} | {precision:.3f} | {recall:.3f}"
        print(f"| {name} | {shares} | {aspects.total()} | {_agree(aspects) / max(aspects.total(), 1):.3f} |")


def measure_model(url: str, model: str, answers: Path | None, max_questions: int) -> None:
    """Ask a model and print what it adds; its key is read from PEERCORPUS_MODEL_KEY."""
    settings = ModelSettings(url, model, MODEL_KEY_VARIABLE)
    with closing(AskedModel.of(settings, answers, uuid4().hex, max_questions)) as asked:
        annotator = Annotator(asked)
        print_gain(ask_model(pointing.read_pairs(), annotator), annotator)
