"""Check that the release of a site contains nothing that a workspace has taken down since."""

from pathlib import Path

from peercorpus.corpus.takedown import LIST, Takedown, is_author_id, read_takedown
from peercorpus.errors import PeercorpusError
from peercorpus.release.folder import Release
from peercorpus.release.verify.leaks import texts_in
from peercorpus.workspace.workspace import Workspace

_COLUMNS = {
    "papers_full": ("forum_id",),
    "posts": ("post_id",),
    "reviews": ("review_id",),
    "ai_reviews": ("ai_review_id", "replies"),
    "versions": ("forum_id", "sha256"),
    "texts": ("forum_id", "sha256"),
    "changes": ("forum_id", "left_sha256", "right_sha256"),
    "links": ("forum_id", "earlier_id"),
    "conversations": ("forum_id",),
    "points": ("forum_id", "review_id", "reaction_post_id"),
    "answers": ("forum_id", "post_id"),
}
"""The columns of what a site shows that name a record, or a file of a paper."""


def check_taken_down(release: Release, workspace: Workspace, out: Path) -> None:
    """Check that a release contains nothing that a workspace has taken down since.

    A file of a paper that is taken down counts wherever it is, and a listed id also if the workspace no longer has its
    record.

    Args:
        release: The release.
        workspace: The workspace.
        out: The folder of the site, which the error says is unchanged if it exists.

    Raises:
        PeercorpusError: It does.
    """
    rows = _count_rows(release, read_takedown(workspace))
    if rows:
        kept = f" '{out}' was not changed: take it down where it is hosted." if out.exists() else ""
        raise PeercorpusError(
            f"The release '{release.folder}' contains {rows:,} rows named in '{workspace.folder / LIST}';"
            f" publish again, then make the site of the new release.{kept}"
        )


def _count_rows(release: Release, takedown: Takedown) -> int:
    listed = {entry.listed for entry in takedown.ids if not is_author_id(entry.listed)}
    gone = listed | takedown.forums | takedown.posts | takedown.files
    if not gone:
        return 0
    return sum(
        any(text in gone for _, text in texts_in(row))
        for config, columns in _COLUMNS.items()
        for row in release.rows(config, None, columns)
    )
