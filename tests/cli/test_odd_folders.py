"""A folder may have any name: commands work in it, or refuse it in one sentence before they write."""

import json
import shutil
from pathlib import Path

import pytest

import invented_pdfs
import peercorpus
from commands import Ended, Run, assert_refused, run_command

ODD = [
    *("ven:2024", "50%", "a#b?c", "für 日本", "-dash", "a[1]*", "s3:x", "~", "a'b\"", "{x}", "ü ñ", "a b", "x" * 200),
]
"""Names that every command accepts."""

MISREAD = ["a%20b", "50%25", "back\\slash", "tab\there", "line\nbreak", "\udcff\udcfe"]
"""Names that Delta Lake misreads: a workspace cannot have them, anything else can."""

OPENING = ("import note.json --workspace W", "build --workspace W", "publish --workspace W --out R")
"""Commands run in each folder, in this order: W is a workspace, R a release, O the prefix of other names."""

HARDEST = ["ven:2024 ü[1]*#{x}%?'", "s3:x", "-dash"]
"""Names in which further commands run, each of which gives a folder to another library, or reads one differently."""

MORE = (
    *("show ID --workspace W", "verify R --workspace W", "diff R R", "table1 --workspace R --name N"),
    *("check --workspace W", "explore --workspace W --select= --out O.csv", "sql --workspace R --table papers"),
    "site R --out O.site",
    *("convert pdfs --out O.texts", "report --workspace W --out O.report", "import --pdfs pdfs --workspace W"),
    *("takedown ID --workspace W", "takedown --workspace W --list"),
)

NOTE = {
    "id": "rkgO66VKDS",
    "forum": "rkgO66VKDS",
    "invitation": "Invented.cc/2024/Conference/-/Submission",
    "readers": ["everyone"],
    "content": {"title": "On nothing"},
}


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


def list_failed(ended: list[tuple[str, Ended]]) -> list[object]:
    return [(line, end) for line, end in ended if end.code or "Traceback" in end.err]


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_a_workspace_may_have_an_odd_name(name: str, here: Path) -> None:
    assert list_failed(walk(OPENING, name, name)) == []
    assert peercorpus.open(name).papers().collect()["forum_id"].to_list() == [NOTE["id"]]
    shutil.rmtree(here / name)
    assert [path.name for path in here.iterdir() if not path.name.startswith((name, ".", "note.json", "pdfs"))] == []


@pytest.mark.slow
@pytest.mark.usefixtures("svg_alone")
@pytest.mark.parametrize("name", HARDEST)
def test_commands_work_in_odd_folders(name: str, here: Path) -> None:
    assert list_failed(walk((*OPENING, *MORE), name, name)) == []
    assert (here / f"{name}.texts" / "rkgO66VKDS.md").is_file()
    assert (here / f"{name}.report" / "report.html").is_file()


@pytest.mark.fault(
    "machine", "a folder whose path Delta Lake reads as another one", "one sentence; nothing is written", times=6
)
@pytest.mark.parametrize("name", MISREAD)
def test_a_misread_path_is_refused(run: Run, name: str, here: Path) -> None:
    given = {path.name for path in here.iterdir()}
    opening = [line for line in (*OPENING, *MORE) if "W" in line.split() and not line.startswith("verify")]
    others = ["harvest Invented.cc/2024/Conference --workspace W", "mcp --workspace W", "audit leaks W"]
    for line in (*opening, *others):
        command = [name if word == "W" else word for word in line.split()]
        # The others also look for a release before they open a workspace.
        opens = "--workspace W" in line and not line.startswith(("report", "table1", "mcp"))
        assert_refused(run(*command), *(["cannot be a workspace", "rename"] if opens else []))
    assert {path.name for path in here.iterdir()} == given


def test_a_link_to_a_misread_path_is_refused(run: Run, here: Path) -> None:
    (here / "a%20b").mkdir()
    (here / "link").symlink_to(here / "a%20b")
    assert_refused(run("import", "note.json", "--workspace=link"), "'link'", "'%20'")
