"""A release is used for training only if no training paper is also a test paper."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from invented_bench import bench_paper, bench_release
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.run import Fitness, check_fit
from peercorpus.release.folder import open_release
from peercorpus.release.shards import CONFIGS
from peercorpus.workspace.object_store import file_digest


def write(release: Path, config: str, split: str, rows: Sequence[dict[str, object]]) -> None:
    """Rewrite a file of a release, and update its manifest entry."""
    import pyarrow as pa

    schema = CONFIGS[config].schema
    path = release / "data" / config / f"{split}-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema), path)
    _sign(release, path)


def _sign(release: Path, path: Path) -> None:
    manifest = json.loads((release / "release.json").read_text())
    manifest["files"][path.relative_to(release).as_posix()] = file_digest(path)
    (release / "release.json").write_text(json.dumps(manifest))


def _link(later: str, earlier: str) -> dict[str, object]:
    return {"forum_id": later, "earlier_id": earlier, "venue_id": "v", "conference": "c"}


@pytest.fixture
def release(papers: Path, tmp_path: Path) -> Path:
    """A copy of the release that a test may damage."""
    shutil.copytree(papers, tmp_path / "release")
    return tmp_path / "release"


def refusal(release: Path) -> str:
    with pytest.raises(PeercorpusError) as refused:
        check_fit(open_release(release))
    return str(refused.value)


def test_a_release_that_respects_its_splits_can_be_used_for_training(papers: Path) -> None:
    assert check_fit(open_release(papers)) == Fitness("re2", 12, None)


def test_links_within_a_split_are_counted(release: Path) -> None:
    write(release, "links", "iclr", [_link("p01", "p00"), _link("p17", "p16"), _link("p03", "elsewhere")])
    assert check_fit(open_release(release)).links == 3


@pytest.mark.parametrize("config", ["review_sft", "rebuttal"])
def test_a_test_paper_among_the_training_papers_is_refused(release: Path, config: str) -> None:
    write(release, config, "train", [bench_paper(number) for number in (*range(12), 20)])
    said = refusal(release)
    assert "'p20'" in said
    assert "'peercorpus verify'" in said


def test_a_test_paper_for_training_is_refused_even_if_the_split_file_lists_it(release: Path) -> None:
    write(release, "review_sft", "train", [bench_paper(number) for number in (*range(12), 20)])
    path = release / "splits" / "re2.json"
    splits = json.loads(path.read_text())
    for held in (splits["splits"], splits["tasks"]["review"]):
        held["train"] = sorted({*held["train"], "p20"})
    splits["sizes"]["review"]["train"] = len(splits["tasks"]["review"]["train"])
    path.write_text(json.dumps(splits))
    _sign(release, path)
    assert "'p20'" in refusal(release)


def test_a_training_paper_linked_to_a_test_paper_is_refused(release: Path) -> None:
    write(release, "links", "iclr", [_link("p20", "p03")])
    said = refusal(release)
    assert "'p20' is linked with 'p03'" in said


def test_a_file_that_is_not_as_it_was_published_is_refused(release: Path) -> None:
    rows = [bench_paper(number) | {"title": "Another title"} for number in range(12)]
    manifest = (release / "release.json").read_text()
    write(release, "review_sft", "train", rows)
    (release / "release.json").write_text(manifest)
    assert "data/review_sft/train-00000-of-00001.parquet" in refusal(release)


def test_a_release_without_splits_is_refused(tmp_path: Path) -> None:
    release = bench_release(tmp_path / "release")
    manifest = json.loads((release / "release.json").read_text())
    del manifest["files"]["splits/re2.json"]
    (release / "splits" / "re2.json").unlink()
    (release / "release.json").write_text(json.dumps(manifest))
    assert "--splits" in refusal(release)
