"""Define the inspect_ai task of the interventions, its scorer, and how it is run."""

from dataclasses import dataclass, field
from typing import Any, Unpack

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState, generate

from peercorpus.benchmark.adapters.adapter import find_adapter, load_adapter
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.interventions.cases import PLACES, ChangeCounts, make_samples, read_changed_papers
from peercorpus.benchmark.interventions.change import Place
from peercorpus.benchmark.interventions.naming import RUN, names_place
from peercorpus.benchmark.local_model import LocalModel
from peercorpus.benchmark.options import TaskOptions, TaskRequest, parse_task_options
from peercorpus.benchmark.run import Bench, BenchResult, run_tasks
from peercorpus.benchmark.solvers import READ, read, read_asked
from peercorpus.benchmark.tasks import open_release_with_splits
from peercorpus.errors import PeercorpusError
from peercorpus.models import prompts
from peercorpus.records.enums import Aspect
from peercorpus.release.folder import Release

VERSION = "2"
"""Version of the rules that change papers and of the rule for the places that a review names."""
PAPERS = 100
"""Default number of papers."""
NAME = "interventions"


@dataclass(frozen=True, slots=True)
class ArmRecord:
    """Content of one answer.

    Attributes:
        named: For a review, whether it names the place of each arm; on the clean paper, the places of all arms.
        rating: Recommendation of a review, from 0 to 1 of the form's scale; None if it gives none.
        accept: The decision; None for a review.
        probability: Probability of acceptance; None if none is stated.
    """

    named: dict[str, bool] = field(default_factory=dict)
    rating: float | None = None
    accept: bool | None = None
    probability: float | None = None


OPTIONS = frozenset({"split", "profile", "venue", "grade", "paper_tokens", "tokenizer", "adapter", "wordings"})
"""Options of the tasks that apply to interventions."""
RECORD = "record"
"""Key of a score's metadata with the record."""


def _read_rating(answer: dict[str, Any], metadata: dict[str, Any]) -> float | None:
    """Return the first recommendation in a review that its form requests, from 0 to 1."""
    for asked in read_asked(metadata):
        if asked.aspect is Aspect.RECOMMENDATION and asked.field in answer["scores"]:
            return float((answer["scores"][asked.field] - asked.low) / (asked.high - asked.low))
    return None


def _make_record(answer: dict[str, Any], metadata: dict[str, Any]) -> ArmRecord:
    if metadata["task"] == BenchTask.ACCEPTANCE:
        return ArmRecord(accept=answer["accept"], probability=answer["probability"])
    places = msgspec.convert(metadata[PLACES], dict[str, Place])
    named = {arm: names_place(answer["text"], place) for arm, place in places.items()}
    return ArmRecord(named=named, rating=_read_rating(answer, metadata))


@scorer(metrics=[], name=NAME)
def named_places() -> Scorer:
    """Record which places a review names and how it rates the paper, or the decision."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- the protocol's own
        answer = state.metadata[READ]
        if "unscored" in answer:
            completion = state.output.completion
            return Score.unscored(reason=answer["unscored"], answer=completion, explanation=answer["detail"])
        record = _make_record(answer, state.metadata)
        value = any(record.named.values()) if record.accept is None else record.accept
        return Score(value=float(value), metadata={RECORD: msgspec.to_builtins(record)})

    return score


def _about(release: Release, request: TaskRequest, seed: int, papers: int, counts: ChangeCounts) -> dict[str, Any]:
    """Return the metadata of a run for its log; `protocol` has the settings that runs of one table share."""
    return {
        NAME: {
            "protocol": {
                "release": release.sha256,
                "split": request.selection.split.value,
                "venues": ", ".join(sorted(request.selection.venues)) or "all",
                "worst grade": request.selection.worst_grade.value,
                "papers": f"at most {papers:,}",
                "seed": str(seed),
                "text": request.asking.budget.says,
                "prompts": f"{prompts.VERSION} ({prompts.DIGEST})",
                "rules": f"version {VERSION}, quotations of {RUN} words",
            },
            "papers": counts.papers,
            "arms": {arm.value: count for arm, count in counts.arms.items()},
            "left_out": dict(sorted(counts.left_out.items())),
            "adapter": request.adapter,
        }
    }


@task
def interventions(release: str, seed: int = 0, papers: int = PAPERS, **options: Unpack[TaskOptions]) -> Task:
    """Review and decide on papers with one changed place, and on the same papers unchanged.

    Args:
        release: The folder that `peercorpus publish` wrote, or `hf:owner/name@revision` on the Hugging Face Hub.
        seed: Seed of the papers that are drawn and of their changes.
        papers: Maximum number of papers.
        **options: Those of `TaskOptions` that determine the papers and how they are shown.
    """
    if others := sorted(set(options) - OPTIONS):
        raise PeercorpusError(
            f"'{others[0]}' is not an option of '{NAME}'; the options are: {', '.join(sorted(OPTIONS))}."
        )
    request = parse_task_options(release, options)
    opened = open_release_with_splits(request)
    adapter = None if request.adapter is None else load_adapter(request.adapter, request.wordings)
    counts = ChangeCounts()
    drawn = read_changed_papers(opened, request.selection, request.asking.budget, papers, seed, counts)
    samples = [sample for changed in drawn for sample in make_samples(changed, adapter)]
    if not samples:
        why = (
            "; ".join(f"{what}: {count:,}" for what, count in counts.left_out.most_common(3)) or "it contains no paper"
        )
        raise PeercorpusError(
            f"The split '{request.selection.split}' of '{opened.folder}' has no paper that a rule can change ({why});"
            " choose another split, venue or grade."
        )
    return Task(
        dataset=MemoryDataset(samples, name=f"{NAME}-{request.selection.split}"),
        solver=[generate(), read(request.adapter)],
        scorer=named_places(),
        config=GenerateConfig.model_validate(adapter.generation if adapter is not None else {}),
        version="|".join([VERSION, f"prompts:{prompts.DIGEST}", f"release:{opened.sha256[:12]}"]),
        metadata=_about(opened, request, seed, papers, counts),
        name=NAME,
    )


def run_interventions(bench: Bench, seed: int = 0, papers: int = PAPERS) -> BenchResult:
    """Ask a model about papers with one changed place; an interrupted run resumes where it stopped.

    Args:
        bench: The release, the model and the options; its tasks are not used.
        seed: Seed of the papers that are drawn and of their changes.
        papers: Maximum number of papers.

    Raises:
        PeercorpusError: The task cannot be made, an existing log cannot be read, or the model cannot be asked at all.
        KeyboardInterrupt: The run was interrupted.
    """

    def make(bench: Bench, loaded: LocalModel | None, notes: list[str]) -> list[Task]:  # noqa: ARG001 -- as others
        options = dict(bench.options)
        theirs = find_adapter(bench.model) if isinstance(bench.model, str) else None
        options |= {"adapter": theirs} if theirs is not None and "adapter" not in options else {}
        made = interventions(str(bench.release), seed=seed, papers=papers, **options)
        if loaded is not None:
            loaded.fit(made, bench.settings)
        return [made]

    return run_tasks(bench, make)
