"""A task prompts a model in the model's own format and scores its answers, from a release to a log."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from inspect_ai import Task
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from invented_releases import a_release, review, score, task_paper
from naming import by_name
from peercorpus.benchmark.adapters import formatted
from peercorpus.benchmark.adapters.model_format import Wording, read_format
from peercorpus.benchmark.options import OptionValue
from peercorpus.benchmark.tasks import acceptance, rebuttal, scores
from peercorpus.benchmark.tasks import review as review_task
from peercorpus.errors import PeercorpusError
from peercorpus.release.request import Profile
from peercorpus.release.split_file import RULES, Made, SplitFile
from peercorpus.release.splits import Split
from scripted_judges import run_quietly

WORDS = "Review it:"
SAID = (Path(__file__).parent / "outputs" / "sea-e.md").read_text(encoding="utf-8")


@pytest.fixture
def release(tmp_path: Path) -> Path:
    given = [
        score("rating", "8: Accept", aspect="recommendation", value=8.0, low=1.0, high=10.0),
        score("confidence", "4", aspect="confidence", value=4.0, low=1.0, high=5.0),
    ]
    folder = a_release(
        tmp_path / "release", {"test": [task_paper("kites", reviews=[review("kites-R1", scores=given)])]}
    )
    splits = SplitFile(Profile.RE2, None, Made("1", "key", RULES[Profile.RE2], None), {}, {}, {Split.TEST: ["kites"]})
    (folder / "splits").mkdir()
    (folder / "splits" / "re2.json").write_bytes(msgspec.json.encode(splits))
    manifest = json.loads((folder / "release.json").read_text())
    manifest["files"]["splits/re2.json"] = "0" * 64
    (folder / "release.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture
def wordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "template.json"
    path.write_text(json.dumps({"instruction_e": WORDS}))
    wanted = {"system": Wording("template.json", hashlib.sha256(WORDS.encode()).hexdigest())}
    known = replace(read_format("sea-e"), wordings=wanted)
    monkeypatch.setattr(formatted, "read_format", lambda _: known)
    return str(path)


def answered(task: Task, tmp_path: Path, said: str = SAID) -> EvalLog:
    output = ModelOutput.from_content("mockllm/model", said)
    output.usage = ModelUsage()
    model = get_model("mockllm/model", custom_outputs=[output], memoize=False)
    log = run_quietly(task, model, tmp_path / "logs")
    assert log.status == "success", log.error
    return log


def read(log: EvalLog) -> dict[str, object]:
    assert log.samples is not None
    (sample,) = log.samples
    assert sample.messages[0].text == WORDS
    assert "They fall." in sample.messages[1].text
    found: dict[str, object] = sample.metadata["read"]
    return found


@pytest.mark.slow
def test_three_tasks_share_one_answer(release: Path, wordings: str, tmp_path: Path) -> None:
    told: dict[str, OptionValue] = {"adapter": "sea-e", "wordings": wordings}
    decision = answered(acceptance(str(release), **told), tmp_path)
    assert read(decision) == {"accept": True, "probability": None, "cut_off": False}
    assert decision.eval.model_generate_config.max_tokens is None
    assert decision.plan.config.max_tokens == 8192
    numbers = answered(scores(str(release), **told), tmp_path)
    assert read(numbers) == {"scores": {"rating": 6.0}, "cut_off": False}
    assert numbers.eval.metadata is not None
    assert by_name(numbers.eval.metadata["left_out"], "scores: ") == {"scores: ": 1}
    written = read(answered(review_task(str(release), **told), tmp_path))
    assert str(written["text"]).startswith("### summary\n\nThe paper sorts pebbles")
    assert written["scores"] == {"rating": 6.0}


@pytest.mark.slow
def test_an_unreadable_answer_is_unscored_with_a_reason(release: Path, wordings: str, tmp_path: Path) -> None:
    task = acceptance(str(release), adapter="sea-e", wordings=wordings)
    log = answered(task, tmp_path, SAID.replace("Decision: Accept", "Decision: Accept/Reject"))
    assert read(log)["unscored"] == "two_answers"
    assert log.results is not None
    assert [(one.scored_samples, one.unscored_samples) for one in log.results.scores] == [(0, 1)]


def test_adapters_are_not_asked_for_rebuttals(release: Path, wordings: str) -> None:
    with pytest.raises(PeercorpusError, match="'rebuttal'"):
        rebuttal(str(release), adapter="sea-e", wordings=wordings)
