"""Refusals name what is wrong, by the path that was typed, and a next step that works."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import peercorpus
from commands import Run, assert_refused
from peercorpus.cli.text.publish import how_to_load
from peercorpus.errors import PeercorpusError

FORUM = "rAUB0nwSeI"
"""A paper of the demo."""


@pytest.fixture
def demo(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo as `demo` in the current folder."""
    shutil.copytree(demo_folder, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PEERCORPUS_WORKSPACE", raising=False)
    return Path("demo")


def test_a_release_in_place_of_a_workspace_is_recognised(run: Run, demo: Path) -> None:
    for command in (["status"], ["build"], ["publish"], ["pdfs", "--to", "out"], ["harvest", "ICLR2024", "-w"]):
        assert_refused(run(*command, demo / "release"), "'demo/release' is a release, not a workspace; name its")
    with pytest.raises(PeercorpusError, match="is a release, not a workspace"):
        peercorpus.open(demo / "release")
    with pytest.raises(PeercorpusError, match="is a workspace, not a release"):
        peercorpus.load_release(demo / "corpus")


def test_the_folder_around_a_workspace_or_a_release_names_it(run: Run, demo: Path) -> None:
    assert_refused(run("status", demo), "did you mean 'demo/corpus'?")
    assert_refused(run("verify", demo), "did you mean 'demo/release'?")
    assert_refused(run("status", "nosuch"), "'nosuch' does not exist")
    assert_refused(run("verify", "nosuch"), "'nosuch' does not exist")


def test_rows_of_what_is_taken_down_are_counted_by_one_rule(run: Run, demo: Path) -> None:
    peercorpus.publish(demo / "corpus", "out")
    taken = run("takedown", FORUM, "-w", demo / "corpus").out
    rows = next(line for line in taken.splitlines() if "/out'" in line).split(" in ")[1].split(" row")[0]
    assert "publish it again, or delete it." in taken
    assert f"in {rows} rows and 1 list of splits" in run("verify", "out", "-w", demo / "corpus").out
    assert_refused(run("site", "out", "-w", demo / "corpus", "--out", "s"), f"in {rows} rows, by", "publish it again")
    assert f"No longer listed: {FORUM}." in run("takedown", FORUM, "--undo", "-w", demo / "corpus").out.splitlines()


@pytest.mark.parametrize("damage", ["cut off", "missing"])
def test_a_damaged_release_is_refused_by_every_reader(run: Run, demo: Path, damage: str) -> None:
    file = next((demo / "release" / "data" / "reviews").glob("cascadia-*"))
    content = file.read_bytes()
    file.unlink()
    if damage == "cut off":
        file.write_bytes(content[: len(content) // 2])
    for command in (
        ["sql", "-w", demo / "release", "SELECT count(*) FROM reviews"],
        ["report", demo / "release", "--out", "r"],
        ["site", demo / "release", "--out", "s"],
        ["export", demo / "release", "--format", "jsonl", "--out", "e"],
        ["table1", demo / "release"],
    ):
        assert_refused(run(*command), str(file), "take an intact copy")
    with pytest.raises(PeercorpusError, match="take an intact copy"):
        peercorpus.load_release(demo / "release")
    assert run("verify", demo / "release").code == 1


@pytest.mark.usefixtures("demo")
def test_a_command_without_a_workspace_shows_all_that_it_lacks(run: Run) -> None:
    for typed, shown in (
        (["show", "demo/corpus"], "show FORUM_ID -w demo/corpus."),
        (["harvest"], "harvest VENUE_ID -w FOLDER."),
        (["import"], "import PATH -w FOLDER."),
        (["takedown"], "takedown ID -w FOLDER."),
        (["move"], "move --to TO -w FOLDER."),
        (["pdfs"], "pdfs --to TO -w FOLDER."),
    ):
        assert_refused(run(*typed), f"type: peercorpus {shown}")


def test_a_missing_option_is_called_missing(run: Run, demo: Path) -> None:
    assert_refused(run("pdfs", demo / "corpus"), "Option --to is missing; see 'peercorpus pdfs --help'.")
    assert_refused(run("pdfs", demo / "corpus", "--to"), "Option --to has no value")


def test_a_misspelt_option_is_not_called_a_command(run: Run) -> None:
    assert_refused(run("--vversion"), "Unknown option '--vversion'; did you mean '--version'?")
    assert_refused(run("statux"), "Unknown command 'statux'; did you mean 'status'?")


def test_a_path_is_shown_as_it_was_typed(run: Run, demo: Path) -> None:
    (demo / "kites.json").write_text('[{"id": "a"')
    assert_refused(run("import", "demo/../demo/kites.json", "-w", "new"), "'demo/../demo/kites.json' cannot be read")
    assert_refused(run("publish", demo / "corpus", "--out", "demo/../demo"), "'demo/../demo' contains")
    assert run("pdfs", "demo/../demo/corpus", "--to", "linked", "--link").code == 0
    links = [path.readlink() for path in Path("linked").rglob("*.pdf")]
    assert links
    assert [link for link in links if ".." in link.parts] == []


def test_a_missing_folder_is_named(run: Run, demo: Path) -> None:
    statement = ["sql", "-w", demo / "release", "SELECT 1"]
    assert_refused(run(*statement, "--out", "nodir/x.csv"), "'nodir/x.csv' cannot be written", "no folder 'nodir'")


def test_output_on_the_workspace_itself_is_refused_as_such(run: Run, demo: Path) -> None:
    assert_refused(run("pdfs", demo / "corpus", "--to", demo / "corpus"), "'demo/corpus' is the workspace itself")


def test_show_and_describe_are_answered_with_what_does_the_same(run: Run, demo: Path) -> None:
    for statement in ("show tables", "describe papers"):
        assert_refused(run("sql", "-w", demo / "release", statement), "without a statement", "--table NAME")


def test_a_year_is_compared_with_a_year(run: Run, demo: Path) -> None:
    assert_refused(run("report", demo / "corpus", "--out", "r", "--where", "year>=soon"), "'year>=2024'")


def test_installing_datasets_is_suggested_only_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ("pip install" in how_to_load(Path("r"))) == (find_spec("datasets") is None)
    monkeypatch.setattr("peercorpus.cli.text.publish.find_spec", lambda _: None)
    assert "pip install datasets" in how_to_load(Path("r"))


def test_an_own_export_is_imported_without_remarks_on_its_own_files(run: Run, demo: Path) -> None:
    assert run("export", demo / "release", "--format", "re2", "--out", "re2files").code == 0
    imported = run("import", "re2files", "-w", "new")
    assert imported.code == 0
    assert [name for name in ("export.json", "README.md", "None of") if name in imported.out] == []


def test_an_own_release_is_imported_without_remarks_on_its_own_files(run: Run, demo: Path) -> None:
    (demo / "release" / "notes.txt").write_text("mine")
    imported = run("import", demo / "release", "-w", "new")
    assert imported.code == 0
    assert [name for name in ("left out:", "None of") if name in imported.out] == ["left out:"]
    assert "notes.txt: nothing imported" in imported.out
    assert "0 set aside" in imported.out


def test_an_own_release_in_reviewbenchs_layout_is_imported_whole(run: Run, demo: Path) -> None:
    assert run("build", "-w", demo / "corpus").code == 0
    assert run("publish", "-w", demo / "corpus", "--layout", "reviewbench", "--out", "rb").code == 0
    imported = run("import", "rb", "-w", "new")
    assert (imported.code, "12 new + 0 already there + 0 set aside" in imported.out) == (0, True)


def test_a_manifest_of_another_shape_hides_no_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "release.json").write_text('{"generator": "peercorpus", "files": ["notes.json", 5]}')
    (tmp_path / "d" / "notes.json").write_text(json.dumps([PAPER]))
    assert "1 new" in run("import", "d", "-w", "new").out


KITES = "Kites.org/2031/Workshop"
NOTE = {"forum": "p1", "domain": KITES, "readers": ["everyone"], "tcdate": 1780000000000}
PAPER = NOTE | {
    "id": "p1",
    "invitations": [f"{KITES}/-/Submission"],
    "signatures": [f"{KITES}/Submission1/Authors"],
    "content": {"title": {"value": "Kites in Rain"}},
}
REVIEW = NOTE | {
    "id": "r1",
    "replyto": "p1",
    "invitations": [f"{KITES}/Submission1/-/Official_Review"],
    "signatures": [f"{KITES}/Submission1/Reviewer_a1"],
    "content": {"verdict_overall": {"value": "7: good"}},
}
SCALE = 'answers = { offered = ["9: superb", "1: poor"], low = 1, high = 9 }'
FORM = f"""[[venue]]
id = "{KITES}"
source = "invented"

[venue.form]
evidence = ["D"]
field = [
  {{ name = "NAME", type = "score", aspect = "recommendation", written = "number: label", {SCALE} }},
]
"""


def test_a_build_names_a_misspelt_field_of_venues_toml(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text(json.dumps({"notes": [PAPER, REVIEW]}), encoding="utf-8")
    corpus = tmp_path / "corpus"
    assert run("import", tmp_path / "notes.json", "-w", corpus).code == 0
    start = f"venues.toml, '{KITES}': 1 review answers 'verdict_overall'"
    for name, doubt in (
        ("verdict_overalll", ", which its form does not have; did you mean it by 'verdict_overalll'?"),
        ("verdict_overall", " with something that its form does not offer; add it there."),
    ):
        (corpus / "venues.toml").write_text(FORM.replace("NAME", name), encoding="utf-8")
        assert f"{start}{doubt}" in run("build", corpus).out.splitlines()


def test_a_release_is_counted_with_reviewers_and_others(run: Run, demo: Path) -> None:
    published = run("publish", demo / "corpus", "--out", "out").out
    assert "29 conversations with reviewers (14 with others)" in " ".join(published.split())


def test_faults_have_one_name(run: Run, demo: Path) -> None:
    verified = run("verify", demo / "release")
    assert "no fault" in verified.out
    assert "breach" not in verified.out + json.dumps(json.loads(run("verify", demo / "release", "--json").out))
