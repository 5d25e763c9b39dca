"""Fixtures of the explorer's tests: two corpora, the sites of their releases, and a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from asked_releases import publish_release
from chromium import CHROMIUM, FLAGS
from explored import GONE, explored, hostile, known_with_points
from invented_tables import ICLR, invented, keep, text
from peercorpus.explorer.site.extras import Extra
from peercorpus.explorer.site.write_site import write_site
from peercorpus.release.folder import open_release

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def known_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace of the corpus whose content is fully known; tests must not change it."""
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


@pytest.fixture(scope="session")
def known_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of that corpus, without the paper that is taken down; tests must not change it."""
    folder = tmp_path_factory.mktemp("published")
    with invented(folder / "known", known_with_points()) as workspace:
        keep(workspace)
        (folder / "known" / "takedown.txt").write_text(f"{GONE}\n")
        publish_release(workspace, folder / "release")
    return folder / "release"


@pytest.fixture(scope="session")
def known_site(known_release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of that release; tests must not change it."""
    folder = tmp_path_factory.mktemp("sites") / "known"
    write_site(open_release(known_release), folder)
    return folder


@pytest.fixture(scope="session")
def whole_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of that corpus with points, and with changes, as both texts of a paper are there."""
    folder = tmp_path_factory.mktemp("whole")
    venues = known_with_points()
    with invented(folder / "corpus", venues | {ICLR: [text("sha-final", "# Kites"), *venues[ICLR]]}) as workspace:
        keep(workspace)
        (folder / "corpus/takedown.txt").write_text(f"{GONE}\n")
        publish_release(workspace, folder / "release", points=True)
    return folder / "release"


@pytest.fixture(scope="session")
def whole_site(whole_release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of that release with everything that it can show; tests must not change it."""
    folder = tmp_path_factory.mktemp("sites") / "whole"
    write_site(open_release(whole_release), folder, extras=list(Extra))
    return folder


@pytest.fixture(scope="session")
def hostile_static_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a release in which every text is hostile, without the megabyte text; tests must not change it."""
    folder = tmp_path_factory.mktemp("sites")
    venues = dict(list(hostile().items())[:-1])
    with invented(folder / "workspace", venues) as workspace:
        publish_release(workspace, folder / "release", points=True)
    write_site(open_release(folder / "release"), folder / "site", extras=list(Extra))
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()
