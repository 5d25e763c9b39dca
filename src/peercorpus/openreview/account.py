"""Sign in with a password and second factor, and renew tokens before they expire.

`read_account` picks the source of the token: a file, the environment, or the cache of `peercorpus login`.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import httpx2
import msgspec

from peercorpus.errors import BusyError, NotGivenError, SignInError, SignInLaterError, SourceError, TokenRefusedError
from peercorpus.openreview.budget import THIS_MACHINE, SystemClock
from peercorpus.openreview.client import LOOPBACK, Client
from peercorpus.openreview.objects import now_ms
from peercorpus.openreview.retries import Patience
from peercorpus.openreview.tokens import Token, TokenCache, Urls, config_folder, new_token, read_token_file, read_user

WEEK_S = 7 * 24 * 3600
"""Longest lifetime of a token that OpenReview grants (openreview-py 2.9.1, docstring of `OpenReviewClient`)."""

AskCode: TypeAlias = Callable[[str], str]
"""Asks the user for the code of a second factor: "totp" (authenticator app) or "emailOtp" (message)."""

CODE_METHODS = ("totp", "emailOtp")
CHALLENGED = (
    "OpenReview requires a browser check before sign-in, which is not automated here; sign in at"
    " openreview.net and set PEERCORPUS_TOKEN to the cookie openreview.accessToken."
)


# At level DEBUG it logs the headers of every response, and the response to a sign-in has the token in a cookie.
logging.getLogger("httpcore2.http11").addFilter(lambda record: "accessToken" not in record.getMessage())


class _LoginAnswer(msgspec.Struct, rename="camel"):
    token: str = ""
    mfa_pending: bool = False
    mfa_pending_token: str = ""
    mfa_methods: list[str] = []
    preferred_method: str | None = None


def sign_in(client: Client, user: str, password: str, ask_code: AskCode | None, life_s: int = WEEK_S) -> Token:
    """Sign in and return the new token.

    Args:
        client: A client without an account.
        user: An e-mail address of the account.
        password: Its password; sent to API v2 only and not stored.
        ask_code: Asks for a code if the account has a second factor; None if no user is present.
        life_s: Requested lifetime of the token in seconds; OpenReview grants a week at most.

    Raises:
        SignInError: The password or the code is wrong, or no user is present to give the code.
        BusyError: OpenReview accepts no more sign-ins for now (three a minute were observed), or is down.
        SourceError: OpenReview could not be reached.
    """
    answer = _post(client, "/login", {"id": user, "password": password, "expiresIn": life_s}, user)
    if answer.mfa_pending:
        answer = _verify_code(client, answer, user, ask_code)
    if not answer.token:
        raise SignInLaterError(f"OpenReview accepted the sign-in of '{user}' but sent no token; try again later.")
    return new_token(answer.token, user)


def _verify_code(client: Client, pending: _LoginAnswer, user: str, ask_code: AskCode | None) -> _LoginAnswer:
    method = _pick_method(pending, user)
    if ask_code is None:
        raise SignInError(f"The account '{user}' has a second factor; run 'peercorpus login' and enter its code.")
    about = {"mfaPendingToken": pending.mfa_pending_token, "method": method}
    if method == "emailOtp":
        _post(client, "/mfa/challenge", about, user)
    code = "".join(ask_code(method).split())
    if not code:
        raise SignInError(f"No code was entered for '{user}'; run 'peercorpus login' again.")
    return _post(client, "/mfa/verify", {**about, "code": code}, user)


def _pick_method(pending: _LoginAnswer, user: str) -> str:
    offered = [method for method in (pending.preferred_method, *CODE_METHODS) if method in pending.mfa_methods]
    for method in offered:
        if method in CODE_METHODS:
            return str(method)
    raise SignInError(
        f"The second factor of '{user}' is not a code ({', '.join(pending.mfa_methods) or 'unnamed'}) and needs a"
        " browser; add an authenticator app to the account, or set PEERCORPUS_TOKEN to one of its tokens."
    )


def _post(client: Client, path: str, body: Mapping[str, object], user: str) -> _LoginAnswer:
    try:
        answer = client.post_json(2, path, body)
    except SourceError as error:
        if is_passing(error):
            raise
        raise SignInError(_explain_refusal(error, path, user)) from None
    try:
        return msgspec.json.decode(answer.body, type=_LoginAnswer)
    except msgspec.DecodeError:
        raise SignInLaterError(
            f"OpenReview's answer to the sign-in of '{user}' cannot be read; try again later."
        ) from None


def _explain_refusal(error: SourceError, path: str, user: str) -> str:
    is_refusal = isinstance(error, TokenRefusedError | NotGivenError)
    if isinstance(error, SignInError) and not is_refusal:
        return CHALLENGED
    if path != "/login":
        return f"OpenReview rejected the code for '{user}'; run 'peercorpus login' again and enter a fresh one."
    if is_refusal:
        return f"OpenReview refused the name or the password of '{user}'; check both and run 'peercorpus login' again."
    return f"'{user}' could not be signed in, check the name and the password: {error}"


def is_passing(error: SourceError) -> bool:
    """Return whether an error is temporary: OpenReview is busy or was not reached, but did not refuse anything."""
    return isinstance(error, BusyError) or isinstance(error.__context__, httpx2.RequestError)


TOKEN_VARIABLE = "PEERCORPUS_TOKEN"
USER_VARIABLE = "PEERCORPUS_USER"
PASSWORD_VARIABLE = "PEERCORPUS_PASSWORD"
CODE_VARIABLE = "PEERCORPUS_MFA_CODE"
USUAL = Patience()
BETWEEN_TRIES_MS = 60_000
"""Minimum time between two attempts to renew a token that is still valid."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """User name and password."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ServiceConnection:
    """How sign-in requests reach a service.

    Attributes:
        urls: Base URLs of API v1 and API v2.
    """

    urls: Urls
    patience: Patience = USUAL
    on_wait: Callable[[str], None] = lambda _: None
    clock: SystemClock = THIS_MACHINE

    def open(self, token: str | None = None) -> Client:
        """Return a client for a guest, or for the owner of a token.

        Raises:
            SignInError: The password would be sent over plain http.
        """
        for url in map(httpx2.URL, self.urls):
            if url.scheme == "http" and url.host not in LOOPBACK:
                raise SignInError(f"No password is sent to {url.host} over plain http; use an https address.")
        return Client(*self.urls, token, patience=self.patience, on_wait=self.on_wait, clock=self.clock)

    def impatient(self) -> "ServiceConnection":
        """Return a copy that makes a single attempt and does not wait."""
        return replace(self, patience=replace(self.patience, attempts=1, longest_wait_s=0.0))


class CachedAccount:
    """Account whose token is stored in the cache and renewed there; safe to share by threads and processes."""

    def __init__(
        self,
        connection: ServiceConnection,
        cache: TokenCache,
        credentials: Credentials | None = None,
        ask_code: AskCode | None = None,
    ) -> None:
        """Create an account; no request is sent yet.

        Args:
            connection: Connection to the service.
            cache: Where the token is stored.
            credentials: Used to sign in if there is no token; None can only renew a stored token.
            ask_code: Asks for the code of a second factor; None if no user is present.
        """
        self._connection = connection
        self._cache = cache
        self._credentials = credentials
        self._ask_code = ask_code
        self._token: Token | None = None
        self._next_try_ms = 0
        self._lock = threading.Lock()

    def token(self) -> str:
        """Return the token to send now, renewed first if it would soon expire.

        Raises:
            SignInError: The token has expired and cannot be renewed.
            BusyError: The token has expired, and OpenReview cannot be reached or is too busy to renew it.
        """
        with self._lock:
            token = self._token or self._read_cached()
            now = now_ms()
            if token is None or token.left_ms(now) <= 0:
                token = self._renew(token, self._connection)
            elif token.is_ending(now) and now >= self._next_try_ms:
                token = self._renew_early(token, now)
            self._token = token
            return token.text

    def renewed(self, refused: str) -> str:
        """Return a token to replace one that OpenReview refused.

        Raises:
            SignInError: There is no other token.
            BusyError: OpenReview cannot be reached, or is too busy to issue one.
        """
        with self._lock:
            if self._token is None or self._token.text == refused:
                self._token = self._renew(self._token or self._read_cached(), self._connection)
            return self._token.text

    @property
    def user_id(self) -> str | None:
        """The user who signs in; None if no longer known.

        Raises:
            SignInError: The cache cannot be used.
        """
        if self._credentials is not None:
            return self._credentials.user
        kept = self._read_cached()
        return None if kept is None else kept.user_id

    def _read_cached(self) -> Token | None:
        token = self._cache.read(self._connection.urls)
        if token is None or self._credentials is None or self._credentials.user == token.user_id:
            return token
        return None  # the cache belongs to another user

    def _renew_early(self, token: Token, now: int) -> Token:
        """Return a replacement for a token that is still valid, or that token if there is none."""
        try:
            other = self._renew(token, self._connection.impatient())
        except SourceError:
            other = token
        if other.is_ending(now):
            self._next_try_ms = now + BETWEEN_TRIES_MS
        return other

    def _renew(self, old: Token | None, connection: ServiceConnection) -> Token:
        """Return a token other than an old one, after storing it in the cache."""
        kept = self._read_cached()
        if old is not None and kept is not None and kept.text != old.text and not kept.is_ending(now_ms()):
            return kept
        try:
            fresh = self._sign_in(connection) if old is None else self._exchange_or_sign_in(old, connection)
        except SourceError as error:
            if isinstance(error, BusyError) or not is_passing(error):
                raise
            # The address is known to be correct, so waiting may help.
            raise BusyError(str(error)) from None
        self._cache.write(self._connection.urls, fresh)
        return fresh

    def _exchange_or_sign_in(self, old: Token, connection: ServiceConnection) -> Token:
        try:
            return exchange(connection, old)
        except SourceError as error:
            if is_passing(error):
                raise
        if self._credentials is not None:
            return self._sign_in(connection)
        raise SignInError(
            f"The sign-in of '{old.user_id}' has expired; run 'peercorpus login', then the same command again."
        )

    def _sign_in(self, connection: ServiceConnection) -> Token:
        if self._credentials is None:
            raise SignInError("You are no longer signed in; run 'peercorpus login', then the same command again.")
        with connection.open() as guest:
            return sign_in(guest, self._credentials.user, self._credentials.password, self._ask_code)


class _Answer(msgspec.Struct):
    token: str


def exchange(connection: ServiceConnection, old: Token) -> Token:
    """Exchange a token that is still valid for a fresh one (`POST /refreshToken`; its lifetime is not documented).

    Raises:
        SignInError: OpenReview refuses to renew the token.
        SourceError: OpenReview could not be reached.

    Source:
        OpenReview's OpenAPI description, `/refreshToken`; that the old token goes in the header is inferred.
    """
    with connection.open(old.text) as client:
        try:
            answer = msgspec.json.decode(client.post_json(2, "/refreshToken", {}).body, type=_Answer)
        except (NotGivenError, msgspec.DecodeError):
            raise TokenRefusedError(f"OpenReview does not renew the token of '{old.user_id}'.") from None
    if answer.token in {"", old.text}:
        raise TokenRefusedError(f"OpenReview does not renew the token of '{old.user_id}'.")
    return new_token(answer.token, old.user_id)


def read_account(
    urls: Urls,
    token_file: Path | None,
    environ: Mapping[str, str],
    *,
    patience: Patience = USUAL,
    on_wait: Callable[[str], None] = lambda _: None,
) -> CachedAccount | str | None:
    """Return the source of the token, in this order: the file, the environment, the cache, user and password.

    Args:
        urls: Base URLs of the service; a cached token is sent to no other.
        token_file: A file that contains a token; None if the user named none.
        environ: The environment.
        patience: How long a renewal keeps trying.
        on_wait: Receives a sentence stating why a renewal waits.

    Returns:
        A fixed token, an account that renews its own, or None for a guest.

    Raises:
        SignInError: The token file or the cache cannot be used.
    """
    if token_file is not None:
        return read_token_file(token_file)
    if token := environ.get(TOKEN_VARIABLE):
        return token
    cache = TokenCache(config_folder(environ))
    credentials = read_credentials(environ)
    if credentials is None and cache.read(urls) is None:
        return None
    return CachedAccount(ServiceConnection(urls, patience, on_wait), cache, credentials, read_code(environ))


def name_budget_owner(account: CachedAccount | str | None) -> str:
    """Return who owns the request budget: "the account 'NAME'", or for guests this machine's address.

    A token that does not name its user is identified by the first eight digits of its SHA-256.
    """
    if account is None:
        return "guests at this address"
    user_id = account.user_id if isinstance(account, CachedAccount) else read_user(account)
    if user_id is not None:
        return f"the account '{user_id}'"
    return f"the token {sha256(account.encode()).hexdigest()[:8]}" if isinstance(account, str) else "an account"


def read_credentials(environ: Mapping[str, str]) -> Credentials | None:
    """Return the user and password of the environment; None if either is missing."""
    user, password = environ.get(USER_VARIABLE), environ.get(PASSWORD_VARIABLE)
    return Credentials(user, password) if user and password else None


def read_code(environ: Mapping[str, str]) -> AskCode | None:
    """Return a function that returns the code set in the environment; None if there is no code."""
    code = environ.get(CODE_VARIABLE)
    return (lambda _: code) if code else None
