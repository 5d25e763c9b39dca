"""Models that this process loads with transformers: told what they were trained with, and no more than fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai import Task
from inspect_ai._util.constants import DEFAULT_MAX_TOKENS
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, ModelOutput

from peercorpus.benchmark.chats import Chat, load_chat, window_of
from peercorpus.benchmark.weights import PROVIDER, find_weights
from peercorpus.errors import ModelError

STOPPED = "\0stopped"
"""Behind a text whose writer was stopped, until the provider has given it back."""
OWN_CHAT = frozenset({"chat_template", "use_chat_template"})
"""Arguments by which somebody says otherwise how the model is talked to."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model to be loaded.

    Attributes:
        name: As inspect_ai has it, and tables and logs.
        model_args: Of the provider.
        chat: How it is talked to; None where it has no chat template, or somebody says otherwise.
        window: Tokens that it takes, its answer included; None where its configuration does not say.
        weights: What it is made of, for the log; empty for a model of the Hub.
    """

    name: str
    model_args: Mapping[str, Any]
    chat: Chat | None
    window: int | None
    weights: Mapping[str, str]

    def fit(self, task: Task, settings: Mapping[str, Any]) -> None:
        """Make the questions of a task this model's: no words in them are its marks, and none is too long.

        Args:
            task: Its samples are changed.
            settings: Of the run: `max_tokens` and `limit`.

        Raises:
            ModelError: A question and its answer are longer than the model takes.
        """
        task.metadata = (task.metadata or {}) | ({"weights": dict(self.weights)} if self.weights else {})
        if self.chat is None:
            return
        limit = settings.get("limit")
        answer = settings.get("max_tokens") or task.config.max_tokens or DEFAULT_MAX_TOKENS
        for place, sample in enumerate(task.dataset):
            _part(sample, self.chat)
            if self.window is not None and (limit is None or place < limit):
                self._check(sample, self.chat, self.window, answer)

    def _check(self, sample: Sample, chat: Chat, window: int, answer: int) -> None:
        asked = len(chat.question([{"role": one.role, "content": one.text} for one in _messages(sample)]))
        if asked + answer > window:
            raise ModelError(
                f"The model '{self.name}' takes {window:,} tokens, but the question '{sample.id}' has {asked:,} and its"
                f" answer may have {answer:,}: show less of a paper (--paper-tokens, or 'paper_tokens' in a recipe) or"
                " allow a shorter answer (--max-tokens, or 'answer_tokens' in a recipe)."
            )


def tell_ends(model: Model) -> None:
    """Have a model say of each answer whether it came to its end or was stopped, of which the provider knows nothing.

    What ends with neither a mark of the end nor with what pads a batch was stopped. A sign behind the text carries that
    through the provider, which gives back text alone.
    """
    api: Any = model.api
    decode, generate = api.tokenizer.batch_decode, api.generate

    def decoded(sequences: Sequence[Sequence[int]], **settings: object) -> list[str]:
        texts: list[str] = decode(sequences=sequences, **settings)
        named = api.model.generation_config.eos_token_id
        ends = {*(named if isinstance(named, list) else [named]), api.tokenizer.pad_token_id}
        ends.add(api.model.generation_config.pad_token_id)
        is_stopped = [bool(len(ids)) and int(ids[-1]) not in ends for ids in sequences]
        return [text + STOPPED * is_one for text, is_one in zip(texts, is_stopped, strict=True)]

    async def generated(*asked: object, **settings: object) -> ModelOutput:
        output: ModelOutput = await generate(*asked, **settings)
        (choice,) = output.choices
        choice.stop_reason = "max_tokens" if choice.message.text.endswith(STOPPED) else "stop"
        output.completion = choice.message.content = choice.message.text.removesuffix(STOPPED)
        return output

    api.tokenizer.batch_decode, api.generate = decoded, generated


def let_go(model: Model) -> None:
    """Free the memory of a model that was loaded.

    The thread in which inspect_ai generates keeps hold of its last batch, and with that of the model.
    """
    api: Any = model.api
    api.model.to("meta")
    api.close()


def _messages(sample: Sample) -> list[Any]:
    return [] if isinstance(sample.input, str) else sample.input


def _part(sample: Sample, chat: Chat) -> None:
    for message in _messages(sample):
        message.content = chat.parted(message.text)


def find_loaded(named: str, model_args: Mapping[str, Any]) -> Loaded | None:
    """A model that this process loads; None for one of a service.

    Args:
        named: A folder, or a name of inspect_ai.
        model_args: That somebody gives to the provider; they go before ours.

    Raises:
        ModelError: The folder holds no model, or its tokenizer cannot be read.
        MissingExtraError: A package is not installed.
    """
    weights = find_weights(named)
    if weights is None and not named.startswith(PROVIDER):
        return None
    name, args, about = named, dict[str, Any](), dict[str, str]()
    if weights is None:
        whole = tokenizer = str(model_args.get("model_path") or named.removeprefix(PROVIDER))
    else:
        name, whole, tokenizer = f"{PROVIDER}{weights.name}", weights.whole, weights.tokenizer
        args["model_path"] = str(weights.folder)
        args |= {} if tokenizer == str(weights.folder) else {"tokenizer_path": tokenizer}
        about = {"sha256": weights.digest}
        if weights.base is not None:
            about["base"] = weights.base if isinstance(weights.base, str) else weights.base.name
    tokenizer = str(model_args.get("tokenizer") or model_args.get("tokenizer_path") or tokenizer)
    chat = None if OWN_CHAT & set(model_args) else load_chat(tokenizer, "neural")
    if chat is not None:
        # The provider has the template's text read as any text, which gives it a second mark of its beginning.
        args["tokenizer_call_args"] = {"add_special_tokens": False}
    return Loaded(name, args | dict(model_args), chat, window_of(whole), about)
