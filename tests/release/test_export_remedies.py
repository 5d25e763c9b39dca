"""An export that leaves conversations out correctly names the options that would turn them into dialogues."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import Run
from in_this_process import build_here
from invented_tables import ICLR, a_forum, invented
from peercorpus.harvest.import_dumps import import_dumps
from peercorpus.models.chat_messages import ChatOptions
from peercorpus.records.enums import Grade, Role
from peercorpus.records.papers import PaperVersion
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.exports.remedies import Remedies, Remedy
from peercorpus.release.exports.samples import Opening, PromptOptions
from peercorpus.release.exports.workspace_export import export_workspace
from peercorpus.workspace.workspace import open_workspace
from reviewbench_rows import invented_rows


@pytest.fixture(scope="module")
def reviewbench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of ReviewBench's Parquet: texts of unknown versions, and reviewers who never reply."""
    folder = tmp_path_factory.mktemp("reviewbench")
    rows = [row | {"venue_id": "ICLR.cc/2024/Conference"} for row in invented_rows(12)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "reviewbench.parquet")
    with open_workspace(folder / "corpus", create=True) as workspace:
        import_dumps(workspace, [folder / "reviewbench.parquet"])
        build_here(workspace)
    return folder / "corpus"


@pytest.mark.parametrize("typed", [(), ("--assistant", "author"), ("--no-system",)])
def test_the_suggested_options_export_reviewbench_papers_that_gave_no_dialogue(
    reviewbench: Path, tmp_path: Path, run: Run, typed: tuple[str, ...]
) -> None:
    out = tmp_path / "train.jsonl"
    layout = ("--format", "axolotl" if typed else "trl")
    ended = run("export", reviewbench, "--out", out, *layout, *typed)
    assert (ended.code, out.exists()) == (1, False)
    advice = re.search(r"^With (--.+), what was left out would make (\d+) dialogues\.$", ended.out, re.MULTILINE)
    assert advice is not None
    kept = () if "--assistant" in advice[1] else typed
    followed = run("export", reviewbench, "--out", out, *layout, *kept, *advice[1].split())
    assert followed.code == 0
    assert out.read_text().count("\n") == int(advice[2]) > 3


def test_jsonl_from_a_workspace_is_refused_with_the_option_that_writes_json_lines(
    reviewbench: Path, tmp_path: Path, run: Run
) -> None:
    ended = run("export", reviewbench, "--out", tmp_path / "t.jsonl", "--format", "jsonl")
    assert ended.code == 2
    assert "--format trl" in ended.err


def written_with(tmp_path: Path, records: list[object], assistant: Role) -> tuple[Remedy, ...]:
    wanted = ExportRequest(ExportLayout.TRL, (), PromptOptions(Opening.TEXT, chat=ChatOptions(assistant)))
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        return export_workspace(workspace, tmp_path / "d.jsonl", wanted, [ICLR]).remedies


def regraded(grade: Grade) -> list[object]:
    return [
        replace(record, grade=grade) if isinstance(record, PaperVersion) else record
        for record in a_forum("f1", markdown="We invent.")
    ]


def test_the_strictest_grade_that_helps_is_suggested_before_the_abstract(tmp_path: Path) -> None:
    remedies = written_with(tmp_path, regraded(Grade.BEFORE_FIRST_REVIEW), Role.AUTHOR)
    assert remedies == (Remedy("--grade before_first_review", 1),)


def test_for_a_paper_without_a_text_the_abstract_is_suggested(tmp_path: Path) -> None:
    records = [record for record in regraded(Grade.STATED) if type(record).__name__ != "PaperText"]
    assert written_with(tmp_path, records, Role.AUTHOR) == (Remedy("--paper abstract", 1),)


def test_nothing_is_suggested_if_all_conversations_are_dialogues(tmp_path: Path) -> None:
    assert written_with(tmp_path, regraded(Grade.EXACT), Role.AUTHOR) == ()


def test_the_smallest_change_is_suggested_first_and_a_larger_one_only_if_it_adds_more() -> None:
    assert found({"--grade stated": 6, "--grade stated --assistant author": 14, "--paper abstract": 5}) == [
        ("--grade stated", 6),
        ("--grade stated --assistant author", 14),
    ]
    assert found({"--grade stated": 6, "--grade stated --assistant author": 6}) == [("--grade stated", 6)]
    assert found({"--grade unstated --assistant author": 23}) == [("--grade unstated --assistant author", 23)]


def found(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Return what is suggested if these options add as many dialogues."""
    remedies = object.__new__(Remedies)
    remedies._counts = Counter(counts)
    return [(remedy.options, remedy.dialogues) for remedy in remedies.found]
