"""Turn Ctrl-C, SIGTERM and SIGHUP into `KeyboardInterrupt`, from the first import on, and let none be lost."""

import signal
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from sys import UnraisableHookArgs

_REPEAT_S = 0.1
"""Seconds after which a lost interrupt is raised again: longer than it takes to leave the callback that lost it."""


def catch_signals() -> None:
    """Let the signals by which schedulers and terminals end a command raise `KeyboardInterrupt`, like Ctrl-C."""
    signal.signal(signal.SIGTERM, _stop)
    # `nohup` has the signal ignored, which stays so.
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _stop)
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
    timer = threading.Timer(_REPEAT_S, _signal_main_thread)
    timer.daemon = True
    timer.start()
