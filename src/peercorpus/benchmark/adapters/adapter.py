"""Define the interface of an adapter to a reviewer model, and the registry of all adapters."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol

from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CaseCounts, CaseMessage
from peercorpus.errors import PeercorpusError


class Adapter(Protocol):
    """Prompts a model as in its training, and converts its answers to our format.

    Attributes:
        name: Name in options, such as `sea-e`.
        models: Ids of the models on the Hugging Face Hub.
        source: Source and date of the format; anything inferred is marked as such.
        tasks: Tasks that the model supports.
        generation: Its authors' generation settings (`max_tokens`, `temperature`, `top_p`), if they state them.
        context: Tokens that its authors allow for paper and answer together.
    """

    @property
    def name(self) -> str: ...
    @property
    def models(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> str: ...
    @property
    def tasks(self) -> frozenset[BenchTask]: ...
    @property
    def generation(self) -> Mapping[str, float | int]: ...
    @property
    def context(self) -> int: ...

    def messages(self, case: Case, paper: str) -> list[CaseMessage]:
        """Return the messages that present a case.

        Args:
            case: The question.
            paper: Text of the paper, already cut.

        Raises:
            PeercorpusError: The model does not support the task, or its prompts are not available.
        """
        ...

    def asked(self, case: Case) -> tuple[AskedScore, ...]:
        """Return the scores of a case that the model gives on the same scale, which `read` can fill in."""
        ...

    def read(self, case: Case, completion: str, *, is_complete: bool = True) -> str:
        """Convert a completion to the format that `peercorpus.benchmark.answers` parses.

        Args:
            case: The question.
            completion: The model's completion.
            is_complete: Whether it ended by itself, so that a number at its end cannot be truncated.

        Raises:
            UnreadableAnswerError: It does not follow the model's format, or contains no answer to this case.
        """
        ...


def narrow(adapter: Adapter, cases: Sequence[Case], counts: CaseCounts) -> list[Case]:
    """Keep the scores that the model gives on the form's scale; cases of other tasks are unchanged.

    Args:
        adapter: Adapter to the model.
        cases: Cases of one task.
        counts: Receives the counts of scores and papers that are left out.

    Raises:
        PeercorpusError: No case is left.
    """
    kept = []
    for case in cases:
        if case.task is not BenchTask.SCORES:
            kept.append(case)
            continue
        asked = adapter.asked(case)
        counts.left_out["scores: of a kind or on a scale that the model does not give"] += len(case.scores) - len(asked)
        if asked:
            kept.append(replace(case, scores=asked))
        else:
            counts.left_out["papers: no score that the model gives"] += 1
    if not kept:
        raise PeercorpusError(
            f"No paper has a score on a scale of {adapter.models[0]}; choose other venues, another task or model."
        )
    counts.left_out = +counts.left_out
    return kept


ADAPTERS = {
    "sea-e": "peercorpus.benchmark.adapters.reviewer_models:SeaE",
    "openreviewer": "peercorpus.benchmark.adapters.reviewer_models:OpenReviewer",
    "deepreviewer": "peercorpus.benchmark.adapters.reviewer_models:DeepReviewer",
    "deepreviewer-fast": "peercorpus.benchmark.adapters.reviewer_models:FastDeepReviewer",
    "cyclereviewer": "peercorpus.benchmark.adapters.reviewer_models:CycleReviewer",
}
"""Module and class of each adapter. A model with our own prompts, fine-tuned or not, needs none."""


def load_adapter(name: str, wordings: Path | None = None) -> Adapter:
    """Return an adapter by name.

    Args:
        name: One of `ADAPTERS`.
        wordings: File or folder by the model's authors with the prompts of its training; None if the adapter is only
            used to read answers.

    Raises:
        PeercorpusError: The adapter is unknown, or the prompts are missing.
    """
    if name not in ADAPTERS:
        raise PeercorpusError(f"Unknown adapter '{name}'; choose one of {', '.join(ADAPTERS)}.")
    module, _, defined = ADAPTERS[name].partition(":")
    loaded: Adapter = getattr(import_module(module), defined)(wordings)
    return loaded


def find_adapter(model: str) -> str | None:
    """Return the adapter for a model by its name in inspect_ai, or None if it gets our own prompts.

    A model with a LoRA adapter on top (`base:adapter`) is a different model from its base.

    >>> find_adapter("vllm/ecnu-sea/SEA-E"), find_adapter("hf/Qwen/Qwen2.5-7B-Instruct")
    ('sea-e', None)
    """
    model_path = f"/{model.casefold()}"
    return next(
        (
            name
            for name in ADAPTERS
            if any(model_path.endswith(f"/{model_id.casefold()}") for model_id in load_adapter(name).models)
        ),
        None,
    )
