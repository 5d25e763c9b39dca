"""What a terminal shows: answers on standard output, progress on standard error."""

import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from peercorpus.progress import Progress


def say(text: str) -> None:
    """Print an answer."""
    print(text, flush=True)


class ProgressLines:
    """Progress on standard error: one line rewritten on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last_at, self._width = time.monotonic(), 0
        self._says_wait_at = float("inf")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_line()

    def _end_line(self) -> None:
        if self._width:
            print(file=sys.stderr, flush=True)
        self._width = 0

    def say(self, sentence: str) -> None:
        """Say what happens next."""
        self._end_line()
        print(sentence, file=sys.stderr, flush=True)

    def wait(self, sentence: str) -> None:
        """Say why nothing moves: at once on a terminal; elsewhere after a minute, and then every ten."""
        now = time.monotonic()
        self._says_wait_at = min(self._says_wait_at, now + 60)
        if self._is_terminal or now >= self._says_wait_at:
            self._says_wait_at = now + 600
            self._show(sentence)

    def show(self, progress: "Progress") -> None:
        """Show how far a piece of work is: often on a terminal; elsewhere at its end, and every ten seconds before."""
        from peercorpus import wording

        self._says_wait_at = float("inf")
        is_over = progress.done == progress.total
        patience_s = 0.1 if self._is_terminal else 10
        if is_over or time.monotonic() - self._last_at >= patience_s:
            self._show(wording.progress_line(progress))

    def _show(self, line: str) -> None:
        self._last_at = time.monotonic()
        if not self._is_terminal:
            print(line, file=sys.stderr, flush=True)
            return
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(line)
