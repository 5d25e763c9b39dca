"""The command `hello`."""

from peercorpus.cli.console import WorkspaceFolder, say


def hello(workspace: WorkspaceFolder) -> None:
    """Print the name of a workspace."""
    say(workspace.name)
