"""Rule-based judges instead of models, behind `inspect_ai`'s mock provider."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, ModelUsage, get_model

from invented_bench import quiet
from peercorpus.benchmark.judge.judge import ASPECTS

TEXT = re.compile(r"^<([A-Z0-9-]+)-([0-9a-f]{12})>\n(.*?)\n</\1-\2>$", re.MULTILINE | re.DOTALL)

Rule = Callable[[dict[str, str]], str]
"""The texts of a question by name → the answer."""

_number = count()


def flat(number: int) -> str:
    """A verdict with one number for all aspects."""
    return json.dumps(dict.fromkeys(ASPECTS, number))


def texts(user: str) -> dict[str, str]:
    """The fenced texts of a question, by name."""
    return {name: text for name, _, text in TEXT.findall(user)}


def output(said: str) -> ModelOutput:
    """An answer that states its number of tokens: otherwise a file from the network would be needed to count them."""
    made = ModelOutput.from_content("mockllm/judge", said)
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made


def judge_by(rule: Rule, seen: list[tuple[Sequence[ChatMessage], GenerateConfig]] | None = None) -> Model:
    """A judge that answers each question by a rule.

    Args:
        rule: The rule.
        seen: Receives the questions, with the settings.
    """

    def answer(messages: list[ChatMessage], _tools: object, _choice: object, config: GenerateConfig) -> ModelOutput:
        if seen is not None:
            seen.append((messages, config))
        return output(rule(texts(messages[1].text)))

    return get_model(f"mockllm/judge{next(_number)}", custom_outputs=answer, memoize=False)


def judge_saying(*said: str) -> Model:
    """A judge that gives these answers in order, whatever the question."""
    left: Iterator[str] = iter(said)
    return judge_by(lambda _: next(left))


def by_length(number_of_words: int = 10) -> Rule:
    """Prefers longer texts: one point per number of words."""
    return lambda told: flat(min(10, 1 + len(told["CANDIDATE"].split()) // number_of_words))


def run_quietly(task: Task, model: Model, folder: Path, **more: Any) -> EvalLog:
    """The log of a task, one sample at a time."""
    with quiet():
        (log,) = evaluate(task, model=model, log_dir=str(folder), display="none", max_samples=1, **more)
    return log
