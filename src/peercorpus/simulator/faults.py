"""Faults to inject into the simulated service: what goes wrong on a real network, on purpose.

A fault is chosen per request by any callable `(api, path, query, n) -> Fault | None`, where `n` counts the requests of
the service from 1. `on_path` makes the common ones:

    serve(world, faults=on_path("/notes", rate_limited(retry_after_s=1), times=2))
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TypeAlias

from peercorpus.simulator.answers import Answer, ApiError, challenge_required, token_expired, too_many_requests


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with one request.

    Attributes:
        answer: Sent instead of the true answer; None: the true answer is sent.
        drops: The connection closes without an answer.
        cuts: The connection closes in the middle of the body.
        truncates: Only the first half of the body is sent, as if it were whole.
        delay_s: Seconds before anything is sent.
    """

    answer: Answer | None = None
    drops: bool = False
    cuts: bool = False
    truncates: bool = False
    delay_s: float = 0.0

    def damage(self, answer: Answer) -> Answer:
        """What of an answer is sent."""
        return replace(answer, body=answer.body[: len(answer.body) // 2]) if self.truncates else answer


Faults: TypeAlias = Callable[[str, str, Mapping[str, str], int], Fault | None]

DROPPED = Fault(drops=True)
CUT_OFF = Fault(cuts=True)
TRUNCATED = Fault(truncates=True)


def rate_limited(retry_after_s: int | None = None) -> Fault:
    """A 429 in the recorded shape; without `retry_after_s` there is no `Retry-After` header, only words."""
    wait_s = 1 if retry_after_s is None else retry_after_s
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    return Fault(too_many_requests(36, 37, wait_s).answer(headers))


def server_error(status: int = 500, *, html: bool = False) -> Fault:
    """A 500, 502 or 503: JSON of the service, or the HTML of what stands before it."""
    if html:
        return html_page(status)
    return Fault(ApiError(status, "InternalServerError", "Something went wrong").answer())


def html_page(status: int = 200) -> Fault:
    """An HTML page where JSON or a PDF was expected, as the browser check answers."""
    page = b"<!DOCTYPE html><html><head><title>Verifying your browser | OpenReview</title></head><body></body></html>"
    return Fault(Answer(page, status, "text/html; charset=utf-8"))


def challenged() -> Fault:
    """A 403 that asks for a browser check."""
    return Fault(challenge_required().answer())


def expired() -> Fault:
    """A 401 that says that the token has expired."""
    return Fault(token_expired().answer())


def slow(delay_s: float) -> Fault:
    """The true answer, late."""
    return Fault(delay_s=delay_s)


def on_path(path: str, fault: Fault, *, times: int = 1, after: int = 0, api: str | None = None) -> Faults:
    """Let a path fail `times` times, once `after` requests to it have gone well; `api` limits it to "v1" or "v2"."""
    return _OnPath(path, fault, range(after + 1, after + times + 1), api)


@dataclass(slots=True)
class _OnPath:
    path: str
    fault: Fault
    which: range
    api: str | None
    seen: int = field(init=False, default=0)
    lock: Lock = field(init=False, default_factory=Lock)

    def __call__(self, api: str, path: str, query: Mapping[str, str], n: int) -> Fault | None:  # noqa: ARG002
        if path != self.path or self.api not in {None, api}:
            return None
        with self.lock:
            self.seen += 1
            return self.fault if self.seen in self.which else None
