"""Adapters to CycleReviewer, DeepReviewer, OpenReviewer and SEA-E."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from peercorpus.benchmark.adapters.formatted import (
    BOLD_LEVEL,
    RATING,
    Adapter,
    Answered,
    find_headings,
)
from peercorpus.benchmark.adapters.model_format import ModelFormat, read_format
from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored
from peercorpus.errors import PeercorpusError

NUMBERED = r"(?:#{1,6}[ \t]*+(?:\*\*)?|\*\*)[ \t]*+Reviewer[ \t]++[0-9]++[ \t:*#]*+"
"""The heading of a numbered reviewer, with `#` or in bold."""
BETWEEN = re.compile(rf"^(?:\*{{5,}}|##[ \t]+Reviewer\b[^\n]*|{NUMBERED})[ \t]*$", re.MULTILINE)
"""Separator between reviewers: a line of asterisks from the 8B model, a heading from the larger ones."""
OF_CHAIR = ("meta review", "paper decision")


class CycleReviewer(Adapter):
    """Adapter to CycleReviewer: scores are the mean of its reviewers, the review is its first reviewer's.

    A reference is also the review of a single reviewer.
    """

    file = "cyclereviewer"
    named = "cyclereviewer"

    def system(self, words: Mapping[str, str]) -> str:
        """Return the prompt unchanged, including its indentation."""
        return words["system"]

    def divide(self, completion: str) -> Answered:
        """Split the completion into reviewers and, from the meta-review on, the chair."""
        headings = find_headings(completion, self.format.sections, 3)
        parts = [sections for text in BETWEEN.split(completion) if (sections := headings.split(text))]
        if not parts:
            raise UnreadableAnswerError(Unscored.NO_FORMAT)
        reviewers = []
        chair = list[tuple[str, str]]()
        for part in parts:
            of_chair = next((index for index, (name, _) in enumerate(part) if name in OF_CHAIR or chair), len(part))
            reviewers.extend([part[:of_chair]] if of_chair else [])
            chair.extend(part[of_chair:])
        ends_in = parts[-1][-1][0]
        review = reviewers[0] if reviewers else ()
        return Answered(
            scored=tuple(reviewers),
            review=review,
            decided=chair,
            ends_in=None if ends_in == self.format.last else ends_in,
            may_go_on=not chair,
            is_unusual=headings.is_unusual,
        )


REVIEWERS = 4
"""Number of reviewers to simulate, the default of its authors."""
REVIEWER = re.compile(rf"^[ \t]*+{NUMBERED}$", re.MULTILINE)
"""Heading of a simulated reviewer."""
CLOSED = re.compile(r"^\}[ \t]*+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class OutputBlock:
    """The content of a block.

    Attributes:
        inside: Text up to the end of the block.
        rest: Text up to the next block or the end; longer than `inside` if the block is unclosed or closed too early.
        is_closed: Whether a brace closes it.
    """

    inside: str
    rest: str
    is_closed: bool


def find_block(text: str, name: str) -> OutputBlock | None:
    r"""Return the content of `\boxed_<name>{…}`, or None if there is no such block.

    The block ends at the last line before the next block, or before the end, that consists of a single brace; braces in
    formulas and code do not end it.

    Raises:
        UnreadableAnswerError: There are two such blocks.

    >>> find_block("So:\n\\boxed_review{\n## Rating:\n\n{6}\n}\nDone.", "review").inside
    '\n## Rating:\n\n{6}\n'
    """
    starts = list(re.finditer(rf"\\boxed_{name}\{{", text))
    if not starts:
        return None
    if len(starts) > 1:
        raise UnreadableAnswerError(Unscored.TWO_ANSWERS, f"boxed_{name}")
    text_after = text[starts[0].end() :].split("\\boxed_", maxsplit=1)[0]
    closed = list(CLOSED.finditer(text_after))
    return OutputBlock(text_after[: closed[-1].start()] if closed else text_after, text_after, bool(closed))


class DeepReviewer(Adapter):
    """Adapter to DeepReviewer in standard mode: scores are the mean of the simulated reviewers, the review is its own.

    If it simulates no reviewers, its own scores count.
    """

    file = "deepreviewer"
    named = "deepreviewer"

    def system(self, words: Mapping[str, str]) -> str:
        """Return the prompt of the standard mode."""
        return (words["standard"] + words["order"]).replace("{reviewer_num}", str(REVIEWERS))

    def divide(self, completion: str) -> Answered:
        """Split the completion into the simulated reviewers and its own review."""
        simulated = find_block(completion, "simreviewers")
        own = find_block(completion, "review")
        if simulated is None and own is None:
            raise UnreadableAnswerError(Unscored.NO_FORMAT)
        reviewers_text = "" if simulated is None else simulated.inside
        of_reviewers = find_headings(reviewers_text, self.format.sections, 3)
        reviewers = tuple(of_reviewers.split(text) for text in REVIEWER.split(reviewers_text)[1:])
        of_review = find_headings("" if own is None else own.rest, self.format.sections, 2)
        review = () if own is None else of_review.split(own.inside)
        if own is not None and (not review or review[-1][0] != self.format.last):
            # A brace that comes before the last section is part of the text.
            review = of_review.split(own.rest)
        ends_in = review[-1][0] if review else "review"
        return Answered(
            scored=reviewers or (review,),
            review=review,
            decided=review,
            ends_in=None if ends_in == self.format.last else ends_in,
            may_go_on=simulated is not None and not simulated.is_closed,
            is_unusual=of_reviewers.is_unusual or of_review.is_unusual,
        )


class FastDeepReviewer(DeepReviewer):
    """Adapter to DeepReviewer in fast mode, which writes the review at once."""

    named = "deepreviewer-fast"

    def system(self, words: Mapping[str, str]) -> str:
        """Return the prompt of the fast mode."""
        return words["fast"]


def _divide_single_review(completion: str, format: ModelFormat, level: int) -> Answered:
    """Return the completion as one reviewer, whose sections contain scores, prose and decision.

    Args:
        completion: The text that the model wrote.
        format: The model's format.
        level: Level of its headings.

    Raises:
        UnreadableAnswerError: There is no section.
    """
    headings = find_headings(completion, format.sections, level)
    sections = headings.split(completion)
    if not sections:
        raise UnreadableAnswerError(Unscored.NO_FORMAT)
    ends_in = sections[-1][0]
    return Answered(
        scored=(sections,),
        review=sections,
        decided=sections,
        ends_in=None if ends_in == format.last else ends_in,
        is_unusual=headings.is_unusual,
    )


ABOVE = 6
"""Lowest rating above ICLR's threshold: "marginally above the acceptance threshold"."""
BELOW = 5
"""Highest rating below ICLR's threshold: "marginally below the acceptance threshold"."""
FORM = (
    "summary",
    "soundness",
    "presentation",
    "contribution",
    "strengths",
    "weaknesses",
    "questions",
    "flag_for_ethics_review",
    "details_of_ethics_concerns",
    "rating",
    "confidence",
)
"""Fields of the form, in order."""


class OpenReviewer(Adapter):
    """Adapter to OpenReviewer, which was trained on the forms of ICLR and NeurIPS 2022 to 2025.

    A case does not contain the wording of its form, so one form is used for all.
    """

    file = "openreviewer"
    named = "openreviewer"

    def system(self, words: Mapping[str, str]) -> str:
        """Return the prompt with the form in it, each field as a heading with its description."""
        form = "\n".join(f"## {name.replace('_', ' ').title()}\n{words[name]}\n" for name in FORM)
        return words["system"].replace("{review_fields}", form)

    def user(self, paper: str) -> str:
        """Return the paper after the sentence that introduced it in training."""
        return f"Review the following paper:\n\n{paper}\n"

    def divide(self, completion: str) -> Answered:
        """Return the completion as one reviewer, who gives a rating but no decision."""
        return _divide_single_review(completion, self.format, 2)

    def verdict(self, answered: Answered) -> bool:
        """Return whether the rating is above the form's threshold; a rating between 5 and 6 is not a decision."""
        rating = self.mean(answered, RATING, self.format.scores[RATING])
        if BELOW < rating < ABOVE:
            raise UnreadableAnswerError(Unscored.NO_DECISION, f"{rating:g}")
        return rating >= ABOVE


class SeaE(Adapter):
    """Adapter to SEA-E; the reasons of its decision are not part of the review, as no reviewer is asked for them."""

    file = "sea-e"
    named = "sea-e"

    def system(self, words: Mapping[str, str]) -> str:
        """Return the prompt unchanged."""
        return words["system"]

    def divide(self, completion: str) -> Answered:
        """Return the completion as one reviewer, who also decides."""
        return _divide_single_review(completion, self.format, BOLD_LEVEL)


ADAPTERS = {kind.named: kind for kind in (SeaE, OpenReviewer, DeepReviewer, FastDeepReviewer, CycleReviewer)}
"""Every adapter by name. A model with our own prompts, fine-tuned or not, needs none."""


def load_adapter(name: str, wordings: Path | None = None) -> Adapter:
    """Return an adapter by name.

    Args:
        name: One of `ADAPTERS`.
        wordings: File or folder by the model's authors with the prompts of its training; None if the adapter is only
            used to read answers.

    Raises:
        PeercorpusError: The adapter is unknown, or the prompts are missing.
    """
    if name not in ADAPTERS:
        raise PeercorpusError(f"Unknown adapter '{name}'; choose one of {', '.join(ADAPTERS)}.")
    return ADAPTERS[name](wordings)


def find_adapter(model: str) -> str | None:
    """Return the adapter for a model by its name in inspect_ai, or None if it gets our own prompts.

    A model with a LoRA adapter on top (`base:adapter`) is a different model from its base.

    >>> find_adapter("vllm/ecnu-sea/SEA-E"), find_adapter("hf/Qwen/Qwen2.5-7B-Instruct")
    ('sea-e', None)
    """
    for name, adapter in ADAPTERS.items():
        if f"/{model.casefold()}".endswith(tuple(f"/{known.casefold()}" for known in read_format(adapter.file).models)):
            return name
    return None
