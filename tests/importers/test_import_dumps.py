"""Import of dumps: every object of every shape becomes a row, or the import stores nothing and states why."""

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from naming import Naming, by_name
from peercorpus.errors import DumpError
from peercorpus.importers.files import DumpFile, read_values
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.importers.notes import DumpScanner
from peercorpus.openreview.objects import Edit, Note, decode_leniently, read_edit, read_note
from peercorpus.workspace.raw_store import UNPLACED, RawKind
from peercorpus.workspace.workspace import Workspace

V1, V2 = "Old.cc/2020/Conference", "New.cc/2024/Conference"


def note_v1(note_id: str, forum: str | None = "p1", **more: Any) -> dict[str, Any]:
    tail = "-/Blind_Submission" if note_id == forum else "Paper1/-/Official_Review"
    base = {"id": note_id, "forum": forum, "invitation": f"{V1}/{tail}", "content": {"title": note_id}, "tmdate": 5}
    return {**base, **more}


def note_v2(note_id: str, forum: str = "q1", **more: Any) -> dict[str, Any]:
    tail = "-/Submission" if note_id == forum else "Submission1/-/Official_Review"
    content = {"title": {"value": note_id}}
    return {"id": note_id, "forum": forum, "invitations": [f"{V2}/{tail}"], "domain": V2, "content": content, **more}


def reference(reference_id: str, referent: str, **more: Any) -> dict[str, Any]:
    return note_v1(reference_id, "p1", referent=referent, **more)


def edit(edit_id: str, note_id: str) -> dict[str, Any]:
    partial = {"id": note_id, "content": {"pdf": {"value": "/pdf/a.pdf"}}}
    return {"id": edit_id, "invitation": f"{V2}/Submission1/-/Revision", "domain": V2, "content": None, "note": partial}


SHAPES: dict[str, tuple[object, dict[RawKind, set[str]]]] = {
    "a list": ([note_v1("p1", "p1"), note_v1("r1")], {RawKind.NOTE: {"p1", "r1"}}),
    "one note": (note_v2("q1"), {RawKind.NOTE: {"q1"}}),
    "an answer of notes": ({"notes": [note_v2("q1")], "count": 1}, {RawKind.NOTE: {"q1"}}),
    "an answer of edits": ({"edits": [edit("e1", "q1")]}, {RawKind.EDIT: {"e1"}}),
    "an answer of references": ({"references": [reference("f1", "p1")]}, {RawKind.REFERENCE: {"f1"}}),
    "replies": (note_v2("q1", details={"replies": [note_v2("r1"), note_v2("r2")]}), {RawKind.NOTE: {"q1", "r1", "r2"}}),
    "replies twice": (
        note_v1("p1", "p1", details={"replies": [note_v1("r1")], "directReplies": [note_v1("r1")]}),
        {RawKind.NOTE: {"p1", "r1"}},
    ),
    "a crawler's wrapper": (
        [
            {
                "venue": "Old.cc",
                "year": 2020,
                "submissions": [
                    note_v1(
                        "p1",
                        "p1",
                        referent=None,
                        revisions=[reference("f1", "p1")],
                        notes=[note_v1("r1", referent=None, revisions=[reference("f2", "r1")])],
                    )
                ],
            },
            {"venue": "Other.cc", "year": 2020, "submissions": None},
            {"venue": "More.cc", "year": 2020, "submissions": []},
        ],
        {RawKind.NOTE: {"p1", "r1"}, RawKind.REFERENCE: {"f1", "f2"}},
    ),
    "notes by name": (
        {"first": reference("f1", "p1"), "second": None, "comment": note_v1("r1")},
        {RawKind.NOTE: {"r1"}, RawKind.REFERENCE: {"f1"}},
    ),
    "content only": ({"id": "r9", "forum": "p9", "content": {"review": "Good."}}, {RawKind.NOTE: {"r9"}}),
    "a group and its invitations": (
        {
            "groups": [{"id": V2, "domain": V2, "members": [], "content": {"title": {"value": "New"}}}],
            "invitations": [{"id": f"{V2}/-/Submission", "domain": V2, "edit": {"note": {"content": {}}}}],
        },
        {RawKind.GROUP: {V2}, RawKind.INVITATION: {f"{V2}/-/Submission"}},
    ),
}


def write(folder: Path, content: object, name: str = "dump.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def held(workspace: Workspace) -> dict[RawKind, set[str]]:
    venues = [V1, V2, UNPLACED]
    found = {kind: {one.object_id for venue in venues for one in workspace.raw.latest(kind, venue)} for kind in RawKind}
    return {kind: ids for kind, ids in found.items() if ids}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_dump_is_imported(shape: str, tmp_path: Path, workspace: Workspace) -> None:
    content, expected = SHAPES[shape]
    summary = import_dumps(workspace, [write(tmp_path, content)])
    assert held(workspace) == expected
    assert {kind: summary.taken(kind).new for kind in expected} == {kind: len(ids) for kind, ids in expected.items()}
    assert summary.left_out == {}
    assert summary.files[0].problem is None


LARGE: dict[str, tuple[Callable[[list[Any]], str], dict[str, int]]] = {
    "a list": (json.dumps, {}),
    "lines": (lambda notes: "\n".join(map(json.dumps, notes)), {}),
    "a wrapper": (lambda notes: json.dumps({"count": len(notes), "meta": {"page": 1}, "notes": notes}), {}),
    "a wrapper of venues": (lambda notes: json.dumps({"venues": {"a": {"notes": notes}, "b": {"notes": []}}}), {}),
    "notes by name": (lambda notes: json.dumps({"venue": "a"} | {note["id"]: note for note in notes}), {}),
    "a record of notes": (
        lambda notes: json.dumps({"id": "g", "forum": "g", "content": {"a": "b"}, "replies": notes, "readers": []}),
        {"a record larger than": 1},
    ),
    "no notes": (lambda _: json.dumps({f"n{place}": {"a": 1} for place in range(200)}), {"(a record with n0, n1": 1}),
}


@pytest.mark.parametrize("shape", LARGE)
def test_large_files_give_the_same_records(shape: str, tmp_path: Path) -> None:
    write_shape, left_out = LARGE[shape]
    path = tmp_path / ("large.jsonl" if shape == "lines" else "large.json")
    path.write_text(write_shape([note_v1(f"r{number}") for number in range(9)]))
    taken: list[bytes] = []
    left: list[str] = []
    values = read_values(DumpFile(path, path.name, is_named=True), 400)
    DumpScanner(lambda _, body: taken.append(body), lambda why, _: left.append(why)).enter_items(values)
    expected = [] if shape == "no notes" else [msgspec.json.encode(note_v1(f"r{number}")) for number in range(9)]
    assert taken == expected
    assert by_name(Counter(left), *left_out) == left_out
    assert len(left) == sum(left_out.values())


@pytest.mark.fault(
    "input", "a record of a dump that is larger than what is read at once", "one sentence that names it", times=4
)
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", '{"a": 1}\n"%s"\n'), ("a.json", '{"a": 1}\n{"a": "%s"}\n'), ("a.json", '["%s"]'), ("a.json", '"%s"')],
)
def test_a_record_too_large_is_refused(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content % ("b" * 500))
    with pytest.raises(DumpError, match=rf"{name}'.*(400 bytes|not one JSON)"):
        list(read_values(DumpFile(path, path.name, is_named=True), 400))


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("name", ["d.json", "d.json.gz", "d.jsonl", "d.jsonl.gz", "d.ndjson", "lines.json", "d.txt"])
def test_every_wrapping_gives_the_same_rows(
    name: str, indent: int | None, tmp_path: Path, workspace: Workspace
) -> None:
    notes = [note_v1("p1", "p1"), note_v1("r1"), note_v1("r2")]
    lines = "\r\n".join(json.dumps(note) for note in notes) + "\n\n"
    by_line = "jsonl" in name or "ndjson" in name or name.startswith("lines")
    text = lines if by_line else json.dumps(notes, indent=indent)
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    import_dumps(workspace, [path])
    bodies = [one.body for one in workspace.raw.latest(RawKind.NOTE, V1)]
    assert bodies == [msgspec.json.encode(note) for note in notes]


def test_a_parent_keeps_all_other_members(tmp_path: Path, workspace: Workspace) -> None:
    incomplete = [note_v1("r2"), {"content": {"title": "no id"}}]
    details = {"replyCount": 2, "replies": [note_v1("r1")], "tags": [], "original": note_v1("o1", "o1")}
    import_dumps(workspace, [write(tmp_path, note_v1("p1", "p1", details=details, notes=incomplete, revisions=None))])
    found = workspace.raw.find(RawKind.NOTE, "p1")
    assert found is not None
    kept = {"replyCount": 2, "tags": [], "original": note_v1("o1", "o1")}
    expected = note_v1("p1", "p1", details=kept, notes=incomplete, revisions=None)
    assert msgspec.json.decode(found.body) == expected
    assert held(workspace) == {RawKind.NOTE: {"p1", "r1", "r2"}}


def test_a_row_is_read_from_its_shape(tmp_path: Path, workspace: Workspace) -> None:
    content = [
        note_v1("p1", "p1"),
        note_v1("r1"),
        reference("f1", "r1"),
        note_v2("q1"),
        note_v2("s1"),
        edit("e1", "s1"),
        {"id": "c1", "forum": "q1", "content": {"review": {"value": "Good."}, "pdf": {}}},
        {"id": "c2", "forum": "x", "content": {"review": "Good."}},
    ]
    import_dumps(workspace, [write(tmp_path, content)])
    rows = [
        (one.object_id, one.api, one.venue_id, one.forum_id, one.subject_id)
        for venue in (V1, V2, UNPLACED)
        for kind in (RawKind.NOTE, RawKind.REFERENCE, RawKind.EDIT)
        for one in workspace.raw.latest(kind, venue)
    ]
    assert rows == [
        ("p1", 1, V1, "p1", "p1"),
        ("r1", 1, V1, "p1", "r1"),
        ("f1", 1, V1, "p1", "r1"),
        ("c1", 2, V2, "q1", "c1"),
        ("q1", 2, V2, "q1", "q1"),
        ("s1", 2, V2, "q1", "s1"),
        ("e1", 2, V2, "q1", "s1"),
        ("c2", 1, UNPLACED, "x", "c2"),
    ]


def test_a_changed_note_is_a_second_version(tmp_path: Path, workspace: Workspace) -> None:
    path = write(tmp_path, [note_v1("p1", "p1"), note_v1("r1")])
    import_dumps(workspace, [path])
    again = import_dumps(workspace, [path, path]).taken(RawKind.NOTE)
    assert (again.new, again.known) == (0, 2)
    write(tmp_path, [note_v1("r1", tmdate=6)])
    assert import_dumps(workspace, [path]).taken(RawKind.NOTE).new == 1
    assert [one.modified_ms for one in workspace.raw.versions(RawKind.NOTE, V1)] == [5, 5, 6]


def test_skipped_files_of_a_folder_are_named(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / "crawl"
    write(folder, [note_v1("p1", "p1")], "b/notes.json")
    write(folder, [{"revision_number": 1, "note_id": "x"}] * 3, "a/summary.json")
    write(folder, {"setting": 1}, "settings.json")
    write(folder, [], "empty.json")
    (folder / "readme.txt").write_text("not JSON")
    (folder / ".hidden.json").write_text("{")
    (folder / "link.json").symlink_to(folder / "b" / "notes.json")
    summary = import_dumps(workspace, [folder])
    nothing, unread = Naming("contains no"), Naming("not a JSON")
    assert [(one.name, one.problem) for one in summary.files] == [
        ("crawl/.hidden.json", unread),
        ("crawl/a/summary.json", nothing),
        ("crawl/b/notes.json", None),
        ("crawl/empty.json", nothing),
        ("crawl/link.json", Naming("a link")),
        ("crawl/readme.txt", unread),
        ("crawl/settings.json", nothing),
    ]
    assert [count for why, count in summary.left_out.items() if "revision_number, note_id" in why] == [3]
    assert held(workspace) == {RawKind.NOTE: {"p1"}}


def test_records_that_are_no_objects_are_counted(tmp_path: Path, workspace: Workspace) -> None:
    content = [note_v1("p1", "p1"), {"content": {"review": "x"}}, {"id": None, "content": {}}, {"group": {"id": "G"}}]
    left_out = import_dumps(workspace, [write(tmp_path, content)]).left_out
    assert by_name(left_out, "without an id", "edit of a group") == {"without an id": 2, "edit of a group": 1}


BAD = {
    "cut off": (
        b'[{"id": "p1", "forum": "p1", "content": {"title": "A',
        r"/bad.json' cannot be read.*line 1, column \d+",
    ),
    "no JSON": (b"hello", r"/bad.json' .*line 1, column 1\b"),
    "empty": (b"", r"/bad.json' .*cut off"),
    "two values": (b"[] []", r"/bad.json' .*line 1, column 4\b"),
    "nothing": (b"[]", "/bad.json' contains no"),
    "a number": (b"7", "/bad.json' contains no"),
    "other data": (b'[{"name": "x"}]', "/bad.json' contains no"),
}


@pytest.mark.fault("input", "a dump that is cut off, damaged or no JSON", "one sentence that names the file", times=7)
@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_alone_is_refused(name: str, tmp_path: Path, workspace: Workspace) -> None:
    content, sentence = BAD[name]
    bad = tmp_path / "bad.json"
    bad.write_bytes(content)
    with pytest.raises(DumpError, match=sentence):
        import_dumps(workspace, [bad])
    assert workspace.raw.venues() == []


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_does_not_stop_the_others(name: str, tmp_path: Path, workspace: Workspace) -> None:
    content, sentence = BAD[name]
    bad = tmp_path / "bad.json"
    bad.write_bytes(content)
    summary = import_dumps(workspace, [bad, write(tmp_path, [note_v1("p1", "p1")], "good.json")])
    assert held(workspace) == {RawKind.NOTE: {"p1"}}
    assert [file.is_whole for file in summary.files] == [False, True]
    assert re.search(sentence, str(summary.files[0].problem))


UNREADABLE = {
    "not a number": (b'{"id": "r1", "forum": "p1", "tmdate": NaN, "content": {}}', "not JSON", "contains NaN"),
    "not UTF-8": (b'{"id": "r1", "forum": "p1", "content": {"a": "\xff"}}', "not JSON", "UTF-8"),
    "a wrong field": (b'{"id": "r1", "forum": "p1", "tmdate": "today", "content": {}}', "tmdate", "'r1'"),
    "content as text": (b'{"id": "r1", "forum": "p1", "content": "Good."}', "content", "'r1'"),
    "no id": (b'{"forum": "p1", "content": {}}', "without an id", "item 2"),
    "a text": (b'"r1"', "not an OpenReview object", "item 2"),
    "nothing": (b"null", "not an OpenReview object", "item 2"),
    "an empty list": (b"[]", "a list of none", "item 2"),
}
SHELLS: dict[str, tuple[bytes, str]] = {
    "a list": (b"[%b,%b,%b]", "dump.json"),
    "an answer": (b'{"notes":[%b,%b,%b],"count":3}', "dump.json"),
    "lines": (b"%b\n%b\n%b\n", "dump.jsonl"),
    "lines named .json": (b"%b\n%b\n%b\n", "dump.json"),
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_item_is_set_aside_alone(name: str, shell: str, tmp_path: Path, workspace: Workspace) -> None:
    item, reason, which = UNREADABLE[name]
    form, file_name = SHELLS[shell]
    first, last = (json.dumps(note_v1(note_id, "p1")).encode() for note_id in ("p1", "r2"))
    path = tmp_path / file_name
    path.write_bytes(form % (first, item, last))
    (file,) = import_dumps(workspace, [path]).files
    assert held(workspace) == {RawKind.NOTE: {"p1", "r2"}}
    if name == "an empty list" and "lines" in shell:
        return  # A line is a value, and this one has no items.
    assert [number for why, number in file.left_out.items() if reason in why] == [1]
    assert which in str(file.first) or "line 2" in str(file.first)
    assert file.problem is None


def test_a_note_without_a_forum_is_kept(tmp_path: Path, workspace: Workspace) -> None:
    import_dumps(workspace, [write(tmp_path, note_v1("p7", None))])
    found = workspace.raw.find(RawKind.NOTE, "p7")
    assert (found is not None and found.forum_id) == ""


def test_the_replies_of_an_unreadable_submission_are_kept(tmp_path: Path, workspace: Workspace) -> None:
    replies = json.dumps([note_v1("r1"), note_v1("r2")]).encode()
    path = tmp_path / "dump.json"
    path.write_bytes(b'[{"id":"p1","forum":"p1","content":{"a":NaN},"details":{"replies":%b,"tags":[]}}]' % replies)
    (file,) = import_dumps(workspace, [path]).files
    assert held(workspace) == {RawKind.NOTE: {"r1", "r2"}}
    assert file.left_out == {"an item that is not JSON": 1}


def test_a_file_cut_off_gives_the_items_before(tmp_path: Path, workspace: Workspace) -> None:
    path = write(tmp_path, [note_v1("p1", "p1"), note_v1("r1")])
    path.write_bytes(path.read_bytes()[:-9])
    (file,) = import_dumps(workspace, [path]).files
    assert held(workspace) == {RawKind.NOTE: {"p1"}}
    assert "after 1 record" in str(file.problem)


ODD_NUMBERS: dict[str, dict[str, Any]] = {
    "floats": {"tcdate": 5.0, "tmdate": 6.0, "number": 2.0},
    "texts": {"tcdate": "5", "tmdate": "6.0", "number": "2"},
}


@pytest.mark.parametrize("written", ODD_NUMBERS)
def test_times_written_by_other_tools_are_read(written: str, tmp_path: Path, workspace: Workspace) -> None:
    import_dumps(workspace, [write(tmp_path, [note_v2("q1", **ODD_NUMBERS[written])])])
    found = workspace.raw.find(RawKind.NOTE, "q1")
    assert found is not None
    assert found.modified_ms == 6
    note = read_note(found.body)
    assert (note.tcdate, note.tmdate, note.number) == (5, 6, 2)
    assert decode_leniently(Note, found.body).tmdate == 6


def test_a_restored_note_is_not_deleted(tmp_path: Path, workspace: Workspace) -> None:
    restoring = edit("e1", "q1")
    restoring["note"]["ddate"] = {"delete": True}
    import_dumps(workspace, [write(tmp_path, [note_v2("q1"), restoring])])
    found = workspace.raw.find(RawKind.EDIT, "e1")
    assert found is not None
    assert (found.subject_id, read_edit(found.body).note.ddate) == ("q1", None)
    assert decode_leniently(Edit, found.body).note.id == "q1"


def test_an_odd_file_name_is_escaped(tmp_path: Path, workspace: Workspace) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.json"))
    path.write_text(json.dumps([note_v1("p1", "p1")]))
    (file,) = import_dumps(workspace, [path]).files
    assert file.name == "caf\\xe9.json"
    assert held(workspace) == {RawKind.NOTE: {"p1"}}


@pytest.mark.fault("input", "a packed dump that is cut off or damaged", "one sentence that names the file", times=3)
@pytest.mark.parametrize("content", [gzip.compress(b'[{"id": "p1"}]' * 99, mtime=0)[:40], b"[]", b""])
def test_a_bad_gzip_file_is_refused(content: bytes, tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "bad.json.gz"
    path.write_bytes(content)
    with pytest.raises(DumpError, match=r"bad.json.gz' cannot be"):
        import_dumps(workspace, [path])


def test_a_bad_line_is_named_with_its_number(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(f"{json.dumps(note_v1('p1', 'p1'))}\n\n{{cut\n{json.dumps(note_v1('r1'))}\n")
    (file,) = import_dumps(workspace, [path]).files
    assert held(workspace) == {RawKind.NOTE: {"p1", "r1"}}
    assert "line 3: " in file.first["an item that is not JSON"]


def test_a_path_that_does_not_exist_is_named(tmp_path: Path, workspace: Workspace) -> None:
    with pytest.raises(DumpError, match=r"nowhere.json' does not exist"):
        import_dumps(workspace, [tmp_path / "nowhere.json"])


def test_a_folder_without_any_object_is_an_error(tmp_path: Path, workspace: Workspace) -> None:
    write(tmp_path / "crawl", {"setting": 1})
    with pytest.raises(DumpError, match="/crawl' contains no"):
        import_dumps(workspace, [tmp_path / "crawl"])


READ_BY_ALL: dict[str, Any] = {"readers": ["everyone"]}
DUMPS: dict[str, tuple[dict[str, list[dict[str, Any]]], set[str]]] = {
    "nothing names readers": (
        {"a": [note_v2("q1"), note_v2("r1", readers=None)], "b": [note_v2("r2")]},
        {"q1", "r1", "r2"},
    ),
    "one note does": ({"a": [note_v2("q1", **READ_BY_ALL), note_v2("r1")]}, set()),
    "a note of another file does": ({"a": [note_v2("r1")], "b": [note_v2("q1", readers=[V2])]}, set()),
    "a note of a folder inside does": ({"a": [note_v2("r1")], "in/b": [note_v2("q1", **READ_BY_ALL)]}, set()),
    "an empty list does": ({"a": [note_v2("q1"), note_v2("r1", readers=[])]}, set()),
    "a field does": ({"a": [note_v2("q1"), note_v2("r1", content={"x": {"value": "y", "readers": [V2]}})]}, set()),
    "an edit does": ({"a": [note_v2("q1"), edit("e1", "q1") | READ_BY_ALL]}, set()),
    "only its texts speak of them": ({"a": [note_v2("q1", content={"title": {"value": '"readers":[]'}})]}, {"q1"}),
}


@pytest.mark.parametrize("what", DUMPS)
@pytest.mark.parametrize("by_file", [False, True])
def test_readers_left_out_of_whole_dumps(what: str, by_file: bool, tmp_path: Path, workspace: Workspace) -> None:
    files, opened = DUMPS[what]
    crawl = tmp_path / "crawl"
    for name, notes in files.items():
        (crawl / name).parent.mkdir(parents=True, exist_ok=True)
        (crawl / f"{name}.json").write_text(json.dumps(notes))
    (tmp_path / "other").mkdir()
    # Another dump of the same import, with a file of the same name.
    (tmp_path / "other" / "a.json").write_text(json.dumps([note_v2("z1", "z1", **READ_BY_ALL)]))
    of_crawl = sorted(crawl.glob("*.json")) if by_file and "inside" not in what else [crawl]
    import_dumps(workspace, [*of_crawl, tmp_path / "other"])
    stored = list(workspace.raw.latest(RawKind.NOTE, V2))
    assert {note.object_id for note in stored if note.is_open} == opened
    assert {note.origin.rpartition("/")[2] for note in stored} <= {"a.json", "b.json"}
    assert workspace.raw.find(RawKind.NOTE, "z1")
