"""Turn Ctrl-C, SIGTERM and SIGHUP into `KeyboardInterrupt`, from the first import on, so that none is lost."""

import atexit
import signal
import sys
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from sys import UnraisableHookArgs

_REPEAT_S = 0.1
"""Seconds after which a lost interrupt is raised again: longer than it takes to leave the callback that lost it."""

_lost = threading.Event()
"""Set once an interrupt came in a callback."""


def catch_signals() -> None:
    """Make the signals with which schedulers and terminals end a command raise `KeyboardInterrupt`, like Ctrl-C."""
    signal.signal(signal.SIGTERM, _stop)
    # `nohup` has the signal ignored, which stays so.
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _stop)
    if getattr(sys.unraisablehook, "func", None) is not _repeat_lost:
        sys.unraisablehook = partial(_repeat_lost, sys.unraisablehook)


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _signal_main_thread() -> None:
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGTERM)
    else:  # This also wakes the thread if it sleeps or waits.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def _repeat_lost(report: "Callable[[UnraisableHookArgs], object]", unraisable: "UnraisableHookArgs") -> None:
    """Raise an interrupt again that came in a callback, such as a finaliser, where Python only prints exceptions."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        report(unraisable)
        return
    _lost.set()
    timer = threading.Timer(_REPEAT_S, _signal_main_thread)
    timer.daemon = True
    timer.start()


@contextmanager
def prefer_interrupt() -> "Iterator[None]":
    """Raise the interrupt in place of an error that it caused: an import or a callback that it broke off failed."""
    try:
        yield
    except Exception as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise


def is_interrupt(error: Exception) -> bool:
    """Return whether an error comes of an interrupt that broke off an import or a callback."""
    return _lost.is_set() or any(isinstance(cause, KeyboardInterrupt) for cause in _list_causes(error))


def _list_causes(error: BaseException) -> "Iterator[BaseException]":
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def settle_interrupt() -> None:
    """Make Python exit with the code that it is given.

    If an interrupt came during an `exec` of a text, as when a data class is made, Python would kill itself with SIGINT
    at the very end, although the interrupt was handled. The next `exec` makes it forget that.
    """
    exec("")


def ignore_interrupts_at_exit() -> None:
    """Keep the exit code of a command: an interrupt while Python ends would kill the process."""
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
