"""Queries answered in this process: a process per query, as in the package, takes most of a small query's time."""

import msgspec
import pytest

from peercorpus.errors import PeercorpusError
from peercorpus.sql import query, worker
from peercorpus.sql.worker import Reply, Request


def answer_here(content: bytes, time_limit_s: float) -> Reply:  # noqa: ARG001 -- nothing is stopped here
    """Answer a request as the process would, without its limits."""
    try:
        return worker.answer(msgspec.json.decode(content, type=Request))
    except Exception as error:  # noqa: BLE001 -- as the process does
        raise PeercorpusError(worker.explain(error)) from None


def patch_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer all queries in this process."""
    monkeypatch.setattr(query, "_run", answer_here)
