"""What is measured of an answer: each scorer keeps all that its numbers are made of, and says what is not scored."""

from collections.abc import Callable
from statistics import fmean
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from peercorpus.benchmark.measures import measures_of
from peercorpus.benchmark.outcomes import (
    BertScored,
    Embedded,
    Found,
    Outcome,
    Overlap,
    SaidDecision,
    Scored,
    keep,
    read_found,
)
from peercorpus.benchmark.samples import read_asked
from peercorpus.benchmark.solving import READ
from peercorpus.benchmark.wrong import said_numbers
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics import bert_scores, bertscore, count_bleu, embed_cosines, rouge_l


@metric
def numbers_of(scored: str) -> Metric:
    """The numbers of what a scorer found, over the answers that are scored; one that is not defined is left out.

    Args:
        scored: The scorer.
    """

    def compute(scores: list[SampleScore]) -> Value:
        kind = Scored(scored)
        outcomes = [Outcome("", "", read_found(kind, one.score.metadata or {})) for one in scores]
        found: dict[str, str | int | float | bool | None] = {}
        for measure in measures_of(kind, outcomes) if outcomes else ():
            try:
                found[f"{measure.group} {measure.name}".strip()] = measure.of(outcomes)
            except UndefinedMetricError:
                continue
        return found

    return compute


Read = Callable[[dict[str, Any], dict[str, Any]], tuple[Found, float]]
"""An answer as it was read, and the sample's metadata → what is found, and the one number that a viewer shows."""


def _scored(read: Read) -> Scorer:
    """Scores an answer that was read; of another it keeps why there is no score."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- the protocol's own
        answer = state.metadata[READ]
        if "unscored" in answer:
            said = state.output.completion
            return Score.unscored(reason=answer["unscored"], answer=said, explanation=answer["detail"])
        found, value = read(answer, state.metadata)
        return Score(value=value, answer=_shown(answer), metadata=keep(found))

    return score


def _shown(answer: dict[str, Any]) -> str:
    if "text" in answer:
        return str(answer["text"])
    if "scores" in answer:
        return ", ".join(f"{name}: {value:g}" for name, value in answer["scores"].items())
    chance = "" if answer["probability"] is None else f" ({answer['probability']:g})"
    return ("accept" if answer["accept"] else "reject") + chance


@scorer(metrics=[numbers_of(Scored.DECISION.value)], name=Scored.DECISION.value)
def decision() -> Scorer:
    """Whether the decision is the one that was made: 1 or 0."""

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[Found, float]:
        found = SaidDecision(bool(metadata["accepted"]), answer["accept"], answer["probability"])
        return found, float(found.said == found.accepted)

    return _scored(read)


@scorer(metrics=[numbers_of(Scored.NUMBERS.value)], name=Scored.NUMBERS.value)
def numbers() -> Scorer:
    """How far the scores are off: the mean over the fields, in widths of their scales."""

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[Found, float]:
        found = said_numbers(read_asked(metadata), answer["scores"])
        return found, fmean(abs(one.said - one.gold) / (one.high - one.low) for one in found.fields)

    return _scored(read)


@scorer(metrics=[numbers_of(Scored.OVERLAP.value)], name=Scored.OVERLAP.value)
def overlap() -> Scorer:
    """Words shared with what people wrote: ROUGE-L, the best of the references, and what BLEU is summed from."""

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[Found, float]:
        text, references = answer["text"], metadata["references"]
        rouge = rouge_l(text, references)
        return Overlap(rouge, count_bleu(text, references), len(text.split()), answer["cut_off"]), rouge

    return _scored(read)


@scorer(metrics=[numbers_of(Scored.BERT_SCORE.value)], name=Scored.BERT_SCORE.value)
def bert_score(model: str, layers: int = bertscore.LAYERS) -> Scorer:
    """BERTScore with what people wrote, the best of the references.

    Args:
        model: A name on the Hugging Face Hub, or a local folder.
        layers: The layer whose vectors are compared.
    """

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[Found, float]:
        scores = bert_scores([answer["text"]], [metadata["references"]], model=model, layers=layers)
        one = scores.of_each[0]
        return BertScored(one.precision, one.recall, one.f1, scores.cut_share), one.f1

    return _scored(read)


@scorer(metrics=[numbers_of(Scored.EMBED_COS.value)], name=Scored.EMBED_COS.value)
def embed_cos(model: str) -> Scorer:
    """Cosine of the embeddings of the answer and of what people wrote, the best of the references.

    Args:
        model: A name on the Hugging Face Hub, or a local folder.
    """

    def read(answer: dict[str, Any], metadata: dict[str, Any]) -> tuple[Found, float]:
        scores = embed_cosines([answer["text"]], [metadata["references"]], model=model)
        return Embedded(scores.of_each[0], scores.cut_share), scores.of_each[0]

    return _scored(read)
