"""Names of workspaces, papers, files and dates; values that match nothing; and refusals with a next step that works."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import peercorpus
from commands import Run, assert_refused
from invented_tables import ICLR, TMLR, a_forum, fill
from peercorpus.errors import PeercorpusError
from peercorpus.workspace.workspace import open_workspace


@pytest.fixture
def corpus(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace `corpus` in the current folder."""
    shutil.copytree(demo_folder / "corpus", tmp_path / "corpus")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PEERCORPUS_WORKSPACE", raising=False)
    return Path("corpus")


def a_paper(corpus: Path) -> tuple[str, str]:
    with open_workspace(corpus, write=False) as workspace:
        venue_id = workspace.raw.venues()[0]
        return workspace.raw.forum_ids(venue_id)[0], venue_id


def test_a_deleted_folder_is_reported_in_one_sentence(run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = corpus.resolve().parent / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert_refused(run("venues"), "current folder was deleted")


def test_only_commands_with_venues_name_that_option(run: Run, corpus: Path) -> None:
    assert "--venue" not in run("show", "a", corpus, "b").err
    assert "--venue" in run("build", corpus, "b").err


def test_a_forums_url_gives_its_venue(run: Run, corpus: Path) -> None:
    forum_id, venue_id = a_paper(corpus)
    page = f"https://openreview.net/forum?id={forum_id}"
    assert_refused(run("harvest", page, "-w", corpus), f"peercorpus harvest {venue_id} -w corpus")
    with peercorpus.simulate() as openreview:
        ended = run(*("harvest", page, "-w", "new", "--url-v1", openreview.url_v1, "--url-v2", openreview.url_v2))
    assert_refused(ended, f"peercorpus harvest {venue_id} -w new")
    assert not Path("new").exists()


def test_a_short_name_harvests_a_venue(run: Run, corpus: Path) -> None:
    with peercorpus.simulate() as openreview:
        typed = ["--url-v1", openreview.url_v1, "--url-v2", openreview.url_v2]
        ended = run("harvest", "CASCADIA2025", "-w", corpus, "--plan", *typed)
        assert ended.code == 0
        assert "Cascadia.cc/2025/Conference" in ended.out
        (planned,) = peercorpus.plan_harvest("CASCADIA2025", corpus, url_v1=openreview.url_v1, url_v2=openreview.url_v2)
    assert planned.venue_id == "Cascadia.cc/2025/Conference"
    assert_refused(run("harvest", "CASCADIA2025", "-w", "new"), "'peercorpus venues' lists the known ones")


def test_a_venue_whose_conference_differs_is_not_suggested(run: Run, corpus: Path) -> None:
    for command in ("status", "build", "publish"):
        unlike = run(command, corpus, "--venue", "ICLR2024")
        assert_refused(unlike, "ICLR.cc/2024/Conference")
        assert "did you mean" not in unlike.err
    assert_refused(run("status", corpus, "--venue", "Boraelis.cc/2024/Conference"), "did you mean 'Borealis.cc/2024")
    assert_refused(run("venues", "--family", "icrl"), "did you mean 'iclr'?")


def test_forum_pages_are_taken_down(run: Run, corpus: Path) -> None:
    forum_id, _ = a_paper(corpus)
    assert run("takedown", f"https://openreview.net/forum?id={forum_id}", "-w", corpus).code == 0
    assert forum_id in (corpus / "takedown.txt").read_text()
    assert "openreview.net" not in (corpus / "takedown.txt").read_text()


def test_sql_writes_the_suffixs_format(run: Run, corpus: Path) -> None:
    pytest.importorskip("duckdb")
    ask = ("sql", "-w", corpus, "select 1 as a")
    assert run(*ask, "--out", "x.parquet").code == 0
    assert pl.read_parquet("x.parquet").rows() == [(1,)]
    assert_refused(run(*ask, "--out", "x.xlsx"), "x.xlsx", ".parquet")
    assert_refused(run(*ask, "--out", "x.parquet", "--format", "csv"), "x.parquet")
    assert_refused(run(*ask, "--format", "parquet"), "--out")


def test_a_workspace_is_never_replaced_by_output(run: Run, corpus: Path) -> None:
    assert_refused(run("publish", corpus, "--out", corpus), "corpus' is a workspace, which is never replaced")
    assert (corpus / "raw.db").is_file()


def test_a_repeated_option_is_named(run: Run, corpus: Path) -> None:
    assert_refused(run("status", "-w", corpus, "--workspace", corpus), "--workspace was given more than once")


@pytest.fixture(scope="module")
def iclr_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two papers, one of them with every kind of record."""
    from commands import succeed

    folder = tmp_path_factory.mktemp("nothing")
    dump = folder / "notes.json"
    dump.write_text(json.dumps([{"id": "x", "forum": "x", "invitation": f"{TMLR}/-/Submission", "content": {}}]))
    succeed("import", dump, "--workspace", folder / "w")
    with open_workspace(folder / "w") as opened:
        fill(opened, ICLR, [*a_forum("a"), *a_forum("b")])
    return folder / "w"


@pytest.fixture
def is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)


@pytest.mark.usefixtures("is_built")
@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("conference=iclrr", "did you mean 'iclr'?"),
        ("conference!=iclrr", "did you mean 'iclr'?"),
        ("venue=ICLR.cc/2020/Conferense", f"did you mean '{ICLR}'?"),
        ("keyword=unheard of", "keyword 'unheard of'"),
        ("year>=2090", "year>=2090"),
    ],
)
def test_a_condition_without_papers(run: Run, iclr_corpus: Path, tmp_path: Path, condition: str, named: str) -> None:
    out = tmp_path / "report"
    assert_refused(run("report", "-w", iclr_corpus, "--out", out, "--where", condition), named)
    assert not out.exists()
    assert_refused(run("table1", "-w", iclr_corpus, "--where", condition), named)


@pytest.mark.usefixtures("is_built")
@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("publish -w {corpus} --max-questions 3", "--titles model"),
        ("venues ICLR.cc/2024/Conferense", "did you mean 'ICLR.cc/2024/Conference'?"),
        ("venues --family iclrr", "did you mean 'iclr'?"),
        (
            "import --pdfs {corpus} --venue ICLR.cc/2024/Conference -w {corpus}",
            "--venue",
        ),
        ("recipe re2 --no-harvest", "--workspace"),
        ("recipe re2 --from folder", "--workspace"),
        ("export {corpus} --out o --format trl --task scores", "--task scores"),
        ("explore -w {corpus} --select status=loved --out o.csv", "'loved'"),
        (
            "explore -w {corpus} --select statsu=accepted --out o.csv",
            "did you mean 'status'?",
        ),
        ("explore -w {corpus} --select sort=newst --out o.csv", "did you mean 'newest'?"),
        ("explore -w {corpus} --select= --out o.xls", ".parquet"),
    ],
)
def test_options_without_effect_are_refused(run: Run, iclr_corpus: Path, command: str, named: str) -> None:
    assert_refused(run(*command.format(corpus=iclr_corpus).split()), named)


FORUM = "rAUB0nwSeI"
"""A paper of the demo."""


@pytest.fixture
def demo(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo as `demo` in the current folder."""
    shutil.copytree(demo_folder, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PEERCORPUS_WORKSPACE", raising=False)
    return Path("demo")


def test_a_release_is_no_workspace(run: Run, demo: Path) -> None:
    for command in (["status"], ["build"], ["publish"], ["pdfs", "--to", "out"], ["harvest", "ICLR2024", "-w"]):
        assert_refused(run(*command, demo / "release"), "'demo/release' is a release, not a workspace; name its")
    with pytest.raises(PeercorpusError, match="is a release, not a workspace"):
        peercorpus.open(demo / "release")
    with pytest.raises(PeercorpusError, match="is a workspace, not a release"):
        peercorpus.load_release(demo / "corpus")


def test_the_folder_around_names_it(run: Run, demo: Path) -> None:
    assert_refused(run("status", demo), "did you mean 'demo/corpus'?")
    assert_refused(run("verify", demo), "did you mean 'demo/release'?")
    assert_refused(run("status", "nosuch"), "'nosuch' does not exist")
    assert_refused(run("verify", "nosuch"), "'nosuch' does not exist")


def test_taken_down_rows_have_one_count(run: Run, demo: Path) -> None:
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
def test_a_command_shows_all_it_lacks(run: Run) -> None:
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


def test_a_missing_folder_is_named(run: Run, demo: Path) -> None:
    statement = ["sql", "-w", demo / "release", "SELECT 1"]
    assert_refused(run(*statement, "--out", "nodir/x.csv"), "'nodir/x.csv' cannot be written", "no folder 'nodir'")


def test_output_on_the_workspace_is_refused(run: Run, demo: Path) -> None:
    assert_refused(run("pdfs", demo / "corpus", "--to", demo / "corpus"), "'demo/corpus' is the workspace itself")


def test_an_own_export_is_imported(run: Run, demo: Path) -> None:
    assert run("export", demo / "release", "--format", "re2", "--out", "re2files").code == 0
    imported = run("import", "re2files", "-w", "new")
    assert imported.code == 0
    assert [name for name in ("export.json", "README.md", "None of") if name in imported.out] == []


def test_an_own_release_is_imported(run: Run, demo: Path) -> None:
    (demo / "release" / "notes.txt").write_text("mine")
    imported = run("import", demo / "release", "-w", "new")
    assert imported.code == 0
    assert [name for name in ("left out:", "None of") if name in imported.out] == ["left out:"]
    assert "notes.txt: nothing imported" in imported.out
    assert "0 set aside" in imported.out


def test_reviewbench_layout_is_imported_whole(run: Run, demo: Path) -> None:
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


def test_builds_name_misspelt_own_fields(run: Run, tmp_path: Path) -> None:
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


def test_faults_have_one_name(run: Run, demo: Path) -> None:
    verified = run("verify", demo / "release")
    assert "no fault" in verified.out
    assert "breach" not in verified.out + json.dumps(json.loads(run("verify", demo / "release", "--json").out))
