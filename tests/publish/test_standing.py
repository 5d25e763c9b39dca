"""A release that is there and would be the same is not written again; whatever would change it is seen."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from invented_tables import ICLR, ICML, two_conferences
from peercorpus.publish import inputs
from peercorpus.publish.run import publish
from peercorpus.publish.split_files import Asked
from peercorpus.publish.splits import Profile
from peercorpus.publish.standing import still_stands
from peercorpus.workspace import open_workspace

RE2 = Asked(Profile.RE2)
BOTH = (ICLR, ICML)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return two_conferences(tmp_path / "corpus")


@pytest.fixture
def release(corpus: Path, tmp_path: Path) -> Path:
    with open_workspace(corpus, write=False) as workspace:
        publish(workspace, tmp_path / "release", sides=RE2)
    return tmp_path / "release"


def stands(
    release: Path, corpus: Path, venues: Sequence[str] = BOTH, sides: Asked | None = RE2, *, authors: bool = True
) -> bool:
    with open_workspace(corpus, write=False) as workspace:
        return still_stands(release, workspace, venues, sides, authors=authors)


def test_a_release_stands_until_something_else_is_asked_for(release: Path, corpus: Path, tmp_path: Path) -> None:
    assert stands(release, corpus)
    assert not stands(release, corpus, [ICLR])
    assert not stands(release, corpus, sides=None)
    assert not stands(release, corpus, sides=Asked(Profile.TEMPORAL, date(2024, 1, 1)))
    assert not stands(release, corpus, sides=Asked(Profile.RE2, earlier=release))
    assert not stands(release, corpus, authors=False)
    assert not stands(tmp_path / "nowhere", corpus)


def test_a_release_stands_until_the_workspace_holds_something_else(release: Path, corpus: Path) -> None:
    (corpus / "takedown.txt").write_text("f1\n")
    assert not stands(release, corpus)
    (corpus / "takedown.txt").unlink()
    assert stands(release, corpus)
    with open_workspace(corpus) as workspace, workspace.tables.replacing(("8-links",), ICML, "invent", "b" * 64):
        pass
    assert not stands(release, corpus)


def test_a_release_stands_until_the_code_is_another(
    release: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "code_version", lambda: "0.1.0+000000000000")
    assert not stands(release, corpus)


@pytest.mark.parametrize("name", ["README.md", "inputs.json", "release.json"])
def test_a_release_that_was_changed_stands_no_longer(release: Path, corpus: Path, name: str) -> None:
    (release / name).write_text("{}")
    assert not stands(release, corpus)
