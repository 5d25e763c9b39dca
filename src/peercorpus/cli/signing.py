"""`peercorpus login` and `peercorpus logout`: one sign-in for all later harvests."""

import getpass
import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from peercorpus.cli.app import UrlV1, UrlV2, app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.errors import BusyError, SignInError

if TYPE_CHECKING:
    from peercorpus.openreview.tokens import Token

QUESTIONS = {
    "totp": "Code of your authenticator app: ",
    "emailOtp": "Code that OpenReview has just sent by e-mail: ",
}
ACCOUNT_VARIABLES = "PEERCORPUS_USER and PEERCORPUS_PASSWORD"
CODE_VARIABLE = "PEERCORPUS_MFA_CODE"
ATTEMPTS, LONGEST_WAIT_S = 3, 10.0
"""Somebody sits before the terminal: a longer wait is told, not waited for."""


@app.command
def login(*, url_v1: UrlV1 = None, url_v2: UrlV2 = None) -> None:
    """Sign in to OpenReview; the token is kept in a file that only you can read, and later harvests renew it.

    User and password are read from PEERCORPUS_USER and PEERCORPUS_PASSWORD, or asked for; the code of a second factor
    is read from PEERCORPUS_MFA_CODE, or asked for. The password is kept nowhere. The browser check that OpenReview
    asks of guests is never automated: an account is needed.
    """
    from peercorpus.openreview.account import PASSWORD_VARIABLE, USER_VARIABLE, Door, read_code
    from peercorpus.openreview.client import Patience
    from peercorpus.openreview.login import sign_in
    from peercorpus.openreview.token_cache import TokenCache, config_folder

    urls, cache = _urls(url_v1, url_v2), TokenCache(config_folder(os.environ))
    # Nobody is asked for a password before the cache is known to be good.
    cache.read(urls)
    patience = Patience(attempts=ATTEMPTS, longest_wait_s=LONGEST_WAIT_S)
    with ProgressLines() as lines, Door(urls, patience, lines.wait).open() as guest:
        user = os.environ.get(USER_VARIABLE) or _ask("OpenReview user (e-mail): ", ACCOUNT_VARIABLES)
        password = os.environ.get(PASSWORD_VARIABLE) or _ask_password()
        try:
            token = sign_in(guest, user, password, read_code(os.environ) or _ask_code)
        except BusyError as error:
            if error.wait_s is None:
                raise
            raise SignInError(
                f"OpenReview takes few sign-ins a minute; run 'peercorpus login' again in {error.wait_s:.0f} s."
            ) from None
    cache.write(urls, token)
    say(f"Signed in as {user} at {urlsplit(urls[1]).netloc}, {_until(token)}. The token is kept in {cache.path}.")


@app.command
def logout(*, url_v1: UrlV1 = None, url_v2: UrlV2 = None) -> None:
    """Remove the token that `peercorpus login` keeps; OpenReview is not told, and lets it end by itself."""
    from peercorpus.openreview.token_cache import TokenCache, config_folder

    urls, cache = _urls(url_v1, url_v2), TokenCache(config_folder(os.environ))
    host, token = urlsplit(urls[1]).netloc, cache.remove(urls)
    if token is None:
        say(f"Nobody is signed in at {host}.")
    else:
        say(f"The token of {token.user_id} at {host}, good {_until(token)}, is removed from {cache.path}.")


def _urls(url_v1: str | None, url_v2: str | None) -> tuple[str, str]:
    from peercorpus.openreview.client import URL_V1, URL_V2

    return url_v1 or URL_V1, url_v2 or URL_V2


def _until(token: "Token") -> str:
    if token.expires_ms is None:
        return "until OpenReview ends it"
    return f"until {datetime.fromtimestamp(token.expires_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def _ask_code(method: str) -> str:
    return _ask(QUESTIONS[method], CODE_VARIABLE)


def _ask(question: str, variables: str) -> str:
    _check_terminal(variables)
    print(question, end="", file=sys.stderr, flush=True)
    return _given(sys.stdin.readline().strip(), variables)


def _ask_password() -> str:
    _check_terminal(ACCOUNT_VARIABLES)
    try:
        return _given(getpass.getpass(), ACCOUNT_VARIABLES)
    except EOFError:
        return _given("", ACCOUNT_VARIABLES)


def _given(answer: str, variables: str) -> str:
    if not answer:
        raise SignInError(f"Nothing was given; run 'peercorpus login' again, or set {variables} in the environment.")
    return answer


def _check_terminal(variables: str) -> None:
    if not sys.stdin.isatty():
        raise SignInError(f"There is no terminal to ask on; set {variables} in the environment.")
