"""Lessons as tokens of a model, by its own chat template, with a mark on each token that is learnt."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from peercorpus.benchmark.cases import Said
from peercorpus.dialogues import Speaker
from peercorpus.errors import MissingExtraError, ModelError

NOT_LEARNT = -100
"""The label of a token that is not learnt: PyTorch's cross entropy leaves it out."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A lesson as tokens.

    Attributes:
        ids: Of the tokens.
        labels: The same where a token is learnt, else `NOT_LEARNT`; one for each of `ids`.
    """

    ids: list[int]
    labels: list[int]

    @property
    def learnt(self) -> int:
        """Tokens that are learnt."""
        return sum(label != NOT_LEARNT for label in self.labels)


@dataclass(frozen=True, slots=True)
class Encoder:
    """The tokenizer of a model.

    Attributes:
        name: The model.
        render: Messages → what the model reads; whether a place for an answer is added.
        tokens: Text → ids, without marks of their own.
        marks: Matches what has a meaning of its own for the model, such as the end of a turn.
        digest: The sha256 of the tokenizer and its chat template.
    """

    name: str
    render: Callable[[list[dict[str, str]], bool], str]
    tokens: Callable[[str], list[int]]
    marks: re.Pattern[str] | None
    digest: str = ""

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(self.tokens(text))

    def apart(self, said: Said) -> Said:
        """The same words with a space in what would be a mark of the model: nobody's text ends a turn."""
        if self.marks is None:
            return said
        return replace(said, text=self.marks.sub(lambda mark: f"{mark[0][:1]} {mark[0][1:]}", said.text))

    def turns(self, said: Sequence[Said]) -> list[tuple[str, str]]:
        """What the model reads before each answer, and the answer with the mark that ends it; together all of a lesson.

        Raises:
            ModelError: The chat template does not tell a conversation as a part of itself once it goes on.
        """
        told = [{"role": one.speaker.value, "content": self.apart(one).text} for one in said]
        turns: list[tuple[str, str]] = []
        before = ""
        for place, one in enumerate(said):
            if one.speaker is not Speaker.ASSISTANT:
                continue
            asked, answered = self.render(told[:place], True), self.render(told[: place + 1], False)
            if not (asked.startswith(before) and answered.startswith(asked)):
                raise ModelError(
                    f"The chat template of '{self.name}' tells a conversation in other words once it goes on, so that"
                    " what is learnt would not be what is asked; name another model."
                )
            turns.append((asked[len(before) :], answered[len(asked) :]))
            before = answered
        return turns

    def encode(self, said: Sequence[Said]) -> Encoded:
        """Messages as tokens; what the assistant says is learnt, with the mark that ends it.

        The tokens before each answer are those that the model gets when it is asked for it.

        Raises:
            ModelError: The chat template does not tell a conversation as a part of itself once it goes on.
        """
        ids: list[int] = []
        labels: list[int] = []
        for asked, answered in self.turns(said):
            asking, answer = self.tokens(asked), self.tokens(answered)
            ids += asking + answer
            labels += [NOT_LEARNT] * len(asking) + answer
        return Encoded(ids, labels)


def load_encoder(model: str) -> Encoder:
    """The encoder of a model.

    Args:
        model: A folder, or a name on the Hugging Face Hub.

    Raises:
        MissingExtraError: transformers is not installed.
        ModelError: There is no such model, or it has no chat template.
    """
    try:
        from transformers import AutoTokenizer
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "transformers", "finetune") from None
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(model)
    except (OSError, ValueError, KeyError) as error:
        detail = str(error).partition("\n")[0]
        raise ModelError(f"No tokenizer of '{model}' is here or on the Hugging Face Hub: {detail}") from None
    if not tokenizer.chat_template:
        raise ModelError(
            f"The tokenizer of '{model}' has no chat template, so nobody can say how the model is talked to; name a"
            " model that was made for conversations."
        )

    def render(messages: list[dict[str, str]], asks: bool) -> str:
        try:
            return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks))
        except Exception as error:  # noqa: BLE001 -- a template raises what it likes
            raise ModelError(f"The chat template of '{model}' refuses a lesson: {error}") from None

    def tokens(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    special = {one.content for one in tokenizer.added_tokens_decoder.values() if one.special and len(one.content) > 1}
    longest_first = sorted(special, key=lambda one: (-len(one), one))
    marks = re.compile("|".join(map(re.escape, longest_first))) if special else None
    # The lessons of one paper begin alike.
    said = f"{tokenizer.chat_template}\0{tokenizer.backend_tokenizer.to_str()}"
    return Encoder(model, render, lru_cache(8)(tokens), marks, hashlib.sha256(said.encode()).hexdigest())
