"""`peercorpus pdfs` and `Corpus.pdfs`: the files that reviewers read, under safe names, and why papers lack one."""

import csv
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peercorpus
from commands import Run
from invented_tables import ICLR, NOON, invented, paper, version
from peercorpus.corpus.initial_pdfs import InitialPdf, NoPdf, list_initial_pdfs, worst_pdf_grade
from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import Grade
from peercorpus.release.exports.pdf_folder import name_files, write_pdf_folder
from peercorpus.workspace.object_store import S3Path
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

CONTENTS = {f"f{number}": f"%PDF of f{number}".encode() for number in range(6)}
SHA = {forum_id: hashlib.sha256(content).hexdigest() for forum_id, content in CONTENTS.items()}
NAMES = {
    "f0": "ICLR2020_f0_on-f0.pdf",
    "f1": "ICLR2020_f1_etc-passwd-is-it-re-a-d.pdf",
    "f2": "ICLR2020_f2_on-f2.pdf",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Six papers: exact, unrevised, before the first review, ungraded, not fetched, without a PDF."""
    graded = {"f0": Grade.EXACT, "f1": Grade.UNREVISED, "f2": Grade.BEFORE_FIRST_REVIEW, "f3": None}
    records: list[object] = [paper(forum_id) for forum_id in sorted(CONTENTS)]
    records[1] = replace(paper("f1"), title="../../etc/passwd: is it =RE(A)D?", licence="CC BY 4.0")
    records += [version(forum_id, SHA[forum_id], grade) for forum_id, grade in graded.items()]
    records.append(version("f4", None, Grade.UNAVAILABLE))
    records.append(replace(version("f5", "0" * 64, Grade.STATED), path="re2:f5"))
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f0", 2, ICLR, "f0", "f0", 1, 1, "invented", b"{}")])
        for content in CONTENTS.values():
            workspace.files.add(content)
    return tmp_path / "corpus"


def write(corpus: Path, to: Path, grade: str = "proven", *, link: bool = False) -> tuple[int, int, dict[str, int]]:
    """Write a folder; return how many files were added and removed, and the papers left out by reason."""
    with open_workspace(corpus, write=False) as workspace:
        listed = list_initial_pdfs(workspace, [ICLR], worst_pdf_grade(grade))
        counts = write_pdf_folder(workspace, listed, to, link=link)
    left_out = {reason.name: number for reason, number in counts.left_out.items()}
    return counts.new, counts.removed, left_out | ({"taken down": counts.taken_down} if counts.taken_down else {})


def held(to: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in to.iterdir() if path.suffix == ".pdf"}


def read_table(to: Path) -> list[dict[str, str]]:
    with (to / "pdfs.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_accounts_for_every_paper(corpus: Path, tmp_path: Path) -> None:
    reasons = {"WORSE_GRADE": 1, "NO_GRADE": 1, "NOT_FETCHED": 1, "NONE_KNOWN": 1}
    assert write(corpus, tmp_path / "to") == (2, 0, reasons)
    assert held(tmp_path / "to") == {NAMES[forum_id]: CONTENTS[forum_id] for forum_id in ("f0", "f1")}
    rows = {row["forum_id"]: row for row in read_table(tmp_path / "to")}
    assert sorted(rows) == sorted(CONTENTS)
    assert rows["f1"] == {
        "file": NAMES["f1"],
        "forum_id": "f1",
        "venue_id": ICLR,
        "title": "../../etc/passwd: is it =RE(A)D?",
        "grade": "unrevised",
        "version_at": NOON.isoformat(),
        "sha256": SHA["f1"],
        "licence": "CC BY 4.0",
        "left_out": "",
    }
    assert {forum_id: (row["file"], row["left_out"]) for forum_id, row in rows.items() if not row["file"]} == {
        "f2": ("", NoPdf.WORSE_GRADE),
        "f3": ("", NoPdf.NO_GRADE),
        "f4": ("", NoPdf.NOT_FETCHED),
        "f5": ("", NoPdf.NONE_KNOWN),
    }


def test_an_interrupted_run_is_continued(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("peercorpus.release.exports.pdf_folder.read_pdf", stop)
        with pytest.raises(KeyboardInterrupt):
            write(corpus, tmp_path / "to")
    assert write(corpus, tmp_path / "to")[:2] == (2, 0)


def test_a_taken_down_papers_copy_is_removed(corpus: Path, tmp_path: Path) -> None:
    write(corpus, tmp_path / "to")
    (corpus / "takedown.txt").write_text("f0\n")
    assert write(corpus, tmp_path / "to") == (
        0,
        1,
        {"WORSE_GRADE": 1, "NO_GRADE": 1, "NOT_FETCHED": 1, "NONE_KNOWN": 1, "taken down": 1},
    )
    assert sorted(held(tmp_path / "to")) == [NAMES["f1"]]
    assert "f0" not in {row["forum_id"] for row in read_table(tmp_path / "to")}
    assert peercorpus.open(corpus).pdfs()["forum_id"].to_list() == ["f1"]


def test_an_altered_file_is_left_out_and_named(corpus: Path, tmp_path: Path) -> None:
    with open_workspace(corpus, write=False) as workspace:
        paths = [Path(str(workspace.files.path(SHA[forum_id]))) for forum_id in ("f0", "f1")]
    paths[0].write_bytes(b"%PDF altered")
    paths[1].unlink()
    assert write(corpus, tmp_path / "to")[2]["UNREADABLE"] == 2
    assert held(tmp_path / "to") == {}
    rows = {row["forum_id"]: (row["file"], row["left_out"]) for row in read_table(tmp_path / "to")}
    assert rows["f0"] == rows["f1"] == ("", NoPdf.UNREADABLE)


def test_a_folder_with_other_files_is_refused(corpus: Path, tmp_path: Path) -> None:
    to = tmp_path / "to"
    to.mkdir()
    (to / "thesis.tex").write_text("mine")
    with pytest.raises(PeercorpusError, match=r"contains other files and no pdfs\.csv"):
        write(corpus, to)
    assert [path.name for path in to.iterdir()] == ["thesis.tex"]


def test_a_foreign_table_is_refused(corpus: Path, tmp_path: Path) -> None:
    to = tmp_path / "to"
    to.mkdir()
    (to / "mine.pdf").write_bytes(b"stays")
    (to / "pdfs.csv").write_text("forum_id,file\nabc,mine.pdf\n")
    with pytest.raises(PeercorpusError, match="was not written by this command"):
        write(corpus, to)
    assert (to / "mine.pdf").read_bytes() == b"stays"
    assert (to / "pdfs.csv").read_text() == "forum_id,file\nabc,mine.pdf\n"


def test_a_manipulated_table_cannot_remove_files_outside_the_folder(corpus: Path, tmp_path: Path) -> None:
    to = tmp_path / "to"
    write(corpus, to)
    (tmp_path / "outside.pdf").write_bytes(b"stays")
    with (to / "pdfs.csv").open("a") as table:
        table.write("../outside.pdf,f9\n/etc/hosts,f8\n")
    write(corpus, to)
    assert (tmp_path / "outside.pdf").read_bytes() == b"stays"


def test_links_can_be_replaced_by_copies(corpus: Path, tmp_path: Path) -> None:
    to = tmp_path / "to"
    write(corpus, to, link=True)
    linked = to / NAMES["f0"]
    assert linked.is_symlink()
    assert linked.resolve() == (corpus / "files" / SHA["f0"][:2] / f"{SHA['f0']}.pdf").resolve()
    assert write(corpus, to)[0] == 2
    assert not linked.is_symlink()
    assert held(to)[NAMES["f0"]] == CONTENTS["f0"]


@pytest.mark.slow
@pytest.mark.cluster
def test_files_are_copied_out_of_an_object_store(corpus: Path, bucket: S3Path, tmp_path: Path, run: Run) -> None:
    assert run("move", "-w", corpus, "--to", f"{bucket}/corpora").code == 0
    assert write(corpus, tmp_path / "to")[:2] == (2, 0)
    assert held(tmp_path / "to")[NAMES["f0"]] == CONTENTS["f0"]
    assert peercorpus.open(corpus).pdfs()["path"][0].startswith("s3://papers/corpora/files/")
    with pytest.raises(PeercorpusError, match="leave out --link"):
        write(corpus, tmp_path / "linked", link=True)


def invented_pdf(forum_id: str, title: str | None, conference: str = "iclr") -> InitialPdf:
    return InitialPdf(forum_id, ICLR, conference, 2024, title, None, Grade.EXACT, "e", None, "0" * 64, "/x")


@given(st.lists(st.tuples(st.text(min_size=1), st.none() | st.text(), st.text()), unique_by=lambda one: one[0]))
def test_no_text_of_openreview_chooses_a_path(papers: list[tuple[str, str | None, str]]) -> None:
    names = name_files(invented_pdf(*one) for one in papers)
    assert all(re.fullmatch(r"[A-Z0-9][A-Z0-9-]*2024_[A-Za-z0-9_-]+\.pdf", name) for name in names)
    assert all(len(name) < 170 for name in names)
    assert len({name.lower() for name in names}) == len(names)


def test_ids_that_differ_only_in_case_give_distinct_names() -> None:
    first, second = name_files([invented_pdf("aB", "T"), invented_pdf("Ab", "T")])
    assert first == "ICLR2024_aB_t.pdf"
    assert second.lower() != first.lower()
