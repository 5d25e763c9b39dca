"""Recorded histories of papers, each with the right answer and the reason for it.

The facts here were read in the files themselves. No PDF of these papers is recorded, so every path is given an invented
file: what is graded is the history, not the file. The files' own say is in `tests/versions`.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import peercorpus
from peercorpus.api.corpus import Corpus
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.build import STAGES
from peercorpus.pipeline.plan_build import expected_key
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, VersionMoment
from peercorpus.records.papers import PaperVersion
from peercorpus.versions.find_versions import NAME
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
]
REFERENCES_2020 = DATA / "raw-api-notebook" / "iclr2020_v1_references_ryxz8CVYDH.json"
REFERENCES_2023 = DATA / "raw-api-notebook" / "iclr2023_v1_references_tmIiMPl4IPa.json"
M = VersionMoment


def _root(references: Path, venue_id: str) -> dict[str, Any]:
    """A submission note rebuilt from its references, for a paper with no other record."""
    content: dict[str, Any] = {}
    found = json.loads(references.read_text(encoding="utf-8"))
    for reference in sorted(found, key=lambda one: one["tcdate"]):
        content |= {name: value for name, value in reference["content"].items() if value}
    forum_id, name = found[0]["forum"], f"{venue_id}/-/Blind_Submission"
    note = {"id": forum_id, "forum": forum_id, "invitation": name, "readers": ["everyone"], "content": content}
    return note | {
        "tcdate": found[0]["tcdate"],
        "tmdate": found[0]["tmdate"],
        "replyto": None,
        "signatures": [venue_id],
    }


def _paths(found: Any) -> Iterator[str]:
    if isinstance(found, dict):
        for inner in found.values():
            yield from _paths(inner)
    elif isinstance(found, list):
        for inner in found:
            yield from _paths(inner)
    elif isinstance(found, str) and found.startswith(("/pdf/", "/attachment/")):
        yield found


def _give_files(workspace: Workspace, venue_id: str) -> None:
    """Give every path of a venue's papers a file, named after the path."""
    for kind in (RawKind.NOTE, RawKind.REFERENCE, RawKind.EDIT):
        for found in workspace.raw.latest(kind, venue_id):
            for path in _paths(json.loads(found.body)):
                sha256 = hashlib.sha256(path.encode()).hexdigest()
                stored = StoredFile(found.object_id, path, venue_id, found.forum_id, sha256, 1, None)
                workspace.raw.state.add_file(stored)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The versions of every recorded paper."""
    base = tmp_path_factory.mktemp("versions")
    root = base / "root.json"
    root.write_text(json.dumps([_root(REFERENCES_2023, "ICLR.cc/2023/Conference")]), encoding="utf-8")
    with open_workspace(base / "corpus", create=True) as workspace:
        import_dumps(workspace, [*sorted(DATA.glob("raw-*")), root])
        for venue_id in workspace.raw.venues():
            _give_files(workspace, venue_id)
            for stage in STAGES:
                if stage.name in {"normalise", NAME}:
                    key = expected_key(workspace, stage, venue_id, BuildRequest())
                    stage.run(workspace, venue_id, BuildRequest(), key, no_report)
    return peercorpus.open(base / "corpus")


def _versions(corpus: Corpus, forum_id: str) -> list[PaperVersion]:
    return [version for version in corpus.records(PaperVersion) if version.forum_id == forum_id]


CASES = [
    pytest.param(
        *(
            "ryxz8CVYDH",
            "By1iRL_PH",
            Grade.EXACT,
            "deadline",
        ),
        id="ICLR 2020: the first reference is the latest under every deadline that a source states",
    ),
    pytest.param(
        *(
            "ryxyCeHtPB",
            "ryxyCeHtPB/original_pdf",
            Grade.EXACT_ATTACHMENT,
            "HytZVfFwB brought, written at 2019-09-25 16:21",
        ),
        id="ICLR 2020: the same, an hour after the deadline that was announced",
    ),
    pytest.param(
        *("tmIiMPl4IPa", "yiO7szW_PJ", Grade.EXACT, "the latest PDF on or before the deadline"),
        id="ICLR 2023: 20 minutes before the 28th ended anywhere on earth; the abstract came a week before",
    ),
    pytest.param(
        *("g1SzIRLQXMM", "tUsb6wBeye", Grade.EXACT, "the latest PDF on or before the deadline"),
        id="ICLR 2022: three hours before the deadline; the first reference holds the abstract alone",
    ),
    pytest.param(
        *("r1eLk2mKiX", "BkNjEVtoQ", Grade.BEFORE_FIRST_REVIEW, "can be seen from before the first review"),
        id="NIPS 2018 workshop: no deadline known; its first reference was written again and names a later file",
    ),
    pytest.param(
        *("HkghWScuoQ", None, Grade.UNAVAILABLE, "every PDF that can be seen may be later than the reviews"),
        id="NIPS 2018 workshop: the first reference was overwritten with a file from after the first review",
    ),
    pytest.param(
        *("S1sRrN-CW", None, Grade.UNAVAILABLE, "every PDF that can be seen may be later than the reviews"),
        id="ICLR 2018: the only reference was written again in January, two months after the reviews",
    ),
    pytest.param(
        *("ry5wc1bCW", None, Grade.UNAVAILABLE, "every PDF that can be seen may be later than the reviews"),
        id="ICLR 2018: no reference is recorded",
    ),
    pytest.param(
        *("odjMSBSWRt", None, Grade.UNAVAILABLE, "every PDF that can be seen may be later than the reviews"),
        id="ICLR 2025: only revisions of the rebuttal and the final version can be seen",
    ),
    pytest.param(
        *("zzo3Sy3NSX", None, Grade.UNAVAILABLE, "every PDF that can be seen may be later than the reviews"),
        id="ICLR 2026: the note was edited by Rebuttal_Revision, and no edit can be seen",
    ),
    pytest.param(
        *("oyEMeqoFm8", "oyEMeqoFm8", Grade.UNREVISED, "no invitation that can change the PDF edited the note"),
        id="TMLR, a test instance: the form made the note, and Under_Review alone edited it",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("forum_id", "edit_id", "grade", "rule"), CASES)
def test_the_right_version_is_chosen(
    corpus: Corpus, forum_id: str, edit_id: str | None, grade: Grade, rule: str
) -> None:
    versions = _versions(corpus, forum_id)
    assert [version.edit_id for version in versions if version.is_initial] == ([edit_id] if edit_id else [])
    (graded,) = [version for version in versions if version.grade is not None]
    assert graded.grade is grade
    assert rule in graded.evidence.rule


@pytest.mark.slow
def test_the_cases_cover_all_papers(corpus: Corpus) -> None:
    recorded = {version.forum_id for version in corpus.records(PaperVersion)}
    assert {str(case.values[0]) for case in CASES} == recorded


@pytest.mark.slow
@pytest.mark.parametrize(
    ("forum_id", "expected"),
    [
        (
            "ryxz8CVYDH",
            {
                "By1iRL_PH": M.INITIAL,
                "rkG6-Roor": M.DISCUSSION,
                "yes0BX_MP": M.CAMERA_READY,
            },
        ),
        # No review and no decision of it is recorded.
        ("tmIiMPl4IPa", {"yiO7szW_PJ": M.INITIAL, "YPKvUrVZiY": None, "R3zqXJ3BEM": None}),
        (
            "odjMSBSWRt",
            {
                "75k8x8fSoP": M.DISCUSSION,
                "H3fEH8C5e9": M.DISCUSSION,
                "ICikifbuBb": M.DISCUSSION,
                "VqJUwTQ5QN": M.CAMERA_READY,
                "ZvlwimTX4A": M.CAMERA_READY,
            },
        ),
        ("zzo3Sy3NSX", {"zzo3Sy3NSX": M.CURRENT}),
        ("S1sRrN-CW", {"BysijzbCb": None}),
    ],
)
def test_every_version_has_its_stage(corpus: Corpus, forum_id: str, expected: dict[str, VersionMoment | None]) -> None:
    assert {version.edit_id: version.moment for version in _versions(corpus, forum_id)} == expected


@pytest.mark.slow
@pytest.mark.parametrize(("path", "number", "files"), [(REFERENCES_2020, 46, 3), (REFERENCES_2023, 72, 3)])
def test_few_of_many_references_have_a_file(corpus: Corpus, path: Path, number: int, files: int) -> None:
    references = json.loads(path.read_text(encoding="utf-8"))
    assert len(references) == number
    versions = _versions(corpus, references[0]["forum"])
    assert len({version.path for version in versions if version.path.startswith("/pdf/")}) == files


@pytest.mark.slow
def test_title_and_abstract_are_those_of_the_version(corpus: Corpus) -> None:
    abstracts = {version.edit_id: version.abstract for version in _versions(corpus, "tmIiMPl4IPa")}
    found = {
        one["id"]: one["content"].get("abstract") for one in json.loads(REFERENCES_2023.read_text(encoding="utf-8"))
    }
    assert abstracts["yiO7szW_PJ"] == found["yiO7szW_PJ"] != found["45nafdqpLG"]
    # A revision of the PDF alone.
    assert found["YPKvUrVZiY"] is None
    assert abstracts["YPKvUrVZiY"] == found["yiO7szW_PJ"]
    assert abstracts["R3zqXJ3BEM"] == found["R3zqXJ3BEM"] != found["yiO7szW_PJ"]
    # Edits of API 2 without a title give none: an unreadable edit may have changed it.
    titles = {version.edit_id: version.title for version in _versions(corpus, "odjMSBSWRt")}
    assert titles["75k8x8fSoP"] is None
    assert str(titles["ZvlwimTX4A"]).startswith("DarkBench")


@pytest.mark.slow
def test_hidden_edits_publish_no_version(corpus: Corpus) -> None:
    for venue_id in ("ICLR.cc/2025/Conference", "ICLR.cc/2026/Conference"):
        grades = {version.grade for version in corpus.records(PaperVersion, venue_id)}
        assert grades.isdisjoint(PUBLISHABLE_GRADES)
