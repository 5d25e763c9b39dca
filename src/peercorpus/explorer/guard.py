"""What stands before every page: reading alone, under the server's own name, and nothing that a browser may run."""

import ipaddress
from collections.abc import Callable, Iterable

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}
METHODS = ("GET", "HEAD")
CHANGED = "What is taken down has changed since the explorer was started. Stop it, and start it again."


def is_loopback(host: str) -> bool:
    """Whether an address or name stands for this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _name(host_header: str) -> str:
    """The name in a `Host` header, without its port.

    >>> _name("[::1]:80"), _name("Localhost:8642")
    ('::1', 'localhost')
    """
    if host_header.startswith("["):
        return host_header[1:].partition("]")[0]
    return host_header.rpartition(":")[0].lower() if ":" in host_header else host_header.lower()


def may_ask(host_header: str, bound_to: str) -> bool:
    """Whether a request may name the server so: by a number or by the name it was bound to, never by another name.

    Another name may be anyone's, made to point here, so that their page could read what is shown.

    >>> [may_ask(name, "127.0.0.1") for name in ("127.0.0.1:8642", "localhost", "evil.example:8642", "10.0.0.7", "")]
    [True, True, False, False, False]
    >>> may_ask("10.0.0.7:8642", "0.0.0.0"), may_ask("evil.example", "0.0.0.0")
    (True, False)
    """
    name = _name(host_header)
    if is_loopback(name) or name == bound_to.lower():
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return not is_loopback(bound_to)


class Guard:
    """Lets through requests that read, under a name that is the server's own, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, bound_to: str, is_current: Callable[[], bool]) -> None:
        self._app, self._bound_to, self._is_current = app, bound_to, is_current

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _with_headers(message.get("headers", ()))
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not may_ask(hosts[0], self._bound_to):
            return PlainTextResponse("The explorer does not answer to this name.\n", 421)
        if scope["method"] not in METHODS:
            return PlainTextResponse("The explorer only shows; it takes nothing.\n", 405, {"allow": ", ".join(METHODS)})
        return None if self._is_current() else PlainTextResponse(f"{CHANGED}\n", 503)


def _with_headers(given: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    kept = list(given)
    names = {name.lower() for name, _ in kept}
    return kept + [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in names]
