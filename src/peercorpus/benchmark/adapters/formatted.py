"""Define an adapter to a reviewer model with a format file, and parse the sections of its answers."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from peercorpus.benchmark.adapters.model_format import ModelFormat, OwnScore, find_wordings, read_format
from peercorpus.benchmark.answers import (
    Decision,
    UnreadableAnswerError,
    Unscored,
    write_decision,
    write_review,
    write_scores,
)
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CaseCounts, CaseMessage
from peercorpus.errors import PeercorpusError
from peercorpus.models.chat_messages import Speaker
from peercorpus.records.reviews import join_prose

Sections = Sequence[tuple[str, str]]
"""Section names in lower case with their content, in the order of the text."""

MARKS = re.compile(r"[*_`#>]+")
LABEL = "(?:poor|fair|good|excellent|strong|very|clear|weak|borderline|reject|accept|possibly|marginally|award|top)"
"""Beginnings of the labels on ICLR's and NeurIPS' scales; a number followed by other words is prose."""
ENDS = r"(?![\w%])(?!\.[0-9])"
NUMBER = rf"([0-9]{{1,3}}(?:\.[0-9]+)?){ENDS}(?:\s*\(?(?:/|out of |of )\s*([0-9]{{1,3}}(?:\.0+)?){ENDS}\)?)?"
SCORE = re.compile(rf"{NUMBER}(?:[.,;]?\s*$|\s*[:(]|\s*[-\u2013\u2014]\s*[^\W\d]|[,.]?\s+{LABEL}\b)", re.IGNORECASE)
BARE = re.compile(rf"{NUMBER}[.,;]?")
DECISION = re.compile(r"(?:(?:final |paper )?decision\s*:\s*)?(accept|reject)(?:ed|ance|ion)?\b", re.IGNORECASE)


RATING = "rating"
"""In every format, the rating comes after all prose, so a review without it is incomplete."""
BOLD_LEVEL = 7
"""Level of a heading that is bold and has no `#`: below all others."""


@dataclass(frozen=True, slots=True)
class Headings:
    """Format of the headings in a model's answer.

    A heading has one to six `#`, or is bold, or both; a colon may end it, after which its content may begin.

    Attributes:
        pattern: Matches a heading of any level.
        level: Lowest level that counts; a lower heading is part of the prose.
        is_unusual: Whether this is below the level of the model's own format.
    """

    pattern: re.Pattern[str]
    level: int
    is_unusual: bool

    def split(self, text: str) -> Sections:
        """Return the text under each heading, named in lower case; text before the first one is dropped."""
        kept = [match for match in self.pattern.finditer(text) if _find_level(match) <= self.level]
        starts = [*(match.start() for match in kept), len(text)]
        return [
            (_find_name(match), text[match.end() : end].strip()) for match, end in zip(kept, starts[1:], strict=True)
        ]


def _find_level(heading: re.Match[str]) -> int:
    return len(heading["marks"] or heading["hashes"] or "") or BOLD_LEVEL


def _find_name(heading: re.Match[str]) -> str:
    return (heading["bold"] or heading["plain"]).lower()


def find_headings(text: str, names: str, level: int) -> Headings:
    r"""Return the format of an answer's headings.

    Headings below the level of the format count only if the rating has no higher one.

    Args:
        text: The answer.
        names: A regular expression for the names of the sections.
        level: Level of the headings in the model's own format.

    >>> text = "### Rating: 6\n**Decision**: Reject"
    >>> find_headings(text, "Rating|Decision", 2).split("### Rating: 6"), find_headings("", "Rating", 2).level
    ([('rating', '6')], 2)
    """
    bold = rf"(?P<marks>#{{0,6}})[ \t]*+\*\*[ \t]*+(?P<bold>{names})[ \t]*+:?[ \t]*+\*\*[ \t]*+:?"
    plain = rf"(?P<hashes>#{{1,6}})[ \t]*+(?P<plain>{names})[ \t]*+#*+[ \t]*+(?::|$)"
    pattern = re.compile(rf"^[ \t]*+(?:{bold}|{plain})", re.MULTILINE | re.IGNORECASE)
    of_rating = (_find_level(match) for match in pattern.finditer(text) if _find_name(match) == RATING)
    highest = min(of_rating, default=level)
    return Headings(pattern, max(level, highest), is_unusual=highest > level)


def only(sections: Sections, name: str) -> str | None:
    """Return the content of a section, or None if there is no such section.

    Raises:
        UnreadableAnswerError: There are two with different content.
    """
    contents = {content for section, content in sections if section == name}
    if len(contents) > 1:
        raise UnreadableAnswerError(Unscored.TWO_ANSWERS, name)
    return next(iter(contents), None)


def _split_lines(text: str) -> list[str]:
    return [
        stripped for line in text.splitlines() if (stripped := MARKS.sub("", line).strip().removeprefix("- ").lstrip())
    ]


def read_section_number(content: str | None, name: str, scale: OwnScore) -> float:
    """Return the number at the start of a section, alone or with a label: `6`, `3 good`, `3.5/10`, `10: strong accept`.

    Raises:
        UnreadableAnswerError: The section is missing, has no number or two different ones, or is on another scale.
    """
    lines = _split_lines(content or "")
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


def read_recommendation(content: str | None) -> bool:
    """Return whether a section begins with acceptance (True) or rejection; a line with both words is neither.

    Raises:
        UnreadableAnswerError: The section is missing, or begins with neither.
    """
    lines = _split_lines(content or "")
    match = DECISION.match(lines[0]) if lines else None
    if match is None:
        raise UnreadableAnswerError(Unscored.NO_DECISION)
    if {word.lower() for word in re.findall(r"accept|reject", lines[0], re.IGNORECASE)} != {match[1].lower()}:
        raise UnreadableAnswerError(Unscored.TWO_ANSWERS, lines[0])
    return match[1].lower() == "accept"


@dataclass(frozen=True, slots=True)
class Answered:
    """A completion, split into its parts.

    Attributes:
        scored: Reviewers whose scores count; the answer is their mean.
        review: Sections of the review.
        decided: Sections that contain the decision.
        ends_in: Section in which the completion ends, if it is not the format's last one; otherwise None.
        may_go_on: Whether there may be further reviewers.
        is_unusual: Whether its headings are below the level of the format.
        is_complete: Whether the model ended the completion by itself, according to its provider.
    """

    scored: tuple[Sections, ...]
    review: Sections
    decided: Sections
    ends_in: str | None
    may_go_on: bool = False
    is_unusual: bool = False
    is_complete: bool = True


def _is_same_scale(own: OwnScore, asked: AskedScore) -> bool:
    return (own.low, own.high) == (asked.low, asked.high) and not asked.is_low_best


class Adapter(ABC):
    """Prompts a model as in its training, and converts its answers to our format.

    Attributes:
        format: What is known about the model.
    """

    file: ClassVar[str]
    """Name of the file in `formats/`, without its extension."""
    named: ClassVar[str]
    """Name of the adapter."""

    def __init__(self, wordings: Path | None = None) -> None:
        """Read the format and the prompts of the model's training.

        Args:
            wordings: File or folder by the model's authors; None if the adapter is only used to read answers.

        Raises:
            PeercorpusError: The prompts are missing.
        """
        self.format: ModelFormat = read_format(self.file)
        self._words = {} if wordings is None else find_wordings(self.format, wordings)

    @property
    def tasks(self) -> frozenset[BenchTask]:
        """All tasks except the rebuttal, for which none of these models was trained."""
        return frozenset({BenchTask.ACCEPTANCE, BenchTask.SCORES, BenchTask.REVIEW})

    @abstractmethod
    def system(self, words: Mapping[str, str]) -> str:
        """Return the system prompt."""

    def user(self, paper: str) -> str:
        """Return the message that presents the paper."""
        return paper

    @abstractmethod
    def divide(self, completion: str) -> Answered:
        """Split a completion into its parts.

        Raises:
            UnreadableAnswerError: It does not follow the format.
        """

    def verdict(self, answered: Answered) -> bool:
        """Return whether the paper is accepted.

        Raises:
            UnreadableAnswerError: The answer does not state it.
        """
        content = only(answered.decided, self.format.last)
        if content is None and answered.ends_in is not None:
            raise UnreadableAnswerError(Unscored.CUT_OFF)
        return read_recommendation(content)

    def messages(self, case: Case, paper: str) -> list[CaseMessage]:
        """Return the messages that present a case, which are the same for all tasks, as one answer covers all.

        Args:
            case: The question.
            paper: Text of the paper, already cut.

        Raises:
            PeercorpusError: The model does not support the task, or its prompts are not available.
        """
        if case.task not in self.tasks:
            raise PeercorpusError(
                f"{self.format.models[0]} was not trained for '{case.task}'; choose another task or model."
            )
        if not self._words:
            raise PeercorpusError(
                f"The prompts that {self.format.models[0]} was trained with belong to its authors; name a copy of"
                f" {self.format.home} with the option 'wordings'."
            )
        return [CaseMessage(Speaker.SYSTEM, self.system(self._words)), CaseMessage(Speaker.USER, self.user(paper))]

    def asked(self, case: Case) -> tuple[AskedScore, ...]:
        """Return the scores of a case that the model gives on the same scale, which `read` can fill in."""
        return tuple(score for score in case.scores if self._find_own(score) is not None)

    def _find_own(self, asked: AskedScore) -> tuple[str, OwnScore] | None:
        for name, own in self.format.scores.items():
            if own.aspect is asked.aspect and _is_same_scale(own, asked):
                return name, own
        return None

    def mean(self, answered: Answered, name: str, own: OwnScore) -> float:
        """Return the mean of the reviewers' numbers, ignoring reviewers who give none.

        Raises:
            UnreadableAnswerError: No reviewer gives one, or the completion was cut off before the last one may have.
        """
        contents = [only(sections, name) for sections in answered.scored]
        given = [content for content in contents if content]
        if not given and answered.ends_in is None:
            raise UnreadableAnswerError(Unscored.NO_NUMBER, name)
        is_cut = answered.ends_in is not None and not answered.is_complete
        # At the very end, 1 may be half of 10.
        ends_bare = answered.ends_in == name and BARE.fullmatch(contents[-1] or "")
        may_lack = answered.may_go_on or not contents[-1] or ends_bare
        if not given or (is_cut and may_lack):
            raise UnreadableAnswerError(Unscored.CUT_OFF, name)
        return sum(read_section_number(content, name, own) for content in given) / len(given)

    def _compute_score(self, answered: Answered, asked: AskedScore) -> float:
        found = self._find_own(asked)
        if found is None:
            of_aspect = [own for own in self.format.scores.values() if own.aspect is asked.aspect]
            scales = ", ".join(f"{own.low:g} to {own.high:g}" for own in of_aspect)
            raise UnreadableAnswerError(
                Unscored.OTHER_SCALE if of_aspect else Unscored.NO_NUMBER,
                f"{asked.field}: {scales} instead of {asked.low:g} to {asked.high:g}" if of_aspect else asked.field,
            )
        return self.mean(answered, *found)

    def _write_prose_and_scores(self, answered: Answered, case: Case) -> str:
        """Return the prose under its headings in the form of a release's reviews, followed by the readable scores."""
        if all(name != RATING for name, _ in answered.review):
            raise UnreadableAnswerError(Unscored.CUT_OFF if answered.ends_in else Unscored.NO_FORMAT)
        texts_by_section = {
            name: [text for asked, text in answered.review if asked == name and text] for name in self.format.prose
        }
        prose = {name: "\n\n".join(texts) for name, texts in texts_by_section.items() if texts}
        if not prose:
            raise UnreadableAnswerError(Unscored.EMPTY)
        scores: dict[str, float] = {}
        for asked in self.asked(case):
            try:
                scores[asked.field] = self._compute_score(answered, asked)
            except UnreadableAnswerError:
                continue
        return write_review(join_prose(prose), scores)

    def read(self, case: Case, completion: str, *, is_complete: bool = True) -> str:
        """Convert a completion to the format that `peercorpus.benchmark.answers` parses.

        Args:
            case: The question.
            completion: The model's completion.
            is_complete: Whether it ended by itself, so that a number at its end cannot be truncated.

        Raises:
            UnreadableAnswerError: It does not follow the model's format, or contains no answer to this case.
        """
        if not completion.strip():
            raise UnreadableAnswerError(Unscored.EMPTY)
        answered = replace(self.divide(completion), is_complete=is_complete)
        if answered.is_unusual and not is_complete:
            # A rating under a regular heading may have been cut off.
            raise UnreadableAnswerError(Unscored.CUT_OFF)
        if case.task is BenchTask.ACCEPTANCE:
            return write_decision(Decision(self.verdict(answered)))
        if case.task is BenchTask.SCORES:
            return write_scores({score.field: self._compute_score(answered, score) for score in case.scores})
        if case.task is BenchTask.REVIEW:
            return self._write_prose_and_scores(answered, case)
        raise PeercorpusError(
            f"{self.format.models[0]} was not trained for '{case.task}'; choose another task or model."
        )


def narrow(adapter: Adapter, cases: Sequence[Case], counts: CaseCounts) -> list[Case]:
    """Keep the scores that the model gives on the form's scale; cases of other tasks are unchanged.

    Args:
        adapter: Adapter to the model.
        cases: Cases of one task.
        counts: Receives the counts of scores and papers that are left out.

    Raises:
        PeercorpusError: No case is left.
    """
    kept = []
    for case in cases:
        if case.task is not BenchTask.SCORES:
            kept.append(case)
            continue
        asked = adapter.asked(case)
        counts.left_out["scores: of a kind or on a scale that the model does not give"] += len(case.scores) - len(asked)
        if asked:
            kept.append(replace(case, scores=asked))
        else:
            counts.left_out["papers: no score that the model gives"] += 1
    if not kept:
        raise PeercorpusError(
            f"No paper has a score on a scale of {adapter.format.models[0]}; choose other venues, another task or"
            " model."
        )
    counts.left_out = +counts.left_out
    return kept
