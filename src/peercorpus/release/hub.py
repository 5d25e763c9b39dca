"""Upload a release to the Hugging Face Hub in one commit, and download one.

An upload is planned first, without changing anything.
"""

import hashlib
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from logging import CRITICAL
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from peercorpus.errors import MissingExtraError, PeercorpusError, SourceError, UnreachableError
from peercorpus.release.eval_file import EVAL_FILE
from peercorpus.release.folder import MANIFEST, Release, open_release
from peercorpus.release.provenance import INPUTS
from peercorpus.release.shards import TASK_CONFIGS
from peercorpus.workspace.hub_datasets import SCHEME, fetch_dataset, parse_repository
from peercorpus.workspace.object_store import file_digest

if TYPE_CHECKING:
    from huggingface_hub import HfApi


DATASET = re.compile(r"\w[\w.-]*/\w[\w.-]*")
OURS = ("data/", "splits/", EVAL_FILE)
"""Paths reserved for releases; old files left there would be read together with the new ones."""
KIND = "dataset"
TOKEN_MISSING = "To upload, set HF_TOKEN to a token with write access, or run 'hf auth login'."

REFUSALS = {
    401: "the Hub rejects the token (401); set HF_TOKEN to one with write access, or run 'hf auth login'",
    403: "the token has no write access there (403); use one that has, or another owner",
    404: "the Hub has no such owner or dataset (404); check the id",
}
TOO_MANY, OUT_OF_ORDER = 429, 500


@dataclass(frozen=True, slots=True)
class HubUpload:
    """The plan of an upload.

    Attributes:
        endpoint: The address of the Hub.
        is_there: Whether the dataset exists, as far as the token may see.
        is_private: Whether it is private; None if it does not exist.
        files: Paths and sizes in bytes of the files to upload.
        stale: Files of an earlier release there, which the upload removes.
    """

    hub_id: str
    endpoint: str
    is_there: bool
    is_private: bool | None
    files: dict[str, int]
    stale: tuple[str, ...]


def check_hub_id(hub_id: str) -> None:
    """Check that an id has the form of a dataset id, owner/name.

    Raises:
        PeercorpusError: It does not.
    """
    if not DATASET.fullmatch(hub_id):
        raise PeercorpusError(f"Invalid dataset id {hub_id!r}: expected owner/name, such as ada/reviews.")


@contextmanager
def _hub(hub_id: str, *, bars: bool = False) -> "Iterator[HfApi]":
    """Yield a client of the Hub that prints no messages of its own; with `bars` it draws upload progress.

    Raises:
        MissingExtraError: The package `huggingface_hub` is not installed.
        SourceError: The Hub refuses, fails or cannot be reached.
    """
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
        from huggingface_hub.utils import logging
        from huggingface_hub.utils.tqdm import disable_progress_bars, enable_progress_bars
    except ImportError:
        raise MissingExtraError("huggingface_hub", "hf") from None
    sentence = None
    kind: type[SourceError] = SourceError
    verbosity = logging.get_verbosity()
    logging.set_verbosity(CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (enable_progress_bars if bars else disable_progress_bars)()
            yield HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
    except HFValidationError:
        sentence = "the Hub does not allow this name; use letters, digits, '-', '_' and '.'"
    except (HfHubHTTPError, httpx2.HTTPError, ConnectionError, RuntimeError, ValueError) as error:
        status = _find_status(error)
        kind = UnreachableError if status is None or _is_out_of_order(status) else SourceError
        sentence = "the Hub cannot be reached; try again" if status is None else _explain_refusal(status)
    finally:
        logging.set_verbosity(verbosity)
    if sentence is not None:
        raise kind(f"The release was not uploaded to '{hub_id}': {sentence}.")


def _find_status(error: BaseException | None) -> int | None:
    """Return the HTTP status behind an error; 0 for a malformed response, None without a response."""
    is_answer = False
    while error is not None:
        response = getattr(error, "response", None)
        if response is not None:
            return int(response.status_code)
        is_answer = is_answer or isinstance(error, ValueError)
        error = error.__cause__
    return 0 if is_answer else None


def _is_out_of_order(status: int) -> bool:
    return status == TOO_MANY or status >= OUT_OF_ORDER


def _explain_refusal(status: int) -> str:
    if _is_out_of_order(status):
        return f"the Hub is down or busy ({status}); it keeps what it has received, try again later"
    return REFUSALS.get(status, f"the Hub rejects it ({status or 'malformed response'})")


def plan_upload(release: Release, hub_id: str) -> HubUpload:
    """Plan an upload, without changing anything.

    Raises:
        PeercorpusError: The id is invalid, or the Hub refuses, fails or cannot be reached.
    """
    check_hub_id(hub_id)
    names = sorted([*release.manifest.files, MANIFEST])
    files = {name: (release.folder / name).stat().st_size for name in names}
    with _hub(hub_id) as hub:
        private = _find(hub, hub_id)
        there = hub.list_repo_files(hub_id, repo_type=KIND) if private is not None else []
        stale = tuple(sorted(name for name in there if name.startswith(OURS) and name not in files))
        return HubUpload(
            hub_id=hub_id,
            endpoint=str(hub.endpoint),
            is_there=private is not None,
            is_private=private,
            files=files,
            stale=stale,
        )


def _find(hub: "HfApi", hub_id: str) -> bool | None:
    """Return whether a dataset is private; None if the token sees no such dataset."""
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        return bool(hub.repo_info(hub_id, repo_type=KIND).private)
    except RepositoryNotFoundError:
        return None


def upload(release: Release, plan: HubUpload, *, private: bool = False, bars: bool = False) -> str:
    """Upload a release in one commit and return the commit's URL; files already on the Hub are not sent again.

    Args:
        release: A verified release.
        plan: The result of `plan_upload` for this release.
        private: Create the dataset as private.
        bars: Draw progress on standard error, for a terminal.

    Raises:
        PeercorpusError: There is no token, the dataset is public although `private` is set, or the Hub refuses, fails
            or cannot be reached.
    """
    if private and plan.is_private is False:
        raise PeercorpusError(f"The dataset '{plan.hub_id}' exists and is public; name another one, or omit --private.")
    with _hub(plan.hub_id, bars=bars) as hub:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete, get_token

        if get_token() is None:
            raise PeercorpusError(TOKEN_MISSING)
        if not plan.is_there:
            hub.create_repo(plan.hub_id, repo_type=KIND, private=private, exist_ok=False)
        added = [CommitOperationAdd(name, release.folder / name) for name in plan.files]
        removed = [CommitOperationDelete(name) for name in plan.stale]
        message = f"Release of peercorpus {release.version}"
        commit = hub.create_commit(plan.hub_id, [*added, *removed], repo_type=KIND, commit_message=message)
        entries = hub.list_repo_tree(plan.hub_id, repo_type=KIND, recursive=True, revision=commit.oid)
        arrived = {entry.path: entry for entry in entries}
        missing = [name for name in plan.files if not _is_equal(release.folder / name, arrived.get(name))]
    if missing:
        raise SourceError(
            f"{len(missing):,} of {len(plan.files):,} files are missing or differ in '{plan.hub_id}', such as"
            f" '{missing[0]}'; check whether a .gitignore there excludes it, and push again."
        )
    return str(commit.commit_url)


def _is_equal(path: Path, entry: Any) -> bool:  # noqa: ANN401 -- an entry of a listing of the Hub
    if entry is None or getattr(entry, "size", None) != path.stat().st_size:
        return False
    if entry.lfs is not None:
        with path.open("rb") as file:
            return bool(entry.lfs.sha256 == hashlib.file_digest(file, "sha256").hexdigest())
    content = path.read_bytes()
    return bool(entry.blob_id == hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest())


ASKED_FROM = ("papers", *sorted(TASK_CONFIGS))
"""The configurations that the benchmark reads."""
DATED_BY = ("papers_full", "reviews")
"""The configurations with which it dates papers for a cutoff."""


@cache
def find_release(named: str, *, figures: bool = False, dates: bool = False) -> Path:
    """Return the folder of a release for the benchmark.

    Args:
        named: A folder, or `hf:owner/name@revision`; the revision is required, so that a name always means the same.
        figures: Whether images of figures are needed, too.
        dates: Whether the dates of papers are needed, too.

    Raises:
        PeercorpusError: The name has no revision, or a downloaded file differs from the manifest.
        MissingExtraError: The package `huggingface_hub` is not installed.
        SourceError: The Hub has no such dataset or revision, or cannot be reached.
    """
    dataset = parse_repository(Path(named))
    if dataset is None:
        return Path(named)
    if dataset.revision is None:
        raise PeercorpusError(
            f"'{named}' may change at any time; name one of its revisions, such as"
            f" {SCHEME}{dataset.name}@COMMIT, with a commit from its history on the Hub."
        )
    configs = [*ASKED_FROM, *(["figures"] if figures else []), *(DATED_BY if dates else ())]
    wanted = (MANIFEST, INPUTS, "splits/*.json", *(f"data/{config}/*.parquet" for config in configs))
    folder = fetch_dataset(dataset, wanted)
    for name, sha256 in open_release(folder, is_whole=False).manifest.files.items():
        if any(fnmatchcase(name, pattern) for pattern in wanted):
            path = folder / name
            if not path.is_file() or file_digest(path) != sha256:
                raise PeercorpusError(
                    f"'{name}' of '{named}' differs from its {MANIFEST}; delete '{path.resolve()}' and try again,"
                    " or name another revision."
                )
    return folder
