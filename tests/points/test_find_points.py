"""The stage joins each point to its answers, the reviewer's later words and the changes; no character is lost."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from in_this_process import InThisProcess
from peercorpus.conversations.build import build_conversations
from peercorpus.errors import DamagedError, PeercorpusError
from peercorpus.execution.executor import Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.points import find_points as stage
from peercorpus.points.find_points import PaperChanges
from peercorpus.points.resolution import read_reaction
from peercorpus.records.documents import Change
from peercorpus.records.enums import (
    AddressedBy,
    Addressee,
    ChangeKind,
    PostKind,
    Reason,
    Role,
    SectionKind,
)
from peercorpus.records.papers import SetAside
from peercorpus.records.points import ChangeSign, Point, PointKind, Reaction, ReactionScope
from peercorpus.records.reviews import Post, Review, Section
from peercorpus.workspace.workspace import Workspace, open_workspace

VENUE, NOON = "Nephology.cc/2024/Conference", datetime(2024, 5, 1, 12, tzinfo=UTC)
WEAKNESSES = "1. The ablation of the cumulus encoder is missing.\n2. The comparison with NimbusNet is unfair."


def review(review_id: str, sections: Sequence[Section], **more: object) -> Review:
    return Review(
        review_id=review_id,
        forum_id="f1",
        venue_id=VENUE,
        form_id="declared:clouds",
        reviewer="Reviewer_AbCd",
        created_at=NOON,
        modified_at=NOON,
        title=None,
        scores=(),
        sections=tuple(sections),
        final_justification=None,
        revised=None if "initial_sections" not in more else True,
        readers_public=True,
        deleted=False,
        extra="{}",
        **more,  # type: ignore[arg-type]
    )


def post(post_id: str, hours: int, role: Role, text: str, reply_to: str | None, **more: object) -> Post:
    kinds = {Role.REVIEWER: PostKind.COMMENT, Role.AUTHOR: PostKind.REBUTTAL}
    signatures = {Role.REVIEWER: "Reviewer_AbCd", Role.AUTHOR: "Authors"}
    return Post(
        post_id=post_id,
        forum_id="f1",
        venue_id=VENUE,
        reply_to=reply_to,
        kind=PostKind.REVIEW if post_id == "r1" else kinds[role],
        role=role,
        invitation="",
        signature=signatures[role],
        created_at=NOON + timedelta(hours=hours),
        modified_at=None,
        title=None,
        text=text,
        readers_public=True,
        deleted=False,
        extra="{}",
        **more,  # type: ignore[arg-type]
    )


def change(number: int, section: str, after: str) -> Change:
    return Change("f1", VENUE, "a", "b", number, 2, ChangeKind.ADDED, section, "", after, section)


def points_of(folder: Path, rows: Sequence[Review | Post | Change]) -> list[Point]:
    """Return the points of one forum from the stage, whose sums must agree."""
    return build_points(folder, rows)[0]


def build_points(folder: Path, rows: Sequence[Review | Post | Change]) -> tuple[list[Point], Mapping[Reason, int]]:
    """The points of one forum, and the reviews that are set aside."""
    posts = [row for row in rows if isinstance(row, Post)]
    reviews = [row for row in rows if isinstance(row, Review)]
    conversations, _ = build_conversations(posts, reviews) if posts else ([], [])
    with open_workspace(folder / "corpus", create=True) as workspace:
        tables = ("2-reviews", "3-posts", "6-conversations", "7-changes")
        with workspace.tables.replacing(tables, VENUE, "invent", "a" * 64) as out:
            for row in (*rows, *conversations):
                out.add(row)
        stage.run(LocalExecutor(), workspace, VENUE, BuildRequest(), "b" * 64, no_report)
        balances = stage.balance(workspace, VENUE)
        assert [one for one in balances if not one.holds] == []
        assert balances[1].rows_in > 0
        return [*workspace.tables.read(Point, VENUE)], balances[0].set_aside


SECTIONS = (Section(SectionKind.WEAKNESSES, "weaknesses", WEAKNESSES),)
THREAD = (
    post("r1", 0, Role.REVIEWER, WEAKNESSES, None),
    post("a1", 5, Role.AUTHOR, "**W1:** We added the ablation in Section 4.3.\n\n**W2:** We disagree.", "r1",
         addressed_to=("Reviewer_AbCd",), addressed_by=AddressedBy.TREE),
)  # fmt: skip


def test_a_point_has_answer_reaction_change(tmp_path: Path) -> None:
    later = post("r2", 9, Role.REVIEWER, "W1 is resolved. The comparison with NimbusNet is still unfair.", "a1")
    changes = (change(1, "4.3 Ablation", "Without the encoder it rains."), change(2, "5 Outlook", "Hail is next."))
    first, second = points_of(tmp_path, [review("r1", SECTIONS), *THREAD, later, *changes])
    assert (first.label, first.kind, [answer.post_id for answer in first.answers]) == ("1", PointKind.WEAKNESS, ["a1"])
    assert first.answers[0].text == "**W1:** We added the ablation in Section 4.3."
    assert first.reaction is not None
    assert second.reaction is not None
    assert (first.reaction.reaction, first.reaction.scope) == (Reaction.RESOLVED, ReactionScope.POINT)
    assert (second.reaction.reaction, second.reaction.post_id) == (Reaction.NOT_RESOLVED, "r2")
    assert [(one.number, one.sign, one.shared) for one in first.changes] == [(1, ChangeSign.PROMISE, "section 4.3")]
    assert second.changes == ()


def test_a_reaction_to_all_applies_to_each(tmp_path: Path) -> None:
    said = post("r2", 9, Role.REVIEWER, "The comparison with NimbusNet is still unfair.", "a1")
    all_said = post("r3", 12, Role.REVIEWER, "All my concerns have been addressed.", "a1")
    points = points_of(tmp_path, [review("r1", SECTIONS), *THREAD, said, all_said])
    assert [(one.reaction and (one.reaction.reaction, one.reaction.scope)) for one in points] == [
        (Reaction.RESOLVED, ReactionScope.ALL)
    ] * 2


def test_a_review_without_words_is_set_aside(tmp_path: Path) -> None:
    empty = review("r0", [Section(SectionKind.SUMMARY, "summary", " ")])
    points, asides = build_points(tmp_path, [empty, review("r1", SECTIONS)])
    assert {point.review_id for point in points} == {"r1"}
    assert asides == {Reason.NOTHING_SAID: 1}


@pytest.mark.parametrize(
    ("words", "reaction"),
    [
        ("this is resolved now", Reaction.RESOLVED),
        ("this is only partly resolved", Reaction.PARTLY),
        ("this was not addressed", Reaction.NOT_RESOLVED),
        ("i have read the response", None),
        ("i raise my score", None),
    ],
)
def test_reactions_are_read_from_words(words: str, reaction: Reaction | None) -> None:
    assert read_reaction(words.split()) is reaction


def test_a_change_concerns_a_point() -> None:
    changes = PaperChanges(
        [
            change(1, "3 Method", "The humidity prior follows the dew point of altocumulus layers."),
            *(change(number, f"{number + 10} Other", f"Sentence {number} of the outlook.") for number in range(2, 60)),
        ]
    )
    (by_terms,) = changes.concerning(
        "The humidity prior of altocumulus layers lacks a motivation by the dew point.", ()
    )
    assert (by_terms.number, by_terms.sign) == (1, ChangeSign.TERMS)
    (by_place,) = changes.concerning("Section 3 is short.", ())
    assert (by_place.number, by_place.sign, by_place.shared) == (1, ChangeSign.PLACE, "section 3")
    assert changes.concerning("Clouds are grey.", ()) == ()


def several_papers(workspace: Workspace) -> None:
    tables = ("2-reviews", "3-posts", "6-conversations", "7-changes")
    with workspace.tables.replacing(tables, VENUE, "invent", "a" * 64) as out:
        for number in range(40):
            forum_id = f"f{number:02}"
            sections = () if number == 7 else SECTIONS
            out.add(replace(review(f"r{number}", sections), forum_id=forum_id))
            for one in THREAD:
                out.add(replace(one, post_id=f"{forum_id}{one.post_id}", forum_id=forum_id))


@pytest.mark.slow
def test_several_processes_find_the_same_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[list[Point], list[str]]] = []
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        several_papers(workspace)
        for few, workers in ((1_000, None), (0, 1), (0, 2)):
            monkeypatch.setattr(stage, "_FEW_REVIEWS", few)
            key = f"{len(found):x}" * 64
            stage.run(LocalExecutor(), workspace, VENUE, BuildRequest(workers=workers), key, no_report)
            aside = [one.record_id for one in workspace.tables.read(SetAside, VENUE)]
            found.append(([*workspace.tables.read(Point, VENUE)], aside))
    assert found[0] == found[1] == found[2]
    assert len({point.forum_id for point in found[0][0]}) == 39
    assert found[0][1] == ["r7"]


@pytest.mark.parametrize("error", [None, DamagedError("A table is damaged.", "table", "cut")])
def test_a_failing_process_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    monkeypatch.setattr(stage, "_FEW_REVIEWS", 0)
    failure = Failure(FailureKind.CRASH, "Its process ended.", error=error)
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        several_papers(workspace)
        with pytest.raises(DamagedError if error else PeercorpusError, match=r"damaged|' failed\. Its process"):
            stage.run(InThisProcess(failures=(failure,)), workspace, VENUE, BuildRequest(), "b" * 64, no_report)
        assert [*workspace.tables.read(Point, VENUE)] == []


def test_a_response_to_all_answers_too(tmp_path: Path) -> None:
    both = post("a2", 6, Role.AUTHOR, "The cumulus encoder: its ablation is in the appendix now.", None,
                addressed_to=(Addressee.EVERYONE,), addressed_by=AddressedBy.TITLE)  # fmt: skip
    first, _ = points_of(tmp_path, [review("r1", SECTIONS), *THREAD, both])
    assert [(answer.post_id, answer.is_to_all) for answer in first.answers] == [("a1", False), ("a2", True)]
