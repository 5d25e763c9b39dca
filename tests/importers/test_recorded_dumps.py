"""Import of recorded dumps: the counts match those of the data's own index, established by hand."""

from collections import Counter
from pathlib import Path

import pytest

from naming import by_name
from peercorpus.importers.import_dumps import ImportSummary, import_dumps
from peercorpus.openreview.objects import invitation_name, read_note
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

DATA = Path(__file__).parents[2].parent / "shared" / "data"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not DATA.is_dir(), reason="no recorded data beside the checkout (../shared/data)"),
]


def load(workspace: Workspace, *names: str) -> ImportSummary:
    return import_dumps(workspace, [DATA / name for name in names])


def forum(workspace: Workspace, forum_id: str) -> list[RawObject]:
    root = workspace.raw.find(RawKind.NOTE, forum_id)
    assert root is not None
    return [one for one in workspace.raw.latest(RawKind.NOTE, root.venue_id) if one.forum_id == forum_id]


def count_forums(workspace: Workspace, venue_id: str) -> int:
    return len({one.forum_id for one in workspace.raw.latest(RawKind.NOTE, venue_id)})


def tails(notes: list[RawObject]) -> Counter[str]:
    return Counter(invitation_name(read_note(note.body).created_by) for note in notes)


def test_research_arcade(workspace: Workspace) -> None:
    load(workspace, "raw-v2-research-arcade")
    expected = {"Official_Review": 4, "Official_Comment": 12, "Meta_Review": 1, "Decision": 1, "Public_Comment": 1}
    assert tails(forum(workspace, "odjMSBSWRt")) == {**expected, "Submission": 1}
    edits = list(workspace.raw.latest(RawKind.EDIT, "ICLR.cc/2025/Conference"))
    assert [one.forum_id for one in edits] == ["odjMSBSWRt"] * 5


def test_api_notebook(workspace: Workspace) -> None:
    summary = load(workspace, "raw-api-notebook")
    assert tails(forum(workspace, "zzo3Sy3NSX")) == {"Submission": 1, "Official_Review": 4, "Official_Comment": 12}
    assert tails(forum(workspace, "ryxz8CVYDH")) == {
        "Blind_Submission": 1,
        "Official_Review": 3,
        "Official_Comment": 5,
        "Decision": 1,
    }
    references = Counter(
        one.forum_id
        for venue in ("ICLR.cc/2020/Conference", "ICLR.cc/2023/Conference")
        for one in workspace.raw.latest(RawKind.REFERENCE, venue)
    )
    assert references == {"ryxz8CVYDH": 46, "tmIiMPl4IPa": 72}
    assert by_name(summary.left_out, "without an id") == {"without an id": 46}


def test_nnkennard(workspace: Workspace) -> None:
    summary = load(workspace, "raw-v1-nnkennard")
    for forum_id, replies in (("S1sRrN-CW", 9), ("ryxyCeHtPB", 8), ("g1SzIRLQXMM", 16)):
        assert len(forum(workspace, forum_id)) == 1 + replies
    revisions = list(workspace.raw.latest(RawKind.REFERENCE, "ICLR.cc/2019/Conference"))
    assert (len(revisions), len({one.subject_id for one in revisions})) == (19, 8)
    assert {one.name for one in summary.files if one.problem} == {
        f"raw-v1-nnkennard/iclr{year}_metadata_lines_{forum_id}.txt"
        for year, forum_id in ((2018, "S1sRrN-CW"), (2020, "ryxyCeHtPB"), (2022, "g1SzIRLQXMM"))
    }
    assert summary.left_out == {}


def test_erikbird(workspace: Workspace) -> None:
    load(workspace, "raw-v1-erikbird/example_output.json")
    venue_id = "NIPS.cc/2018/Workshop/CDNNRIA"
    assert len(forum(workspace, "HkghWScuoQ")) + len(forum(workspace, "r1eLk2mKiX")) == 2 + 28
    references = list(workspace.raw.latest(RawKind.REFERENCE, venue_id))
    assert sum(one.subject_id == one.forum_id for one in references) == 10
    assert len(references) == 10 + 28
    for note in workspace.raw.latest(RawKind.NOTE, venue_id):
        assert not {"notes", "revisions"} & set(read_note(note.body).__struct_fields__)
        assert b'"revisions":[' not in note.body


def test_isingmodel_and_the_tutorial(workspace: Workspace) -> None:
    load(workspace, "raw-v1-isingmodel", "raw-v2-tmlr-tutorial")
    assert len(forum(workspace, "ry5wc1bCW")) == 3
    assert [one.api for one in forum(workspace, "oyEMeqoFm8")] == [2, 2]
    assert workspace.raw.venues() == [".TMLR", "ICLR.cc/2018/Conference"]


@pytest.mark.slow
def test_content_lines(workspace: Workspace) -> None:
    summary = load(workspace, "raw-v1-content-iclr2019-2020")
    assert [one.taken[RawKind.NOTE].new for one in summary.files] == [4764, 7693]
    venues = {f"ICLR.cc/{year}/Conference": forums for year, forums in ((2019, 1565), (2020, 2561))}
    assert {venue_id: count_forums(workspace, venue_id) for venue_id in workspace.raw.venues()} == venues


def test_forum_prints(workspace: Workspace) -> None:
    load(workspace, "forum-prints-peersum")
    assert workspace.raw.count(RawKind.NOTE, "ICLR.cc/2018/Conference") > 1


@pytest.mark.slow
def test_everything_at_once_loses_nothing(workspace: Workspace) -> None:
    folders = sorted(path.name for path in DATA.glob("raw-*"))
    summary = load(workspace, *folders)
    taken = {kind: (summary.taken(kind).new, summary.taken(kind).known) for kind in RawKind}
    # Three lists of references contain their note once more, with nothing that the forum's dump does not have.
    assert taken[RawKind.NOTE] == (12_575, 26)
    assert taken[RawKind.REFERENCE] == (187, 3)
    assert taken[RawKind.EDIT] == (5, 0)
    again = load(workspace, *folders)
    assert [again.taken(kind).new for kind in RawKind] == [0] * len(RawKind)
    stored = sum(1 for venue in workspace.raw.venues() for _ in workspace.raw.versions(RawKind.NOTE, venue))
    assert stored == 12_575
