"""The conversations of a published workspace in trainers' formats."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asked_releases import publish_release
from commands import Run
from in_this_process import build_here
from invented_releases import a_release, task_paper
from invented_tables import ICLR, a_forum, invented, post, turn
from peercorpus.errors import PeercorpusError
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.models.chat_messages import ChatOptions, Response, ThirdParties, to_chat_messages
from peercorpus.records.enums import Role
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import ContextPost, Conversation, Post
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.exports.samples import Opening, PromptOptions, cut_at_paragraph, opening_text
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.splits import Task
from peercorpus.workspace.workspace import open_workspace

AUTHOR = ChatOptions(assistant=Role.AUTHOR)
CONVERSATIONS = "data/conversations/iclr-00000-of-00001.parquet"


def forum(forum_id: str) -> list[object]:
    """A paper whose reviewer replies once."""
    *rest, talk = a_forum(forum_id)
    assert isinstance(talk, Conversation)
    again = post(f"{forum_id}-again", forum_id, role=Role.REVIEWER, signature="R1", reply_to=f"{forum_id}-answer")
    turns = (*talk.turns, replace(turn(Role.REVIEWER, again.post_id), signature="R1"))
    return [*rest, again, replace(talk, turns=turns)]


def with_a_chair(forum_id: str) -> list[object]:
    """A paper with the words of a reviewer, of the authors, and of the area chair, and a response to all."""
    *rest, talk = forum(forum_id)
    assert isinstance(talk, Conversation)
    chair = post(f"{forum_id}-chair", forum_id, role=Role.AREA_CHAIR, signature="AC", reply_to=f"{forum_id}-R1")
    to_all = post(f"{forum_id}-all", forum_id, role=Role.AUTHOR, signature="Authors", reply_to=forum_id)
    turns = [*talk.turns, replace(turn(Role.AREA_CHAIR, chair.post_id), signature="AC")]
    turns += [replace(turn(Role.AUTHOR, f"{forum_id}-answer"), signature="Authors", text="One more word.")]
    shown = (ContextPost(to_all.post_id, 2, ("To R1.",)),)
    return [*rest, chair, to_all, replace(talk, turns=tuple(turns), context=shown)]


def publish(folder: Path, records: list[object]) -> Path:
    """Publish records with splits; return the folder of the release."""
    with invented(folder / "corpus", {ICLR: records}) as workspace:
        publish_release(workspace, folder / "release", splits=SplitRequest(Profile.RE2))
    return folder / "release"


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of conversations in all files of an export, in the order of their papers."""
    lines = [line for path in folder.glob("rebuttal_*.jsonl") for line in path.read_text().splitlines()]
    return sorted(map(json.loads, lines), key=lambda row: str(row["forum_id"]))


RECORDS = [*with_a_chair("f1"), *with_a_chair("f2")]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of two papers that tests must not change."""
    return publish(tmp_path_factory.mktemp("conversations"), RECORDS)


SEEN = [
    PromptOptions(),
    PromptOptions(chat=AUTHOR),
    PromptOptions(Opening.NONE, chat=AUTHOR),
    PromptOptions(Opening.ABSTRACT, with_system=False, chat=ChatOptions(others=ThirdParties.LEAVE)),
    PromptOptions(most_characters=5, chat=ChatOptions(others=ThirdParties.LEAVE)),
    PromptOptions(chat=ChatOptions(ends_answered=False)),
    PromptOptions(chat=ChatOptions(Role.AUTHOR, ThirdParties.LEAVE, ends_answered=False)),
]
"""Every option of dialogues, of which some are made from the messages of `rebuttal` and others from turns."""


def write_expected(forum_id: str, options: PromptOptions) -> list[tuple[str, str, list[str]]]:
    """Return the speaker, text and posts of each message, made from the records that were published."""
    records = [record for record in RECORDS if getattr(record, "forum_id", None) == forum_id]
    (paper,) = (record for record in records if isinstance(record, Paper))
    (talk,) = (record for record in records if isinstance(record, Conversation))
    responses = {one.post_id: Response(one.title, one.text) for one in records if isinstance(one, Post)}
    body = paper.abstract if options.opening is Opening.ABSTRACT else f"# Text of {forum_id}"
    whole = None if options.opening is Opening.NONE else str(opening_text(paper.title, body))
    opening = None if whole is None else cut_at_paragraph(whole, options.most_characters)
    return [
        (
            message.speaker.value,
            message.text,
            [*message.answers, *(post_id for number in message.turns for post_id in talk.turns[number].post_ids)],
        )
        for message in to_chat_messages(talk, options.chat_with_system, responses, opening)
    ]


@pytest.mark.parametrize("options", SEEN)
def test_an_exported_dialogue_is_made_of_the_conversation_in_the_tables(
    release: Path, tmp_path: Path, options: PromptOptions
) -> None:
    export_release(release, tmp_path / "out", ExportRequest(ExportLayout.TRL, (Task.REBUTTAL,), options))
    rows = read_rows(tmp_path / "out")
    assert [row["conversation_id"] for row in rows] == ["f1/R1", "f2/R1"]
    for row in rows:
        shown = [(message["role"], message["content"]) for message in row["messages"]]
        posts = row["post_ids"]
        assert [(*told, of) for told, of in zip(shown, posts, strict=True)] == write_expected(row["forum_id"], options)
        assert (row["assistant"], row["paper_grade"]) == (options.chat.assistant.value, "exact")


@pytest.mark.slow
def test_each_option_of_a_conversation_changes_what_is_written(release: Path, tmp_path: Path, run: Run) -> None:
    def write(*options: str) -> list[dict[str, str]]:
        told = ("--format", "trl", "--task", "rebuttal", "--paper", "abstract", *options)
        assert run("export", release, "--out", tmp_path / "out", *told).code == 0
        messages: list[dict[str, str]] = read_rows(tmp_path / "out")[0]["messages"]
        return messages

    plain = write()
    assert [message["role"] for message in plain] == ["system", "user", "assistant", "user", "assistant"]
    assert "Words of f1-all." in plain[3]["content"]
    assert write("--no-system") == plain[1:]
    unanswered = write("--unanswered")
    assert unanswered[:5] == plain
    assert [part in unanswered[5]["content"] for part in ("Words of f1-chair.", "One more word.")] == [True, True]
    without = write("--unanswered", "--others", "leave")
    assert "Words of f1-chair." not in without[5]["content"]
    author = write("--assistant", "author")
    assert [message["role"] for message in author] == ["system", "user", "assistant", "user", "assistant"]
    assert author[0] != plain[0]
    assert write("--max-characters", "4")[1]["content"] == "# On"


def test_the_authors_split_of_a_release_has_no_review_task_and_its_readme_says_who_speaks(
    release: Path, tmp_path: Path
) -> None:
    wanted = ExportRequest(ExportLayout.TRL, (), PromptOptions(chat=AUTHOR))
    exported = export_release(release, tmp_path / "out", wanted)
    assert {file.task for file in exported.files} == {Task.REBUTTAL}
    row, _ = read_rows(tmp_path / "out")
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert "<supplementary" not in row["messages"][2]["content"]
    assert "is the authors" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.slow
def test_a_conversation_that_not_everyone_may_read_is_in_no_file(tmp_path: Path) -> None:
    hidden = [
        replace(one, readers_public=False, text="SECRET") if getattr(one, "post_id", "") == "f1-again" else one  # type: ignore[type-var]
        for one in forum("f1")
    ]
    release = publish(tmp_path, [*hidden, *forum("f2")])
    for layout in ExportLayout:
        export_release(release, tmp_path / "out", ExportRequest(layout))
        said = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.json*"))
        assert ("f1-again" in said, "SECRET" in said, "Words of f2-again." in said) == (False, False, True)


@pytest.mark.slow
def test_without_a_row_the_command_says_why_and_exits_with_1(tmp_path: Path, run: Run) -> None:
    release = publish(tmp_path, a_forum("f1"))
    ended = run("export", release, "--out", tmp_path / "out", "--format", "trl", "--task", "rebuttal")
    assert ended.code == 1
    assert "  left out 1: the assistant never answers the user" in ended.out.splitlines()
    assert not list((tmp_path / "out").glob("*.jsonl"))


@pytest.mark.slow
def test_a_conversation_in_re2s_format_is_the_same_when_imported_again(tmp_path: Path) -> None:
    export_release(publish(tmp_path, forum("f1")), tmp_path / "out", ExportRequest(ExportLayout.RE2))
    with open_workspace(tmp_path / "other", create=True) as workspace:
        import_dumps(workspace, [tmp_path / "out"])
        build_here(workspace)
        venues = workspace.tables.venues("6-conversations")
        talks = [talk for venue in venues for talk in workspace.tables.read(Conversation, venue)]
    written = [[(one.role, one.text) for one in talk.turns] for talk in talks if talk.reviewer == "R1"]
    (row,) = json.loads((tmp_path / "out" / "REBUTTAL_train.json").read_text())
    answer = row["messages"][3]["content"]
    assert answer.endswith("Words of f1-answer.")
    assert written == [
        [(Role.REVIEWER, "Words of f1-R1."), (Role.AUTHOR, answer), (Role.REVIEWER, "Words of f1-again.")]
    ]


def test_a_release_without_conversations_of_the_task_is_refused(tmp_path: Path) -> None:
    release = a_release(tmp_path / "release")
    other = a_release(tmp_path / "other", {"train": [task_paper("t2")]})
    (release / CONVERSATIONS).write_bytes((other / CONVERSATIONS).read_bytes())
    wanted = ExportRequest(ExportLayout.TRL, (), PromptOptions(chat=AUTHOR))
    with pytest.raises(PeercorpusError, match=r"'t1/R1'.*publish"):
        export_release(release, tmp_path / "out", wanted)
    assert not (tmp_path / "out").exists()
