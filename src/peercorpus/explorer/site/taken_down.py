"""Check that the release of a site contains nothing that a workspace has taken down since."""

from pathlib import Path

from peercorpus.corpus.takedown import LIST, read_takedown
from peercorpus.errors import PeercorpusError
from peercorpus.records.counted_nouns import plural
from peercorpus.release.folder import Release
from peercorpus.release.published import count_taken_rows
from peercorpus.workspace.workspace import Workspace


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
    rows = count_taken_rows(release, read_takedown(workspace))
    if rows:
        kept = f" '{out}' was not changed: take it down where it is hosted." if out.exists() else ""
        raise PeercorpusError(
            f"The release '{release.folder}' contains what is taken down in {plural(rows, 'row')}, by"
            f" '{workspace.folder / LIST}'; publish it again, then make the site of the new release.{kept}"
        )
