"""The two corpora that tests of the explorer read."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from explored import GONE, explored, hostile, known_with_points


@pytest.fixture(scope="session")
def known_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace of the corpus of which everything is known; tests only read it."""
    return tmp_path_factory.mktemp("explored") / "known"


@pytest.fixture(scope="session")
def client(known_folder: Path) -> Iterator[TestClient]:
    """A client of the explorer over that corpus, one paper of which is taken down."""
    with explored(known_folder, known_with_points(), (GONE,)) as opened:
        yield opened


@pytest.fixture(scope="session")
def hostile_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of the explorer over the corpus in which every text is hostile."""
    with explored(tmp_path_factory.mktemp("explored") / "hostile", hostile()) as opened:
        yield opened
