"""Installation advice names a command that works, and each part of peercorpus needs no more than it declares."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from peercorpus import installation
from peercorpus.errors import MissingExtraError
from peercorpus.installation import advise_install, advise_update

ROOT = Path(__file__).parents[1]
PDF = next((ROOT / "tests" / "golden" / "recorded" / "files").glob("*.pdf"))
REPOSITORY = {"vcs": "git", "commit_id": "4f42", "requested_revision": "v1"}
ARCHIVE = "https://example.org/peercorpus-1.tar.gz"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The record of how peercorpus was installed; `text` is that of direct_url.json."""
    record = SimpleNamespace(text=None)
    monkeypatch.setattr(metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: record.text))
    return record


@pytest.mark.parametrize(
    ("origin", "install", "update"),
    [
        (None, "run: pip install 'peercorpus[ray]'", "run: pip install --upgrade peercorpus"),
        (
            {"url": ROOT.as_uri(), "dir_info": {}},
            f"run in '{ROOT}': pip install '.[ray]'",
            f"run in '{ROOT}': git pull && pip install .",
        ),
        (
            {"url": ROOT.as_uri(), "dir_info": {"editable": True}},
            f"run in '{ROOT}': pip install -e '.[ray]'",
            f"run in '{ROOT}': git pull && pip install -e .",
        ),
        (
            {"url": "file:///gone/away", "dir_info": {}},
            "run in a checkout of peercorpus: pip install '.[ray]'",
            "run in a checkout of peercorpus: git pull && pip install .",
        ),
        (
            {"url": ARCHIVE, "archive_info": {}},
            f"run: pip install 'peercorpus[ray] @ {ARCHIVE}'",
            f"run: pip install --upgrade 'peercorpus @ {ARCHIVE}'",
        ),
        (
            {"url": "https://example.org/p.git", "vcs_info": REPOSITORY},
            "run: pip install 'peercorpus[ray] @ git+https://example.org/p.git@v1'",
            "run: pip install --upgrade 'peercorpus @ git+https://example.org/p.git@v1'",
        ),
    ],
    ids=["index", "folder", "editable folder", "folder that is gone", "archive", "repository"],
)
def test_installation_advice_names_the_original_source(
    installed: SimpleNamespace, origin: dict[str, object] | None, install: str, update: str
) -> None:
    installed.text = None if origin is None else json.dumps(origin)
    assert (advise_install("ray"), advise_update()) == (install, update)
    assert str(MissingExtraError("ray", "ray")) == f"The package 'ray' is not installed; {install}"


def test_code_that_runs_from_a_checkout_uninstalled_has_the_checkout_as_its_origin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert advise_install("ray") == f"run in '{ROOT}': pip install '.[ray]'"
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "site-packages" / "peercorpus" / "installation.py"))
    assert advise_install("ray") == "run: pip install 'peercorpus[ray]'"


BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError("No module named " + name, name=name)

sys.meta_path.insert(0, Blocked())
"""
TABLES = ("deltalake", "numpy", "polars", "pyarrow")


def run_blocked(code: str, *arguments: str | Path, blocked: tuple[str, ...]) -> str:
    """Run code in a Python that cannot import some packages; return what it printed."""
    command = [sys.executable, "-c", BLOCKED.format(blocked=blocked) + code, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_pdfs_are_converted_without_any_package_for_tables(tmp_path: Path) -> None:
    code = "if __name__ == '__main__':\n    from peercorpus.cli.main import main; main(sys.argv[1:])"
    run_blocked(code, "convert", PDF, "--figures", "--out", tmp_path, blocked=TABLES)
    (text,) = tmp_path.glob("*.md")
    opened = "import peercorpus; print(len(peercorpus.open_text(sys.argv[1]).markdown))"
    assert int(run_blocked(opened, text, blocked=TABLES)) > 1_000


def test_a_workspace_names_what_it_needs_where_it_is_opened_in_python(tmp_path: Path) -> None:
    code = """
import peercorpus
from peercorpus.errors import MissingExtraError
for name in ("open", "harvest", "build", "publish"):
    try:
        getattr(peercorpus, name)(sys.argv[1])
    except MissingExtraError as error:
        print(error.extra)
"""
    assert run_blocked(code, tmp_path, blocked=TABLES) == "corpus\n" * 4
    assert run_blocked(code, tmp_path, blocked=("deltalake",)) == "corpus\n" * 4
