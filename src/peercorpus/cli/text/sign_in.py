"""Texts of `login` and `logout`: the questions asked at the terminal and the results."""

from datetime import UTC, datetime
from pathlib import Path

from peercorpus.openreview.tokens import Token

USER_QUESTION = "OpenReview user (e-mail): "
CODE_QUESTIONS = {
    "totp": "Code from your authenticator app: ",
    "emailOtp": "Code that OpenReview has just sent by e-mail: ",
}
"""The question by OpenReview's name of the second factor."""


def signed_in(user: str, host: str, token: Token, path: Path) -> str:
    """Return who is signed in, until when, and where the token is."""
    return f"Signed in as {user} at {host}, {_until(token)}. The token is stored in {path}."


def signed_out(host: str, token: Token | None, path: Path) -> str:
    """Return whose token was deleted; None if there was none."""
    if token is None:
        return f"Nobody is signed in at {host}."
    return f"Deleted the token of {token.user_id} at {host}, valid {_until(token)}, from {path}."


def _until(token: Token) -> str:
    if token.expires_ms is None:
        return "until OpenReview ends it"
    return f"until {datetime.fromtimestamp(token.expires_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
