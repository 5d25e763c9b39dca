"""Files on this machine or in an S3-like store: an object of a store has the methods of `Path` that are used here.

Who may read and write, where the store is and its region come from the environment alone (AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL). What a store answers is never repeated in an
error: it may hold a key.
"""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from peercorpus.errors import MissingExtraError, PeercorpusError, StoreError

PARTIAL = ".partial"
"""Ends the name of a file that is not written to its end; it begins with a dot."""

AT_A_TIME = 1_000
"""Objects of a listing that are held at a time: as many as S3 tells in one answer."""

RETRIES, PATIENCE_S = 5, 60
"""How often and how long a passing fault is waited for: answers 5xx and broken connections are tried again."""

WHOLE_BYTES = 2 << 20
"""An object of this size or less is read in one request: that takes no longer than two or three for parts of it."""

REFUSALS = ("AccessDenied", "403 Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch")
"""What in a store's answer says that it refuses the keys, or what they may do."""


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

    @property
    def parent(self) -> "S3Path":
        """What the key has before its last slash."""
        return S3Path(self.bucket, self.key.rpartition("/")[0])

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

    def create(self, content: bytes) -> bool:
        """Write the object unless there is one; whether there was none.

        Raises:
            OSError: The store does not take it.
        """
        from obstore.exceptions import AlreadyExistsError

        with _told(self) as obstore:
            try:
                obstore.put(_bucket(self.bucket), self.key, content, mode="create")
            except AlreadyExistsError:
                return False
        return True

    def upload(self, path: Path) -> None:
        """Write a file of this machine as the object, whole or not at all, in bounded memory.

        Every request carries a sum of what it sends, without which the store takes nothing.

        Raises:
            OSError: The store does not take it.
        """
        with _told(self) as obstore:
            obstore.put(_bucket(self.bucket), self.key, path)

    def chunks(self) -> Iterator[bytes]:
        """The object as it comes.

        Raises:
            OSError: It is not there, or the store does not give it.
        """
        with _told(self) as obstore:
            for chunk in obstore.get(_bucket(self.bucket), self.key):
                yield bytes(chunk)

    def open(self) -> BinaryIO:
        """The object as an open file; one that is large is read in the parts that are asked for, a request each.

        Raises:
            OSError: It is not there, or the store does not give it.
        """
        with _told(self) as obstore:
            found = obstore.get(_bucket(self.bucket), self.key)
            if found.meta["size"] <= WHOLE_BYTES:
                return io.BytesIO(bytes(found.bytes()))
            return _InParts(self, found.meta["size"])  # type: ignore[return-value]

    def read_part(self, start: int, length: int) -> bytes:
        """Some bytes of the object.

        Raises:
            OSError: It is not there, or the store does not give it.
        """
        with _told(self) as obstore:
            return bytes(obstore.get_range(_bucket(self.bucket), self.key, start=start, length=length))

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
        return (found for found, _ in self.sizes())

    def sizes(self) -> Iterator[tuple["S3Path", int]]:
        """The same objects, each with its size in bytes.

        Raises:
            OSError: The bucket is not there, or the store does not tell.
        """
        with _told(self) as obstore:
            for chunk in obstore.list(_bucket(self.bucket), self.key or None, chunk_size=AT_A_TIME):
                yield from ((S3Path(self.bucket, found["path"]), found["size"]) for found in chunk)


class _InParts(io.RawIOBase):
    """An object that is read in parts."""

    def __init__(self, place: S3Path, size: int) -> None:
        self._place, self._size, self._at = place, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = self._size - self._at
        wanted = left if size < 0 else min(size, left)
        content = self._place.read_part(self._at, wanted) if wanted > 0 else b""
        self._at += len(content)
        return content


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


def list_below(place: Place) -> Iterator[tuple[Place, int]]:
    """Every file or object below a folder or prefix, with its size in bytes; none where there is no such folder.

    Raises:
        OSError: A folder or a bucket cannot be read.
    """
    if isinstance(place, S3Path):
        yield from place.sizes()
        return
    if not place.exists():
        return
    for where, _, files in os.walk(place, onerror=fail, followlinks=True):
        for name in files:
            yield Path(where, name), Path(where, name).stat().st_size


def fail(error: OSError) -> None:
    """What `os.walk` is to do with a folder that cannot be read: without it, the folder is left out."""
    raise error


def read_file(place: Place) -> bytes:
    """The whole file or object, for whoever can go on without that one but not without the store.

    Raises:
        OSError: This one is not there; or lies on this machine, and cannot be read.
        StoreError: The store is out of order, or refuses: it would be the same for every other.
    """
    try:
        return place.read_bytes()
    except OSError as error:
        if isinstance(place, Path) or isinstance(error, FileNotFoundError):
            raise
        raise StoreError(f"'{place}' cannot be read: {error.strerror}.") from None


def _endpoint() -> str:
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


@cache
def _bucket(name: str) -> Any:  # noqa: ANN401 -- obstore is an extra
    from obstore.store import S3Store

    options = {"allow_http": True} if _endpoint().startswith("http://") else {}
    retries = {"max_retries": RETRIES, "retry_timeout": timedelta(seconds=PATIENCE_S)}
    return S3Store(name, client_options=options, retry_config=retries)


def delta_options(place: Place) -> dict[str, str] | None:
    """What `deltalake` must be told of a store, keys aside, which it takes from the environment itself.

    A commit is written only where there is none of its number, so that two writers cannot both make it.
    """
    if isinstance(place, Path):
        return None
    retries = {"max_retries": str(RETRIES), "retry_timeout": f"{PATIENCE_S}s"}
    return {**scan_options(), "aws_conditional_put": "etag", **retries}


def scan_options() -> dict[str, str]:
    """What Polars must be told of a store, keys aside, which it takes from the environment itself."""
    endpoint = _endpoint()
    return {"aws_endpoint_url": endpoint, "aws_allow_http": "true"} if endpoint.startswith("http://") else {}


@contextmanager
def told(place: Place) -> Iterator[None]:
    """What `deltalake` fails with at a place of a store, told without repeating what the store answered.

    Raises:
        OSError: The store cannot be reached, or refuses.
    """
    if isinstance(place, Path):
        yield
        return
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (DeltaError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _told_as(error, place) from None


def _told_as(error: Exception, place: S3Path) -> OSError:
    answer = str(error)
    if "NoSuchBucket" in answer:
        return FileNotFoundError(errno.ENOENT, "There is no such bucket", str(place))
    if any(refusal in answer for refusal in REFUSALS):
        return PermissionError(errno.EACCES, "The store refuses what the environment gives", str(place))
    said = f"The store cannot be reached with what the environment gives, or fails ({type(error).__name__})"
    return OSError(errno.EIO, said, str(place))


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
        raise _told_as(error, place) from None
