"""How a model is talked to: its tokenizer and its chat template. Asking and fine-tuning share them."""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from peercorpus.errors import MissingExtraError, ModelError


@dataclass(frozen=True, slots=True)
class Chat:
    """The tokenizer of a model that has a chat template.

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

    def parted(self, text: str) -> str:
        """A text with a space in what would be a mark of the model: nobody's words end a turn."""
        return text if self.marks is None else self.marks.sub(lambda mark: f"{mark[0][:1]} {mark[0][1:]}", text)

    def question(self, told: Sequence[dict[str, str]]) -> list[int]:
        """The tokens that the model is asked with."""
        return self.tokens(self.render(list(told), True))


def load_chat(model: str, extra: str) -> Chat | None:
    """How a model is talked to; None where it has no chat template.

    Args:
        model: A folder, or a name on the Hugging Face Hub.
        extra: That brings transformers.

    Raises:
        MissingExtraError: transformers is not installed.
        ModelError: There is no such model.
    """
    try:
        from transformers import AutoTokenizer
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "transformers", extra) from None
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(model)
    except (OSError, ValueError, KeyError) as error:
        detail = str(error).partition("\n")[0]
        raise ModelError(f"No tokenizer of '{model}' is here or on the Hugging Face Hub: {detail}") from None
    if not tokenizer.chat_template:
        return None

    def render(messages: list[dict[str, str]], asks: bool) -> str:
        try:
            return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks))
        except Exception as error:  # noqa: BLE001 -- a template raises what it likes
            raise ModelError(
                f"The chat template of '{model}' refuses a conversation: {error}; name another model."
            ) from None

    def tokens(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    added = ((one.content, one.special) for one in tokenizer.added_tokens_decoder.values())
    marks = _marks(str(tokenizer.chat_template), added)
    said = f"{tokenizer.chat_template}\0{tokenizer.backend_tokenizer.to_str()}"
    # The lessons of one paper begin alike.
    return Chat(model, render, lru_cache(8)(tokens), marks, hashlib.sha256(said.encode()).hexdigest())


def _marks(template: str, added: Iterable[tuple[str, bool]]) -> re.Pattern[str] | None:
    """What has a meaning of its own: special tokens, and others that the template names, such as `</think>`.

    Args:
        template: The chat template.
        added: Tokens that were added to the vocabulary, and whether each is special.
    """
    found = {
        text for text, is_special in added if len(text) > 1 and (is_special or (text.strip() and text in template))
    }
    longest_first = sorted(found, key=lambda one: (-len(one), one))
    return re.compile("|".join(map(re.escape, longest_first))) if found else None


def window_of(model: str) -> int | None:
    """Tokens that a model takes, its answer included; None where its configuration does not say.

    Args:
        model: A folder, or a name on the Hugging Face Hub.
    """
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(model)
    except (OSError, ValueError, KeyError):
        return None
    found = getattr(config.get_text_config(), "max_position_embeddings", None)
    return found if isinstance(found, int) else None
