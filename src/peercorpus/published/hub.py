"""Published datasets by their id on the Hugging Face Hub (`hf:owner/name`), fetched into its own cache."""

import re
from pathlib import Path

import httpx2

from peercorpus.errors import DumpError, MissingExtraError, SourceError

SCHEME = "hf:"
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
WANTED = ("*.parquet", "REVIEWS_*.json", "REBUTTAL_*.json", "papers.zip", "*/Initial_manuscript.md")
"""Files that hold published records; `*` also stands for folders."""


def repository_of(path: Path) -> str | None:
    """The dataset that `hf:owner/name` names; None for any other path.

    Raises:
        DumpError: It names none.
    """
    text = path.as_posix()
    if not text.startswith(SCHEME) or path.exists():
        return None
    repository = text.removeprefix(SCHEME)
    if not REPOSITORY.fullmatch(repository):
        raise DumpError(f"'{text}' names no dataset; write it as hf:owner/name, such as hf:Samarth0710/reviewbench.")
    return repository


def fetch_dataset(repository: str) -> Path:
    """The folder that holds a dataset's files, which are links into the cache; what is there already is not fetched.

    Raises:
        MissingExtraError: The package that fetches is not installed.
        SourceError: The Hub has no such dataset, does not give it, or cannot be reached.
    """
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingExtraError("huggingface_hub", "hf") from None
    try:
        return Path(snapshot_download(repository, repo_type="dataset", allow_patterns=list(WANTED)))
    except (HfHubHTTPError, HFValidationError):
        sentence = "the Hub has no such dataset, or does not give it; check the id"
    except (LocalEntryNotFoundError, httpx2.HTTPError):
        sentence = "the Hub cannot be reached; try again, or name files on this machine"
    except OSError as error:
        sentence = f"{error.strerror or 'reading or writing failed'}; what was fetched is kept, try again"
    raise SourceError(f"The dataset '{repository}' was not fetched: {sentence}.")
