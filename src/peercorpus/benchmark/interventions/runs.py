"""Read the logs of interventions: each model's answers about each arm of each paper."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log_samples

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.interventions.cases import ARM
from peercorpus.benchmark.interventions.change import Arm
from peercorpus.benchmark.interventions.tasks import NAME, RECORD, ArmRecord
from peercorpus.benchmark.logs import UNREAD, WRITING, read_header
from peercorpus.errors import PeercorpusError

Answers = dict[str, dict[Arm, ArmRecord]]
"""Readable answers, by forum id and arm."""


@dataclass(slots=True)
class ArmRun:
    """One model's answers about all arms.

    Attributes:
        name: The model, with its settings, and the adapter if one was used.
        protocol: The settings that runs of one table have in common.
        arms: Number of papers of each arm.
        left_out: Number of papers without such an arm or question, by reason.
        reviews: Readable reviews.
        decisions: Readable decisions.
        unscored: Number of unreadable answers, by reason.
        missing: Number of questions not asked yet.
    """

    path: Path
    name: str
    created: str
    task_id: str
    protocol: Mapping[str, str]
    arms: Mapping[str, int]
    left_out: Mapping[str, int]
    reviews: Answers = field(default_factory=dict)
    decisions: Answers = field(default_factory=dict)
    unscored: Counter[str] = field(default_factory=Counter)
    missing: int = 0


def _name(log: EvalLog, adapter: str | None) -> str:
    settings = [f"{name} {value}" for name in WRITING if (value := getattr(log.plan.config, name)) is not None]
    settings += [f"words of {adapter}"] if adapter else []
    return f"{log.eval.model} ({', '.join(settings)})" if settings else log.eval.model


def _read_run(path: Path) -> ArmRun | None:
    log = read_header(path)
    about = (log.eval.metadata or {}).get(NAME)
    if about is None:
        return None
    run = ArmRun(
        path=path,
        name=_name(log, about["adapter"]),
        created=log.eval.created,
        task_id=log.eval.task_id,
        # Logs of earlier versions call the split `side`.
        protocol={"split" if name == "side" else name: value for name, value in about["protocol"].items()},
        arms=about["arms"],
        left_out=about["left_out"],
    )
    answered = 0
    for sample in read_eval_log_samples(str(path), all_samples_required=False, exclude_fields=UNREAD):
        answered += 1
        score = (sample.scores or {}).get(NAME)
        if score is None or score.reason is not None or not score.metadata:
            run.unscored[str(score.reason) if score is not None and score.reason else "error"] += 1
            continue
        answers = run.decisions if sample.metadata["task"] == BenchTask.ACCEPTANCE else run.reviews
        record = msgspec.convert(score.metadata[RECORD], ArmRecord)
        answers.setdefault(sample.metadata["forum_id"], {})[Arm(sample.metadata[ARM])] = record
    run.missing = max(int(log.status != "success"), (log.eval.dataset.samples or 0) - answered)
    return run


def read_arm_runs(folder: Path) -> tuple[list[ArmRun], list[str]]:
    """Return the complete runs of interventions in a folder of logs, the latest of each, and notes on the others.

    Raises:
        PeercorpusError: The folder contains no such run, or a log cannot be read.
    """
    if not folder.is_dir():
        raise PeercorpusError(f"'{folder}' is not a folder; name the one that 'bench interventions' wrote its logs to.")
    paths = sorted(Path(info.name.removeprefix("file://")) for info in list_eval_logs(str(folder)))
    runs = []
    for path in paths:
        try:
            run = _read_run(path)
        except PeercorpusError:
            raise
        except Exception as error:  # noqa: BLE001 -- a file that is damaged fails in whatever reads its parts
            raise PeercorpusError(f"The log '{path}' cannot be read ({error}); move it away.") from None
        runs += [run] if run is not None else []
    if not runs:
        raise PeercorpusError(f"'{folder}' contains no log of interventions; name a model with --model to make one.")
    notes = []
    kept: dict[tuple[object, ...], ArmRun] = {}
    went_on = {run.task_id for run in runs if not run.missing}
    for run in sorted(runs, key=lambda run: run.created):
        key = run.name, tuple(sorted(run.protocol.items()))
        if run.missing and run.task_id not in went_on:
            notes.append(f"'{run.path.name}' ({run.name}) is left out: it was interrupted; run it again.")
        elif not run.missing:
            if key in kept:
                notes.append(f"'{kept[key].path.name}' is left out: '{run.path.name}' is a later run of the same.")
            kept[key] = run
    return list(kept.values()), notes
