"""The splits stated by a dataset pass from its files through import and build into a release; none is drawn."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release
from in_this_process import build_here
from peercorpus.errors import PeercorpusError
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.records.enums import Grade
from peercorpus.release.folder import open_release
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.split_file import read_splits
from peercorpus.release.splits import Split, Task
from peercorpus.release.verify.verify import verify_release
from peercorpus.workspace.workspace import Workspace, open_workspace
from published_records import re2_paper, re2_rebuttal, reviewbench_row, write_json, write_manuscript, write_parquet

STATED = SplitRequest(Profile.STATED)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened


def held(out: Path, config: str) -> dict[str, str]:
    """The split of every paper of a task's configuration, by the name of its file."""
    splits: dict[str, str] = {}
    for path in (out / "data" / config).glob("*.parquet"):
        rows: list[dict[str, Any]] = pq.read_table(path, columns=["forum_id"]).to_pylist()
        splits |= dict.fromkeys((row["forum_id"] for row in rows), path.name.partition("-")[0])
    return splits


@pytest.mark.slow
def test_re2s_splits_become_the_splits_of_a_release(tmp_path: Path, workspace: Workspace) -> None:
    files = tmp_path / "in"
    write_json(files / "REVIEWS_train.json", [re2_paper("a"), re2_paper("b")])
    write_json(files / "REVIEWS_test.json", [re2_paper("c"), re2_paper("d")])
    write_json(files / "REBUTTAL_train.json", [re2_rebuttal("a"), re2_rebuttal("c")])
    write_json(files / "REBUTTAL_test.json", [re2_rebuttal("b")])
    write_parquet(files / "kites.parquet", [reviewbench_row("e", venue_id="published/Kites/2023/Conference")])
    for forum_id in "abcd":
        # The manuscripts of two papers are the same, so they count as the same work.
        write_manuscript(files, forum_id, text="Twins." if forum_id in "ac" else f"The paper {forum_id}.")
    import_dumps(workspace, [files])
    build_here(workspace)
    out = tmp_path / "out"
    publish_release(workspace, out, splits=STATED, grade=Grade.STATED.value)
    splits = read_splits(STATED.path(out))
    assert splits.of == {"a": Split.TRAIN, "b": Split.TEST, "c": Split.TEST, "d": Split.TEST}
    assert splits.used[Task.REVIEW] == {"a": Split.TRAIN, "c": Split.TEST, "d": Split.TEST}
    assert splits.used[Task.REBUTTAL] == {"a": Split.TRAIN, "b": Split.TEST}
    assert held(out, "review_sft") == {"a": "train", "c": "test", "d": "test"}
    assert held(out, "rebuttal") == {"a": "train", "b": "test"}
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "by identical texts or by links: 1." in card
    assert "1 for which no dataset states a split" in card or "1 paper that no task can use" in card
    verified = verify_release(open_release(out))
    assert not [check for check in verified.checks if check.breaches]
    assert any("as a published dataset states them" in note for check in verified.checks for note in check.left_out)


def test_a_corpus_without_stated_splits_is_refused_in_one_sentence(tmp_path: Path, workspace: Workspace) -> None:
    write_parquet(tmp_path / "in" / "kites.parquet", [reviewbench_row()])
    import_dumps(workspace, [tmp_path / "in"])
    build_here(workspace)
    with pytest.raises(PeercorpusError, match="states the split of a paper") as caught:
        publish_release(workspace, tmp_path / "out", splits=STATED)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()
