"""Build inspect_ai samples from cases, and the solvers that answer them.

A question is answered by a model or by a baseline (`fixed`); `read` then parses the answer once for all scorers.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import Any

import msgspec
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from peercorpus.benchmark.adapters.reviewer_models import load_adapter
from peercorpus.benchmark.answers import (
    REASONING_TAG,
    WORDS,
    Decision,
    UnreadableAnswerError,
    Unscored,
    check_not_withheld,
    is_refusal,
    match_decision,
    read_decision,
    read_meta_review,
    read_review_answer,
    read_score_answer,
    read_turn,
    refuse_repeated_keys,
    write_decision,
)
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CaseMessage, CasePaper
from peercorpus.benchmark.figures.choice import FigureChoice
from peercorpus.benchmark.figures.showing import FIGURES
from peercorpus.benchmark.messages import ShownPaper, right_answer
from peercorpus.models.chat_messages import Speaker
from peercorpus.records.enums import Grade

THINKING = re.compile(rf"<(?P<tag>{REASONING_TAG})>.*?(?:</(?P=tag)>|\Z)", re.DOTALL | re.IGNORECASE)
THOUGHT = re.compile(rf"\A.*</{REASONING_TAG}>", re.DOTALL | re.IGNORECASE)
"""Matches reasoning whose opening mark was in the prompt."""
MOST_OBJECTS = 1000
"""Maximum number of opening braces tried as the beginning of an object, from the end of the answer."""
DECIDED = re.compile(
    r"\W*(?:(?:strong|clear|weak|borderline)\W+)?(accept|reject)(?:ed|ance|ion|s)?\W*(?:\([^()]*\)\W*)?", re.IGNORECASE
)
"""Matches "Accept.", "accepted", "weak reject" and "Accept (poster)", but not "do not accept"."""
NUMBER = re.compile(r"\W*?(-?\d++(?:\.\d++)?)\s*+(?:(%)|/\s*+(\d++(?:\.\d++)?))?\s*+[*_.]*+\s*+(?:[:(].*)?", re.DOTALL)
"""Matches "0.7", "70 %", "7/10" and "7: accept"."""
LINE = re.compile(r"^(?:[^\w\n]|_)*+(?P<name>[^\W\d_][^:=\n]{0,80}?)[*_\"'` ]*+[:=](?P<value>.+)$", re.MULTILINE)
FEWEST_PERCENT = 10
"""Probabilities above this are percentages; those between 1 and this are ambiguous."""


def _drop_thinking(text: str) -> str:
    return THOUGHT.sub("", THINKING.sub("", text)).strip()


def _list_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a text that are in no other object, last first."""
    decoder = json.JSONDecoder(object_pairs_hook=refuse_repeated_keys, parse_constant=str)
    objects: list[tuple[int, int, dict[str, Any]]] = []
    for brace in [found.start() for found in re.finditer(r"\{", text)][-MOST_OBJECTS:]:
        if objects and brace < objects[-1][1]:
            continue
        try:
            parsed, end = decoder.raw_decode(text, brace)
        except (ValueError, RecursionError):
            continue
        objects.append((brace, end, parsed))
    yield from (parsed for _, _, parsed in reversed(objects))


def _to_key(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def _read_values(text: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of the last object that has the first name, otherwise those of lines such as "Decision:
    accept".

    Args:
        text: The answer.
        names: Names of the values; case, spaces and underscores do not matter.

    Raises:
        UnreadableAnswerError: There is neither, or lines have two values for one name.
    """
    spoken = _drop_thinking(text)
    if not spoken:
        raise UnreadableAnswerError(Unscored.EMPTY)
    asked = {_to_key(name): name for name in names}
    for found in _list_objects(spoken):
        values = {asked[_to_key(key)]: value for key, value in found.items() if _to_key(key) in asked}
        if names[0] in values:
            return values
    lines: dict[str, set[str]] = defaultdict(set)
    for line in LINE.finditer(spoken):
        if _to_key(line["name"]) in asked:
            lines[asked[_to_key(line["name"])]].add(line["value"].strip().casefold())
    if any(len(of_name) > 1 for of_name in lines.values()):
        raise UnreadableAnswerError(Unscored.TWO_ANSWERS)
    if names[0] not in lines:
        raise UnreadableAnswerError(Unscored.NO_OBJECT)
    return {name: of_name.pop() for name, of_name in lines.items()}


def _split_number(value: object, name: str) -> tuple[float, str, float | None]:
    """Return a number, its percent sign if any, and its stated maximum if any."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), "", None
    read = NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if read is None:
        raise UnreadableAnswerError(Unscored.NO_NUMBER, name)
    return float(read[1]), read[2] or "", None if read[3] is None else float(read[3])


def _read_probability(value: object) -> float:
    number, percent, out_of = _split_number(value, "probability")
    if out_of:
        number /= out_of
    elif percent or number > FEWEST_PERCENT:
        number /= 100
    if not 0 <= number <= 1:
        raise UnreadableAnswerError(Unscored.OFF_SCALE, f"probability: {value}")
    return number


def read_decision_leniently(text: str) -> Decision:
    """Parse an answer to `acceptance` that is not in the requested format.

    Raises:
        UnreadableAnswerError: Its meaning is not clear.

    >>> read_decision_leniently('I would say: {"Decision": "Accepted.", "probability": "70%"}. Good luck!')
    Decision(accept=True, probability=0.7)
    """
    alone = DECIDED.fullmatch(_drop_thinking(text))
    values = {"decision": alone[1]} if alone else _read_values(text, ("decision", "probability"))
    decision = values["decision"]
    decided = DECIDED.fullmatch(decision) if isinstance(decision, str) else None
    if decided is None:
        raise UnreadableAnswerError(Unscored.NO_DECISION)
    said = values.get("probability")
    return Decision(decided[1].casefold() == "accept", None if said is None else _read_probability(said))


def read_scores_leniently(text: str, asked: Sequence[AskedScore]) -> dict[str, float]:
    """Parse an answer to `scores` that is not in the requested format.

    Raises:
        UnreadableAnswerError: Its meaning is not clear.
    """
    values = _read_values(text, [score.field for score in asked])
    return {score.field: _read_score(values, score) for score in asked}


def _read_score(values: Mapping[str, Any], asked: AskedScore) -> float:
    number, percent, out_of = _split_number(values.get(asked.field), asked.field)
    if percent or out_of not in {None, asked.high} or not asked.low <= number <= asked.high:
        raise UnreadableAnswerError(Unscored.OFF_SCALE, f"{asked.field}: {values[asked.field]}")
    return number


ANSWER = "answer"
"""Key of a sample's metadata with the answer of a baseline."""
PEOPLE = "people"
"""Key of a sample's metadata with each reviewer of a paper left out, for the human ceiling."""
MESSAGES = {
    Speaker.SYSTEM: ChatMessageSystem,
    Speaker.USER: ChatMessageUser,
    Speaker.ASSISTANT: ChatMessageAssistant,
}


def chat(messages: Sequence[CaseMessage]) -> list[ChatMessage]:
    """Convert messages to those of inspect_ai."""
    return [MESSAGES[message.speaker](content=message.text) for message in messages]


def _find_review(case: Case) -> str | None:
    """Return the review that a discussion is about: the reviewer's first message; None in other tasks."""
    if case.task is not BenchTask.REBUTTAL:
        return None
    return next(message.text for message in case.history if message.speaker is Speaker.ASSISTANT)


def build_metadata(case: Case, shown: ShownPaper) -> dict[str, Any]:
    """Return the metadata of a sample.

    `asked` contains the form's fields with their scales and scores; `shown` states how much of the paper the model saw;
    `review` is the review that a discussion is about.
    """
    paper = case.paper
    return {
        "task": case.task.value,
        "forum_id": paper.forum_id,
        "venue_id": paper.venue_id,
        "conference": paper.conference,
        "year": paper.year,
        "grade": paper.grade.value,
        "title": paper.title,
        "abstract": paper.abstract,
        "shown": {"tokens": shown.tokens, "left_out": shown.left_out},
        "accepted": case.accepted,
        "asked": [msgspec.to_builtins(item) for item in case.scores],
        "references": list(case.references),
        "review": _find_review(case),
    }


def rebuild_case(case_id: str, metadata: dict[str, Any]) -> Case:
    """Rebuild a case from a sample, without the text of the paper and without anything that gives away the answer."""
    origin = metadata["forum_id"], metadata["venue_id"], metadata["conference"], metadata["year"]
    paper = CasePaper(*origin, title=None, abstract=None, grade=Grade(metadata["grade"]), markdown="")
    return Case(
        case_id,
        BenchTask(metadata["task"]),
        paper,
        scores=tuple(replace(score, values=()) for score in read_asked(metadata)),
    )


def read_asked(metadata: dict[str, Any]) -> list[AskedScore]:
    """Return the form's fields that a sample requests."""
    return msgspec.convert(metadata["asked"], list[AskedScore])


def build_sample(
    case: Case,
    messages: Sequence[CaseMessage],
    shown: ShownPaper,
    answer: str | None = None,
    figures: FigureChoice | None = None,
) -> Sample:
    """Convert a case to a sample.

    Args:
        case: The question.
        messages: Messages that present it.
        shown: The paper as shown to the model.
        answer: Answer of a baseline; None if a model answers.
        figures: The images that the question shows; None for a question without figures.
    """
    target = list(case.references) if case.task.is_written else right_answer(case)
    metadata = build_metadata(case, shown) | ({} if answer is None else {ANSWER: answer})
    metadata |= {} if figures is None else {FIGURES: msgspec.to_builtins(figures)}
    return Sample(input=chat(messages), target=target, id=case.case_id, metadata=metadata)


READ = "read"
"""Key of a sample's metadata with the parsed answer."""


def read_answer(task: BenchTask, completion: str, metadata: dict[str, Any]) -> dict[str, Any]:
    """Parse an answer into JSON: `accept` and `probability`, `scores`, or `text`; for a meta-review also `accept`.

    Raises:
        UnreadableAnswerError: The answer does not follow the requested format.
    """
    if task is BenchTask.ACCEPTANCE:
        return _decision_to_json(read_decision(completion))
    if task is BenchTask.SCORES:
        return {"scores": read_score_answer(completion, read_asked(metadata))}
    if task is BenchTask.REVIEW:
        review = read_review_answer(completion, read_asked(metadata))
        return {"text": review.text, "scores": dict(review.scores)}
    if task is BenchTask.META_REVIEW:
        meta_review = read_meta_review(completion)
        return {"text": meta_review.text, "accept": meta_review.accept}
    return {"text": read_turn(completion)}


def _decision_to_json(decision: Decision) -> dict[str, Any]:
    return {"accept": decision.accept, "probability": decision.probability}


LENIENT = "lenient"
"""Key of an unreadable answer with its lenient reading."""


def _explain_failure(
    error: UnreadableAnswerError, task: BenchTask, completion: str, metadata: dict[str, Any]
) -> dict[str, Any]:
    """Return why an answer is unreadable, and its lenient reading if that is clear."""
    parsed: dict[str, Any] = {"unscored": error.reason.value, "detail": str(error)}
    if error.reason is Unscored.REFUSED:
        return parsed
    try:
        if task is BenchTask.ACCEPTANCE:
            parsed[LENIENT] = _decision_to_json(read_decision_leniently(completion))
        elif task is BenchTask.SCORES:
            parsed[LENIENT] = {"scores": read_scores_leniently(completion, read_asked(metadata))}
    except UnreadableAnswerError:
        if is_refusal(completion):
            parsed["unscored"] = Unscored.REFUSED.value
    return parsed


@solver
def read(adapter: str | None = None) -> Solver:
    """Parse the answer, once for all scorers: strictly, and an unreadable one in our own format leniently too.

    Args:
        adapter: Adapter whose answer format is expected; None for our own.
    """
    theirs = None if adapter is None else load_adapter(adapter)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the protocol's own
        completion = state.output.completion
        task = BenchTask(state.metadata["task"])
        parsed: dict[str, Any]
        try:
            check_not_withheld(state.output.stop_reason)
            if theirs is not None:
                case = rebuild_case(str(state.sample_id), state.metadata)
                completion = theirs.read(case, completion, is_complete=state.output.stop_reason == "stop")
            parsed = read_answer(task, completion, state.metadata)
        except UnreadableAnswerError as error:
            parsed = {"unscored": error.reason.value, "detail": str(error)}
            if theirs is None:
                parsed = _explain_failure(error, task, completion, state.metadata)
        is_cut = state.output.stop_reason in {"max_tokens", "model_length"}
        state.metadata[READ] = parsed | {"cut_off": is_cut}
        return state

    return solve


PREFIX = '{"decision": "'
"""Beginning of an answer to `acceptance`, which the model continues with the decision."""
MOST_LIKELY = 20
"""Number of tokens whose probabilities are requested from a service: the most that OpenAI's API returns."""


def compare_likelihoods(output: ModelOutput) -> float | None:
    """Return the probability of "accept" among the allowed decisions, by the next token; None if neither is named."""
    logprobs = output.choices[0].logprobs if output.choices else None
    likelihoods = dict.fromkeys(WORDS, 0.0)
    for candidate in (logprobs.content[0].top_logprobs or ()) if logprobs and logprobs.content else ():
        word = match_decision(candidate.token)
        if word is not None:
            likelihoods[word] += exp(candidate.logprob)
    total = sum(likelihoods.values())
    return likelihoods["accept"] / total if total else None


@solver
def weigh() -> Solver:
    """Answer `acceptance` by the probability that the model gives each decision after the beginning of an answer.

    A model of this process continues an assistant message, and so do servers that know `continue_final_message`.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the protocol's own
        config = GenerateConfig(
            max_tokens=1,
            temperature=0.0,
            logprobs=True,
            top_logprobs=MOST_LIKELY,
            extra_body={"continue_final_message": True, "add_generation_prompt": False},
        )
        output = await get_model().generate([*state.messages, ChatMessageAssistant(content=PREFIX)], config=config)
        accept = compare_likelihoods(output)
        answer = "" if accept is None else write_decision(Decision(accept >= 0.5, accept))
        state.output = ModelOutput.from_content(output.model, answer)
        state.messages.append(ChatMessageAssistant(content=answer))
        return state

    return solve


@modelapi(name="baseline")
class BaselineAPI(ModelAPI):
    """The name of a baseline among models; it is never called, as `fixed` answers."""

    async def generate(self, *_: object, **__: object) -> ModelOutput:
        """Raise an error: there is no model."""
        raise AssertionError("a baseline is never asked")


@solver
def fixed(baseline: str) -> Solver:
    """Return the answer of a baseline, which the sample carries.

    Args:
        baseline: Name of the baseline.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the protocol's own
        answer = str(state.metadata[ANSWER])
        state.output = ModelOutput.from_content(f"baseline/{baseline}", answer)
        state.messages.append(ChatMessageAssistant(content=answer))
        return state

    return solve
