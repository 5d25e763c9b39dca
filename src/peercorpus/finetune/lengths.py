"""Fit training examples into the context window by cutting the paper, optionally in parallel."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from statistics import median_low

from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.messages import CUT_METHOD, MIN_PAPER_TOKENS, ShownPaper, TokenBudget, shown_paper
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.execution.executor import Executor, Failure
from peercorpus.finetune.examples import Encoded, Encoder, TrainingExample, load_encoder
from peercorpus.finetune.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Fitted:
    """A training example that fits into the context.

    Attributes:
        shown: The paper as shown.
        is_apart: Whether a text contained a special token of the model, which was broken by a space.
    """

    example: TrainingExample
    encoded: Encoded
    shown: ShownPaper
    is_apart: bool


@dataclass(frozen=True, slots=True)
class TooLong:
    """A training example that would not fit without cutting answers.

    Attributes:
        tokens: Number of tokens that it needs with the smallest budget for its paper.
    """

    example: TrainingExample
    tokens: int


@dataclass(slots=True)
class Fitter:
    """Fits training examples; those of one paper should come in sequence, because the last paper is cached."""

    encoder: Encoder
    recipe: Recipe
    _last: tuple[str, ShownPaper] | None = None

    def fit(self, example: TrainingExample) -> Fitted | TooLong:
        """Return the example with as much of its paper as fits; the text after the paper is never cut."""
        paper = example.case.paper
        if self._last is None or self._last[0] != paper.forum_id:
            budget = TokenBudget(self.recipe.paper_tokens)
            self._last = paper.forum_id, shown_paper(paper, budget, self.encoder.count)
        shown = self._last[1]
        most, context = self.recipe.paper_tokens, self.recipe.context
        encoded = self.encoder.encode(example.messages(shown.text))
        while len(encoded.ids) > context:
            most = min(most, self.encoder.count(shown.text)) - (len(encoded.ids) - context)
            if most < MIN_PAPER_TOKENS:
                return TooLong(example, len(encoded.ids) - self.encoder.count(shown.text) + MIN_PAPER_TOKENS)
            shown = shown_paper(paper, TokenBudget(most), self.encoder.count)
            encoded = self.encoder.encode(example.messages(shown.text))
        chat = example.messages(shown.text)
        return Fitted(
            example=example,
            encoded=encoded,
            shown=shown,
            is_apart=any(self.encoder.apart(message) != message for message in chat),
        )


@dataclass(slots=True)
class Lengths:
    """Lengths of the examples of one task.

    Attributes:
        tokens: Number of tokens of each example that fits.
        learnt: Number of learnt tokens of each example that fits.
        cut: Number of examples whose paper is cut.
        body_cut: Number of examples whose paper loses more than its references and appendices.
        left_out: Number of tokens of papers that are not shown.
        apart: Number of examples with a special token of the model in a text.
        too_long: Required tokens and id of each example that does not fit.
    """

    tokens: list[int] = field(default_factory=list)
    learnt: list[int] = field(default_factory=list)
    cut: int = 0
    body_cut: int = 0
    left_out: int = 0
    apart: int = 0
    too_long: list[tuple[int, str]] = field(default_factory=list)

    def see(self, fitted: Fitted | TooLong) -> None:
        """Count an example."""
        if isinstance(fitted, TooLong):
            self.too_long.append((fitted.tokens, fitted.example.example_id))
            return
        self.tokens.append(len(fitted.encoded.ids))
        self.learnt.append(fitted.encoded.learnt)
        self.cut += fitted.shown.left_out > 0
        self.body_cut += fitted.shown.is_body_cut
        self.left_out += fitted.shown.left_out
        self.apart += fitted.is_apart


def _format_distribution(numbers: Sequence[int]) -> str:
    """Return median, 95th percentile and maximum as table cells; blank if there are no numbers."""
    if not numbers:
        return " | | "
    ranked = sorted(numbers)
    return f"{median_low(ranked):,} | {ranked[-(-95 * len(ranked) // 100) - 1]:,} | {ranked[-1]:,}"


def length_table(lengths: dict[BenchTask, Lengths], context: int, paper_tokens: int) -> str:
    """Return a Markdown table of the lengths."""
    rows = [
        f"| {task} | {len(of_task.tokens) + len(of_task.too_long):,}"
        f" | {_format_distribution(of_task.tokens)} | {_format_distribution(of_task.learnt)}"
        f" | {of_task.cut:,} | {of_task.body_cut:,} | {of_task.left_out:,} | {len(of_task.too_long):,} |"
        for task, of_task in lengths.items()
    ]
    apart = sum(of_task.apart for of_task in lengths.values())
    lines = [
        f"Tokens of the training examples, in a context of {context:,}, with at most {paper_tokens:,} of a paper.",
        "",
        "| task | examples | median | 95 % | longest | learnt: median | 95 % | longest"
        " | papers cut | before their references | tokens cut | do not fit |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *rows,
        "",
        f"How papers are cut: {CUT_METHOD}. The text after the paper is never cut.",
    ]
    if apart:
        lines.append(
            f"Special tokens of the model that occur in a text are broken by a space; examples with one: {apart:,}."
        )
    return "\n".join(lines)


def check_lengths(lengths: dict[BenchTask, Lengths], context: int) -> None:
    """Check that no answer would be cut.

    Raises:
        PeercorpusError: An example does not fit, even with the smallest budget for its paper.
    """
    too_long = sorted((example for of_task in lengths.values() for example in of_task.too_long), reverse=True)
    if too_long:
        tokens, example_id = too_long[0]
        raise PeercorpusError(
            f"{len(too_long):,} examples do not fit into a context of {context:,} tokens, and answers are never cut:"
            f" the longest, '{example_id}', needs {tokens:,}; set a larger 'context' in the recipe, or omit these"
            " examples with --leave-out-long."
        )


def check_window(lengths: dict[BenchTask, Lengths], model: str, window: int | None) -> None:
    """Check that no example exceeds the model's window, beyond which positions are meaningless without any error.

    Raises:
        PeercorpusError: An example is longer.
    """
    longest = max((tokens for of_task in lengths.values() for tokens in of_task.tokens), default=0)
    if window is not None and longest > window:
        raise PeercorpusError(
            f"The model '{model}' has a window of {window:,} tokens, but the longest example has {longest:,}: set"
            f" context = {window} or less in the recipe, or name another model."
        )


MIN_PAPERS_TO_SPREAD = 64
"""With fewer papers than this, starting processes that load the tokenizer takes longer than the work itself."""
TIMEOUT_S = 600.0
"""Time limit for the examples of one paper, in seconds; a tenth of a second is usual."""


@dataclass(frozen=True, slots=True)
class PaperExamples:
    """The examples of one paper, with everything that another process needs to fit them.

    Attributes:
        digest: Expected digest of the model's tokenizer.
        recipe: Sets the maximum lengths.
    """

    examples: tuple[TrainingExample, ...]
    model: str
    digest: str
    recipe: Recipe


@cache
def _load_same_encoder(model: str, digest: str) -> Encoder:
    encoder = load_encoder(model)
    if encoder.digest != digest:
        raise ModelError(f"The tokenizer of '{model}' differs between machines; install the same one on every machine.")
    return encoder


def fit_examples(of_paper: PaperExamples) -> list[Fitted | TooLong]:
    """Return the examples of one paper, each with as much of the paper as fits.

    Raises:
        ModelError: The tokenizer is not available or differs, or its chat template refuses a conversation.
    """
    fitter = Fitter(_load_same_encoder(of_paper.model, of_paper.digest), of_paper.recipe)
    return [fitter.fit(example) for example in of_paper.examples]


@dataclass(frozen=True, slots=True)
class Fitting:
    """Fits the examples of a run, in this process or in others.

    Attributes:
        encoder: Encoder of the model.
        recipe: Sets the maximum lengths.
        spread: Executor for other processes; None means doing everything in this process.
    """

    encoder: Encoder
    recipe: Recipe
    spread: Executor | None = None

    def fit(self, examples: Iterable[TrainingExample], papers: int) -> Iterator[Fitted | TooLong]:
        """Yield the fitted examples in order.

        Args:
            examples: The examples, with those of one paper in sequence.
            papers: Upper bound on the number of papers.

        Raises:
            ModelError: As for `fit_examples`.
            PeercorpusError: The examples of a paper took too long, or their process died.
        """
        if self.spread is None or papers < MIN_PAPERS_TO_SPREAD:
            fitter = Fitter(self.encoder, self.recipe)
            yield from map(fitter.fit, examples)
            return
        work = (
            PaperExamples(tuple(group), self.encoder.name, self.encoder.digest, self.recipe)
            for _, group in groupby(examples, key=lambda example: example.case.paper.forum_id)
        )
        for of_paper, fitted in self.spread(fit_examples, work, timeout_s=TIMEOUT_S, in_order=True):
            if isinstance(fitted, Failure):
                forum_id = of_paper.examples[0].case.paper.forum_id
                raise PeercorpusError(f"The examples of the paper '{forum_id}' cannot be made: {fitted.detail}")
            yield from fitted
