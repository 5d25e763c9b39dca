"""Dialogues in the formats of those who train on them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from invented_tables import ICLR, a_forum, conversation, invented, post, turn
from peercorpus.dialogues import View
from peercorpus.errors import PeercorpusError
from peercorpus.harvest.dumps import import_dumps
from peercorpus.kinds import Role
from peercorpus.pipeline import build
from peercorpus.publish.dialogues import Format, Opening, Written, write_dialogues
from peercorpus.publish.renderings import Rendering
from peercorpus.publish.tokens import AT_ONCE, load_counter, load_tokenizer
from peercorpus.records import Conversation, Paper, Post, Review, Turn
from peercorpus.workspace import open_workspace
from published_records import re2_paper, write_json

AUTHOR = View(assistant=Role.AUTHOR)


def forum(forum_id: str = "f1") -> list[object]:
    """A paper whose reviewer comes back once."""
    *rest, talk = a_forum(forum_id)
    assert isinstance(talk, Conversation)
    again = post(f"{forum_id}-again", forum_id, role=Role.REVIEWER, signature="R1", reply_to=f"{forum_id}-answer")
    turns = [replace(one, signature="R1" if one.role is Role.REVIEWER else "Authors") for one in talk.turns]
    return [*rest, again, replace(talk, turns=(*turns, replace(turn(Role.REVIEWER, again.post_id), signature="R1")))]


def write(tmp_path: Path, chosen: Format, records: list[object] | None = None) -> tuple[list[Any], Written]:
    out = tmp_path / "dialogues.jsonl"
    with invented(tmp_path / "corpus", {ICLR: forum() if records is None else records}) as workspace:
        written = write_dialogues(workspace, out, chosen, [ICLR])
    return [json.loads(line) for line in out.read_text().splitlines()], written


def test_messages_are_those_of_openai(tmp_path: Path) -> None:
    (row,), written = write(tmp_path, Format(View(system="Review.")))
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert row["messages"][4]["content"] == "Words of f1-again."
    assert row["post_ids"] == [[], [], ["f1-R1"], ["f1-answer"], ["f1-again"]]
    assert (row["conversation_id"], row["assistant"], row["paper_grade"]) == ("f1/R1", "reviewer", None)
    assert (written.dialogues, written.messages, written.tokens) == (1, 5, None)


def test_sharegpt_has_from_and_value_and_the_system_apart(tmp_path: Path) -> None:
    (row,), _ = write(tmp_path, Format(View(system="Review."), Rendering.SHAREGPT))
    assert [message["from"] for message in row["conversations"]] == ["human", "gpt", "human", "gpt"]
    assert row["system"] == "Review."


def test_axolotl_says_what_to_train_on(tmp_path: Path) -> None:
    (row,), _ = write(tmp_path, Format(AUTHOR, Rendering.AXOLOTL, Opening.NONE))
    assert [(message["role"], message["train"]) for message in row["messages"]] == [
        ("user", False),
        ("assistant", True),
    ]


def test_what_re2_would_publish_can_be_taken_in_again(tmp_path: Path) -> None:
    (row,), _ = write(tmp_path, Format(View(), Rendering.RE2))
    assert (row["paper_id"], row["reviewer_id"]) == ("f1", "R1")
    assert row["final_score"]["rating"] == "6: Weak Accept"
    assert row["initial_score"] is None
    write_json(
        tmp_path / "in" / "REVIEWS_test.json", [re2_paper("f1", conference_year_track=row["conference_year_track"])]
    )
    write_json(tmp_path / "in" / "REBUTTAL_test.json", [row])
    with open_workspace(tmp_path / "other", create=True) as workspace:
        import_dumps(workspace, [tmp_path / "in"])
        build(workspace)
        venues = workspace.tables.venues("6-conversations")
        talks = [
            talk for venue in venues for talk in workspace.tables.read(Conversation, venue) if talk.reviewer == "R1"
        ]
    assert [[(one.role, one.text) for one in talk.turns] for talk in talks] == [
        [
            (Role.REVIEWER, "Words of f1-R1."),
            (Role.AUTHOR, row["messages"][2]["content"]),
            (Role.REVIEWER, "Words of f1-again."),
        ]
    ]


def test_a_json_file_holds_one_array(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [*forum("f1"), *forum("f2")]}) as workspace:
        write_dialogues(workspace, tmp_path / "all.json", Format(View()), [ICLR])
        write_dialogues(workspace, tmp_path / "none.json", Format(View()), [])
    assert [row["forum_id"] for row in json.loads((tmp_path / "all.json").read_text())] == ["f1", "f2"]
    assert json.loads((tmp_path / "none.json").read_text()) == []


def test_the_text_opens_a_dialogue_with_its_grade_where_there_is_one(tmp_path: Path) -> None:
    (row,), written = write(tmp_path, Format(View(), opening=Opening.TEXT))
    assert row["messages"][0]["content"].endswith("# Text of f1")
    assert row["paper_grade"] == "exact"
    without = [one for one in forum() if type(one).__name__ != "PaperText"]
    rows, written = write(tmp_path / "without", Format(View(), opening=Opening.TEXT), without)
    assert rows == []
    assert sum(written.left_out.values()) == 1


def test_a_paper_without_a_title_opens_with_what_there_is_of_it(tmp_path: Path) -> None:
    untitled = [replace(one, title=None, abstract="We fly.") if isinstance(one, Paper) else one for one in forum()]
    (row,), _ = write(tmp_path, Format(View()), untitled)
    assert row["messages"][0]["content"] == "We fly."
    (row,), _ = write(tmp_path / "text", Format(View(), opening=Opening.TEXT), untitled)
    assert row["messages"][0]["content"] == "# Text of f1"
    bare = [replace(one, abstract=None) if isinstance(one, Paper) else one for one in untitled]
    rows, written = write(tmp_path / "bare", Format(View()), bare)
    assert (rows, sum(written.left_out.values())) == ([], 1)


def test_what_not_everyone_may_read_is_left_out_and_counted(tmp_path: Path) -> None:
    hidden = [
        replace(one, readers_public=one.post_id != "f1-again") if isinstance(one, Post) else one for one in forum()
    ]
    rows, written = write(tmp_path, Format(View()), hidden)
    assert rows == []
    assert list(written.left_out) == ["not everyone may read all of it"]


def test_addresses_in_what_is_said_are_blotted(tmp_path: Path) -> None:
    turns: list[Turn] = [replace(turn(Role.REVIEWER, "f1-R1"), signature="R1", text="Write to ada@example.org.")]
    turns += [turn(Role.AUTHOR, "f1-answer")]
    *rest, _ = a_forum("f1")
    (row,), _ = write(tmp_path, Format(AUTHOR), [*rest, conversation("f1", "R1", turns)])
    assert "ada@example.org" not in json.dumps(row)


def test_an_address_in_a_score_is_blotted_too(tmp_path: Path) -> None:
    records = forum()
    named = [one for one in records if isinstance(one, Review)]
    with_address = replace(named[0], scores=(replace(named[0].scores[0], label="6: ada@example.org"),))
    rows, _ = write(
        tmp_path, Format(View(), Rendering.RE2), [with_address if one is named[0] else one for one in records]
    )
    assert "ada@example.org" not in json.dumps(rows)


def test_tokens_are_counted_by_what_is_named(tmp_path: Path) -> None:
    (row,), written = write(tmp_path, Format(View(), count_tokens=lambda text: len(text.split())))
    assert row["tokens"] == written.tokens == sum(len(message["content"].split()) for message in row["messages"])


def test_a_tokenizer_of_hugging_face_counts(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the extra 'tokens' is not installed")
    known = tokenizers.Tokenizer(tokenizers.models.WordLevel({"kites": 0, "fly": 1, "?": 2}, unk_token="?"))
    known.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    known.save(str(tmp_path / "tokenizer.json"))
    known.enable_truncation(2)
    known.enable_padding(length=9)
    known.save(str(tmp_path / "tokenizer.json"))
    assert load_counter(str(tmp_path))("kites fly high") == 3
    assert load_tokenizer(str(tmp_path)).count_each(["kites", "", "kites fly high"] * AT_ONCE) == [1, 0, 3] * AT_ONCE
    with pytest.raises(PeercorpusError, match="No tokenizer"):
        load_counter(str(tmp_path / "nothing" / "of" / "the" / "kind"))


def test_a_file_that_cannot_be_written_is_told_of(tmp_path: Path) -> None:
    with (
        invented(tmp_path / "corpus", {ICLR: forum()}) as workspace,
        pytest.raises(PeercorpusError, match="cannot be written"),
    ):
        write_dialogues(workspace, tmp_path / "no" / "such" / "folder" / "d.jsonl", Format(View()), [ICLR])
