"""Prepare a model for inspect_ai that this process loads itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from threading import Event, Lock
from typing import Any

from inspect_ai import Task
from inspect_ai._util.constants import DEFAULT_MAX_TOKENS
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.tool import ToolChoice, ToolInfo

from peercorpus.benchmark.answers import match_decision
from peercorpus.benchmark.cases import BenchTask
from peercorpus.errors import ModelError
from peercorpus.execution.progress import Meter, Show
from peercorpus.models.chat_templates import Chat, load_chat, read_context_length
from peercorpus.models.checkpoints import INSPECT_PREFIX, find_weights

STOPPED = "\0stopped"
"""Appended to a text that reached its token limit; removed once the provider has returned the text."""
ANSWER_TOKENS = {
    BenchTask.ACCEPTANCE: 64,
    BenchTask.SCORES: 256,
    BenchTask.REVIEW: 2_048,
    BenchTask.REBUTTAL: 1_024,
    BenchTask.META_REVIEW: 1_024,
}
"""Maximum number of tokens of an answer to each task, unless the user sets one."""
MOST_LIKELY = 5_000
"""Number of most probable tokens that are searched for an allowed answer."""
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
        weights: Digest and base model for the log; empty for a model on the Hub.
    """

    name: str
    model_args: Mapping[str, Any]
    chat: Chat | None
    window: int | None
    weights: Mapping[str, str]

    def fit(self, task: Task, settings: Mapping[str, Any]) -> None:
        """Adapt a task to this model: limit its answers, escape special tokens in its questions, check their length.

        Args:
            task: The task, which is changed in place.
            settings: Settings of the run: `max_tokens` and `limit`.

        Raises:
            ModelError: A question with its answer exceeds the model's window.
        """
        task.metadata = (task.metadata or {}) | ({"weights": dict(self.weights)} if self.weights else {})
        if task.config.max_tokens is None:
            task.config.max_tokens = self.limit(ANSWER_TOKENS[task.metadata["task"]])
        limit = settings.get("limit")
        answer = settings.get("max_tokens") or task.config.max_tokens
        for index, sample in enumerate(task.dataset):
            if isinstance(sample.input, str):
                continue
            sample.input = self.escape(sample.input)
            if (limit is None or index < limit) and not self.fits(sample.input, answer):
                raise ModelError(
                    f"The model '{self.name}' has a window of {self.window:,} tokens, but the question"
                    f" '{sample.id}' has"
                    f" {self._count(sample.input):,} and its answer may have {answer:,}: show less of a paper"
                    " (--paper-tokens, or 'paper_tokens' in a recipe) or allow a shorter answer (--max-tokens)."
                )

    def limit(self, most: int) -> int:
        """Return the maximum number of tokens of an answer; more than `most` if the model reasons before it answers."""
        marks = None if self.chat is None else self.chat.marks
        return DEFAULT_MAX_TOKENS if marks is not None and marks.fullmatch("</think>") else most

    def escape(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return messages whose texts contain no special token of the model."""
        if self.chat is None:
            return list(messages)
        return [message.model_copy(update={"content": self.chat.parted(message.text)}) for message in messages]

    def fits(self, messages: Sequence[ChatMessage], answer: int) -> bool:
        """Return whether a question and an answer of this many tokens fit into the window, if it is known."""
        return self.chat is None or self.window is None or self._count(messages) + answer <= self.window

    def _count(self, messages: Sequence[ChatMessage]) -> int:
        assert self.chat is not None
        return len(self.chat.question([{"role": message.role, "content": message.text} for message in messages]))


class _Generation:
    """Generates the batches of a loaded model: counts the tokens written, seeds samples, and stops on request.

    It runs in the provider's thread. A process that exits while that thread computes is aborted, so the model must be
    stopped before it is freed.
    """

    def __init__(self, generate: Callable[..., Any], name: str, show: Show) -> None:
        self.seed: int | None = None
        self._generate = generate
        self._meter = Meter(name, "tokens written", show)
        self._is_stopped = Event()
        self._running = Lock()

    def __call__(self, input_ids: Any, **settings: Any) -> Any:  # noqa: ANN401 -- tensors
        with self._running:
            if self._is_stopped.is_set():
                raise ModelError("The model was freed before this question was answered; run the same command again.")
            if settings.get("do_sample") and self.seed is not None:
                import torch

                asked = sha256(f"{self.seed} {input_ids.tolist()}".encode()).digest()
                torch.manual_seed(int.from_bytes(asked[:7]))
            criteria = [*settings.pop("stopping_criteria", ()), self._count]
            return self._generate(input_ids=input_ids, stopping_criteria=criteria, **settings)

    def _count(self, ids: Any, *_: object, **__: object) -> Any:  # noqa: ANN401 -- tensors
        """Count one more token of each answer in a batch; return for each whether to stop."""
        self._meter.advance(len(ids))
        return ids.new_full((len(ids),), int(self._is_stopped.is_set())).bool()

    def stop(self) -> None:
        """Stop after the next token, and wait for it."""
        self._is_stopped.set()
        with self._running:
            pass


def load_local(local: LocalModel, config: GenerateConfig, show: Show) -> Model:
    """Load a model and adapt its provider.

    The provider samples by default and refuses a temperature of 0, escapes nothing, ends every assistant message, and
    does not distinguish answers that ended by themselves from stopped ones. Here a temperature of 0, or none, means
    greedy decoding; special tokens in messages are escaped; an assistant message at the end is continued; and a marker,
    appended to a text whose last token neither ends nor pads it, carries the stop reason through the provider, which
    only returns text.
    """
    model = get_model(local.name, memoize=False, config=config, **local.model_args)
    api: Any = model.api
    if api.device == "cpu" and model.config.max_connections is None:
        # A batch takes as long as its longest answer, and one processor does not compute two answers at the same time.
        model.config.max_connections = 1
    decode, generate, render = api.tokenizer.batch_decode, api.generate, api.hf_chat
    always_samples = api.do_sample and "do_sample" in local.model_args
    generation = api.model.generate = _Generation(api.model.generate, local.name, show)

    def decoded(sequences: Sequence[Sequence[int]], **settings: object) -> list[str]:
        texts: list[str] = decode(sequences=sequences, **settings)
        named = api.model.generation_config.eos_token_id
        ends = {*(named if isinstance(named, list) else [named]), api.tokenizer.pad_token_id}
        ends.add(api.model.generation_config.pad_token_id)
        is_stopped = [bool(len(ids)) and int(ids[-1]) not in ends for ids in sequences]
        return [text + STOPPED * was_stopped for text, was_stopped in zip(texts, is_stopped, strict=True)]

    def rendered(messages: list[ChatMessage], tools: list[ToolInfo]) -> str:
        if messages[-1].role != "assistant":
            return str(render(messages, tools))
        return f"{render(messages[:-1], tools)}{messages[-1].text}"

    async def generated(
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        asked = local.escape(input)
        if not local.fits(asked, config.max_tokens or DEFAULT_MAX_TOKENS):
            return ModelOutput.from_content(model.name, "", "model_length")
        # The provider reads both before its first await.
        api.do_sample = bool(config.temperature) or (config.temperature is None and always_samples)
        generation.seed = config.seed
        changes = {} if api.do_sample else dict.fromkeys(("temperature", "top_p", "top_k"))
        changes |= {"top_logprobs": MOST_LIKELY} if config.logprobs else {}
        output: ModelOutput = await generate(asked, tools, tool_choice, config.model_copy(update=changes))
        (choice,) = output.choices
        for written in choice.logprobs.content if choice.logprobs else ():
            # Of thousands, only those that `solvers.compare_likelihoods` reads are kept.
            written.top_logprobs = [likely for likely in written.top_logprobs or () if match_decision(likely.token)]
        choice.stop_reason = "max_tokens" if choice.message.text.endswith(STOPPED) else "stop"
        output.completion = choice.message.content = choice.message.text.removesuffix(STOPPED)
        return output

    api.tokenizer.batch_decode = decoded
    api.hf_chat = rendered
    api.generate = generated
    return model


def free_model(model: Model) -> None:
    """Stop a loaded model and free its memory; it cannot be used afterwards.

    Dropping every reference is not enough: the thread in which inspect_ai generates keeps a reference to its last
    batch, and thereby to the model.
    """
    api: Any = model.api
    api.model.generate.stop()
    api.model.to("meta")
    api.close()


def find_local_model(named: str, model_args: Mapping[str, Any]) -> LocalModel | None:
    """Return the model if this process loads it, or None if a service does.

    Args:
        named: A folder, or a name in inspect_ai.
        model_args: The user's arguments for the provider; they override ours.

    Raises:
        ModelError: The folder contains no model, or its tokenizer cannot be read.
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
    chat = None if CHAT_ARGUMENTS & set(model_args) else load_chat(tokenizer)
    if chat is not None:
        # The provider tokenizes the rendered template like any other text, which would add a second begin-of-text
        # token.
        args["tokenizer_call_args"] = {"add_special_tokens": False}
    return LocalModel(
        name=name, model_args=args | dict(model_args), chat=chat, window=read_context_length(base), weights=about
    )
