"""PDFs that a user already has: which version each one is, and what is set aside."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from in_this_process import build_here
from peercorpus.errors import DumpError
from peercorpus.importers.import_dumps import place_forums
from peercorpus.importers.import_pdfs import PdfImport, import_pdfs
from peercorpus.records.enums import Grade, Reason, VersionMoment
from peercorpus.records.papers import PaperVersion
from peercorpus.versions import find_versions
from peercorpus.workspace.raw_store import UNPLACED, RawKind, RawObject
from peercorpus.workspace.workspace import Workspace, open_workspace

V = "Invented.cc/2020/Conference"
MADE = 1_570_000_000_000
WHEN = "2019-10-02T07:06:40Z"
"""The time `MADE`."""


def pdf(words: str) -> bytes:
    return b"%PDF-1.4\n" + words.encode() + b"\n%%EOF\n"


def _note(forum_id: str, path: str, **more: Any) -> dict[str, Any]:
    content = {"title": "On Kites", "pdf": path}
    note = {"id": forum_id, "forum": forum_id, "invitation": f"{V}/-/Blind_Submission", "readers": ["everyone"]}
    return note | {"original": f"own-{forum_id}", "content": content} | more


def _reference(name: str, forum_id: str, path: str, after: int) -> dict[str, Any]:
    times = {"tcdate": MADE + after, "tmdate": MADE + after}
    return _note(name, path, forum=forum_id, referent=forum_id, original=None) | times


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Two papers: `many` has three PDFs, `one` a single one."""
    rows = [
        (RawKind.NOTE, "many", _note("many", "/pdf/now.pdf")),
        (RawKind.REFERENCE, "many", _reference("first", "many", "/pdf/first.pdf", 0)),
        (RawKind.REFERENCE, "many", _reference("second", "many", "/pdf/second.pdf", 5_000)),
        (RawKind.NOTE, "one", _note("one", "/pdf/one.pdf")),
    ]
    with open_workspace(tmp_path / "w", create=True) as opened:
        for kind, forum_id, note in rows:
            body = json.dumps(note).encode()
            opened.raw.add([RawObject(kind, note["id"], 1, V, forum_id, forum_id, 0, 0, "test", body)])
        yield opened


def _import(workspace: Workspace, folder: Path, files: Mapping[str, bytes], table: str = "") -> PdfImport:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    if table:
        (folder / "list.csv").write_text(table, encoding="utf-8")
    return import_pdfs(workspace, folder)


def _held(workspace: Workspace) -> dict[str, str]:
    """Return the words of each stored file, by the id of its edit."""
    return {
        stored.edit_id: workspace.files.read(stored.sha256)[9:-7].decode()
        for stored in workspace.raw.state.files(V)
        if stored.sha256
    }


@pytest.mark.parametrize(
    ("name", "table", "edit_id"),
    [
        ("one.pdf", "", "one"),
        ("own-one.pdf", "", "one"),
        ("first.pdf", "", "first"),
        ("many.pdf", "", "many/supplied/undated/"),
        ("ONE.PDF", "file,forum_id\nONE.PDF,one\n", "one"),
        ("a.pdf", "forum_id,file,version\nmany,a.pdf,second\n", "second"),
        ("a.pdf", "forum_id,file,version\nmany,a.pdf,/pdf/first.pdf\n", "first"),
        ("a.pdf", "forum_id,file,version\nmany,a.pdf,current\n", "many"),
        ("a.pdf", "forum_id,file,version\nmany,a.pdf,camera ready\n", "many/supplied/undated/camera ready"),
        ("a.pdf", f"forum_id,file,when\nmany,a.pdf,{WHEN}\n", "first"),
        ("a.pdf", "forum_id,file,when\nmany,a.pdf,2019-10-02T09:06:45+02:00\n", "second"),
        ("a.pdf", "forum_id,file,when\nmany,a.pdf,2020-01-01\n", "many/supplied/20200101T000000Z/"),
        ("a.pdf", f"\ufeffforum_id,file,version,when,notes\nmany,a.pdf,second,{WHEN},mine\n", "second"),
        ("a.pdf", "forum_id,file\nfirst,a.pdf\n", "first"),
    ],
)
def test_a_file_is_assigned_to_its_version(
    tmp_path: Path, workspace: Workspace, name: str, table: str, edit_id: str
) -> None:
    found = _import(workspace, tmp_path / "pdfs", {name: pdf("kites")}, table)
    assert _held(workspace) == {edit_id: "kites"}
    assert (found.tied, found.own, found.aside) == (*((0, 1) if "supplied" in edit_id else (1, 0)), [])


@pytest.mark.parametrize(
    ("files", "table", "aside"),
    [
        ({"nobody.pdf": pdf("a")}, "", ["nobody.pdf"]),
        ({"many.pdf": b"<html>"}, "", ["many.pdf"]),
        ({"many.pdf": b""}, "", ["many.pdf"]),
        ({"many.pdf": b"%PDF-1.4 cut"}, "", ["many.pdf"]),
        ({"notes.txt": b"words"}, "", ["notes.txt"]),
        ({"a.pdf": pdf("a"), "b.pdf": pdf("b")}, "forum_id,file\nmany,a.pdf\nmany,b.pdf\n", ["a.pdf", "b.pdf"]),
        ({"first.pdf": pdf("a")}, "forum_id,file\nmany,../first.pdf\n", ["../first.pdf", "first.pdf"]),
        ({"first.pdf": pdf("a")}, "forum_id,file\nmany,/etc/passwd\n", ["/etc/passwd", "first.pdf"]),
        ({"first.pdf": pdf("a")}, "forum_id,file\nmany,gone.pdf\n", ["gone.pdf", "first.pdf"]),
        ({"first.pdf": pdf("a")}, "forum_id,file\n../many,first.pdf\n", ["first.pdf"]),
        ({"first.pdf": pdf("a")}, "forum_id,file\nmany\n", ["", "first.pdf"]),
    ],
)
def test_an_unmatched_file_is_set_aside(
    tmp_path: Path, workspace: Workspace, files: dict[str, bytes], table: str, aside: list[str]
) -> None:
    with pytest.raises(DumpError) as refused:
        _import(workspace, tmp_path / "alone", files, table)
    assert f"'{aside[0]}'" in str(refused.value)
    assert (f" {len(aside) - 1} more " in str(refused.value)) == (len(aside) > 1)
    more = f"{table}one,one.pdf\n" if table else ""
    found = _import(workspace, tmp_path / "pdfs", {**files, "one.pdf": pdf("one")}, more)
    assert [sentence.split("'")[1] for sentence in found.aside] == aside
    assert _held(workspace) == {"one": "one"}


@pytest.mark.parametrize(
    "table",
    [
        *("forum,file\nmany,a.pdf\n", "forum_id;file\nmany;a.pdf\n", "forum_id,file\n"),
        *("forum_id,file,when\nmany,a.pdf,yesterday\n", "forum_id,file,when\nmany,a.pdf,0219-09-25T18:00:00Z\n"),
        *("forum_id,file,when\nmany,a.pdf,9999-12-31T23:59:59-12:00\n", 'forum_id,file\n"many,a.pdf\n'),
    ],
)
def test_an_odd_table_is_refused(tmp_path: Path, workspace: Workspace, table: str) -> None:
    with pytest.raises(DumpError, match=r"list\.csv"):
        _import(workspace, tmp_path / "pdfs", {"a.pdf": pdf("a")}, table)
    assert not _held(workspace)


def test_unusable_folders_are_refused(tmp_path: Path, workspace: Workspace) -> None:
    with pytest.raises(DumpError, match="other"):
        _import(workspace, tmp_path / "two", {"other.csv": b"", "a.pdf": pdf("a")}, "forum_id,file\n")
    with pytest.raises(DumpError, match="gone"):
        import_pdfs(workspace, tmp_path / "gone")
    with pytest.raises(DumpError, match="empty"):
        _import(workspace, tmp_path / "empty", {})


def test_links_are_not_followed(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "secret").write_bytes(pdf("secret"))
    (tmp_path / "pdfs").mkdir()
    (tmp_path / "pdfs" / "one.pdf").symlink_to(tmp_path / "secret")
    with pytest.raises(DumpError):
        import_pdfs(workspace, tmp_path / "pdfs")
    assert not _held(workspace)


def test_a_second_file_of_a_version_waits(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / "pdfs"
    _import(workspace, folder, {"one.pdf": pdf("one")})
    again = _import(workspace, folder, {"own-one.pdf": pdf("one")})
    assert (again.tied, again.known, again.aside) == (0, 2, [])
    other = _import(workspace, tmp_path / "other", {"one.pdf": pdf("two"), "first.pdf": pdf("first")})
    assert (other.tied, len(other.aside)) == (1, 1)
    assert _held(workspace) == {"one": "one", "first": "first"}


def test_a_supplied_initial_file_names_its_supplier(tmp_path: Path, workspace: Workspace) -> None:
    table = "forum_id,file,version,when\nmany,a.pdf,initial,2019-09-25T18:00:00Z\nmany,b.pdf,first,\n"
    _import(workspace, tmp_path / "pdfs", {"a.pdf": pdf("a"), "b.pdf": pdf("b")}, table)
    build_here(workspace)
    versions = {version.edit_id: version for version in workspace.tables.read(PaperVersion, V)}
    assert len(versions) == 5
    own = versions["many/supplied/20190925T180000Z/initial"]
    assert (own.is_initial, own.grade, own.moment, own.is_pdf) == (True, Grade.STATED, VersionMoment.INITIAL, True)
    assert own.sha256 == hashlib.sha256(pdf("a")).hexdigest()
    assert own.created_at is not None
    assert own.created_at.isoformat() == "2019-09-25T18:00:00+00:00"
    assert "'initial'" in own.evidence.rule
    assert versions["first"].sha256 == hashlib.sha256(pdf("b")).hexdigest()
    grades = [version.grade for version in versions.values() if version.grade]
    assert sorted(grades) == [Grade.STATED, Grade.UNAVAILABLE, Grade.UNAVAILABLE]
    assert _balances(workspace)


def test_unlisted_files_in_the_folder_are_named(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / "pdfs"
    (folder / "older").mkdir(parents=True)
    (folder / "link.pdf").symlink_to(tmp_path)
    files = {"a.pdf": pdf("a"), "one.pdf": pdf("one"), "notes.txt": b""}
    found = _import(workspace, folder, files, "forum_id,file\nfirst,a.pdf\n")
    assert [sentence.split("'")[1] for sentence in found.aside] == ["link.pdf", "older", "notes.txt", "one.pdf"]
    assert all("list.csv" in sentence for sentence in found.aside[2:])
    assert _held(workspace) == {"first": "a"}


def test_a_file_listed_twice_counts_once(tmp_path: Path, workspace: Workspace) -> None:
    table = "forum_id,file,version\nmany,a.pdf,first\nmany,a.pdf,first\nmany,a.pdf,second\n"
    found = _import(workspace, tmp_path / "pdfs", {"a.pdf": pdf("a")}, table)
    assert (found.tied, found.known, len(found.aside)) == (2, 0, 1)
    assert "twice" in found.aside[0]


@pytest.mark.slow
@pytest.mark.parametrize("label", ["original_pdf", "a/b", "x" * 90, "/pdf/other.pdf", "{rule}", "  two \t words "])
def test_the_sums_agree_whatever_a_version_is_called(tmp_path: Path, workspace: Workspace, label: str) -> None:
    table = f"forum_id,file,version\nmany,a.pdf,{label}\n"
    _import(workspace, tmp_path / "pdfs", {"a.pdf": pdf("a")}, table)
    build_here(workspace)
    assert _balances(workspace)
    [own] = [one for one in workspace.tables.read(PaperVersion, V) if "/supplied/" in one.edit_id]
    assert " ".join(label.split())[:60] in own.evidence.rule


def _balances(workspace: Workspace) -> bool:
    return all(one.rows_in == one.rows_out + sum(one.set_aside.values()) for one in find_versions.balance(workspace, V))


def test_a_hidden_submissions_file_is_set_aside(tmp_path: Path, workspace: Workspace) -> None:
    _import(workspace, tmp_path / "pdfs", {"many.pdf": pdf("a")})
    hidden = json.dumps(_note("many", "/pdf/now.pdf", readers=["chairs"])).encode()
    workspace.raw.add([RawObject(RawKind.NOTE, "many", 1, V, "many", "many", 1, 1, "test", hidden)])
    build_here(workspace)
    assert not any(one.forum_id == "many" for one in workspace.tables.read(PaperVersion, V))
    assert _balances(workspace)
    assert workspace.tables.set_aside_counts(V, find_versions.NAME)[Reason.FORUM_MISSING] == 3


def test_a_file_follows_its_submission_to_another_venue(tmp_path: Path, workspace: Workspace) -> None:
    note = {"id": "lone", "forum": "lone", "readers": ["everyone"], "content": {"title": "On Kites"}}
    body = json.dumps(note).encode()
    workspace.raw.add([RawObject(RawKind.NOTE, "lone", 1, UNPLACED, "lone", "lone", 0, 0, "test", body)])
    _import(workspace, tmp_path / "pdfs", {"lone.pdf": pdf("lone")})
    place_forums(workspace.raw, by_user={"lone": V}, by_file={})
    assert _held(workspace) == {"lone/supplied/undated/": "lone"}
