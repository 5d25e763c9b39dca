"""A model loaded by this process: the requests to its provider, without a model or PyTorch."""

import asyncio
import re
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
)

from peercorpus.benchmark import local_model
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.local_model import STOPPED, LocalModel, free_model, load_local
from peercorpus.errors import ModelError
from peercorpus.execution.progress import Progress, show_nothing
from peercorpus.models.chat_templates import Chat

WINDOW = 40
END = 2
"""The token that ends an answer."""


class Rows(list[list[int]]):
    """A batch, as far as counting tokens requires."""

    def new_full(self, shape: tuple[int, ...], value: int) -> Any:
        return SimpleNamespace(bool=lambda: [bool(value)] * shape[0])


class Provider:
    """Return what `inspect_ai` makes of a model in a folder, with fixed output instead of a model."""

    def __init__(self) -> None:
        self.device, self.do_sample = "cpu", True
        self.asked: list[tuple[list[str], GenerateConfig, bool]] = []
        self.closed: list[str] = []
        self.tokenizer = SimpleNamespace(batch_decode=lambda sequences: ["said" for _ in sequences], pad_token_id=0)
        self.model = SimpleNamespace(
            generate=self._write, generation_config=SimpleNamespace(eos_token_id=END, pad_token_id=None), to=self._move
        )
        self.tokens: list[int] = [5, END]
        self.write: Callable[[Any], None] = lambda _: None

    def _write(self, input_ids: Any, stopping_criteria: list[Any], **_: object) -> str:
        (counts,) = stopping_criteria
        self.write(lambda: counts(input_ids, None))
        return "written"

    def _move(self, where: str) -> None:
        self.closed.append(where)

    def close(self) -> None:
        self.closed.append("closed")

    def hf_chat(self, messages: list[Any], tools: list[Any]) -> str:  # noqa: ARG002 -- the provider's own
        return "".join(f"<{message.text}>" for message in messages)

    async def generate(self, asked: list[Any], tools: Any, tool_choice: Any, config: GenerateConfig) -> ModelOutput:  # noqa: ARG002
        self.asked.append(([self.hf_chat(asked, [])], config, self.do_sample))
        (text,) = self.tokenizer.batch_decode(sequences=[self.tokens])
        return ModelOutput(model="m", choices=[ChatCompletionChoice(message=ChatMessageAssistant(content=text))])


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    made = Provider()

    def get(_: str, *, config: GenerateConfig, do_sample: bool = True, **__: object) -> Any:
        made.do_sample = do_sample
        return SimpleNamespace(api=made, config=config, name="m")

    monkeypatch.setattr(local_model, "get_model", get)
    return made


def local(**model_args: Any) -> LocalModel:
    chat = Chat(
        "m",
        lambda messages, _: "".join(one["content"] for one in messages),
        lambda text: [1] * len(text),
        re.compile("<end>"),
    )
    return LocalModel("hf/m", model_args, chat, WINDOW, {})


def ask(model: Model, *texts: str, **config: Any) -> ModelOutput:
    kinds = (ChatMessageUser, ChatMessageAssistant)
    asked: list[Any] = [kinds[place % 2](content=text) for place, text in enumerate(texts)]
    api: Any = model.api
    settings = GenerateConfig(max_tokens=8).merge(GenerateConfig(**config))
    output: ModelOutput = asyncio.run(api.generate(input=asked, tools=[], tool_choice="auto", config=settings))
    return output


def test_the_answers_of_every_task_have_a_limit() -> None:
    assert set(local_model.ANSWER_TOKENS) == set(BenchTask)


@pytest.mark.parametrize(
    ("args", "settings", "samples"),
    [
        ({}, {}, False),
        ({}, {"temperature": 0.0}, False),
        ({"do_sample": False}, {}, False),
        ({"do_sample": True}, {"temperature": 0.0}, False),
        ({"do_sample": True}, {}, True),
        ({}, {"temperature": 0.7, "top_p": 0.9}, True),
    ],
)
def test_a_model_decodes_greedily_unless_a_temperature_is_given(
    provider: Provider, args: dict[str, bool], settings: dict[str, float], samples: bool
) -> None:
    ask(load_local(local(**args), GenerateConfig(), show_nothing), "a", **settings)
    _, config, does_sample = provider.asked[0]
    assert does_sample is samples
    # Transformers refuses a temperature of 0, and warns of sampling settings if nothing is sampled.
    assert (config.temperature, config.top_p) == (
        (settings.get("temperature"), settings.get("top_p")) if samples else (None, None)
    )


@pytest.mark.usefixtures("provider")
def test_a_processor_is_asked_one_at_a_time() -> None:
    assert load_local(local(), GenerateConfig(), show_nothing).config.max_connections == 1
    assert load_local(local(), GenerateConfig(max_connections=4), show_nothing).config.max_connections == 4


def test_an_end_token_cannot_end_a_turn(provider: Provider) -> None:
    ask(load_local(local(), GenerateConfig(), show_nothing), "a<end>b", '{"decision": "')
    assert provider.asked[0][0] == ['<a< end>b>{"decision": "']


def test_a_question_that_does_not_fit_is_not_asked(provider: Provider) -> None:
    output = ask(load_local(local(), GenerateConfig(), show_nothing), "a" * WINDOW)
    assert (output.stop_reason, output.completion, provider.asked) == ("model_length", "", [])


@pytest.mark.parametrize(("last", "reason"), [(END, "stop"), (0, "stop"), (7, "max_tokens")])
def test_an_end_token_completes_an_answer(provider: Provider, last: int, reason: str) -> None:
    provider.tokens = [5, last]
    output = ask(load_local(local(), GenerateConfig(), show_nothing), "a")
    assert (output.stop_reason, output.completion) == (reason, "said")
    assert STOPPED not in output.completion


@pytest.mark.fault("kill", "Ctrl-C while a model on this machine writes a batch", "exit 130; the same command goes on")
def test_a_model_is_freed_once_its_batch_has_stopped(provider: Provider) -> None:
    shown: list[Progress] = []
    model = load_local(local(), GenerateConfig(), shown.append)
    begun, ended = threading.Event(), []

    def write(count: Callable[[], list[bool]]) -> None:
        while not all(count()):
            begun.set()
        ended.append(tuple(provider.closed))

    provider.write = write
    api: Any = model.api
    thread = threading.Thread(target=lambda: api.model.generate(input_ids=Rows([[1], [2]])))
    thread.start()
    assert begun.wait(10)
    free_model(model)
    thread.join(10)
    assert ended == [()], "the model was moved away under a batch that still ran"
    assert provider.closed == ["meta", "closed"]
    assert shown[-1].what == "tokens written"
    assert shown[-1].done % 2 == 0
    with pytest.raises(ModelError, match="run the same command again"):
        api.model.generate(input_ids=Rows([[1]]))
