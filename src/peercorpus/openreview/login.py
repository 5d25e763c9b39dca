"""Signing in: user and password, and a second factor where the account has one, become a token.

The requests are those of openreview-py 2.9.1 (`api/client.py`, `login_user`). What the live service answers to a wrong
code is not known; any refusal of the code is taken for that.
"""

import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias

import httpx2
import msgspec

from peercorpus.errors import BusyError, NotGivenError, SignInError, SourceError, TokenRefusedError
from peercorpus.openreview.client import Client
from peercorpus.openreview.tokens import Token, new_token

WEEK_S = 7 * 24 * 3600
"""The longest life OpenReview gives a token (openreview-py 2.9.1, docstring of `OpenReviewClient`)."""

AskCode: TypeAlias = Callable[[str], str]
"""Asks for the code of a second factor, of the method "totp" (an authenticator app) or "emailOtp" (a message)."""

CODE_METHODS = ("totp", "emailOtp")
CHALLENGED = (
    "OpenReview asks for a browser check before anyone may sign in, which is not automated here; sign in at"
    " openreview.net and set PEERCORPUS_TOKEN to the cookie openreview.accessToken."
)


def _holds_no_token(record: logging.LogRecord) -> bool:
    return "accessToken" not in record.getMessage()


# At level DEBUG it writes the headers of every answer, and a sign-in is answered with the token in a cookie.
logging.getLogger("httpcore2.http11").addFilter(_holds_no_token)


class _Answer(msgspec.Struct, rename="camel"):
    token: str = ""
    mfa_pending: bool = False
    mfa_pending_token: str = ""
    mfa_methods: list[str] = []
    preferred_method: str | None = None


def sign_in(client: Client, user: str, password: str, ask_code: AskCode | None, life_s: int = WEEK_S) -> Token:
    """Sign in.

    Args:
        client: A guest's.
        user: An e-mail address of the account.
        password: Its password; sent to API v2 and kept nowhere.
        ask_code: Asks for a code where the account has a second factor; None: there is nobody to ask.
        life_s: How long the token is to last; OpenReview gives a week at most.

    Raises:
        SignInError: The password or the code is wrong, or nobody can give the code.
        BusyError: OpenReview takes no more sign-ins for now (three a minute were seen), or is out of order.
        SourceError: OpenReview could not be reached.
    """
    answer = _post(client, "/login", {"id": user, "password": password, "expiresIn": life_s}, user)
    if answer.mfa_pending:
        answer = _bring_code(client, answer, user, ask_code)
    if not answer.token:
        raise SignInError(f"OpenReview signed '{user}' in without a token; try again later.")
    return new_token(answer.token, user)


def _bring_code(client: Client, pending: _Answer, user: str, ask_code: AskCode | None) -> _Answer:
    method = _pick_method(pending, user)
    if ask_code is None:
        raise SignInError(f"The account '{user}' has a second factor; run 'peercorpus login' and give its code.")
    about = {"mfaPendingToken": pending.mfa_pending_token, "method": method}
    if method == "emailOtp":
        _post(client, "/mfa/challenge", about, user)
    code = "".join(ask_code(method).split())
    if not code:
        raise SignInError(f"No code was given for '{user}'; run 'peercorpus login' again.")
    return _post(client, "/mfa/verify", {**about, "code": code}, user)


def _pick_method(pending: _Answer, user: str) -> str:
    offered = [method for method in (pending.preferred_method, *CODE_METHODS) if method in pending.mfa_methods]
    for method in offered:
        if method in CODE_METHODS:
            return str(method)
    raise SignInError(
        f"The second factor of '{user}' is no code ({', '.join(pending.mfa_methods) or 'none was named'}), and needs a"
        " browser; add an authenticator app to the account, or set PEERCORPUS_TOKEN to a token of it."
    )


def _post(client: Client, path: str, body: Mapping[str, object], user: str) -> _Answer:
    try:
        answer = client.post_json(2, path, body)
    except SourceError as error:
        if is_passing(error):
            raise
        raise SignInError(_explained(error, path, user)) from None
    try:
        return msgspec.json.decode(answer.body, type=_Answer)
    except msgspec.DecodeError:
        raise SignInError(f"OpenReview's answer to the sign-in of '{user}' cannot be read; try again later.") from None


def _explained(error: SourceError, path: str, user: str) -> str:
    is_refusal = isinstance(error, TokenRefusedError | NotGivenError)
    if isinstance(error, SignInError) and not is_refusal:
        return CHALLENGED
    if path != "/login":
        return f"OpenReview did not take the code for '{user}'; run 'peercorpus login' again and give a fresh one."
    if is_refusal:
        return f"OpenReview refused the name or the password of '{user}'; check both and run 'peercorpus login' again."
    return f"'{user}' could not be signed in, check the name and the password: {error}"


def is_passing(error: SourceError) -> bool:
    """Whether OpenReview refused nothing: it is busy, or was not reached."""
    return isinstance(error, BusyError) or isinstance(error.__context__, httpx2.RequestError)
