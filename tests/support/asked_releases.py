"""Publish releases in tests: without splits, unless a test asks for them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peercorpus.execution.progress import Show, show_nothing
from peercorpus.release import publish
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.release.by_model.turn_titles import Titler
from peercorpus.release.counts import PublishSummary
from peercorpus.release.request import ReleaseRequest, SplitRequest
from peercorpus.workspace.workspace import Workspace


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
