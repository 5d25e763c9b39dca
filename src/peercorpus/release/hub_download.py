"""Find a release: in a folder, or in a dataset of the Hugging Face Hub, downloaded once and checked by its manifest."""

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from peercorpus.errors import PeercorpusError
from peercorpus.release.folder import MANIFEST, open_release
from peercorpus.release.provenance import INPUTS
from peercorpus.release.shards import TASK_CONFIGS
from peercorpus.workspace.hub_datasets import SCHEME, fetch_dataset, parse_repository
from peercorpus.workspace.object_store import file_digest

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
