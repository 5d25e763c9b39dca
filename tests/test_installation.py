"""Installation advice names a command that works, and each part of peercorpus needs no more than it declares."""

import json
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
        (None, "run: pip install 'peercorpus[web]'", "run: pip install --upgrade peercorpus"),
        (
            {"url": ROOT.as_uri(), "dir_info": {}},
            f"run in '{ROOT}': pip install '.[web]'",
            f"run in '{ROOT}': git pull && pip install .",
        ),
        (
            {"url": ROOT.as_uri(), "dir_info": {"editable": True}},
            f"run in '{ROOT}': pip install -e '.[web]'",
            f"run in '{ROOT}': git pull && pip install -e .",
        ),
        (
            {"url": "file:///gone/away", "dir_info": {}},
            "run in a checkout of peercorpus: pip install '.[web]'",
            "run in a checkout of peercorpus: git pull && pip install .",
        ),
        (
            {"url": ARCHIVE, "archive_info": {}},
            f"run: pip install 'peercorpus[web] @ {ARCHIVE}'",
            f"run: pip install --upgrade 'peercorpus @ {ARCHIVE}'",
        ),
        (
            {"url": "https://example.org/p.git", "vcs_info": REPOSITORY},
            "run: pip install 'peercorpus[web] @ git+https://example.org/p.git@v1'",
            "run: pip install --upgrade 'peercorpus @ git+https://example.org/p.git@v1'",
        ),
    ],
    ids=["index", "folder", "editable folder", "folder that is gone", "archive", "repository"],
)
def test_installation_advice_names_the_original_source(
    installed: SimpleNamespace, origin: dict[str, object] | None, install: str, update: str
) -> None:
    installed.text = None if origin is None else json.dumps(origin)
    assert (advise_install("web"), advise_update()) == (install, update)
    assert str(MissingExtraError("duckdb", "web")) == f"The package 'duckdb' is not installed; {install}"


def test_code_that_runs_from_a_checkout_uninstalled_has_the_checkout_as_its_origin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert advise_install("web") == f"run in '{ROOT}': pip install '.[web]'"
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "site-packages" / "peercorpus" / "installation.py"))
    assert advise_install("web") == "run: pip install 'peercorpus[web]'"
