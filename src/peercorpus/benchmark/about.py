"""What a log says of its run: all that tables need to know which runs may stand beside each other."""

from typing import Any

from peercorpus import prompts
from peercorpus.benchmark.baselines.baseline import Baseline
from peercorpus.benchmark.cases import BenchTask, Taken
from peercorpus.benchmark.cutting import WAY
from peercorpus.benchmark.options import Wanted
from peercorpus.metrics import bertscore, definition, embedding
from peercorpus.metrics.local_models import fetched, loading
from peercorpus.publish.opened import Release

_TEXTS = ("bleu", "rouge_l")
SIGNED = {
    BenchTask.ACCEPTANCE: ("accuracy", "precision", "recall", "f1", "balanced_accuracy", "mcc", "auroc"),
    BenchTask.SCORES: ("mae", "mse", "mae_unit", "mse_unit", "spearman"),
    BenchTask.REVIEW: _TEXTS,
    BenchTask.REBUTTAL: _TEXTS,
}
"""The metrics of each task, whose signatures a log keeps."""


def about_run(
    of_task: BenchTask, release: Release, wanted: Wanted, taken: Taken, baseline: Baseline | None
) -> dict[str, Any]:
    """What a log says of its run.

    Args:
        of_task: The task.
        release: What it is asked of.
        wanted: What was asked for.
        taken: What became of the papers.
        baseline: Who answers, after it has learnt; None where a model does.
    """
    sides, selection, budget = release.sides(), wanted.selection, wanted.asking.budget
    return {
        "task": of_task.value,
        "release": {"sha256": release.sha256, "peercorpus": release.version},
        "profile": sides.profile.value if sides is not None else None,
        "side": selection.side.value,
        "venues": sorted(selection.venues),
        "worst_grade": selection.worst_grade.value,
        "led": selection.led,
        "cases": taken.cases,
        "left_out": dict(sorted(taken.left_out.items())),
        "paper": {"budget": budget.says, "way": WAY},
        "few_shot": wanted.asking.few_shot,
        "prompts": {"version": prompts.VERSION, "digest": prompts.DIGEST},
        "adapter": wanted.adapter,
        "baseline": wanted.baseline,
        "says": "" if baseline is None else baseline.says,
        "signatures": _signatures(of_task, wanted),
    }


def _signatures(of_task: BenchTask, wanted: Wanted) -> dict[str, str]:
    """The signatures of all metrics of a run."""
    found = {name: definition(name).signature for name in SIGNED[of_task]}
    if not of_task.is_written:
        return found
    for model in filter(None, (wanted.bert_score, wanted.embed_cos)):
        # A signature names the revision that is here; one that was never asked for has none yet.
        with loading(model):
            fetched(model)
    if wanted.bert_score is not None:
        parts = (bertscore.definition_of(part, wanted.bert_score) for part in ("precision", "recall", "f1"))
        found |= {one.name: one.signature for one in parts}
    if wanted.judged:
        from peercorpus.benchmark.judging.judged import ASPECTS_OF_RUNS

        found["judge"] = ASPECTS_OF_RUNS
    if wanted.embed_cos is not None:
        found["embed_cos"] = embedding.definition_of(wanted.embed_cos).signature
    return found
