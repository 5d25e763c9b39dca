"""Read inspect_ai logs as runs of the benchmark, and group the runs that may be compared."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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

from peercorpus.benchmark.baselines.baseline import HUMAN
from peercorpus.benchmark.cases import BenchTask, PaperPart
from peercorpus.benchmark.early_checks import check_log_file, check_log_folder
from peercorpus.benchmark.figures.choice import FigureChoice
from peercorpus.benchmark.figures.showing import read_choice
from peercorpus.benchmark.outcomes import (
    EACH_KEY,
    RECORD_KEY,
    CaseOutcome,
    DecisionRecord,
    OutcomeRecord,
    PredictedScore,
    Scored,
    ScoresRecord,
    inform_of_majority,
    read_people,
    read_record,
    uninformed_record,
)
from peercorpus.errors import PeercorpusError

UNREAD = {"messages", "events", "store", "attachments", "output", "events_data", "timelines"}
"""Parts of a log that are not needed to compute numbers."""
JUDGE_QUALITY_METRICS = re.compile(r"length_spearman|(repeat|second)_\w+_overall")
"""Metrics of the judge's own quality: correlation with length, consistency, and agreement with a second judge."""
UNIFIED = "recommendations on Re²'s scale of 1 to 10 (the mean of the unified ratings is a rule of ours)"
"""Description in tables of runs of `scores` that were asked for one number on Re²'s scale."""
SAMPLES_PER_BATCH = 100
"""Number of samples in memory at a time."""


@dataclass(frozen=True, slots=True, order=True)
class Protocol:
    """Settings that runs must have in common to share a table.

    Attributes:
        release: SHA-256 of the release's manifest.
        cases: SHA-256 of the ids of all cases.
        paper: The part of a paper that is shown.
        prompts: Version and digest of the prompts, and the scale of the requested recommendation if not the form's.
    """

    task: BenchTask
    release: str
    profile: str
    split: str
    cases: str
    paper: str
    prompts: str

    @property
    def data(self) -> tuple[str, ...]:
        """The part that baselines must share with models; prompts do not matter to them."""
        return self.task, self.release, self.profile, self.split, self.cases


@dataclass(slots=True)
class FiguresOfRun:
    """Images of figures shown in a run.

    Attributes:
        arm: Name of the arm in tables.
        says: The limits of a question.
        signature: Everything that determines the images of a question.
        papers: Papers whose questions showed images.
        questions: Number of questions, with or without images.
        with_images: Number of questions with images.
        images: Number of images in all questions.
        left_out: Number of figures that were not shown, by reason.
    """

    arm: str
    says: str
    signature: str
    papers: set[str] = field(default_factory=set)
    questions: int = 0
    with_images: int = 0
    images: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def count(self, forum_id: str, choice: FigureChoice) -> None:
        """Count the images of one question."""
        self.questions += 1
        self.left_out.update(choice.left_out)
        if choice.shown:
            self.papers.add(forum_id)
            self.with_images += 1
            self.images += len(choice.shown)

    def describe(self) -> str:
        """Return a description of what was shown, as stated below a table."""
        counts = (
            f"{self.with_images:,} of {self.questions:,} questions, on {len(self.papers):,} papers, show"
            f" {self.images:,} images; {self.questions - self.with_images:,} have no figure to show"
        )
        reasons = ", ".join(f"{why} {count:,}" for why, count in sorted(self.left_out.items()))
        return f"{self.says}; {counts}; figures not shown: {reasons or '0'} ({self.signature})"


@dataclass(slots=True)
class TaskRun:
    """One task, answered by one model or baseline.

    Attributes:
        name: Name of the model or baseline.
        says: Description of a baseline; for a judged model, the reliability of the judge.
        adapter: Adapter whose prompts and answer format were used; None for our own.
        grader: The model that judged; None if none did.
        outcomes: Outcomes of all cases, by scorer.
        left_out: Number of papers and turns that are not cases, by reason.
        cut_papers: Cases in which the model saw only a part of the paper.
        cut_answers: Answers that ended at the token limit.
        signatures: Signatures of the metrics at the time of scoring.
        not_asked: Cases of the task that were not asked because of a limit.
        missing: Number of cases not run, at least 1 if the run was interrupted; such a run is in no table.
        task_id: Id shared by all logs of a run that was interrupted and resumed.
        created: Time of creation in ISO 8601.
        settings: Generation settings of the model, such as its temperature; empty if none were given.
        figures: Images of figures that it showed; None for a run without images.
        release: Folder of the release at the time of the run; None if the log does not state it.
        part: The part of the papers that was shown.
        lacking: Number of questions about papers without such a part, which is not replaced.
    """

    path: Path
    protocol: Protocol
    name: str
    is_baseline: bool
    adapter: str | None = None
    grader: str | None = None
    outcomes: dict[Scored, list[CaseOutcome]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    cut_papers: int = 0
    cut_answers: int = 0
    signatures: Mapping[str, str] = field(default_factory=dict)
    not_asked: int = 0
    missing: int = 0
    task_id: str = ""
    created: str = ""
    says: str = ""
    settings: str = ""
    figures: FiguresOfRun | None = None
    release: Path | None = None
    part: PaperPart = PaperPart.PAPER
    lacking: int = 0

    def describe_arm(self) -> str:
        """Return a description of the images shown, or of what could not be shown; empty if there are none."""
        if self.figures is not None:
            return self.figures.describe()
        return f"{self.lacking:,} questions are about papers without {self.part}" if self.lacking else ""

    @property
    def is_ceiling(self) -> bool:
        """Whether people answer, each measured against the others."""
        return self.is_baseline and self.name == HUMAN

    @property
    def identity(self) -> tuple[object, ...]:
        """Attributes that runs of one protocol must share for the later one to replace the earlier one."""
        signature = None if self.figures is None else self.figures.signature
        return self.name, self.settings, self.is_baseline, self.adapter, self.grader, self.part, signature


def _make_outcomes(scored: Scored, score: Score | None, sample: EvalSample) -> Iterator[CaseOutcome]:
    """Yield the outcome of a case; for the human ceiling, one for each reviewer left out."""
    conference, year = sample.metadata["conference"], sample.metadata["year"]
    case = partial(
        CaseOutcome,
        case_id=str(sample.id),
        forum_id=str(sample.metadata["forum_id"]),
        venue=conference if year is None else f"{conference} {year}",
        venue_id=str(sample.metadata.get("venue_id") or ""),
    )
    about = {} if score is None else score.metadata or {}
    if EACH_KEY in about:
        for person in read_people(scored, about):
            yield case(found=person[HUMAN], floors={name: record for name, record in person.items() if name != HUMAN})
    elif score is None or score.reason is not None or not about:
        yield case(
            found=uninformed_record(scored, sample.metadata),
            unscored="error" if score is None else str(score.reason or "error"),
            lenient=read_record(scored, about) if RECORD_KEY in about else None,
        )
    else:
        yield case(found=read_record(scored, about))


def read_samples(path: Path) -> Iterator[EvalSample]:
    """Yield the samples of a log in batches, because the archive's directory is read again for each batch."""
    ids = [
        (sample.id, sample.epoch)
        for sample in read_eval_log_sample_summaries(str(path))
        if sample.completed or sample.error
    ]
    for first in range(0, len(ids), SAMPLES_PER_BATCH):
        yield from read_eval_log_samples_by_id(str(path), ids[first : first + SAMPLES_PER_BATCH], exclude_fields=UNREAD)


def _make_protocol(task: str, about: Mapping[str, Any], case_ids: list[str]) -> Protocol:
    prompts = about["prompts"]
    scale = f"; {UNIFIED}" if about.get("unified") else ""
    return Protocol(
        task=BenchTask(task),
        release=about["release"]["sha256"],
        profile=about["profile"],
        split=about.get("split") or about["side"],  # Logs of earlier versions call the split `side`.
        cases=sha256("\n".join(sorted(case_ids)).encode()).hexdigest(),
        paper=about["paper"]["budget"],
        prompts=f"{prompts['version']} ({prompts['digest']}){scale}",
    )


WRITING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort", "reasoning_tokens")
"""Settings that change what a model writes."""


def _describe_judge(log: EvalLog) -> str:
    """Describe the reliability of a run's judge on the overall rating; empty if there was no judge."""
    scores = (score for score in (log.results.scores if log.results else ()) if score.name == Scored.JUDGE.value)
    metrics = (metric for score in scores for metric in score.metrics.values())
    descriptions = [
        f"{metric.name} {metric.value:.3f}" for metric in metrics if JUDGE_QUALITY_METRICS.fullmatch(metric.name)
    ]
    return f"its judge: {', '.join(descriptions)}" if descriptions else ""


def _describe_sameness(outcomes: Mapping[Scored, Sequence[CaseOutcome]]) -> str:
    """Report that a model gives each paper the same answer; empty if it does not, or has fewer than two answers."""
    for of_kind in outcomes.values():
        read = [outcome.found for outcome in of_kind if outcome.unscored is None]
        said = {_describe_answer(record) for record in read if isinstance(record, DecisionRecord | ScoresRecord)}
        if len(read) > 1 and len(said) == 1:
            return f"all {len(read):,} answers that have a score are the same: {said.pop()}"
    return ""


def _describe_answer(record: DecisionRecord | ScoresRecord) -> str:
    if isinstance(record, DecisionRecord):
        return "accept" if record.said else "reject"
    return ", ".join(f"{score.field} {score.said:g}" for score in record.fields)


def _read_samples_of_run(path: Path, log: EvalLog) -> TaskRun:
    about = log.eval.metadata or {}
    kinds = [Scored(scorer.name) for scorer in log.eval.scorers or () if scorer.name in set(Scored)]
    outcomes: dict[Scored, list[CaseOutcome]] = {kind: [] for kind in kinds}
    case_ids = []
    cut_papers = 0
    cut_answers = 0
    lacking = 0
    grader = None
    part = PaperPart(about["paper"].get("part", PaperPart.PAPER))
    figures = None if about.get("figures") is None else FiguresOfRun(**about["figures"])
    for sample in read_samples(path):
        case_ids.append(str(sample.id))
        cut_papers += bool(sample.metadata["shown"]["left_out"])
        cut_answers += bool(sample.metadata.get("read", {}).get("cut_off"))
        lacking += part is not PaperPart.PAPER and not sample.metadata[part.value]
        choice = read_choice(sample.metadata)
        if figures is not None and choice is not None:
            figures.count(str(sample.metadata["forum_id"]), choice)
        for kind in kinds:
            score = (sample.scores or {}).get(kind.value)
            outcomes[kind] += _make_outcomes(kind, score, sample)
            if kind is Scored.JUDGE and score is not None:
                grader = grader or (score.metadata or {}).get("grader")
    task = str(about["task"])
    asked = log.eval.dataset.samples if log.eval.config.limit is None else len(case_ids)
    baseline = about["baseline"]
    settings = [(name, getattr(log.plan.config, name)) for name in WRITING] if baseline is None else []
    if about.get("likelihood"):
        settings = [("decisions", "by likelihood")]
    return TaskRun(
        path=path,
        protocol=_make_protocol(task, about, case_ids),
        name=baseline or log.eval.model,
        is_baseline=baseline is not None,
        adapter=about["adapter"],
        grader=grader,
        outcomes={kind: inform_of_majority(of_kind) for kind, of_kind in outcomes.items()},
        left_out=about["left_out"],
        cut_papers=cut_papers,
        cut_answers=cut_answers,
        signatures=about["signatures"],
        not_asked=0 if log.eval.config.limit is None else (log.eval.dataset.samples or 0) - len(case_ids),
        missing=max(int(log.status != "success"), (asked or 0) * (log.eval.config.epochs or 1) - len(case_ids)),
        task_id=log.eval.task_id,
        created=log.eval.created,
        says=about["says"] or "; ".join(filter(None, [_describe_judge(log), _describe_sameness(outcomes)])),
        settings=", ".join(f"{name} {value}" for name, value in settings if value is not None),
        figures=figures,
        release=Path(log.eval.task_args["release"]) if "release" in log.eval.task_args else None,
        part=part,
        lacking=lacking,
    )


def read_run(path: Path) -> TaskRun | None:
    """Read a run of the benchmark, or return None if the log belongs to another task.

    Raises:
        PeercorpusError: The log cannot be read.
    """
    log = read_header(path)
    if log.eval.metadata is None or "prompts" not in log.eval.metadata or "task" not in log.eval.metadata:
        return None
    try:
        return _read_samples_of_run(path, log)
    except Exception as error:  # noqa: BLE001 -- a file that is damaged fails in whatever reads its parts
        raise _make_log_error(path, error) from None


def check_logs(folder: Path) -> None:
    """Check that every log in a folder can be read, before a run resumes from them.

    Raises:
        PeercorpusError: A log cannot be read.
    """
    for path in _list_logs(folder) if folder.is_dir() else ():
        read_header(path)


def read_header(path: Path) -> EvalLog:
    """Read a log without its samples.

    Raises:
        PeercorpusError: The log does not exist or cannot be read.
    """
    check_log_file(path)
    try:
        return read_eval_log(str(path), header_only=True)
    except Exception as error:  # noqa: BLE001 -- a file that is damaged fails in whatever reads its parts
        raise _make_log_error(path, error) from None


def _list_logs(folder: Path) -> list[Path]:
    return sorted(Path(info.name.removeprefix("file://")) for info in list_eval_logs(str(folder)))


def _make_log_error(path: Path, error: Exception) -> PeercorpusError:
    return PeercorpusError(f"The log '{path}' cannot be read ({error}); move it away.")


def read_runs(folder: Path) -> list[TaskRun]:
    """Read all runs of the benchmark in a folder, oldest first.

    Raises:
        PeercorpusError: The folder contains no run, or a log cannot be read.
    """
    check_log_folder(folder)
    runs = [run for run in map(read_run, _list_logs(folder)) if run is not None]
    if not runs:
        raise PeercorpusError(f"'{folder}' contains no log of the benchmark; run 'peercorpus bench' first.")
    return sorted(runs, key=lambda run: run.created)


Field = tuple[str, str, float, float]
"""A case id, a field of the form, and the bounds of the field's scale."""


def _identify_field(outcome: CaseOutcome, number: PredictedScore) -> Field:
    return outcome.case_id, number.field, number.low, number.high


def fields_asked(outcomes: Sequence[CaseOutcome], aspect: str) -> frozenset[Field]:
    """Return the requested fields of one aspect; empty in other tasks than `scores`."""
    both = (
        (outcome, number)
        for outcome in outcomes
        if isinstance(outcome.found, ScoresRecord)
        for number in outcome.found.fields
    )
    return frozenset(_identify_field(outcome, number) for outcome, number in both if number.aspect == aspect)


def comparable_runs(runs: Sequence[TaskRun], aspect: str) -> Iterator[tuple[list[TaskRun], bool]]:
    """Yield groups of runs that may share a table of an aspect, and whether some of them were asked for more fields.

    There is one group for each set of fields requested from a model, with all runs in which at least these were
    requested.
    """
    asked = [(run, fields_asked(run.outcomes.get(Scored.NUMBERS, ()), aspect)) for run in runs]
    of_models = [fields for run, fields in asked if fields and not run.is_baseline]
    field_sets = dict.fromkeys(of_models or [fields for _, fields in asked if fields])
    if not field_sets:
        yield list(runs), False
    for fields in field_sets:
        # People count for a field only if several of them gave it, so they have fewer papers.
        chosen = [(run, theirs != fields) for run, theirs in asked if theirs >= fields or run.is_ceiling]
        yield (
            [_narrow_run(run, fields) if is_other else run for run, is_other in chosen],
            any(is_other and not run.is_ceiling for run, is_other in chosen),
        )


def _narrow_record(outcome: CaseOutcome, record: OutcomeRecord, fields: frozenset[Field]) -> ScoresRecord:
    assert isinstance(record, ScoresRecord)
    return ScoresRecord(tuple(number for number in record.fields if _identify_field(outcome, number) in fields))


def _narrow_run(run: TaskRun, fields: frozenset[Field]) -> TaskRun:
    outcomes = []
    for outcome in run.outcomes[Scored.NUMBERS]:
        found, *floors = (
            _narrow_record(outcome, record, fields) for record in (outcome.found, *outcome.floors.values())
        )
        if found.fields:
            outcomes.append(replace(outcome, found=found, floors=dict(zip(outcome.floors, floors, strict=True))))
    return replace(run, outcomes={Scored.NUMBERS: outcomes})
