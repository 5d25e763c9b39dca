"""Make responses: JSON, files and errors in the form recorded from OpenReview."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

import msgspec

JSON = "application/json; charset=utf-8"
NO_PDF = "Error | OpenReview"
"""Title of an HTML page, other than the browser check, served in place of a file."""

_request_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response, ready to be sent.

    Attributes:
        padding_bytes: Number of zero bytes after the body, generated while sending.
    """

    body: bytes
    status: int = 200
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    padding_bytes: int = 0


class ApiError(Exception):
    """An error response with OpenReview's name, message, status, and details with a request id."""

    def __init__(self, status: int, name: str, message: str, **details: object) -> None:
        """Store the recorded error; the request id is added to message and details later."""
        super().__init__(message)
        self.status, self.name, self.message, self.details = status, name, message, details

    def answer(self, headers: Mapping[str, str] | None = None) -> Response:
        """Return the JSON response; every call makes a new request id."""
        request_id = f"{time.strftime('%Y-%m-%d', time.gmtime())}-{next(_request_numbers)}"
        body = {
            "name": self.name,
            "message": f"{self.message} ({request_id})",
            "status": self.status,
            "details": {**self.details, "reqId": request_id},
        }
        return json_answer(body, self.status, headers)


def json_answer(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with `body` as JSON."""
    return Response(msgspec.json.encode(body), status, headers=headers or {})


def not_found(kind: str, thing_id: str) -> ApiError:
    """Return the error for an id that does not exist in this API."""
    return ApiError(404, "NotFoundError", f"The {kind} {thing_id} was not found", path="id", value=thing_id)


def forbidden(kind: str, thing_id: str, user: str) -> ApiError:
    """Return the error for an existing id that the caller may not read."""
    message = f"User {user} does not have permission to see {kind} {thing_id}"
    return ApiError(403, "ForbiddenError", message, path="id", value=thing_id, user=user)


def invalid(path: str, value: object, message: str, **details: object) -> ApiError:
    """Return the error for a query parameter that cannot be used; `message` follows the name of the parameter."""
    return ApiError(400, "ValidationError", f"{path} {message}", path=path, invalidValue=value, **details)


def challenge_required() -> ApiError:
    """Return the error that guests get for notes and files since the challenge gate of June 2026."""
    url = "https://openreview.net/challenge?redirect=%2F"
    return ApiError(403, "ChallengeRequiredError", "Challenge verification required", challengeUrl=url)


def browser_check() -> Response:
    """Return the redirect to the browser check; programs get `ChallengeRequiredError` instead."""
    return Response(b"", 302, "text/plain; charset=utf-8", {"Location": "/challenge?redirect=%2F"})


def browser_page() -> Response:
    """Return the HTML page of the browser check."""
    return html_response("Verifying your browser | OpenReview")


def html_response(title: str, status: int = 200) -> Response:
    """Return an HTML page."""
    text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{title}</body></html>"
    return Response(text.encode(), status, "text/html; charset=utf-8")


def token_expired() -> ApiError:
    """Return the error for a token that has expired or was never issued."""
    return ApiError(401, "TokenExpiredError", "Token has expired. Please log in again.")


def too_many_requests(limit: int, used: int, wait_s: int) -> ApiError:
    """Return the error for an exhausted request budget that is restored in `wait_s` seconds."""
    message = (
        f"Too many requests: You have made {used} requests, surpassing the limit of {limit} requests. "
        f"Please try again in {in_words(wait_s)}"
    )
    details = {"limit": limit, "remaining": 0, "resetTime": reset_time(wait_s), "used": used, "current": used}
    return ApiError(429, "RateLimitError", message, **details)


def in_words(wait_s: int) -> str:
    """Return a wait in the service's wording: "60 minutes and 13 seconds", "54 seconds"."""
    minutes, seconds = divmod(wait_s, 60)
    return f"{minutes} minutes and {seconds} seconds" if minutes else f"{seconds} seconds"


def reset_time(wait_s: int) -> str:
    """Return the end of a wait in the format of `details.resetTime`."""
    return (datetime.now(UTC) + timedelta(seconds=wait_s)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
