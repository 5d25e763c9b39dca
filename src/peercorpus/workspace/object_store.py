"""Paths on disk or in an S3 store, behind one interface; and `place.json`, which says where a workspace's tables are.

`locate` turns a path or URL into a `Location`: a `pathlib.Path`, or an `S3Path` with the needed subset of its methods,
each of which is one call of obstore. Errors of the store become the `OSError` that a file would raise; they never
repeat a key or the store's response.
"""

import errno
import hashlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import msgspec

from peercorpus.errors import (
    MissingExtraError,
    PdfFault,
    PeercorpusError,
    StoreError,
    StoreUnavailableError,
    UnreadablePdfError,
    WorkspaceError,
)
from peercorpus.workspace.private_files import name_partial

AT_A_TIME = 1_000
"""Objects of a listing in memory at a time: as many as S3 returns in one response."""

RETRIES, PATIENCE_S = 5, 60
"""How often a request is repeated after a 5xx response or a broken connection, and seconds after which no longer."""

WHOLE_BYTES = 2 << 20
"""Objects up to this size are read in one request, which is as fast as two or three requests for parts."""

PART_BYTES = 8 << 20
"""Bytes in memory at a time where a whole file or object passes through; each part of a large object is one request."""

REFUSALS = ("AccessDenied", "403 Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch")
"""Texts in a store's response that mean it refuses the keys or the operation."""

FILE, HERE = "place.json", "."
MARK = "peercorpus-workspace"
"""Name of the object that identifies the workspace of the files and tables beside it."""


class S3Path(PurePosixPath):
    """An object of an S3-compatible store, or the prefix of several keys.

    >>> place = S3Path("papers", "2025") / "one.pdf"
    >>> str(place), place.bucket, place.key
    ('s3://papers/2025/one.pdf', 'papers', '2025/one.pdf')
    """

    def __str__(self) -> str:
        return f"s3://{'/'.join(self.parts)}"

    @property
    def bucket(self) -> str:
        """The bucket."""
        return self.parts[0]

    @property
    def key(self) -> str:
        """The key, or its beginning; empty for the bucket itself."""
        return "/".join(self.parts[1:])

    def read_bytes(self) -> bytes:
        """Return the content of the object.

        Raises:
            OSError: The object does not exist, or the store does not return it; so for the methods below.
        """
        with _reach(self) as store:
            return bytes(store.get(self.key).bytes())

    def write_bytes(self, content: bytes | Path, *, replaces: bool = True) -> bool:
        """Write content, or that of a local file in bounded memory, as the object, completely or not at all.

        Every request carries a checksum, which the store verifies. Return False if the object is there already and must
        not be replaced.
        """
        with _reach(self) as store:
            from obstore.exceptions import AlreadyExistsError

            with suppress(AlreadyExistsError):
                store.put(self.key, content, mode="overwrite" if replaces else "create")
                return True
        return False

    def open(self, _mode: str = "rb") -> BinaryIO:
        """Open the object as a binary file to read; for a large one, each part read is one request."""
        with _reach(self) as store:
            response = store.get(self.key)
            if response.meta["size"] <= WHOLE_BYTES:
                return io.BytesIO(bytes(response.bytes()))
        return cast(BinaryIO, _InParts(self, response.meta["size"]))

    def exists(self) -> bool:
        """Return whether there is an object with this key."""
        with suppress(FileNotFoundError), _reach(self) as store:
            store.head(self.key)
            return True
        return False

    is_file = exists

    def unlink(self, missing_ok: bool = True) -> None:  # noqa: ARG002 -- S3 does not say whether an object existed
        """Delete the object, if it is there."""
        with _reach(self) as store:
            store.delete(self.key)

    def walk(self) -> Iterator[tuple["S3Path", int]]:
        """Yield every object below this prefix with its size in bytes, ordered by key, as they are listed."""
        with _reach(self) as store:
            for chunk in store.list(self.key or None, chunk_size=AT_A_TIME):
                yield from ((S3Path(self.bucket, entry["path"]), entry["size"]) for entry in chunk)


class _InParts(io.RawIOBase):
    """File object that reads an S3 object in parts; obstore's own has no context and raises its own errors."""

    def __init__(self, location: S3Path, size_bytes: int) -> None:
        self._place = location
        self._size_bytes = size_bytes
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size_bytes}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = self._size_bytes - self._at
        length = left if size < 0 else min(size, left)
        if length <= 0:
            return b""
        with _reach(self._place) as store:
            content = bytes(store.get_range(self._place.key, start=self._at, length=length))
        self._at += len(content)
        return content


Location = Path | S3Path
"""Path of a file or folder, on disk or in a store."""


@contextmanager
def _reach(path: S3Path) -> Iterator[Any]:
    """Yield obstore's view of a bucket, and turn its errors into those that a file would raise."""
    try:
        from obstore import exceptions
    except ImportError:
        raise MissingExtraError("obstore", "cluster") from None
    try:
        yield _bucket(path.bucket)
    except (exceptions.BaseError, OSError, ValueError) as error:
        raise to_os_error(error, path) from None


@cache
def _bucket(name: str) -> Any:  # noqa: ANN401 -- obstore is an extra
    from obstore.store import S3Store

    options = {"allow_http": True} if scan_options() else {}
    retries = {"max_retries": RETRIES, "retry_timeout": timedelta(seconds=PATIENCE_S)}
    return S3Store(name, client_options=options, retry_config=retries)


def scan_options() -> dict[str, str]:
    """Return the storage options for Polars; it takes keys from the environment."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    return {"aws_endpoint_url": endpoint, "aws_allow_http": "true"} if endpoint.startswith("http://") else {}


def to_os_error(error: Exception, location: Location) -> OSError:
    """Return the error that a file would raise for one of a store, or of deltalake."""
    answer, kind = str(error), type(error).__name__
    number, sentence = errno.EIO, None
    if isinstance(location, Path):
        number = next((number for number in (errno.ENOSPC, errno.EACCES) if os.strerror(number) in answer), errno.EIO)
    elif "NoSuchBucket" in answer:
        number, sentence = errno.ENOENT, "There is no such bucket"
    elif kind in {"NotFoundError", "FileNotFoundError"}:
        number = errno.ENOENT
    elif kind in {"PermissionDeniedError", "UnauthenticatedError"} or any(refusal in answer for refusal in REFUSALS):
        number, sentence = errno.EACCES, "The store refuses the credentials in the environment"
    elif kind in {"InvalidPathError", "ValueError"}:
        number, sentence = errno.EINVAL, "There is a key with an empty part, as in a//b, that cannot be read"
    else:
        sentence = f"The store fails, or cannot be reached with the settings in the environment ({kind})"
        return ConnectionError(number, sentence, str(location))
    return OSError(number, sentence or os.strerror(number), str(location))


def local_path(text: str) -> Path:
    """Return the path, absolute if pyarrow would take a relative one for a URL (`ven:2024`) or a home folder (`~`).

    >>> local_path("./ven:2024").is_absolute(), local_path("2024/ven:2024").is_absolute()
    (True, False)
    """
    path = Path(text)
    first = path.parts[0] if path.parts else ""
    return path.absolute() if ":" in first or first.startswith("~") else path


def locate(text: str) -> Location:
    """Parse a path, a `file:` URL or an `s3://` URL.

    >>> locate("papers/a.pdf"), str(locate("s3://papers/2025/")), locate("file:///tmp/a%20b.pdf")
    (PosixPath('papers/a.pdf'), 's3://papers/2025', PosixPath('/tmp/a b.pdf'))

    Raises:
        PeercorpusError: The text is empty, which would mean the current folder; or it is a URL of another kind, or
            contains more than a bucket and a key.
    """
    scheme, colon, after_colon = text.partition(":")
    is_file_url = colon and scheme.lower() == "file"
    if is_file_url or not after_colon.startswith("//"):
        path = unquote(urlsplit(text).path) if is_file_url else text
        if not path.strip() or "\0" in path:
            raise PeercorpusError(f"{text!r} is not a path; name a file or folder, or '.' for the current folder.")
        return local_path(path)
    if scheme.lower() != "s3":
        raise PeercorpusError(
            f"URLs that begin with '{scheme}:' are not supported; name a path, or s3://BUCKET/PREFIX."
        )
    bucket, _, key = after_colon.removeprefix("//").partition("/")
    if not bucket or "@" in bucket or ":" in bucket:
        raise PeercorpusError("Name an object store as s3://BUCKET/PREFIX, and give keys in the environment only.")
    key = key.strip("/")
    if key and not {"", "."}.isdisjoint(key.split("/")):
        raise PeercorpusError(f"The key of '{text}' has an empty part or '.', so it cannot be read; name another one.")
    return S3Path(bucket, key)


def write_whole(location: Location, content: bytes) -> None:
    """Write a file or an object, completely or not at all, replacing an earlier one; links are replaced, not followed.

    Raises:
        OSError: It cannot be written.
    """
    if isinstance(location, S3Path):
        location.write_bytes(content)
        return
    partial = name_partial(location)
    try:
        with partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(location)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def list_below(location: Location) -> Iterator[tuple[Location, int]]:
    """Yield every file or object below a folder or prefix with its size in bytes; nothing if there is no such folder.

    Files removed or renamed meanwhile are left out.

    Raises:
        OSError: A folder or a bucket cannot be read.
    """
    if isinstance(location, S3Path):
        yield from location.walk()
    elif location.exists():
        yield from _walk_folder(location)


def _walk_folder(location: Path) -> Iterator[tuple[Path, int]]:
    for folder, _, files in os.walk(location, onerror=raise_error, followlinks=True):
        for name in files:
            path = Path(folder, name)
            try:
                size_bytes = path.stat().st_size
            except FileNotFoundError:
                if path.is_symlink():
                    raise
                continue
            yield path, size_bytes


def raise_error(error: OSError) -> None:
    """Raise the error, as `os.walk` would otherwise skip folders that it cannot read."""
    raise error


def read_file(location: Location) -> bytes:
    """Return the content of a file or object, for callers that can do without this one but not without the store.

    Raises:
        OSError: The object does not exist, or a local file cannot be read.
        StoreError: The store fails or refuses access, so every other object would fail too.
    """
    try:
        return location.read_bytes()
    except OSError as error:
        if isinstance(location, Path) or isinstance(error, FileNotFoundError):
            raise
        kind = StoreUnavailableError if isinstance(error, ConnectionError) else StoreError
        raise kind(f"'{location}' cannot be read: {error.strerror}.") from None


def read_pdf(location: Location, sha256: str) -> bytes:
    """Return the content of a stored PDF, which must still have this SHA-256, in hexadecimal.

    Raises:
        UnreadablePdfError: It is missing, cannot be opened, or has changed.
        StoreError: The store fails or refuses access.
    """
    try:
        pdf = read_file(location)
    except OSError as error:
        raise UnreadablePdfError(f"The file cannot be opened: {error.strerror}.", PdfFault.NOT_HERE) from None
    if hashlib.sha256(pdf).hexdigest() != sha256:
        raise UnreadablePdfError("The file was cut or changed after it was stored.", PdfFault.ALTERED)
    return pdf


def file_digest(location: Location) -> str:
    """Return the SHA-256 of a file or object in hexadecimal."""
    digest = hashlib.sha256()
    with location.open("rb") as content:
        while part := content.read(PART_BYTES):
            digest.update(part)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Placement:
    """Location of a workspace's files and tables: `s3://BUCKET/PREFIX`, or "." for the workspace's own folder.

    Attributes:
        at: The location in use.
        other: Location of copies not in use, from an unfinished move; None if there are none.
        mark: Identifies this workspace.
    """

    at: str
    other: str | None
    mark: str

    def root(self, folder: Path) -> Location:
        """Return the location in use."""
        return parse_location(folder, self.at)


def parse_location(folder: Path, text: str) -> Location:
    """Return the location named by `at` or `other` of a placement."""
    return folder if text == HERE else locate(text)


def read_placement(folder: Path) -> Placement:
    """Read the location of a workspace's files and tables.

    Raises:
        WorkspaceError: `place.json` is damaged.
    """
    with suppress(msgspec.DecodeError, UnicodeDecodeError, PeercorpusError):
        try:
            placement = msgspec.json.decode((folder / FILE).read_bytes(), type=Placement)
        except FileNotFoundError:
            return Placement(HERE, None, uuid4().hex)
        places = [parse_location(folder, placement.at), parse_location(folder, placement.other or HERE)]
        if all(place is folder or isinstance(place, S3Path) for place in places):
            return placement
    raise WorkspaceError(
        f"'{folder / FILE}', which records where the workspace's files and tables are, is damaged; restore a copy."
    )


def write_placement(folder: Path, placement: Placement) -> None:
    """Write the placement, completely or not at all; a workspace entirely in its folder has no such file."""
    if replace(placement, mark="") == Placement(HERE, None, ""):
        (folder / FILE).unlink(missing_ok=True)
    else:
        write_whole(folder / FILE, msgspec.json.encode(placement) + b"\n")
    if sys.platform != "win32":  # Windows cannot open folders.
        opened = os.open(folder, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)


def is_ours(root: Location, mark: str) -> bool:
    """Return whether a location has the files and tables of the workspace with this mark."""
    with suppress(FileNotFoundError):
        return isinstance(root, Path) or (root / MARK).read_bytes() == mark.encode()
    return False


def require_ours(root: Location, mark: str) -> None:
    """Check that a location has the files and tables of the workspace with this mark.

    Raises:
        StoreError: It does not.
        OSError: The store does not answer.
    """
    if not is_ours(root, mark):
        raise StoreError(
            f"'{root}' does not contain the files and tables of this workspace; check that AWS_ENDPOINT_URL names the"
            " store they were moved to, and that they were not deleted."
        )
