"""An OpenAI-compatible endpoint: one question, in words or with an image, asked until it is answered."""

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time

import httpx2
import msgspec
import stamina

from peercorpus.errors import ModelError, TooLargeError
from peercorpus.openreview.transfer import MEGABYTE, receive

# It would say `stamina.retry_scheduled` on stderr before each new attempt, in a process where nothing else logs.
logging.getLogger("stamina").addHandler(logging.NullHandler())

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MOST_BYTES = 4 * MEGABYTE
"""A page of Markdown has a few thousand bytes."""
MOST_TOKENS = 8_192
"""Of one answer: a dense page takes 2,000; a model that repeats itself would go on for ever."""
LONGEST_WAIT_S = 300.0
"""Longer than this no wait lasts, whatever the endpoint asks for."""
REFUSES_QUESTION = frozenset({400, 413, 422})
"""Answers that concern the one question that was sent: too large, or not to the model's liking."""

Content = str | Sequence[Mapping[str, object]]
"""A question: its words, or its parts as OpenAI's API has them."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model is asked, and how patiently.

    Attributes:
        url: Of the endpoint, up to and with `/v1`.
        model: Its name there.
        key_variable: The variable of the environment that holds the key; it is read nowhere else from.
        attempts: How often one question is asked, the first time included.
        first_wait_s: Before the second time; it doubles from there.
        timeout_s: Seconds one answer may take.
    """

    url: str
    model: str
    key_variable: str
    attempts: int = 5
    first_wait_s: float = 1.0
    timeout_s: float = 120.0


class UnansweredError(Exception):
    """One question was not answered; its message says what the endpoint did, in a few words that follow its name."""


class _Busy(Exception):  # noqa: N818 -- it never leaves this module
    """A passing fault.

    Attributes:
        wait_s: How long the endpoint asks to wait; None where it does not say.
    """

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    total_tokens: int = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, and the tokens it took."""

    text: str
    tokens: int


class Endpoint:
    """Asks one model. The key comes from the environment, and goes to this address only."""

    def __init__(self, settings: ModelSettings, transport: httpx2.BaseTransport | None = None) -> None:
        """Take address and model.

        Raises:
            ModelError: They are missing; or the key cannot be sent there.
        """
        if not settings.url or not settings.model:
            raise ModelError("A model needs the address of its endpoint (up to '/v1') and its name there.")
        url = _address(settings.url)
        if url.scheme not in {"http", "https"} or not url.host or url.userinfo or url.query:
            raise ModelError(
                "The address of a model's endpoint starts with https:// and has no password and no question."
            )
        self.model, self._url, self._settings = settings.model, url, settings
        self._headers = _headers(url, settings.key_variable)
        self._http = httpx2.Client(
            timeout=httpx2.Timeout(settings.timeout_s, connect=10),
            transport=transport,
            trust_env=url.host not in LOOPBACK,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def ask(self, content: Content, most_tokens: int = MOST_TOKENS) -> Answer:
        """Ask one question.

        Args:
            content: What the user says.
            most_tokens: Of the answer.

        Raises:
            UnansweredError: The endpoint does not answer this one, however often it is asked.
            ModelError: It answers nothing at all: the key, the address or the model is wrong.
        """
        tries = stamina.retry_context(
            on=_wait_after,
            attempts=self._settings.attempts,
            timeout=None,
            wait_initial=self._settings.first_wait_s,
            wait_max=60.0,
            wait_jitter=self._settings.first_wait_s,
        )
        try:
            for attempt in tries:
                with attempt:
                    return self._ask(content, most_tokens)
        except (_Busy, httpx2.RequestError) as error:
            raise UnansweredError(_told(error)) from None
        raise AssertionError("stamina gives at least one attempt")

    def _ask(self, content: Content, most_tokens: int) -> Answer:
        body = {
            "model": self.model,
            "temperature": 0,
            "max_tokens": most_tokens,
            "messages": [{"role": "user", "content": content}],
        }
        with self._http.stream("POST", f"{self._url}/chat/completions", json=body, headers=self._headers) as streamed:
            try:
                response = receive(streamed, MOST_BYTES, self._settings.timeout_s)
            except TooLargeError:
                raise UnansweredError("answered with far more than was asked for") from None
        self._check(response)
        return _read(response.content)

    def _check(self, response: httpx2.Response) -> None:
        status, host = response.status_code, self._url.host
        if status == 429 or status >= 500:
            raise _Busy(f"answered {status}", _wait_of(response))
        if status in {401, 403}:
            raise ModelError(f"{host} refuses the key ({status}); put a valid one into {self._settings.key_variable}.")
        if status in REFUSES_QUESTION:
            raise UnansweredError(f"answered {status}")
        if status >= 300:
            raise ModelError(
                f"{host} answered {status}; check the endpoint's address (up to '/v1') and the model's name."
            )


def _told(error: _Busy | httpx2.RequestError) -> str:
    """What the endpoint did, in words that follow its name."""
    if isinstance(error, _Busy):
        return str(error)
    if isinstance(error, httpx2.TimeoutException):
        return "did not answer in time"
    return f"cannot be reached ({type(error).__name__})"


def _read(body: bytes) -> Answer:
    try:
        completion = msgspec.json.decode(body, type=_Completion)
    except msgspec.DecodeError:
        raise _Busy("answered something that is no completion") from None
    if not completion.choices or completion.choices[0].message.content is None:
        raise _Busy("answered without a text")
    if completion.choices[0].finish_reason == "length":
        raise UnansweredError("cut its answer off")
    return Answer(completion.choices[0].message.content, completion.usage.total_tokens if completion.usage else 0)


def _address(text: str) -> httpx2.URL:
    try:
        return httpx2.URL(text.rstrip("/"))
    except httpx2.InvalidURL:
        raise ModelError(f"'{text}' is no address of a model's endpoint; name it up to '/v1'.") from None


def _headers(url: httpx2.URL, key_variable: str) -> dict[str, str]:
    key = os.environ.get(key_variable, "").strip()
    if not key:
        return {}
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError(f"{key_variable} holds characters that no key has.")
    if url.scheme != "https" and url.host not in LOOPBACK:
        raise ModelError(f"The key is not sent to {url.host} over plain http; use an https address.")
    return {"Authorization": f"Bearer {key}"}


def _wait_after(error: Exception) -> bool | float:
    """Whether to try again after an error: True for the usual wait, or the seconds that the endpoint asks for."""
    if isinstance(error, _Busy):
        return True if error.wait_s is None else min(error.wait_s, LONGEST_WAIT_S)
    return isinstance(error, httpx2.RequestError)


def _wait_of(response: httpx2.Response) -> float | None:
    said = response.headers.get("retry-after", "").strip()
    if said.isdigit():
        return float(said)
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time()) if said else None
    except ValueError:
        return None
