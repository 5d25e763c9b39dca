"""Check whether answers contradict a form: a number that it does not offer, or a different label for one."""

import re

from peercorpus.forms.form import ReviewForm, is_prose
from peercorpus.forms.scales import leading_number, option_words, read_number
from peercorpus.records.enums import FieldType

_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"a", "an", "the"})


def find_contradiction(name: str, answer: object, form: ReviewForm) -> str | None:
    """Return a description of the answer to a scored question if the form cannot have offered it; None if it can.

    Labels are compared without case, punctuation and articles, and one may be the beginning of the other, as datasets
    may shorten them.
    """
    question = form.question(name)
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return None
    is_scored = question.type is FieldType.SCORE or (question.type is None and question.has_scale)
    if not is_scored or not (question.has_scale or question.answers) or str(answer).strip() == "":
        return None
    if isinstance(answer, str) and (answer in question.answers or is_prose(answer, question)):
        return None
    value = read_number(answer, question.labels)
    if value is None:
        texts = [*question.answers, *question.labels.values()]
        return None if _is_like_one(str(answer), texts) else str(answer)
    if not question.offers(value):
        return str(answer)
    if not isinstance(answer, str) or value not in question.labels:
        return None
    words, own = option_words(answer), option_words(question.labels[value])
    return None if not words or not own or _are_alike(words, own) else answer


def _is_like_one(words: str, offered: list[str]) -> bool:
    """Return whether words match those of an offered answer, or the wording of the form's answers is unknown."""
    texts = [text for text in offered if leading_number(text) is None or option_words(text)]
    return not texts or any(_are_alike(words, option_words(text)) for text in texts)


def _are_alike(one: str, other: str) -> bool:
    first, second = (
        [word for word in _WORD.findall(text.casefold()) if word not in _ARTICLES] for text in (one, other)
    )
    length = min(len(first), len(second))
    return length > 0 and first[:length] == second[:length]
