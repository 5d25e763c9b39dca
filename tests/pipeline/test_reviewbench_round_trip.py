"""ReviewBench's rows survive a round trip: imported, built and published in its own layout."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from in_this_process import build_here
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.status import read_status
from peercorpus.release.publish import publish_release
from peercorpus.release.schemas import REVIEWBENCH
from peercorpus.release.shards import ReleaseLayout
from peercorpus.workspace.workspace import open_workspace
from published_records import write_parquet
from reviewbench_rows import invented_rows

pytestmark = pytest.mark.slow


def read_rows(release: Path) -> dict[str, dict[str, Any]]:
    rows = [row for path in sorted(release.glob("data/*.parquet")) for row in pq.read_table(path).to_pylist()]
    return {row["forum_id"]: row for row in rows}


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, Any]]:
    return {row["forum_id"]: row for row in invented_rows()}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, rows: Mapping[str, dict[str, Any]]) -> Path:
    folder = tmp_path_factory.mktemp("trip")
    write_parquet(folder / "in" / "data" / "a-00000-of-00001.parquet", list(rows.values()))
    with open_workspace(folder / "corpus", create=True) as workspace:
        import_dumps(workspace, [folder / "in"])
        build_here(workspace)
        standing = read_status(workspace)
        assert standing.holds, standing.balances
        publish_release(workspace, folder / "out", layout=ReleaseLayout.REVIEWBENCH)
    return folder / "out"


@pytest.mark.parametrize("column", REVIEWBENCH.names)
def test_every_column_survives_the_round_trip_unchanged(
    release: Path, rows: Mapping[str, dict[str, Any]], column: str
) -> None:
    back = read_rows(release)
    assert back.keys() == rows.keys()
    if column != "reviews_json":
        assert {key: row[column] for key, row in back.items()} == {key: row[column] for key, row in rows.items()}
        return
    for key, row in rows.items():
        said = back[key][column]
        if not row[column] or row[column] == "[]":
            assert said == row[column]
            continue
        # Compared as encoded text, so that the order of members and 8 versus 8.0 matter.
        assert json.dumps(json.loads(said)) == json.dumps(json.loads(row[column])), key


def test_files_have_the_name_and_the_types_of_the_card(release: Path) -> None:
    names = [re.fullmatch(r"([a-z]+)-(\d{5})-of-(\d{5})\.parquet", path.name) for path in (release / "data").iterdir()]
    files = Counter(name[1] for name in names if name)
    assert sorted(files) == ["colm", "corl", "emnlp", "iclr", "icml", "neurips", "tmlr"]
    assert files.total() == len(names)
    assert all(name and int(name[2]) < int(name[3]) == files[name[1]] for name in names)
    for path in (release / "data").iterdir():
        assert pq.read_schema(path).equals(REVIEWBENCH)
