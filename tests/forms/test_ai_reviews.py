"""AI reviews are separated only if the venue itself posts them as such; no other author is treated as an AI."""

import json
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from peercorpus.conversations import build as conversations
from peercorpus.errors import VenuesFileError
from peercorpus.execution.stage import Options, no_report
from peercorpus.forms import normalise
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.enums import PostKind, Reason, Role
from peercorpus.records.papers import SetAside
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.venues.ai_reviews import SIGNERS, rate_answer
from peercorpus.venues.own_venues import read_own_venues
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

V = "Invented.cc/2026/Conference"
PAPER = f"{V}/Submission1"
SENT = 1_700_000_000_000
AI, AI_OF_PAPER, CHAIRS = f"{V}/AI_Reviewer", f"{PAPER}/AI_Reviewer", f"{V}/Program_Chairs"
ADMINISTRATOR = f"{V}/Automated_Administrator"
REVIEWER, AUTHORS = f"{PAPER}/Reviewer_AbCd", f"{PAPER}/Authors"
RATED: dict[str, Any] = {
    "summary": "Of kites.",
    "strengths": "Fast.",
    "weaknesses": "Torn.",
    "rating": "6: weak accept",
}
Json = dict[str, Any]


def note(note_id: str, tail: str, *signers: str, under: str = "paper", at: int = 0, **content: Any) -> Json:
    """A reply, or the submission `paper`."""
    is_root = note_id == "paper"
    return {
        "id": note_id,
        "forum": "paper",
        "replyto": None if is_root else under,
        "domain": V,
        "invitations": [f"{V}/-/{tail}" if is_root else f"{PAPER}/-/{tail}"],
        "signatures": list(signers),
        "readers": ["everyone"],
        "tcdate": SENT + at,
        "content": {name: {"value": value} for name, value in (content or {"comment": "Words."}).items()},
    }


ROOT = note("paper", "Submission", AUTHORS, title="On Kites", venueid=f"{V}/Submission")
REVIEW = note("review", "Official_Review", REVIEWER, **RATED)
AI_REVIEW = note("ai", "AI_Review", AI, ai_review="Claims hold.")


class Made:
    """Return the records normalised from notes, and their conversations."""

    def __init__(self, folder: Path, notes: list[Json], group: Json | None = None, own: str = "") -> None:
        folder.mkdir(parents=True)
        if own:
            (folder / "venues.toml").write_text(own, encoding="utf-8")
        with patch("secrets.token_bytes", return_value=bytes(32)), closing(Workspace(folder)) as workspace:
            with workspace.raw.transaction():
                workspace.raw.add([raw(one) for one in notes])
                if group is not None:
                    workspace.raw.add([raw({"id": V, "content": group}, RawKind.GROUP)])
            for stage in (normalise, conversations):
                stage.run(workspace, V, Options(), "ab" * 32, no_report)
            tables = workspace.tables
            self.ai_reviews = {one.ai_review_id: one for one in tables.read(AiReview, V)}
            self.reviews = {one.review_id: one for one in tables.read(Review, V)}
            self.posts = {one.post_id: one for one in tables.read(Post, V)}
            self.talks = list(tables.read(Conversation, V))
            self.left = {one.record_id: one for one in tables.read(SetAside, V)}
            self.sums = [*normalise.balance(workspace, V), *conversations.balance(workspace, V)]
        assert all(balance.holds for balance in self.sums)


def raw(one: Json, kind: RawKind = RawKind.NOTE) -> RawObject:
    return RawObject(kind, one["id"], 2, V, one.get("forum", ""), one["id"], 0, 0, "test", json.dumps(one).encode())


@pytest.mark.parametrize(
    ("invitation", "signer"),
    [
        ("AI_Review", AI),
        ("AI_Review", AI_OF_PAPER),
        ("AI_Review", CHAIRS),
        ("LLM_PDF_Feedback", ADMINISTRATOR),
        ("LLM_PDF_Response", ADMINISTRATOR),
    ],
)
def test_every_documented_kind_of_ai_review_is_recognised(tmp_path: Path, invitation: str, signer: str) -> None:
    made = Made(tmp_path / "corpus", [ROOT, REVIEW, note("ai", invitation, signer, title="T", feedback="Claims hold.")])
    ai_review = made.ai_reviews["ai"]
    assert (ai_review.kind, ai_review.role) == (PostKind.AI_REVIEW, Role.AI)
    assert ai_review.signature == signer.rpartition("/")[2]
    assert (ai_review.title, [section.text for section in ai_review.sections]) == ("T", ["Claims hold."])
    assert made.reviews.keys() == made.posts.keys() == {"review"}
    assert not made.left


@pytest.mark.parametrize(
    "signers",
    [
        (REVIEWER,),
        ("~Ada_Example1",),
        (f"{PAPER}/AI_Reviewer_x1Yz",),
        (f"{PAPER}/Reviewer_AI00",),
        ("Other.org/2026/Conference/AI_Reviewer",),
        (f"{V}-AI/AI_Reviewer",),
        (V,),
        (AI, "~Ada_Example1"),
        (f"{PAPER}/Program_Chairs",),
        (),
    ],
)
def test_a_review_not_signed_by_the_venue_is_not_an_ai_review(tmp_path: Path, signers: tuple[str, ...]) -> None:
    made = Made(tmp_path / "corpus", [ROOT, REVIEW, note("ai", "AI_Review", *signers, ai_review="Claims hold.")])
    assert not made.ai_reviews
    assert made.posts["ai"].kind is PostKind.OTHER
    assert made.posts["ai"].role is not Role.AI or signers[0] == AI
    assert made.reviews.keys() == {"review"}
    assert made.left["ai"].reason is Reason.PERSON_OR_AI


@pytest.mark.parametrize(
    "review",
    [
        note("one", "Official_Review", REVIEWER, **RATED | {"title": "AI review of On Kites"}),
        note("one", "Official_Review", REVIEWER, **RATED | {"summary": "I used ChatGPT to write this review."}),
        note("one", "Official_Review", f"{PAPER}/Reviewer_AI", **RATED),
        note("one", "Official_Review", "~AI_Reviewer1", **RATED),
        note("one", "Official_Review", f"{PAPER}/AI_Reviewer_x1Yz", **RATED),
        note("one", "Official_Review", REVIEWER, under="ai", **RATED),
    ],
)
def test_a_persons_review_is_never_an_ai_review(tmp_path: Path, review: Json) -> None:
    made = Made(tmp_path / "corpus", [ROOT, AI_REVIEW, review])
    assert made.reviews.keys() == {"one"}
    assert made.posts["one"].role is not Role.AI
    assert [reply.post_id for reply in made.ai_reviews["ai"].replies] == []


def test_a_venue_that_states_human_reviewers_is_believed(tmp_path: Path) -> None:
    group = {"review_name": {"value": "AI_Review"}, "reviewers_name": {"value": "AI_Reviewer"}}
    notes = [ROOT, note("one", "AI_Review", REVIEWER, **RATED), note("two", "AI_Review", AI_OF_PAPER, **RATED)]
    made = Made(tmp_path / "corpus", notes, group)
    assert made.reviews.keys() == {"one", "two"}
    assert not made.ai_reviews


def test_an_ais_other_posts_are_no_reviews_and_in_no_conversation(tmp_path: Path) -> None:
    notes = [
        ROOT,
        REVIEW,
        note("odd", "Official_Review", AI, **RATED),
        note("word", "Official_Comment", AI_OF_PAPER, under="review", at=1),
        note("answer", "Official_Comment", AUTHORS, under="word", at=2),
        note("own", "Official_Comment", AUTHORS, under="review", at=3),
    ]
    made = Made(tmp_path / "corpus", notes)
    assert made.reviews.keys() == {"review"}
    assert (made.posts["odd"].kind, made.posts["odd"].role) == (PostKind.OTHER, Role.AI)
    assert [turn.post_ids for talk in made.talks for turn in talk.turns] == [("review",), ("own",)]
    assert {name: row.reason for name, row in made.left.items()} == {
        "odd": Reason.PERSON_OR_AI,
        "word": Reason.OUTSIDE_CONVERSATION,
        "answer": Reason.OUTSIDE_CONVERSATION,
    }


def test_answers_and_surveys_are_kept_with_the_review(tmp_path: Path) -> None:
    survey: Json = {"share_of_valid_issues": "All", "false_claims": "Unsure", "comments": "Good.", "new_question": 3}
    closed = note("s2", "Survey", REVIEWER, under="ai", at=4, false_claims="One minor") | {"readers": [V]}
    notes = [
        *(ROOT, REVIEW, AI_REVIEW, closed),
        note("a1", "Official_Comment", AUTHORS, under="ai", at=1, title="Thanks", comment="We fixed it."),
        note("a2", "Official_Comment", AI, under="a1", at=2),
        note("s1", "Survey", AUTHORS, under="ai", at=3, **survey),
    ]
    made = Made(tmp_path / "corpus", notes)
    replies = made.ai_reviews["ai"].replies
    assert [(reply.post_id, reply.kind, reply.role) for reply in replies] == [
        ("a1", PostKind.COMMENT, Role.AUTHOR),
        ("a2", PostKind.COMMENT, Role.AI),
        ("s1", PostKind.SURVEY, Role.AUTHOR),
        ("s2", PostKind.SURVEY, Role.REVIEWER),
    ]
    assert (replies[0].title, replies[0].text, replies[0].extra) == ("Thanks", "We fixed it.", "{}")
    assert [(one.field, one.answer, one.rank, len(one.answers)) for one in replies[2].survey] == [
        ("share_of_valid_issues", "All", 5, 5),
        ("false_claims", "Unsure", None, 4),
        ("comments", "Good.", None, 0),
    ]
    assert json.loads(replies[2].extra) == {"new_question": 3}
    assert not replies[3].readers_public
    assert made.posts.keys() == {"review"}


def test_a_survey_about_a_missing_review_is_a_post_of_unknown_kind(tmp_path: Path) -> None:
    made = Made(tmp_path / "corpus", [ROOT, REVIEW, note("s", "Survey", AUTHORS, under="gone", false_claims="None")])
    assert made.posts["s"].kind is PostKind.OTHER
    assert made.left["s"].reason is Reason.OUTSIDE_CONVERSATION


def test_the_form_of_an_ai_review_gives_its_scores_their_scale(tmp_path: Path) -> None:
    made = Made(
        tmp_path / "corpus", [ROOT, REVIEW, note("ai", "AI_Review", AI, rating="6: weak accept", text="Words.")]
    )
    assert [(score.field, score.value) for score in made.ai_reviews["ai"].scores] == [("rating", 6.0)]
    assert made.ai_reviews["ai"].form_id is None


def test_a_user_can_declare_an_invitation_but_not_a_person_as_an_ai(tmp_path: Path) -> None:
    own = f'[[venue]]\nid = "{V}"\nsource = "its guide"\nwords.replies.ai_review = ["Robot_Notes"]\n'
    notes = [ROOT, REVIEW, note("ai", "Robot_Notes", AI), note("no", "Robot_Notes", REVIEWER)]
    made = Made(tmp_path / "corpus", notes, own=own)
    assert made.ai_reviews.keys() == {"ai"}
    assert made.posts["no"].kind is PostKind.OTHER
    with pytest.raises(VenuesFileError, match="only the venue's own signature"):
        read_own_venues(own.replace('replies.ai_review = ["Robot_Notes"]', 'roles.ai = ["Reviewer_"]').encode(), "f")


def _draw_forum(chance: Random) -> list[Json]:
    """A forum in which anyone answers anything."""
    notes = [ROOT, REVIEW]
    people = (REVIEWER, f"{PAPER}/Reviewer_EfGh", AUTHORS, "~Ada_Example1", f"{PAPER}/Strangers", CHAIRS, AI)
    tails = ("Official_Comment", "Rebuttal", "Official_Review", "Survey", "Meta_Review", "AI_Review", "AI_Review")
    for number in range(chance.randint(2, 12)):
        under = chance.choice(notes)["id"]
        tail = chance.choice(tails)
        content = RATED if tail == "Official_Review" else {"comment": f"Words {number}."}
        drawn = note(f"n{number:02}", tail, chance.choice(people), under=under, at=number, **content)
        if chance.random() < 0.15:
            drawn |= chance.choice(({"ddate": SENT + 99}, {"readers": [V]}))
        notes.append(drawn)
    return notes


def _is_posted_by_ai(one: Json) -> bool:
    return one["invitations"] == [f"{PAPER}/-/AI_Review"] and one["signatures"][0] in {AI, CHAIRS}


OF_PEOPLE = ("Official_Review", "Meta_Review")


def _below_ai(notes: list[Json]) -> set[str]:
    """Return the posts below an AI's review, by the test's own rule: all of them until a person's form."""
    gone = {one["id"] for one in notes if _is_posted_by_ai(one)}
    for one in notes:  # Each comes after the post it answers.
        is_persons = one["invitations"][0].endswith(OF_PEOPLE) and one["signatures"] != [AI]
        if one["replyto"] in gone and not is_persons:
            gone.add(one["id"])
    return gone


@pytest.mark.parametrize("seed", range(8))
def test_ai_reviews_change_nothing_else(tmp_path: Path, seed: int) -> None:
    notes = _draw_forum(Random(seed))
    gone = _below_ai(notes)
    made = Made(tmp_path / "with", notes)
    plain = Made(tmp_path / "without", [one for one in notes if one["id"] not in gone])
    assert {note_id for one in made.ai_reviews.values() for note_id in one.note_ids} == gone
    assert not plain.ai_reviews
    for name in ("reviews", "posts", "talks", "left"):
        assert getattr(made, name) == getattr(plain, name), name


def test_kinds_and_ranks_are_read_from_data() -> None:
    assert {"ai_review", "llm_pdf_feedback", "llm_pdf_response"} == SIGNERS.keys()
    assert rate_answer("clear_feedback", "Strongly agree").rank == 5
