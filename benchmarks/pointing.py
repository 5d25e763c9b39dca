"""Measures points of reviews against DISAPERE, whose sentences people labelled and joined, and what points cost.

Weights, words and calibration were chosen on one half of its forums; the other half was only counted. The program
knows both texts of a review-rebuttal pair, but no label.
"""

import gzip
import hashlib
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Protocol

from peercorpus.criticism.answers import Reply, ReviewPoint, find_answers, make_matcher
from peercorpus.criticism.kinds import content_words, split_words
from peercorpus.criticism.passages import read_passages
from peercorpus.criticism.split import split_text
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import CRITICAL_KINDS
from peercorpus.records.reviews import Section

DATA = Path(__file__).parents[2] / "shared" / "data" / "threads-disapere" / "final_dataset.jsonl.gz"
Pairs = set[tuple[int, int]]
Labels = tuple[str, str | None]
"""Kind and aspect of a point."""
Scores = list[list[float]]
K1, B = 1.2, 0.75
"""Usual parameters of BM25 (Robertson and Zaragoza 2009, section 3.2)."""
ASPECTS = {
    "asp_substance": "experiments",
    "asp_soundness-correctness": "soundness",
    "asp_clarity": "clarity",
    "asp_motivation-impact": "significance",
    "asp_replicability": "reproducibility",
    "asp_originality": "novelty",
    "asp_meaningful-comparison": "comparison",
}
"""Aspects of DISAPERE → the nearest of ours; "substance" is mostly asked-for experiments."""


class Span(Protocol):
    """A passage of a text."""

    @property
    def start(self) -> int:
        """Offset of its first character."""

    @property
    def end(self) -> int:
        """Offset after its last character."""


@dataclass(frozen=True)
class LabelledPair:
    """A review and its rebuttal with people's labels of their sentences."""

    forum_id: str
    review: str
    rebuttal: str
    review_sentences: Sequence[dict[str, Any]]
    rebuttal_sentences: Sequence[dict[str, Any]]

    @property
    def is_counted(self) -> bool:
        """Whether it is in the test half, which was used for no choice."""
        return hashlib.sha256(self.forum_id.encode()).digest()[0] % 2 == 1

    @cached_property
    def gold(self) -> Pairs:
        """Sentences of the rebuttal with the sentences of the review that they are about."""
        return {
            (index, about)
            for index, sentence in enumerate(self.rebuttal_sentences)
            if sentence["alignment"][0] == "context_sentences"
            for about in sentence["alignment"][1] or ()
        }

    @property
    def reply(self) -> Reply:
        """The rebuttal as a post."""
        return Reply("rebuttal", self.rebuttal, None)

    @cached_property
    def points(self) -> list[ReviewPoint]:
        """The review's points."""
        section = Section(SectionKind.ASSESSMENT, "review", self.review)
        return [ReviewPoint(section, point) for point in split_text(self.review, section.kind)]

    @cached_property
    def point_of(self) -> list[int]:
        """The point of each sentence of the review."""
        spans = [(one.point.start, one.point.end) for one in self.points]
        return [_place(spans, span) for span in _spans(self.review_sentences)]


def _join(sentences: Sequence[dict[str, Any]]) -> str:
    return "".join(sentence["text"] + (sentence["suffix"] or " ") for sentence in sentences)


def _spans(sentences: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
    ends = accumulate((len(one["text"]) + len(one["suffix"] or " ") for one in sentences), initial=0)
    return [(start, start + len(one["text"])) for start, one in zip(ends, sentences, strict=False)]


def _place(spans: Sequence[tuple[int, int]], span: tuple[int, int]) -> int:
    """The span that most of another one lies in."""
    return max(range(len(spans)), key=lambda index: min(span[1], spans[index][1]) - max(span[0], spans[index][0]))


def read_pairs() -> list[LabelledPair]:
    """The review-rebuttal pairs of DISAPERE."""
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        LabelledPair(
            row["metadata"]["forum_id"],
            _join(row["review_sentences"]),
            _join(row["rebuttal_sentences"]),
            row["review_sentences"],
            row["rebuttal_sentences"],
        )
        for row in rows
    ]


def attribute(pair: LabelledPair) -> Pairs:
    """Sentences of the rebuttal with the sentences of the review that they answer, by the points."""
    passages = read_passages(pair.rebuttal)
    found = make_matcher(pair.points).attribute(passages, [split_words(one.words) for one in passages])
    ours = [(sentence.start, sentence.end) for one in pair.points for sentence in one.point.sentences]
    reviewed = [_place(ours, span) for span in _spans(pair.review_sentences)]
    replied = [_place([(one.start, one.end) for one in passages], span) for span in _spans(pair.rebuttal_sentences)]
    return {
        (index, about)
        for index, passage in enumerate(replied)
        for about, sentence in enumerate(reviewed)
        if sentence in found[passage].sentences
    }


def score_bm25(pair: LabelledPair) -> Scores:
    """BM25 of each sentence of the rebuttal with each of the review."""
    documents = [Counter(content_words(split_words(one["text"]))) for one in pair.review_sentences]
    seen = Counter(word for words in documents for word in words)
    rarity = {word: math.log(1 + (len(documents) - count + 0.5) / (count + 0.5)) for word, count in seen.items()}
    mean = sum(map(sum, (words.values() for words in documents))) / len(documents) or 1
    lengths = [K1 * (1 - B + B * sum(words.values()) / mean) for words in documents]
    queries = [content_words(split_words(one["text"])) for one in pair.rebuttal_sentences]
    return [
        [
            sum(rarity[word] * words[word] * (K1 + 1) / (words[word] + length) for word in query if word in words)
            for words, length in zip(documents, lengths, strict=True)
        ]
        for query in queries
    ]


def score_tfidf(pair: LabelledPair) -> Scores:
    """Cosine of TF-IDF of each sentence of the rebuttal with each of the review."""
    texts = [*pair.review_sentences, *pair.rebuttal_sentences]
    rows = [Counter(content_words(split_words(one["text"]))) for one in texts]
    seen = Counter(word for row in rows for word in row)
    weighed = [{word: count * math.log(len(rows) / seen[word]) for word, count in row.items()} for row in rows]
    norms = [math.sqrt(sum(value**2 for value in row.values())) or 1.0 for row in weighed]
    unit = [{word: value / norm for word, value in row.items()} for row, norm in zip(weighed, norms, strict=True)]
    reviewed, replied = unit[: len(pair.review_sentences)], unit[len(pair.review_sentences) :]
    return [[sum(value * other.get(word, 0) for word, value in row.items()) for other in reviewed] for row in replied]


def score_order(pair: LabelledPair) -> Scores:
    """Nearness of each sentence of the review to the place that the rebuttal's has in its own text."""
    count, of_review = len(pair.rebuttal_sentences), len(pair.review_sentences)
    return [
        [-abs((index + 0.5) / count * of_review - about - 0.5) for about in range(of_review)] for index in range(count)
    ]


def best_of(scores: Scores, most: int) -> Pairs:
    """The best n sentences for each sentence, without those that share nothing."""
    return {
        (index, about)
        for index, row in enumerate(scores)
        for about in sorted(range(len(row)), key=lambda one: -row[one])[:most]
        if row[about] != 0
    }


def measure(found: Iterable[tuple[Pairs, Pairs]]) -> tuple[float, float, float]:
    """Precision, recall and F1 over all pairs of gold and found together."""
    right = stated = wanted = 0
    for gold, told in found:
        right, stated, wanted = right + len(gold & told), stated + len(told), wanted + len(gold)
    precision, recall = right / max(stated, 1), right / max(wanted, 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-12)


def by_point(pair: LabelledPair, pairs: Pairs) -> Pairs:
    """The same pairs with the points of the review instead of its sentences."""
    return {(index, pair.point_of[about]) for index, about in pairs}


METHODS: dict[str, Callable[[LabelledPair], Scores]] = {"BM25": score_bm25, "TF-IDF": score_tfidf, "order": score_order}


def measure_alignment(pairs: Sequence[LabelledPair]) -> None:
    """Print the table of alignment; a baseline takes as many sentences as is best on the half that was chosen on."""
    chosen, counted = ([one for one in pairs if one.is_counted is part] for part in (False, True))
    print("\n| method | precision | recall | F1, sentences | F1, points | F1, other half |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, score in METHODS.items():
        most = max(range(1, 6), key=lambda most: measure((one.gold, best_of(score(one), most)) for one in chosen)[2])
        _print_alignment(f"{name}, best {most}", chosen, counted, partial(_find_best, score, most))
    _print_alignment("points", chosen, counted, attribute)


def _find_best(score: Callable[[LabelledPair], Scores], most: int, pair: LabelledPair) -> Pairs:
    return best_of(score(pair), most)


def _print_alignment(
    name: str, chosen: Sequence[LabelledPair], counted: Sequence[LabelledPair], find: Callable[[LabelledPair], Pairs]
) -> None:
    found = [(one, find(one)) for one in counted]
    precision, recall, sentences = measure((one.gold, told) for one, told in found)
    points = measure((by_point(one, one.gold), by_point(one, told)) for one, told in found)[2]
    other = measure((one.gold, find(one)) for one in chosen)[2]
    print(f"| {name} | {precision:.3f} | {recall:.3f} | {sentences:.3f} | {points:.3f} | {other:.3f} |", flush=True)


def judge_answers(pair: LabelledPair) -> Iterator[tuple[float, bool]]:
    """Confidence of each answer, and whether half of its sentences at least are about a sentence of the point."""
    for index, answers in find_answers(make_matcher(pair.points), [pair.reply]).items():
        for answer in answers:
            own = sentences_of(pair, answer)
            if own:
                yield answer.confidence, is_right(pair, index, own)


def sentences_of(pair: LabelledPair, answer: Span) -> list[int]:
    """The sentences of the rebuttal that an answer consists of."""
    spans = enumerate(_spans(pair.rebuttal_sentences))
    return [place for place, (start, end) in spans if answer.start <= (start + end) // 2 < answer.end]


def is_right(pair: LabelledPair, index: int, own: Sequence[int]) -> bool:
    """Whether half of the sentences of an answer at least are about a sentence of its point."""
    inside = {about for about, point in enumerate(pair.point_of) if point == index}
    return sum(any((place, about) in pair.gold for about in inside) for place in own) >= len(own) / 2


def measure_confidence(pairs: Sequence[LabelledPair]) -> None:
    """Print how many answers of each confidence are right."""
    print("\n| confidence | answers | right | answers, other half | right, other half |\n|---|---:|---:|---:|---:|")
    judged = {
        part: [one for pair in pairs if pair.is_counted is part for one in judge_answers(pair)]
        for part in (True, False)
    }
    bounds = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)
    for low, high in [*pairwise(bounds), (0.0, 1.01)]:
        cells = []
        for part in (True, False):
            right = [is_right for confidence, is_right in judged[part] if low <= confidence < high]
            cells.append(f"{len(right)} | {sum(right) / max(len(right), 1):.3f}")
        print(f"| {low:g} to {min(high, 1):g} | {' | '.join(cells)} |")


def read_label(sentence: dict[str, Any]) -> str | None:
    """Our kind for people's label of a sentence; None without one."""
    fine = sentence["fine_review_action"].rpartition("_")[2]
    by_fine = {
        **dict.fromkeys(("experiment", "result", "edit"), "suggestion"),
        **dict.fromkeys(("explanation", "clarification"), "question"),
        "typo": "minor",
        "summary": "summary",
        "heading": "other",
    }
    if sentence["review_action"] == "arg_evaluative":
        return {"pol_negative": "weakness", "pol_positive": "strength"}.get(sentence["polarity"])
    return by_fine.get(fine) or {"arg_social": "other"}.get(sentence["review_action"])


def by_rules(pair: LabelledPair, place: int) -> Labels:
    """Kind and aspect of a point by the rules."""
    point = pair.points[place].point
    return point.kind, point.aspect


def count_labels(
    pairs: Sequence[LabelledPair], tell: Callable[[LabelledPair, int], Labels]
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """People's labels of sentences of the test half with those of their points: kinds, and aspects if known."""
    kinds: Counter[tuple[str, str]] = Counter()
    aspects: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        if not pair.is_counted:
            continue
        for sentence, place in zip(pair.review_sentences, pair.point_of, strict=True):
            kind, aspect = tell(pair, place)
            if label := read_label(sentence):
                kinds[label, kind] += 1
            if sentence["aspect"] in ASPECTS and aspect:
                aspects[ASPECTS[sentence["aspect"]], aspect] += 1
    return kinds, aspects


def find_critical(kinds: Counter[tuple[str, str]]) -> tuple[float, float]:
    """Precision and recall of whether a sentence asks for an answer."""
    critical = {kind.value for kind in CRITICAL_KINDS}
    sides: Counter[tuple[bool, bool]] = Counter()
    for (label, told), count in kinds.items():
        sides[label in critical, told in critical] += count
    right = sides[True, True]
    return right / max(right + sides[False, True], 1), right / max(right + sides[True, False], 1)


def measure_kinds(pairs: Sequence[LabelledPair]) -> None:
    """Print how kinds and aspects of points agree with people's labels of their sentences, on the counted half."""
    kinds, aspects = count_labels(pairs, by_rules)
    for name, counts in (("kind", kinds), ("aspect, where one is told", aspects)):
        _print_agreement(name, counts)
    precision, recall = find_critical(kinds)
    print(f"\nAsks for an answer: precision {precision:.3f}, recall {recall:.3f}.")


def _print_agreement(name: str, counts: Counter[tuple[str, str]]) -> None:
    print(f"\n| {name} | sentences | precision | recall | F1 |\n|---|---:|---:|---:|---:|")
    for kind in sorted({label for label, _ in counts}):
        both = counts[kind, kind]
        wanted = sum(count for (label, _), count in counts.items() if label == kind)
        told = sum(count for (_, one), count in counts.items() if one == kind)
        precision, recall = both / max(told, 1), both / max(wanted, 1)
        print(f"| {kind} | {wanted} | {precision:.2f} | {recall:.2f} | {2 * both / max(wanted + told, 1):.2f} |")
    agreed = sum(count for (label, told), count in counts.items() if label == told)
    print(f"| all | {sum(counts.values())} | {agreed / max(sum(counts.values()), 1):.3f} | | |")


def measure_pace(pairs: Sequence[LabelledPair]) -> None:
    """Print reviews a second of one process: split alone, and with the answers of their rebuttals."""
    best = {"split": math.inf, "split and answered": math.inf}
    for _ in range(3):
        started = time.process_time()
        read = [split_text(one.review, SectionKind.ASSESSMENT) for one in pairs]
        best["split"] = min(best["split"], time.process_time() - started)
        for points, one in zip(read, pairs, strict=True):
            section = Section(SectionKind.ASSESSMENT, "review", one.review)
            matcher = make_matcher([ReviewPoint(section, point) for point in points])
            find_answers(matcher, [Reply("", one.rebuttal, None)])
        best["split and answered"] = min(best["split and answered"], time.process_time() - started)
    print("\n| work | reviews/s of a core |\n|---|---:|")
    for name, seconds in best.items():
        print(f"| {name} | {len(pairs) / seconds:,.0f} |")


def measure_points() -> None:
    """Print all tables of docs/points.md."""
    pairs = read_pairs()
    counted = sum(one.is_counted for one in pairs)
    print(f"\n{len(pairs)} review-rebuttal pairs: {counted} counted, {len(pairs) - counted} that choices were made on.")
    measure_alignment(pairs)
    measure_confidence(pairs)
    measure_kinds(pairs)
    measure_pace(pairs)
