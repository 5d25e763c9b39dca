"""A command whose extra is not installed names it in one sentence at once, without starting anything."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from commands import Run, assert_refused
from peercorpus.installation import advise_install


@pytest.mark.fault("machine", "a package of an extra is missing, for every extra", "the pip command")
@pytest.mark.parametrize(
    ("extra", "package", "command"),
    [
        ("bench", "inspect_ai", "bench --release r"),
        ("bench", "inspect_ai", "bench table logs"),
        ("cluster", "obstore", "convert a.pdf --out s3://bucket/o"),
        ("cluster", "obstore", "move -w w --to s3://bucket/place"),
        ("cluster", "ray", "build -w w --executor ray"),
        ("demo", "typst", "demo"),
        ("demo", "typst", "simulate"),
        ("hf", "huggingface_hub", "import notes.json hf:ada/reviews -w w"),
        ("hf", "huggingface_hub", "push release ada/reviews"),
        ("hf", "tokenizers", "report -w w --out o --tokenizer t"),
        ("models", "sentence_transformers", "bench review --release r --embed-cos m"),
        ("models", "torch", "bench review --release r --model hf/m"),
        ("models", "trl", "finetune --release r --task review --model m --out o"),
        ("models", "transformers", "export r --out o --format axolotl --task review --model m"),
        ("report", "matplotlib", "report -w w --out o"),
        ("web", "duckdb", "sql -w r"),
    ],
)
def test_a_missing_extra_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: str, package: str, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    assert_refused(run(*command.split()), advise_install(extra))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("package", "command"), [("mcp", "mcp -w r"), ("tantivy", "explore -w w")])
def test_a_missing_extra_is_named_before_its_modules_are_imported(tmp_path: Path, package: str, command: str) -> None:
    code = "import sys; sys.modules[sys.argv[1]] = None; from peercorpus.cli.main import main; main(sys.argv[2:])"
    ended = subprocess.run(
        [sys.executable, "-c", code, package, *command.split()], cwd=tmp_path, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"peercorpus: The package '{package}' is not installed; {advise_install('web')}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("distribution", "command"),
    [
        ("rapidocr", "convert a.pdf --out o --engine rapidocr"),
        ("docling", "build -w w --engine docling"),
        ("nemotron-ocr", "build -w w --engine nemotron"),
    ],
)
def test_the_package_of_an_engine_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, distribution: str, command: str
) -> None:
    installed = metadata.version

    def find_version(name: str) -> str:
        if name == distribution:
            raise metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(metadata, "version", find_version)
    assert_refused(run(*command.split()), f"'{distribution}' is not installed")
    assert list(tmp_path.iterdir()) == []
