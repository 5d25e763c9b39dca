"""The words of a site's search: each word in the files in which a page looks for it, and the same files every time."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from peercorpus.explorer.site.search_files import SearchIndex, choose_file
from peercorpus.explorer.site.search_words import read_words, stem

MANY, FILES = 4_000, 1_024
"""Papers, and the files of words that so many have."""
Paper = tuple[str, str, str]
"""Title, abstract, and reviews."""


def write_words(papers: Sequence[Paper], scratch: Path) -> dict[str, bytes]:
    """The files of words of a site with these papers."""
    files: dict[str, bytes] = {}
    scratch.mkdir(exist_ok=True)
    index = SearchIndex(scratch, MANY)
    for number, texts in enumerate(papers):
        index.add(number, read_words(texts, [set()] * len(texts)), {}, ())
    index.write(files.__setitem__)
    return {name: content for name, content in files.items() if name.startswith("search/w/")}


def is_found(word: str, papers: Sequence[Paper], scratch: Path, first: str | None = None) -> bool:
    """Whether the file of a word has it, or that of the first part as which a word with hyphens is typed."""
    place = choose_file(stem(first or word), FILES)
    content = write_words(papers, scratch)[f"search/w/{place // 1_000}/{place}.js"]
    return stem(word) in json.loads(content.partition(b",")[2].rpartition(b")")[0])


@pytest.mark.parametrize(
    ("paper", "expected"),
    [
        (("On wind", "", "They call it KiteNet, or Kite-Net."), True),
        (("On wind", "KiteNet flies.", "Is Kite-Net new?"), True),
        (("KiteNet", "", "Is Kite-Net new?"), True),
        (("Kite-Net", "", ""), True),
        (("On wind", "Kite-Net flies.", ""), True),
        (("On wind", "", "Is Kite-Net new?"), False),
        (("On kites", "", ""), False),
    ],
)
def test_the_name_of_a_method_of_one_paper_is_found_without_its_hyphen(
    paper: Paper, tmp_path: Path, *, expected: bool
) -> None:
    assert is_found("kitenet", [paper, ("Another", "", "")], tmp_path) is expected


def test_a_compound_of_two_papers_is_found_wherever_it_is_written(tmp_path: Path) -> None:
    papers = [("On wind", "", "Is Kite-Net new?"), ("On rain", "", "Kite-Net again")]
    assert is_found("kitenet", papers, tmp_path)
    assert is_found("kitenet", papers, tmp_path, first="kite")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_a_compound_with_several_hyphens_is_found_by_each_of_its_first_parts(
    tmp_path: Path, order: Sequence[int]
) -> None:
    written = [("A multi-task-learning", "", ""), ("A multitask-learning", "", ""), ("A multitasklearning", "", "")]
    papers = [written[number] for number in order]
    for first in ("multi", "multitask", "multitasklearning"):
        assert is_found("multitasklearning", papers, tmp_path, first)


def test_the_files_of_words_do_not_depend_on_the_order_of_sets(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from {__name__} import *; print_digest()"

    def run_with(seed: int) -> str:
        env = os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.check_output([sys.executable, "-c", code, str(tmp_path / "scratch")], env=env, text=True)

    assert len({run_with(seed) for seed in range(1, 7)}) == 1


def print_digest() -> None:
    """Print a digest of the files of words of papers with compounds that are written in several ways."""
    many = "multi-task-learning multitask-learning pre-training-free pretraining-free co-design-space codesign-space"
    files = write_words([(many, "", ""), ("", many, ""), ("", "", many)], Path(sys.argv[1]))
    sys.stdout.write(hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest())
