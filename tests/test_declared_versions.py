"""Stored outputs change only with a declared version: outputs of recorded inputs, by digest."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import recorded_outputs
from peercorpus.execution.stage import digest_of_data
from peercorpus.forms import declared_forms, vocabulary
from peercorpus.pipeline.build import STAGES
from peercorpus.versions import deadlines, version_signs
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.workspace import open_workspace
from recorded_outputs import INVENTED, PACKAGES, PAIRS, REAL, Output, changes, problem, read_recorded, record

NAMES = (*(stage.name for stage in STAGES), "pdfium-layout", "pdfium-text", "publishing")
FIRST = Output(1, {"tables": "a", "pypdfium2": "5"}, {"1-papers": "x", "2-reviews": "y"})
OTHER = replace(FIRST, outputs={"1-papers": "x", "2-reviews": "z"})


def compare(made: Mapping[str, Output], path: Path, name: str) -> None:
    """Fail with the problem; skip if third-party packages explain a different output."""
    recorded = read_recorded(path).get(name, {})
    found, held = made[name], recorded.get(str(made[name].version))
    if held is not None and changes(found, held):
        others = [one for one in PACKAGES if found.made_of[one] != held.made_of[one]]
        if others:
            pytest.skip(f"recorded with other versions of {', '.join(others)}")
    told = problem(name, found, recorded)
    assert told is None, told


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Output]:
    return recorded_outputs.invented_outputs(tmp_path_factory.mktemp("recorded"))


@pytest.mark.parametrize("name", NAMES)
def test_an_output_changes_only_with_its_version(made: dict[str, Output], name: str) -> None:
    compare(made, INVENTED, name)


@pytest.mark.slow
def test_exactly_the_outputs_are_recorded(made: dict[str, Output]) -> None:
    assert sorted(made) == sorted(NAMES) == sorted(read_recorded(INVENTED))


@pytest.mark.slow
def test_the_recorded_inputs_give_rows_of_every_table(made: dict[str, Output]) -> None:
    nothing = recorded_outputs.digest([])
    tables = {name: found for stage in STAGES for name, found in made[stage.name].outputs.items()}
    assert [name for name, found in tables.items() if found == nothing and name != "set aside"] == []
    none_aside = {stage.name for stage in STAGES if made[stage.name].outputs["set aside"] == nothing}
    assert none_aside == {"compare_versions"}


@pytest.fixture(scope="module")
def made_of_pairs() -> dict[str, Output]:
    return recorded_outputs.real_outputs(PAIRS)


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.slow
@pytest.mark.skipif(not PAIRS.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data")
@pytest.mark.parametrize("name", ["pdfium-layout", "inspect_files", "compare_versions"])
def test_outputs_from_real_pdfs_change_only_with_their_version(made_of_pairs: dict[str, Output], name: str) -> None:
    compare(made_of_pairs, REAL, name)


def test_another_output_under_the_same_version_is_refused() -> None:
    told = problem("normalise", OTHER, {"1": FIRST})
    assert told is not None
    assert "2-reviews" in told
    assert "raise the version" in told
    kept, refused = record({"normalise": OTHER}, {"normalise": {"1": FIRST}}, overwrite=False)
    assert refused == [told]
    kept, refused = record({"normalise": OTHER}, {"normalise": {"1": FIRST}}, overwrite=True)
    assert (kept, refused) == ({"normalise": {"1": OTHER}}, [])


def test_outputs_of_changed_inputs_are_recorded_again() -> None:
    moved = replace(OTHER, made_of={"tables": "b", "pypdfium2": "5"})
    told = problem("normalise", moved, {"1": FIRST})
    assert told is not None
    assert "of other tables" in told
    assert record({"normalise": moved}, {"normalise": {"1": FIRST}}, overwrite=False) == (
        {"normalise": {"1": moved}},
        [],
    )


def test_a_version_that_was_not_recorded_is_refused() -> None:
    raised = replace(OTHER, version=2)
    told = problem("normalise", raised, {"1": FIRST})
    assert told is not None
    assert "version 2 was not recorded" in told
    kept, refused = record({"normalise": raised}, {"normalise": {"1": FIRST}}, overwrite=False)
    assert (kept, refused) == ({"normalise": {"1": FIRST, "2": raised}}, [])
    assert problem("normalise", raised, kept["normalise"]) is None
    assert problem("normalise", FIRST, kept["normalise"]) is not None


def test_a_version_that_changes_nothing_is_refused() -> None:
    raised = replace(FIRST, version=2)
    told = problem("normalise", raised, {"1": FIRST, "2": raised})
    assert told is not None
    assert "makes what version 1 made" in told
    assert record({"normalise": raised}, {"normalise": {"1": FIRST}}, overwrite=False)[1] == [told]
    assert record({"normalise": raised}, {"normalise": {"1": FIRST}}, overwrite=True)[1] == []


def test_a_change_caused_by_other_packages_needs_no_version() -> None:
    same = replace(FIRST, made_of={"tables": "a", "pypdfium2": "6"})
    assert problem("pdfium-layout", same, {"1": FIRST}) is None


def test_the_digest_of_files_equals_that_of_older_workspaces(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        workspace.raw.state.add_file(StoredFile("e1", "/pdf/a'b.pdf", "V", "f1", "ab" * 32, 12, None))
        workspace.raw.state.add_file(StoredFile("e2", "/pdf/é.pdf", "V", "f1", None, None, 'refused: "403"'))
        found = workspace.raw.state.files_digest("V")
    assert found == "eb918f056efc5e5ea888f93f75162fb9dcc0ac343cc84d2a54f1a3e3e3e4bc43"


def test_content_keys_depend_on_data_and_not_on_its_formatting() -> None:
    assert digest_of_data({"a": [1, "x"]}) != digest_of_data({"a": [1, "y"]})
    assert digest_of_data({"a": 1, "b": 2}) != digest_of_data({"b": 2, "a": 1})
    keys = (vocabulary.DIGEST, declared_forms.digest(), deadlines.INVITATIONS_DIGEST, version_signs.DIGEST)
    assert all(len(key) == 64 for key in keys)
    assert len(set(keys)) == 4
