"""Other datasets' files are read as intended: no scores from other reviewers, no text twice."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from other_layouts import peerread_reviews, write, write_rows
from peercorpus.importers import nlpeer, paper_lists, peerread, review_tables
from peercorpus.importers.reader import DamagedRow, Row, StatedPaper, name_venue
from peercorpus.importers.tables import read_rows
from peercorpus.records.enums import PostKind, Role, Status


def read(**members: Any) -> StatedPaper:
    return peerread.read_peerread({peerread.REVIEW: peerread_reviews() | members})


def test_entries_without_content_of_their_own_are_counted() -> None:
    stated = read()
    assert len(stated.reviews) == 1
    assert {name: stated.extra[name] for name in (peerread.REPEATED, peerread.COPIED, peerread.EMPTY)} == {
        "repeated_entries": 6,
        "copies_of_a_review": 1,
        "entries_without_text": 1,
    }
    assert len(stated.reviews) + len(stated.posts) + 6 + 1 + 1 == len(peerread_reviews()["reviews"])


def test_entries_that_are_not_objects_are_counted_too() -> None:
    stated = read(reviews=[7, "Good.", *peerread_reviews()["reviews"]], sections=["1"])
    counted = sum(stated.extra[name] for name in (peerread.REPEATED, peerread.COPIED, peerread.EMPTY))
    assert len(stated.reviews) + len(stated.posts) + counted == 2 + len(peerread_reviews()["reviews"])


def test_annotators_scores_are_kept_apart() -> None:
    (review,) = read().reviews
    assert review.scores & review.answers.keys() == {"RECOMMENDATION", "REVIEWER_CONFIDENCE"}
    assert review.extra[peerread.ANNOTATED] == {"CLARITY": 5}


def test_unannotated_scores_are_the_reviewers() -> None:
    (review,) = read(
        reviews=[{"RECOMMENDATION": "4", "CLARITY": "3", "comments": "Good.", "is_meta_review": None}]
    ).reviews
    assert review.scores & review.answers.keys() == {"RECOMMENDATION", "CLARITY"}


def test_a_separate_meta_review_is_kept() -> None:
    (post,) = read(reviews=[{"IS_META_REVIEW": True, "comments": "It flies, say the chairs."}]).posts
    assert (post.kind, post.role) == (PostKind.META_REVIEW, Role.UNKNOWN)


def test_reviews_of_nips_have_only_a_text() -> None:
    stated = read(conference="NIPS2013", reviews=[{"comments": "Red.", "IS_META_REVIEW": False}, {"comments": "High."}])
    assert [review.answers["comments"] for review in stated.reviews] == ["Red.", "High."]


def test_an_earlier_question_is_a_post() -> None:
    question = {"TITLE": "Q", "comments": "How high?", "OTHER_KEYS": "ICLR 2017 conference AnonReviewer1"}
    stated = read(reviews=[question | {"CLARITY": 5, "IS_ANNOTATED": True, "DATE": "2 Dec 2016"}])
    assert (stated.reviews, [post.role for post in stated.posts]) == ((), [Role.REVIEWER])


def test_a_reviewers_name_is_not_kept() -> None:
    entry = {"TITLE": "T", "comments": "C.", "OTHER_KEYS": "Cy Cloud", "DATE": "2 Dec 2016"}
    stated = read(reviews=[entry | {"RECOMMENDATION": 6}, entry | {"comments": "D."}])
    assert "Cy Cloud" not in repr(stated)
    assert stated.reviews[0].reviewer is None


@pytest.mark.parametrize("accepted", [True, False])
def test_arxiv_papers_have_no_decision(accepted: bool) -> None:
    stated = read(conference="arxiv", SUBJECTS="cs.AI", accepted=accepted, reviews=[])
    assert (stated.status, stated.extra["accepted"]) == (None, accepted)
    assert read(accepted=accepted).status is (Status.ACCEPTED if accepted else Status.REJECTED)


def itg(*types_and_texts: tuple[str, str], order: tuple[int, ...] = ()) -> dict[str, Any]:
    nodes = [
        {"ix": f"p_{number}", "ntype": kind, "content": text, "meta": None}
        for number, (kind, text) in enumerate(types_and_texts)
    ]
    edges = [
        {"src_ix": f"p_{one}", "tgt_ix": f"p_{other}", "etype": "next", "meta": None} for one, other in pairwise(order)
    ]
    tree = [{"src_ix": "p_0", "tgt_ix": "p_1", "etype": "parent", "meta": None}]
    return {nlpeer.DOCUMENT: {"nodes": nodes, "edges": [*tree, *edges], "span_nodes": [], "prefix": "p", "meta": {}}}


def test_nodes_follow_their_edges() -> None:
    nodes = (("title", "On Kites"), ("paragraph", "Second."), ("abstract", "Abstract"), ("paragraph", "First."))
    text = nlpeer.read_document(itg(*nodes, order=(0, 2, 3, 1)))
    assert text == "# On Kites\n\n## Abstract\n\nFirst.\n\nSecond."


def test_unordered_nodes_stay_in_place() -> None:
    nodes = (("title", "On Kites"), ("paragraph", "One."), ("paragraph", "Two."))
    document = itg(*nodes, order=(0, 1))
    document[nlpeer.DOCUMENT]["edges"].append({"src_ix": "p_0", "tgt_ix": "p_2", "etype": "next", "meta": None})
    assert nlpeer.read_document(document) == "# On Kites\n\nOne.\n\nTwo."
    document[nlpeer.DOCUMENT]["edges"] += [7, {"etype": "next"}]
    assert nlpeer.read_document(document) == "# On Kites\n\nOne.\n\nTwo."
    for node in document[nlpeer.DOCUMENT]["nodes"]:
        del node["ix"]
    assert nlpeer.read_document(document) == "# On Kites\n\nOne.\n\nTwo."


def test_f1000_titles_are_headings() -> None:
    text = nlpeer.read_document(itg(("article-title", "On Kites"), ("title", "Wind"), ("list", "- red\n- blue")))
    assert text == "# On Kites\n\n## Wind\n\n- red\n- blue"


def test_texts_keep_their_tables_columns() -> None:
    row = {"id": "p1", "title": "Kites", "decision": "Accept", "tldr": "We fly.", "primary_area": "air", "seats": 2}
    stated = paper_lists.TEXT_READER.read({paper_lists.ROW: row, paper_lists.TEXT: "# Kites"})
    assert (stated.tldr, stated.primary_area, stated.text) == ("We fly.", "air", "# Kites")
    assert stated.extra == {"seats": 2}


def test_second_columns_of_papers_stay() -> None:
    row = {"id": "B1ckMDqlg", "url": "https://openreview.net/forum?id=B1ckMDqlg", "site": "https://example.org/7"}
    row |= {"title": "Kites", "paper_title": "On Kites", "decision": "Reject", "status": "Withdrawn"}
    stated = paper_lists.read_paper_row({paper_lists.ROW: row | {"keywords": "red; high", "tldr": 7}})
    assert (stated.title, stated.decision, stated.keywords) == ("Kites", "Reject", ("red", "high"))
    second = {"site": "https://example.org/7", "paper_title": "On Kites", "status": "Withdrawn", "tldr": 7}
    assert stated.extra == second


def test_second_columns_of_reviews_stay() -> None:
    rows = [
        {"forum": "p1", "review": "Red."},
        {"forum": "p1", "review": "High.", "decision": "Accept", "status": "Oral"},
    ]
    rows[0] |= {"review_id": "r1", "rid": "R-1", "rebuttal": "No.", "response": "Yes."}
    stated = review_tables.read_review_rows({review_tables.ROWS: rows})
    assert (stated.decision, stated.extra) == ("Accept", {"status": "Oral"})
    assert stated.reviews[0].answers == {"review": "Red.", "rid": "R-1", "response": "Yes."}
    assert (stated.reviews[0].review_id, stated.reviews[0].response) == ("r1", "No.")


def test_unknown_members_of_reviews_stay() -> None:
    pair = {"review_sentences": [{"text": "Red."}], "metadata": {"forum_id": "p1", "review_id": "r1", "permalink": "x"}}
    (review,) = review_tables.read_review_rows({review_tables.ROWS: [pair]}).reviews
    assert review.extra == {"permalink": "x"}
    entry = {"rid": "r1", "report": {"main": "Red.", "points": [1]}, "scores": {}, "meta": {"round": 2}, "kind": "late"}
    (review,) = nlpeer.read_nlpeer({nlpeer.REVIEWS: [entry]}).reviews
    assert (review.answers, review.extra) == ({"main": "Red."}, {"kind": "late", "points": [1], "round": 2})
    assert read(SCORE=4).extra["SCORE"] == 4


def test_signed_names_are_not_kept() -> None:
    review = {"rid": "r1", "reviewer": "Cy Cloud", "report": {"main": "Red."}, "scores": {}, "meta": {}}
    meta = {"title": "On Kites", "contributors": [{"name": "Ada Wind"}], "license": "CC BY 4.0"}
    stated = nlpeer.read_nlpeer({nlpeer.META: meta, nlpeer.REVIEWS: [review]})
    assert "Cy Cloud" not in repr(stated)
    assert stated.reviews[0].reviewer == "r1"
    assert dict(stated.extra) == {"license": "CC BY 4.0"}


@pytest.mark.parametrize(
    ("name", "venue"),
    [
        ("PeerRead-ACL2017", "ACL 2017"),
        ("PeerRead-CONLL2016", "CONLL 2016"),
        ("COLING2020", "COLING 2020"),
        ("EMNLP-2023", "EMNLP 2023"),
        ("ARR-EMNLP-2024", "ARR-EMNLP-2024"),
        ("ARR-22", "ARR-22"),
        ("F1000", "F1000"),
    ],
)
def test_the_folders_of_nlpeer_name_their_venues(name: str, venue: str) -> None:
    assert name_venue(name) == venue


TABLES = {
    "commas": "id,title\nk1,On Kites\n",
    "a byte order mark": "\ufeffid,title\nk1,On Kites\n",
    "semicolons": "id;title\nk1;On Kites\n",
    "tabs": "id\ttitle\nk1\tOn Kites\n",
    "semicolons in quotes": 'id,title\nk1,"On Kites"\n',
    "carriage returns": "id,title\r\nk1,On Kites\r\n",
    "a quoted header": '"id","title"\n"k1","On Kites"\n',
}


@pytest.mark.parametrize("content", TABLES.values(), ids=TABLES)
def test_a_table_is_read_with_any_delimiter(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode())
    assert list(read_rows(path)) == [{"id": "k1", "title": "On Kites"}]


def read_damaged(path: Path) -> tuple[list[Row], list[str]]:
    """The sound rows of a file, and the names of the others."""
    rows = list(read_rows(path))
    damaged = [row.name for row in rows if isinstance(row, DamagedRow)]
    return [row for row in rows if not isinstance(row, DamagedRow)], damaged


def test_an_open_quote_damages_one_row(tmp_path: Path) -> None:
    lines = ["id,title", *(f"k{number},On Kites" for number in range(999))]
    lines[2] = 'k1,"On Kites'
    rows, damaged = read_damaged(write(tmp_path / "a.csv", "\n".join(lines)))
    assert [row["id"] for row in rows] == [f"k{number}" for number in range(999) if number != 1]
    assert damaged == ["line 3"]


def test_cells_of_several_lines_survive_damage(tmp_path: Path) -> None:
    content = 'id,title\nk1,"On ""Kites""\nand wind"\nk2,"open\nk3,"x" and more\nk4,"two\nlines"\n'
    rows, damaged = read_damaged(write(tmp_path / "a.csv", content))
    assert {row["id"]: row["title"] for row in rows} == {
        "k1": 'On "Kites"\nand wind',
        "k3": "x and more",
        "k4": "two\nlines",
    }
    assert damaged == ["line 4"]


def test_a_ragged_row_is_damaged(tmp_path: Path) -> None:
    content = "id,title\nk1,On Kites,red,7\nk2\n\nk3,Wind,,\n"
    rows, damaged = read_damaged(write(tmp_path / "a.csv", content))
    assert rows == [{"id": "k3", "title": "Wind"}]
    assert damaged == ["line 2 has 4 of 2", "line 3 has 1 of 2"]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
def test_bytes_that_are_not_utf8_damage_their_row(tmp_path: Path, name: str) -> None:
    whole = {"a.csv": b"id,a\nk1,?\nk2,x\n", "a.jsonl": b'{"id":"k1","a":"?"}\n{"id":"k2","a":"x"}\n'}
    whole["a.json"] = b'[{"id":"k1","a":"?"},{"id":"k2","a":"x"}]'
    path = tmp_path / name
    path.write_bytes(whole[name].replace(b"?", b"\xff"))
    rows, damaged = read_damaged(path)
    assert (rows, len(damaged)) == ([{"id": "k2", "a": "x"}], 1)


def test_half_of_an_emoji_becomes_a_replacement_character(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"a": "x \\ud83d", "b": "\\ud83d\\ude00"}\n')
    assert list(read_rows(path)) == [{"a": "x \ufffd", "b": "\U0001f600"}]


def test_duplicate_column_names_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "id,rating,rating\nk1,6,3\n")
    with pytest.raises(ValueError, match="two of its columns are called 'rating'"):
        list(read_rows(path))


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('[{"a": 1}, 2, {"b": NaN}]', 3),
        ('[{"a": 1}, 2, null]', 3),
        ('\ufeff[{"a": 1}]', 1),
        ('{"a": 1}', 0),
        ("7", 0),
        ("[]", 0),
    ],
)
def test_a_json_list_gives_its_items(tmp_path: Path, content: str, rows: int) -> None:
    assert len(list(read_rows(write(tmp_path / "a.json", content)))) == rows


@pytest.mark.parametrize(("name", "content"), [("a.json", '[{"a": 1}, "b"]'), ("a.jsonl", '{"a": 1}\n"b"\n')])
def test_a_bare_value_is_a_nameless_row(tmp_path: Path, name: str, content: str) -> None:
    assert list(read_rows(write(tmp_path / name, content))) == [{"a": 1}, {"value without a name": "b"}]


@pytest.mark.parametrize(
    ("name", "content"), [("a.jsonl", '{"a": 1}\n\n{"b"\n7\n'), ("a.json", '[{"a": 1}, {"b"}, 7]')]
)
def test_only_the_damaged_item_is_not_read(tmp_path: Path, name: str, content: str) -> None:
    rows, damaged = read_damaged(write(tmp_path / name, content))
    assert rows == [{"a": 1}, {"value without a name": 7}]
    assert [one.partition(":")[0] for one in damaged] == ["line 3" if name == "a.jsonl" else "record 2"]


def test_a_table_of_module_csv_is_read(tmp_path: Path) -> None:
    rows = [{"id": "k1", "title": "On; Kites, red"}, {"id": "k2", "title": 'A "wind"\nturns'}]
    assert list(read_rows(write_rows(tmp_path / "a.csv", rows))) == rows
