"""Exit codes, sources of options, and extras that are not installed."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from commands import Run, assert_refused, succeed
from peercorpus.cli import commands as command_line
from peercorpus.errors import PeercorpusError
from peercorpus.installation import advise_install

LATER = {
    "BusyError",
    "ModelUnavailableError",
    "NotJsonError",
    "SharedBudgetError",
    "SignInLaterError",
    "StoreUnavailableError",
    "TryLaterError",
    "UnreachableError",
    "WorkspaceLockedError",
}
FOUND = {"RefusedAlikeError"}
PAGE = (Path(__file__).parents[2] / "docs/cli.md").read_text()


def kinds_below(kind: type[PeercorpusError]) -> Iterator[type[PeercorpusError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from kinds_below(below)


def commands_of(app: App, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    for name in app:
        if not name.startswith("-"):
            yield (*path, name), app[name]
            yield from commands_of(app[name], (*path, name))


ARGUMENTS: dict[str, tuple[object, ...]] = {
    "MissingExtraError": ("typst", "demo"),
    "NotGivenError": ("It broke.", "a reason"),
    "NotJsonError": ("It broke.", "https://api2.openreview.net/notes", b"[}"),
    "TooLargeError": ("It broke.", "a reason"),
}
KINDS = sorted({kind for kind in kinds_below(PeercorpusError) if kind.__module__ == "peercorpus.errors"}, key=str)
COMMANDS = dict(commands_of(command_line.app))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_error_has_its_exit_code(run: Run, monkeypatch: pytest.MonkeyPatch, kind: type[PeercorpusError]) -> None:
    def fail(*_: object, **__: object) -> None:
        raise kind(*ARGUMENTS.get(kind.__name__, ("It broke.",)))

    monkeypatch.setattr(command_line, "call_command", fail)
    ended = run("status")
    assert ended.code == (3 if kind.__name__ in LATER else 1 if kind.__name__ in FOUND else 2)
    assert (ended.err.startswith("peercorpus: "), ended.err.count("\n")) == (True, 1)
    assert re.search(rf"^\| {ended.code} \|.*`{kind.__name__}`", PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConnectionError(5, "The store cannot be reached"), 3),
        (TimeoutError(110, "timed out"), 3),
        (OSError(28, "No space left on device"), 2),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError(), 70),
    ],
)
def test_errors_of_python_have_codes(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(command_line, "call_command", fail)
    assert run("status").code == code
    assert f"\n| {code} |" in PAGE


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_unknown_options_end_with_2(run: Run, command: tuple[str, ...]) -> None:
    assert_refused(run(*command, "--no-such-option"))


SETTINGS = [{"id": "Invented.cc/-/Official_Review", "reply": {"content": {}}, "invitees": []}]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace without papers."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    succeed("import", folder / "settings.json", "--workspace", folder / "corpus")
    return folder / "corpus"


@pytest.fixture
def here(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two workspaces, and a folder below it in which commands run."""
    monkeypatch.delenv("PEERCORPUS_WORKSPACE", raising=False)
    for name in ("argued", "environed"):
        shutil.copytree(workspace, tmp_path / name)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


OBJECTS = ("build", "status", "check", "reminders", "audit grades")
"""Commands that work on a workspace and can run in one without papers."""


@pytest.mark.parametrize("command", OBJECTS)
def test_a_workspace_is_given_by_position_or_option(run: Run, here: Path, command: str) -> None:
    by_place = run(*command.split(), here / "argued")
    for option in ("-w", "--workspace"):
        by_option = run(*command.split(), option, here / "argued")
        assert (by_option.code, by_option.err) == (by_place.code, by_place.err)
    assert "No workspace was named" not in by_place.err


def test_arguments_take_precedence_over_the_environment(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEERCORPUS_WORKSPACE", "../gone")
    assert_refused(run("status"), "'../gone'")
    assert run("status", here / "argued").code == 0
    assert run("status", "-w", here / "argued").code == 0
    monkeypatch.setenv("PEERCORPUS_WORKSPACE", "../environed")
    assert run("status").code == 0


HOSTILE = """
log = "profile"
workspace = "environed"
url_v2 = "http://127.0.0.1:1"
[status]
json = true
[bench.model_arg]
base_url = "http://127.0.0.1:1"
[build]
executor = "ray"
address = "ray://127.0.0.1:1"
"""


@pytest.mark.parametrize("folder", [".", "below"])
def test_options_file_of_folder_is_ignored(run: Run, here: Path, folder: str) -> None:
    plain = run("status", here / "argued")
    (here / folder / "peercorpus.toml").write_text(HOSTILE, encoding="utf-8")
    (here / folder / "profile").write_text("# mine\n", encoding="utf-8")
    with_file = run("status", here / "argued")
    assert (with_file.code, with_file.out, with_file.err) == (plain.code, plain.out, plain.err)
    assert (here / folder / "profile").read_text(encoding="utf-8") == "# mine\n"
    assert_refused(run("status"), "No workspace was named")
    assert_refused(run("build", "--executor", "ray"), "No workspace was named")


@pytest.mark.fault("machine", "a package of an extra is missing, for every extra", "the pip command")
@pytest.mark.parametrize(
    ("extra", "package", "command"),
    [
        ("bench", "inspect_ai", "bench --release r"),
        ("bench", "inspect_ai", "bench table logs"),
        ("cluster", "obstore", "convert a.pdf --out s3://bucket/o"),
        ("cluster", "obstore", "move -w w --to s3://bucket/place"),
        ("cluster", "ray", "build -w w --executor ray"),
        ("demo", "typst", "demo"),
        ("demo", "typst", "simulate"),
        ("hf", "huggingface_hub", "import notes.json hf:ada/reviews -w w"),
        ("hf", "huggingface_hub", "push release ada/reviews"),
        ("hf", "tokenizers", "report -w w --out o --tokenizer t"),
        ("models", "sentence_transformers", "bench review --release r --embed-cos m"),
        ("models", "torch", "bench review --release r --model hf/m"),
        ("models", "trl", "finetune --release r --task review --model m --out o"),
        ("models", "transformers", "export r --out o --format axolotl --task review --model m"),
        ("report", "matplotlib", "report -w w --out o"),
        ("web", "duckdb", "sql -w r"),
    ],
)
def test_a_missing_extra_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: str, package: str, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    assert_refused(run(*command.split()), advise_install(extra))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("package", "command"), [("mcp", "mcp -w r"), ("tantivy", "explore -w w")])
def test_an_extra_is_named_before_imports(tmp_path: Path, package: str, command: str) -> None:
    code = "import sys; sys.modules[sys.argv[1]] = None; from peercorpus.cli.main import main; main(sys.argv[2:])"
    ended = subprocess.run(
        [sys.executable, "-c", code, package, *command.split()], cwd=tmp_path, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"peercorpus: The package '{package}' is not installed; {advise_install('web')}\n"
    assert list(tmp_path.iterdir()) == []


NOT_FINITE = ("nan", "inf", "-inf")
REFUSED = [
    *(("build", "--pdf-timeout-s", number) for number in (*NOT_FINITE, "0", "-1")),
    *(("build", "--workers", number) for number in ("nan", "0", "-1", "1.5")),
    *(("harvest", "--limit", number) for number in ("nan", "0", "-1")),
    *(("sql", "--time-limit-s", number) for number in (*NOT_FINITE, "0", "-1")),
    *(("bench", "--temperature", number) for number in (*NOT_FINITE, "-1")),
    *(("finetune", "--min-confidence", number) for number in (*NOT_FINITE, "-1", "2")),
]
NEEDED = {
    "build": ["build"],
    "harvest": ["harvest", "ICLR2024"],
    "sql": ["sql", "SELECT 1"],
    "audit": ["audit", "leaks", "."],
    "bench": ["bench", "--release", ".", "--model", "x/y"],
    "finetune": ["finetune", "--release", ".", "--model", "m", "--task", "review", "--out", "o"],
}


@pytest.mark.parametrize(("command", "option", "number"), REFUSED)
def test_impossible_numbers_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, command: str, option: str, number: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run(*NEEDED[command], f"{option}={number}"), option)
    assert list(tmp_path.iterdir()) == []
