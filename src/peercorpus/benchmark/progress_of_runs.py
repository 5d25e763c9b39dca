"""Show how many questions of a run are answered, where inspect_ai's own display would fill a log with boxes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial

from inspect_ai.hooks import Hooks, SampleEnd, SampleStart, hooks

from peercorpus.execution.progress import Meter, Show


class AnsweredQuestions(Hooks):
    """Counts the answered questions of the run in progress, if it shows them here.

    inspect_ai makes one instance, which lives as long as the process.

    Attributes:
        make_meter: Makes the run's meter; None if no run shows its progress here.
        meter: The meter, from the first question on, so that preparations do not count for the time left.
    """

    make_meter: Callable[[], Meter] | None = None
    meter: Meter | None = None

    def enabled(self) -> bool:
        """Return whether a run shows its progress here."""
        return AnsweredQuestions.make_meter is not None

    async def on_sample_start(self, data: SampleStart) -> None:  # noqa: ARG002 -- its signature
        """Begin to measure the time at the first question."""
        if AnsweredQuestions.meter is None and AnsweredQuestions.make_meter is not None:
            AnsweredQuestions.meter = AnsweredQuestions.make_meter()

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Count a question that was answered."""
        if AnsweredQuestions.meter is not None and data.sample.error is None:
            AnsweredQuestions.meter.advance()


@cache
def _register() -> None:
    """Register the counter, when inspect_ai has already printed which hooks there are."""
    hooks(name="peercorpus_progress", description="Counts the answered questions of a run.")(AnsweredQuestions)


@contextmanager
def showing_progress(show: Show, questions: int) -> Iterator[None]:
    """Show the progress of a run.

    Args:
        show: Receives it after each answer.
        questions: Number of questions; those answered by an earlier run are not counted again.
    """
    _register()
    AnsweredQuestions.make_meter = partial(Meter, "benchmark", "answering", show, total=questions)
    try:
        yield
    finally:
        AnsweredQuestions.make_meter = AnsweredQuestions.meter = None
