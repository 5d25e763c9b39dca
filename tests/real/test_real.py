"""Recorded OpenReview data, imported, built and published: nothing lost, and the known content of each file.

The facts here were read in the files themselves, not taken from what the code made of them.
"""

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import peercorpus
from asked_releases import publish_release
from peercorpus.api.corpus import Corpus
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.build import build
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Aspect, ConversationKind, PaperSource, Phase, PostKind, Role, Status, VenueSource
from peercorpus.records.papers import Paper, PaperVersion, SetAside
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.records.scores import Score
from peercorpus.workspace.workspace import open_workspace

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
    pytest.mark.slow(42),
]
ICLR_2025, ICLR_2026 = "odjMSBSWRt", "zzo3Sy3NSX"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of every raw file, and a release of it."""
    base = tmp_path_factory.mktemp("real")
    with open_workspace(base / "corpus", create=True) as workspace:
        import_dumps(workspace, sorted(DATA.glob("raw-*")))
        build(workspace)
        publish_release(workspace, base / "release")
    return base


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    """The tables of every raw file."""
    return peercorpus.open(folder / "corpus")


def _documents() -> Iterator[Any]:
    for path in sorted(DATA.glob("raw-*/*")):
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text(encoding="utf-8")
        if ".jsonl" in path.name:
            yield from map(json.loads, text.strip().split("\n"))
        elif path.suffix == ".json":
            yield json.loads(text)


def _objects(found: Any) -> Iterator[dict[str, Any]]:
    if isinstance(found, dict):
        if isinstance(found.get("id"), str) and (isinstance(found.get("content"), dict) or "note" in found):
            yield found
        for inner in found.values():
            yield from _objects(inner)
    elif isinstance(found, list):
        for inner in found:
            yield from _objects(inner)


def test_every_note_is_accounted_for(corpus: Corpus) -> None:
    objects = [found for document in _documents() for found in _objects(document)]
    notes = {found["id"] for found in objects if found.get("forum") and not found.get("referent")}
    seen = {paper.forum_id for paper in corpus.records(Paper) if paper.known_from is PaperSource.NOTE}
    rows = seen | {post.post_id for post in corpus.records(Post)}
    aside = {row.record_id for row in corpus.records(SetAside) if row.stage == "normalise"}
    assert len(notes) > 12_000
    assert notes == rows | aside
    assert not rows & aside


def test_every_edit_is_accounted_for(corpus: Corpus) -> None:
    objects = [found for document in _documents() for found in _objects(document)]
    edits = {found["id"] for found in objects if found.get("referent") or "note" in found}
    versions = {version.edit_id for version in corpus.records(PaperVersion)}
    aside = {row.record_id for row in corpus.records(SetAside) if row.stage == "choose_versions"}
    assert len(edits) == 192
    assert edits <= versions | aside


def test_all_sums_balance(folder: Path) -> None:
    with open_workspace(folder / "corpus", write=False) as workspace:
        standing = read_status(workspace)
    assert standing.unfinished == []
    assert [balance for balance in standing.balances if not balance.holds] == []


def test_content_only_lines_are_reviews(corpus: Corpus) -> None:
    # 4,764 and 7,693 lines; six of ICLR 2020 belong to two forums that other files contain completely.
    for year, reviews, papers in ((2019, 4_764, 1_565), (2020, 7_693, 2_561)):
        venue_id = f"ICLR.cc/{year}/Conference"
        assert sum(1 for _ in corpus.records(Review, venue_id)) == reviews
        assert {review.form_id for review in corpus.records(Review, venue_id)} == {f"declared:iclr-{year}"}
        found = Counter(paper.known_from for paper in corpus.records(Paper, venue_id))
        seen = 2 if year == 2020 else 0
        assert (found[PaperSource.NOTE], found[PaperSource.REPLIES]) == (seen, papers - seen)
    assert [row for row in corpus.records(SetAside) if row.stage == "normalise"] == []


PRINTED = sorted(
    path
    for folder in ("raw-v1-nnkennard", "raw-api-notebook", "raw-v1-isingmodel", "forum-prints-peersum")
    for path in DATA.glob(f"{folder}/*.json")
    if "forum" in path.name or folder == "forum-prints-peersum"
)


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
def test_a_root_invitation_changes_no_rows(path: Path, tmp_path: Path) -> None:
    forum = json.loads(path.read_text(encoding="utf-8"))
    root = forum if isinstance(forum, dict) and "forum" in forum else next(_roots(forum))
    made = []
    for is_printed in (False, True):
        if is_printed:
            root.pop("invitation", None)
            root.pop("domain", None)
            root["invitations"] = None
        copy = tmp_path / f"{is_printed}.json"
        copy.write_text(json.dumps(forum))
        with open_workspace(tmp_path / f"corpus{is_printed}", create=True) as workspace:
            import_dumps(workspace, [copy])
            build(workspace)
            assert read_status(workspace).holds
        held = peercorpus.open(tmp_path / f"corpus{is_printed}")
        papers = [replace(paper, venue_from=VenueSource.NOTE) for paper in held.records(Paper)]
        posts = [_without_pseudonym(post) for post in held.records(Post)]
        turns = [[turn.post_ids for turn in one.turns] for one in held.records(Conversation)]
        made.append((papers, list(held.records(Review)), posts, turns))
    assert len(made[0][0]) == 1
    assert made[0] == made[1]


def _without_pseudonym(post: Post) -> Post:
    """Return a post without the pseudonym of a public account, which depends on the workspace's key."""
    return replace(post, signature="public") if post.role is Role.PUBLIC else post


def _roots(found: Any) -> Iterator[dict[str, Any]]:
    return (note for note in _objects(found) if note.get("forum") == note["id"] and not note.get("referent"))


def _posts(corpus: Corpus, forum_id: str) -> list[Post]:
    return [post for post in corpus.records(Post) if post.forum_id == forum_id]


def _list_final_scores(review: Review) -> list[Score]:
    return [score for score in review.scores if score.phase is Phase.FINAL]


def _threads(corpus: Corpus, forum_id: str) -> dict[str, list[tuple[str, str]]]:
    return {
        one.reviewer: [(turn.role.value, "+".join(turn.post_ids)) for turn in one.turns]
        for one in corpus.records(Conversation)
        if one.forum_id == forum_id
    }


def test_iclr_2025_has_its_notes(corpus: Corpus) -> None:
    (paper,) = corpus.records(Paper, "ICLR.cc/2025/Conference")
    assert (paper.forum_id, paper.number, paper.conference, paper.year) == (ICLR_2025, 14257, "iclr", 2025)
    assert (paper.status, paper.decision, paper.licence) == (Status.ACCEPTED, "Accept (Oral)", "CC BY 4.0")
    assert len(paper.authors) == 6
    assert Counter((post.kind, post.role) for post in _posts(corpus, ICLR_2025)) == {
        (PostKind.REVIEW, Role.REVIEWER): 4,
        (PostKind.COMMENT, Role.AUTHOR): 8,
        (PostKind.COMMENT, Role.REVIEWER): 4,
        (PostKind.META_REVIEW, Role.AREA_CHAIR): 1,
        (PostKind.DECISION, Role.PROGRAM_CHAIR): 1,
        (PostKind.COMMENT, Role.PUBLIC): 1,
    }


def test_iclr_2025_ratings_are_numbers(corpus: Corpus) -> None:
    ratings = {
        review.reviewer: [score.value for score in _list_final_scores(review) if score.field == "rating"]
        for review in corpus.records(Review, "ICLR.cc/2025/Conference")
    }
    assert ratings == {
        "Reviewer_nGaJ": [8.0],
        "Reviewer_4npX": [6.0],
        "Reviewer_wETT": [8.0],
        "Reviewer_xbiZ": [6.0],
    }


def test_iclr_2025_has_every_conversation(corpus: Corpus) -> None:
    threads = _threads(corpus, ICLR_2025)
    (commenter,) = [name for name in threads if name.startswith("public_")]
    assert threads.pop(commenter) == [("public", "VfUGyD5DpM")]
    assert threads == {
        "Reviewer_4npX": [("reviewer", "UuTPk7bjx3"), ("author", "CPF35iZOjV")],
        "Reviewer_nGaJ": [
            ("reviewer", "MtBx6vnXOc"),
            ("author", "UVeb43wbgT"),
            ("reviewer", "aDbsCaXuha"),
            ("author", "lPNxiPk4wu"),
            ("reviewer", "QLOYzCdWvp"),
        ],
        "Reviewer_wETT": [("reviewer", "VJGy1dqmqt"), ("author", "XuyV6i9Jrv")],
        "Reviewer_xbiZ": [
            ("reviewer", "WHyOKuCKRF"),
            ("author", "OrEEBgHRNo"),
            ("reviewer", "zUeHMvYbPW"),
            ("author", "Qpl5YLHa4r"),
            ("reviewer", "TwLoiToDqm"),
        ],
        "chairs": [("area_chair", "TBZacSA7L9"), ("program_chair", "r8FzEEAngK")],
    }


def test_a_named_commenter_has_a_pseudonym(corpus: Corpus) -> None:
    (comment,) = [post for post in _posts(corpus, ICLR_2025) if post.role is Role.PUBLIC]
    assert re.fullmatch("public_[0-9a-f]{10}", comment.signature)


def test_iclr_2026_parts_are_one_turn(corpus: Corpus) -> None:
    threads = _threads(corpus, ICLR_2026)
    assert threads["Reviewer_zm69"] == [("reviewer", "g5Lcq9Ibpi"), ("author", "Si179CT3jZ+J3I88wt40y")]
    assert threads["Reviewer_6VkV"][1:] == [
        ("author", "aViSOtgxBP+3K6qBSYEKk"),
        ("reviewer", "foJKGySKoD"),
        ("author", "QivTpwbH8L"),
    ]
    talks = [one for one in corpus.records(Conversation) if one.forum_id == ICLR_2026]
    assert {response.post_id for one in talks for response in one.context} == set()
    with_chairs = [talk for talk in talks if talk.kind is ConversationKind.CHAIRS]
    assert "f62LQEWDzg" in {post_id for talk in with_chairs for turn in talk.turns for post_id in turn.post_ids}


@pytest.mark.parametrize(("forum_id", "ratings"), [("ryxz8CVYDH", [6.0, 6.0, 8.0]), ("ryxyCeHtPB", [6.0, 6.0, 8.0])])
def test_iclr_2020_string_ratings_are_numbers(corpus: Corpus, forum_id: str, ratings: list[float]) -> None:
    reviews = [review for review in corpus.records(Review) if review.forum_id == forum_id]
    scores = [
        score for review in reviews for score in _list_final_scores(review) if score.aspect is Aspect.RECOMMENDATION
    ]
    assert sorted(score.value or 0 for score in scores) == ratings
    assert {score.label for score in scores} == {"6: Weak Accept", "8: Accept"}


def test_words_instead_of_a_number_stay_words(corpus: Corpus) -> None:
    reviews = [review for review in corpus.records(Review) if review.forum_id == "ryxz8CVYDH"]
    confidence = [
        score for review in reviews for score in _list_final_scores(review) if score.aspect is Aspect.CONFIDENCE
    ]
    assert [score.value for score in confidence] == [None, None, None]
    assert all(score.label.startswith("I ") for score in confidence)


def test_inapplicable_scores_of_iclr_2022_are_kept(corpus: Corpus) -> None:
    found: dict[str, Counter[float | None]] = {}
    for review in corpus.records(Review, "ICLR.cc/2022/Conference"):
        for score in _list_final_scores(review):
            found.setdefault(score.field, Counter())[score.value] += 1
    documents = json.loads((DATA / "raw-v1-nnkennard/iclr2022_forum_g1SzIRLQXMM_replies.json").read_text())
    expected: dict[str, Counter[float | None]] = {}
    for reply in documents["details"]["replies"]:
        for field in found if "Official_Review" in reply["invitation"] else ():
            head = reply["content"][field].split(":")[0]
            expected.setdefault(field, Counter())[float(head) if head.isdigit() else None] += 1
    assert found == expected
    assert set(found) == {
        "recommendation",
        "confidence",
        "correctness",
        "technical_novelty_and_significance",
        "empirical_novelty_and_significance",
    }


def test_the_workshop_dialogue_alternates_twelve_times(corpus: Corpus) -> None:
    (dialogue,) = [one for one in corpus.records(Conversation) if one.reviewer == "AnonReviewer4"]
    assert [turn.role for turn in dialogue.turns] == [Role.REVIEWER, Role.AUTHOR] * 6
    papers = {paper.number: paper.decision for paper in corpus.records(Paper, "NIPS.cc/2018/Workshop/CDNNRIA")}
    assert papers == {36: "accept", 49: "accept"}


def test_a_paper_without_reviews_is_kept(corpus: Corpus) -> None:
    (paper,) = [paper for paper in corpus.records(Paper) if paper.forum_id == "ry5wc1bCW"]
    assert (paper.status, paper.decision) == (Status.REJECTED, "Reject")
    turns = [("program_chair", "ByGXDAuyz"), ("program_chair", "ryQZDk6SM")]
    assert _threads(corpus, "ry5wc1bCW") == {"chairs": turns}


@pytest.mark.parametrize("forum_id", ["ryxz8CVYDH", "ryxyCeHtPB"])
def test_iclr_2020_attachment_is_first_reference(corpus: Corpus, forum_id: str) -> None:
    versions = [version for version in corpus.records(PaperVersion) if version.forum_id == forum_id]
    (initial,) = [version for version in versions if version.is_initial]
    first = min((version for version in versions if version.created_at), key=lambda one: str(one.created_at))
    assert initial.path.rpartition("/")[2] == first.path.rpartition("/")[2]


def test_a_hidden_initial_version_stays_unavailable(corpus: Corpus) -> None:
    versions = list(corpus.records(PaperVersion, "ICLR.cc/2025/Conference"))
    assert len(versions) == 5
    assert not any(version.is_initial for version in versions)


def test_a_hidden_note_is_kept_and_not_published(corpus: Corpus, folder: Path) -> None:
    (review,) = corpus.records(Review, ".TMLR")
    assert not review.readers_public
    assert {section.text for section in review.sections} == {"asdfasdfds", "asdfasdf", "asdfdsaf", "asdfsadf"}
    published = b"".join(path.read_bytes() for path in (folder / "release").rglob("*.parquet"))
    assert review.review_id.encode() not in published


def test_the_release_opens_with_one_split_per_conference(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    release = os.fspath(folder / "release")
    papers = datasets.load_dataset(release, "papers", cache_dir=os.fspath(tmp_path))
    assert {split: len(rows) for split, rows in papers.items()} == {"iclr": 4_131, "neurips": 2, "tmlr": 1}
    conversations = datasets.load_dataset(release, "conversations", cache_dir=os.fspath(tmp_path))
    assert {split: len(rows) for split, rows in conversations.items()} == {"iclr": 12_482, "neurips": 7}


@pytest.mark.parametrize("path", sorted(DATA.glob("forum-prints-peersum/*.json")), ids=lambda path: path.stem)
def test_a_printed_forum_keeps_every_reply(path: Path, tmp_path: Path) -> None:
    forum = json.loads(path.read_text(encoding="utf-8"))
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        import_dumps(workspace, [path])
        build(workspace)
        assert read_status(workspace).holds
    corpus = peercorpus.open(tmp_path / "corpus")
    kept = {post.post_id for post in corpus.records(Post)} | {row.record_id for row in corpus.records(SetAside)}
    assert {reply["id"] for reply in forum["details"]["replies"]} <= kept
