"""How many tokens a text has, by a tokenizer of the user's choice (Hugging Face's `tokenizers`, the extra 'tokens')."""

from collections.abc import Callable
from pathlib import Path

from peercorpus.errors import PeercorpusError

WORD_OR_SIGN = r"\w+|[^\w\s]"
"""A token where no tokenizer is named: a run of letters, digits and underscores, or one other sign."""


def load_counter(name: str) -> Callable[[str], int]:
    """What counts the tokens of a text, without the marks that a chat template adds.

    Args:
        name: A file `tokenizer.json`, a folder that holds one, or a model on the Hugging Face Hub.

    Raises:
        PeercorpusError: The package is missing, or there is no such tokenizer.
    """
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError:
        raise PeercorpusError("To count tokens, install the extra: pip install 'peercorpus[tokens]'.") from None
    path = Path(name)
    path = path / "tokenizer.json" if path.is_dir() else path
    try:
        tokenizer = Tokenizer.from_file(str(path)) if path.exists() else Tokenizer.from_pretrained(name)
    except Exception as error:  # noqa: BLE001 -- its errors have no type of their own
        detail = str(error).partition("\n")[0]
        raise PeercorpusError(f"No tokenizer '{name}' is here or on the Hugging Face Hub: {detail}") from None

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count
