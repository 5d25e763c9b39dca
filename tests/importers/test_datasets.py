"""Published datasets are imported record by record, unchanged; anything else is named, and nothing is stored."""

import gzip
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from naming import Naming
from peercorpus.errors import DumpError, MissingExtraError, SourceError
from peercorpus.importers.datasets import build_published
from peercorpus.importers.files import WANTED, DumpFile, read_elements
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.importers.reviewbench import COLUMNS
from peercorpus.installation import advise_install
from peercorpus.openreview.raw_rows import RawOrigin
from peercorpus.records.datasets import Dataset
from peercorpus.release.schemas import ReviewBench
from peercorpus.workspace.hub_datasets import HubDataset, fetch_dataset
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace
from published_records import (
    KITES,
    TEXT,
    re2_paper,
    re2_rebuttal,
    reviewbench_row,
    write_json,
    write_manuscript,
    write_parquet,
)

STAND_IN = "published/Kites/2023/Conference"


def held(workspace: Workspace, venue_id: str) -> dict[str, RawObject]:
    return {found.object_id: found for found in workspace.raw.latest(RawKind.PUBLISHED, venue_id)}


def test_a_release_begins_with_reviewbench_columns() -> None:
    assert list(COLUMNS) == ReviewBench.schema.names


def test_every_reviewbench_row_is_kept_whole(tmp_path: Path, workspace: Workspace) -> None:
    rows = [reviewbench_row(f"kite{number}") for number in range(5)]
    path = write_parquet(tmp_path / "data" / "kites-00000-of-00001.parquet", rows)
    summary = import_dumps(workspace, [path])
    found = held(workspace, KITES)
    assert summary.taken(RawKind.PUBLISHED).total == len(rows)
    assert [json.loads(found[f"reviewbench:kite{number}"].body) for number in range(5)] == rows
    assert found["reviewbench:kite4"].source == "kites-00000-of-00001.parquet, row 5"
    assert {(one.api, one.forum_id) for one in found.values()} == {(0, row["forum_id"]) for row in rows}


def test_an_additional_column_is_kept(tmp_path: Path, workspace: Workspace) -> None:
    schema = ReviewBench.schema.append(pa.field("citations", pa.int32()))
    import_dumps(workspace, [write_parquet(tmp_path / "a.parquet", [reviewbench_row(citations=3)], schema)])
    assert json.loads(held(workspace, KITES)["reviewbench:kite1"].body)["citations"] == 3


@pytest.mark.parametrize("indent", [None, 4])
def test_re2_records_are_kept_verbatim(tmp_path: Path, workspace: Workspace, indent: int | None) -> None:
    papers = [re2_paper("kite1"), re2_paper("kite2", metareview='A "]" and a \\ and é\u2028')]
    write_json(tmp_path / "re2" / "REVIEWS_train.json", papers, indent=indent, ensure_ascii=indent is None)
    write_json(tmp_path / "re2" / "REBUTTAL_test.json", [re2_rebuttal(), re2_rebuttal(reviewer_id="Reviewer_Ef")])
    write_manuscript(tmp_path / "re2")
    summary = import_dumps(workspace, [tmp_path / "re2"])
    found = held(workspace, STAND_IN)
    assert found.keys() == {
        *("re2-reviews:kite1", "re2-reviews:kite2", "re2-rebuttal:kite1/Reviewer_AbCd"),
        *("re2-rebuttal:kite1/Reviewer_Ef", "re2-text:kite1"),
    }
    assert json.loads(found["re2-reviews:kite2"].body) == papers[1]
    assert json.loads(found["re2-text:kite1"].body)["markdown"] == TEXT
    assert [(one.name, [*one.left_out.items()]) for one in summary.files if one.left_out] == [
        ("re2/**/Initial_manuscript_md/Initial_manuscript.md", [(Naming("beside a manuscript"), 1)])
    ]


def test_packed_re2_files_are_read(tmp_path: Path, workspace: Workspace) -> None:
    packed = tmp_path / "REVIEWS_train.json.gz"
    packed.write_bytes(gzip.compress(json.dumps([re2_paper()]).encode()))
    archive = tmp_path / "papers.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        member = "Kites/Kites 2023/Kites 2023 Conference/kite1/Initial_manuscript_md/Initial_manuscript.md"
        zipped.writestr(f"papers/{member}", TEXT)
        zipped.writestr("papers/Kites/../../../../escaped.md", "out")
    import_dumps(workspace, [packed, archive])
    assert held(workspace, STAND_IN).keys() == {"re2-reviews:kite1", "re2-text:kite1"}
    assert not list(tmp_path.rglob("escaped.md"))


def test_archive_and_folder_give_one_record(tmp_path: Path, workspace: Workspace) -> None:
    import_dumps(workspace, [write_manuscript(tmp_path)])
    with zipfile.ZipFile(tmp_path / "papers.zip", "w") as zipped:
        for path in (tmp_path / "papers").rglob("*.md"):
            zipped.write(path, path.relative_to(tmp_path))
    assert import_dumps(workspace, [tmp_path / "papers.zip"]).taken(RawKind.PUBLISHED).new == 0


def test_importing_again_adds_nothing(tmp_path: Path, workspace: Workspace) -> None:
    other = re2_rebuttal(messages=re2_rebuttal()["messages"][:3])
    path = write_json(tmp_path / "REBUTTAL_train.json", [re2_rebuttal(), other, re2_rebuttal()])
    first, second = import_dumps(workspace, [path]), import_dumps(workspace, [path])
    assert (first.taken(RawKind.PUBLISHED).new, second.taken(RawKind.PUBLISHED).new) == (2, 0)
    record_id = "re2-rebuttal:kite1/Reviewer_AbCd"
    assert held(workspace, STAND_IN).keys() == {record_id, f"{record_id}#2"}


def bad_parquet(path: Path) -> Path:
    write_parquet(path, [reviewbench_row()])
    path.write_bytes(path.read_bytes()[:-20])
    return path


def short_parquet(path: Path) -> Path:
    without = ReviewBench.schema.remove(ReviewBench.schema.get_field_index("reviews_json"))
    row = reviewbench_row()
    del row["reviews_json"]
    return write_parquet(path, [row], without)


def other_types(name: str, kind: pa.DataType, value: Any) -> Any:
    at = ReviewBench.schema.get_field_index(name)
    schema = ReviewBench.schema.set(at, pa.field(name, kind))
    return lambda path: write_parquet(path, [reviewbench_row(**{name: value})], schema)


def renamed_parquet(path: Path) -> Path:
    names = ["text" if name == "markdown" else name for name in ReviewBench.schema.names]
    pq.write_table(pa.Table.from_pylist([reviewbench_row()], schema=ReviewBench.schema).rename_columns(names), path)
    return path


def doubled_parquet(path: Path) -> Path:
    table = pa.Table.from_pylist([reviewbench_row()], schema=ReviewBench.schema)
    pq.write_table(table.append_column(ReviewBench.schema.field("title"), table["title"]), path)
    return path


def cut_json(path: Path) -> Path:
    write_json(path, [re2_paper(f"kite{number}") for number in range(3)])
    path.write_bytes(path.read_bytes()[:-30])
    return path


def zip_with_bomb(path: Path) -> Path:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("a/K 2023/x/Initial_manuscript_md/Initial_manuscript.md", bytes((1 << 26) + 1))
    path.write_bytes(content.getvalue())
    return path


def empty_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w"):
        return path


BAD: dict[str, tuple[Any, str]] = {
    "cut.parquet": (bad_parquet, "/cut.parquet' cannot be read"),
    "short.parquet": (short_parquet, "/short.parquet' is not a ReviewBench table: the column 'reviews_json'"),
    "renamed.parquet": (
        renamed_parquet,
        "/renamed.parquet' is not a ReviewBench table: the column 'markdown' is missing",
    ),
    "doubled.parquet": (doubled_parquet, "/doubled.parquet'"),
    "year.parquet": (
        other_types("year", pa.string(), "2023"),
        "/year.parquet' is not a ReviewBench table: the column 'year' has the type string, not whole numbers",
    ),
    "authors.parquet": (
        other_types("authors", pa.string(), "Ada Example"),
        "the column 'authors' has the type string, not lists of texts",
    ),
    "text.parquet": (
        other_types("markdown", pa.binary(), b"We fly."),
        "the column 'markdown' has the type binary, not texts",
    ),
    "REVIEWS_cut.json": (cut_json, "/REVIEWS_cut.json' cannot be read"),
    "REVIEWS_train.json": (
        lambda path: write_json(path, [{"question": "Why?", "answer": 42}]),
        "/REVIEWS_train.json' contains no",
    ),
    "REBUTTAL_mixed.json": (lambda path: write_json(path, [re2_rebuttal(), {"paper_id": "kite1"}]), "record 2"),
    "REVIEWS_nameless.json": (lambda path: write_json(path, [re2_paper(), re2_paper("")]), "record 2"),
    "REVIEWS_renamed.json": (
        lambda path: write_json(path, [{"id": "kite1", "review_list": []}]),
        "/REVIEWS_renamed.json' contains no",
    ),
    "REVIEWS_revised.json": (lambda path: write_json(path, [re2_paper(), re2_paper(reviews="It flies.")]), "record 2"),
    "REBUTTAL_revised.json": (lambda path: write_json(path, [re2_rebuttal(messages={"role": "user"})]), "record 1"),
    "bomb.zip": (zip_with_bomb, "67,108,864 bytes"),
    "broken.zip": (lambda path: path.write_bytes(b"PK no") and path, "/broken.zip' cannot be read"),
    "other.zip": (empty_zip, "/other.zip' contains no"),
}


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("paper_number", pa.float64(), 7.0),
        ("paper_number", pa.null(), None),
        ("markdown", pa.large_string(), "We fly."),
        ("keywords", pa.large_list(pa.large_string()), ["kites"]),
        ("conference", pa.dictionary(pa.int8(), pa.string()), "kites"),
    ],
)
def test_equivalent_column_types_are_accepted(
    tmp_path: Path, workspace: Workspace, name: str, kind: pa.DataType, value: object
) -> None:
    import_dumps(workspace, [other_types(name, kind, value)(tmp_path / "a.parquet")])
    assert "reviewbench:kite1" in held(workspace, KITES)


@pytest.mark.parametrize("name", BAD)
def test_bad_files_do_not_stop_good_ones(tmp_path: Path, workspace: Workspace, name: str) -> None:
    make, sentence = BAD[name]
    good = write_json(tmp_path / "REVIEWS_good.json", [re2_paper("good")])
    summary = import_dumps(workspace, [good, make(tmp_path / name)])
    bad = summary.files[1]
    shown = f"{bad.problem} {bad.left_out} {bad.first}"
    assert sentence in shown
    assert "\n" not in shown
    assert not bad.is_whole
    assert "re2-reviews:good" in held(workspace, STAND_IN)


def test_an_unknown_table_is_left_out(tmp_path: Path, workspace: Workspace) -> None:
    write_parquet(tmp_path / "data" / "a.parquet", [reviewbench_row()])
    short_parquet(tmp_path / "data" / "b.parquet")
    summary = import_dumps(workspace, [tmp_path / "data"])
    good, bad = summary.files
    assert good.problem is None
    assert "'reviews_json'" in str(bad.problem)


def test_records_with_and_without_venue_stay(tmp_path: Path, workspace: Workspace) -> None:
    re2 = write_json(tmp_path / "REVIEWS_train.json", [re2_paper("kite1"), re2_paper("kite2")])
    import_dumps(workspace, [re2])
    import_dumps(workspace, [write_parquet(tmp_path / "a.parquet", [reviewbench_row("kite1")])])
    assert held(workspace, KITES).keys() == {"reviewbench:kite1", "re2-reviews:kite1"}
    assert held(workspace, STAND_IN).keys() == {"re2-reviews:kite2"}


def test_a_hub_dataset_is_read_through_links(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = write_parquet(tmp_path / "blobs" / "ab12.parquet", [reviewbench_row()])
    snapshot = tmp_path / "snapshots" / "0123456789abcdef"
    (snapshot / "data").mkdir(parents=True)
    (snapshot / "data" / "kites-0.parquet").symlink_to(blob)
    asked: list[tuple[str, object, object]] = []

    def stand_in(repository: str, **how: object) -> str:
        asked.append((repository, how["repo_type"], how["revision"]))
        return str(snapshot)

    monkeypatch.setattr("huggingface_hub.snapshot_download", stand_in)
    import_dumps(workspace, [Path("hf:Samarth0710/reviewbench")])
    import_dumps(workspace, [Path("hf:Samarth0710/reviewbench@0123456789abcdef")])
    assert asked == [("Samarth0710/reviewbench", "dataset", revision) for revision in (None, "0123456789abcdef")]
    source = held(workspace, KITES)["reviewbench:kite1"].source
    assert source == "hf:Samarth0710/reviewbench@0123456789ab/data/kites-0.parquet, row 1"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=re.escape(advise_install("hf"))):
        fetch_dataset(HubDataset("Daoze/ReviewRebuttal"), WANTED)


@pytest.mark.parametrize("path", ["hf:", "hf:reviewbench", "hf:a/b/c", "hf:a/b c", "hf:a/b@", "hf:a/b@/c"])
def test_an_invalid_hub_name_is_refused(workspace: Workspace, path: str) -> None:
    with pytest.raises(DumpError, match="hf:owner/name"):
        import_dumps(workspace, [Path(path)])


def test_an_unreachable_dataset_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise LocalEntryNotFoundError("no way\nto the Hub")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    with pytest.raises(SourceError, match=r"^The dataset 'a/b' .*cannot be reached.*\.$"):
        fetch_dataset(HubDataset("a/b"), WANTED)


@pytest.mark.parametrize(
    ("named", "venue_id"),
    [
        ("NeurIPS 2022 Conference", "NeurIPS.cc/2022/Conference"),
        ("ICLR 2017", "ICLR.cc/2017/conference"),
        ("NeurIPS 2021 Track Datasets and Benchmarks Round1", "NeurIPS.cc/2021/Track/Datasets_and_Benchmarks/Round1"),
        ("NeurIPS 1999 Conference", "published/NeurIPS/1999/Conference"),
        ("Kites", "published/Kites"),
        ("../../etc 2020 Conference", "published/.._.._etc/2020/Conference"),
        (None, "unplaced"),
    ],
)
def test_a_venue_or_stand_in_is_named(named: str | None, venue_id: str) -> None:
    body = json.dumps(re2_paper() | {"conference_year_track": named}).encode()
    assert build_published(Dataset.RE2_REVIEWS, body, RawOrigin("test", 0)).venue_id == venue_id


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(
    ("content", "elements", "error"),
    [
        (b"\xef\xbb\xbf[1, 2.50]", [b"1", b"2.50"], None),
        (b"[NaN, 1]", [b"NaN", b"1"], None),
        (b'[{"a" : "\\ud83d"} , 1]', [b'{"a" : "\\ud83d"}', b"1"], None),
        (b'[1, {"a" : [2', [b"1"], "truncated"),
        (b'["a", "b', [b'"a"'], "truncated"),
        (b'[1, {"a" : [2}, 3]', [b"1"], "truncated"),
        (b"[1, 2}", [b"1", b"2"], "damaged"),
        (b"[1] [2]", [b"1"], "list"),
        (b"[] 1", [], "damaged"),
        (b"[1," + b"[" * 100_000, [b"1"], "truncated"),
        (b'[1, "' + b"a" * 3_000_000 + b'", 2]', [b"1", b'"' + b"a" * 3_000_000 + b'"', b"2"], None),
        (b'{"a": 1}', [], "list"),
    ],
)
def test_a_list_is_read_up_to_its_damage(
    tmp_path: Path, content: bytes, elements: list[bytes], error: str | None, is_packed: bool
) -> None:
    path = tmp_path / ("list.json.gz" if is_packed else "list.json")
    path.write_bytes(gzip.compress(content) if is_packed else content)
    read = read_elements(DumpFile(path, path.name, is_named=True))
    assert [next(read) for _ in elements] == elements
    with pytest.raises(ValueError, match=error) if error else pytest.raises(StopIteration):
        next(read)


def test_a_cut_packed_list_gives_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "list.json.gz"
    numbers = b"[" + b", ".join(b"%d" % number for number in range(50_000)) + b"]"
    path.write_bytes(gzip.compress(numbers)[:-1000])
    found: list[bytes] = []
    with pytest.raises(DumpError, match=r"list\.json\.gz"):
        found.extend(read_elements(DumpFile(path, path.name, is_named=True)))
    assert found[:2] == [b"0", b"1"]
    assert len(found) > 1000
