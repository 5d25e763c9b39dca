"""The commands `login` and `logout`."""

import getpass
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from peercorpus.cli.console import ProgressLines, UrlV1, UrlV2, say
from peercorpus.errors import BusyError, SignInError, SignInLaterError

if TYPE_CHECKING:
    from peercorpus.openreview.tokens import Token

ACCOUNT_VARIABLES = "PEERCORPUS_USER and PEERCORPUS_PASSWORD"
CODE_VARIABLE = "PEERCORPUS_MFA_CODE"
ATTEMPTS = 3
"""How often a sign-in request is sent if OpenReview is busy."""
MAX_WAIT_S = 10.0
"""Longest wait for OpenReview in seconds. A person is at the terminal: a longer wait is reported instead."""


def login(*, url_v1: UrlV1 = None, url_v2: UrlV2 = None) -> None:
    """Sign in to OpenReview. The token is stored in a file that only you can read, and later harvests renew it.

    User and password are read from PEERCORPUS_USER and PEERCORPUS_PASSWORD, or asked for; the second-factor code is
    read from PEERCORPUS_MFA_CODE, or asked for. The password is not stored. You need an account: the browser check that
    OpenReview shows to guests is never automated.
    """
    from peercorpus.openreview.account import PASSWORD_VARIABLE, USER_VARIABLE, ServiceConnection, read_code, sign_in
    from peercorpus.openreview.retries import Patience
    from peercorpus.openreview.tokens import TokenCache, config_folder

    urls = _choose_urls(url_v1, url_v2)
    cache = TokenCache(config_folder(os.environ))
    # Check that the token file is readable before asking for a password.
    cache.read(urls)
    patience = Patience(attempts=ATTEMPTS, longest_wait_s=MAX_WAIT_S)
    with ProgressLines() as lines, ServiceConnection(urls, patience, lines.wait).open() as guest:
        user = os.environ.get(USER_VARIABLE) or _ask(USER_QUESTION, ACCOUNT_VARIABLES)
        password = os.environ.get(PASSWORD_VARIABLE) or _ask_password()
        try:
            token = sign_in(guest, user, password, read_code(os.environ) or _ask_code)
        except BusyError as error:
            if error.wait_s is None:
                raise
            raise SignInLaterError(
                f"OpenReview limits sign-ins per minute; run 'peercorpus login' again in {error.wait_s:.0f} s."
            ) from None
    cache.write(urls, token)
    say(signed_in(user, urlsplit(urls[1]).netloc, token, cache.path))


def logout(*, url_v1: UrlV1 = None, url_v2: UrlV2 = None) -> None:
    """Delete the token that `peercorpus login` stored. It stays valid at OpenReview until it expires."""
    from peercorpus.openreview.tokens import TokenCache, config_folder

    urls = _choose_urls(url_v1, url_v2)
    cache = TokenCache(config_folder(os.environ))
    say(signed_out(urlsplit(urls[1]).netloc, cache.remove(urls), cache.path))


def _choose_urls(url_v1: str | None, url_v2: str | None) -> tuple[str, str]:
    from peercorpus.openreview.client import URL_V1, URL_V2

    return url_v1 or URL_V1, url_v2 or URL_V2


def _ask_code(method: str) -> str:

    return _ask(CODE_QUESTIONS[method], CODE_VARIABLE)


def _ask(question: str, variables: str) -> str:
    _check_terminal(variables)
    print(question, end="", file=sys.stderr, flush=True)
    return _require_answer(sys.stdin.readline().strip(), variables)


def _ask_password() -> str:
    _check_terminal(ACCOUNT_VARIABLES)
    try:
        return _require_answer(getpass.getpass(), ACCOUNT_VARIABLES)
    except EOFError:
        return _require_answer("", ACCOUNT_VARIABLES)


def _require_answer(answer: str, variables: str) -> str:
    if not answer:
        raise SignInError(f"The answer is empty; run 'peercorpus login' again, or set {variables} in the environment.")
    return answer


def _check_terminal(variables: str) -> None:
    if not sys.stdin.isatty():
        raise SignInError(f"Cannot ask without a terminal; set {variables} in the environment.")


USER_QUESTION = "OpenReview user (e-mail): "
CODE_QUESTIONS = {
    "totp": "Code from your authenticator app: ",
    "emailOtp": "Code that OpenReview has just sent by e-mail: ",
}
"""The question by OpenReview's name of the second factor."""


def signed_in(user: str, host: str, token: "Token", path: Path) -> str:
    """Return who is signed in, until when, and where the token is."""
    return f"Signed in as {user} at {host}, {_until(token)}. The token is stored in {path}."


def signed_out(host: str, token: "Token | None", path: Path) -> str:
    """Return whose token was deleted; None if there was none."""
    if token is None:
        return f"Nobody is signed in at {host}."
    return f"Deleted the token of {token.user_id} at {host}, valid {_until(token)}, from {path}."


def _until(token: "Token") -> str:
    if token.expires_ms is None:
        return "until OpenReview ends it"
    return f"until {datetime.fromtimestamp(token.expires_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
