"""Anything taken down is in no export, and nothing about it is disclosed."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release, rows_of
from invented_tables import (
    ICLR,
    ICML,
    a_forum,
    conversation,
    invented,
    paper,
    post,
    review,
    score,
    text,
    turn,
    version,
)
from peercorpus import release as release_package
from peercorpus.corpus.public_forums import count_taken
from peercorpus.corpus.takedown import LIST, TOMBSTONE, add_to_list, read_list, read_takedown, remove_from_list
from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import Aspect, Grade, Phase, PostKind, Role, ScoreSource, SectionKind
from peercorpus.records.reviews import Conversation, Section, Turn
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import RENDERERS, ExportLayout
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

MARK = "XYZZY"
"""A word that occurs only in what is taken down."""
AUTHOR = "~Ada_Example1"


def spoken(role: Role, signature: str, *post_ids: str, **other: Any) -> Turn:
    return replace(turn(role, *post_ids), signature=signature, **other)


def marked_forum(forum_id: str, venue_id: str = ICLR) -> list[object]:
    """A paper whose texts all contain the marker."""
    changes: dict[str, dict[str, Any]] = {
        "Paper": {"title": MARK, "abstract": MARK, "decision_comment": MARK},
        "Review": {"sections": (Section(SectionKind.SUMMARY, "summary", MARK),)},
        "Post": {"text": MARK, "title": MARK},
    }
    found: list[object] = []
    for record in a_forum(forum_id, venue_id, f"# {MARK}"):
        changed: dict[str, Any] = changes.get(type(record).__name__, {})
        if isinstance(record, Conversation):
            changed = {"turns": tuple(replace(one, text=MARK) for one in record.turns)}
        found.append(replace(record, **changed))  # type: ignore[type-var]
    return found


def one_marked_post() -> list[object]:
    """A paper with four posts of a conversation: the reviewer's second, merged with a third, contains the marker."""
    first, second, third, answer = (f"f1-{name}" for name in ("R1", "second", "third", "answer"))
    told = replace(
        score("rating", 3.0, f"from 3 {MARK}", Aspect.RECOMMENDATION, Phase.INITIAL), source=ScoreSource.TEXT
    )
    own = review("f1")
    later = spoken(
        Role.REVIEWER, "R1", second, third, text=f"{MARK} from 3 {MARK}\n\nWords of {third}.", titles=(MARK, None)
    )
    turns = [spoken(Role.REVIEWER, "R1", first), spoken(Role.AUTHOR, "Authors", answer), replace(later, title=MARK)]
    return [
        paper("f1"),
        replace(own, scores=(*own.scores, told)),
        post(first, "f1", kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1"),
        post(answer, "f1", reply_to=first),
        post(second, "f1", role=Role.REVIEWER, signature="R1", title=MARK, text=f"{MARK} from 3 {MARK}"),
        post(third, "f1", role=Role.REVIEWER, signature="R1", reply_to=second),
        version("f1", "aa", Grade.EXACT),
        text("aa", "# Text"),
        conversation("f1", "R1", turns),
    ]


def note(note_id: str, forum_id: str, body: dict[str, Any], kind: RawKind = RawKind.NOTE) -> RawObject:
    return RawObject(kind, note_id, 2, ICLR, forum_id, note_id, 1, 1, "invented", json.dumps(body).encode())


def write_list(workspace: Workspace, *lines: str) -> None:
    (workspace.folder / LIST).write_text("\n".join(lines) + "\n")


ALL_AUTHORS_SAY = {"paper": "abstract", "assistant": "author", "unanswered": True}


def everything_in(folder: Path) -> str:
    """Yield every file of a release, as bytes and, for Parquet, decoded."""
    said = ""
    for path in folder.rglob("*"):
        if path.is_file():
            said += path.read_bytes().decode("latin-1")
        if path.suffix == ".parquet":
            said += json.dumps(pq.read_table(path).to_pylist(), default=str)
    return said


def export(workspace: Workspace, folder: Path) -> str:
    """Return the full content of the release and of each format of dialogues."""
    summary = publish_release(workspace, folder / "out", splits=SplitRequest(Profile.RE2))
    said = everything_in(folder / "out")
    # Without a paper to train on there is nothing to export.
    for layout in RENDERERS if any(used.total() for used in summary.used.values()) else ():
        options: dict[str, Any] = {} if layout is ExportLayout.RE2 else ALL_AUTHORS_SAY
        for name, given in ((layout.value, {}), ("all", options)):
            export_release(folder / "out", folder / name, ExportRequest(format=layout, **given))
            said += everything_in(folder / name)
    return said


def add_raw(workspace: Workspace, *objects: RawObject) -> None:
    with workspace.raw.transaction():
        workspace.raw.add(objects)


def test_a_taken_down_paper_is_in_no_export(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [*a_forum("f1"), *marked_forum("f2")]}) as workspace:
        assert MARK in export(workspace, tmp_path)
        write_list(workspace, "# asked for by mail", "", "f2  # on Monday")
        assert MARK not in export(workspace, tmp_path)
        assert [row["forum_id"] for row in rows_of(tmp_path / "out", "papers")] == ["f1"]
        assert [row["forum_id"] for row in rows_of(tmp_path / "out", "conversations")] == ["f1"]
        assert remove_from_list(workspace.folder, ["f2", "f9"]) == ["f9"]
        assert (workspace.folder / "takedown.txt").read_text() == "# asked for by mail\n\n"
        assert MARK in export(workspace, tmp_path)


def test_a_taken_down_file_is_no_other_text(tmp_path: Path) -> None:
    twin = [paper("g1", ICML), version("g1", "sha-f2", Grade.EXACT, ICML), text("sha-f2", f"# {MARK}", ICML)]
    with invented(tmp_path / "corpus", {ICLR: marked_forum("f2"), ICML: twin}) as workspace:
        write_list(workspace, "f2")
        assert MARK not in export(workspace, tmp_path)
        assert [(row["forum_id"], row["markdown"]) for row in rows_of(tmp_path / "out", "papers")] == [("g1", "")]


def test_only_the_posts_text_leaves_a_merged_turn(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: one_marked_post()}) as workspace:
        assert MARK in export(workspace, tmp_path)
        write_list(workspace, "f1-second")
        assert MARK not in export(workspace, tmp_path)
        assert "from 3" not in everything_in(tmp_path / "re2")
        (talk,) = rows_of(tmp_path / "out", "conversations")
        last = talk["turns"][-1]
        assert (last["text"], last["post_ids"], last["orphan_ids"]) == (
            "Words of f1-third.",
            ["f1-third"],
            ["f1-third"],
        )
        assert (last["title"], last["titles"]) == (None, [None])
        assert "Words of f1-third." in everything_in(tmp_path / "trl")


def test_a_taken_down_review_loses_its_scores(tmp_path: Path) -> None:
    own = review("f1", final_justification=MARK, sections=(Section(SectionKind.SUMMARY, "summary", MARK),))
    turns = [
        spoken(Role.REVIEWER, "R1", "f1-R1", text=MARK),
        spoken(Role.AUTHOR, "Authors", "f1-answer"),
        spoken(Role.REVIEWER, "R1", text="", final_justification=MARK),
    ]
    *rest, _ = (record for record in a_forum("f1") if type(record).__name__ not in {"Review", "Post"})
    posts = [
        post("f1-R1", "f1", kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1", text=MARK),
        post("f1-answer", "f1", reply_to="f1-R1"),
    ]
    with invented(tmp_path / "corpus", {ICLR: [*rest, own, *posts, conversation("f1", "R1", turns)]}) as workspace:
        write_list(workspace, "f1-R1")
        assert MARK not in export(workspace, tmp_path)
        (row,), (talk,) = rows_of(tmp_path / "out", "papers"), rows_of(tmp_path / "out", "conversations")
        assert (row["num_reviews"], json.loads(row["reviews_json"])) == (0, [])
        assert [(one["role"], one["orphan_ids"]) for one in talk["turns"]] == [("author", ["f1-answer"])]


def test_consecutive_turns_are_merged(tmp_path: Path) -> None:
    turns = [
        spoken(Role.REVIEWER, "R1", "f1-R1"),
        spoken(Role.AUTHOR, "Authors", "one"),
        spoken(Role.REVIEWER, "R1", "two"),
        spoken(Role.AUTHOR, "Authors", "three"),
        spoken(Role.REVIEWER, "R1", "four"),
    ]
    talk = conversation("f1", "R1", turns, ("all",))
    talk = replace(talk, context=(replace(talk.context[0], before_turn=4),))
    posts = [post(name, "f1") for name in ("f1-R1", "one", "two", "three", "four", "all")]
    with invented(tmp_path / "corpus", {ICLR: [paper("f1"), review("f1"), *posts, talk]}) as workspace:
        write_list(workspace, "two")
        publish_release(workspace, tmp_path / "out")
    (row,) = rows_of(tmp_path / "out", "conversations")
    assert [one["post_ids"] for one in row["turns"]] == [["f1-R1"], ["one", "three"], ["four"]]
    assert row["turns"][1]["text"] == "Words of one.\n\nWords of three."
    assert [beside["before_turn"] for beside in row["context"]] == [2]


def test_a_response_and_a_decision_are_taken_down(tmp_path: Path) -> None:
    *rest, talk = a_forum("f1")
    assert isinstance(talk, Conversation)
    talk = replace(talk, context=(replace(talk.context[0], concerning=(MARK,)),))
    records = [
        replace(one, text=MARK) if getattr(one, "post_id", "") == "f1-to-all" else one  # type: ignore[type-var]
        for one in rest
        if type(one).__name__ != "Paper"
    ]
    verdict = post("verdict", "f1", kind=PostKind.DECISION, text=f"### decision\n\n{MARK}")
    decided = paper("f1", decision=MARK, decision_comment=MARK)
    with invented(tmp_path / "corpus", {ICLR: [decided, *records, verdict, talk]}) as workspace:
        write_list(workspace, "f1-to-all", "verdict")
        assert MARK not in export(workspace, tmp_path)
        (row,) = rows_of(tmp_path / "out", "papers")
    assert (row["decision"], row["decision_comment"], row["author_rebuttal"]) == (None, None, "")


def test_a_turn_without_ids_is_removed(tmp_path: Path) -> None:
    turns = [spoken(Role.REVIEWER, "R1", text=MARK), spoken(Role.AUTHOR, "", text="We answer.")]
    posts = [post("re2:1/review", "f1", role=Role.REVIEWER, signature="R1", kind=PostKind.REVIEW)]
    records = [paper("f1"), review("f1", review_id="re2:1/review"), *posts, conversation("f1", "R1", turns)]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        write_list(workspace, "re2:1/review")
        assert MARK not in export(workspace, tmp_path)


ENTRIES = [{"fullname": "Bo Ek", "username": "~Bo_Ek1"}, {"fullname": "Ada Day", "username": AUTHOR}]
"""An author list of API 2 since 2025: objects instead of names beside ids."""
SIGNED: dict[str, Callable[[str], RawObject]] = {
    "the list of authors": lambda one: note(one, one, {"id": one, "content": {"authorids": {"value": ["x", AUTHOR]}}}),
    "a note of API v1": lambda one: note(one, one, {"id": one, "content": {"authorids": [AUTHOR]}}),
    "an entry of the author list": lambda one: note(one, one, {"id": one, "content": {"authors": {"value": ENTRIES}}}),
    "an edit of the author list": lambda one: note(
        one, one, {"note": {"content": {"authors": {"value": ENTRIES}}}}, RawKind.EDIT
    ),
    "a signature": lambda one: note(one, one, {"id": one, "signatures": [AUTHOR]}),
    "an edit": lambda one: note(one, one, {"note": {"content": {"authorids": {"value": [AUTHOR]}}}}, RawKind.EDIT),
    "a reference": lambda one: note(one, one, {"content": {"authorids": [AUTHOR]}}, RawKind.REFERENCE),
}


@pytest.mark.parametrize("found_in", SIGNED)
def test_a_taken_down_author_loses_all_papers(tmp_path: Path, found_in: str) -> None:
    comment = post("public", "f1", role=Role.PUBLIC, signature="public_1", text=MARK)
    records = [*a_forum("f1"), comment, *marked_forum("f2")]
    aside = conversation("f1", "R2", [spoken(Role.PUBLIC, "public_1", "public", text=MARK)])
    with invented(tmp_path / "corpus", {ICLR: _in_order([*records, aside])}) as workspace:
        add_raw(workspace, SIGNED[found_in]("f2"), note("public", "f1", {"id": "public", "signatures": [AUTHOR]}))
        write_list(workspace, AUTHOR.lower())
        assert MARK not in export(workspace, tmp_path)
        assert [row["forum_id"] for row in rows_of(tmp_path / "out", "papers")] == ["f1"]


def _in_order(records: Iterable[object]) -> list[object]:
    return sorted(records, key=lambda record: getattr(record, "forum_id", ""))


def test_a_mentioned_person_loses_nothing(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        mention = note("f1", "f1", {"id": "f1", "content": {"title": {"value": f"On {AUTHOR}"}}})
        edit = note("f1", "f1", {"id": "e", "signatures": [AUTHOR], "note": {"id": "f1"}}, RawKind.EDIT)
        longer = note("f1-R1", "f1", {"id": "f1-R1", "signatures": [f"{AUTHOR}0"]})
        add_raw(workspace, mention, edit, longer)
        write_list(workspace, AUTHOR)
        found = read_takedown(workspace)
    assert (found.forums, found.posts) == (frozenset(), frozenset())


def test_the_counts_match_and_are_shown_beforehand(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [*one_marked_post(), *marked_forum("f2")]}) as workspace:
        before = publish_release(workspace, tmp_path / "out")
        write_list(workspace, "f2", "f1-R1", "no-such-id")
        told = count_taken(workspace.tables, read_takedown(workspace))
        after = publish_release(workspace, tmp_path / "out")
    taken = after.taken_down
    assert taken == {"papers": 1, "reviews": 2, "posts": 4, "versions": 1, "conversations": 1, "texts": 1}
    assert {name: count for name, count in taken.items() if name not in {"versions", "texts"}} == dict(told)
    for name in ("papers", "reviews", "conversations"):
        assert getattr(before, name) == getattr(after, name) + taken[name]
    assert before.taken_down == {}
    assert "2 reviews that were taken" in (tmp_path / "out" / "README.md").read_text()


def test_the_tombstone_has_counts_but_no_ids(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [*a_forum("f1"), *marked_forum("secret2")]}) as workspace:
        write_list(workspace, "secret2", "f1-answer", "unknown")
        said = export(workspace, tmp_path)
        tombstone = json.loads((tmp_path / "out" / TOMBSTONE).read_text())
        first = (tmp_path / "out" / TOMBSTONE).read_bytes()
        export(workspace, tmp_path)
        assert (tmp_path / "out" / "takedown.json").read_bytes() == first
        assert (workspace.folder / "takedown.salt").stat().st_mode & 0o777 == 0o600
    assert tombstone["ids"] == {"forum": 1, "note": 1, "author": 0}
    records = {"papers": 1, "reviews": 1, "posts": 4, "versions": 1, "conversations": 1, "ai_reviews": 0}
    assert tombstone["records"] == records | {"texts": 1, "changes": 0}
    assert tombstone["venues"] == {ICLR: tombstone["records"]}
    assert sorted(tombstone) == ["hashes", "ids", "records", "venues"]
    assert [len(one) for one in tombstone["hashes"]] == [64, 64]
    assert "secret2" not in said
    assert "f1-answer" not in said


def test_another_workspace_hashes_the_same_id_differently(tmp_path: Path) -> None:
    hashes = []
    for name in ("one", "two"):
        with invented(tmp_path / name / "corpus", {ICLR: [*a_forum("f1"), *a_forum("f2")]}) as workspace:
            write_list(workspace, "f2")
            publish_release(workspace, tmp_path / name / "out")
        hashes += json.loads((tmp_path / name / "out" / TOMBSTONE).read_text())["hashes"]
    assert len(set(hashes)) == 2


def test_everything_may_be_taken_down(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: marked_forum("f1")}) as workspace:
        write_list(workspace, "f1")
        summary = publish_release(workspace, tmp_path / "out")
    assert (summary.papers, summary.taken_down["papers"]) == (0, 1)
    assert MARK not in everything_in(tmp_path / "out")


@pytest.mark.parametrize("line", ["two words", "f1?", "f1,f2", "~NoNumber", "@"])
def test_a_bad_line_has_its_number(tmp_path: Path, line: str) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        write_list(workspace, "f1", "", line)
        with pytest.raises(PeercorpusError, match="Line 3"):
            publish_release(workspace, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_ids_are_added_once(tmp_path: Path) -> None:
    add_to_list(tmp_path, ["f1", AUTHOR, "f1"])
    add_to_list(tmp_path, ["f1", "ada@example.org", "-Aw0rr"])
    assert read_list(tmp_path) == ["f1", AUTHOR, "ada@example.org", "-Aw0rr"]
    with pytest.raises(PeercorpusError, match="two words"):
        add_to_list(tmp_path, ["f5", "two words"])
    assert len(read_list(tmp_path)) == 4


def test_every_export_applies_the_takedown_filter() -> None:
    paths = Path(release_package.__path__[0]).rglob("*.py")
    walking = [path for path in paths if re.search(r"\bVenueForums\(", path.read_text())]
    assert walking
    assert [path.name for path in walking if ".through(" not in path.read_text()] == []
