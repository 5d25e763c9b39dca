"""Find the place to fold a long text: at the end of a block or of an item of a list, never within a sentence."""

from collections.abc import Sequence
from copy import copy

from markdown_it.token import Token

SHOWN_CHARACTERS = 1_200
"""Characters of a long text that are always shown, at least."""
FOLDED_CHARACTERS = 900
"""Characters that are folded, at least; a text with less behind the fold is shown whole."""


def split_tokens(tokens: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """Split the tokens of a text into the part always shown and the folded part, which is empty for short texts."""
    lengths = [len(token.content) for token in tokens]
    whole = sum(lengths)
    shown = 0
    for index, token in enumerate(tokens):
        if shown >= SHOWN_CHARACTERS and _can_fold_before(tokens, index):
            if whole - shown < FOLDED_CHARACTERS:
                break
            return _split_at(tokens, index) if token.level else (tokens[:index], tokens[index:])
        shown += lengths[index]
    return tokens, ()


def _can_fold_before(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a block of the page, or a further item of a list, begins here; a heading stays with its text."""
    token = tokens[index]
    before = tokens[index - 1] if index else None
    if before is None or token.nesting < 0 or before.type == "heading_close":
        return False
    return token.level == 0 or (
        token.level == 1 and token.type == "list_item_open" and before.type == "list_item_close"
    )


def _split_at(tokens: Sequence[Token], index: int) -> tuple[Sequence[Token], Sequence[Token]]:
    """Split within a list; the second part goes on with the number of its first item."""
    start = max(place for place in range(index) if tokens[place].level == 0 and tokens[place].nesting == 1)
    end = next(place for place in range(index, len(tokens)) if tokens[place].level == 0 and tokens[place].nesting == -1)
    again = copy(tokens[start])
    again.attrs = dict(again.attrs)
    if again.type == "ordered_list_open" and tokens[index].info.isdecimal():
        again.attrs["start"] = int(tokens[index].info)
    return [*tokens[:index], tokens[end]], [again, *tokens[index:]]


def split_plain(text: str) -> tuple[str, str]:
    """Split a text that is not Markdown at the end of a line; the second part is empty for short texts."""
    end = text.find("\n", SHOWN_CHARACTERS)
    if end < 0 or len(text) - end < FOLDED_CHARACTERS:
        return text, ""
    return text[:end], text[end + 1 :]


def count_words(tokens: Sequence[Token]) -> int:
    """Return the number of words of a text."""
    return sum(len(token.content.split()) for token in tokens)
