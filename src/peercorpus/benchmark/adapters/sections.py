"""The rules by which numbers, decisions and passages are read from a review in sections; none guesses."""

import re
from collections.abc import Sequence

from peercorpus.benchmark.adapters.format import OwnScore
from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored

Sections = Sequence[tuple[str, str]]
"""Name in small letters and content, in the order of the text."""

MARKS = re.compile(r"[*_`#>]+")
LABEL = "(?:poor|fair|good|excellent|strong|very|clear|weak|borderline|reject|accept|possibly|marginally|award|top)"
"""How the labels of ICLR's and NeurIPS' scales begin; a number with other words behind it is prose."""
ENDS = r"(?![\w%])(?!\.[0-9])"
NUMBER = rf"([0-9]{{1,3}}(?:\.[0-9]+)?){ENDS}(?:\s*\(?(?:/|out of |of )\s*([0-9]{{1,3}}(?:\.0+)?){ENDS}\)?)?"
SCORE = re.compile(rf"{NUMBER}(?:[.,;]?\s*$|\s*[:(]|\s*[-\u2013\u2014]\s*[^\W\d]|[,.]?\s+{LABEL}\b)", re.IGNORECASE)
BARE = re.compile(rf"{NUMBER}[.,;]?")
DECISION = re.compile(r"(?:(?:final |paper )?decision\s*:\s*)?(accept|reject)(?:ed|ance|ion)?\b", re.IGNORECASE)


def split_sections(text: str, heading: re.Pattern[str]) -> Sections:
    r"""What stands under each heading, the heading's first group being the name; what precedes the first is left out.

    >>> split_sections("Well:\n## Rating\n6\n## Decision\nReject", re.compile(r"^## (\w+)$", re.MULTILINE))
    [('rating', '6'), ('decision', 'Reject')]
    """
    found = list(heading.finditer(text))
    starts = [*(one.start() for one in found), len(text)]
    return [(one[1].lower(), text[one.end() : end].strip()) for one, end in zip(found, starts[1:], strict=True)]


def only(sections: Sections, name: str) -> str | None:
    """The one content under a name; None where there is none.

    Raises:
        UnreadableAnswerError: There are two that differ.
    """
    contents = {content for one, content in sections if one == name}
    if len(contents) > 1:
        raise UnreadableAnswerError(Unscored.TWO_ANSWERS, name)
    return next(iter(contents), None)


def _lines(text: str) -> list[str]:
    return [line for one in text.splitlines() if (line := MARKS.sub("", one).strip().removeprefix("- ").lstrip())]


def read_number(content: str | None, name: str, scale: OwnScore) -> float:
    """The number with which a section begins, alone or with its label: `6`, `3 good`, `3.5/10`, `10: strong accept`.

    Raises:
        UnreadableAnswerError: There is no section, number or two of them, or it is not on the scale.
    """
    lines = _lines(content or "")
    first = re.sub(rf"^(?:{re.escape(name)}|score)\s*:\s*", "", lines[0], flags=re.IGNORECASE) if lines else ""
    score = SCORE.match(first)
    if score is None:
        raise UnreadableAnswerError(Unscored.NO_NUMBER, name)
    if score[2] is not None and float(score[2]) != scale.high:
        raise UnreadableAnswerError(Unscored.OTHER_SCALE, f"{name}: of {score[2]} instead of {scale.high:g}")
    value = float(score[1])
    if any((other := BARE.fullmatch(line)) and float(other[1]) != value for line in lines[1:]):
        raise UnreadableAnswerError(Unscored.TWO_ANSWERS, name)
    if not scale.low <= value <= scale.high:
        raise UnreadableAnswerError(Unscored.OFF_SCALE, f"{name}: {value:g}")
    return value


def read_verdict(content: str | None) -> bool:
    """Whether a section begins with acceptance or with rejection; a line with both words is neither.

    Raises:
        UnreadableAnswerError: There is no section, or it begins otherwise.
    """
    lines = _lines(content or "")
    found = DECISION.match(lines[0]) if lines else None
    if found is None:
        raise UnreadableAnswerError(Unscored.NO_DECISION)
    if {word.lower() for word in re.findall(r"accept|reject", lines[0], re.IGNORECASE)} != {found[1].lower()}:
        raise UnreadableAnswerError(Unscored.TWO_ANSWERS, lines[0])
    return found[1].lower() == "accept"
