"""Sources of the workspace and other options: arguments, then the environment, and no file of a folder."""

import json
import shutil
from pathlib import Path

import pytest

from commands import Run, assert_refused, succeed

SETTINGS = [{"id": "Invented.cc/-/Official_Review", "reply": {"content": {}}, "invitees": []}]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace without papers."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    succeed("import", folder / "settings.json", "--workspace", folder / "corpus")
    return folder / "corpus"


@pytest.fixture(autouse=True)
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


@pytest.mark.parametrize("command", [*OBJECTS, "publish", "explore", "mcp", "table1", "show ID", "takedown ID"])
def test_without_a_workspace_one_sentence_lists_the_ways_to_name_one(run: Run, command: str) -> None:
    assert_refused(run(*command.split()), "-w FOLDER", "PEERCORPUS_WORKSPACE")


def test_arguments_take_precedence_over_the_environment(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEERCORPUS_WORKSPACE", "../gone")
    assert_refused(run("status"), "'../gone'")
    assert run("status", here / "argued").code == 0
    assert run("status", "-w", here / "argued").code == 0
    monkeypatch.setenv("PEERCORPUS_WORKSPACE", "../environed")
    assert run("status").code == 0


def test_an_optional_workspace_is_not_the_environments(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEERCORPUS_WORKSPACE", "gone")
    assert run("venues", "ICLR2024").code == 0


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


@pytest.mark.parametrize("arguments", [("a", "-w", "b"), ("a", "b")])
def test_two_workspaces_are_refused(run: Run, arguments: tuple[str, ...]) -> None:
    assert_refused(run("build", *arguments), "'a'" if "-w" in arguments else "'b'", "--venue", "build --help")


def test_arguments_after_two_dashes_belong_to_the_command(run: Run, here: Path) -> None:
    ended = run("takedown", "--force", "-w", here / "argued", "--", "-q")
    assert "-q: " in ended.out or "'-q'" in ended.err
