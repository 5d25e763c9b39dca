"""The account a harvest uses: where its token comes from, and how that is renewed before it ends."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import httpx2
import msgspec

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError, TokenRefusedError
from peercorpus.openreview.client import LOOPBACK, Client, Patience
from peercorpus.openreview.login import AskCode, is_passing, sign_in
from peercorpus.openreview.token_cache import TokenCache, Urls, config_folder, read_token_file
from peercorpus.openreview.tokens import Token, new_token, now_ms, read_user

TOKEN_VARIABLE = "PEERCORPUS_TOKEN"
USER_VARIABLE = "PEERCORPUS_USER"
PASSWORD_VARIABLE = "PEERCORPUS_PASSWORD"
CODE_VARIABLE = "PEERCORPUS_MFA_CODE"
USUAL = Patience()
BETWEEN_TRIES_MS = 60_000
"""Between two attempts to renew a token that is still good."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user and a password."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Door:
    """How the requests of a sign-in reach a service.

    Attributes:
        urls: The base URLs of API v1 and v2.
        patience: How long to keep trying.
        on_wait: Told in a sentence why it waits.
    """

    urls: Urls
    patience: Patience = USUAL
    on_wait: Callable[[str], None] = lambda _: None

    def open(self, token: str | None = None) -> Client:
        """A client for a guest, or for who holds a token.

        Raises:
            SignInError: The password would go over plain http.
        """
        for url in map(httpx2.URL, self.urls):
            if url.scheme == "http" and url.host not in LOOPBACK:
                raise SignInError(f"No password is sent to {url.host} over plain http; use an https address.")
        return Client(*self.urls, token, patience=self.patience, on_wait=self.on_wait)

    def impatient(self) -> "Door":
        """The same door for who need not wait: one attempt, at once."""
        return replace(self, patience=replace(self.patience, attempts=1, longest_wait_s=0.0))


class CachedAccount:
    """An account whose token is kept in the cache, and renewed there; threads and processes may share it."""

    def __init__(
        self, door: Door, cache: TokenCache, credentials: Credentials | None = None, ask_code: AskCode | None = None
    ) -> None:
        """Take the way to the service and the cache.

        Args:
            door: How to reach the service.
            cache: Where the token is kept.
            credentials: Of whom to sign in where no token is left; None: only what is kept can be renewed.
            ask_code: Asks for the code of a second factor; None: there is nobody to ask.
        """
        self._door, self._cache = door, cache
        self._credentials, self._ask_code = credentials, ask_code
        self._held: Token | None = None
        self._next_try_ms = 0
        self._lock = threading.Lock()

    def token(self) -> str:
        """The token to send now, renewed first where it would soon end.

        Raises:
            SignInError: It has ended, and cannot be renewed.
            BusyError: It has ended, and OpenReview cannot be reached or is too busy to renew it.
        """
        with self._lock:
            held, now = self._held or self._kept(), now_ms()
            if held is None or held.left_ms(now) <= 0:
                held = self._another(held, self._door)
            elif held.is_ending(now) and now >= self._next_try_ms:
                held = self._renewed_early(held, now)
            self._held = held
            return held.text

    def renewed(self, refused: str) -> str:
        """Another token in place of one that OpenReview refused.

        Raises:
            SignInError: There is no other.
            BusyError: OpenReview cannot be reached, or is too busy to give one.
        """
        with self._lock:
            if self._held is None or self._held.text == refused:
                self._held = self._another(self._held or self._kept(), self._door)
            return self._held.text

    @property
    def user_id(self) -> str | None:
        """As whom it signs in; None where that is not known any more.

        Raises:
            SignInError: The cache cannot be used.
        """
        if self._credentials is not None:
            return self._credentials.user
        kept = self._kept()
        return None if kept is None else kept.user_id

    def _kept(self) -> Token | None:
        token, own = self._cache.read(self._door.urls), self._credentials
        return token if token is None or own is None or own.user == token.user_id else None

    def _renewed_early(self, held: Token, now: int) -> Token:
        """A token in place of one that is still good, or that one."""
        try:
            other = self._another(held, self._door.impatient())
        except SourceError:
            other = held
        if other.is_ending(now):
            self._next_try_ms = now + BETWEEN_TRIES_MS
        return other

    def _another(self, old: Token | None, door: Door) -> Token:
        """A token other than an old one, now in the cache."""
        kept = self._kept()
        if old is not None and kept is not None and kept.text != old.text and not kept.is_ending(now_ms()):
            return kept
        try:
            fresh = self._signed_in(door) if old is None else self._exchanged(old, door)
        except SourceError as error:
            if isinstance(error, BusyError) or not is_passing(error):
                raise
            # The address is known to be good: whoever waits may find it answering again.
            raise BusyError(str(error)) from None
        self._cache.write(self._door.urls, fresh)
        return fresh

    def _exchanged(self, old: Token, door: Door) -> Token:
        try:
            return exchange(door, old)
        except SourceError as error:
            if is_passing(error):
                raise
        if self._credentials is not None:
            return self._signed_in(door)
        raise SignInError(
            f"The sign-in of '{old.user_id}' has expired; run 'peercorpus login', then the same command again."
        )

    def _signed_in(self, door: Door) -> Token:
        if self._credentials is None:
            raise SignInError("Nobody is signed in any more; run 'peercorpus login', then the same command again.")
        with door.open() as guest:
            return sign_in(guest, self._credentials.user, self._credentials.password, self._ask_code)


class _Answer(msgspec.Struct):
    token: str


def exchange(door: Door, old: Token) -> Token:
    """A fresh token for one that is still good (`POST /refreshToken`; how long it lasts is not documented).

    Raises:
        SignInError: OpenReview gives none for it.
        SourceError: OpenReview could not be reached.

    Source:
        OpenReview's OpenAPI description, `/refreshToken`; that the old token goes in the header is inferred.
    """
    with door.open(old.text) as client:
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
    """Where the token comes from: the file named, the environment, the cache, or user and password of the environment.

    Args:
        urls: The service; a token of the cache goes to no other.
        token_file: A file that holds a token; None: none was named.
        environ: The environment.
        patience: How long a renewal keeps trying.
        on_wait: Told in a sentence why a renewal waits.

    Returns:
        A fixed token, an account that renews its own, or None where there is neither: a guest.

    Raises:
        SignInError: The token file or the cache cannot be used.
    """
    if token_file is not None:
        return read_token_file(token_file)
    if token := environ.get(TOKEN_VARIABLE):
        return token
    cache, credentials = TokenCache(config_folder(environ)), read_credentials(environ)
    if credentials is None and cache.read(urls) is None:
        return None
    return CachedAccount(Door(urls, patience, on_wait), cache, credentials, read_code(environ))


def owner_of(account: CachedAccount | str | None) -> str:
    """Whom OpenReview gives the budget that is spent: "the account 'NAME'", or for guests this machine's address.

    A token that does not say whose it is stands for itself, by the beginning of its sha256.
    """
    if account is None:
        return "guests at this address"
    user_id = account.user_id if isinstance(account, CachedAccount) else read_user(account)
    if user_id is not None:
        return f"the account '{user_id}'"
    return f"the token {sha256(account.encode()).hexdigest()[:8]}" if isinstance(account, str) else "an account"


def read_credentials(environ: Mapping[str, str]) -> Credentials | None:
    """User and password of the environment; None where either is missing."""
    user, password = environ.get(USER_VARIABLE), environ.get(PASSWORD_VARIABLE)
    return Credentials(user, password) if user and password else None


def read_code(environ: Mapping[str, str]) -> AskCode | None:
    """Gives the code of the environment; None where there is none."""
    code = environ.get(CODE_VARIABLE)
    return (lambda _: code) if code else None
