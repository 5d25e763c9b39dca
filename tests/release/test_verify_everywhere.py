"""`peercorpus verify` finds one changed value in any configuration, new ones too, and `diff` names its row."""

import json
import shutil
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from answered_points import a_discussion
from asked_releases import publish_release
from commands import Run
from invented_tables import ICLR, a_forum, invented, link, with_figures
from peercorpus.release.diff import find_differences
from peercorpus.release.folder import MANIFEST, open_release
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.shards import CONFIGS
from peercorpus.release.verify.verify import verify_release
from peercorpus.workspace.object_store import file_digest


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with rows in every configuration."""
    folder = tmp_path_factory.mktemp("whole")
    records = [*a_discussion("f1"), *a_forum("f2"), link("f2", ICLR, "f1")]
    with invented(folder / "corpus", {ICLR: with_figures(records)}) as workspace:
        splits = SplitRequest(Profile.TEMPORAL, date(2000, 1, 1))
        publish_release(workspace, folder / "out", splits=splits, figures=True, points=True)
    return folder / "out"


def change_value(release: Path, config: str, column: str, value: str, *, signed: bool) -> str:
    """Change the first value of a column of a configuration, and return the path of the file in the release."""
    path = sorted((release / "data" / config).iterdir())[0]
    table = pq.read_table(path)
    rows = table.to_pylist()
    assert rows[0][column] != value
    rows[0][column] = value
    path.chmod(0o644)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    name = path.relative_to(release).as_posix()
    if signed:
        manifest = json.loads((release / MANIFEST).read_text())
        manifest["files"][name] = file_digest(path)
        (release / MANIFEST).write_text(json.dumps(manifest))
    return name


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGS)
def test_one_changed_value_is_found_in_every_configuration(whole: Path, tmp_path: Path, run: Run, config: str) -> None:
    shutil.copytree(whole, tmp_path / "out")
    assert run("verify", tmp_path / "out").code == 0
    column = next(
        name
        for name in ("title", "rule", "reviewer", "role", "section", "text_engine", "decision", "label", "target")
        if name in CONFIGS[config].schema.names
    )
    name = change_value(tmp_path / "out", config, column, "another", signed=False)
    ended = run("verify", tmp_path / "out")
    assert ended.code == 1
    assert f"  {name}: " in ended.out
    differences = find_differences(open_release(whole), open_release(tmp_path / "out", is_whole=False))
    changed = {config for config, deltas in differences.rows.items() for delta in deltas.values() if delta.changed}
    assert changed == {config}


@pytest.mark.parametrize("config", CONFIGS)
def test_a_row_of_no_paper_is_found_in_every_configuration_though_the_sums_agree(
    whole: Path, tmp_path: Path, config: str
) -> None:
    shutil.copytree(whole, tmp_path / "out")
    name = change_value(tmp_path / "out", config, "forum_id", "nowhere", signed=True)
    checks = {check.name: check for check in verify_release(open_release(tmp_path / "out", is_whole=False)).checks}
    assert not checks["sums"].found
    named = {breach.file for check in checks.values() for breach in check.breaches}
    assert name in named or config == "papers"
    assert any(check.found for check in checks.values())
