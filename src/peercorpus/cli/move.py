"""`peercorpus move`: the files and tables of a workspace to a store, and back."""

from peercorpus.cli.app import WorkspaceFolder, app
from peercorpus.cli.console import ProgressLines, say


@app.command
def move(*, workspace: WorkspaceFolder, to: str) -> None:
    """Move a workspace's PDFs and tables to an S3-like store, or back; every command then works as before.

    Stopped at any moment, the same command goes on. What is there is removed only once all of it was copied and
    compared. Keys come from the environment alone (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION,
    AWS_ENDPOINT_URL). A workspace that is not there yet is made.

    Parameters
    ----------
    to
        s3://BUCKET/PREFIX, of which nothing is there yet; or '.', the workspace's own folder, which also undoes a
        move that was begun.
    """
    from peercorpus import wording
    from peercorpus.moving import move as run_move

    with ProgressLines() as lines:
        moved = run_move(workspace, to, lines.show)
    say(wording.moved(moved, workspace))
