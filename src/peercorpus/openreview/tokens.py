"""A token of OpenReview, and how long it lasts by what it says of itself."""

import base64
import math
import time
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias, TypeVar

import msgspec

SOON_MS = 600_000
SAME_CLOCK_MS = 60_000


@dataclass(frozen=True, slots=True)
class Token:
    """What OpenReview gives an account that signs in.

    Attributes:
        text: The token itself; never shown.
        user_id: As whom the account signed in.
        expires_ms: When it ends, epoch milliseconds by this machine's clock; None where the token does not say.
        given_ms: When it came, by the same clock.
    """

    text: str = field(repr=False)
    user_id: str
    expires_ms: int | None
    given_ms: int

    def left_ms(self, now: int) -> float:
        """How long it is still good; negative once it has ended, infinite where it does not say."""
        return math.inf if self.expires_ms is None else self.expires_ms - now

    def is_ending(self, now: int) -> bool:
        """Whether little is left of it: a tenth of its life, ten minutes at most."""
        if self.expires_ms is None:
            return False
        return self.left_ms(now) < min((self.expires_ms - self.given_ms) / 10, SOON_MS)


Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e11)]


class _Claims(msgspec.Struct):
    """What a token says of itself, in seconds by the clock of whoever issued it (RFC 7519, 4.1.4 and 4.1.6)."""

    exp: Seconds | None = None
    iat: Seconds | None = None


ClaimsT = TypeVar("ClaimsT", _Claims, "_Whose")


class _User(msgspec.Struct):
    id: str


class _Whose(msgspec.Struct):
    """Whose a token is, as OpenReview writes it into its tokens."""

    user: _User


def now_ms() -> int:
    """Epoch milliseconds by this machine's clock."""
    return time.time_ns() // 1_000_000


def new_token(text: str, user_id: str) -> Token:
    """The token that has just come."""
    now = now_ms()
    return Token(text, user_id, read_expiry_ms(text, now), now)


def read_expiry_ms(text: str, now: int) -> int | None:
    """When a token that has just come ends by this machine's clock; its claims are not verified.

    Where the clock of whoever issued it is a minute or more from this machine's, the difference is allowed for.

    >>> read_expiry_ms("e30.eyJleHAiOjE4MDAwMDAwMDB9.c2ln", 1600000000000)
    1800000000000

    Returns:
        Epoch milliseconds; None where it is no JWT, or does not say.
    """
    claims = _read(text, _Claims)
    if claims is None or claims.exp is None:
        return None
    behind_ms = 0 if claims.iat is None else now - int(claims.iat * 1000)
    return int(claims.exp * 1000) + (behind_ms if abs(behind_ms) >= SAME_CLOCK_MS else 0)


def read_user(text: str) -> str | None:
    """The account that a token says it is of; None where it is no JWT, or does not say."""
    whose = _read(text, _Whose)
    return None if whose is None else whose.user.id


def _read(text: str, type_: type[ClaimsT]) -> ClaimsT | None:
    """What a token says of itself; None where it does not say it."""
    try:
        _, payload, _ = text.split(".")
        return msgspec.json.decode(base64.urlsafe_b64decode(payload + "==="), type=type_)
    except (ValueError, msgspec.DecodeError):
        return None
