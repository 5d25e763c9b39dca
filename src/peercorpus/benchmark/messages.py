"""Turn a case into chat messages, with the paper cut to a token budget."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version

from peercorpus.benchmark.answers import Decision, write_decision, write_review, write_scores
from peercorpus.benchmark.cases import REST, BenchTask, Case, CaseMessage, CasePaper, PaperPart
from peercorpus.errors import PeercorpusError
from peercorpus.models import prompts
from peercorpus.models.chat_messages import Speaker, escape_markers
from peercorpus.models.token_counts import count_words_and_signs, load_counter
from peercorpus.release.exports.meta_reviews import write_meta_review
from peercorpus.release.exports.samples import opening_text

INTRODUCTION = "The following images show figures and tables of the paper, each after a line with its page and caption."
"""Text between a paper and its first image."""
BEFORE_IMAGE = "Image {number} of {count}, page {page}. {caption}"
"""Text before each image."""
WORDS_DIGEST = hashlib.sha256(f"{INTRODUCTION}\0{BEFORE_IMAGE}".encode()).hexdigest()[:12]
"""First 12 digits of the SHA-256 of the text beside images, which is not part of the prompts without images."""
BYTES_PER_KB = 1_000
PIXELS_PER_MEGAPIXEL = 1_000_000
WITHOUT = "without figures"
"""Name of the arm with the same questions without images."""


@dataclass(frozen=True, slots=True)
class FigureBudget:
    """Limits for the images of one question.

    Attributes:
        figures: Maximum number of images.
        image_kb: Maximum total size, in kilobytes; base64 makes them a third larger in transit.
        megapixels: Maximum total number of pixels, in millions.
    """

    figures: int = 8
    image_kb: int = 2_000
    megapixels: int = 8

    @property
    def arm(self) -> str:
        """Name of the arm with figures, as in tables."""
        return f"with at most {self.figures} figures"

    @property
    def says(self) -> str:
        """The limits, as stated in logs and tables."""
        return (
            f"at most {self.figures:,} figures of {self.image_kb:,} kB and {self.megapixels:,} megapixels together in a"
            " question, the first ones of the text that is shown"
        )

    @property
    def signature(self) -> str:
        """Everything that determines the images of a question and the text beside them."""
        limits = f"most:{self.figures}|kb:{self.image_kb}|megapixels:{self.megapixels}"
        return f"figures|{limits}|order:text|words:{WORDS_DIGEST}|peercorpus:{version('peercorpus')}"


REFERENCES = re.compile(r"^#{1,6}\s+(?:\S+\s+)?(?:references|bibliography)\W*$", re.IGNORECASE | re.MULTILINE)
CUT_METHOD = "references and all after them first, then paragraphs from the end"
"""Description of how a paper is cut, as stated in logs and tables."""
BLOCK_BREAK = "\n\n"
"""Separator between two blocks of Markdown."""
MIN_PAPER_TOKENS = 64
"""Smallest budget; with less, only the note that the paper was cut would be left."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Limit on the part of a paper that is shown.

    Attributes:
        tokens: Maximum number of tokens; None shows the whole paper.
        tokenizer: Name for `models.token_counts.load_counter`; None counts each word and each sign as one token.
        part: The part of the paper that is shown, cut to that number of tokens.

    Raises:
        PeercorpusError: The budget is below 64 tokens.
    """

    tokens: int | None = None
    tokenizer: str | None = None
    part: PaperPart = PaperPart.PAPER

    def __post_init__(self) -> None:
        """Check the number of tokens."""
        if self.tokens is not None and self.tokens < MIN_PAPER_TOKENS:
            raise PeercorpusError(
                f"The token budget of a paper must be at least {MIN_PAPER_TOKENS}, got {self.tokens}."
            )

    @property
    def says(self) -> str:
        """The budget and its unit, as stated in logs and tables."""
        unit = "words and signs" if self.tokenizer is None else f"tokens of '{self.tokenizer}'"
        return "whole papers" if self.tokens is None else f"at most {self.tokens:,} {unit} of a paper"

    def counter(self) -> Callable[[str], int]:
        """Return the function that counts tokens.

        Raises:
            PeercorpusError: The tokenizer does not exist.
        """
        return count_words_and_signs if self.tokenizer is None else load_counter(self.tokenizer)


@dataclass(frozen=True, slots=True)
class ShownPaper:
    """A paper as shown to the model.

    Attributes:
        tokens: Number of tokens of the whole text; None without a budget.
        left_out: Number of tokens that are not shown.
        is_body_cut: Whether more is left out than the references and appendices.
        blocks: Number of blocks of the text, separated by blank lines, that are shown; None if all are. In
            `shown_paper`, blocks of the paper's Markdown, counted as in the column `block` of a release's figures.
    """

    text: str
    tokens: int | None = None
    left_out: int = 0
    is_body_cut: bool = False
    blocks: int | None = None


def _fit_paragraphs(text: str, most: int, count: Callable[[str], int]) -> str:
    """Return as many whole paragraphs from the start as fit, or as many words of the first if it does not fit."""
    paragraphs = text.split("\n\n")
    low = 0
    high = len(paragraphs)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count("\n\n".join(paragraphs[:middle])) <= most else (low, middle - 1)
    if low:
        return "\n\n".join(paragraphs[:low])
    words = paragraphs[0].split(" ")
    while words and count(" ".join(words)) > most:
        del words[-max(1, len(words) // 8) :]
    return " ".join(words)


def shorten(text: str, most: int | None, count: Callable[[str], int]) -> ShownPaper:
    r"""Cut a text to a number of tokens, with a note at the cut.

    Args:
        text: Markdown.
        most: Maximum number of tokens, including the note; None for no limit.
        count: Counts the tokens of a text.

    >>> shorten("# A\n\nOne two.\n\n## References\n\n" + "x " * 99, 40, count_words_and_signs).text[:24]
    '# A\n\nOne two.\n\n[102 toke'
    """
    if most is None:
        return ShownPaper(text)
    total = count(text)
    if total <= most:
        return ShownPaper(text, total)
    references = REFERENCES.search(text)
    body = text[: references.start()].rstrip() if references else text
    room = most - count(prompts.CUT.format(tokens=f"{total:,}"))
    kept = body if count(body) <= room else _fit_paragraphs(body, room, count)
    left_out = total - count(kept)
    note = prompts.CUT.format(tokens=f"{left_out:,}")
    return ShownPaper(
        text="\n\n".join(filter(None, [kept, note])),
        tokens=total,
        left_out=left_out,
        is_body_cut=kept != body,
        # A block counts if the text after it also begins a line: a block that was cut inside does not.
        blocks=kept.count(BLOCK_BREAK) + text[len(kept) :].startswith("\n"),
    )


SYSTEM = {
    BenchTask.ACCEPTANCE: prompts.ACCEPTANCE,
    BenchTask.SCORES: prompts.SCORES,
    BenchTask.REVIEW: prompts.REVIEW,
    BenchTask.REBUTTAL: prompts.REVIEWER,
    BenchTask.META_REVIEW: prompts.META_REVIEW,
}
"""System prompt of each task."""
AGAIN = {
    BenchTask.ACCEPTANCE: prompts.ACCEPTANCE_AGAIN,
    BenchTask.SCORES: prompts.SCORES_AGAIN,
    BenchTask.REVIEW: prompts.REVIEW_AGAIN,
}
"""The question repeated after the paper; a discussion ends with the authors' message."""


def shown_paper(paper: CasePaper, budget: TokenBudget, count: Callable[[str], int]) -> ShownPaper:
    """Return the part of a paper that is shown, cut to the budget; a control states that it is not the whole paper."""
    bodies = {PaperPart.PAPER: paper.markdown, PaperPart.ABSTRACT: paper.abstract, PaperPart.TITLE: None}
    opening = opening_text(paper.title, bodies[budget.part]) or ""
    shown = shorten(escape_markers(opening), budget.tokens, count)
    if budget.part is not PaperPart.PAPER:
        return replace(shown, text="\n\n".join(filter(None, [shown.text, REST])))
    if shown.blocks is None:
        return shown
    of_title = opening.count(BLOCK_BREAK) - paper.markdown.count(BLOCK_BREAK)
    return replace(shown, blocks=max(0, shown.blocks - of_title))


def _write_opening(case: Case, text: str) -> str:
    parts = [prompts.SUBMITTED_TO.format(venue=case.paper.venue), text]
    if case.scores and case.task not in {BenchTask.REBUTTAL, BenchTask.META_REVIEW}:
        fields = (f"- {escape_markers(score.field)}: {score.low:g} to {score.high:g}" for score in case.scores)
        parts.append(prompts.ASKED_SCORES.format(fields="\n".join(fields)))
    parts += [AGAIN[case.task]] if case.task in AGAIN else []
    return "\n\n".join(parts)


def right_answer(case: Case) -> str:
    """Return the correct answer in the requested format, the first of several references.

    A review is followed by the mean scores, a meta-review by the decision.
    """
    means = {score.field: score.mean for score in case.scores}
    if case.task is BenchTask.SCORES:
        return write_scores(means)
    if case.task is BenchTask.META_REVIEW:
        return write_meta_review(case.references[0], case.accepted)
    if case.accepted is not None:
        return write_decision(Decision(case.accepted))
    return write_review(case.references[0], means) if case.task is BenchTask.REVIEW else case.references[0]


def messages(case: Case, text: str) -> list[CaseMessage]:
    """Return the messages that present a case: system prompt, paper, and the conversation so far.

    Args:
        case: The question.
        text: The paper as shown.
    """
    chat = [
        CaseMessage(Speaker.SYSTEM, SYSTEM[case.task]),
        CaseMessage(Speaker.USER, _write_opening(case, text)),
    ]
    for message in case.history:
        if message.speaker is chat[-1].speaker:
            chat[-1] = CaseMessage(message.speaker, f"{chat[-1].text}\n\n{message.text}")
        else:
            chat.append(message)
    return chat
