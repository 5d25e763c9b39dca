"""Sources of the workspace and other options: arguments, then the environment, then peercorpus.toml."""

import json
import os
import shutil
import sys
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
    """A folder with three workspaces, and a folder below it in which commands run."""
    monkeypatch.delenv("PEERCORPUS_WORKSPACE", raising=False)
    for name in ("argued", "environed", "filed"):
        shutil.copytree(workspace, tmp_path / name)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


def settle(here: Path, text: str) -> None:
    (here / "peercorpus.toml").write_text(text, encoding="utf-8")


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
    assert_refused(run(*command.split()), "-w FOLDER", "PEERCORPUS_WORKSPACE", "peercorpus.toml")


def test_arguments_take_precedence_over_the_environment_and_that_over_the_file(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(here, 'workspace = "missing"')
    assert_refused(run("status"), f"'{here / 'missing'}'")
    settle(here, 'workspace = "filed"')
    assert run("status").code == 0
    monkeypatch.setenv("PEERCORPUS_WORKSPACE", "../gone")
    assert_refused(run("status"), "'../gone'")
    assert run("status", here / "argued").code == 0
    assert run("status", "-w", here / "argued").code == 0


def test_only_the_nearest_file_counts(run: Run, here: Path) -> None:
    settle(here, 'workspace = "filed"\nquiet = true')
    (here / "below" / "peercorpus.toml").write_text("verbose = false", encoding="utf-8")
    assert_refused(run("status"), "No workspace was named")


def test_a_table_has_the_options_of_one_command(run: Run, here: Path) -> None:
    settle(here, '[venues]\nyear = 2024\nfamily = "iclr"\n[forms]\njson = true\n[audit.grades]\nworkspace = "filed"\n')
    listed = run("venues").out
    assert "ICLR.cc/2024/Conference" in listed
    assert "ICLR.cc/2023" not in listed
    assert "ICLR.cc/2023" in run("venues", "--year", "2023").out
    assert run("forms").out.startswith("[")
    assert "filed" in run("audit", "grades").err


def test_a_command_with_an_optional_workspace_uses_no_configured_one(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(here, 'workspace = "missing"')
    monkeypatch.setenv("PEERCORPUS_WORKSPACE", "gone")
    assert run("venues", "ICLR2024").code == 0
    assert "prints" not in run("recipe", "reviewbench").err


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("workspaces = 'filed'", ("'workspaces'", "'workspace'")),
        ("[bild]\nretry = true", ("'bild'", "'build'")),
        ("[status]\nevery = true", ("'every'", "[status]")),
        ("[status]\nvenue_id = 'x'", ("'venue_id'",)),
        ("workspace = ['a', 'b']", ("[workspace]", "peercorpus.toml")),
        ("[workspace]\nfolder = 'x'", ("'workspace'",)),
        ("workspace = ", ("peercorpus.toml", "TOML")),
        ("\udcff", ("peercorpus.toml", "TOML")),
        ("quiet = 'perhaps'", ("[quiet]", "perhaps")),
        ("quiet = true\nverbose = true", ("--quiet", "--verbose")),
    ],
)
def test_an_invalid_file_is_refused_with_the_name_of_the_wrong_key(
    run: Run, here: Path, text: str, named: tuple[str, ...]
) -> None:
    (here / "peercorpus.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert_refused(run("status", *(() if "workspace =" in text else ("-w", here / "argued"))), *named)


@pytest.mark.parametrize(
    "text",
    [
        "token = 's3cret'",
        "PEERCORPUS_TOKEN = 's3cret'",
        "[harvest]\npassword = 's3cret'",
        "[build]\napi-key = 's3cret'",
        "[login]\nmfa_code = 's3cret'",
        "url_v2 = 'https://ada:s3cret@example.org'",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_shown(run: Run, here: Path, text: str) -> None:
    settle(here, text)
    ended = run("status", "-w", here / "argued")
    assert_refused(ended, "peercorpus.toml")
    assert "s3cret" not in ended.err


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_used(run: Run, here: Path) -> None:
    settle(here, 'url_v2 = "http://127.0.0.1:1"')
    os.chown(here / "peercorpus.toml", 12345, 12345)
    assert_refused(run("status", "-w", here / "argued"), "another user")


@pytest.mark.parametrize("arguments", [("a", "-w", "b"), ("a", "b")])
def test_two_workspaces_are_refused(run: Run, arguments: tuple[str, ...]) -> None:
    assert_refused(run("build", *arguments), "'a'" if "-w" in arguments else "'b'", "--venue", "build --help")


def test_arguments_after_two_dashes_belong_to_the_command(run: Run, here: Path) -> None:
    ended = run("takedown", "--force", "-w", here / "argued", "--", "-q")
    assert "-q: " in ended.out or "'-q'" in ended.err


@pytest.mark.parametrize(
    "text",
    [
        'url_v1 = "https://openreview.example.org"',
        'url-v2 = "http://openreview.net.example.org:80/"',
        '[publish]\nmodel_url = "https://models.example.org/v1"',
        '[build]\nengine-url = "https://models.example.org/v1"',
    ],
)
def test_a_file_from_elsewhere_cannot_name_a_host_that_gets_a_token(run: Run, here: Path, text: str) -> None:
    settle(here, f"{text}\n")
    assert_refused(run("build", here / "argued"), "state it among the arguments")


def test_openreview_and_this_machine_may_stand_in_the_file(run: Run, here: Path) -> None:
    settle(here, 'url_v1 = "https://api.openreview.net"\nurl_v2 = "http://127.0.0.1:4801"\n')
    assert run("status", here / "argued").code == 0
