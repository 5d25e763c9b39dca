"""Download datasets of the Hugging Face Hub, named `hf:owner/name` or `hf:owner/name@revision`, into its own cache."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from peercorpus.errors import DumpError, MissingExtraError, SourceError, UnreachableError

SCHEME = "hf:"
REPOSITORY = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w.-]+(?:/[\w.-]+)*))?")


class HubDataset(NamedTuple):
    """A dataset of the Hugging Face Hub; the revision is a commit, branch or tag, or None for the newest commit."""

    name: str
    revision: str | None = None


def parse_repository(path: Path) -> HubDataset | None:
    """Return the dataset named by `hf:owner/name` or `hf:owner/name@revision`; None for any other path.

    Raises:
        DumpError: The name is not valid for a dataset.
    """
    text = path.as_posix()
    if not text.startswith(SCHEME) or path.exists():
        return None
    match = REPOSITORY.fullmatch(text.removeprefix(SCHEME))
    if match is None:
        raise DumpError(
            f"Invalid dataset '{text}': expected hf:owner/name or hf:owner/name@revision, such as"
            " hf:Samarth0710/reviewbench."
        )
    return HubDataset(match["name"], match["revision"])


def fetch_dataset(dataset: HubDataset, wanted: Sequence[str]) -> Path:
    """Download a dataset and return its folder of links into the cache; cached files are not downloaded again.

    The folder is named after the commit. An interrupted download is continued.

    In the patterns of the files to download, `*` also matches folders.

    Raises:
        MissingExtraError: The package `huggingface_hub` is not installed.
        SourceError: The Hub has no such dataset, refuses access to it, or cannot be reached.
    """
    import httpx2  # Imported late, because the help text names the scheme and must load nothing heavy.

    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingExtraError("huggingface_hub", "hf") from None
    try:
        return Path(
            snapshot_download(dataset.name, repo_type="dataset", revision=dataset.revision, allow_patterns=list(wanted))
        )
    except (HfHubHTTPError, HFValidationError):
        sentence = "the Hub has no such dataset or revision, or refuses access to it; check the id"
    except (LocalEntryNotFoundError, httpx2.HTTPError):
        raise UnreachableError(
            f"The dataset '{dataset.name}' was not fetched: the Hub cannot be reached; try again, or name files on"
            " this machine."
        ) from None
    except OSError as error:
        sentence = f"{error.strerror or 'reading or writing failed'}; fetched files are kept, try again"
    raise SourceError(f"The dataset '{dataset.name}' was not fetched: {sentence}.")
