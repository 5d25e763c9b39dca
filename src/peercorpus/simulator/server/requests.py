"""Parse requests and identify the accounts that send them, including sign-in with a second factor."""

import base64
import hashlib
import hmac
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from peercorpus.simulator.server.index import GUEST, Caller, Shelves
from peercorpus.simulator.server.responses import ApiError, Response, invalid, json_answer, token_expired
from peercorpus.simulator.world.groups import INSIDER_ID
from peercorpus.simulator.world.holdings import Json, World

PROFILE_ID = "~Simulated_Reader1"
MFA_METHODS = ("totp", "emailOtp")
_DEFAULT_LIFE_S = 3600
_LONGEST_LIFE_S = 7 * 24 * 3600
_PENDING_LIFE_S = 300


def write_token(world: World, life_s: int = _DEFAULT_LIFE_S, user: str | None = None) -> str:
    """Return a token for an account of the world; with a negative life it has already expired.

    The lifetime is in seconds from now; without a user, the account is the one without a venue.
    """
    return _write(world, {"user": _user(world, user or world.user)}, life_s)


class Accounts:
    """The accounts of a running service; handles the requests for signing in.

    The live service's error names for the second factor, and its response to `/mfa/challenge`, are not known; the
    clients of openreview-py 2.9.1 read neither.
    """

    def __init__(self, world: World, *, mfa: bool = False) -> None:
        """Store the world and whether its accounts need a second factor."""
        self._world, self._mfa = world, mfa
        self._mailed: set[str] = set()

    def sign_in(self, body: Json) -> Response:
        """Handle `POST /login`: return a token, or the data that the second factor needs.

        Raises:
            ApiError: The account or the password is wrong.
        """
        user = body.get("id")
        if user not in (self._world.user, self._world.insider) or body.get("password") != self._world.password:
            raise ApiError(400, "LoginError", "Invalid username or password")
        life_s = body.get("expiresIn") or _DEFAULT_LIFE_S
        if not isinstance(life_s, int) or life_s < 1:
            raise invalid("expiresIn", life_s, "must be integer >= 1")
        life_s = min(life_s, _LONGEST_LIFE_S)
        if not self._mfa:
            return self._token_answer(str(user), life_s)
        pending = _write(self._world, {"pending": user, "life_s": life_s}, _PENDING_LIFE_S)
        methods = {"mfaMethods": MFA_METHODS, "preferredMethod": MFA_METHODS[0]}
        return json_answer({"mfaPending": True, "mfaPendingToken": pending, **methods})

    def challenge(self, body: Json) -> Response:
        """Handle `POST /mfa/challenge`: send a code, if the method sends codes.

        Raises:
            ApiError: The sign-in has ended, or the method sends nothing.
        """
        self._pending(body)
        if body.get("method") != "emailOtp":
            raise invalid("method", body.get("method"), "must be emailOtp")
        self._mailed.add(str(body["mfaPendingToken"]))
        return json_answer({"success": True})

    def verify(self, body: Json) -> Response:
        """Handle `POST /mfa/verify`: return a token for the correct code.

        Raises:
            ApiError: The sign-in has ended, the account has no such method, or the code is wrong or was never sent.
        """
        pending = self._pending(body)
        method = body.get("method")
        if method not in MFA_METHODS:
            raise invalid("method", method, f"must be one of {', '.join(MFA_METHODS)}")
        is_sent = method == "totp" or str(body["mfaPendingToken"]) in self._mailed
        if not is_sent or body.get("code") != self._world.code:
            raise ApiError(400, "MfaError", "Invalid verification code")
        return self._token_answer(str(pending["pending"]), int(str(pending["life_s"])))

    def refresh(self, caller: Caller) -> Response:
        """Handle `POST /refreshToken`: return a new token for the one in the request.

        Raises:
            ApiError: The request came without a token.
        """
        if caller.user is None:
            raise token_expired()
        return self._token_answer(self._account(caller)[0], _DEFAULT_LIFE_S)

    def caller(self, authorization: str | None, shelves: Iterable[Shelves]) -> Caller:
        """Return the caller of a request according to its `Authorization` header.

        Raises:
            ApiError: The token has expired, or was never issued.
        """
        if not authorization:
            return GUEST
        user = _read(self._world, authorization.removeprefix("Bearer ")).get("user")
        if not isinstance(user, dict):
            raise token_expired()
        profile_id = str(user["profile"]["id"])
        own = ("everyone", "~", str(user["id"]), profile_id)
        return Caller(frozenset().union(*(shelf.groups_of(own) for shelf in shelves)), profile_id)

    def profile(self, caller: Caller) -> Json:
        """Return the profile of an account that has signed in."""
        user, last = self._account(caller)
        names = [{"first": "Simulated", "last": last, "fullname": f"Simulated {last}", "username": caller.user}]
        return {"id": caller.user, "readers": ["~"], "content": {"names": names, "emails": [user]}}

    def _account(self, caller: Caller) -> tuple[str, str]:
        is_insider = caller.user == INSIDER_ID
        return (self._world.insider, "Insider") if is_insider else (self._world.user, "Reader")

    def _pending(self, body: Json) -> Json:
        payload = _read(self._world, str(body.get("mfaPendingToken")))
        if "pending" not in payload:
            raise token_expired()
        return payload

    def _token_answer(self, user: str, life_s: int) -> Response:
        token = write_token(self._world, life_s, user)
        cookie = f"openreview.accessToken={token}; Path=/; HttpOnly; Max-Age={life_s}"
        return json_answer({"token": token, "user": _user(self._world, user)}, headers={"Set-Cookie": cookie})


def _user(world: World, user: str) -> Json:
    profile_id, last = (INSIDER_ID, "Insider") if user == world.insider else (PROFILE_ID, "Reader")
    names: Json = {"id": profile_id, "first": "Simulated", "last": last, "emails": [], "usernames": [profile_id]}
    return {"id": user, "profile": names}


def _write(world: World, payload: Json, life_s: int) -> str:
    now = int(time.time())
    signed = f"{_encode({'alg': 'HS256', 'typ': 'JWT'})}.{_encode({**payload, 'iat': now, 'exp': now + life_s})}"
    return f"{signed}.{_signature(world, signed)}"


def _read(world: World, token: str) -> Json:
    signed, _, signature = token.rpartition(".")
    if not hmac.compare_digest(_signature(world, signed).encode(), signature.encode()):
        raise token_expired()
    payload: Json = msgspec.json.decode(base64.urlsafe_b64decode(signed.partition(".")[2] + "==="))
    if int(str(payload["exp"])) <= time.time():
        raise token_expired()
    return payload


def _signature(world: World, signed: str) -> str:
    # The key is the account itself, so that a token remains valid after a restart of the simulator.
    key = f"{world.user}:{world.password}".encode()
    return base64.urlsafe_b64encode(hmac.digest(key, signed.encode(), hashlib.sha256)).decode().rstrip("=")


def _encode(part: Json) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(part)).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Request:
    """A request as received.

    Attributes:
        api: API that was called, "v1" or "v2".
        query: One text per parameter; a repeated parameter becomes a comma-separated list.
        number: Counted over both APIs, from 1.
        takes_html: Whether it accepts HTML pages, as a browser does.
    """

    method: str
    api: str
    path: str
    query: Mapping[str, str]
    number: int = 0
    has_token: bool = False
    takes_html: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A request with its caller.

    Attributes:
        query: One text per parameter; a repeated parameter becomes a comma-separated list.
    """

    accounts: Accounts
    shelves: Shelves
    caller: Caller
    query: Mapping[str, str]
    body: Json

    @property
    def api(self) -> str:
        """API that was called, "v1" or "v2"."""
        return self.shelves.api

    def flag(self, name: str) -> bool:
        """Read a parameter that is `true` or `false`; absent means false."""
        text = self.query.get(name, "false").lower()
        if text not in {"true", "false"}:
            raise invalid(name, text, "must be boolean")
        return text == "true"

    def required(self, name: str) -> str:
        """Read a required parameter."""
        if name not in self.query:
            raise invalid(name, None, "must be given")
        return self.query[name]


def gives_file(path: str) -> bool:
    """Return whether a path returns a file rather than JSON."""
    return path.startswith("/pdf/") or path.rpartition("/")[2] in {"pdf", "attachment"}
