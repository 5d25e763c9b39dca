"""The written parts of docs/cli.md: where options come from, progress and logs, completion, and JSON keys."""

from collections.abc import Iterator

WORKSPACE = """\
## The workspace

A workspace is the object of most commands and stands behind their name: `peercorpus build corpus`,
`peercorpus status corpus`. `--workspace corpus` or `-w corpus` says the same, and is the way where something else is
the object: `peercorpus harvest ICLR2024 -w corpus`, `peercorpus show FORUM_ID -w corpus`.

Where the command line names none, the environment variable `PEERCORPUS_WORKSPACE` does, and after it
`peercorpus.toml`. Commands that do something else without a workspace (`forms`, `venues`, `verify`, `push`, `recipe`)
take one from the command line only.

## Names of venues

Wherever a command takes a venue, it takes the id of its group (`ICLR.cc/2024/Conference`), the URL of its page, or a
short name of conference and year: `ICLR2024`, `iclr 2024`, `NeurIPS-2023`. Words of the track follow the year:
`"NeurIPS 2023 datasets and benchmarks"`; without them the main track is meant. Short names are looked up in the
catalogue (`peercorpus venues`) and among the venues of the workspace, before any request. If several venues fit, they
are listed, and the command ends with 2. `show` takes the URL of a forum as well as its id.

## peercorpus.toml

What is always the same can stand in a file `peercorpus.toml` in the current folder, or else in the nearest folder above
it. Arguments come first, then the environment, then the file.

```toml
workspace = "corpus"       # relative to this file, like every path in it
log = "peercorpus.jsonl"

[build]
workers = 4
ocr = "auto"

[audit.leaks]
threshold = 0.1
```

Outside tables stand `workspace`, `quiet`, `verbose`, `log`, `url_v1`, `url_v2` and `token_file`, for all commands that
have them; the table of a command holds its options, by their names without `--`. An unknown key is an error that names
it. Secrets are refused: no token, password or key may stand in the file. A file that belongs to another user is
refused.

## Progress and logs

Results are printed on standard output, all else on standard error. `-q` shows results, warnings and errors only; `-v`
shows every request, step and duration with the time in UTC. `--log FILE` appends the same to a file, one JSON object a
line: `time` (UTC), `level`, `logger`, `message`. Values of variables that hold secrets, tokens, and users in URLs are
replaced by `[hidden]`.

## Environment

| variable | meaning |
|---|---|
| `PEERCORPUS_WORKSPACE` | Folder of the workspace, for commands that need one. |
| `PEERCORPUS_QUIET`, `PEERCORPUS_VERBOSE`, `PEERCORPUS_LOG` | As `--quiet`, `--verbose` and `--log`. |
| `PEERCORPUS_TOKEN` | Token of OpenReview. |
| `PEERCORPUS_USER`, `PEERCORPUS_PASSWORD`, `PEERCORPUS_MFA_CODE` | Account of OpenReview, code of its second factor. |
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
    """Yield the sections that are written by hand."""
    yield from WORKSPACE.rstrip().splitlines()


def json_lines() -> Iterator[str]:
    """Yield a section on the keys of what is printed with `--json`."""
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
