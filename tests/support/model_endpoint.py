"""An OpenAI-compatible endpoint on loopback that gives prepared answers, and fails as real ones do."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, str], bytes]
Rule = Callable[[dict[str, Any]], Reply]


def completion(text: str | None, *, tokens: int = 100, finish: str = "stop") -> Reply:
    """A valid response."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"total_tokens": tokens, "prompt_tokens": tokens, "completion_tokens": 0}
    body = {"id": "c1", "object": "chat.completion", "model": "stand-in", "choices": [choice], "usage": usage}
    return 200, {"content-type": "application/json"}, json.dumps(body).encode()


def refusal(status: int, **headers: str) -> Reply:
    """A refusal that repeats the request, as some do."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, json.dumps({"error": {"message": f"refused with {status}"}}).encode()


def slow(seconds: float, reply: Reply) -> Callable[[], Reply]:
    """A delayed response."""

    def wait() -> Reply:
        time.sleep(seconds)
        return reply

    return wait


@dataclass
class StandIn:
    """The requests received by the endpoint.

    Attributes:
        url: Address up to and including `/v1`.
        replies: Responses in order; the last one is repeated.
        rule: Replies to requests instead, if not None.
    """

    url: str = ""
    replies: Sequence[Reply | Callable[[], Reply]] = ()
    rule: Rule | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def reply(self, body: dict[str, Any]) -> Reply:
        """The next one, or the one to this request."""
        if self.rule is not None:
            return self.rule(body)
        given = self.replies[min(len(self.bodies), len(self.replies)) - 1]
        return given() if callable(given) else given

    def prompt(self, number: int) -> str:
        """The text of a request, counted from 0."""
        return str(self.bodies[number]["messages"][0]["content"][0]["text"])

    def image(self, number: int) -> bytes:
        """The image of a request, counted from 0."""
        url = self.bodies[number]["messages"][0]["content"][1]["image_url"]["url"]
        return base64.b64decode(url.removeprefix("data:image/png;base64,"))


@contextmanager
def serving(*replies: Reply | Callable[[], Reply], rule: Rule | None = None) -> Iterator[StandIn]:
    """Run the endpoint for the duration of the block; with a rule it accepts several requests at a time."""
    stand = StandIn(replies=replies, rule=rule)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            stand.bodies.append(body)
            stand.headers.append({name.lower(): value for name, value in self.headers.items()})
            stand.paths.append(self.path)
            status, headers, content = stand.reply(body)
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # The client has gone away, as it does when an answer takes too long.

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    stand.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield stand
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
