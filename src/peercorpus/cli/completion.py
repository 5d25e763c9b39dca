"""The command `completion`."""

import re
from typing import Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.console import say

_ZSH_END = """

if [[ $funcstack[1] == _peercorpus ]]; then
  _peercorpus "$@"
else
  compdef _peercorpus peercorpus
fi"""
"""Calls the function when zsh loads it from a folder of $fpath, and registers it when the script is sourced."""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell.")],
    /,
) -> None:
    """Print the script that completes commands and options in bash, zsh or fish.

    For bash, write it to ~/.local/share/bash-completion/completions/peercorpus, or add the line
    `source <(peercorpus completion bash)` to ~/.bashrc. For zsh, write it to a file _peercorpus in a folder of $fpath,
    or add the line `source <(peercorpus completion zsh)` to ~/.zshrc, after that of compinit. For fish, write it to
    ~/.config/fish/completions/peercorpus.fish.
    """
    from peercorpus.cli.commands import app

    script = _describe_negatives(app.generate_completion(shell=shell).rstrip())
    say(_name_for_zsh(script) if shell == "zsh" else script)


_NEGATIVE = re.compile(
    r"(?P<start>-l no-|--no-)(?P<name>[\w-]+)(?P<middle> (?:-r )?-d '|\[)(?:[^'\]]|'\\'')*(?P<end>['\]])"
)
"""Matches an option that turns another off, with its description, in the script of fish or zsh."""


def _describe_negatives(script: str) -> str:
    """Return a script that says of `--no-files` that it turns `--files` off, instead of what `--files` does."""

    def describe(match: re.Match[str]) -> str:
        positive = f"{match['start'].removesuffix('no-')}{match['name']}"
        if f"{positive} " not in script and f"{positive}[" not in script:
            return match[0]  # The negative is the option itself.
        return f"{match['start']}{match['name']}{match['middle']}Turn --{match['name']} off.{match['end']}"

    return _NEGATIVE.sub(describe, script)


def _name_for_zsh(script: str) -> str:
    """Return a script whose function has the name of its file, without which zsh never calls it."""
    return script.replace("_cyclopts_peercorpus", "_peercorpus") + _ZSH_END
