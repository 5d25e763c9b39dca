"""Recipes and releases refused before anything is loaded; no training paper is also a test paper."""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commands import Run, assert_refused
from invented_bench import bench_paper, bench_release
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.recipe import Lora, Recipe, read_recipe
from peercorpus.finetune.run import check_fit
from peercorpus.installation import advise_install
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


@pytest.mark.parametrize("config", ["review_sft", "rebuttal"])
def test_a_test_paper_among_the_training_papers_is_refused(release: Path, config: str) -> None:
    write(release, config, "train", [bench_paper(number) for number in (*range(12), 20)])
    said = refusal(release)
    assert "'p20'" in said
    assert "'peercorpus verify'" in said


def test_a_listed_test_paper_is_refused(release: Path) -> None:
    write(release, "review_sft", "train", [bench_paper(number) for number in (*range(12), 20)])
    path = release / "splits" / "re2.json"
    splits = json.loads(path.read_text())
    for held in (splits["splits"], splits["tasks"]["review"]):
        held["train"] = sorted({*held["train"], "p20"})
    splits["sizes"]["review"]["train"] = len(splits["tasks"]["review"]["train"])
    path.write_text(json.dumps(splits))
    _sign(release, path)
    assert "'p20'" in refusal(release)


def test_a_linked_training_paper_is_refused(release: Path) -> None:
    write(release, "links", "iclr", [_link("p20", "p03")])
    said = refusal(release)
    assert "'p20' is linked with 'p03'" in said


def test_an_altered_file_is_refused(release: Path) -> None:
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


def asked(papers: Path, tmp_path: Path, *more: str) -> list[str]:
    told = ["finetune", "--release", papers, "--task", "review", "--model", "m", "--out", tmp_path / "run"]
    return [*map(str, told), *more]


def test_a_missing_extra_is_named(run: Run, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert_refused(run(*asked(papers, tmp_path)), advise_install("models"))


@pytest.mark.neural
def test_a_folder_that_is_not_a_release_is_refused(run: Run, tmp_path: Path) -> None:
    assert_refused(run(*asked(tmp_path, tmp_path)), f"'{tmp_path}'")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--min-confidence", "5"), "--min-confidence"),
        (("--recipe", "nowhere.toml"), "nowhere.toml"),
        (("--lengths", "--merge"), "--lengths trains nothing"),
    ],
)
def test_invalid_options_are_refused(run: Run, papers: Path, tmp_path: Path, more: tuple[str, ...], says: str) -> None:
    assert_refused(run(*asked(papers, tmp_path, *more)), says)


def test_a_recipe_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("context = 4096\nquantised = 4\n[lora]\nrank = 8\ntargets = ['q_proj', 'v_proj']\n")
    expected = Recipe(context=4096, quantised=4, lora=Lora(rank=8, targets=("q_proj", "v_proj")))
    assert read_recipe(path) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("max_length = 1024", "max_length"),
        ("context = 12", "'context' must be at least 128"),
        ("learning_rate = 0", "'learning_rate' must be more than 0"),
        ("batch = 16\nper_device = 3", "per_device"),
        ("[lora]\nrank = 0", "rank"),
        ("context = [", "recipe.toml"),
        ("epochs = nan", "epochs"),
    ],
)
def test_a_recipe_with_a_fault_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    with pytest.raises(PeercorpusError, match=says):
        read_recipe(path)
