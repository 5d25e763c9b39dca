"""Lessons made to fit in other processes, each of which loads the tokenizer once; here, where there are few."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.finetune.encoding import Encoder, load_encoder
from peercorpus.finetune.lengths import Fitted, Fitter, TooLong
from peercorpus.finetune.lessons import Lesson
from peercorpus.finetune.recipe import Recipe
from peercorpus.spread import Failure, Spread

FEW_PAPERS = 64
"""Fewer papers than this are done here sooner than other processes load a tokenizer."""
TIMEOUT_S = 600.0
"""Seconds that the lessons of one paper may take; a tenth of one is usual."""


@dataclass(frozen=True, slots=True)
class OfPaper:
    """The lessons of one paper, with all that another process needs to make them fit.

    Attributes:
        digest: Of the tokenizer that the model must have there.
        paper_tokens: Of a paper at most.
        context: Of a lesson at most.
    """

    lessons: tuple[Lesson, ...]
    model: str
    digest: str
    paper_tokens: int
    context: int


@cache
def _encoder(model: str, digest: str) -> Encoder:
    found = load_encoder(model)
    if found.digest != digest:
        raise ModelError(
            f"The tokenizer of '{model}' is another one on some machine; put the same one on every machine."
        )
    return found


def fit_lessons(of_paper: OfPaper) -> list[Fitted | TooLong]:
    """The lessons of one paper, each with as much of it as fits.

    Raises:
        ModelError: The tokenizer is not here, or another one, or its chat template refuses a conversation.
    """
    fitter = Fitter(_encoder(of_paper.model, of_paper.digest), of_paper.paper_tokens, of_paper.context)
    return [fitter.fit(lesson) for lesson in of_paper.lessons]


@dataclass(frozen=True, slots=True)
class Fitting:
    """How the lessons of a run are made to fit.

    Attributes:
        encoder: Of the model.
        recipe: How long a lesson may be.
        spread: Over which processes; None does all here.
    """

    encoder: Encoder
    recipe: Recipe
    spread: Spread | None = None

    def fit(self, lessons: Iterable[Lesson], papers: int) -> Iterator[Fitted | TooLong]:
        """The same lessons, in their order.

        Args:
            lessons: Those of one paper one after the other.
            papers: That there are at most.

        Raises:
            ModelError: As `fit_lessons`.
            PeercorpusError: Those of a paper took too long, or their process died.
        """
        if self.spread is None or papers < FEW_PAPERS:
            fitter = Fitter(self.encoder, self.recipe.paper_tokens, self.recipe.context)
            yield from map(fitter.fit, lessons)
            return
        work = (self._of_paper(group) for _, group in groupby(lessons, key=lambda one: one.case.paper.forum_id))
        for of_paper, found in self.spread(fit_lessons, work, timeout_s=TIMEOUT_S, in_order=True):
            if isinstance(found, Failure):
                forum_id = of_paper.lessons[0].case.paper.forum_id
                raise PeercorpusError(f"The lessons of the paper '{forum_id}' cannot be made: {found.detail}")
            yield from found

    def _of_paper(self, lessons: Iterable[Lesson]) -> OfPaper:
        encoder, recipe = self.encoder, self.recipe
        return OfPaper(tuple(lessons), encoder.name, encoder.digest, recipe.paper_tokens, recipe.context)
