"""Values that match nothing, misspelt names, wrong suffixes and options without effect are refused."""

import json
from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_tables import ICLR, TMLR, a_forum, fill
from peercorpus.workspace.workspace import open_workspace


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two papers, one of them with every kind of record."""
    from commands import succeed

    folder = tmp_path_factory.mktemp("nothing")
    dump = folder / "notes.json"
    dump.write_text(json.dumps([{"id": "x", "forum": "x", "invitation": f"{TMLR}/-/Submission", "content": {}}]))
    succeed("import", dump, "--workspace", folder / "w")
    with open_workspace(folder / "w") as opened:
        fill(opened, ICLR, [*a_forum("a"), *a_forum("b")])
    return folder / "w"


@pytest.fixture(autouse=True)
def _is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.pipeline.build.require_built", lambda *_, **__: None)


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
def test_a_condition_that_no_paper_meets_is_refused(
    run: Run, corpus: Path, tmp_path: Path, condition: str, named: str
) -> None:
    out = tmp_path / "report"
    assert_refused(run("report", "-w", corpus, "--out", out, "--where", condition), named)
    assert not out.exists()
    assert_refused(run("table1", "-w", corpus, "--where", condition), named)


def test_a_misspelt_alternative_is_refused_beside_one_that_matches(run: Run, corpus: Path) -> None:
    assert_refused(run("table1", "-w", corpus, "--where", "conference=iclr", "--where", "conference=iclrr"), "'iclr'")


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("publish -w {corpus} --max-questions 3", "--titles model"),
        ("venues ICLR.cc/2024/Conferense", "did you mean 'ICLR.cc/2024/Conference'?"),
        ("venues --family iclrr", "did you mean 'iclr'?"),
        ("import --pdfs {corpus} --venue ICLR.cc/2024/Conference -w {corpus}", "--venue"),
        ("recipe re2 --no-harvest", "--workspace"),
        ("recipe re2 --from folder", "--workspace"),
        ("export {corpus} --out o --format trl --task scores", "--task scores"),
        ("explore -w {corpus} --select status=loved --out o.csv", "'loved'"),
        ("explore -w {corpus} --select statsu=accepted --out o.csv", "did you mean 'status'?"),
        ("explore -w {corpus} --select sort=newst --out o.csv", "did you mean 'newest'?"),
        ("explore -w {corpus} --select= --out o.xls", ".parquet"),
    ],
)
def test_unknown_names_and_options_without_effect_are_refused(run: Run, corpus: Path, command: str, named: str) -> None:
    assert_refused(run(*command.format(corpus=corpus).split()), named)


def test_an_empty_file_imports_nothing_and_is_reported(run: Run, tmp_path: Path) -> None:
    dump = tmp_path / "notes.json"
    dump.write_text("[]")
    ended = run("import", dump, "-w", tmp_path / "w")
    assert ended.code in {1, 2}
    assert "notes.json" in ended.out + ended.err
