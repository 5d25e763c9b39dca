"""The cache that keeps tokens between runs, and the files a token may be read from: closed to everybody else."""

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import msgspec

from peercorpus.errors import SignInError
from peercorpus.openreview.tokens import Token

CONFIG_VARIABLE = "PEERCORPUS_CONFIG"
"""Names the folder of the cache; without it that is `peercorpus` in the user's folder of settings."""

Urls: TypeAlias = tuple[str, str]
"""The base URLs of API v1 and API v2 of one service."""


class TokenCache:
    """One file with a token for each service, which its owner alone may read."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it is made when the first token is written."""
        self.path = folder / "tokens.json"

    def read(self, urls: Urls) -> Token | None:
        """The token of a service; None where none is kept.

        Raises:
            SignInError: The file is damaged, or others may read it.
        """
        return self._read().get(_key(urls))

    def write(self, urls: Urls, token: Token) -> None:
        """Keep the token of a service, in place of the one before.

        Raises:
            SignInError: The file is damaged, others may read it, or it cannot be written.
        """
        try:
            with self._locked():
                self._replace({**self._read(), _key(urls): token})
        except OSError as error:
            raise SignInError(f"The token cannot be kept in '{self.path}': {error.strerror}.") from None

    def remove(self, urls: Urls) -> Token | None:
        """Forget the token of a service; the one it was, or None.

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
        # A temporary file is made with mode 0600, so that there is no instant at which others may read it.
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
        """Keep other processes from writing between a read and the write that follows."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _key(urls: Urls) -> str:
    return " ".join(url.rstrip("/") for url in urls)


def read_private(path: Path, what: str) -> bytes | None:
    """The content of a file that nobody but its owner may read; None where there is no such file.

    Args:
        path: Where it lies.
        what: What it is called in an error.

    Raises:
        SignInError: It cannot be read, or others may read it.
    """
    try:
        with path.open("rb") as file:
            mode, content = os.fstat(file.fileno()).st_mode, file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SignInError(f"The {what} '{path}' cannot be read: {error.strerror}.") from None
    if mode & 0o077:
        raise SignInError(f"Others may read the {what} '{path}'; close it with: chmod 600 '{path}'")
    return content


def read_token_file(path: Path) -> str:
    """The token that a file holds.

    Raises:
        SignInError: The file is not there, holds no text, or others may read it.
    """
    content = read_private(path, "token file")
    if content is None:
        raise SignInError(f"The token file '{path}' cannot be read: No such file or directory.")
    try:
        return content.decode().strip()
    except UnicodeDecodeError:
        raise SignInError(f"The token file '{path}' holds no text.") from None


def config_folder(environ: Mapping[str, str]) -> Path:
    """The folder of the cache.

    Source: XDG Base Directory Specification 0.8, by which a relative `XDG_CONFIG_HOME` is ignored.
    """
    if named := environ.get(CONFIG_VARIABLE):
        return Path(named)
    settings = Path(environ.get("XDG_CONFIG_HOME", ""))
    return (settings if settings.is_absolute() else Path.home() / ".config") / "peercorpus"
