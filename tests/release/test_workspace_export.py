"""The conversations of a workspace in trainers' formats."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from in_this_process import build_here
from invented_releases import a_release, task_paper
from invented_tables import ICLR, a_forum, conversation, invented, post, turn
from naming import Naming
from peercorpus.errors import PeercorpusError
from peercorpus.harvest.import_dumps import import_dumps
from peercorpus.models.chat_messages import ChatOptions, ThirdParties
from peercorpus.models.token_counts import BATCH_TEXTS, load_counter, load_tokenizer
from peercorpus.records.enums import Role
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import ContextPost, Conversation, Post, Review, Turn
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.exports.samples import Opening, PromptOptions
from peercorpus.release.exports.workspace_export import WorkspaceExport, export_workspace
from peercorpus.release.publish import publish_release
from peercorpus.release.split_file import SplitRequest
from peercorpus.release.splits import Profile, Task
from peercorpus.workspace.workspace import open_workspace
from published_records import re2_paper, write_json

REVIEWER = ChatOptions()
AUTHOR = ChatOptions(assistant=Role.AUTHOR)


def forum(forum_id: str = "f1") -> list[object]:
    """A paper whose reviewer replies once."""
    *rest, talk = a_forum(forum_id)
    assert isinstance(talk, Conversation)
    again = post(f"{forum_id}-again", forum_id, role=Role.REVIEWER, signature="R1", reply_to=f"{forum_id}-answer")
    turns = [replace(one, signature="R1" if one.role is Role.REVIEWER else "Authors") for one in talk.turns]
    return [*rest, again, replace(talk, turns=(*turns, replace(turn(Role.REVIEWER, again.post_id), signature="R1")))]


def request(
    layout: ExportLayout = ExportLayout.TRL,
    opening: Opening = Opening.ABSTRACT,
    *,
    with_system: bool = True,
    chat: ChatOptions = REVIEWER,
) -> ExportRequest:
    return ExportRequest(layout, (), PromptOptions(opening, with_system, chat=chat))


def write(
    tmp_path: Path, wanted: ExportRequest, records: list[object] | None = None
) -> tuple[list[Any], WorkspaceExport]:
    out = tmp_path / "dialogues.jsonl"
    with invented(tmp_path / "corpus", {ICLR: forum() if records is None else records}) as workspace:
        written = export_workspace(workspace, out, wanted, [ICLR])
    # Without a dialogue there is no file.
    lines = out.read_text().splitlines() if out.exists() else []
    return [json.loads(line) for line in lines], written


def test_messages_have_openais_format(tmp_path: Path) -> None:
    (row,), written = write(tmp_path, request())
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert row["messages"][4]["content"] == "Words of f1-again."
    assert row["post_ids"] == [[], [], ["f1-R1"], ["f1-answer"], ["f1-again"]]
    assert (row["conversation_id"], row["assistant"], row["paper_grade"]) == ("f1/R1", "reviewer", None)
    assert (written.dialogues, written.messages, written.tokens) == (1, 5, None)


def test_leftovers_of_a_killed_export_are_removed_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / ".dialogues.jsonl.partial"
    left.mkdir()
    (left / "partial").write_text("half a row")
    (row,), _ = write(tmp_path, request())
    assert row["conversation_id"] == "f1/R1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dialogues.jsonl"]


def test_sharegpt_has_from_and_value_with_a_separate_system_prompt(tmp_path: Path) -> None:
    (row,), _ = write(tmp_path, request(ExportLayout.LLAMA_FACTORY))
    assert [message["from"] for message in row["conversations"]] == ["human", "gpt", "human", "gpt"]
    assert row["system"].split()[3] == "reviewer"


def test_axolotl_marks_what_to_train_on(tmp_path: Path) -> None:
    (row,), _ = write(tmp_path, request(ExportLayout.AXOLOTL, Opening.NONE, with_system=False, chat=AUTHOR))
    assert [(message["role"], message["train"]) for message in row["messages"]] == [
        ("user", False),
        ("assistant", True),
    ]


def test_an_export_in_re2s_format_can_be_imported_again(tmp_path: Path) -> None:
    (row,), _ = write(tmp_path, request(ExportLayout.RE2, Opening.TEXT))
    assert (row["paper_id"], row["reviewer_id"]) == ("f1", "R1")
    assert row["final_score"]["rating"] == "6: Weak Accept"
    assert row["initial_score"]["rating"] == "null"
    write_json(
        tmp_path / "in" / "REVIEWS_test.json", [re2_paper("f1", conference_year_track=row["conference_year_track"])]
    )
    write_json(tmp_path / "in" / "REBUTTAL_test.json", [row])
    with open_workspace(tmp_path / "other", create=True) as workspace:
        import_dumps(workspace, [tmp_path / "in"])
        build_here(workspace)
        venues = workspace.tables.venues("6-conversations")
        talks = [
            talk for venue in venues for talk in workspace.tables.read(Conversation, venue) if talk.reviewer == "R1"
        ]
    assert [[(one.role, one.text) for one in talk.turns] for talk in talks] == [
        [
            (Role.REVIEWER, "Words of f1-R1."),
            (Role.AUTHOR, row["messages"][3]["content"]),
            (Role.REVIEWER, "Words of f1-again."),
        ]
    ]


def test_a_json_file_is_one_array(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [*forum("f1"), *forum("f2")]}) as workspace:
        export_workspace(workspace, tmp_path / "all.json", request(with_system=False), [ICLR])
        export_workspace(workspace, tmp_path / "none.json", request(with_system=False), [])
    assert [row["forum_id"] for row in json.loads((tmp_path / "all.json").read_text())] == ["f1", "f2"]
    assert not (tmp_path / "none.json").exists()


def test_the_text_opens_a_dialogue_with_its_grade_where_there_is_one(tmp_path: Path) -> None:
    (row,), written = write(tmp_path, request(opening=Opening.TEXT, with_system=False))
    assert row["messages"][0]["content"].endswith("# Text of f1")
    assert row["paper_grade"] == "exact"
    without = [one for one in forum() if type(one).__name__ != "PaperText"]
    rows, written = write(tmp_path / "without", request(opening=Opening.TEXT, with_system=False), without)
    assert rows == []
    assert sum(written.left_out.values()) == 1


def test_a_paper_without_a_title_opens_with_its_abstract_or_text(tmp_path: Path) -> None:
    untitled = [replace(one, title=None, abstract="We fly.") if isinstance(one, Paper) else one for one in forum()]
    (row,), _ = write(tmp_path, request(with_system=False), untitled)
    assert row["messages"][0]["content"] == "We fly."
    (row,), _ = write(tmp_path / "text", request(opening=Opening.TEXT, with_system=False), untitled)
    assert row["messages"][0]["content"] == "# Text of f1"
    bare = [replace(one, abstract=None) if isinstance(one, Paper) else one for one in untitled]
    rows, written = write(tmp_path / "bare", request(with_system=False), bare)
    assert (rows, sum(written.left_out.values())) == ([], 1)


def test_records_that_are_not_public_are_left_out_and_counted(tmp_path: Path) -> None:
    hidden = [
        replace(one, readers_public=one.post_id != "f1-again") if isinstance(one, Post) else one for one in forum()
    ]
    rows, written = write(tmp_path, request(with_system=False), hidden)
    assert rows == []
    assert list(written.left_out) == [Naming("not everyone may read")]


def test_email_addresses_in_messages_are_masked(tmp_path: Path) -> None:
    turns: list[Turn] = [replace(turn(Role.REVIEWER, "f1-R1"), signature="R1", text="Write to ada@example.org.")]
    turns += [turn(Role.AUTHOR, "f1-answer")]
    *rest, _ = a_forum("f1")
    (row,), _ = write(tmp_path, request(with_system=False, chat=AUTHOR), [*rest, conversation("f1", "R1", turns)])
    assert "ada@example.org" not in json.dumps(row)


def test_an_email_address_in_a_score_is_masked_too(tmp_path: Path) -> None:
    records = forum()
    named = [one for one in records if isinstance(one, Review)]
    with_address = replace(named[0], scores=(replace(named[0].scores[0], label="6: ada@example.org"),))
    rows, _ = write(
        tmp_path,
        request(ExportLayout.RE2, Opening.TEXT),
        [with_address if one is named[0] else one for one in records],
    )
    assert "ada@example.org" not in json.dumps(rows)


def test_tokens_are_counted_by_the_named_tokenizer(tmp_path: Path) -> None:
    (row,), written = write(tmp_path, replace(request(), count_tokens=lambda text: len(text.split())))
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
    assert (
        load_tokenizer(str(tmp_path)).count_each(["kites", "", "kites fly high"] * BATCH_TEXTS)
        == [1, 0, 3] * BATCH_TEXTS
    )
    with pytest.raises(PeercorpusError, match="No tokenizer"):
        load_counter(str(tmp_path / "nothing" / "of" / "the" / "kind"))


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with (
        invented(tmp_path / "corpus", {ICLR: forum()}) as workspace,
        pytest.raises(PeercorpusError, match="cannot be written"),
    ):
        export_workspace(workspace, tmp_path / "no" / "such" / "folder" / "d.jsonl", request(with_system=False), [ICLR])


SEEN = [
    PromptOptions(),
    PromptOptions(chat=AUTHOR),
    PromptOptions(Opening.NONE, chat=AUTHOR),
    PromptOptions(Opening.ABSTRACT, with_system=False, chat=ChatOptions(with_responses=False)),
    PromptOptions(most_characters=5, chat=ChatOptions(others=ThirdParties.LEAVE)),
    PromptOptions(chat=ChatOptions(ends_answered=False)),
    PromptOptions(chat=ChatOptions(Role.AUTHOR, ThirdParties.LEAVE, with_responses=False, ends_answered=False)),
]
"""Every option that the dialogues of a workspace and of a release have."""


def with_a_chair(forum_id: str) -> list[object]:
    """A paper with two reviewers' words, the area chair's, and a response to all."""
    *rest, talk = forum(forum_id)
    assert isinstance(talk, Conversation)
    chair = post(f"{forum_id}-chair", forum_id, role=Role.AREA_CHAIR, signature="AC", reply_to=f"{forum_id}-R1")
    to_all = post(f"{forum_id}-all", forum_id, role=Role.AUTHOR, signature="Authors", reply_to=forum_id)
    turns = [*talk.turns, replace(turn(Role.AREA_CHAIR, chair.post_id), signature="AC")]
    turns += [replace(turn(Role.AUTHOR, f"{forum_id}-answer"), signature="Authors", text="One more word.")]
    shown = (ContextPost(to_all.post_id, 2, ("To R1.",)),)
    return [*rest, chair, to_all, replace(talk, turns=tuple(turns), context=shown)]


@pytest.mark.parametrize("options", SEEN)
@pytest.mark.parametrize("layout", [ExportLayout.TRL, ExportLayout.LLAMA_FACTORY, ExportLayout.AXOLOTL])
def test_a_release_and_its_workspace_have_the_same_dialogues(
    tmp_path: Path, layout: ExportLayout, options: PromptOptions
) -> None:
    wanted = ExportRequest(layout, (Task.REBUTTAL,), options, count_tokens=len)
    with invented(tmp_path / "corpus", {ICLR: [*with_a_chair("f1"), *with_a_chair("f2")]}) as workspace:
        publish_release(workspace, tmp_path / "release", splits=SplitRequest(Profile.RE2))
        export_workspace(workspace, tmp_path / "all.jsonl", wanted, [ICLR])
    exported = export_release(tmp_path / "release", tmp_path / "out", wanted)
    ours = read_rows(tmp_path / "all.jsonl")
    theirs = [row for file in exported.written for row in read_rows(tmp_path / "out" / file.name)]
    shared = [name for name in ours[0] if name != "paper_grade"]
    assert "tokens" in shared
    assert len(ours) == 2
    assert sorted(ours, key=by_paper) == [
        {name: row[name] for name in ours[0] if name in shared} | {"paper_grade": row["paper_grade"] or None}
        if options.opening is Opening.TEXT
        else {name: row[name] for name in shared} | {"paper_grade": None}
        for row in sorted(theirs, key=by_paper)
    ]


def by_paper(row: dict[str, Any]) -> str:
    return str(row["forum_id"])


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_authors_split_of_a_release_has_no_review_task_and_its_readme_says_who_speaks(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: with_a_chair("f1")}) as workspace:
        publish_release(workspace, tmp_path / "release", splits=SplitRequest(Profile.RE2))
    exported = export_release(
        tmp_path / "release", tmp_path / "out", ExportRequest(ExportLayout.TRL, (), PromptOptions(chat=AUTHOR))
    )
    assert {file.task for file in exported.files} == {Task.REBUTTAL}
    (row,) = (row for file in exported.written for row in read_rows(tmp_path / "out" / file.name))
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert "<supplementary" not in row["messages"][2]["content"]
    assert "is the authors" in (tmp_path / "out" / "README.md").read_text()


CONVERSATIONS = "data/conversations/iclr-00000-of-00001.parquet"


def test_a_release_without_conversations_of_the_task_is_refused(tmp_path: Path) -> None:
    release = a_release(tmp_path / "release")
    other = a_release(tmp_path / "other", {"train": [task_paper("t2")]})
    (release / CONVERSATIONS).write_bytes((other / CONVERSATIONS).read_bytes())
    wanted = ExportRequest(ExportLayout.TRL, (), PromptOptions(chat=AUTHOR))
    with pytest.raises(PeercorpusError, match=r"'t1/R1'.*publish"):
        export_release(release, tmp_path / "out", wanted)
    assert not (tmp_path / "out").exists()


def test_posts_after_the_decision_are_counted_but_in_no_dialogue(tmp_path: Path) -> None:
    late = post("f1-thanks", "f1", role=Role.REVIEWER, signature="R1", text="Congratulations.")
    thanks = Turn(Role.REVIEWER, "R1", None, late.text, late.created_at, (late.post_id,), posted_after_decision=True)
    *rest, talk = forum()
    assert isinstance(talk, Conversation)
    (row,), written = write(tmp_path, request(), [*rest, late, replace(talk, turns=(*talk.turns, thanks))])
    assert row["messages"][-1]["content"] == "Words of f1-again."
    assert written.after_decision == 1
