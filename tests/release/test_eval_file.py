"""`eval.yaml` in a release: inspect_ai's reader of Hub datasets gives the questions and scores of our task."""

import asyncio
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai._eval.task import hf as hub_tasks
from inspect_ai.dataset import Dataset, hf_dataset
from inspect_ai.model import ChatMessage, ModelName, ModelOutput
from inspect_ai.scorer import Target, pattern
from inspect_ai.solver import TaskState

from asked_releases import publish_release
from commands import Run
from invented_bench import quiet, scripted
from invented_tables import ICLR, a_forum, invented
from peercorpus.benchmark.answers import UnreadableAnswerError, read_decision
from peercorpus.benchmark.tasks import acceptance
from peercorpus.records.enums import Status
from peercorpus.records.papers import Paper
from peercorpus.release.eval_file import ANSWER, EVAL_FILE
from peercorpus.release.folder import MANIFEST
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.object_store import file_digest

QUESTIONS = "data/acceptance/test-00000-of-00001.parquet"
STATUSES = {"f1": Status.ACCEPTED, "f2": Status.REJECTED, "f3": Status.WITHDRAWN, "f4": Status.ACCEPTED}
ALL_ARE_TESTED = SplitRequest(Profile.TEMPORAL, date(2000, 1, 1))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with four test papers, one of them withdrawn."""
    folder = tmp_path_factory.mktemp("published")
    records = [
        replace(record, status=STATUSES[name]) if isinstance(record, Paper) else record
        for name in STATUSES
        for record in a_forum(name, markdown=f"# Text of {name}\n\nAll {{kites}} fly.<supplementary>")
    ]
    with invented(folder / "corpus", {ICLR: records}) as workspace:
        publish_release(workspace, folder / "out", splits=ALL_ARE_TESTED)
    return folder / "out"


@pytest.fixture
def on_the_hub(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The release as the Hub would serve it: its `eval.yaml`, and its files through `datasets`; no network."""

    def download(repo_id: str, filename: str, **_: object) -> str:
        assert repo_id == "ada/reviews"
        return str(published / filename)

    def load(path: str, revision: str | None, **asked: Any) -> Dataset:
        assert (path, revision) == ("ada/reviews", "abc123")
        return hf_dataset(str(published), cache_dir=str(tmp_path / "cache"), cached=False, **asked)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    monkeypatch.setattr(hub_tasks, "hf_dataset", load)
    return published


def ask(task: str | Task, folder: Path) -> tuple[list[tuple[str, ...]], dict[str, float]]:
    """The questions of a task, and the results of a model that accepts all papers."""
    asked = []

    def accept(messages: Sequence[ChatMessage]) -> str:
        asked.append(tuple(f"{message.role}: {message.text}" for message in messages))
        return '{"decision": "accept", "probability": 0.9}'

    with quiet():
        (log,) = run_eval(task, model=scripted(accept), log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    assert log.results is not None
    metrics = log.results.scores[0].metrics
    return sorted(asked), {name: metric.value for name, metric in metrics.items()}


@pytest.mark.slow
def test_inspect_runs_the_task_from_a_dataset(on_the_hub: Path, tmp_path: Path) -> None:
    questions, results = ask("hf/ada/reviews@abc123", tmp_path / "hub")
    assert len(questions) == 3
    assert results["accuracy"] == pytest.approx(2 / 3)
    assert questions == ask(acceptance(str(on_the_hub)), tmp_path / "ours")[0]


@pytest.mark.parametrize(
    "said",
    [
        '{"decision": "accept", "probability": 0.7}',
        '```json\n{"probability": 0.1, "decision": "reject"}\n```',
        ' {"decision": "Accept"}\n',
        '{"decision": "maybe"}',
        'I would say {"decision": "accept"}',
        '{"decision": "accept"} {"decision": "reject"}',
        "accept",
        "",
    ],
)
def test_its_scorer_reads_answers_like_ours(said: str) -> None:
    try:
        ours = "accept" if read_decision(said).accept else "reject"
    except UnreadableAnswerError:
        ours = None
    state = TaskState(ModelName("mockllm/a"), 1, 1, "", [], output=ModelOutput.from_content("a", said))
    for target in ("accept", "reject"):
        score = asyncio.run(pattern(ANSWER)(state, Target(target)))
        assert score is not None
        assert (score.value == "C") is (ours == target)


def sign(release: Path) -> None:
    """Update the manifest to the files' current content."""
    manifest = json.loads((release / MANIFEST).read_text())
    manifest["files"] = {
        path.relative_to(release).as_posix(): file_digest(path)
        for path in sorted(release.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
    (release / MANIFEST).write_text(json.dumps(manifest))


def change_question(release: Path, **columns: str) -> None:
    table = pq.read_table(release / QUESTIONS)
    first, *others = table.to_pylist()
    pq.write_table(pa.Table.from_pylist([first | columns, *others], table.schema), release / QUESTIONS)


def edit_eval_file(release: Path) -> None:
    path = release / EVAL_FILE
    path.write_text(path.read_text().replace("accept|reject", "accept|reject|maybe"))


@pytest.mark.parametrize(
    ("change", "file", "record_id"),
    [
        (lambda release: change_question(release, target="reject"), QUESTIONS, "f1"),
        (lambda release: change_question(release, question="Accept?"), QUESTIONS, "f1"),
        (edit_eval_file, EVAL_FILE, None),
        (lambda release: (release / EVAL_FILE).unlink(), EVAL_FILE, None),
    ],
)
def test_verify_finds_altered_questions(
    published: Path, tmp_path: Path, run: Run, change: Any, file: str, record_id: str | None
) -> None:
    release = shutil.copytree(published, tmp_path / "release")
    assert run("verify", release).code == 0
    change(release)
    sign(release)
    ended = run("verify", release)
    assert ended.code == 1
    assert any("questions" in line for line in ended.out.splitlines())
    assert any(file in line and (record_id or "") in line for line in ended.out.splitlines())
