"""Load a model's tokenizer and chat template, and render chats as the model reads them."""

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
        name: Name or folder of the model.
        render: Takes messages and whether to add the generation prompt; returns the text that the model reads.
        tokens: Takes a text; returns its token ids, without adding special tokens.
        marks: Matches special tokens, such as the end of a turn; None if there are none.
        digest: SHA-256 of the tokenizer and its chat template.
    """

    name: str
    render: Callable[[list[dict[str, str]], bool], str]
    tokens: Callable[[str], list[int]]
    marks: re.Pattern[str] | None
    digest: str = ""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self.tokens(text))

    def parted(self, text: str) -> str:
        """Break special tokens in a text with a space, so that papers and reviews cannot end a turn.

        The text is unchanged if the tokenizer has no special tokens (`marks` is None).
        """
        return text if self.marks is None else self.marks.sub(lambda mark: f"{mark[0][:1]} {mark[0][1:]}", text)

    def question(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """Return the tokens of the messages with the generation prompt."""
        return self.tokens(self.render(list(messages), True))


def load_chat(model: str) -> Chat | None:
    """Load a model's tokenizer and chat template; None if it has no chat template.

    Args:
        model: A folder, or a name on the Hugging Face Hub.

    Raises:
        MissingExtraError: transformers is not installed.
        ModelError: The model has no tokenizer that can be loaded.
    """
    try:
        from transformers import AutoTokenizer
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "transformers", "models") from None
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(model)
    except (OSError, ValueError, KeyError) as error:
        detail = str(error).partition("\n")[0]
        raise ModelError(
            f"No tokenizer of '{model}' was found in a local folder or on the Hugging Face Hub: {detail}"
        ) from None
    if not tokenizer.chat_template:
        return None

    def render(messages: list[dict[str, str]], asks: bool) -> str:
        try:
            return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks))
        except Exception as error:  # noqa: BLE001 -- a template can raise any exception
            raise ModelError(
                f"The chat template of '{model}' refuses a conversation: {error}; name another model."
            ) from None

    def tokens(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    added = ((token.content, token.special) for token in tokenizer.added_tokens_decoder.values())
    marks = _make_marks_pattern(str(tokenizer.chat_template), added)
    tokenizer_text = f"{tokenizer.chat_template}\0{tokenizer.backend_tokenizer.to_str()}"
    # Training examples of one paper share their beginning, so the latest texts are cached.
    return Chat(
        name=model,
        render=render,
        tokens=lru_cache(8)(tokens),
        marks=marks,
        digest=hashlib.sha256(tokenizer_text.encode()).hexdigest(),
    )


def _make_marks_pattern(template: str, added: Iterable[tuple[str, bool]]) -> re.Pattern[str] | None:
    """Return a pattern of special tokens and of tokens that the template uses, such as `</think>`; None if none.

    Args:
        template: The chat template.
        added: Tokens added to the vocabulary, and whether each is special.
    """
    special_texts = {
        text for text, is_special in added if len(text) > 1 and (is_special or (text.strip() and text in template))
    }
    longest_first = sorted(special_texts, key=lambda token: (-len(token), token))
    return re.compile("|".join(map(re.escape, longest_first))) if special_texts else None


def read_context_length(model: str) -> int | None:
    """Return the context length of a model in tokens, its answer included; None if its configuration does not say.

    Args:
        model: A folder, or a name on the Hugging Face Hub.
    """
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(model)
    except (OSError, ValueError, KeyError):
        return None
    length = getattr(config.get_text_config(), "max_position_embeddings", None)
    return length if isinstance(length, int) else None
