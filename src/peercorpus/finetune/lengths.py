"""How long lessons are, beside the context of the model: what is cut, where, and what does not fit at all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median_low

from peercorpus.benchmark.asking import shown_paper
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.cutting import FEWEST_TOKENS, WAY, Budget, Shown
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.encoding import Encoded, Encoder
from peercorpus.finetune.lessons import Lesson


@dataclass(frozen=True, slots=True)
class Fitted:
    """A lesson that fits into the context.

    Attributes:
        shown: The paper as it is told.
        is_apart: Whether somebody's words held a mark of the model, and were told with a space in it.
    """

    lesson: Lesson
    encoded: Encoded
    shown: Shown
    is_apart: bool


@dataclass(frozen=True, slots=True)
class TooLong:
    """A lesson whose answers would be cut.

    Attributes:
        tokens: That it needs with hardly anything of the paper.
    """

    lesson: Lesson
    tokens: int


@dataclass(slots=True)
class Fitter:
    """Makes lessons fit; lessons of one paper come one after the other.

    Attributes:
        paper_tokens: Of a paper at most.
        context: Of a lesson at most.
    """

    encoder: Encoder
    paper_tokens: int
    context: int
    _last: tuple[str, Shown] | None = None

    def fit(self, lesson: Lesson) -> Fitted | TooLong:
        """A lesson with as much of its paper as fits; what is said after the paper is never cut."""
        shown, most = self._paper(lesson), self.paper_tokens
        encoded = self._encode(lesson, shown)
        while len(encoded.ids) > self.context:
            most = min(most, self.encoder.count(shown.text)) - (len(encoded.ids) - self.context)
            if most < FEWEST_TOKENS:
                return TooLong(lesson, len(encoded.ids) - self.encoder.count(shown.text) + FEWEST_TOKENS)
            shown = shown_paper(lesson.case.paper, Budget(most), self.encoder.count)
            encoded = self._encode(lesson, shown)
        said = lesson.messages(shown.text)
        return Fitted(lesson, encoded, shown, any(self.encoder.apart(one) != one for one in said))

    def _paper(self, lesson: Lesson) -> Shown:
        paper = lesson.case.paper
        if self._last is None or self._last[0] != paper.forum_id:
            self._last = paper.forum_id, shown_paper(paper, Budget(self.paper_tokens), self.encoder.count)
        return self._last[1]

    def _encode(self, lesson: Lesson, shown: Shown) -> Encoded:
        return self.encoder.encode(lesson.messages(shown.text))


@dataclass(slots=True)
class Lengths:
    """Of the lessons of one task.

    Attributes:
        tokens: Of each lesson that fits.
        learnt: Of these, the tokens that are learnt, of each lesson.
        cut: Lessons whose paper is cut.
        body_cut: Of these, such that more goes than the references and what follows them.
        left_out: Tokens of papers that are not told.
        apart: Lessons with a mark of the model in somebody's words.
        too_long: Tokens that each lesson needs which does not fit.
    """

    tokens: list[int] = field(default_factory=list)
    learnt: list[int] = field(default_factory=list)
    cut: int = 0
    body_cut: int = 0
    left_out: int = 0
    apart: int = 0
    too_long: list[tuple[int, str]] = field(default_factory=list)

    def see(self, found: Fitted | TooLong) -> None:
        """Take note of a lesson."""
        if isinstance(found, TooLong):
            self.too_long.append((found.tokens, found.lesson.lesson_id))
            return
        self.tokens.append(len(found.encoded.ids))
        self.learnt.append(found.encoded.learnt)
        self.cut += found.shown.left_out > 0
        self.body_cut += found.shown.is_body_cut
        self.left_out += found.shown.left_out
        self.apart += found.is_apart


def _spread(numbers: Sequence[int]) -> str:
    """Median, 95th percentile and longest; blank where there is none."""
    if not numbers:
        return " | | "
    ranked = sorted(numbers)
    return f"{median_low(ranked):,} | {ranked[-(-95 * len(ranked) // 100) - 1]:,} | {ranked[-1]:,}"


def length_table(lengths: dict[BenchTask, Lengths], context: int, paper_tokens: int) -> str:
    """How long lessons are, as a table of Markdown."""
    rows = [
        f"| {task} | {len(one.tokens) + len(one.too_long):,} | {_spread(one.tokens)} | {_spread(one.learnt)}"
        f" | {one.cut:,} | {one.body_cut:,} | {one.left_out:,} | {len(one.too_long):,} |"
        for task, one in lengths.items()
    ]
    apart = sum(one.apart for one in lengths.values())
    said = [
        f"Tokens of the lessons to train on, in a context of {context:,}, with {paper_tokens:,} of a paper at most.",
        "",
        "| task | lessons | median | 95 % | longest | learnt: median | 95 % | longest"
        " | papers cut | before their references | tokens cut | do not fit |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *rows,
        "",
        f"A paper is cut so: {WAY}. What is said after it is never cut.",
    ]
    if apart:
        said.append(f"A mark of the model in somebody's words is told with a space in it; lessons with one: {apart:,}.")
    return "\n".join(said)


def check_lengths(lengths: dict[BenchTask, Lengths], context: int) -> None:
    """See that no answer would be cut.

    Raises:
        PeercorpusError: A lesson does not fit, even with hardly anything of its paper.
    """
    too_long = sorted((one for found in lengths.values() for one in found.too_long), reverse=True)
    if too_long:
        tokens, lesson_id = too_long[0]
        raise PeercorpusError(
            f"{len(too_long):,} lessons do not fit into a context of {context:,} tokens, and answers are never cut: the"
            f" longest, '{lesson_id}', needs {tokens:,}; set a larger 'context' in the recipe, or leave them out with"
            " --leave-out-long."
        )


def check_window(lengths: dict[BenchTask, Lengths], model: str, window: int | None) -> None:
    """See that no lesson is longer than the model takes: beyond that its positions mean nothing, and nobody is told.

    Raises:
        PeercorpusError: One is.
    """
    longest = max((tokens for found in lengths.values() for tokens in found.tokens), default=0)
    if window is not None and longest > window:
        raise PeercorpusError(
            f"The model '{model}' takes {window:,} tokens, but the longest lesson has {longest:,}: set context ="
            f" {window} in the recipe, or less, or name another model."
        )
