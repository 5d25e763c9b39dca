"""Prepare a model that this process loads itself for inspect_ai."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai import Task
from inspect_ai._util.constants import DEFAULT_MAX_TOKENS
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, ModelOutput

from peercorpus.errors import ModelError
from peercorpus.models.chat_templates import Chat, load_chat, read_context_length
from peercorpus.models.checkpoints import INSPECT_PREFIX, find_weights

STOPPED = "\0stopped"
"""Appended to a text that reached its token limit; removed once the provider has returned the text."""
CHAT_ARGUMENTS = frozenset({"chat_template", "use_chat_template"})
"""Model arguments with which a user overrides the chat template."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model to be loaded by this process.

    Attributes:
        name: Name in inspect_ai, tables and logs.
        model_args: Arguments of the provider.
        chat: Chat template; None if there is none or the user overrides it.
        window: Context window in tokens, including the answer; None if the configuration does not state it.
        weights: Digest and base model for the log; empty for a model of the Hub.
    """

    name: str
    model_args: Mapping[str, Any]
    chat: Chat | None
    window: int | None
    weights: Mapping[str, str]

    def fit(self, task: Task, settings: Mapping[str, Any]) -> None:
        """Adapt the questions of a task to this model: escape its special tokens and check the length.

        Args:
            task: Its samples are changed in place.
            settings: Settings of the run: `max_tokens` and `limit`.

        Raises:
            ModelError: A question with its answer exceeds the model's window.
        """
        task.metadata = (task.metadata or {}) | ({"weights": dict(self.weights)} if self.weights else {})
        if self.chat is None:
            return
        limit = settings.get("limit")
        answer = settings.get("max_tokens") or task.config.max_tokens or DEFAULT_MAX_TOKENS
        for index, sample in enumerate(task.dataset):
            for message in _list_messages(sample):
                message.content = self.chat.parted(message.text)
            if self.window is not None and (limit is None or index < limit):
                self._check(sample, self.chat, self.window, answer)

    def _check(self, sample: Sample, chat: Chat, window: int, answer: int) -> None:
        asked = len(
            chat.question([{"role": message.role, "content": message.text} for message in _list_messages(sample)])
        )
        if asked + answer > window:
            raise ModelError(
                f"The model '{self.name}' takes {window:,} tokens, but the question '{sample.id}' has {asked:,} and its"
                f" answer may have {answer:,}: show less of a paper (--paper-tokens, or 'paper_tokens' in a recipe) or"
                " allow a shorter answer (--max-tokens, or 'answer_tokens' in a recipe)."
            )


def report_stop_reasons(model: Model) -> None:
    """Make a model report whether an answer ended by itself or was stopped, which the provider does not know.

    An answer that ends with neither an end token nor padding was stopped. A marker appended to the text carries this
    through the provider, which only returns text.
    """
    api: Any = model.api
    decode = api.tokenizer.batch_decode
    generate = api.generate

    def decoded(sequences: Sequence[Sequence[int]], **settings: object) -> list[str]:
        texts: list[str] = decode(sequences=sequences, **settings)
        named = api.model.generation_config.eos_token_id
        ends = {*(named if isinstance(named, list) else [named]), api.tokenizer.pad_token_id}
        ends.add(api.model.generation_config.pad_token_id)
        is_stopped = [bool(len(ids)) and int(ids[-1]) not in ends for ids in sequences]
        return [text + STOPPED * was_stopped for text, was_stopped in zip(texts, is_stopped, strict=True)]

    async def generated(*asked: object, **settings: object) -> ModelOutput:
        output: ModelOutput = await generate(*asked, **settings)
        (choice,) = output.choices
        choice.stop_reason = "max_tokens" if choice.message.text.endswith(STOPPED) else "stop"
        output.completion = choice.message.content = choice.message.text.removesuffix(STOPPED)
        return output

    api.tokenizer.batch_decode = decoded
    api.generate = generated


def free_model(model: Model) -> None:
    """Free the memory of a loaded model, which cannot be used afterwards.

    Dropping every reference is not enough: the thread in which inspect_ai generates keeps one to its last batch, and so
    to the model.
    """
    api: Any = model.api
    api.model.to("meta")
    api.close()


def _list_messages(sample: Sample) -> list[Any]:
    return [] if isinstance(sample.input, str) else sample.input


def find_local_model(named: str, model_args: Mapping[str, Any]) -> LocalModel | None:
    """Return the model if this process loads it, or None if a service does.

    Args:
        named: A folder, or a name in inspect_ai.
        model_args: The user's arguments for the provider; they override ours.

    Raises:
        ModelError: The folder holds no model, or its tokenizer cannot be read.
        MissingExtraError: A package is not installed.
    """
    weights = find_weights(named)
    if weights is None and not named.startswith(INSPECT_PREFIX):
        return None
    name = named
    args = dict[str, Any]()
    about = dict[str, str]()
    if weights is None:
        base = tokenizer = str(model_args.get("model_path") or named.removeprefix(INSPECT_PREFIX))
    else:
        name = f"{INSPECT_PREFIX}{weights.name}"
        base = weights.whole
        tokenizer = weights.tokenizer
        args["model_path"] = str(weights.folder)
        args |= {} if tokenizer == str(weights.folder) else {"tokenizer_path": tokenizer}
        about = {"sha256": weights.digest}
        if weights.base is not None:
            about["base"] = weights.base if isinstance(weights.base, str) else weights.base.name
    tokenizer = str(model_args.get("tokenizer") or model_args.get("tokenizer_path") or tokenizer)
    chat = None if CHAT_ARGUMENTS & set(model_args) else load_chat(tokenizer, "neural")
    if chat is not None:
        # The provider tokenizes the rendered template like any text, which would add a second begin-of-text token.
        args["tokenizer_call_args"] = {"add_special_tokens": False}
    return LocalModel(
        name=name, model_args=args | dict(model_args), chat=chat, window=read_context_length(base), weights=about
    )
