"""Runs as their logs tell of them: what was asked of whom, and what became of every case."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
    read_eval_log_samples_by_id,
)
from inspect_ai.scorer import Score

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.outcomes import Outcome, Scored, read_found
from peercorpus.benchmark.wrong import wrong
from peercorpus.errors import PeercorpusError

UNREAD = {"messages", "events", "store", "attachments", "output", "events_data", "timelines"}
"""What is in a log and tells nothing of the numbers."""
JUDGE_OF_ITSELF = re.compile(r"length_spearman|(repeat|second)_\w+_overall")
"""Whether marks go with length, whether the judge repeats itself, and whether a second one agrees."""
AT_A_TIME = 100
"""Samples that are in memory at a time."""


@dataclass(frozen=True, slots=True, order=True)
class Protocol:
    """What runs must have in common to stand in one table.

    Attributes:
        release: The sha256 of its manifest.
        cases: The sha256 of the ids of all cases.
        paper: How much of a paper is shown.
        prompts: Version and digest of what models are told.
    """

    task: BenchTask
    release: str
    profile: str
    side: str
    led: bool
    cases: str
    paper: str
    few_shot: int
    prompts: str

    @property
    def data(self) -> tuple[str, ...]:
        """What also baselines, which are told nothing, must have in common."""
        return self.task, self.release, self.profile, self.side, str(self.led), self.cases


@dataclass(slots=True)
class Run:
    """One task answered by one model or baseline.

    Attributes:
        name: Of the model, or of the baseline.
        says: Of a baseline, what it does; of a model that was judged, how far to believe the judge.
        adapter: Whose words and form of answer; None for ours.
        grader: The model that judged; None where none did.
        outcomes: By what was scored.
        left_out: Papers and turns that are no cases, by the reason.
        cut_papers: Papers of which the model saw a part.
        signatures: Of the metrics, as they were when the run was scored.
        cut_answers: Answers that the model was stopped in.
        missing: Cases that have not been run, 1 at least where the run broke off; such a run stands in no table.
        task_id: The same in all logs of a run that broke off and went on.
        created: When, as ISO 8601.
        settings: How the model was told to write, such as its temperature; empty where it was told nothing.
    """

    path: Path
    protocol: Protocol
    name: str
    is_baseline: bool
    adapter: str | None = None
    grader: str | None = None
    outcomes: dict[Scored, list[Outcome]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    cut_papers: int = 0
    cut_answers: int = 0
    signatures: Mapping[str, str] = field(default_factory=dict)
    missing: int = 0
    task_id: str = ""
    created: str = ""
    says: str = ""
    settings: str = ""


def _outcome(scored: Scored, score: Score | None, sample: EvalSample) -> Outcome:
    case_id, forum_id = str(sample.id), str(sample.metadata["forum_id"])
    if score is None or score.reason is not None or not score.metadata:
        why = "error" if score is None else str(score.reason or "error")
        return Outcome(case_id, forum_id, wrong(scored, sample.metadata), why)
    return Outcome(case_id, forum_id, read_found(scored, score.metadata))


def _samples(path: Path) -> Iterator[EvalSample]:
    """The samples of a log, a batch at a time: the directory of the archive is read again for each batch."""
    ids = [(one.id, one.epoch) for one in read_eval_log_sample_summaries(str(path)) if one.completed or one.error]
    for first in range(0, len(ids), AT_A_TIME):
        yield from read_eval_log_samples_by_id(str(path), ids[first : first + AT_A_TIME], exclude_fields=UNREAD)


def _protocol(task: str, about: Mapping[str, Any], case_ids: list[str]) -> Protocol:
    told = about["prompts"]
    return Protocol(
        BenchTask(task),
        about["release"]["sha256"],
        about["profile"],
        about["side"],
        about["led"],
        sha256("\n".join(sorted(case_ids)).encode()).hexdigest(),
        about["paper"]["budget"],
        about["few_shot"],
        f"{told['version']} ({told['digest']})",
    )


WRITING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort", "reasoning_tokens")
"""Settings that change what a model writes."""


def _settings(log: EvalLog) -> str:
    config = log.plan.config
    said = ((name, getattr(config, name)) for name in WRITING)
    return ", ".join(f"{name} {value}" for name, value in said if value is not None)


def _judge_says(log: EvalLog) -> str:
    """How far to believe the judge of a run, of its overall marks; empty where none judged."""
    found = (score for score in (log.results.scores if log.results else ()) if score.name == Scored.JUDGE.value)
    metrics = (metric for score in found for metric in score.metrics.values())
    told = [f"{one.name} {one.value:.3f}" for one in metrics if JUDGE_OF_ITSELF.fullmatch(one.name)]
    return f"its judge: {', '.join(told)}" if told else ""


def _read(path: Path, log: EvalLog) -> Run:
    about = log.eval.metadata or {}
    kinds = [Scored(one.name) for one in log.eval.scorers or () if one.name in set(Scored)]
    outcomes: dict[Scored, list[Outcome]] = {kind: [] for kind in kinds}
    case_ids, cut_papers, cut_answers = [], 0, 0
    grader = None
    for sample in _samples(path):
        case_ids.append(str(sample.id))
        cut_papers += bool(sample.metadata["shown"]["left_out"])
        cut_answers += bool(sample.metadata.get("read", {}).get("cut_off"))
        for kind in kinds:
            score = (sample.scores or {}).get(kind.value)
            outcomes[kind].append(_outcome(kind, score, sample))
            if kind is Scored.JUDGE and score is not None:
                grader = grader or (score.metadata or {}).get("grader")
    task = str(about["task"])
    asked = log.eval.dataset.samples if log.eval.config.limit is None else len(case_ids)
    baseline = about["baseline"]
    return Run(
        path,
        _protocol(task, about, case_ids),
        baseline or log.eval.model,
        baseline is not None,
        about["adapter"],
        grader,
        outcomes,
        about["left_out"],
        cut_papers,
        cut_answers,
        about["signatures"],
        max(int(log.status != "success"), (asked or 0) * (log.eval.config.epochs or 1) - len(case_ids)),
        log.eval.task_id,
        log.eval.created,
        about["says"] or _judge_says(log),
        _settings(log) if baseline is None else "",
    )


def read_run(path: Path) -> Run | None:
    """A run of the benchmark; None where the log is of something else.

    Raises:
        PeercorpusError: The log cannot be read.
    """
    log = read_header(path)
    if log.eval.metadata is None or "prompts" not in log.eval.metadata or "task" not in log.eval.metadata:
        return None
    try:
        return _read(path, log)
    except Exception as error:  # noqa: BLE001 -- a file that is damaged fails in whatever reads its parts
        raise _unreadable(path, error) from None


def check_logs(folder: Path) -> None:
    """See that every log below a folder can be read, before a run goes on with them.

    Raises:
        PeercorpusError: One cannot.
    """
    for path in _paths(folder) if folder.is_dir() else ():
        read_header(path)


def read_header(path: Path) -> EvalLog:
    """A log without its samples.

    Raises:
        PeercorpusError: There is none, or it cannot be read.
    """
    if not path.is_file():
        raise PeercorpusError(f"There is no log '{path}'; name one that 'peercorpus bench' or inspect_ai wrote.")
    try:
        return read_eval_log(str(path), header_only=True)
    except Exception as error:  # noqa: BLE001 -- a file that is damaged fails in whatever reads its parts
        raise _unreadable(path, error) from None


def _paths(folder: Path) -> list[Path]:
    return sorted(Path(info.name.removeprefix("file://")) for info in list_eval_logs(str(folder)))


def _unreadable(path: Path, error: Exception) -> PeercorpusError:
    return PeercorpusError(f"The log '{path}' cannot be read ({error}); move it away.")


def read_runs(folder: Path) -> list[Run]:
    """All runs of the benchmark below a folder, the oldest first.

    Raises:
        PeercorpusError: There is none, or a log cannot be read.
    """
    if not folder.is_dir():
        raise PeercorpusError(f"'{folder}' is no folder; name the one that 'peercorpus bench' wrote its logs to.")
    runs = [run for run in map(read_run, _paths(folder)) if run is not None]
    if not runs:
        raise PeercorpusError(f"'{folder}' holds no log of the benchmark; run 'peercorpus bench' first.")
    return sorted(runs, key=lambda run: run.created)
