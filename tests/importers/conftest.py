"""Fixtures of the importers' tests: an empty workspace."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from peercorpus.workspace.workspace import Workspace, open_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "corpus", create=True) as opened:
        yield opened
