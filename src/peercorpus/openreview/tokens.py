"""Tokens: expiry, the cache of `peercorpus login`, and token files."""

import base64
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import msgspec
from filelock import FileLock
from platformdirs import user_config_path

from peercorpus.errors import SignInError
from peercorpus.openreview.objects import now_ms

SOON_MS = 600_000
"""Longest remaining life at which a token is renewed: ten minutes."""
SAME_CLOCK_MS = 60_000
"""Smaller differences between this machine's clock and the issuer's are ignored."""


@dataclass(frozen=True, slots=True)
class Token:
    """Token that OpenReview issued to a signed-in account.

    Attributes:
        text: The token itself; never shown.
        user_id: User that signed in.
        expires_ms: Expiry, milliseconds since the epoch by this machine's clock; None if the token does not state it.
        given_ms: Time of issue, by the same clock.
    """

    text: str = field(repr=False)
    user_id: str
    expires_ms: int | None
    given_ms: int

    def left_ms(self, now: int) -> float:
        """Return the remaining life in milliseconds; negative once expired, infinite if the token states no expiry."""
        return math.inf if self.expires_ms is None else self.expires_ms - now

    def is_ending(self, now: int) -> bool:
        """Return whether less than a tenth of the token's life is left, or less than ten minutes if that is shorter."""
        if self.expires_ms is None:
            return False
        return self.left_ms(now) < min((self.expires_ms - self.given_ms) / 10, SOON_MS)


Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e11)]


class _Claims(msgspec.Struct):
    """Claims of a token, in seconds by the issuer's clock (RFC 7519, 4.1.4 and 4.1.6)."""

    exp: Seconds | None = None
    iat: Seconds | None = None


ClaimsT = TypeVar("ClaimsT", _Claims, "_UserClaim")


class _User(msgspec.Struct):
    id: str


class _UserClaim(msgspec.Struct):
    """The user of a token, as OpenReview writes it into its tokens."""

    user: _User


def new_token(text: str, user_id: str) -> Token:
    """Return a token that was just issued, with its expiry."""
    now = now_ms()
    return Token(text=text, user_id=user_id, expires_ms=read_expiry_ms(text, now), given_ms=now)


def read_expiry_ms(text: str, now: int) -> int | None:
    """Read when a token that was just issued expires by this machine's clock; its claims are not verified.

    A difference of a minute or more from the issuer's clock is corrected.

    >>> read_expiry_ms("e30.eyJleHAiOjE4MDAwMDAwMDB9.c2ln", 1600000000000)
    1800000000000

    Returns:
        Milliseconds since the epoch; None if the text is not a JWT or states no expiry.
    """
    claims = _read(text, _Claims)
    if claims is None or claims.exp is None:
        return None
    behind_ms = 0 if claims.iat is None else now - int(claims.iat * 1000)
    return int(claims.exp * 1000) + (behind_ms if abs(behind_ms) >= SAME_CLOCK_MS else 0)


def read_user(text: str) -> str | None:
    """Return the user named in a token; None if the text is not a JWT or names none."""
    whose = _read(text, _UserClaim)
    return None if whose is None else whose.user.id


def _read(text: str, type_: type[ClaimsT]) -> ClaimsT | None:
    try:
        _, payload, _ = text.split(".")
        return msgspec.json.decode(base64.urlsafe_b64decode(payload + "==="), type=type_)
    except (ValueError, msgspec.DecodeError):
        return None


CONFIG_VARIABLE = "PEERCORPUS_CONFIG"
"""Environment variable with the folder of the cache; the default is `peercorpus` in the user's configuration folder."""

Urls: TypeAlias = tuple[str, str]
"""Base URLs of API v1 and API v2 of one service."""


class TokenCache:
    """File with one token per service, readable by its owner only."""

    def __init__(self, folder: Path) -> None:
        """Use this folder; it is created when the first token is written."""
        self.path = folder / "tokens.json"

    def read(self, urls: Urls) -> Token | None:
        """Return the token of a service; None if there is none.

        Raises:
            SignInError: The file is damaged, or others may read it.
        """
        return self._read().get(_key(urls))

    def write(self, urls: Urls, token: Token) -> None:
        """Store the token of a service, replacing the previous one.

        Raises:
            SignInError: The file is damaged, others may read it, or it cannot be written.
        """
        try:
            with self._locked():
                self._replace({**self._read(), _key(urls): token})
        except OSError as error:
            raise SignInError(f"The token cannot be stored in '{self.path}': {error.strerror}.") from None

    def remove(self, urls: Urls) -> Token | None:
        """Remove the token of a service and return it; None if there was none.

        Raises:
            SignInError: The file is damaged, others may read it, or it cannot be written.
        """
        if not self.path.exists():
            return None
        try:
            with self._locked():
                tokens = self._read()
                token = tokens.pop(_key(urls), None)
                self._replace(tokens)
        except OSError as error:
            raise SignInError(f"The token cannot be removed from '{self.path}': {error.strerror}.") from None
        return token

    def _read(self) -> dict[str, Token]:
        text = read_private(self.path, "token cache")
        if text is None:
            return {}
        try:
            return msgspec.json.decode(text, type=dict[str, Token])
        except (msgspec.DecodeError, UnicodeError):
            how = f"remove it with: rm '{self.path}', and run 'peercorpus login'"
            raise SignInError(f"The token cache '{self.path}' is damaged; {how}") from None

    def _replace(self, tokens: Mapping[str, Token]) -> None:
        # The temporary file is created with mode 0600, so others can never read it.
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".tokens-")
        try:
            with os.fdopen(descriptor, "wb") as partial:
                partial.write(msgspec.json.encode(tokens))
                partial.flush()
                os.fsync(partial.fileno())
            Path(name).rename(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Prevent other processes from writing between a read and the write that follows it."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(self.path.with_suffix(".lock"), mode=0o600, thread_local=False):
            yield


def _key(urls: Urls) -> str:
    return " ".join(url.rstrip("/") for url in urls)


def read_private(path: Path, what: str) -> bytes | None:
    """Return the content of a file that only its owner may read; None if there is no such file.

    `what` is the name of the file in an error.

    Raises:
        SignInError: The file cannot be read, or others may read it.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SignInError(f"The {what} '{path}' cannot be read: {error.strerror}.") from None
    if mode & 0o077:
        raise SignInError(f"Other users can read the {what} '{path}'; restrict it with: chmod 600 '{path}'")
    return content


def read_token_file(path: Path) -> str:
    """Return the token in a file.

    Raises:
        SignInError: The file is missing, is not text, or others may read it.
    """
    content = read_private(path, "token file")
    if content is None:
        raise SignInError(f"The token file '{path}' cannot be read: No such file or directory.")
    try:
        return content.decode().strip()
    except UnicodeDecodeError:
        raise SignInError(f"The token file '{path}' is not UTF-8 text; put only a token into it.") from None


def config_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the token cache: `PEERCORPUS_CONFIG`, or the user's configuration folder."""
    named = environ.get(CONFIG_VARIABLE)
    return Path(named) if named else user_config_path("peercorpus", appauthor=False)
