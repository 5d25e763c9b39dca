"""Score parsed answers: one inspect_ai scorer for each kind of measurement."""

from collections.abc import Callable
from statistics import fmean
from typing import Any

import msgspec
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored
from peercorpus.benchmark.baselines.baseline import HUMAN
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.measures import select_measures
from peercorpus.benchmark.outcomes import (
    EACH_KEY,
    BertScored,
    CaseOutcome,
    DecisionRecord,
    Embedded,
    OutcomeRecord,
    Overlap,
    Scored,
    cover_review,
    pair_with_means,
    read_people,
    read_record,
    to_metadata,
)
from peercorpus.benchmark.solvers import LENIENT, PEOPLE, READ, read_answer, read_asked
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics import bertscore
from peercorpus.metrics.bertscore import bert_scores
from peercorpus.metrics.embedding import embed_cosines
from peercorpus.metrics.review_points import count_points
from peercorpus.metrics.text_overlap import count_bleu, rouge_l


@metric
def numbers_of(scored: str) -> Metric:
    """Compute the numbers of a scorer over the scored answers; an undefined number is omitted.

    Args:
        scored: Name of the scorer.
    """

    def compute(scores: list[SampleScore]) -> Value:
        kind = Scored(scored)
        outcomes = [
            CaseOutcome("", "", record)
            for score in scores
            for record in _read_records(kind, score.score.metadata or {})
        ]
        numbers_by_name: dict[str, str | int | float | bool | None] = {}
        for measure in select_measures(kind, outcomes) if outcomes else ():
            try:
                numbers_by_name[f"{measure.group} {measure.name}".strip()] = measure.of(outcomes)
            except UndefinedMetricError:
                continue
        return numbers_by_name

    return compute


def _read_records(kind: Scored, metadata: dict[str, Any]) -> list[OutcomeRecord]:
    if EACH_KEY in metadata:
        return [person[HUMAN] for person in read_people(kind, metadata)]
    return [read_record(kind, metadata)]


Read = Callable[[dict[str, Any], dict[str, Any]], tuple[OutcomeRecord, float]]
"""Takes a parsed answer and the sample's metadata; returns the record and the single number that a log viewer shows."""


def _read_leniently(read: Read, answer: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any] | None:
    """Return the record of an unreadable answer's lenient reading; None if there is none."""
    if LENIENT not in answer:
        return None
    try:
        return to_metadata(read(answer[LENIENT], metadata)[0])
    except UnreadableAnswerError:
        return None


def _make_scorer(read: Read) -> Scorer:
    """Return a scorer that applies `read` to a parsed answer.

    For an unreadable one it records the reason and the lenient reading. `read` raises `UnreadableAnswerError` if an
    answer is readable but has nothing for this scorer.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- the protocol's own
        if PEOPLE in state.metadata:
            return _score_people(read, state.metadata)
        answer = state.metadata[READ]
        if "unscored" in answer:
            completion = state.output.completion
            return Score.unscored(
                reason=answer["unscored"],
                answer=completion,
                explanation=answer["detail"],
                metadata=_read_leniently(read, answer, state.metadata),
            )
        try:
            record, value = read(answer, state.metadata)
        except UnreadableAnswerError as error:
            return Score.unscored(reason=error.reason.value, answer=state.output.completion, explanation=str(error))
        return Score(value=value, answer=_format_answer(answer), metadata=to_metadata(record))

    return score


ONE_REVIEWER = "one_reviewer"
"""Reason for a missing score of a paper that has no other reviewer to be measured against."""


def _score_people(read: Read, metadata: dict[str, Any]) -> Score:
    """Score each reviewer left out, and the floors on the same terms, like a model."""
    task = BenchTask(metadata["task"])
    each: list[dict[str, Any]] = []
    values = []
    for person in metadata[PEOPLE]:
        about = metadata | {"asked": person["asked"], "references": person["references"]}
        scored = {}
        for name, text in person["answers"].items():
            try:
                scored[name] = read(read_answer(task, text, about) | {"cut_off": False}, about)
            except UnreadableAnswerError:
                continue
        if HUMAN in scored:
            each.append({name: msgspec.to_builtins(record) for name, (record, _) in scored.items()})
            values.append(scored[HUMAN][1])
    if not each:
        return Score.unscored(reason=ONE_REVIEWER, explanation="No other reviewer to be measured against.")
    return Score(value=fmean(values), metadata={EACH_KEY: each})


def _format_answer(answer: dict[str, Any]) -> str:
    if "text" in answer:
        return str(answer["text"])
    if "scores" in answer:
        return ", ".join(f"{name}: {value:g}" for name, value in answer["scores"].items())
    chance = "" if answer["probability"] is None else f" ({answer['probability']:g})"
    return ("accept" if answer["accept"] else "reject") + chance


@scorer(metrics=[numbers_of(Scored.DECISION.value)], name=Scored.DECISION.value)
def decision() -> Scorer:
    """Score a decision: 1 if it is correct, otherwise 0."""

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[OutcomeRecord, float]:
        record = DecisionRecord(bool(metadata["accepted"]), answer["accept"], answer["probability"])
        return record, float(record.said == record.accepted)

    return _make_scorer(read)


@scorer(metrics=[numbers_of(Scored.RECOMMENDATION.value)], name=Scored.RECOMMENDATION.value)
def recommendation() -> Scorer:
    """Score the recommendation of a meta-review: 1 if it equals the decision, else 0; unscored if missing."""

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[OutcomeRecord, float]:
        if answer["accept"] is None:
            raise UnreadableAnswerError(Unscored.NO_DECISION, "the last line is no recommendation")
        record = DecisionRecord(bool(metadata["accepted"]), answer["accept"], None)
        return record, float(record.said == record.accepted)

    return _make_scorer(read)


@scorer(metrics=[numbers_of(Scored.NUMBERS.value)], name=Scored.NUMBERS.value)
def numbers() -> Scorer:
    """Score the error of predicted scores: the mean over the fields, as a fraction of each field's scale."""

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[OutcomeRecord, float]:
        record = pair_with_means(read_asked(metadata), answer["scores"])
        return record, fmean(abs(score.said - score.gold) / (score.high - score.low) for score in record.fields)

    return _make_scorer(read)


@scorer(metrics=[numbers_of(Scored.OVERLAP.value)], name=Scored.OVERLAP.value)
def overlap() -> Scorer:
    """Score the overlap with human references: ROUGE-L of the best reference, and the counts of BLEU."""

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[OutcomeRecord, float]:
        text = answer["text"]
        references = metadata["references"]
        rouge = rouge_l(text, references)
        record = Overlap(
            rouge_l=rouge, bleu=count_bleu(text, references), words=len(text.split()), cut_off=answer["cut_off"]
        )
        return record, rouge

    return _make_scorer(read)


@scorer(metrics=[numbers_of(Scored.POINTS.value)], name=Scored.POINTS.value)
def points() -> Scorer:
    """Score the recall of people's criticisms; also 0 in a log viewer if people criticise nothing."""

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[OutcomeRecord, float]:
        counts = count_points(answer["text"], metadata["references"])
        return counts, counts.recall or 0.0

    return _make_scorer(read)


@scorer(metrics=[numbers_of(Scored.COVERAGE.value)], name=Scored.COVERAGE.value)
def coverage() -> Scorer:
    """Score the share of the review's critical points that a turn addresses; 0 in a log viewer if there are none."""

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[OutcomeRecord, float]:
        record = cover_review(answer["text"], metadata)
        return record, record.said.share or 0.0

    return _make_scorer(read)


@scorer(metrics=[numbers_of(Scored.BERT_SCORE.value)], name=Scored.BERT_SCORE.value)
def bert_score(model: str, layers: int = bertscore.LAYERS) -> Scorer:
    """Score BERTScore against human references, the best over the references.

    Args:
        model: A name on the Hugging Face Hub, or a local folder.
        layers: The layer whose vectors are compared.
    """

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[OutcomeRecord, float]:
        scores = bert_scores([answer["text"]], [metadata["references"]], model=model, layers=layers)
        score = scores.of_each[0]
        record = BertScored(precision=score.precision, recall=score.recall, f1=score.f1, truncated=scores.cut_share)
        return record, score.f1

    return _make_scorer(read)


@scorer(metrics=[numbers_of(Scored.EMBED_COS.value)], name=Scored.EMBED_COS.value)
def embed_cos(model: str) -> Scorer:
    """Score the cosine similarity of embeddings with human references, the best over the references.

    Args:
        model: A name on the Hugging Face Hub, or a local folder.
    """

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[OutcomeRecord, float]:
        scores = embed_cosines([answer["text"]], [metadata["references"]], model=model)
        return Embedded(scores.of_each[0], scores.cut_share), scores.of_each[0]

    return _make_scorer(read)
