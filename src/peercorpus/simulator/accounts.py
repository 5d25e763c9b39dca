"""Accounts of the simulated service: sign-in, tokens, and who a token stands for."""

import base64
import hashlib
import hmac
import time
from collections.abc import Iterable

import msgspec

from peercorpus.simulator.answers import Answer, ApiError, invalid, json_answer, token_expired
from peercorpus.simulator.holdings import Json, World
from peercorpus.simulator.shelves import Shelves
from peercorpus.simulator.visibility import GUEST, Caller

PROFILE_ID = "~Simulated_Reader1"
_DEFAULT_LIFE_S = 3600
_LONGEST_LIFE_S = 7 * 24 * 3600


def write_token(world: World, life_s: int = _DEFAULT_LIFE_S) -> str:
    """A token for the account of the world; one with a negative life has expired."""
    now = int(time.time())
    payload = {"user": _user(world), "iat": now, "exp": now + life_s}
    signed = f"{_encode({'alg': 'HS256', 'typ': 'JWT'})}.{_encode(payload)}"
    return f"{signed}.{_signature(world, signed)}"


def sign_in(world: World, body: Json) -> Answer:
    """Answer `POST /login`.

    Raises:
        ApiError: The account or the password is wrong.
    """
    if (body.get("id"), body.get("password")) != (world.user, world.password):
        raise ApiError(400, "LoginError", "Invalid username or password")
    life_s = body.get("expiresIn") or _DEFAULT_LIFE_S
    if not isinstance(life_s, int) or life_s < 1:
        raise invalid("expiresIn", life_s, "must be integer >= 1")
    return _token_answer(world, min(life_s, _LONGEST_LIFE_S))


def refresh(world: World, caller: Caller) -> Answer:
    """Answer `POST /refreshToken`: a new token for the one that came with the request.

    Raises:
        ApiError: The request came without a token.
    """
    if caller.user is None:
        raise token_expired()
    return _token_answer(world, _DEFAULT_LIFE_S)


def profile(world: World) -> Json:
    """The profile of the account."""
    names = [{"first": "Simulated", "last": "Reader", "fullname": "Simulated Reader", "username": PROFILE_ID}]
    return {"id": PROFILE_ID, "readers": ["~"], "content": {"names": names, "emails": [world.user]}}


def read_caller(world: World, authorization: str | None, shelves: Iterable[Shelves]) -> Caller:
    """Who a request comes from, by its `Authorization` header.

    Raises:
        ApiError: The token has expired, or was never given.
    """
    if not authorization:
        return GUEST
    signed, _, signature = authorization.removeprefix("Bearer ").rpartition(".")
    if not hmac.compare_digest(_signature(world, signed).encode(), signature.encode()):
        raise token_expired()
    payload = signed.partition(".")[2]
    if msgspec.json.decode(base64.urlsafe_b64decode(payload + "==="))["exp"] <= time.time():
        raise token_expired()
    own = ("everyone", "~", world.user, PROFILE_ID)
    return Caller(frozenset().union(*(shelf.groups_of(own) for shelf in shelves)), PROFILE_ID)


def _token_answer(world: World, life_s: int) -> Answer:
    token = write_token(world, life_s)
    cookie = f"openreview.accessToken={token}; Path=/; HttpOnly; Max-Age={life_s}"
    return json_answer({"token": token, "user": _user(world)}, headers={"Set-Cookie": cookie})


def _user(world: World) -> Json:
    names: Json = {"id": PROFILE_ID, "first": "Simulated", "last": "Reader", "emails": [], "usernames": [PROFILE_ID]}
    return {"id": world.user, "profile": names}


def _signature(world: World, signed: str) -> str:
    # The key is the account itself, so that a token outlives a restart of the simulator.
    key = f"{world.user}:{world.password}".encode()
    return base64.urlsafe_b64encode(hmac.digest(key, signed.encode(), hashlib.sha256)).decode().rstrip("=")


def _encode(part: Json) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(part)).decode().rstrip("=")
