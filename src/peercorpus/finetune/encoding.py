"""Lessons as tokens of a model, by its own chat template, with a mark on each token that is learnt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from peercorpus.benchmark.cases import Said
from peercorpus.benchmark.chats import Chat, load_chat, window_of
from peercorpus.dialogues import Speaker
from peercorpus.errors import ModelError

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
class Encoder(Chat):
    """The tokenizer of a model that learns.

    Attributes:
        window: Tokens that the model takes; None where its configuration does not say.
    """

    window: int | None = None

    def apart(self, said: Said) -> Said:
        """The same words with a space in what would be a mark of the model."""
        return replace(said, text=self.parted(said.text))

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
    chat = load_chat(model, "finetune")
    if chat is None:
        raise ModelError(
            f"The tokenizer of '{model}' has no chat template, so nobody can say how the model is talked to; name a"
            " model that was made for conversations."
        )
    return Encoder(chat.name, chat.render, chat.tokens, chat.marks, chat.digest, window_of(model))
