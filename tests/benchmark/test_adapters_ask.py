"""How models are recognised and prompted: in their authors' words, identified by a digest."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from asked_cases import RATING, acceptance, reviewing, scoring
from peercorpus.benchmark.adapters import formatted
from peercorpus.benchmark.adapters.model_format import ModelFormat, Wording, find_wordings, read_format
from peercorpus.benchmark.adapters.reviewer_models import ADAPTERS, FORM, find_adapter, load_adapter
from peercorpus.benchmark.cases import BenchTask, CaseMessage
from peercorpus.errors import PeercorpusError
from peercorpus.models.chat_messages import Speaker

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
