"""Define the five inspect_ai tasks, and the metadata of their logs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver, generate

from peercorpus.benchmark import scorers
from peercorpus.benchmark.adapters.formatted import Adapter, narrow
from peercorpus.benchmark.adapters.reviewer_models import load_adapter
from peercorpus.benchmark.baselines.baseline import HUMAN, Baseline
from peercorpus.benchmark.cases import WORDS_DIGEST as CONTROL_WORDS_DIGEST
from peercorpus.benchmark.cases import (
    BenchTask,
    Case,
    CaseCounts,
    CaseMessage,
    CaseSelection,
    PaperPart,
    check_venues,
    read_cases,
)
from peercorpus.benchmark.figures.choice import FigureChooser
from peercorpus.benchmark.figures.showing import show_figures
from peercorpus.benchmark.judge.instruction import JudgeProfile
from peercorpus.benchmark.measures import list_metrics
from peercorpus.benchmark.messages import CUT_METHOD, WORDS_DIGEST, ShownPaper, messages, shown_paper
from peercorpus.benchmark.options import OptionValue, TaskRequest, parse_task_options
from peercorpus.benchmark.outcomes import Scored
from peercorpus.benchmark.solvers import PEOPLE, build_sample, fixed, read, weigh
from peercorpus.errors import PeercorpusError
from peercorpus.metrics import bertscore, embedding
from peercorpus.metrics.registry import definition
from peercorpus.models import prompts
from peercorpus.models.chat_messages import Speaker
from peercorpus.models.local_models import check_model_available, loading
from peercorpus.release.folder import Release, open_release
from peercorpus.release.provenance import check_worst_grade
from peercorpus.release.splits import Split

SCORED_BY = {
    BenchTask.ACCEPTANCE: (Scored.DECISION,),
    BenchTask.SCORES: (Scored.NUMBERS,),
    BenchTask.REVIEW: (Scored.POINTS, Scored.OVERLAP),
    BenchTask.REBUTTAL: (Scored.OVERLAP, Scored.COVERAGE),
    BenchTask.META_REVIEW: (Scored.OVERLAP, Scored.RECOMMENDATION),
}
"""Scorers that always apply to a task, in the order of tables."""


def about_run(
    of_task: BenchTask, release: Release, request: TaskRequest, counts: CaseCounts, baseline: Baseline | None
) -> dict[str, Any]:
    """Return the metadata of a run for its log.

    Args:
        of_task: The task.
        release: The release with the cases.
        request: Options of the task.
        counts: Counts of the cases and of what was left out.
        baseline: The fitted baseline that answers; None if a model does.
    """
    splits = release.splits()
    selection = request.selection
    budget = request.budget
    return {
        "task": of_task.value,
        "release": {"sha256": release.sha256, "peercorpus": release.version},
        "profile": splits.profile.value if splits is not None else None,
        "split": selection.split.value,
        "venues": sorted(selection.venues),
        "worst_grade": selection.worst_grade.value,
        "unified": selection.unified and of_task is BenchTask.SCORES,
        "cases": counts.cases,
        "left_out": dict(sorted(counts.left_out.items())),
        "paper": {"budget": budget.says, "way": CUT_METHOD, "part": budget.part.value},
        "figures": _describe_figures(request),
        "prompts": {"version": prompts.VERSION, "digest": prompts.DIGEST},
        "adapter": request.adapter,
        "likelihood": request.likelihood,
        "baseline": request.baseline,
        "says": "" if baseline is None else baseline.says,
        "signatures": _collect_signatures(of_task, request),
    }


def _describe_figures(request: TaskRequest) -> dict[str, str] | None:
    """Return a description of the images that the questions show; None if there are none."""
    budget = request.figure_budget
    return None if budget is None else {"arm": budget.arm, "says": budget.says, "signature": budget.signature}


def _collect_signatures(of_task: BenchTask, request: TaskRequest) -> dict[str, str]:
    signatures = {name: definition(name).signature for scored in SCORED_BY[of_task] for name in list_metrics(scored)}
    if not of_task.is_written:
        return signatures
    for model in filter(None, (request.bert_model, request.embedding_model)):
        # A signature names the revision in the local cache, which contains a model only after its first request.
        with loading(model):
            check_model_available(model)
    if request.bert_model is not None:
        parts = (bertscore.bert_metric(part, request.bert_model) for part in ("precision", "recall", "f1"))
        signatures |= {metric.name: metric.signature for metric in parts}
    if request.judged:
        from peercorpus.benchmark.judge.scorer import sign_means

        signatures["judge"] = sign_means(request.instruction)
    if request.embedding_model is not None:
        signatures["embed_cos"] = embedding.embedding_metric(request.embedding_model).signature
    return signatures


NO_MODEL = "none/none"
"""Name of the model passed to inspect_ai if a baseline answers."""
VERSION = "4"
"""Version of the tasks' questions and scoring; the prompts have their own version."""


def _open_release_with_splits(request: TaskRequest) -> Release:
    """Return the release of a request.

    Raises:
        PeercorpusError: It has no splits, or not the grade or venue.
    """
    release = open_release(request.folder, is_whole=False)
    splits = release.splits()
    if splits is None:
        raise PeercorpusError(
            f"The release '{request.folder}' has no splits to test on; publish it with --splits re2 or temporal."
        )
    check_worst_grade(request.folder, request.selection.worst_grade)
    check_venues(release, request.selection.venues)
    return release


class NoCaseError(PeercorpusError):
    """Raised when a split of a release has no case of a task."""


def _read_cases(release: Release, of_task: BenchTask, selection: CaseSelection) -> tuple[list[Case], CaseCounts]:
    counts = CaseCounts()
    cases = list(read_cases(release, of_task, selection, counts))
    if not cases:
        why = (
            "; ".join(f"{reason}: {count:,}" for reason, count in counts.left_out.most_common(3))
            or "it contains no paper"
        )
        raise NoCaseError(
            f"The split '{selection.split}' of '{release.folder}' has no case of the task '{of_task}' ({why}); choose"
            " another split, venue or grade."
        )
    return cases, counts


def _fit_baseline(name: str, of_task: BenchTask, request: TaskRequest, release: Release) -> Baseline:
    from peercorpus.benchmark.baselines.baseline import load_baseline
    from peercorpus.benchmark.baselines.people import People

    baseline = load_baseline(name, of_task)
    trained = replace(request.selection, split=Split.TRAIN, venues=frozenset())
    for learner in (baseline, *(baseline.floors if isinstance(baseline, People) else ())):
        learner.fit(read_cases(release, of_task, trained, CaseCounts()))
    return baseline


def _make_baseline_samples(baseline: Baseline, cases: Sequence[Case]) -> list[Sample]:
    """Return samples with a baseline's answers, without the papers, which the baseline has already read."""
    from peercorpus.benchmark.baselines.people import People

    samples = []
    for case in cases:
        question = [CaseMessage(Speaker.USER, case.paper.title or case.case_id)]
        sample = build_sample(case, question, ShownPaper(""), baseline.answer(case))
        if isinstance(baseline, People):
            people = [msgspec.to_builtins(left_out) for left_out in baseline.leave_out(case)]
            sample.metadata = (sample.metadata or {}) | {PEOPLE: people}
        samples.append(sample)
    return samples


def _make_model_samples(
    of_task: BenchTask, request: TaskRequest, release: Release, cases: Sequence[Case], adapter: Adapter | None
) -> list[Sample]:
    budget = request.budget
    count = budget.counter()
    chooser = None if request.figure_budget is None else FigureChooser(release, request.figure_budget)
    samples = []
    for case in cases:
        shown = shown_paper(case.paper, budget, count)
        chat = messages(case, shown.text) if adapter is None else adapter.messages(case, shown.text)
        figures = None if chooser is None else chooser.choose(case.paper, shown)
        samples.append(build_sample(case, chat, shown, figures=figures))
    if chooser is not None:
        chooser.check_any(of_task)
    return samples


def _select_scorers(of_task: BenchTask, request: TaskRequest) -> list[Scorer]:
    chosen: list[Scorer] = [getattr(scorers, scored.value)() for scored in SCORED_BY[of_task]]
    if not of_task.is_written:
        return chosen
    if request.bert_model is not None:
        chosen.append(scorers.bert_score(request.bert_model))
    if request.embedding_model is not None:
        chosen.append(scorers.embed_cos(request.embedding_model))
    if request.judged and request.baseline != HUMAN:
        from peercorpus.benchmark.judge.scorer import judge, judge_by_profile

        is_ours = request.instruction.profile is JudgeProfile.OURS
        chosen.append(
            judge(repeats=request.repeats) if is_ours else judge_by_profile(request.instruction, request.repeats)
        )
    return chosen


def make_task(of_task: BenchTask, request: TaskRequest) -> Task:
    """Return a task for inspect_ai.

    Raises:
        PeercorpusError: The release, a case, the baseline or the adapter does not exist.
    """
    if request.likelihood and of_task is not BenchTask.ACCEPTANCE:
        raise PeercorpusError(f"Only 'acceptance' is answered by likelihood, not '{of_task}'; omit 'likelihood'.")
    release = _open_release_with_splits(request)
    cases, counts = _read_cases(release, of_task, request.selection)
    adapter = baseline = None
    if request.adapter is not None:
        adapter = load_adapter(request.adapter, None if request.wordings is None else Path(request.wordings))
        cases = narrow(adapter, cases, counts)
    if request.baseline is not None:
        baseline = _fit_baseline(request.baseline, of_task, request, release)
    answering: Solver = weigh() if request.likelihood else generate()
    figures = request.figure_budget
    part = request.budget.part
    showing = [] if figures is None else [show_figures(str(release.folder.absolute()), release.sha256)]
    return Task(
        dataset=MemoryDataset(
            _make_model_samples(of_task, request, release, cases, adapter)
            if baseline is None
            else _make_baseline_samples(baseline, cases),
            name=f"{of_task}-{request.selection.split}",
        ),
        solver=[
            *showing,
            answering if baseline is None else fixed(baseline.name),
            read(request.adapter),
        ],
        scorer=_select_scorers(of_task, request),
        config=GenerateConfig.model_validate(adapter.format.generation if adapter is not None else {}),
        model=None if baseline is None else f"baseline/{baseline.name}",
        # inspect_ai stores it and keeps logs of different releases or prompts separate.
        version="|".join(
            [VERSION, f"prompts:{prompts.DIGEST}", f"release:{release.sha256[:12]}"]
            + ([] if figures is None else [f"words:{WORDS_DIGEST}"])
            + ([] if part is PaperPart.PAPER else [f"shown:{part}|words:{CONTROL_WORDS_DIGEST}"])
            + ([] if request.instruction.profile is JudgeProfile.OURS else [f"judge:{request.instruction.sha256[:12]}"])
        ),
        metadata=about_run(of_task, release, request, counts, baseline),
        name=of_task.value,
    )


@task
def acceptance(release: str, **options: OptionValue) -> Task:
    """Predict whether a paper is accepted; measured by accuracy, F1, MCC, AUROC and others.

    Args:
        release: The folder that `peercorpus publish` wrote, or `hf:owner/name@revision` on the Hugging Face Hub.
        **options: See `TaskRequest`.
    """
    return make_task(BenchTask.ACCEPTANCE, parse_task_options(release, options))


@task
def scores(release: str, **options: OptionValue) -> Task:
    """Predict the reviewers' mean score for each requested field; measured by MAE, MSE and Spearman's correlation.

    Arguments are those of `acceptance`.
    """
    return make_task(BenchTask.SCORES, parse_task_options(release, options))


@task
def review(release: str, **options: OptionValue) -> Task:
    """Write a review; measured against all human reviews of the paper, and optionally by a judge.

    Arguments are those of `acceptance`.
    """
    return make_task(BenchTask.REVIEW, parse_task_options(release, options))


@task
def rebuttal(release: str, **options: OptionValue) -> Task:
    """Reply to the authors as the reviewer: one case per turn with the original history.

    Arguments are those of `acceptance`.
    """
    return make_task(BenchTask.REBUTTAL, parse_task_options(release, options))


@task
def meta_review(release: str, **options: OptionValue) -> Task:
    """Write the meta-review of a paper from its reviews and their discussion, and recommend acceptance or rejection.

    Measured against the human meta-reviews in the same way as `review`, and by the agreement of the recommendation with
    the decision.

    Arguments are those of `acceptance`.
    """
    return make_task(BenchTask.META_REVIEW, parse_task_options(release, options))
