"""Control the messages of a command while it runs: `-q`, `-v` and a log file, which contains no secrets."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from peercorpus.cli.streams import print_notice
from peercorpus.errors import PeercorpusError

LOGGER = logging.getLogger("peercorpus")
"""Parent of the loggers of all packages here; messages of other libraries are not written."""

_log = logging.getLogger("peercorpus.command")

_SECRET_NAME = re.compile(r"TOKEN|PASSWORD|SECRET|KEY|MFA_CODE|PEERCORPUS_USER")
_SECRET_LENGTH = 4
"""Shortest value of a variable that is hidden: a shorter one would occur in any text by chance."""
_PATTERNS = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s'\",]+"), r"\1 [hidden]"),
    (
        re.compile(
            r"(?i)(?<![\w-])([\w-]*(?:token|password|secret|key|signature|\bsig|code))(['\"]?\s*[=:]\s*['\"]?)[^\s&'\",}]+"
        ),
        r"\1\2[hidden]",
    ),
    (re.compile(r"(?<![\w-])eyJ[\w-]++\.[\w-]++\.[\w-]*"), "[hidden]"),
    (re.compile(r"\b(?:hf_|sk-)[\w-]{8,}"), "[hidden]"),
    (re.compile(r"(?<!\w)(\w++://)[^\s?#]{0,1000}@"), r"\1[hidden]@"),
)
"""Patterns of secrets: headers, parameters, OpenReview's tokens (JSON Web Tokens), users in URLs."""


@dataclass(frozen=True, slots=True)
class Reporting:
    """Messages of a command besides its result, as the user chose.

    Attributes:
        quiet: Whether progress is not shown.
        verbose: Whether requests, steps and their times are shown.
        log: File to append the same to, one JSON object per line; None for none.
    """

    quiet: bool = False
    verbose: bool = False
    log: Path | None = None


_chosen = Reporting()


def is_quiet() -> bool:
    """Return whether progress is not shown."""
    return _chosen.quiet


def is_verbose() -> bool:
    """Return whether requests, steps and their times are shown."""
    return _chosen.verbose


def hide_secrets(text: str) -> str:
    """Return a text without secrets from the environment and anything that looks like a secret.

    >>> hide_secrets("GET /notes?token=abc with Authorization: Bearer x.y at https://ada:pw@host/")
    'GET /notes?token=[hidden] with Authorization: Bearer [hidden] at https://[hidden]@host/'
    """
    values = {value.strip() for name, value in os.environ.items() if _SECRET_NAME.search(name.upper())}
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _SECRET_LENGTH:
            text = text.replace(value, "[hidden]")
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


class _OnStderr(logging.Handler):
    """Writes a record as one line with the time in UTC, without control characters."""

    def emit(self, record: logging.LogRecord) -> None:
        from peercorpus.wording.untrusted_text import escape_controls

        text = hide_secrets(" ".join(record.getMessage().split()))
        print_notice(f"{_moment(record):%H:%M:%S}Z {escape_controls(text, len(text))}")


class _InFile(logging.FileHandler):
    """Appends a record as one JSON object: time (UTC), level, logger, message."""

    def format(self, record: logging.LogRecord) -> str:
        row = {
            "time": _moment(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": hide_secrets(record.getMessage()),
        }
        return json.dumps(row, ensure_ascii=False)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- the name in logging
        """Stop writing: a full disk must not end the work that is logged."""
        del record
        print_notice(f"peercorpus: The log '{self.baseFilename}' cannot be written: {sys.exc_info()[1]}.")
        LOGGER.removeHandler(self)


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


@contextmanager
def reporting(chosen: Reporting, arguments: Sequence[str]) -> "Iterator[None]":
    """Show and log the progress of a command, as the user chose, while it runs.

    Args:
        chosen: The user's choice.
        arguments: The command and its arguments, which are logged without secrets.

    Raises:
        PeercorpusError: Both --quiet and --verbose were given, or the log cannot be written.
    """
    global _chosen
    if chosen.quiet and chosen.verbose:
        raise PeercorpusError("--quiet and --verbose exclude each other; leave one of them out.")
    before = _chosen
    with ExitStack() as stack:
        _chosen = chosen
        stack.callback(_restore, before)
        handlers: list[logging.Handler] = [_open_log(chosen.log)] if chosen.log is not None else []
        handlers += [_OnStderr()] if chosen.verbose else []
        if handlers and not chosen.verbose:
            warnings = _OnStderr()
            warnings.setLevel(logging.WARNING)
            handlers.append(warnings)
        for handler in handlers:
            stack.enter_context(_attached(handler))
        stack.enter_context(_timed(arguments))
        yield


def _restore(before: Reporting) -> None:
    global _chosen
    _chosen = before


def _open_log(path: Path) -> logging.Handler:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        return _InFile(path, mode="a", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise PeercorpusError(f"The log '{path}' cannot be written: {error.strerror}; name another file.") from None


@contextmanager
def _attached(handler: logging.Handler) -> "Iterator[None]":
    """Give the messages logged here to one handler only: a library's handler of the root logger prints on stdout."""
    level, propagate = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
        LOGGER.propagate = propagate
        handler.close()


@contextmanager
def _timed(arguments: Sequence[str]) -> "Iterator[None]":
    from importlib.metadata import version

    began = time.monotonic()
    _log.info("peercorpus %s: %s", version("peercorpus"), " ".join(arguments))
    try:
        yield
    except BaseException as error:
        _log.info("failed after %.1f s: %s", time.monotonic() - began, str(error) or type(error).__name__)
        raise
    _log.info("ended after %.1f s", time.monotonic() - began)
