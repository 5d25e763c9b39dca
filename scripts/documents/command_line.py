"""docs/cli.md and a page for each command in docs/cli/: help, examples from other pages, exit codes, and JSON keys."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from cyclopts import App

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = ("tutorial/*.md", "howto/*.md", "for/*.md", "*.md")
"""Pages that are searched for an example of a command, the best first."""
FENCE = re.compile(r"^(?:<!-- (?P<note>.+?) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
EXPLAINED = {"`python -m pydoc peercorpus.finetune.recipe`": "recipe", "the table 9-points": "points"}
"""Words of helps, and the page that says more about them."""
ErrorT = TypeVar("ErrorT")

WORKSPACE = """\
## The workspace

Most commands work on a workspace, which follows their name: `peercorpus build corpus`. `--workspace corpus` or
`-w corpus` means the same, and is needed if something else comes first: `peercorpus show FORUM_ID -w corpus`. If the
command line names none, the environment variable `PEERCORPUS_WORKSPACE` is used, except by commands that do something
else without one (`forms`, `venues`, `verify`, `push`, `recipe`). No file sets options.

## Names of venues

A venue is named by the id of its group (`ICLR.cc/2024/Conference`), the URL of its page, or conference and year:
`ICLR2024`, `iclr 2024`, `"NeurIPS 2023 datasets and benchmarks"`; without a track, the main one is meant. Short names
are looked up in the catalogue (`peercorpus venues`) and among the venues of the workspace. If several match, they are
listed and the command exits with 2. `show` takes the URL of a forum as well as its id.

## Progress and logs

Results are printed on standard output, all else on standard error. Every command takes, anywhere:

- `-q`, `--quiet`: show results, warnings and errors only.
- `-v`, `--verbose`: show every request, step and duration with the time in UTC.
- `--log FILE`: append what `-v` shows to a file, one JSON object a line: `time` (UTC), `level`, `logger`, `message`.

Values of variables that hold secrets, tokens, and users in URLs are replaced by `[hidden]`.

## Environment

| variable | meaning |
|---|---|
| `PEERCORPUS_WORKSPACE` | The workspace. |
| `PEERCORPUS_QUIET`, `PEERCORPUS_VERBOSE`, `PEERCORPUS_LOG` | As `--quiet`, `--verbose` and `--log`. |
| `PEERCORPUS_TOKEN` | OpenReview token. |
| `PEERCORPUS_USER`, `PEERCORPUS_PASSWORD`, `PEERCORPUS_MFA_CODE` | OpenReview account and second-factor code. |
| `PEERCORPUS_MODEL_KEY`, `PEERCORPUS_VISION_KEY` | Keys of the endpoints of language and vision models. |
| `PEERCORPUS_URL_V1`, `PEERCORPUS_URL_V2` | Base URLs of OpenReview's APIs. |
| `PEERCORPUS_CONFIG` | Folder of the stored token and of request budgets. |

## Completion

```sh
# bash, with the package bash-completion; without it: source <(peercorpus completion bash) in ~/.bashrc
mkdir -p ~/.local/share/bash-completion/completions
peercorpus completion bash > ~/.local/share/bash-completion/completions/peercorpus
# zsh, with fpath=(~/.zfunc $fpath) in ~/.zshrc, before compinit
mkdir -p ~/.zfunc
peercorpus completion zsh > ~/.zfunc/_peercorpus
# fish
mkdir -p ~/.config/fish/completions
peercorpus completion fish > ~/.config/fish/completions/peercorpus.fish
```
"""


@dataclass(frozen=True, slots=True)
class Example:
    """Lines of a page that run a command, and what the page says that they print; nothing where it does not say."""

    page: str
    title: str
    code: str
    printed: str


def json_lines() -> Iterator[str]:
    """Yield a section on the keys printed with `--json`."""
    from json_keys import JSON_KEYS

    links = (f"[{command}](cli/{command.partition(' ')[0]}.md#{anchor(f'{command} --json')})" for command in JSON_KEYS)
    groups = {name.partition(" ")[0] for name in commands() if " " in name}
    others = (
        name
        for name, one in commands().items()
        if name not in groups | JSON_KEYS.keys() and "--json" in one.generate_docs()
    )
    yield from (
        "## JSON",
        "",
        "With `--json` a command prints one JSON document on standard output; exit codes are the same. Documented",
        f"keys stay as they are within a major version; others may be added: {', '.join(links)}.",
        "",
        "These have `--json` too, without documented keys: "
        + ", ".join(f"[{name}](cli/{name.partition(' ')[0]}.md)" for name in others)
        + ".",
    )


def anchor(heading: str) -> str:
    """Return the anchor that the site gives a heading.

    >>> anchor("audit leaks --json")
    'audit-leaks---json'
    """
    return heading.lower().replace(" ", "-")


def key_lines(command: str) -> Iterator[str]:
    """Yield the keys that a command prints with `--json`, if they are documented."""
    from json_keys import JSON_KEYS

    if command in JSON_KEYS:
        yield from ("", f"## {command} --json", "", "| key | value |", "|---|---|")
        yield from (f"| `{key}` | {meaning} |" for key, meaning in JSON_KEYS[command].items())


def fault_lines() -> Iterator[str]:
    """Yield the faults that the simulator can inject."""
    from peercorpus.simulator.server.faults import FAULTS

    yield from ("", "## Faults", "", "| `--fault` | what happens |", "|---|---|")
    alike: dict[str, list[str]] = {}
    for fault in FAULTS.values():
        says = fault.help.partition(": ")[0] if fault.name.startswith("unreadable") else fault.help
        alike.setdefault(says, []).append(fault.name)
    yield from (f"| {', '.join(f'`{name}`' for name in names)} | {says} |" for says, names in alike.items())


def commands() -> dict[str, "App"]:
    """Return all commands in the order of the help; those of a group follow it, with both names."""
    from peercorpus.cli.commands import app

    found = {}
    for name in (name for name in app if name[0] != "-"):
        found[name] = app[name]
        found |= {f"{name} {inner}": app[name][inner] for inner in app[name] if inner[0] != "-"}
    for one in found.values():
        one.default_parameter = one.default_parameter or app.default_parameter  # a page is made without its parent
    return found


def first_sentence(command: "App") -> str:
    """Return the line that says what a command does."""
    paragraph = " ".join((command.help or command.default_command.__doc__ or "").partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".")


def exit_code_lines() -> Iterator[str]:
    """Yield a section on the exit codes, with the errors that end a command with each."""
    from peercorpus.errors import ExitCode, PeercorpusError

    yield from ("## Exit codes", "", "| code | meaning | errors |", "|---:|---|---|")
    kinds = sorted(set(find_subclasses(PeercorpusError)), key=lambda kind: kind.__name__)
    for code in ExitCode:
        names = ", ".join(f"`{kind.__name__}`" for kind in kinds if kind.exit_code is code)
        yield f"| {code.value} | {code.meaning} | {names} |"


def find_subclasses(kind: type[ErrorT]) -> Iterator[type[ErrorT]]:
    """Yield a class and all below it; one with two bases comes twice."""
    yield kind
    for below in kind.__subclasses__():
        yield from find_subclasses(below)


def read_examples() -> dict[str, Example]:
    """Return the best example of each command: with recorded output, else one that tests run, else any."""
    best: dict[str, tuple[int, Example]] = {}
    for path in (path for pattern in EXAMPLES for path in sorted(DOCS.glob(pattern))):
        page = path.read_text(encoding="utf-8")
        if "<!-- Generated by " in page:
            continue
        title = page.partition("\n")[0].removeprefix("# ")
        fences = [*FENCE.finditer(page)]
        for fence, following in zip(fences, [*fences[1:], None], strict=False):
            # Below another heading it is something else.
            is_apart = following is not None and "\n#" in page[fence.end() : following.start()]
            for name, rank, code, printed in examples_of(fence, None if is_apart else following):
                if name not in best or rank < best[name][0]:
                    best[name] = (rank, Example(path.relative_to(DOCS).as_posix(), title, code, printed))
    return {name: example for name, (_, example) in best.items()}


def examples_of(fence: re.Match[str], following: re.Match[str] | None) -> Iterator[tuple[str, int, str, str]]:
    """Yield each command that a block runs, with its rank, its line and what follows as output."""
    if fence["language"] != "sh":
        return
    lines = re.findall(r"^peercorpus .*$", fence["code"].replace("\\\n", "\\\0"), re.MULTILINE)
    has_output = following is not None and following["language"] == "text" and not fence["note"]
    for line in lines:
        words = line.replace("\\\0", " ").split()
        name = " ".join(words[1:3]) if " ".join(words[1:3]) in commands() else words[1]
        is_shown = has_output and line == lines[-1]
        printed = following["code"] if is_shown and following else ""
        yield name, 0 if is_shown else 2 if fence["note"] else 1, line.replace("\\\0", "\\\n"), printed


def example_lines(example: Example | None) -> Iterator[str]:
    """Yield an example with the page that it comes from."""
    if example is None:
        return
    yield from ("", f"From [{example.title}](../{example.page}):", "", "```sh", example.code, "```")
    if example.printed:
        yield from ("", "It prints, in part:", "", "```text", *example.printed.splitlines(), "```")


def help_lines(name: str, command: "App") -> Iterator[str]:
    """Yield usage, explanation and options of a command."""
    text = command.generate_docs().partition("```console\n")[2]
    usage, _, rest = text.partition("```\n")
    rest = re.sub(r"^## Table of Contents.*?(?=^\*\*(?!Commands)|\Z)", "", rest, flags=re.MULTILINE | re.DOTALL)
    rest = re.split(rf"^## {name} ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    rest = re.sub(r"\n {4}(?=\S)", " ", rest).replace(" *[default: False]*", "").replace("[env: ", "[environment: ")
    rest = re.sub(r"^\*\*(\w+)\*\*:$", r"\1:", rest, flags=re.MULTILINE).replace("\nParameters:\n", "\nOptions:\n")
    rest = re.sub(r"`[^`]*`|(?<=[ (])--[a-z][\w-]*", lambda found: f"`{found[0].strip('`')}`", rest)
    rest = re.sub(r"(Faults to inject, one or several): .*", r"\1 of [these](#faults).", rest)
    rest = re.sub(r"choices: (?:proven, )?exact, [\w, ]+", "a [grade](../initial-version.md)", rest)
    rest = rest.replace(" *[environment: PEERCORPUS_WORKSPACE]*", "")
    rest = re.sub(r"(?<=\n)(\* `[^\n]*?) \*\[choices: ([\w, -]+)\]\*", without_explained_choices, rest)
    for code, page in EXPLAINED.items():
        rest = rest.replace(code, f"[{code}](../{page}.md)")
    yield from (
        "```text",
        f"peercorpus {name} {usage.strip().partition(' ')[2]}".rstrip(),
        "```",
        "",
        *rest.strip().splitlines(),
    )


def without_explained_choices(found: re.Match[str]) -> str:
    """Return an option without the list of its choices if its text explains each (`posts: …; model: …`)."""
    return found[1] if all(f"{choice}: " in found[1] for choice in found[2].split(", ")) else found[0]


def name_repeated(helped: Iterable[str], above: Sequence[str], said: str) -> Iterator[str]:
    """Yield the help of a command; options that are explained elsewhere in the same words are only named.

    Args:
        helped: The help.
        above: What explains them.
        said: The command that it explains, as a link or as code.
    """
    helped = [*helped]
    repeated = [line for line in helped if line.startswith("* `") and line in above]
    others = "\n".join(line for line in helped if line not in repeated)
    yield from re.sub(r"\n+Options:\s*\Z", "", others).splitlines()
    if repeated:
        names = (line.removeprefix("* ").partition(": ")[0] for line in repeated)
        yield from ("", f"As for {said}: {', '.join(names)}.")


ALIKE = {"convert": "build", "finetune": "export"}
"""Command → another with many of its options."""


def command_page(name: str, examples: Mapping[str, Example], notice: str) -> str:
    """Return the page of a command, with the commands of its group."""
    found = {key: one for key, one in commands().items() if key.split()[0] == name}
    lines = [f"# peercorpus {name}", "", notice, ""]
    for key, one in found.items():
        if key != name:
            lines += ["", f"## peercorpus {key}", ""]
        helped: Iterable[str] = name_repeated(help_lines(key, one), lines, f"`peercorpus {name}`")
        if key in ALIKE:
            other = [*help_lines(ALIKE[key], commands()[ALIKE[key]])]
            helped = name_repeated(helped, other, f"[`peercorpus {ALIKE[key]}`]({ALIKE[key]}.md)")
        lines += [*helped, *example_lines(examples.get(key))]
        if key == name and len(found) > 1:
            links = (f"[`{inner}`](#{anchor(f'peercorpus {inner}')})" for inner in found if inner != name)
            lines += ["", f"Its commands: {', '.join(links)}."]
    for key in found:
        lines += key_lines(key)
    if name == "simulate":
        lines += fault_lines()
    lines += ["", "[All commands](../cli.md)"]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def command_pages(notice: str) -> dict[str, str]:
    """Return the index of the commands and a page for each, by their names in the repository."""
    from peercorpus.cli.commands import COMMANDS

    examples = read_examples()
    names = sorted(name for name in commands() if " " not in name)
    pages = {f"docs/cli/{name}.md": command_page(name, examples, notice) for name in names}
    lines = ["# Command line", "", notice, ""]
    for heading, listed in COMMANDS.items():
        lines += [f"## {heading}", "", "| command | what it does |", "|---|---|"]
        lines += [f"| [`{name}`](cli/{name}.md) | {first_sentence(commands()[name])} |" for name in listed]
        lines.append("")
    lines += [*WORKSPACE.splitlines(), "", *exit_code_lines(), "", *json_lines(), ""]
    lines += ["```{toctree}", ":hidden:", ":glob:", "", "cli/*", "```"]
    return {"docs/cli.md": "\n".join(lines) + "\n", **pages}
