"""The metadata of a release, read offline by MLCommons' own reader."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from answered_points import with_points
from asked_releases import publish_release
from invented_tables import ICLR, ICML, a_forum, invented, link, paper, what_follows, with_figures
from peercorpus.release.card.cards import state_release
from peercorpus.release.card.croissant import NAME
from peercorpus.release.card.facts import ReleaseFacts
from peercorpus.release.columns import column_meaning
from peercorpus.release.counts import ReleaseCounts, VenueCounts
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.shards import CONFIGS
from peercorpus.workspace.raw_store import RawKind, RawObject

BAD_ID = 'X.cc/2020/<b>"\\|${'

# In a separate process: it warns about its own use of pandas and rdflib, and changes settings permanently.
READ = """
import json, logging, sys
from pathlib import Path
import mlcroissant, pandas
import pyarrow.parquet as pq
told = []
class Told(logging.Handler):
    def emit(self, record):
        told.append(record.getMessage())
logging.getLogger().addHandler(Told(logging.WARNING))
logging.getLogger("absl").addHandler(Told(logging.WARNING))
folder = Path(sys.argv[1])
by_itself = mlcroissant.Dataset(jsonld=json.loads((folder / "croissant.json").read_text()))
read = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
for dataset in (by_itself, read):
    assert not dataset.metadata.ctx.issues.errors and not dataset.metadata.ctx.issues.warnings
assert str(read.metadata.ctx.conforms_to) == "CroissantVersion.V_1_1"
for name in json.loads(sys.argv[2]):
    rows = [row for path in sorted((folder / "data" / name).iterdir()) for row in pq.read_table(path).to_pylist()]
    records = list(read.records(name))
    assert len(records) == len(rows), name
    for record, row in zip(records, rows):
        for column, value in row.items():
            held = record.get(f"{name}/{column}")
            if isinstance(value, str):
                assert held == value.encode(), (column, held, value)
            elif value is None and isinstance(held, list):  # a null list of structs is read as one struct of nulls
                assert [set(one.values()) for one in held] == [{None}], (column, held)
            elif value is None or isinstance(value, (bool, int, float)):
                assert held == value, (column, held, value)
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                for one, part in zip(held, value, strict=True):
                    texts = {key: text for key, text in part.items() if isinstance(text, str)}
                    assert {key: one[f"{name}/{column}/{key}"] for key in texts} == {
                        key: text.encode() for key, text in texts.items()
                    }
splits = {record["papers_splits/name"] for record in read.records("papers_splits")}
assert splits == {"iclr", "icml", "x"}, splits
found = list(mlcroissant.Dataset(jsonld=str(folder / "croissant.json")).records("papers", {"papers/split": "icml"}))
assert [record["papers/forum_id"] for record in found] == [b"f9"], found
assert not told, told
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    venues: dict[str, list[object]] = {
        ICLR: [one for number in range(6) for one in (*a_forum(f"f{number}"), *what_follows(f"f{number}"))]
        + [link("f5", ICLR, "f4")],
        ICML: a_forum("f9", ICML),
        BAD_ID: [paper("f0", BAD_ID, conference="x", licence='"}<b>', title='"quoted"\n')],
    }
    with invented(
        folder / "corpus", {name: with_points(with_figures(records)) for name, records in venues.items()}
    ) as workspace:
        seen_ms = int(datetime(2025, 6, 7, tzinfo=UTC).timestamp() * 1000)
        with workspace.raw.transaction():
            workspace.raw.add([RawObject(RawKind.NOTE, "n", 2, ICLR, "n", "n", 0, seen_ms, "a dump", b"{}")])
        publish_release(workspace, folder / "out", splits=SplitRequest(Profile.RE2), figures=True, points=True)
    return folder / "out"


@pytest.fixture(scope="module")
def metadata(release: Path) -> Any:
    return json.loads((release / NAME).read_text())


@pytest.mark.slow
def test_mlcroissant_reads_every_record_set_without_a_warning(release: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", READ, str(release), json.dumps([*CONFIGS])]
    home = {"HOME": str(tmp_path), "https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
    done = subprocess.run(command, env=os.environ | home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_parquet_file_is_listed(release: Path, metadata: Any) -> None:
    files = {one["contentUrl"]: one for one in metadata["distribution"] if one["@type"] == "cr:FileObject"}
    assert sorted(files) == sorted(path.relative_to(release).as_posix() for path in release.rglob("*.parquet"))
    for name, one in files.items():
        content = (release / name).read_bytes()
        assert (one["sha256"], one["contentSize"]) == (hashlib.sha256(content).hexdigest(), f"{len(content)} B")
    manifest = json.loads((release / "release.json").read_text())
    assert {"README.md", "croissant.json"} < set(manifest["files"])


def fields(node: Any) -> Iterator[tuple[str, Any]]:
    for one in node.get("field", node.get("subField", [])):
        yield one["@id"], one
        yield from fields(one)


def described(columns: pa.Schema | pa.StructType, above: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    for column in columns:
        yield "/".join([*above, column.name]), column_meaning(column) or None
        inner = column.type.value_type if pa.types.is_list(column.type) else column.type
        if pa.types.is_struct(inner):
            yield from described(inner, [*above, column.name])


@pytest.mark.parametrize("config", CONFIGS)
def test_every_column_is_a_field(metadata: Any, config: str) -> None:
    (record_set,) = (one for one in metadata["recordSet"] if one["@id"] == config)
    found = {name: one.get("description") for name, one in fields(record_set)}
    assert found.pop(f"{config}/split")
    assert found == dict(described(CONFIGS[config].schema, [config]))


def test_a_name_adds_no_statement() -> None:
    def state(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        venue = VenueCounts(name, is_listed=False, readers_unstated=1)
        return state_release(ReleaseFacts(ReleaseCounts(venues=[venue], engines=Counter({name: 1}))))

    (dataset, rai), (plain, plain_rai) = state("@license\n@license\nfree\n- free"), state("V")
    assert (dataset, rai.keys()) == (plain, plain_rai.keys())
    assert {name: len(said) for name, said in rai.items() if isinstance(said, list)} == {
        name: len(said) for name, said in plain_rai.items() if isinstance(said, list)
    }
