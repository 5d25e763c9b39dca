"""`peercorpus verify`: an intact release passes; for every check, exactly the planted fault is found."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import Run
from invented_tables import ICLR, a_forum, invented
from naming import Naming
from peercorpus.release.splits import Split, Task
from peercorpus.workspace.raw_store import RawKind, RawObject
from planted_releases import Plan, found, plan, resign

__all__ = ["plan"]

PAPERS, FULL = "data/papers/iclr-00000-of-00001.parquet", "data/papers_full/iclr-00000-of-00001.parquet"
TRAIN, TEST = (f"data/review_sft/{split}-00000-of-00001.parquet" for split in ("train", "test"))
SPLITS = "splits/re2.json"


def test_a_valid_release_passes_every_check(plan: Plan, tmp_path: Path, run: Run) -> None:
    ended = run("verify", plan.write(tmp_path / "release"))
    assert ended.code == 0
    looked_at = [line.split(maxsplit=2)[:2] for line in ended.out.splitlines()[:-1]]
    assert looked_at[:6] == [
        ["sums", "15"],
        ["schema", "13"],
        ["ids", "34"],
        ["splits", "4"],
        ["links", "2"],
        ["takedown", "not"],
    ]
    assert looked_at[-1] == ["questions", "not"]
    assert looked_at[-2][0] == "leaks"
    assert int(looked_at[-2][1].replace(",", "")) > 34
    assert "takedown.txt" in ended.out


def spoil_sum(release: Path) -> None:
    (release / "README.md").write_text((release / "README.md").read_text() + "\nMore.\n")


def lose_file(release: Path) -> None:
    (release / "data/links/iclr-00000-of-00001.parquet").unlink()


def add_file(release: Path) -> None:
    (release / "data" / "more.txt").write_text("more")


def link_file(release: Path) -> None:
    card = release / "README.md"
    card.rename(release.parent / "card")
    card.symlink_to(release.parent / "card")


def link_folder(release: Path) -> None:
    (release / "data" / "more").symlink_to(release.parent, target_is_directory=True)


@pytest.mark.parametrize(
    ("spoil", "file", "kind"),
    [
        (spoil_sum, "README.md", "differs from"),
        (lose_file, "data/links/iclr-00000-of-00001.parquet", "missing"),
        (add_file, "data/more.txt", "not listed"),
        (link_file, "README.md", "regular file"),
        (link_folder, "data/more", "not listed"),
    ],
)
def test_wrong_checksums_are_found(
    plan: Plan, tmp_path: Path, run: Run, spoil: Callable[[Path], None], file: str, kind: str
) -> None:
    release = plan.write(tmp_path / "release")
    spoil(release)
    ((named, record_id, what),) = found(release)["sums"]
    assert (named, record_id, what) == (file, None, Naming(kind))
    ended = run("verify", release)
    assert ended.code == 1
    assert f"  {file}: {what}\n" in ended.out
    assert "sums" in ended.out.splitlines()[-1]


def test_a_path_outside_the_release_is_not_followed(plan: Plan, tmp_path: Path) -> None:
    release = plan.write(tmp_path / "release")
    manifest = json.loads((release / "release.json").read_text())
    (tmp_path / "outside").write_text("")
    for name in ("../outside", str(tmp_path / "outside"), "data/../../outside"):
        manifest["files"][name] = "0" * 64
    (release / "release.json").write_text(json.dumps(manifest))
    assert sorted(found(release)["sums"]) == [
        (name, None, Naming("missing"))
        for name in sorted(["../outside", str(tmp_path / "outside"), "data/../../outside"])
    ]


def change_table(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(change(pq.read_table(path)), path)


@pytest.mark.parametrize(
    ("change", "differing"),
    [
        (lambda table: table.drop_columns(["title"]), "title"),
        (lambda table: table.append_column("mood", table["title"]), "mood"),
        (lambda table: table.select(table.schema.names[::-1]), "order"),
        (
            lambda table: table.set_column(
                table.schema.names.index("title"), "title", table["title"].cast(pa.large_string())
            ),
            "title",
        ),
    ],
)
def test_schema_of_columns(plan: Plan, tmp_path: Path, change: Callable[[pa.Table], pa.Table], differing: str) -> None:
    release = plan.write(tmp_path / "release")
    change_table(release / FULL, change)
    resign(release)
    ((file, record_id, what),) = found(release).pop("schema")
    assert (file, record_id, what) == (FULL, None, Naming("columns"))
    assert what.split(": ")[1].split()[-1] == differing


def test_schema_of_rows_and_of_files(plan: Plan, tmp_path: Path) -> None:
    plan.counts = {("papers", "iclr"): 5, ("papers", "icml"): 2}
    release = plan.write(tmp_path / "release")
    assert found(release) == {
        "schema": [
            ("README.md", "papers/iclr", Naming(" 5 ", " 4")),
            ("README.md", "papers/icml", Naming(" 2 ", " 0")),
        ]
    }


def test_schema_without_a_card(plan: Plan, tmp_path: Path) -> None:
    release = plan.write(tmp_path / "release")
    (release / "README.md").unlink()
    resign(release)
    assert found(release) == {"schema": [("README.md", None, Naming("cannot be read", "rows"))]}


def test_schema_of_unreadable_files_or_of_no_configuration(plan: Plan, tmp_path: Path) -> None:
    release = plan.write(tmp_path / "release")
    path = release / "data/scores/iclr-00000-of-00001.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    (release / "data" / "strange").mkdir()
    (release / "data" / "strange" / "one-00000-of-00001.parquet").write_bytes((release / PAPERS).read_bytes())
    (release / "data" / "papers" / "more.parquet").write_bytes((release / PAPERS).read_bytes())
    resign(release)
    assert found(release)["schema"] == [
        ("data/papers/more.parquet", None, Naming("no configuration")),
        ("data/scores/iclr-00000-of-00001.parquet", None, Naming("cannot be read", "Parquet")),
        ("data/strange/one-00000-of-00001.parquet", None, Naming("configuration", "not know")),
        ("README.md", "strange/one", Naming(" 0 ", " 4")),
    ]


def test_a_truncated_file_is_a_breach(plan: Plan, tmp_path: Path) -> None:
    release = plan.write(tmp_path / "release")
    path = release / "data/reviews/iclr-00000-of-00001.parquet"
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)
    resign(release)
    file = "data/reviews/iclr-00000-of-00001.parquet"
    assert (file, None, Naming("cannot be read", "end")) in found(release)["ids"]


@pytest.mark.parametrize("config", ["papers", "papers_full", "reviews", "conversations"])
def test_duplicate_ids(plan: Plan, tmp_path: Path, config: str) -> None:
    rows = plan.rows[config, "iclr"]
    rows.append(rows[1])
    name = {"reviews": "b-R1", "conversations": "b/R1"}.get(config, "b")
    release = plan.write(tmp_path / "release")
    file = f"data/{config}/iclr-00000-of-00001.parquet"
    assert found(release) == {"ids": [(file, name, Naming("more than once", f"'{config}'"))]}


@pytest.mark.parametrize("config", ["reviews", "conversations", "versions", "scores", "links"])
def test_ids_of_missing_papers(plan: Plan, tmp_path: Path, config: str) -> None:
    plan.rows[config, "iclr"][0]["forum_id"] = "z"
    release = plan.write(tmp_path / "release")
    file = f"data/{config}/iclr-00000-of-00001.parquet"
    assert found(release) == {"ids": [(file, "z", Naming("'papers'", "not have"))]}


def test_ids_of_tasks(plan: Plan, tmp_path: Path) -> None:
    plan.rows["papers", "iclr"].pop()
    plan.rows["review_sft", "train"].append(plan.rows["review_sft", "train"][0])
    breaches = found(plan.write(tmp_path / "release"))
    assert breaches.keys() == {"ids"}
    assert (TEST, "d", Naming("'papers'", "not have")) in breaches["ids"]
    assert (TRAIN, "a", Naming("more than once", "'review_sft'")) in breaches["ids"]


def test_splits_with_a_paper_in_two_of_them(plan: Plan, tmp_path: Path) -> None:
    plan.splits[Split.TEST].append("a")
    plan.splits[Split.TRAIN] = ["b", "a"]
    release = plan.write(tmp_path / "release")
    assert (SPLITS, "a", Naming("two splits", "train", "test")) in found(release)["splits"]


def test_splits_with_a_task_in_two(plan: Plan, tmp_path: Path) -> None:
    plan.tasks[Task.REVIEW][Split.TEST].append("a")
    assert (SPLITS, "a", Naming("two splits", "train", "test")) in found(plan.write(tmp_path / "one"))["splits"]
    other = Plan()
    other.splits = {Split.TRAIN: ["a", "b", "d"], Split.VALIDATION: ["c"], Split.TEST: []}
    assert found(other.write(tmp_path / "other")) == {"splits": [(SPLITS, "d", Naming("used", "another split"))] * 2}


def test_splits_with_other_sizes_than_papers(plan: Plan, tmp_path: Path) -> None:
    release = plan.write(tmp_path / "release")
    file = json.loads((release / SPLITS).read_text())
    file["sizes"]["review"]["test"] = 7
    (release / SPLITS).write_text(json.dumps(file))
    resign(release)
    assert found(release) == {"splits": [(SPLITS, None, Naming("sizes", "'review'"))]}


def test_splits_and_configurations_that_do_not_agree(plan: Plan, tmp_path: Path) -> None:
    plan.rows["review_sft", "train"] = [plan.rows["review_sft", "train"][0], plan.rows["review_sft", "test"][0]]
    release = plan.write(tmp_path / "release")
    breaches = found(release)
    assert breaches["splits"] == [
        (TRAIN, "d", Naming("not in the train", "'review'")),
        (SPLITS, "b", Naming("train", "'review'", "not in its configuration")),
        (min(TRAIN, TEST), "d", Naming("2 splits")),
    ]
    assert breaches.keys() == {"splits", "ids"}


def test_splits_without_their_file(plan: Plan, tmp_path: Path) -> None:
    plan.has_splits = False
    release = plan.write(tmp_path / "release")
    assert found(release) == {"splits": [("splits/", None, Naming(" 0 ", " one"))]}
    (release / "splits").mkdir()
    (release / SPLITS).write_bytes(b'{"profile": "\xff"')
    resign(release)
    assert (SPLITS, None, Naming("cannot be read")) in found(release)["splits"]


def test_links_between_papers_in_different_splits(plan: Plan, tmp_path: Path) -> None:
    plan.rows["links", "iclr"].append({"forum_id": "d", "earlier_id": "a"})
    release = plan.write(tmp_path / "release")
    file = "data/links/iclr-00000-of-00001.parquet"
    assert found(release) == {"links": [(file, "d", Naming("'a'", "2 splits"))]}


def test_links_that_name_one_paper_only(plan: Plan, tmp_path: Path) -> None:
    plan.rows["links", "iclr"].append({"forum_id": "d", "earlier_id": None})
    file = "data/links/iclr-00000-of-00001.parquet"
    assert found(plan.write(tmp_path / "release")) == {"links": [(file, "d", Naming("no 'forum_id'", "'earlier_id'"))]}


def test_unreadable_inputs_are_a_breach(plan: Plan, tmp_path: Path, run: Run) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("a")}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "a", 2, ICLR, "a", "a", 1, 1, "invented", b"{}")])
    release = plan.write(tmp_path / "release")
    (release / "inputs.json").write_text("{")
    ended = run("verify", release, "--workspace", tmp_path / "corpus")
    assert ended.code == 1
    breaches = [line for line in ended.out.splitlines() if line.startswith("  inputs.json: ")]
    assert breaches == [Naming("release.json"), Naming("cannot be read", "workspace")]


@pytest.mark.fault("input", "an escape sequence in an id of a release", "it is escaped")
def test_ids_with_control_characters_cannot_move_the_cursor(plan: Plan, tmp_path: Path, run: Run) -> None:
    plan.rows["scores", "iclr"][0]["forum_id"] = "z\x1b[2J"
    ended = run("verify", plan.write(tmp_path / "release"))
    assert "z\\x1b[2J" in ended.out
    assert "\x1b" not in ended.out
