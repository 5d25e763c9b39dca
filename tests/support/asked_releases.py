"""Publish releases in tests, without splits unless a test asks for them, and read their rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from peercorpus.execution.progress import Show, show_nothing
from peercorpus.release import publish
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.release.by_model.turn_titles import Titler
from peercorpus.release.counts import PublishSummary
from peercorpus.release.folder import open_release
from peercorpus.release.request import ReleaseRequest, SplitRequest
from peercorpus.release.verify.verify import verify_release
from peercorpus.workspace.workspace import Workspace

Row = dict[str, Any]


def request(splits: SplitRequest | None = None, **fields: Any) -> ReleaseRequest:
    """Return the request with these splits and fields."""
    if splits is None:
        return ReleaseRequest(splits="none", **fields)
    return ReleaseRequest(
        splits=splits.profile.value,
        test_after=splits.test_after,
        splits_from=splits.earlier,
        new_splits=splits.is_new,
        **fields,
    )


def publish_release(
    workspace: Workspace,
    out: Path,
    venue_ids: Sequence[str] | None = None,
    *,
    show: Show = show_nothing,
    titler: Titler | None = None,
    annotator: Annotator | None = None,
    standing: Path | None = None,
    is_temporary: bool = False,
    splits: SplitRequest | None = None,
    **fields: Any,
) -> PublishSummary:
    """Publish a release with these splits and fields of a request."""
    return publish.publish_release(
        workspace,
        out,
        request(splits, **fields),
        venue_ids,
        show,
        titler=titler,
        annotator=annotator,
        standing=standing,
        is_temporary=is_temporary,
    )


def rows_of(release: Path, config: str) -> list[Row]:
    """Return the rows of a configuration in order."""
    paths = sorted((release / "data" / config).glob("*.parquet"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def publish_verified(workspace: Workspace, out: Path, **options: Any) -> dict[str, list[Row]]:
    """Publish a release that every check must pass; return the rows of each of its configurations."""
    publish_release(workspace, out, **options)
    checks = verify_release(open_release(out), workspace).checks
    assert [(check.name, check.breaches) for check in checks if check.found] == []
    return {folder.name: rows_of(out, folder.name) for folder in (out / "data").iterdir()}
