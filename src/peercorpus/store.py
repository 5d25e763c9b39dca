"""Files on this machine or in an S3-like store: an object of a store has the methods of `Path` that are used here.

Who may read and write, where the store is and its region come from the environment alone (AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL). What a store answers is never repeated in an
error: it may hold a key.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from peercorpus.errors import MissingExtraError, PeercorpusError

PARTIAL = ".partial"
"""Ends the name of a file that is not written to its end; it begins with a dot."""

AT_A_TIME = 1_000
"""Objects of a listing that are held at a time: as many as S3 tells in one answer."""

PATIENCE = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}
"""How long a passing fault of the store is waited for; answers 5xx and broken connections are tried again."""


@dataclass(frozen=True, slots=True, order=True)
class S3Path:
    """An object of an S3-like store, or what the keys of several begin with.

    >>> place = S3Path("papers", "2025") / "one.pdf"
    >>> str(place), place.name, place.stem
    ('s3://papers/2025/one.pdf', 'one.pdf', 'one')
    """

    bucket: str
    key: str = ""

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    def __truediv__(self, name: str) -> "S3Path":
        return S3Path(self.bucket, f"{self.key}/{name}" if self.key else name)

    @property
    def name(self) -> str:
        """The last part of the key."""
        return PurePosixPath(self.key).name

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return PurePosixPath(self.key).stem

    def read_bytes(self) -> bytes:
        """The whole object.

        Raises:
            OSError: It is not there, or the store does not give it.
        """
        with _told(self) as obstore:
            return bytes(obstore.get(_bucket(self.bucket), self.key).bytes())

    def write_bytes(self, content: bytes) -> None:
        """Write the object, whole or not at all, in place of an earlier one.

        Raises:
            OSError: The store does not take it.
        """
        with _told(self) as obstore:
            obstore.put(_bucket(self.bucket), self.key, content)

    def exists(self) -> bool:
        """Whether there is an object of this key.

        Raises:
            OSError: The store does not tell.
        """
        try:
            with _told(self) as obstore:
                obstore.head(_bucket(self.bucket), self.key)
        except FileNotFoundError:
            return False
        return True

    is_file = exists

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove the object; S3 does not tell whether it was there.

        Raises:
            OSError: The store does not do it.
        """
        if not missing_ok and not self.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))
        with _told(self) as obstore:
            obstore.delete(_bucket(self.bucket), self.key)

    def walk(self) -> Iterator["S3Path"]:
        """Every object whose key begins with this one and a slash, in the order of their keys, as they are listed.

        Raises:
            OSError: The bucket is not there, or the store does not tell.
        """
        with _told(self) as obstore:
            for chunk in obstore.list(_bucket(self.bucket), self.key or None, chunk_size=AT_A_TIME):
                yield from (S3Path(self.bucket, found["path"]) for found in chunk)


Place = Path | S3Path
"""Where a file lies, or several."""


def locate(text: str) -> Place:
    """A path, a `file:` URL or an `s3://` URL, read.

    >>> locate("papers/a.pdf"), str(locate("s3://papers/2025/")), locate("file:///tmp/a%20b.pdf")
    (PosixPath('papers/a.pdf'), 's3://papers/2025', PosixPath('/tmp/a b.pdf'))

    Raises:
        PeercorpusError: It is empty, which would be the current folder; it is a URL of another kind, or it holds more
            than a bucket and a key.
    """
    scheme, colon, rest = text.partition(":")
    is_file_url = colon and scheme.lower() == "file"
    if is_file_url or not rest.startswith("//"):
        path = unquote(urlsplit(text).path) if is_file_url else text
        if not path.strip() or "\0" in path:
            raise PeercorpusError(f"{text!r} names no file; for the current folder, say '.'.")
        return Path(path)
    if scheme.lower() != "s3":
        raise PeercorpusError(f"A URL of the kind '{scheme}:' cannot be read; name a path, or s3://BUCKET/PREFIX.")
    bucket, _, key = rest.removeprefix("//").partition("/")
    if not bucket or "@" in bucket or ":" in bucket:
        raise PeercorpusError("Name an object store as s3://BUCKET/PREFIX, and give keys in the environment only.")
    return S3Path(bucket, key.strip("/"))


def find_pdfs(place: Place) -> Iterator[Place]:
    """The file named, or every `*.pdf` below the folder or prefix named, as they are listed; hidden ones are left out.

    Raises:
        PeercorpusError: There is nothing there.
        OSError: A folder or a bucket cannot be read.
    """
    if isinstance(place, S3Path):
        yield from _stored_pdfs(place)
    elif place.is_dir():
        yield from _pdfs_below(place)
    elif place.exists():
        yield place
    else:
        raise PeercorpusError(f"'{place}' does not exist; name a PDF, or a folder that holds some.")


def _stored_pdfs(place: S3Path) -> Iterator[S3Path]:
    if place.key and place.exists():
        yield place
        return
    is_empty, above = True, len(PurePosixPath(place.key).parts)
    for found in place.walk():
        is_empty = False
        parts = PurePosixPath(found.key).parts[above:]
        if found.name.lower().endswith(".pdf") and not any(part.startswith(".") for part in parts):
            yield found
    if is_empty:
        raise PeercorpusError(f"There is nothing at '{place}'; name an object, or what the keys of several begin with.")


def _fail(error: OSError) -> None:
    raise error


def _pdfs_below(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder, onerror=_fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(where, name)
            if name.lower().endswith(".pdf") and not name.startswith(".") and (path.is_file() or path.is_symlink()):
                yield path


def write_whole(place: Place, content: bytes) -> None:
    """Write a file or an object, whole or not at all, in place of an earlier one.

    Raises:
        OSError: It cannot be written.
    """
    if isinstance(place, S3Path):
        place.write_bytes(content)
        return
    partial = place.with_name(f".{place.name}{PARTIAL}")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(place)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@cache
def _bucket(name: str) -> Any:  # noqa: ANN401 -- obstore is an extra
    from obstore.store import S3Store

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    options = {"allow_http": True} if endpoint.startswith("http://") else {}
    return S3Store(name, client_options=options, retry_config=PATIENCE)


@contextmanager
def _told(place: S3Path) -> Iterator[Any]:
    """The package `obstore`, its errors told as those of a file are.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import obstore
        from obstore.exceptions import (
            BaseError,
            InvalidPathError,
            NotFoundError,
            PermissionDeniedError,
            UnauthenticatedError,
        )
    except ImportError:
        raise MissingExtraError("obstore", "s3") from None
    try:
        yield obstore
    except (NotFoundError, FileNotFoundError):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place)) from None
    except (PermissionDeniedError, UnauthenticatedError, PermissionError):
        raise PermissionError(errno.EACCES, "The store refuses what the environment gives", str(place)) from None
    except (InvalidPathError, ValueError):
        raise OSError(
            errno.EINVAL, "There is a key with an empty part, as in a//b, that cannot be read", str(place)
        ) from None
    except BaseError as error:
        if "NoSuchBucket" in str(error):
            raise FileNotFoundError(errno.ENOENT, "There is no such bucket", str(place)) from None
        told = f"The store cannot be reached with what the environment gives, or fails ({type(error).__name__})"
        raise OSError(errno.EIO, told, str(place)) from None
