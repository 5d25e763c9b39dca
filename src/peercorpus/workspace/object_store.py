"""Paths on disk or in an S3 store, behind one interface.

`locate` turns a path or URL into a `Location`: a `pathlib.Path`, or an `S3Path` with the needed subset of its methods.
Errors of the store become the `OSError` that a file would raise; they never repeat a key or the store's response.
"""

import errno
import hashlib
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from peercorpus.errors import (
    DamagedError,
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

RETRIES = 5
"""Number of times a request is repeated after a 5xx response or a broken connection."""

PATIENCE_S = 60
"""Seconds after which a request is no longer repeated."""

WHOLE_BYTES = 2 << 20
"""Objects up to this size are read in one request, which is as fast as two or three requests for parts."""

_MISREAD = re.compile(r"%[0-9A-Fa-f]{2}|[\\\x00-\x1f\x7f\ud800-\udfff]")
"""Matches parts of a local path that `deltalake` 1.6 misreads or refuses."""

REFUSALS = ("AccessDenied", "403 Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch")
"""Texts in a store's response that mean it refuses the keys or the operation."""


ABOUT_LOG = ("Kernel error", "Partition column", "Not a Delta table")
"""Texts of deltalake 1.6 for a damaged table log, unless one of the texts below occurs too."""

ABOUT_STORAGE = ("Generic S3 error", "Generic LocalFileSystem error", "object store", "ObjectStore", "NoSuchBucket")
"""Texts of deltalake 1.6 for a failure of the disk or the store."""


@dataclass(frozen=True, slots=True, order=True)
class S3Path:
    """An object of an S3-compatible store, or the prefix of several keys.

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
        """Last part of the key."""
        return PurePosixPath(self.key).name

    @property
    def stem(self) -> str:
        """Name without its suffix."""
        return PurePosixPath(self.key).stem

    @property
    def parent(self) -> "S3Path":
        """Path up to the last slash of the key."""
        return S3Path(self.bucket, self.key.rpartition("/")[0])

    def read_bytes(self) -> bytes:
        """Return the content of the object.

        Raises:
            OSError: The object does not exist, or the store does not return it.
        """
        with _translate_obstore_errors(self) as obstore:
            return bytes(obstore.get(_bucket(self.bucket), self.key).bytes())

    def write_bytes(self, content: bytes) -> None:
        """Write the object, completely or not at all, replacing an earlier one.

        Raises:
            OSError: The store does not accept it.
        """
        with _translate_obstore_errors(self) as obstore:
            obstore.put(_bucket(self.bucket), self.key, content)

    def create(self, content: bytes) -> bool:
        """Write the object unless it exists; return whether it was written.

        Raises:
            OSError: The store does not accept it.
        """
        from obstore.exceptions import AlreadyExistsError

        with _translate_obstore_errors(self) as obstore:
            try:
                obstore.put(_bucket(self.bucket), self.key, content, mode="create")
            except AlreadyExistsError:
                return False
        return True

    def upload(self, path: Path) -> None:
        """Write a local file as the object, completely or not at all, in bounded memory.

        Every request carries a checksum, which the store verifies.

        Raises:
            OSError: The store does not accept it.
        """
        with _translate_obstore_errors(self) as obstore:
            obstore.put(_bucket(self.bucket), self.key, path)

    def chunks(self) -> Iterator[bytes]:
        """Yield the content of the object as it arrives.

        Raises:
            OSError: The object does not exist, or the store does not return it.
        """
        with _translate_obstore_errors(self) as obstore:
            for chunk in obstore.get(_bucket(self.bucket), self.key):
                yield bytes(chunk)

    def open(self) -> BinaryIO:
        """Open the object as a binary file; for a large one, each part read is one request.

        Raises:
            OSError: The object does not exist, or the store does not return it.
        """
        with _translate_obstore_errors(self) as obstore:
            response = obstore.get(_bucket(self.bucket), self.key)
            if response.meta["size"] <= WHOLE_BYTES:
                return io.BytesIO(bytes(response.bytes()))
            return _InParts(self, response.meta["size"])  # type: ignore[return-value]

    def read_part(self, start: int, length: int) -> bytes:
        """Return a range of bytes of the object.

        Raises:
            OSError: The object does not exist, or the store does not return it.
        """
        with _translate_obstore_errors(self) as obstore:
            return bytes(obstore.get_range(_bucket(self.bucket), self.key, start=start, length=length))

    def exists(self) -> bool:
        """Return whether there is an object with this key.

        Raises:
            OSError: The store does not respond.
        """
        try:
            with _translate_obstore_errors(self) as obstore:
                obstore.head(_bucket(self.bucket), self.key)
        except FileNotFoundError:
            return False
        return True

    is_file = exists

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete the object; S3 itself does not report whether it existed.

        Raises:
            FileNotFoundError: It does not exist, and `missing_ok` is False.
            OSError: The store does not delete it.
        """
        if not missing_ok and not self.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))
        with _translate_obstore_errors(self) as obstore:
            obstore.delete(_bucket(self.bucket), self.key)

    def walk(self) -> Iterator["S3Path"]:
        """Yield every object below this prefix, ordered by key, as they are listed.

        Raises:
            OSError: The bucket does not exist, or the store does not respond.
        """
        return (path for path, _ in self.sizes())

    def sizes(self) -> Iterator[tuple["S3Path", int]]:
        """Yield the same objects as `walk`, each with its size in bytes.

        Raises:
            OSError: The bucket does not exist, or the store does not respond.
        """
        with _translate_obstore_errors(self) as obstore:
            for chunk in obstore.list(_bucket(self.bucket), self.key or None, chunk_size=AT_A_TIME):
                yield from ((S3Path(self.bucket, entry["path"]), entry["size"]) for entry in chunk)


class _InParts(io.RawIOBase):
    """File object that reads an S3 object in parts."""

    def __init__(self, location: S3Path, size: int) -> None:
        self._place = location
        self._size = size
        self._at = 0

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
        part_bytes = left if size < 0 else min(size, left)
        content = self._place.read_part(self._at, part_bytes) if part_bytes > 0 else b""
        self._at += len(content)
        return content


Location = Path | S3Path
"""Path of a file or folder, on disk or in a store."""


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
    return S3Path(bucket, key.strip("/"))


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
        yield from location.sizes()
        return
    if not location.exists():
        return
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
    """Raise the error; without this handler, `os.walk` skips folders that it cannot read."""
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
    """Return the content of a stored PDF, which must be unchanged.

    Args:
        location: Location of the file.
        sha256: Its SHA-256 when it was stored, in hexadecimal.

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


def _read_endpoint_url() -> str:
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


@cache
def _bucket(name: str) -> Any:  # noqa: ANN401 -- obstore is an extra
    from obstore.store import S3Store

    options = {"allow_http": True} if _read_endpoint_url().startswith("http://") else {}
    retries = {"max_retries": RETRIES, "retry_timeout": timedelta(seconds=PATIENCE_S)}
    return S3Store(name, client_options=options, retry_config=retries)


def delta_options(location: Location) -> dict[str, str] | None:
    """Return the storage options for `deltalake`; None for a local folder.

    They contain no keys, which the package takes from the environment. A commit is written only if none with its number
    exists, so that two writers cannot both make it.
    """
    if isinstance(location, Path):
        return None
    retries = {"max_retries": str(RETRIES), "retry_timeout": f"{PATIENCE_S}s"}
    return {**scan_options(), "aws_conditional_put": "etag", **retries}


def table_url(location: Location) -> str:
    """Return the URL with which `deltalake` opens a table; it would take a path such as `ven:2024` for a URL itself."""
    return str(location) if isinstance(location, S3Path) else location.absolute().as_uri()


def check_local_path(folder: Path) -> None:
    """Check that every package reads the path of a folder literally.

    Some encode it as UTF-8 whatever the locale; deltalake 1.6 reads `%20` as a space and a backslash as a slash, and
    would then read or write a different folder.

    Raises:
        WorkspaceError: It does not.
    """
    path = folder.resolve().as_posix()
    if sys.getfilesystemencoding() != "utf-8" and not path.isascii():
        raise WorkspaceError(
            f"'{folder}' cannot be a workspace here: its path is not plain ASCII, and the locale is not UTF-8; set"
            " PYTHONUTF8=1, or rename the folder."
        )
    misread = _MISREAD.search(path)
    if misread is not None:
        raise WorkspaceError(
            f"'{folder}' cannot be a workspace: Delta Lake misreads {misread.group()!r} in its path; rename the folder."
        )


def scan_options() -> dict[str, str]:
    """Return the storage options for Polars; it takes keys from the environment."""
    endpoint = _read_endpoint_url()
    return {"aws_endpoint_url": endpoint, "aws_allow_http": "true"} if endpoint.startswith("http://") else {}


@contextmanager
def translate_delta_errors(location: Location) -> Iterator[None]:
    """Turn errors of `deltalake` about a table into those a file would raise, without repeating a store's response.

    Raises:
        DamagedError: The table's log is damaged.
        OSError: The disk or the store cannot be reached, or refuses access.
    """
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (DeltaError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if _is_about_log(str(error)):
            raise damaged_table(location, "its log cannot be read") from None
        raise _to_os_error(error, location) from None


def damaged_table(location: Location, fault: str) -> DamagedError:
    """Return the error for a damaged table."""
    return DamagedError(
        f"The table '{location}' is damaged: {fault}; run 'peercorpus check --repair' on the workspace, then"
        " 'peercorpus build', which remakes the table.",
        fault,
    )


def _is_about_log(text: str) -> bool:
    """Return whether an error of `deltalake` means that commits are missing or cannot be parsed."""
    is_storage = any(sign in text for sign in (*ABOUT_STORAGE, *REFUSALS))
    return not is_storage and any(sign in text for sign in ABOUT_LOG)


def _to_os_error(error: Exception, location: Location) -> OSError:
    answer = str(error)
    if isinstance(location, Path):
        number = next((number for number in (errno.ENOSPC, errno.EACCES) if os.strerror(number) in answer), errno.EIO)
        return OSError(number, os.strerror(number), str(location))
    if "NoSuchBucket" in answer:
        return FileNotFoundError(errno.ENOENT, "There is no such bucket", str(location))
    if any(refusal in answer for refusal in REFUSALS):
        return PermissionError(errno.EACCES, "The store refuses the credentials in the environment", str(location))
    sentence = f"The store fails, or cannot be reached with the settings in the environment ({type(error).__name__})"
    return ConnectionError(errno.EIO, sentence, str(location))


@contextmanager
def _translate_obstore_errors(location: S3Path) -> Iterator[Any]:
    """Import `obstore` and turn its errors into those that a file would raise.

    Raises:
        MissingExtraError: The package is not installed.
        OSError: The store fails or refuses access.
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
        raise MissingExtraError("obstore", "cluster") from None
    try:
        yield obstore
    except (NotFoundError, FileNotFoundError):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(location)) from None
    except (PermissionDeniedError, UnauthenticatedError, PermissionError):
        raise PermissionError(
            errno.EACCES, "The store refuses the credentials in the environment", str(location)
        ) from None
    except (InvalidPathError, ValueError):
        raise OSError(
            errno.EINVAL, "There is a key with an empty part, as in a//b, that cannot be read", str(location)
        ) from None
    except BaseError as error:
        raise _to_os_error(error, location) from None


def file_digest(location: Location) -> str:
    """Return the SHA-256 of a file or object in hexadecimal."""
    if isinstance(location, Path):
        with location.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    total = hashlib.sha256()
    for chunk in location.chunks():
        total.update(chunk)
    return total.hexdigest()
