"""How models are recognised and prompted: in their authors' words, identified by a digest."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from inspect_ai import Task
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from asked_cases import CONFIDENCE, NOVELTY, OVERALL, RATING, SOUNDNESS, acceptance, reviewing, scoring
from invented_releases import a_release, review, score, task_paper
from naming import by_name
from peercorpus.benchmark.adapters import formatted
from peercorpus.benchmark.adapters.formatted import narrow
from peercorpus.benchmark.adapters.model_format import ModelFormat, Wording, find_wordings, read_format
from peercorpus.benchmark.adapters.reviewer_models import ADAPTERS, FORM, find_adapter, load_adapter
from peercorpus.benchmark.cases import BenchTask, CaseCounts, CaseMessage
from peercorpus.benchmark.options import OptionValue, parse_task_options
from peercorpus.benchmark.tasks import acceptance as acceptance_task
from peercorpus.benchmark.tasks import rebuttal, scores
from peercorpus.benchmark.tasks import review as review_task
from peercorpus.errors import PeercorpusError
from peercorpus.models.chat_messages import Speaker
from peercorpus.release.request import Profile
from peercorpus.release.split_file import RULES, Made, SplitFile
from peercorpus.release.splits import Split
from planted_releases import resign
from scripted_judges import run_quietly

FORMATS = sorted({"deepreviewer" if name == "deepreviewer-fast" else name for name in ADAPTERS})


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def invented(name: str, file: str, words: dict[str, str]) -> ModelFormat:
    return replace(read_format(name), wordings={key: Wording(file, digest(text)) for key, text in words.items()})


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_states_its_source_and_licence(name: str) -> None:
    known = read_format(name)
    assert "Read on" in known.source
    assert known.licence.strip()
    assert known.home.startswith("https://")
    assert known.last in {*known.scores, *known.others}
    assert "rating" in known.scores
    assert len({*known.prose, *known.scores, *known.others}) == sum(map(len, (known.prose, known.scores, known.others)))
    assert all(len(one.sha256) == 64 for one in known.wordings.values())
    assert known.generation["max_tokens"] < known.context


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_describes_its_model(name: str) -> None:
    adapter = load_adapter(name)
    assert adapter.tasks == {BenchTask.ACCEPTANCE, BenchTask.SCORES, BenchTask.REVIEW}
    assert all(model.count("/") == 1 for model in adapter.format.models)


def test_an_unknown_adapter_is_named_with_the_known_ones() -> None:
    with pytest.raises(PeercorpusError, match=r"'reviewer-x'.* sea-e, openreviewer"):
        load_adapter("reviewer-x")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("vllm/ECNU-SEA/SEA-E", "sea-e"),
        ("vllm/ecnu-sea/sea-e", "sea-e"),
        ("hf/maxidl/Llama-OpenReviewer-8B", "openreviewer"),
        ("openai-api/local/WestlakeNLP/DeepReviewer-14B", "deepreviewer"),
        ("WestlakeNLP/CycleReviewer-ML-Llama-3.1-8B", "cyclereviewer"),
        ("hf/meta-llama/Llama-3.1-8B-Instruct", None),
        ("vllm/Qwen/Qwen2.5-7B-Instruct:/adapters/mine", None),
        ("vllm/ECNU-SEA/SEA-E:/adapters/mine", None),
        ("vllm/my-ECNU-SEA/SEA-E", None),
        ("openai/gpt-5", None),
        ("SEA-E", None),
        ("", None),
    ],
)
def test_an_adapter_is_found_by_the_whole_id(model: str, name: str | None) -> None:
    assert find_adapter(model) == name


def test_prompts_are_found_in_every_file(tmp_path: Path) -> None:
    (tmp_path / "ask.py").write_text('def ask(n):\n    a = f"Be {n} reviewers."\n    return a + "Be kind.\\d"\n')
    (tmp_path / "ask.json").write_text(json.dumps({"other": "x", "list": [{"e": "Review it:"}]}))
    (tmp_path / "ask.txt").write_text("Be brief.\n")
    words = {"ask.py": ("Be {n} reviewers.", "Be kind.\\d"), "ask.json": ("Review it:",), "ask.txt": ("Be brief.",)}
    for file, texts in words.items():
        wanted = {str(place): text for place, text in enumerate(texts)}
        assert find_wordings(invented("sea-e", f"deep/{file}", wanted), tmp_path) == wanted
        assert find_wordings(invented("sea-e", f"deep/{file}", wanted), tmp_path / file) == wanted


def test_prompts_other_than_the_trained_ones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "template.json").write_text(json.dumps({"instruction_e": "Review it, please:"}))
    with pytest.raises(PeercorpusError, match=r"ECNU-SEA/SEA-E.* of https://github.com/ecnu-sea/SEA"):
        load_adapter("sea-e", tmp_path)
    with pytest.raises(PeercorpusError, match=r"nowhere'.*https://github.com/ecnu-sea/SEA"):
        load_adapter("sea-e", tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"def (", b"{", b"(" * 5000, b"\x00"])
def test_a_file_that_cannot_be_parsed_has_no_prompts(tmp_path: Path, content: bytes) -> None:
    for file in ("ask.py", "ask.json"):
        (tmp_path / file).write_bytes(content)
        with pytest.raises(PeercorpusError, match=f"'{tmp_path}'"):
            find_wordings(invented("sea-e", file, {"system": "Review it:"}), tmp_path)


def test_nothing_is_asked_without_the_prompts() -> None:
    for name in ADAPTERS:
        with pytest.raises(PeercorpusError, match=r"https://.* 'wordings'"):
            load_adapter(name).messages(acceptance(), "We sort pebbles.")


def messages(
    name: str, words: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paper: str
) -> list[CaseMessage]:
    (tmp_path / "words.json").write_text(json.dumps(words))
    file = "deepreviewer" if name == "deepreviewer-fast" else name
    known = invented(file, "words.json", words)
    monkeypatch.setattr(formatted, "read_format", lambda _: known)
    adapter = load_adapter(name, tmp_path / "words.json")
    told = [adapter.messages(case, paper) for case in (acceptance(), scoring(RATING), reviewing())]
    assert told[0] == told[1] == told[2]
    return told[0]


def test_the_paper_follows_the_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {
        "system": "Review {it}:",
        "standard": "Be {reviewer_num} people.",
        "order": "In order.",
        "fast": "Be fast.",
    }
    told = {
        "sea-e": "Review {it}:",
        "cyclereviewer": "Review {it}:",
        "deepreviewer": "Be 4 people.In order.",
        "deepreviewer-fast": "Be fast.",
    }
    for name, system in told.items():
        paper = "We sort {pebbles}."
        assert messages(name, words, tmp_path, monkeypatch, paper) == [
            CaseMessage(Speaker.SYSTEM, system),
            CaseMessage(Speaker.USER, paper),
        ]


def test_the_form_is_in_the_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"system": "Fields:\n{review_fields}\nEnd.", **{name: f"About {name}." for name in FORM}}
    system, user = messages("openreviewer", words, tmp_path, monkeypatch, "We sort pebbles.")
    assert system.text.startswith("Fields:\n## Summary\nAbout summary.\n\n## Soundness\nAbout soundness.\n")
    assert "\n\n## Flag For Ethics Review\nAbout flag_for_ethics_review.\n" in system.text
    assert system.text.endswith("## Confidence\nAbout confidence.\n\nEnd.")
    assert user == CaseMessage(Speaker.USER, "Review the following paper:\n\nWe sort pebbles.\n")


def test_only_scores_that_the_model_provides_are_requested() -> None:
    taken = CaseCounts()
    cases = [scoring(RATING, SOUNDNESS, CONFIDENCE), scoring(OVERALL, NOVELTY), scoring(SOUNDNESS)]
    assert narrow(load_adapter("sea-e"), cases, taken) == [scoring(RATING, SOUNDNESS), scoring(SOUNDNESS)]
    assert by_name(taken.left_out, "scores: ", "papers: ") == {"scores: ": 3, "papers: ": 1}


def test_other_tasks_are_asked_unchanged() -> None:
    taken = CaseCounts()
    for case in (acceptance(), reviewing(OVERALL)):
        assert narrow(load_adapter("sea-e"), [case], taken) == [case]
    assert not taken.left_out


def test_a_split_without_the_models_scores_is_refused() -> None:
    with pytest.raises(PeercorpusError, match=r"ECNU-SEA/SEA-E.*choose other venues"):
        narrow(load_adapter("sea-e"), [scoring(OVERALL)], CaseCounts())


def test_the_location_of_the_prompt_is_an_option() -> None:
    wanted = parse_task_options("release", {"adapter": "sea-e", "wordings": "SEA"})
    assert (wanted.adapter, str(wanted.wordings)) == ("sea-e", "SEA")


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
    resign(folder)
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
    decision = answered(acceptance_task(str(release), **told), tmp_path)
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
    task = acceptance_task(str(release), adapter="sea-e", wordings=wordings)
    log = answered(task, tmp_path, SAID.replace("Decision: Accept", "Decision: Accept/Reject"))
    assert read(log)["unscored"] == "two_answers"
    assert log.results is not None
    assert [(one.scored_samples, one.unscored_samples) for one in log.results.scores] == [(0, 1)]


def test_adapters_are_not_asked_for_rebuttals(release: Path, wordings: str) -> None:
    with pytest.raises(PeercorpusError, match="'rebuttal'"):
        rebuttal(str(release), adapter="sea-e", wordings=wordings)
