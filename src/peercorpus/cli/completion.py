"""The command `completion`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.console import say


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell.")],
    /,
) -> None:
    """Print the script that completes commands and options in bash, zsh or fish.

    For bash, write it to ~/.local/share/bash-completion/completions/peercorpus, or add the line
    `source <(peercorpus completion bash)` to ~/.bashrc. For zsh, write it to a file _peercorpus in a folder of $fpath.
    For fish, write it to ~/.config/fish/completions/peercorpus.fish.
    """
    from peercorpus.cli.commands import app

    say(app.generate_completion(shell=shell).rstrip())
