"""The task configurations: what a model is shown of a paper and in which split; and the typed tables."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asked_releases import publish_release, rows_of
from invented_tables import ICLR, NOON, a_forum, conversation, invented, post, score, turn
from peercorpus.records.enums import Aspect, AtDecision, Grade, Phase, PostKind, Role, ScoreSource, SectionKind
from peercorpus.records.papers import PaperVersion
from peercorpus.records.reviews import ContextPost, Conversation, Review, Section
from peercorpus.records.scores import ScoreChange
from peercorpus.release.request import Profile, SplitRequest

RE2 = SplitRequest(Profile.RE2)
FIRST = score("rating", 3.0, "3: Reject", Aspect.RECOMMENDATION, Phase.INITIAL)
LAST = score("rating", 6.0, "6: Weak Accept", Aspect.RECOMMENDATION)


def released(folder: Path, records: list[object]) -> Path:
    with invented(folder / "corpus", {ICLR: records}) as workspace:
        publish_release(workspace, folder / "out", splits=RE2)
    return folder / "out"


def changed(kind: type, **fields: Any) -> list[object]:
    """One forum, with fields of its records of one kind replaced."""
    return [replace(one, **fields) if isinstance(one, kind) else one for one in a_forum("f1")]  # type: ignore[type-var]


def test_a_review_is_shown_as_first_given(tmp_path: Path) -> None:
    questions = Section(SectionKind.QUESTIONS, "questions", "Why?")
    both = (Section(SectionKind.SUMMARY, "summary", "They invent."), questions)
    first = (Section(SectionKind.SUMMARY, "summary", "They copy."),)
    records = changed(Review, sections=both, initial_sections=first, scores=(LAST, FIRST), revised=True)
    (paper,) = rows_of(released(tmp_path, records), "review_sft")
    (review,) = paper["reviews"]
    assert review["text"] == "### summary\n\nThey copy.\n\n### questions\n\nWhy?"
    assert (review["rating_initial"], review["rating_final"]) == (3.0, 6.0)
    assert (review["confidence_initial"], review["confidence_final"]) == (None, None)
    assert (paper["markdown"], paper["grade"], paper["status"]) == ("# Text of f1", "exact", "accepted")


@pytest.mark.parametrize(
    ("state", "then", "first", "text", "may_be_later"),
    [
        (AtDecision.UNCHANGED, [], [], "It flies now.", False),
        (AtDecision.NO_DECISION_TIME, [], [], "It flies now.", False),
        (AtDecision.EDITS, ["It flew then."], [], "It flew then.", False),
        (AtDecision.EDITS, ["It flew then."], ["It may fly."], "It may fly.", False),
        (AtDecision.CHANGED_UNSEEN, [], ["It may fly."], "It may fly.", False),
        (AtDecision.CHANGED_UNSEEN, [], [], "It flies now.", True),
    ],
)
def test_a_later_change_is_flagged_or_undone(
    tmp_path: Path, state: AtDecision, then: list[str], first: list[str], text: str, may_be_later: bool
) -> None:
    def passages(*said: str) -> tuple[Section, ...]:
        return tuple(Section(SectionKind.ASSESSMENT, "review", words) for words in said)

    fields = {"sections": passages("It flies now."), "sections_at_decision": passages(*then), "at_decision": state}
    records = changed(Review, **fields, initial_sections=passages(*first))
    (paper,) = rows_of(released(tmp_path, records), "review_sft")
    (review,) = paper["reviews"]
    assert (review["text"], review["may_be_later"]) == (text, may_be_later)


@pytest.mark.parametrize("revised", [False, None, True])
def test_first_and_last_scores_differ(tmp_path: Path, revised: bool | None) -> None:
    release = released(tmp_path, changed(Review, revised=revised))
    (paper,) = rows_of(release, "review_sft")
    assert (paper["reviews"][0]["rating_initial"], paper["reviews"][0]["rating_final"]) == (None, 6.0)
    (rating,) = [row for row in rows_of(release, "scores") if row["aspect"] == "recommendation"]
    assert (rating["initial"], rating["final"], rating["revised"]) == (None, 6.0, revised)


def test_context_stays_in_the_users_message(tmp_path: Path) -> None:
    (paper,) = rows_of(released(tmp_path, changed(Conversation, context=(ContextPost("f1-to-all", 0),))), "rebuttal")
    messages = paper["conversations"][0]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[0]["content"].startswith("<supplementary")
    assert messages[2]["content"] == "Words of f1-answer."


@pytest.mark.parametrize("said_by", ["R1", "R2"])
def test_training_needs_the_reviewer(tmp_path: Path, said_by: str) -> None:
    talk = conversation("f1", "R1", [turn(Role.REVIEWER, "f1-R1"), turn(Role.AUTHOR, "f1-answer")])
    talk = replace(talk, turns=(replace(talk.turns[0], signature=said_by), talk.turns[1]))
    release = released(tmp_path, [talk if isinstance(one, Conversation) else one for one in a_forum("f1")])
    assert (release / "data" / "rebuttal").exists() is (said_by == "R1")


def test_the_full_table_has_every_public_post(tmp_path: Path) -> None:
    hidden = post("f1-hidden", "f1", readers_public=False)
    meta = post("f1-meta", "f1", kind=PostKind.META_REVIEW, role=Role.AREA_CHAIR, extra='{"recommendation": "Accept"}')
    (paper,) = rows_of(released(tmp_path, [*a_forum("f1"), hidden, meta]), "papers_full")
    assert {one["post_id"] for one in paper["posts"]} == {"f1-answer", "f1-to-all", "f1-meta"}
    assert [review["review_id"] for review in paper["reviews"]] == ["f1-R1"]
    assert paper["reviews"][0]["rebuttal"] == "Words of f1-answer."
    assert (paper["text_sha256"], paper["text_engine"]) == ("sha-f1", "pdfium-text 1")
    (extra,) = [one["extra"] for one in paper["posts"] if one["post_id"] == "f1-meta"]
    assert json.loads(extra) == {"recommendation": "Accept"}


def test_a_status_goes_with_its_decision(tmp_path: Path) -> None:
    hidden = post("f1-decision", "f1", kind=PostKind.DECISION, role=Role.PROGRAM_CHAIR, readers_public=False)
    release = released(tmp_path, [*a_forum("f1"), hidden])
    for config in ("papers_full", "review_sft"):
        (paper,) = rows_of(release, config)
        assert (paper["status"], paper["decision"]) == (None, None)
    (paper,) = rows_of(release, "papers_full")
    assert paper["decided_at"] is None


def test_scores_have_their_changes_and_versions_their_evidence(tmp_path: Path) -> None:
    change = ScoreChange(Aspect.RECOMMENDATION, "rating", 3.0, 6.0, NOON, ScoreSource.EDIT)
    release = released(tmp_path, changed(Review, scores=(LAST, FIRST), score_changes=(change,), revised=True))
    (row,) = rows_of(release, "scores")
    assert (row["initial"], row["final"], row["changes"], row["changed_at"]) == (3.0, 6.0, 1, NOON)
    assert (row["initial_label"], row["final_label"], row["low"], row["high"]) == ("3: Reject", "6: Weak Accept", 1, 10)
    (version,) = rows_of(release, "versions")
    (held,) = [one for one in a_forum("f1") if isinstance(one, PaperVersion)]
    assert (version["grade"], version["deadline"], version["rule"]) == (Grade.EXACT, NOON, held.evidence.rule)
    assert version["conference"] == "iclr"


def test_reviews_are_rows_of_their_own(tmp_path: Path) -> None:
    (row,) = rows_of(released(tmp_path, a_forum("f1")), "reviews")
    assert (row["forum_id"], row["year"], row["rating"], row["confidence"]) == ("f1", 2020, 6.0, 4.0)
    assert row["sections"] == [{"kind": "summary", "field": "summary", "text": "They invent."}]
    assert [one["field"] for one in row["scores"]] == ["rating", "confidence", "soundness"]
    assert json.loads(row["extra"]) == {"code_of_conduct": "Yes"}


def test_a_withheld_paper_is_in_no_table(tmp_path: Path) -> None:
    release = released(tmp_path, [*changed(Review, readers_public=False), *a_forum("f2")])
    assert {row["forum_id"] for row in rows_of(release, "reviews")} == {"f2"}
    assert {row["forum_id"] for row in rows_of(release, "scores")} == {"f2"}
    assert {row["forum_id"] for row in rows_of(release, "papers_full") if row["reviews"]} == {"f2"}
    assert {row["forum_id"] for row in rows_of(release, "review_sft")} == {"f2"}


def test_late_posts_are_counted_but_in_no_task(tmp_path: Path) -> None:
    early = [turn(Role.REVIEWER, "f1-R1"), turn(Role.AUTHOR, "f1-answer"), turn(Role.REVIEWER, "f1-more")]
    late = [turn(Role.REVIEWER, "f1-thanks"), turn(Role.AUTHOR, "f1-late")]
    talk = conversation("f1", "R1", [*early, *(replace(one, posted_after_decision=True) for one in late)])
    talk = replace(talk, context=(ContextPost("f1-to-all", 5, posted_after_decision=True),))
    records = [talk if isinstance(one, Conversation) else one for one in a_forum("f1")]
    records += [post(f"f1-{name}", "f1", role=Role.REVIEWER, signature="R1") for name in ("more", "thanks")]
    records.append(post("f1-late", "f1"))
    release = released(tmp_path, records)
    ((one,),) = [paper["conversations"] for paper in rows_of(release, "rebuttal")]
    assert [message["content"] for message in one["messages"]] == [
        f"Words of f1-{name}." for name in ("R1", "answer", "more")
    ]
    assert (one["post_ids"], one["after_decision"]) == ([["f1-R1"], ["f1-answer"], ["f1-more"]], 3)
    (paper,) = rows_of(release, "papers_full")
    assert (paper["author_rebuttal"], paper["reviews"][0]["rebuttal"]) == ("", "Words of f1-answer.")
    (told,) = rows_of(release, "conversations")
    assert [one["posted_after_decision"] for one in told["turns"]] == [None, None, None, True, True]
    assert [one["posted_after_decision"] for one in told["context"]] == [True]


def test_later_turns_reveal_no_hidden_decision(tmp_path: Path) -> None:
    hidden = post("f1-decision", "f1", kind=PostKind.DECISION, role=Role.PROGRAM_CHAIR, readers_public=False)
    (talk,) = [one for one in a_forum("f1") if isinstance(one, Conversation)]
    turns = (talk.turns[0], replace(talk.turns[1], posted_after_decision=True))
    context = tuple(replace(beside, posted_after_decision=True) for beside in talk.context)
    release = released(tmp_path, [*changed(Conversation, turns=turns, context=context), hidden])
    (told,) = rows_of(release, "conversations")
    assert {one["posted_after_decision"] for one in (*told["turns"], *told["context"])} == {None}
