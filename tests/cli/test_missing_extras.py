"""A command whose extra is not installed names it in one sentence at once, without starting anything."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from peercorpus.installation import advise_install

ROOT = Path(__file__).parents[2]
EXTRAS: dict[str, list[str]] = {
    name: requirements
    for name, requirements in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ].items()
    if name not in {"dev", "docs", "extras"}  # those of contributors
}
COMMANDS = {
    "release": (
        "verify r",
        "diff a b",
        "export r --out o --format trl",
        "push r ada/reviews",
        "audit leaks r --out o",
        "table1 -w r",
    ),
    "corpus": (
        "harvest V -w w",
        "import notes.json -w w",
        "build -w w",
        "publish -w w --out o",
        "status -w w",
        "show f -w w",
        "check -w w",
        "takedown f -w w",
        "audit grades w",
    ),
    "demo": ("demo", "simulate"),
    "hf": (
        "import notes.json hf:ada/reviews -w w",
        "push release ada/reviews",
        "push release ada/reviews --yes",
        "recipe re2 -w w --from hf:ada/reviews",
    ),
    "ray": (
        "build -w w --executor ray",
        "convert a.pdf --out o --executor ray",
        "report -w w --out o --tokenizer t --executor ray",
        "finetune --release r --task review --model m --out o --executor ray",
        "export r --out o --format axolotl --task review --model m --executor ray",
        "recipe re2 -w w --executor ray",
    ),
    "tokens": (
        "report -w w --out o --tokenizer t",
        "export r --out o --format trl --tokenizer t",
        "bench --release r --tokenizer t",
    ),
    "report": ("report -w w --out o", "recipe re2 -w w"),
    "bench": (
        "bench --release r",
        "bench table logs",
        "bench compare a b",
        "bench judge log",
        "finetune --release r --task review --model m --out o --evaluate",
    ),
    "neural": (
        "bench review --release r --bert-score m",
        "bench review --release r --embed-cos m",
        "bench review --release r --model hf/m",
        "bench review --release r --grader hf/m",
    ),
    "finetune": (
        "finetune --release r --task review --model m --out o",
        "finetune --release r --task review --model m --out o --lengths",
        "export r --out o --format axolotl --task review --model m",
    ),
    "s3": ("move -w w --to s3://bucket/place", "convert a.pdf --out s3://bucket/o", "convert s3://bucket/a --out o"),
    "web": ("explore -w w", "explore -w w --select= --out o.csv", "site r --out o"),
    "sql": ("sql -w r", "sql -w r SELECT"),
    "mcp": ("mcp -w r",),
    "ocr": ("build -w w --ocr auto", "convert a.pdf --out o --engine rapidocr", "recipe re2 -w w --ocr auto"),
    "docling": ("build -w w --engine docling", "convert a.pdf --out o --engine auto --heavier docling"),
    "marker": ("build -w w --engine marker", "convert a.pdf --out o --engine auto --heavier marker"),
    "mineru": ("build -w w --engine mineru", "convert a.pdf --out o --engine auto --heavier mineru"),
    "nemotron": ("build -w w --engine nemotron", "convert a.pdf --out o --engine auto --heavier nemotron"),
}
"""Each extra, with the commands and options that need it."""

WITHOUT = """
import json, os, re, sys
from importlib.metadata import packages_distributions

extras, commands = json.load(sys.stdin)
named = {name: {re.split("[^A-Za-z0-9._-]", text)[0].lower() for text in texts} for name, texts in extras.items()}
named = {name: packages - {"peercorpus"} for name, packages in named.items()}
distributions = packages_distributions()
import cyclopts, cyclopts.core, filelock, httpx2, jinja2, msgspec, platformdirs, rich.console, stamina, zstandard
from peercorpus.cli.main import main

class Without:
    def __init__(self, finder, packages, modules):
        self.finder, self.packages, self.modules = finder, packages, modules

    def find_distributions(self, *context):
        find = getattr(self.finder, "find_distributions", lambda *_: ())
        return (one for one in find(*context) if (one.metadata["Name"] or "").lower() not in self.packages)

    def find_spec(self, name, *more):
        return None if name.partition(".")[0] in self.modules else self.finder.find_spec(name, *more)

    def __getattr__(self, name):
        return getattr(self.finder, name)

def run(hidden, command, where):
    os.mkdir(where)
    os.chdir(where)
    packages = set().union(*(named[extra] for extra in hidden))
    modules = {module for module, of in distributions.items() if packages & {name.lower() for name in of}}
    sys.meta_path[:] = [Without(finder, packages, modules) for finder in sys.meta_path]
    for stream, descriptor in (("out", 1), ("err", 2)):
        os.dup2(os.open(f"../{where}.{stream}", os.O_WRONLY | os.O_CREAT), descriptor)
    main(command.split())

results = []
for extra, command in commands:
    is_first = extra not in {tried for _, tried, *_ in results}
    for hidden in ([extra], list(named)) if is_first else ([extra],):
        where = str(len(results))
        child = os.fork()
        if not child:
            try:
                run(hidden, command, where)
            except SystemExit as ended:
                os._exit(ended.code)
            except BaseException:
                import traceback
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(99)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out, err = (open(f"{where}.{stream}").read() for stream in ("out", "err"))
        results.append((command, hidden == [extra] and extra or "", code, out, err, os.listdir(where)))
json.dump(results, sys.stdout)
"""
"""Run each command without its extra, and the first of each extra without any, in one process.

It imports first, for all commands, what peercorpus itself requires, and nothing of peercorpus that a command imports.
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, int, str, str, list[str]]]:
    """Return the result of each command: it, the missing extra ("" for all), code, output, error, files written."""
    commands = [(extra, command) for extra, commands in COMMANDS.items() for command in commands]
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        input=json.dumps([EXTRAS, commands]),
        cwd=tmp_path_factory.mktemp("without"),
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(result) for result in json.loads(ran.stdout)]


def test_every_extra_has_a_command_that_is_tested_without_it() -> None:
    assert COMMANDS.keys() == EXTRAS.keys()


@pytest.mark.fault("machine", "the packages of an extra are missing, for every extra and command", "the pip command")
def test_a_command_without_its_extra_names_it_and_starts_nothing(
    ended: list[tuple[str, str, int, str, str, list[str]]],
) -> None:
    wrong = []
    for command, extra, code, out, err, written in ended:
        is_named = (
            (advise_install(extra) if extra else "pip install ") in err
            and err.startswith("peercorpus: ")
            and err.count("\n") == 1
        )
        if (code, out, written) != (2, "", []) or not is_named:
            wrong.append(f"{command} (without {extra or 'all'}): {code} {out}{err}{written}")
    assert "\n".join(wrong) == ""
