"""Ask a model behind an OpenAI-compatible endpoint, store its answers and limit the spending of a run."""

import hashlib
import logging
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx2
import msgspec
import stamina

from peercorpus.errors import ModelError, ModelUnavailableError, TooLargeError
from peercorpus.openreview.response_body import MEGABYTE, receive
from peercorpus.openreview.retries import read_retry_after
from peercorpus.workspace.private_files import require_own

# Without a handler, stamina prints `stamina.retry_scheduled` to stderr before each new attempt.
logging.getLogger("stamina").addHandler(logging.NullHandler())

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MOST_BYTES = 4 * MEGABYTE
"""Largest response in bytes; a page of Markdown has a few thousand."""
MOST_TOKENS = 8_192
"""Maximum number of tokens of an answer: a dense page takes 2,000, and a model that repeats itself would never stop."""
LONGEST_WAIT_S = 300.0
"""Longest wait before another attempt, in seconds, even if the endpoint asks for more."""
REFUSES_QUESTION = frozenset({400, 413, 422})
"""HTTP status codes that concern one question only: it is too large or not accepted by the model."""

Content = str | Sequence[Mapping[str, object]]
"""A question: a text, or its parts as in OpenAI's API."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model to ask, and how often to repeat a failed question.

    Attributes:
        url: URL of the endpoint, up to and including `/v1`.
        model: Name of the model at the endpoint.
        key_variable: Environment variable with the key; the key is read from nowhere else.
        attempts: Maximum number of attempts for one question, including the first.
        first_wait_s: Seconds before the second attempt; doubled before each further one.
        timeout_s: Time limit for one answer, in seconds.
    """

    url: str
    model: str
    key_variable: str
    attempts: int = 5
    first_wait_s: float = 1.0
    timeout_s: float = 120.0


class UnansweredError(Exception):
    """Raised when one question gets no answer; the message is what the endpoint did, without a subject."""


class RefusedQuestionError(UnansweredError):
    """Raised when an endpoint that works gives no usable answer to this question; others may get one."""


class _Busy(Exception):  # noqa: N818 -- never leaves this module
    """A temporary failure of the endpoint.

    Attributes:
        wait_s: Seconds the endpoint asks to wait; None if it does not say.
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
class ModelResponse:
    """The text of an answer, and the tokens that question and answer took, as the endpoint counts them."""

    text: str
    tokens: int


class Endpoint:
    """Asks one model. The key is read from the environment and sent to this URL only."""

    def __init__(self, settings: ModelSettings, transport: httpx2.BaseTransport | None = None) -> None:
        """Check the settings and open a client.

        Raises:
            ModelError: URL or model is missing or invalid, or the key must not be sent there.
        """
        if not settings.url or not settings.model:
            raise ModelError("To ask a model, give both the address of its endpoint (up to '/v1') and its name there.")
        url = _parse_address(settings.url)
        if url.scheme not in {"http", "https"} or not url.host or url.userinfo or url.query:
            raise ModelError(
                "The address of a model's endpoint must start with https:// and have no password and no query (?…)."
            )
        self.model = settings.model
        self._url = url
        self._settings = settings
        self._headers = _make_headers(url, settings.key_variable)
        self._http = httpx2.Client(
            timeout=httpx2.Timeout(settings.timeout_s, connect=10),
            transport=transport,
            trust_env=url.host not in LOOPBACK,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def ask(self, content: Content, max_tokens: int = MOST_TOKENS) -> ModelResponse:
        """Ask one question; repeat it if the endpoint is busy or cannot be reached.

        Args:
            content: The user's message.
            max_tokens: Maximum number of tokens of the answer.

        Raises:
            UnansweredError: This question gets no answer after all attempts.
            ModelError: No question gets an answer: the key, the URL or the model's name is wrong.
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
                    return self._ask(content, max_tokens)
        except (_Busy, httpx2.RequestError) as error:
            raise UnansweredError(_describe(error)) from None
        raise AssertionError("stamina gives at least one attempt")

    def _ask(self, content: Content, max_tokens: int) -> ModelResponse:
        body = {
            "model": self.model,
            "temperature": 0,
            "max_tokens": max_tokens,
            "messages": [{"role": "user", "content": content}],
        }
        with self._http.stream("POST", f"{self._url}/chat/completions", json=body, headers=self._headers) as streamed:
            try:
                response = receive(streamed, MOST_BYTES, self._settings.timeout_s)
            except TooLargeError:
                raise RefusedQuestionError("answered at far greater length than allowed") from None
        self._check(response)
        return _read(response.content)

    def _check(self, response: httpx2.Response) -> None:
        status = response.status_code
        host = self._url.host
        if status == 429 or status >= 500:
            raise _Busy(f"answered {status}", read_retry_after(response))
        if status in {401, 403}:
            raise ModelError(f"{host} refuses the key ({status}); put a valid one into {self._settings.key_variable}.")
        if status in REFUSES_QUESTION:
            raise RefusedQuestionError(f"answered {status}")
        if status >= 300:
            raise ModelError(
                f"{host} answered {status}; check the endpoint's address (up to '/v1') and the model's name."
            )


def _describe(error: _Busy | httpx2.RequestError) -> str:
    """Describe what the endpoint did, as a phrase without a subject."""
    if isinstance(error, _Busy):
        return str(error)
    if isinstance(error, httpx2.TimeoutException):
        return "did not answer in time"
    return f"cannot be reached ({type(error).__name__})"


def _read(body: bytes) -> ModelResponse:
    try:
        completion = msgspec.json.decode(body, type=_Completion)
    except msgspec.DecodeError:
        raise _Busy("sent a response that is not a chat completion") from None
    if not completion.choices or completion.choices[0].message.content is None:
        raise _Busy("sent a response without text")
    if completion.choices[0].finish_reason == "length":
        raise RefusedQuestionError("cut its answer off")
    return ModelResponse(
        completion.choices[0].message.content, completion.usage.total_tokens if completion.usage else 0
    )


def _parse_address(text: str) -> httpx2.URL:
    try:
        return httpx2.URL(text.rstrip("/"))
    except httpx2.InvalidURL:
        raise ModelError(
            f"Invalid address of a model's endpoint '{text}': expected a URL up to '/v1', such as https://HOST/v1."
        ) from None


def _make_headers(url: httpx2.URL, key_variable: str) -> dict[str, str]:
    key = os.environ.get(key_variable, "").strip()
    if not key:
        return {}
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError(f"{key_variable} must hold a key of printable ASCII characters without spaces; set it again.")
    if url.scheme != "https" and url.host not in LOOPBACK:
        raise ModelError(f"The key is not sent to {url.host} over plain http; use an https address.")
    return {"Authorization": f"Bearer {key}"}


def _wait_after(error: Exception) -> bool | float:
    """Return whether to try again after an error: True for the usual wait, or the seconds the endpoint asks for."""
    if isinstance(error, _Busy):
        return True if error.wait_s is None else min(error.wait_s, LONGEST_WAIT_S)
    return isinstance(error, httpx2.RequestError)


WAIT_S = 60.0
"""Seconds that a process waits for another one that is writing to the file."""

TABLES = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, text TEXT NOT NULL, tokens INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spending
    (run TEXT PRIMARY KEY, questions INTEGER NOT NULL, tokens INTEGER NOT NULL) WITHOUT ROWID;
"""


def response_key(model: str, prompt: str, image: bytes = b"") -> str:
    """Return the key of an answer: a digest of model, prompt and image."""
    parts = (image, model.encode(), prompt.encode())
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


class ResponseCache:
    """Stores answers in a SQLite file and counts the spending of one run."""

    def __init__(self, path: Path | None, run: str, max_questions: int) -> None:
        """Open or create the file.

        Args:
            path: The file; None keeps everything in memory.
            run: Id of the run whose spending is counted.
            max_questions: Maximum number of questions in the run.

        Raises:
            ModelError: The file is damaged.
            WorkspaceError: It is a link.
        """
        self._run = run
        self._max_questions = max_questions
        if path is not None:
            require_own(path)
            path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path or ":memory:", timeout=WAIT_S, isolation_level=None)
        try:
            if path is not None:
                self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(TABLES)
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise ModelError(f"The answers stored in '{path}' cannot be read ({error}); move the file away.") from None
        self._db.execute("INSERT OR IGNORE INTO spending (run, questions, tokens) VALUES (?, 0, 0)", (run,))

    def find(self, key: str) -> str | None:
        """Return the answer stored under a key; None if there is none."""
        row = self._db.execute("SELECT text FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def reserve(self) -> None:
        """Deduct one question from the budget; call it before asking.

        Raises:
            ModelError: The budget is used up.
        """
        sql = "UPDATE spending SET questions = questions + 1 WHERE run = ? AND questions < ?"
        if self._db.execute(sql, (self._run, self._max_questions)).rowcount == 0:
            questions, tokens = self.spent()
            raise ModelError(
                f"The budget for the model is used up (questions: {questions}, tokens: {tokens}); the answers "
                "are kept: run the same command again with a larger budget."
            )

    def keep(self, key: str, text: str, tokens: int) -> None:
        """Store an answer and count its tokens."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("INSERT OR REPLACE INTO answers (key, text, tokens) VALUES (?, ?, ?)", (key, text, tokens))
        self._db.execute("UPDATE spending SET tokens = tokens + ? WHERE run = ?", (tokens, self._run))
        self._db.execute("COMMIT")

    def spent(self) -> tuple[int, int]:
        """Return the questions and tokens of the run so far."""
        questions, tokens = self._db.execute(
            "SELECT questions, tokens FROM spending WHERE run = ?", (self._run,)
        ).fetchone()
        return int(questions), int(tokens)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


MODEL_KEY_VARIABLE = "PEERCORPUS_MODEL_KEY"
"""Environment variable with the key of the model's endpoint."""
_MAX_FAILURES_IN_A_ROW = 3
"""Questions in a row without an answer after which the endpoint counts as failed."""
_MAX_REFUSALS_IN_A_ROW = 25
"""Questions in a row that an endpoint refuses, or answers at too great a length, after which it counts as failed. A
single review may contain something that a model refuses, so a few refusals say nothing about other questions."""


@dataclass(slots=True)
class AskedModel:
    """A model behind an endpoint; a question that it has answered is not asked again.

    Attributes:
        endpoint: The endpoint that serves it.
        answers: Its answers, of this run and earlier ones.
    """

    endpoint: Endpoint
    answers: ResponseCache
    _failed: int = 0
    _refused: int = 0

    @classmethod
    def of(cls, settings: ModelSettings, answers: Path | None, run: str, max_questions: int) -> Self:
        """Return this model, ready to be asked.

        Args:
            settings: The model.
            answers: The file that stores answers; None keeps them in memory.
            run: Id of the run; questions are counted per run.
            max_questions: Maximum number of questions in the run.

        Raises:
            ModelError: The address is invalid, or the key cannot be sent there.
        """
        endpoint = Endpoint(settings)
        try:
            return cls(endpoint, ResponseCache(answers, run, max_questions))
        except BaseException:
            endpoint.close()
            raise

    @property
    def name(self) -> str:
        """The name of the model at the endpoint."""
        return self.endpoint.model

    def close(self) -> None:
        """Close connections and the answer file."""
        self.endpoint.close()
        self.answers.close()

    def ask(self, question: str, max_tokens: int) -> str | None:
        """Return the answer, stored or new; None if this question gets none.

        Args:
            question: The user's message.
            max_tokens: Maximum number of tokens of the answer.

        Raises:
            ModelError: The model cannot be asked, or the budget is used up; all answers so far are kept.
        """
        key = response_key(self.name, question)
        kept = self.answers.find(key)
        if kept is not None:
            return kept
        self.answers.reserve()
        try:
            answer = self.endpoint.ask(question, max_tokens)
        except RefusedQuestionError as error:
            self._refused += 1
            self._end_after(self._refused, _MAX_REFUSALS_IN_A_ROW, str(error))
            return None
        except UnansweredError as error:
            self._failed += 1
            self._end_after(self._failed, _MAX_FAILURES_IN_A_ROW, str(error))
            return None
        self._failed = self._refused = 0
        if answer.text.strip():
            self.answers.keep(key, answer.text, answer.tokens)
        return answer.text

    def _end_after(self, times: int, most: int, reason: str) -> None:
        if times >= most:
            raise ModelUnavailableError(
                f"The model gave no answer {times} times in a row: its endpoint {reason}. Earlier answers are kept;"
                " run the same command again later."
            )
