"""The written parts of docs/cli.md: where options come from, progress and logs, completion, and JSON keys."""

from collections.abc import Iterator

WORKSPACE = """\
## The workspace

Most commands work on a workspace, whose folder follows their name: `peercorpus build corpus`,
`peercorpus status corpus`. `--workspace corpus` or `-w corpus` means the same; commands that work on something else
take the workspace that way: `peercorpus harvest ICLR2024 -w corpus`, `peercorpus show FORUM_ID -w corpus`.

If the command line names none, the environment variable `PEERCORPUS_WORKSPACE` applies, and then
`peercorpus.toml`. Commands that do something else without a workspace (`forms`, `venues`, `verify`, `push`, `recipe`)
take one from the command line only.

## Names of venues

Wherever a command takes a venue, it takes the id of its group (`ICLR.cc/2024/Conference`), the URL of its page, or a
short name made of conference and year: `ICLR2024`, `iclr 2024`, `NeurIPS-2023`. The track follows the year:
`"NeurIPS 2023 datasets and benchmarks"`; without one, the main track is meant. Short names are looked up in the
catalogue (`peercorpus venues`) and among the venues of the workspace, before any request. If several match, they are
listed and the command exits with 2. `show` takes the URL of a forum as well as its id.

## peercorpus.toml

Settings that never change can be kept in a file `peercorpus.toml` in the current folder, or else in the nearest folder
above it. Arguments take precedence over the environment, and the environment over the file.

```toml
workspace = "corpus"       # relative to this file, like every path in it
log = "peercorpus.jsonl"

[build]
workers = 4
ocr = "auto"

[audit.leaks]
threshold = 0.1
```

`workspace`, `quiet`, `verbose`, `log`, `url_v1`, `url_v2` and `token_file` belong outside tables and apply to all
commands that have them; the table of a command contains its options, named without `--`. An unknown key is an error
that names it. Secrets are refused: the file must not contain a token, password or key. A file that belongs to another
user is refused.

## Progress and logs

Results are printed on standard output, everything else on standard error. `-q` shows only results, warnings and errors;
`-v` shows every request, step and duration with the time in UTC. `--log FILE` appends the same to a file, one JSON
object per line: `time` (UTC), `level`, `logger`, `message`. Values of variables that contain secrets, tokens, and users
in URLs are replaced by `[hidden]`.

## Environment

| variable | meaning |
|---|---|
| `PEERCORPUS_WORKSPACE` | Folder of the workspace, for commands that need one. |
| `PEERCORPUS_QUIET`, `PEERCORPUS_VERBOSE`, `PEERCORPUS_LOG` | As `--quiet`, `--verbose` and `--log`. |
| `PEERCORPUS_TOKEN` | OpenReview token. |
| `PEERCORPUS_USER`, `PEERCORPUS_PASSWORD`, `PEERCORPUS_MFA_CODE` | OpenReview account and second-factor code. |
| `PEERCORPUS_MODEL_KEY`, `PEERCORPUS_VISION_KEY` | Keys of the endpoints of language models and of vision models. |
| `PEERCORPUS_URL_V1`, `PEERCORPUS_URL_V2` | Base URLs of OpenReview's APIs. |
| `PEERCORPUS_CONFIG` | Folder of the stored token and of request budgets. |

## Completion

```sh
source <(peercorpus completion bash)     # in ~/.bashrc; starts faster from a file:
peercorpus completion bash > ~/.local/share/bash-completion/completions/peercorpus
peercorpus completion zsh > "${fpath[1]}/_peercorpus"
peercorpus completion fish > ~/.config/fish/completions/peercorpus.fish
```
"""


def written_lines() -> Iterator[str]:
    """Yield the handwritten sections."""
    yield from WORKSPACE.rstrip().splitlines()


def json_lines() -> Iterator[str]:
    """Yield a section on the keys printed with `--json`."""
    from peercorpus.cli.text.json_keys import JSON_KEYS

    yield from (
        "## JSON",
        "",
        "With `--json` a command prints one JSON document on standard output; progress and errors stay on standard",
        "error, and exit codes are the same. These keys stay as they are within a major version; others may be added.",
    )
    for command, keys in JSON_KEYS.items():
        yield from ("", f"### {command} --json", "", "| key | value |", "|---|---|")
        yield from (f"| `{key}` | {meaning} |" for key, meaning in keys.items())
