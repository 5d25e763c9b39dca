"""Datasets in other layouts are imported unchanged and built: every paper, review and text, without guesses."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from in_this_process import build_here
from naming import by_name
from other_layouts import (
    OTHER,
    PAPER,
    WORDS,
    paper_row,
    peerread_reviews,
    write,
    write_nlpeer,
    write_peerread,
    write_rows,
    write_texts,
)
from peercorpus.errors import DumpError
from peercorpus.importers.import_dumps import ImportSummary, import_dumps
from peercorpus.pipeline.build import STAGES
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import PostKind, Role, Status
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Post, Review
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace


class Built:
    """Return the rows of a workspace into which one path was imported."""

    def __init__(self, folder: Path, paths: Sequence[Path]) -> None:
        with open_workspace(folder, create=True) as workspace:
            self.summary: ImportSummary = import_dumps(workspace, paths)
            build_here(workspace)
            self.venues = workspace.venues()
            for venue_id in self.venues:
                assert [one for stage in STAGES for one in stage.balance(workspace, venue_id) if not one.holds] == []
            self.papers = self._read(workspace, Paper)
            self.reviews = self._read(workspace, Review)
            self.posts = self._read(workspace, Post)
            self.texts = self._read(workspace, PaperText)

    def _read(self, workspace: Workspace, kind: Any) -> list[Any]:
        return [one for venue_id in self.venues for one in workspace.tables.read(kind, venue_id)]


def built(tmp_path: Path, *paths: Path) -> Built:
    return Built(tmp_path / "corpus", paths)


SUFFIXES = (".json", ".csv", ".parquet", ".jsonl")


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows in the format that the name of a file ends with."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
        return path
    if path.suffix == ".csv":
        return write_rows(path, rows)
    return write(path, rows if path.suffix == ".json" else "".join(json.dumps(row) + "\n" for row in rows))


def test_peerread(tmp_path: Path) -> None:
    found = built(tmp_path, write_peerread(tmp_path / "PeerRead", ("316", "9"), (True, False)))
    assert found.venues == ["ICLR.cc/2017/conference"]
    assert {(one.forum_id, one.status, one.year) for one in found.papers} == {
        ("iclr_2017-316", Status.ACCEPTED, 2017),
        ("iclr_2017-9", Status.REJECTED, 2017),
    }
    first = next(one for one in found.papers if one.forum_id == "iclr_2017-316")
    assert (first.title, first.abstract, first.authors) == ("On Kites", "We fly kites.", ("Ada Wind*", "Bo Tail"))
    assert (first.decision, first.decision_comment) == (None, "Accept it.")
    (review,) = (one for one in found.reviews if one.forum_id == "iclr_2017-316")
    assert (review.reviewer, review.title) == ("AnonReviewer2", "Good kites")
    assert [one.text for one in review.sections] == ["They fly well.\n"]
    assert {(one.field, one.value) for one in review.scores} == {("RECOMMENDATION", 7.0), ("REVIEWER_CONFIDENCE", 4.0)}
    others = {(one.kind, one.role, one.text) for one in found.posts if one.kind is not PostKind.REVIEW}
    assert others == {
        (PostKind.DECISION, Role.PROGRAM_CHAIR, "Accept it."),
        (PostKind.COMMENT, Role.PUBLIC, "Which string?"),
        (PostKind.COMMENT, Role.AUTHOR, "Now red ones."),
    }
    assert {one.markdown.splitlines()[0] for one in found.texts} == {"# ON KITES"}
    assert len(found.texts) == 2
    assert "example.org" not in "".join(one.markdown for one in found.texts)


def test_peerread_without_texts(tmp_path: Path) -> None:
    acl = {
        "title": "On Kites",
        "abstract": "We fly.",
        "id": "94",
        "reviews": [{"RECOMMENDATION": "4", "SUBSTANCE": "3", "comments": "Good.", "is_meta_review": None}],
    }
    write(tmp_path / "acl_2017" / "dev" / "reviews" / "94.json", acl)
    found = built(tmp_path, tmp_path / "acl_2017")
    (paper,), (review,) = found.papers, found.reviews
    assert (paper.forum_id, paper.conference, paper.year, paper.status) == ("acl_2017-94", "acl", 2017, Status.UNKNOWN)
    assert {(one.field, one.value) for one in review.scores} >= {("RECOMMENDATION", 4.0)}


def test_nlpeer(tmp_path: Path) -> None:
    found = built(tmp_path, write_nlpeer(tmp_path / "nlpeer"))
    (paper,), (review,), (text,) = found.papers, found.reviews, found.texts
    assert (paper.forum_id, paper.title, paper.status) == ("ARR-22-p17", "On Kites", Status.UNKNOWN)
    assert {(one.field, one.label) for one in review.scores} >= {
        ("confidence", "3"),
        ("overall", "4 = This paper represents solid work."),
    }
    assert {one.field: one.text for one in review.sections} == {
        "paper_summary": "Kites fly.",
        "summary_of_strengths": "They are red.",
    }
    assert "sentences" not in review.extra
    assert text.markdown == f"# On Kites\n\n## Wind\n\n{WORDS.strip()}"


def test_minus_one_is_no_rating(tmp_path: Path) -> None:
    row = paper_row(rating="6;-1;5", confidence="4;2;-1")
    found = built(tmp_path, write(tmp_path / "iclr" / "iclr2024.json", [row]))
    read = [[(score.field, score.value, score.label) for score in review.scores] for review in found.reviews]
    assert read[1] == [("rating", None, "-1"), ("confidence", 2.0, "2")]
    assert read[2][1] == ("confidence", None, "-1")
    other = write(tmp_path / "aistats" / "aistats2025.json", [paper_row(rating="6;-1;5", confidence="")])
    undeclared = built(tmp_path / "other", other)
    assert [review.scores[0].value for review in undeclared.reviews] == [6.0, None, 5.0]


def test_paperlists(tmp_path: Path) -> None:
    rows = [paper_row(), paper_row(id=OTHER, site="", status="Poster", rating="", confidence="", reviewers="")]
    found = built(tmp_path, write(tmp_path / "iclr" / "iclr2024.json", rows))
    assert found.venues == ["ICLR.cc/2024/Conference"]
    first, second = found.papers
    assert (first.forum_id, first.status, first.decision) == (PAPER, Status.REJECTED, "Reject")
    assert (first.authors, first.keywords) == (("Ada Wind", "Bo Tail"), ("kites", "wind"))
    assert json.loads(first.extra) == {"rating_avg": [4.67, 1.25], "track": "main", "wc_review": "120;88;301"}
    assert (second.forum_id, second.decision) == (OTHER, "Poster")
    assert [(one.reviewer, [(score.field, score.label) for score in one.scores]) for one in found.reviews] == [
        ("aB1c", [("rating", "6"), ("confidence", "4")]),
        ("dE2f", [("rating", "3"), ("confidence", "2")]),
        ("gH3i", [("rating", "5"), ("confidence", "3")]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        {
            "url": f"https://openreview.net/forum?id={PAPER}",
            "title": "K",
            "ratings": [6, 3],
            "rating": "4.5",
            "confidences": [4, 2],
        },
        {"id": PAPER, "title": "K", "ratings": "[6, 3]", "confidences": "[4, 2]", "decision": "", "withdraw": "0"},
        {"paper_id": PAPER, "0": "6.0", "1": "3.0", "2": "", "decision": "Reject"},
    ],
)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_lists_of_papers_with_ratings(tmp_path: Path, row: dict[str, Any], suffix: str) -> None:
    found = built(tmp_path, write_table(tmp_path / f"iclr2018_crawl{suffix}", [row]))
    assert [one.forum_id for one in found.papers] == [PAPER]
    ratings = [[score.value for score in one.scores if score.field == "rating"] for one in found.reviews]
    assert ratings == [[6.0], [3.0]]


@pytest.mark.slow
def test_unknown_reviewers_values_stay_apart(tmp_path: Path) -> None:
    found = built(tmp_path, write(tmp_path / "iclr2024.json", [paper_row(confidence="4;2")]))
    assert [[score.field for score in one.scores] for one in found.reviews] == [["rating"]] * 3
    assert json.loads(found.papers[0].extra)["confidence"] == "4;2"


def test_a_table_of_reviews(tmp_path: Path) -> None:
    rows = [
        {"forum_id": PAPER, "review_id": "r1", "reviewer": "R1", "rating": "6", "review": "Red.", "rebuttal": "Yes."},
        {"forum_id": OTHER, "review_id": "r2", "reviewer": "R1", "rating": "3", "review": "Low.", "rebuttal": ""},
        {"forum_id": PAPER, "review_id": "r3", "reviewer": "R2", "rating": "", "review": "High.", "rebuttal": ""},
    ]  # fmt: skip
    found = built(tmp_path, write_rows(tmp_path / "iclr2020_reviews.csv", rows))
    assert found.venues == ["ICLR.cc/2020/Conference"]
    assert [one.forum_id for one in found.papers] == [PAPER, OTHER]
    assert {(one.review_id, one.forum_id, len(one.scores)) for one in found.reviews} == {
        ("r1", PAPER, 1), ("r2", OTHER, 1), ("r3", PAPER, 0)
    }  # fmt: skip
    assert [(one.text, one.reply_to) for one in found.posts if one.kind is PostKind.REBUTTAL] == [("Yes.", "r1")]


def test_texts_with_table_of_decisions(tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "kites_bench", {PAPER: "Reject", OTHER: "Accept (Poster)"})
    found = built(tmp_path, folder)
    assert {(one.forum_id, one.status) for one in found.papers} == {(PAPER, Status.REJECTED), (OTHER, Status.ACCEPTED)}
    assert len(found.texts) == 2
    assert [[score.value for score in one.scores] for one in found.reviews] == [[6.0], [3.0]] * 2
    left = {one.name: one.problem for one in found.summary.files if one.problem}
    assert left.keys() == {"kites_bench/kites_parsed/README.md", "kites_bench/llm_reviews/gpt-4o_temp_0_1.csv"}


NOTE = {
    "id": PAPER,
    "forum": PAPER,
    "cdate": 1_700_000_000_000.0,
    "invitations": "['Kites.cc/2024/Conference/-/Submission']",
    "readers": '["everyone"]',
    "content.title.value": "On Kites",
    "content.abstract.value": "We fly.",
    "content.authors.value": "['Ada Wind']",
    "content.rating.value": None,
    "content.summary.value": None,
    "replyto": None,
    "signatures": "['Kites.cc/2024/Conference/Submission1/Authors']",
}
REVIEW = NOTE | {
    "id": "rEvIeW1-ab",
    "replyto": PAPER,
    "invitations": "['Kites.cc/2024/Conference/Submission1/-/Official_Review']",
    "signatures": "['Kites.cc/2024/Conference/Submission1/Reviewer_AbCd']",
    "content.title.value": None,
    "content.abstract.value": None,
    "content.authors.value": None,
    "content.rating.value": "6: marginally above",
    "content.summary.value": "Kites fly.",
}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_table_may_have_members_of_notes(tmp_path: Path, suffix: str) -> None:
    found = built(tmp_path, write_table(tmp_path / f"notes{suffix}", [NOTE, REVIEW]))
    assert found.summary.taken(RawKind.NOTE).new == 2
    (paper,), (review,) = found.papers, found.reviews
    assert (paper.title, paper.authors, paper.venue_id) == ("On Kites", ("Ada Wind",), "Kites.cc/2024/Conference")
    assert [score.label for score in review.scores] == ["6: marginally above"]
    assert [one.text for one in review.sections] == ["Kites fly."]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a.json", [{"question": "?", "answer": "!"}]),
        ("a.csv", "name,age\nAda,7\n"),
        ("a.json", [{"id": 1, "title": "A song", "length": 200}]),
        ("gpt_reviews.csv", "paper_id,review,rating\nkItE1-abcd,Red.,6\n"),
    ],
)
def test_unknown_layout_is_refused(tmp_path: Path, name: str, value: object) -> None:
    path = write(tmp_path / name, value)
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        with pytest.raises(DumpError) as caught:
            import_dumps(workspace, [path])
        assert workspace.venues() == []
    assert str(caught.value).count("\n") == 0
    assert "PeerRead" in str(caught.value)


def test_record_without_paper_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "iclr2024.json", [paper_row(), paper_row(id="", site="")])
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        summary = import_dumps(workspace, [path])
    assert summary.files[0].first == {"it names no paper": "row 2"}
    assert (summary.taken(RawKind.PUBLISHED).new, sum(summary.left_out.values())) == (1, 1)


def test_damaged_peerread_file_is_named(tmp_path: Path) -> None:
    write_peerread(tmp_path / "PeerRead", ("1", "9"), (True, False))
    write(tmp_path / "PeerRead/data/iclr_2017/train/reviews/400.json", json.dumps(peerread_reviews())[:-9])
    write(tmp_path / "PeerRead/data/iclr_2017/train/parsed_pdfs/401.pdf.json", {"metadata": {}})
    write(tmp_path / "PeerRead/data/iclr_2017/train/pdfs/1.pdf", "%PDF")
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        summary = import_dumps(workspace, [tmp_path / "PeerRead"])
    assert "reviews/400.json" in {name for file in summary.files for name in file.first.values()}
    assert summary.taken(RawKind.PUBLISHED).new == 2
    assert by_name(summary.left_out, "beside", "as JSON") == {"beside": 2, "as JSON": 1}


def test_files_beside_a_layout_count(tmp_path: Path) -> None:
    root = write_peerread(tmp_path / "in") / "data" / "iclr_2017" / "train"
    write(root / "notes.json", [{"id": PAPER, "forum": PAPER, "invitation": "K.cc/2019/C/-/S", "content": {}}])
    write(root / "more" / "iclr2024.json", [paper_row()])
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        summary = import_dumps(workspace, [tmp_path / "in"])
    assert (summary.taken(RawKind.NOTE).new, summary.taken(RawKind.PUBLISHED).new) == (1, 2)


@pytest.mark.parametrize("below", ["", "data/iclr_2017/train", "data/iclr_2017/train/reviews"])
def test_peerread_from_any_folder(tmp_path: Path, below: str) -> None:
    found = built(tmp_path, write_peerread(tmp_path / "nips2018_runs" / "PeerRead") / below)
    assert [(one.forum_id, one.venue_id) for one in found.papers] == [("iclr_2017-316", "ICLR.cc/2017/conference")]


@pytest.mark.parametrize("below", ["", "ARR-22", "ARR-22/data", "ARR-22/data/p17", "ARR-22/data/p17/v1"])
def test_nlpeer_from_any_folder(tmp_path: Path, below: str) -> None:
    found = built(tmp_path, write_nlpeer(tmp_path / "nlpeer") / below)
    assert [one.forum_id for one in found.papers] == ["ARR-22-p17"]


@pytest.mark.slow
def test_equal_numbers_are_different_papers(tmp_path: Path) -> None:
    for year in (2023, 2024):
        write(tmp_path / "in" / f"ijcai{year}.json", [paper_row(id="paper176", site="", title=f"Kites of {year}")])
    found = built(tmp_path, tmp_path / "in")
    assert {(one.forum_id, one.title) for one in found.papers} == {
        ("ijcai2023-paper176", "Kites of 2023"),
        ("ijcai2024-paper176", "Kites of 2024"),
    }


def test_link_is_not_a_review(tmp_path: Path) -> None:
    row = paper_row(rating="", confidence="", reviewers="", review="https://papers.nips.cc/x-Reviews.html")
    found = built(tmp_path, write(tmp_path / "nips2018.json", [row, paper_row(id=OTHER, site="", review="")]))
    assert [(one.forum_id, one.title) for one in found.papers] == [(PAPER, "On Kites"), (OTHER, "On Kites")]
    assert [len(one.scores) for one in found.reviews] == [2, 2, 2]
    assert json.loads(found.papers[0].extra)["review"] == "https://papers.nips.cc/x-Reviews.html"


def test_unrated_reviewers_are_counted(tmp_path: Path) -> None:
    rows = [
        paper_row(rating="", confidence="3;4", reviewers="", correctness="4;2"),
        paper_row(id=OTHER, site="", rating="", confidence="3;4", reviewers="", correctness="4;2;3"),
        paper_row(id="kItE3-ijkl", site="", rating="", confidence="3.5", reviewers=""),
    ]
    found = built(tmp_path, write(tmp_path / "emnlp2023.json", rows))
    assert [(one.forum_id, [score.label for score in one.scores]) for one in found.reviews] == [
        (PAPER, ["3", "4"]),
        (PAPER, ["4", "2"]),
    ]


def test_affiliations_of_authors_are_not_kept(tmp_path: Path) -> None:
    found = built(tmp_path, write(tmp_path / "kdd2023.json", [paper_row(affs="University of Wind")]))
    assert "University" not in found.papers[0].extra
