"""A folder may have any name: commands work in it, or refuse it in one sentence before they write."""

import json
import shutil
from pathlib import Path

import pytest

import invented_pdfs
import peercorpus
from commands import Ended, Run, assert_refused, run_command
from peercorpus.cli.commands import app

ODD = [
    *("ven:2024", "50%", "a#b?c", "für 日本", "-dash", "a[1]*", "s3:x", "~", "a'b\"", "{x}", "ü ñ", "a b", "x" * 200),
]
"""Names that every command accepts."""

MISREAD = ["a%20b", "50%25", "back\\slash", "tab\there", "line\nbreak", "\udcff\udcfe"]
"""Names that Delta Lake misreads: a workspace cannot have them, anything else can."""

QUICK = (
    "import note.json --workspace W",
    "build --workspace W",
    "status --workspace W",
    "check --workspace W",
    "show ID --workspace W",
    "forms --workspace W",
    "reminders --workspace W --json",
    "publish --workspace W --out R",
    "publish --workspace W --out R",
    "verify R --workspace W",
    "diff R R",
    "table1 --workspace W --name N",
    "table1 --workspace R --name N",
    "audit leaks R",
    "audit leaks W",
    "bench acceptance --release R --logs O.logs",
    "explore --workspace W --select= --out O.csv",
    "export R --format trl --out O.rows",
    "export W --format trl --out O.jsonl",
    "finetune --release R --out O.model --model M",
    "push R ada/nothing --workspace W",
    "pdfs --workspace W --to O.pdfs",
    "site R --out O.site",
    "sql --workspace R --table papers",
    "takedown ID --workspace W",
    "takedown --workspace W --list",
)
"""Commands run in each folder, in this order: W is a workspace, R a release, O the prefix of other names."""

SLOW = ("convert pdfs --out O.texts", "import --pdfs pdfs --workspace W", "report --workspace W --out O.report")
"""Slower commands, run in folders with a few of the names."""

ELSEWHERE = {
    "completion": "has no folder",
    "demo": "makes a workspace called corpus, a release and a report, each by a command that is walked here",
    "harvest": "opens its workspace as import does",
    "login": "has no folder but PEERCORPUS_CONFIG",
    "logout": "has no folder but PEERCORPUS_CONFIG",
    "mcp": "serves until it is stopped; opens its workspace as status does",
    "move": "needs an object store",
    "recipe": "imports, builds and publishes as the commands walked here",
    "simulate": "has no folder",
    "venues": "has no folder",
}
"""Commands that are not run, and why."""

NOTE = {
    "id": "rkgO66VKDS",
    "forum": "rkgO66VKDS",
    "invitation": "Invented.cc/2024/Conference/-/Submission",
    "readers": ["everyone"],
    "content": {"title": "On nothing"},
}


MAY_REFUSE = {"audit", "bench", "finetune", "push", "export", "pdfs"}
"""Commands that fail here because one paper has no decision, or a package is not installed."""


def make_inputs(folder: Path) -> Path:
    (folder / "note.json").write_text(json.dumps([NOTE]), encoding="utf-8")
    (folder / "pdfs").mkdir()
    (folder / "pdfs" / "rkgO66VKDS.pdf").write_bytes(invented_pdfs.typeset("On nothing"))
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, with what they import: packages mistake some relative paths for URLs."""
    monkeypatch.chdir(make_inputs(tmp_path))
    return tmp_path


def test_every_command_is_tested_or_has_a_reason_why_not() -> None:
    walked = {line.split()[0] for line in (*QUICK, *SLOW)}
    assert walked | ELSEWHERE.keys() == {name for name in app if not name.startswith("-")}
    assert walked & ELSEWHERE.keys() == set()


def walk(lines: tuple[str, ...], workspace: str, others: str) -> list[tuple[str, Ended]]:
    """Run commands in this folder, and return the result of each, without the names of the folders."""
    beside = "./" if others.startswith("-") else ""
    names: dict[str, str] = {
        "W": f"./{workspace}",
        "R": f"{beside}{others}.out",
        "O": f"{beside}{others}",
        "ID": str(NOTE["id"]),
    }
    ended = []
    for line in lines:
        arguments = [put_names(word, names) for word in line.split()]
        ended.append((line, run_command(*arguments)))
    return ended


def put_names(word: str, names: dict[str, str]) -> str:
    """Return an argument with its letter replaced by the name it represents.

    >>> put_names("O.csv", {"O": "a b"})
    'a b.csv'
    """
    letter, dot, ending = word.partition(".")
    return f"{names[letter]}{dot}{ending}" if letter in names else word


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], int | str | None]:
    """The exit code of each command in folders with plain names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(make_inputs(tmp_path_factory.mktemp("plain")))
        ended = walk(QUICK, "plain", "plain")
    codes = {(number, line): end.code for number, (line, end) in enumerate(ended)}
    assert {line.split()[0] for (_, line), code in codes.items() if code} <= MAY_REFUSE
    return codes


def list_unlike(ended: list[tuple[str, Ended]], codes: dict[tuple[int, str], int | str | None]) -> list[object]:
    """Return the commands whose exit code differs from that in plain folders, or that printed no sentence."""
    unlike: list[object] = []
    for number, (line, end) in enumerate(ended):
        is_sentence = end.code in {0, 1} or end.err.splitlines()[-1].startswith("peercorpus: ")
        if end.code != codes[number, line] or not is_sentence or "Traceback" in end.err:
            unlike.append((line, end))
    return unlike


@pytest.mark.parametrize("name", ODD)
def test_every_command_works_in_a_folder_with_an_odd_name(
    plain: dict[tuple[int, str], int | str | None], name: str, here: Path
) -> None:
    assert list_unlike(walk(QUICK, name, name), plain) == []
    assert peercorpus.open(name).papers().collect()["forum_id"].to_list() == [NOTE["id"]]
    shutil.rmtree(here / name)
    assert [path.name for path in here.iterdir() if not path.name.startswith((name, ".", "note.json", "pdfs"))] == []


@pytest.mark.parametrize("name", MISREAD[:-1])
def test_folders_other_than_workspaces_may_have_any_name(
    plain: dict[tuple[int, str], int | str | None], name: str, here: Path
) -> None:
    assert list_unlike(walk(QUICK, "plain", name), plain) == []
    assert (here / f"{name}.out" / "release.json").is_file()


@pytest.mark.usefixtures("svg_alone")
@pytest.mark.parametrize("name", ["ven:2024 ü[1]*#{x}%?'", "s3:x", "-dash"])
def test_slow_commands_work_in_a_folder_with_an_odd_name(name: str, here: Path) -> None:
    walk(QUICK[:2], name, name)
    assert [(line, end) for line, end in walk(SLOW, name, name) if end.code] == []
    assert (here / f"{name}.texts" / "rkgO66VKDS.md").is_file()
    assert (here / f"{name}.report" / "report.html").is_file()


@pytest.mark.fault(
    "machine", "a folder whose path Delta Lake reads as another one", "one sentence; nothing is written", times=6
)
@pytest.mark.parametrize("name", MISREAD)
def test_a_folder_whose_path_would_be_misread_is_refused_and_not_created(run: Run, name: str, here: Path) -> None:
    given = {path.name for path in here.iterdir()}
    opening = [line for line in (*QUICK, *SLOW) if "W" in line.split() and "R" not in line.split()]
    others = ["publish --workspace W --out R", "harvest Invented.cc/2024/Conference --workspace W", "mcp --workspace W"]
    for line in (*opening, *others):
        command = [name if word == "W" else word for word in line.split()]
        # The others also look for a release before they open a workspace.
        opens = "--workspace W" in line and not line.startswith(("report", "table1", "mcp"))
        assert_refused(run(*command), *(["cannot be a workspace", "rename"] if opens else []))
    assert {path.name for path in here.iterdir()} == given


def test_a_link_to_a_folder_that_would_be_misread_is_refused(run: Run, here: Path) -> None:
    (here / "a%20b").mkdir()
    (here / "link").symlink_to(here / "a%20b")
    assert_refused(run("import", "note.json", "--workspace=link"), "'link'", "'%20'")
