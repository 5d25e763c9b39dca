"""Token counts are the same wherever they are computed; a part that cannot be counted is reported."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import invented_tables as made
from commands import Run, assert_refused
from in_this_process import InThisProcess
from invented_tables import ICLR, ICML, a_forum
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.execution.executor import Executor, Failure, FailureKind
from peercorpus.models.token_counts import TokenBatch, count_tokens
from peercorpus.report.write_report import compute_statistic, write_report
from peercorpus.workspace.workspace import Workspace

tokenizers = pytest.importorskip("tokenizers", reason="the extra 'tokens' is not installed")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with made.invented(tmp_path / "corpus", {ICLR: [*a_forum("a"), *a_forum("b")], ICML: a_forum("m", ICML)}) as one:
        yield one


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """A tokenizer whose tokens are letters, so that no other way of counting gives the same numbers."""
    letters = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    letters.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"\w"), "removed", invert=True)
    letters.save(str(tmp_path / "letters.json"))
    return str(tmp_path / "letters.json")


def drawn(workspace: Workspace, out: Path, tokenizer: str, spread: Executor | None) -> dict[str, bytes]:
    """Every file of a report."""
    write_report(workspace.folder, out, (), tokenizer, spread=spread)
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


@pytest.mark.slow
@pytest.mark.usefixtures("svg_alone")
def test_a_report_is_the_same_byte_for_byte_wherever_tokens_are_counted(
    workspace: Workspace, tokenizer: str, tmp_path: Path, run: Run
) -> None:
    here = drawn(workspace, tmp_path / "here", tokenizer, None)
    assert b"tokens of the tokenizer 'letters.json'" in here["numbers.json"]
    found = compute_statistic(workspace.folder, "paper_length", tokenizer=tokenizer)
    assert found.facts["median"] == len("Textofa")
    asked = ("report", "-w", workspace.folder, "--tokenizer", tokenizer, "--workers", "1")
    assert run(*asked, "--out", tmp_path / "there").code == 0
    assert {path.name: path.read_bytes() for path in sorted((tmp_path / "there").iterdir())} == here


@pytest.mark.slow
def test_texts_whose_tokens_cannot_be_counted_are_reported_and_nothing_is_left(
    workspace: Workspace, tokenizer: str, tmp_path: Path
) -> None:
    stopped = InThisProcess(failures=(Failure(FailureKind.TIMEOUT, "It was stopped."),))
    with pytest.raises(PeercorpusError, match="It was stopped"):
        drawn(workspace, tmp_path / "out", tokenizer, stopped)
    assert not (tmp_path / "out").exists()


def test_another_tokenizer_of_the_same_name_is_refused(tokenizer: str) -> None:
    with pytest.raises(ModelError, match=re.escape(tokenizer)):
        count_tokens(TokenBatch(("a",), tokenizer, "0" * 64))


def test_without_a_tokenizer_no_work_is_distributed(workspace: Workspace, tmp_path: Path, run: Run) -> None:
    ended = run("report", "-w", workspace.folder, "--out", tmp_path / "out", "--executor", "ray")
    assert_refused(ended, "--tokenizer")
