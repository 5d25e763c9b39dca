"""Requests refused before anything is read or loaded."""

import sys
from pathlib import Path

import pytest

from commands import Run, assert_refused
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.recipe import Lora, Recipe, read_recipe
from peercorpus.installation import advise_install


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


def test_without_a_file_the_recipe_is_that_of_re2() -> None:
    recipe = read_recipe(None)
    assert (recipe.epochs, recipe.learning_rate, recipe.schedule) == (1.0, 1e-4, "cosine")


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
        ("paper_tokens = 12", "'paper_tokens' must be at least 64"),
        ("learning_rate = 0", "'learning_rate' must be more than 0"),
        ("batch = 16\nper_device = 3", "per_device"),
        ("schedule = 'square'", "square"),
        ("quantised = 3", "quantised"),
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
