"""What commands take for a workspace, a paper, a file or a date, and what they say to what they do not take."""

import shutil
from pathlib import Path

import polars as pl
import pytest

import peercorpus
from commands import Run, assert_refused
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


def test_without_a_workspace_the_message_says_what_to_type(run: Run, corpus: Path) -> None:
    assert_refused(run("harvest", "ICLR2024", corpus), "type: peercorpus harvest ICLR2024 -w corpus.")
    assert_refused(run("sql", corpus), "type: peercorpus sql -w corpus.")
    assert_refused(run("takedown", "abc"), "type: peercorpus takedown abc -w FOLDER.")


def test_show_takes_paper_and_workspace_as_positional_arguments(run: Run, corpus: Path) -> None:
    forum_id, _ = a_paper(corpus)
    assert run("show", f"https://openreview.net/forum?id={forum_id}", corpus).code == 0


def test_an_empty_environment_variable_counts_as_unset(run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WORKSPACE", "LOG", "URL_V1", "QUIET"):
        monkeypatch.setenv(f"PEERCORPUS_{name}", "")
    assert run("status", corpus).code == 0
    assert_refused(run("status"), "No workspace was named")


def test_a_deleted_folder_is_reported_in_one_sentence(run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = corpus.resolve().parent / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert_refused(run("venues"), "current folder was deleted")


def test_only_commands_with_venues_name_that_option(run: Run, corpus: Path) -> None:
    assert "--venue" not in run("show", "a", corpus, "b").err
    assert "--venue" in run("build", corpus, "b").err


def test_the_url_of_a_forum_gives_the_venue_of_the_paper(run: Run, corpus: Path) -> None:
    forum_id, venue_id = a_paper(corpus)
    page = f"https://openreview.net/forum?id={forum_id}"
    assert_refused(run("harvest", page, "-w", corpus), f"peercorpus harvest {venue_id} -w corpus")
    with peercorpus.simulate() as openreview:
        ended = run(*("harvest", page, "-w", "new", "--url-v1", openreview.url_v1, "--url-v2", openreview.url_v2))
    assert_refused(ended, f"peercorpus harvest {venue_id} -w new")
    assert not Path("new").exists()


def test_a_venue_of_the_workspace_is_harvested_by_its_short_name(run: Run, corpus: Path) -> None:
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


def test_a_forum_page_is_taken_down_by_its_id(run: Run, corpus: Path) -> None:
    forum_id, _ = a_paper(corpus)
    assert run("takedown", f"https://openreview.net/forum?id={forum_id}", "-w", corpus).code == 0
    assert forum_id in (corpus / "takedown.txt").read_text()
    assert "openreview.net" not in (corpus / "takedown.txt").read_text()


def test_sql_writes_the_format_of_the_suffix_or_refuses(run: Run, corpus: Path) -> None:
    pytest.importorskip("duckdb")
    ask = ("sql", "-w", corpus, "select 1 as a")
    assert run(*ask, "--out", "x.parquet").code == 0
    assert pl.read_parquet("x.parquet").rows() == [(1,)]
    assert_refused(run(*ask, "--out", "x.xlsx"), "x.xlsx", ".parquet")
    assert_refused(run(*ask, "--out", "x.parquet", "--format", "csv"), "x.parquet")
    assert_refused(run(*ask, "--format", "parquet"), "--out")


def test_pdfs_are_not_copied_into_the_workspace(run: Run, corpus: Path) -> None:
    assert_refused(run("pdfs", corpus, "--to", corpus / "mine"), "is inside")


def test_python_refuses_what_the_commands_refuse(corpus: Path) -> None:
    with pytest.raises(PeercorpusError, match="ocr must be one of off, auto"):
        peercorpus.build(corpus, ocr="nope")
    with pytest.raises(PeercorpusError, match="test_after must be a date"):
        peercorpus.publish(corpus, "out", splits="temporal", test_after="soon")
    with pytest.raises(PeercorpusError, match="folder is empty"):
        peercorpus.build("")
    with pytest.raises(PeercorpusError, match="workers must be a whole number"):
        peercorpus.build(corpus, workers="2")
    first = peercorpus.publish(corpus, "out", splits="temporal", test_after="2022-01-01")
    assert first.is_new


def test_a_workspace_is_never_replaced_by_output(run: Run, corpus: Path) -> None:
    assert_refused(run("publish", corpus, "--out", corpus), "corpus' is a workspace, which is never replaced")
    assert (corpus / "raw.db").is_file()


def test_a_repeated_option_is_named(run: Run, corpus: Path) -> None:
    assert_refused(run("status", "-w", corpus, "--workspace", corpus), "--workspace was given more than once")
