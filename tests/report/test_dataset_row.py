"""The row of a corpus in Table 1 of Re²: the counts behind it, the printed rows, and where it is shown."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import invented_tables as made
from asked_releases import publish_release
from commands import Run, assert_refused
from invented_sources import Given, paper, review, talk
from invented_tables import ICLR, ICML, a_forum
from peercorpus.records.enums import Aspect, Phase, PostKind, Role, Status
from peercorpus.release.table1 import HAS, TASKS, printed_rows
from peercorpus.report.write_report import dataset_row, open_source
from peercorpus.workspace.workspace import Workspace


def words(*ids: str) -> list[dict[str, object]]:
    return [{"forum_id": one.partition("-")[0], "review_id": one, "tokens": 5} for one in ids]


def test_a_corpus_is_counted_by_paper() -> None:
    papers = [paper("a"), paper("b", year=2022, status="withdrawn"), paper("c", "icml", None, status="desk_rejected")]
    reviews = [
        review("a", 3, 5, aspect_scores=2),
        review("a", 5, 5, place=1, aspect_scores=0),
        review("b", None, 4, aspect_scores=1),
        review("b", None, None, place=1, aspect_scores=0),
    ]
    given = Given(
        papers=papers,
        reviews=reviews,
        review_tokens=[*words("a-0", "a-1", "b-0"), {"forum_id": "b", "review_id": "b-1", "tokens": 0}],
        paper_tokens=[words("a")[0] | {"grade": "stated"}, words("b")[0] | {"grade": "unstated"}],
        turns=[*talk("a/1", "ra"), *talk("a/2", "r"), *talk("b/1", "rar")],
        meta_reviews=[{"forum_id": "b"}],
    )
    row = dataset_row(given, "mine")
    assert (row.name, row.source) == ("mine", "iclr 2022 2024, icml")
    assert dict(row.counts) == {
        "reviews": 3,
        "aspect_scores": 2,
        "rebuttals": 2,
        "score_changes": 1,
        "meta_reviews": 1,
        "decisions": 2,
    }
    assert dict(row.task_papers) == {"AP": 1, "SP": 2, "RA": 0, "RG": 2, "MG": 1}
    assert row.tasks == ("AP", "SP", "RG", "MG")
    assert (row.papers, row.review_comments, row.rebuttal_count, row.compared) == (3, 4, 2, 2)
    assert row.has == HAS
    assert (row.texts, row.initial_texts) == (2, 1)


def test_the_sixteen_rows_are_as_printed() -> None:
    rows = printed_rows()
    assert len(rows) == 16
    assert (rows[0].name, rows[0].papers, rows[0].tasks) == ("PeerRead", 14_700, ("AP", "SP"))
    re2 = rows[-1]
    assert (re2.name, re2.papers, re2.review_comments, re2.rebuttal_count) == ("Re²", 19_926, 70_668, 53_818)
    assert re2.has == HAS
    assert [row.name for row in rows if row.rebuttal_count is None] == ["PRRCA", "AgentReview"]
    assert {task for row in rows for task in row.tasks} == set(TASKS)
    assert sum(row.papers or 0 for row in rows) == 154_701


def the_forums() -> dict[str, list[object]]:
    """Papers with restricted posts, changed scores, aspects, and meta-reviews of each kind."""
    sound = made.score("soundness", 3, "3 good", Aspect.SOUNDNESS)
    first = made.score("rating", 4, "4", Aspect.RECOMMENDATION, Phase.INITIAL)
    last = made.score("rating", 6, "6", Aspect.RECOMMENDATION)
    hidden = [
        made.paper("h", status=Status.REJECTED, decision_comment="Too bold."),
        made.review("h", "R1", readers_public=False),
        made.post("h-meta", "h", kind=PostKind.META_REVIEW, text="Too bold.", readers_public=False),
        made.conversation("h", "R1", [made.turn(Role.AUTHOR, "h-secret")]),
    ]
    scored = [
        made.paper("s", decision_comment=None, status=Status.WITHDRAWN),
        made.review("s", "R1", scores=(first, last, sound)),
        made.review("s", "R2", scores=(replace(last, phase=Phase.INITIAL), last), revised=False, sections=()),
        made.post("s-meta", "s", kind=PostKind.META_REVIEW, role=Role.AREA_CHAIR),
    ]
    return {ICLR: [*a_forum("a"), *hidden, *scored], ICML: a_forum("m", ICML)}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with made.invented(tmp_path_factory.mktemp("row") / "corpus", the_forums()) as workspace:
        yield workspace


@pytest.fixture(scope="module")
def release(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "release"
    publish_release(workspace, folder)
    return folder


@pytest.mark.slow
def test_workspace_release_and_card_agree(workspace: Workspace, release: Path, run: Run) -> None:
    with open_source(workspace.folder) as tables, open_source(release) as published:
        row, of_release = dataset_row(tables, "this release"), dataset_row(published, "this release")
    assert row == of_release
    assert (row.papers, row.review_comments, row.compared) == (4, 4, 2)
    assert row.counts["score_changes"] == row.counts["aspect_scores"] == 1
    assert row.counts["reviews"] == 3
    assert row.counts["meta_reviews"] == 3
    printed = run("table1", "-w", release, "--name", "this release").out
    assert printed.strip() in (release / "details.md").read_text()


def test_the_command_prints_markdown_and_json(release: Path, run: Run) -> None:
    lines = run("table1", "-w", release).out.splitlines()
    assert lines[2].startswith("| release |")
    assert [line.split(" | ")[0] for line in lines[2:19]][-1] == "| Re²"
    assert "not printed" in lines[9]
    table = json.loads(run("table1", "-w", release, "--json", "--where", "conference=icml").out)
    assert (table["row"]["papers"], len(table["printed"])) == (1, 16)
    assert table["row"]["source"] == "icml 2023"


def test_other_paths_are_refused(tmp_path: Path, run: Run) -> None:
    assert_refused(run("table1", "-w", tmp_path), f"'{tmp_path}'")
