"""An up-to-date release is not rewritten; anything that would change it is detected."""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from asked_releases import publish_release, request
from invented_tables import ICLR, ICML, link, two_conferences
from peercorpus.release import provenance
from peercorpus.release.dated_releases import is_up_to_date
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.workspace import open_workspace

pytestmark = pytest.mark.slow

RE2 = SplitRequest(Profile.RE2)
BOTH = (ICLR, ICML)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return two_conferences(tmp_path / "corpus")


@pytest.fixture
def release(corpus: Path, tmp_path: Path) -> Path:
    with open_workspace(corpus, write=False) as workspace:
        publish_release(workspace, tmp_path / "release", splits=RE2)
    return tmp_path / "release"


def stands(
    release: Path,
    corpus: Path,
    venues: Sequence[str] = BOTH,
    splits: SplitRequest | None = RE2,
    *,
    no_authors: bool = False,
) -> bool:
    with open_workspace(corpus, write=False) as workspace:
        return is_up_to_date(release, workspace, request(splits, no_authors=no_authors), venues)


def test_a_release_is_kept_until_other_options_are_requested(release: Path, corpus: Path, tmp_path: Path) -> None:
    assert stands(release, corpus)
    assert not stands(release, corpus, [ICLR])
    assert not stands(release, corpus, splits=None)
    assert not stands(release, corpus, splits=SplitRequest(Profile.TEMPORAL, date(2024, 1, 1)))
    assert not stands(release, corpus, splits=SplitRequest(Profile.RE2, earlier=release))
    assert not stands(release, corpus, no_authors=True)
    assert not stands(tmp_path / "nowhere", corpus)


def test_a_release_is_kept_until_the_workspace_changes(release: Path, corpus: Path) -> None:
    (corpus / "takedown.txt").write_text("f1\n")
    assert not stands(release, corpus)
    (corpus / "takedown.txt").unlink()
    assert stands(release, corpus)
    with open_workspace(corpus) as workspace:
        workspace.tables.append("8-links", ICML, "invent", [link("m1", ICML, "f1")])
    assert not stands(release, corpus)


def test_a_release_is_kept_until_the_code_declares_another_version(
    release: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "VERSION", 99)
    assert not stands(release, corpus)


def test_a_release_that_names_its_modules_by_a_digest_is_read_and_written_again(release: Path, corpus: Path) -> None:
    path = release / "inputs.json"
    told = json.loads(path.read_text())
    del told["publishing"]
    path.write_text(json.dumps(told | {"peercorpus": f"{told['peercorpus']}+000000000000"}))
    before = provenance.read_inputs(release)
    assert before is not None
    with open_workspace(corpus, write=False) as workspace:
        assert [one.what for one in provenance.find_moved(before, workspace)] == ["peercorpus", "publishing"]


@pytest.mark.parametrize("name", ["README.md", "inputs.json", "release.json"])
def test_a_changed_release_is_not_kept(release: Path, corpus: Path, name: str) -> None:
    (release / name).write_text("{}")
    assert not stands(release, corpus)
