"""The tasks as `inspect_ai` runs them: `inspect eval peercorpus/acceptance --model … -T release=DIR`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver, generate

from peercorpus import prompts
from peercorpus.benchmark import scorers
from peercorpus.benchmark.about import about_run
from peercorpus.benchmark.adapters.adapter import Adapter
from peercorpus.benchmark.adapters.narrowing import narrow
from peercorpus.benchmark.adapters.registry import load_adapter
from peercorpus.benchmark.asking import choose_examples, example_pool, messages, shown_paper
from peercorpus.benchmark.baselines.baseline import Baseline
from peercorpus.benchmark.cases import BenchTask, Case, Said, Selection, Taken, read_cases
from peercorpus.benchmark.cutting import Shown
from peercorpus.benchmark.options import Options, Wanted, read_options
from peercorpus.benchmark.samples import sample_of
from peercorpus.benchmark.solving import discuss, fixed, read
from peercorpus.dialogues import Speaker
from peercorpus.errors import PeercorpusError
from peercorpus.publish.opened import Release, open_release
from peercorpus.publish.splits import Side

NO_MODEL = "none/none"
"""What answers where a baseline does."""
VERSION = "1"
"""Of the tasks: what is asked and how it is scored, but for the words, which have a version of their own."""


def _version(release: Release) -> str:
    """By which a log is known to be of the same task: not of a release that stood there before, or of other words."""
    return f"{VERSION}|prompts:{prompts.DIGEST}|release:{release.sha256[:12]}"


def _open(wanted: Wanted) -> Release:
    release = open_release(wanted.release)
    sides = release.sides()
    if sides is None:
        raise PeercorpusError(
            f"The release '{wanted.release}' has no sides to test on; publish it with --splits re2 or temporal."
        )
    if wanted.profile is not None and sides.profile != wanted.profile:
        raise PeercorpusError(
            f"The release '{wanted.release}' has sides of the profile '{sides.profile}', not '{wanted.profile}'."
        )
    return release


def _read(release: Release, of_task: BenchTask, selection: Selection) -> tuple[list[Case], Taken]:
    taken = Taken()
    cases = list(read_cases(release, of_task, selection, taken))
    if not cases:
        why = (
            "; ".join(f"{reason}: {count:,}" for reason, count in taken.left_out.most_common(3)) or "it holds no paper"
        )
        raise PeercorpusError(
            f"The side '{selection.side}' of '{release.folder}' has no case of the task '{of_task}' ({why}); choose"
            " another side, venue or grade."
        )
    return cases, taken


def _learnt(name: str, of_task: BenchTask, wanted: Wanted, release: Release) -> Baseline:
    """A baseline that has learnt from the papers to train on."""
    from peercorpus.benchmark.baselines.registry import load_baseline

    baseline = load_baseline(name, of_task)
    trained = replace(wanted.selection, side=Side.TRAIN, venues=frozenset(), led=False)
    baseline.fit(read_cases(release, of_task, trained, Taken()))
    return baseline


def _answered(baseline: Baseline, cases: Sequence[Case]) -> list[Sample]:
    """Samples that carry a baseline's answers. It has read the papers already, so the log need not repeat them."""
    return [
        sample_of(case, [Said(Speaker.USER, case.paper.title or case.case_id)], Shown(""), baseline.answer(case))
        for case in cases
    ]


def _asked(
    of_task: BenchTask, wanted: Wanted, release: Release, cases: Sequence[Case], adapter: Adapter | None
) -> list[Sample]:
    """Samples that ask a model."""
    budget, few = wanted.asking.budget, wanted.asking.few_shot
    of_each = few + (wanted.selection.side is Side.TRAIN)
    pool = example_pool(read_cases(release, of_task, Selection(Side.TRAIN), Taken()), of_each) if few else []
    count, samples = budget.counter(), []
    for case in cases:
        shown = shown_paper(case.paper, budget, count)
        examples = list(choose_examples(case, pool, few))
        said = messages(case, shown.text, examples) if adapter is None else adapter.messages(case, shown.text)
        samples.append(sample_of(case, said, shown))
    return samples


def _scorers(of_task: BenchTask, wanted: Wanted) -> list[Scorer]:
    if of_task is BenchTask.ACCEPTANCE:
        return [scorers.decision()]
    if of_task is BenchTask.SCORES:
        return [scorers.numbers()]
    chosen = [scorers.overlap()]
    if wanted.bert_score is not None:
        chosen.append(scorers.bert_score(wanted.bert_score))
    if wanted.embed_cos is not None:
        chosen.append(scorers.embed_cos(wanted.embed_cos))
    if wanted.judged:
        from peercorpus.benchmark.judging.scoring import judge

        chosen.append(judge(repeats=wanted.repeats))
    return chosen


def build(of_task: BenchTask, wanted: Wanted) -> Task:
    """A task of `inspect_ai`.

    Raises:
        PeercorpusError: There is no such release, side, case, baseline or adapter.
    """
    wanted.asking.check(of_task)
    release = _open(wanted)
    cases, taken = _read(release, of_task, wanted.selection)
    adapter = baseline = None
    if wanted.adapter is not None:
        adapter = load_adapter(wanted.adapter, wanted.wordings)
        cases = narrow(adapter, cases, taken)
    if wanted.baseline is not None:
        baseline = _learnt(wanted.baseline, of_task, wanted, release)
    answering: Solver = discuss() if wanted.selection.led else generate()
    return Task(
        dataset=MemoryDataset(
            _asked(of_task, wanted, release, cases, adapter) if baseline is None else _answered(baseline, cases),
            name=f"{of_task}-{wanted.selection.side}",
        ),
        solver=[answering if baseline is None else fixed(baseline.name), read(wanted.adapter)],
        scorer=_scorers(of_task, wanted),
        config=GenerateConfig.model_validate(adapter.generation if adapter is not None else {}),
        model=None if baseline is None else NO_MODEL,
        version=_version(release),
        metadata=about_run(of_task, release, wanted, taken, baseline),
        name=of_task.value,
    )


@task
def acceptance(release: str, **options: Unpack[Options]) -> Task:
    """Is a paper accepted? Answered with one JSON object; measured by accuracy, F1, MCC, AUROC and the like.

    Args:
        release: The folder that `peercorpus publish` wrote.
        **options: See `Options`.
    """
    return build(BenchTask.ACCEPTANCE, read_options(release, options))


@task
def scores(release: str, **options: Unpack[Options]) -> Task:
    """Which scores do the reviewers give on average, in every field asked for? Measured by MAE, MSE, Spearman.

    Args:
        release: The folder that `peercorpus publish` wrote.
        **options: See `Options`.
    """
    return build(BenchTask.SCORES, read_options(release, options))


@task
def review(release: str, **options: Unpack[Options]) -> Task:
    """Write a review. Measured against all reviews that people wrote of the paper, and by a judge.

    Args:
        release: The folder that `peercorpus publish` wrote.
        **options: See `Options`.
    """
    return build(BenchTask.REVIEW, read_options(release, options))


@task
def rebuttal(release: str, **options: Unpack[Options]) -> Task:
    """Answer the authors as the reviewer did: one case a turn with the history as it was, or a discussion that is led.

    Args:
        release: The folder that `peercorpus publish` wrote.
        **options: See `Options`.
    """
    return build(BenchTask.REBUTTAL, read_options(release, options))
