"""Reviews that an AI wrote or may have written are separated, by invitation and signature; people's are not."""

import json
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from random import Random
from string import ascii_letters, digits
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from peercorpus.conversations import build as conversations
from peercorpus.errors import VenuesFileError
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.forms import normalise
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.enums import AiCertainty, PostKind, Reason, Role
from peercorpus.records.papers import SetAside
from peercorpus.records.reviews import Conversation, Post, Review
from peercorpus.release.reviews_json import card_entry
from peercorpus.release.task_tables import review_task
from peercorpus.venues.ai_reviews import SIGNERS, holds_model_chat, may_sign_for_ai, names_ai, rate_answer, signs_for_ai
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
                stage.run(workspace, V, BuildRequest(), "ab" * 32, no_report)
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
    "signers", [(REVIEWER,), ("~Ada_Example1",), (f"{PAPER}/Reviewer_AI00",), (V,), (f"{PAPER}/Program_Chairs",), ()]
)
def test_an_invitation_for_ai_alone_proves_no_ai(tmp_path: Path, signers: tuple[str, ...]) -> None:
    made = Made(tmp_path / "corpus", [ROOT, REVIEW, note("ai", "AI_Review", *signers, ai_review="Claims hold.")])
    assert not made.ai_reviews
    assert made.posts["ai"].kind is PostKind.OTHER
    assert made.posts["ai"].role is not Role.AI
    assert made.reviews.keys() == {"review"}
    assert made.left["ai"].reason is Reason.PERSON_OR_AI


@pytest.mark.parametrize(
    "review",
    [
        note("one", "Official_Review", REVIEWER, **RATED | {"title": "AI review of On Kites"}),
        note("one", "Official_Review", REVIEWER, **RATED | {"summary": "I used ChatGPT to write this review."}),
        note("one", "Official_Review", f"{PAPER}/Reviewer_aI1x", **RATED),
        note("one", "Official_Review", f"{PAPER}/Reviewer_NnAi", **RATED),
        note("one", "Official_Review", "~AI_Reviewer1", **RATED),
        note("one", "Official_Review", REVIEWER, under="ai", **RATED),
    ],
)
def test_a_persons_review_is_never_an_ai_review(tmp_path: Path, review: Json) -> None:
    made = Made(tmp_path / "corpus", [ROOT, AI_REVIEW, review])
    assert made.reviews.keys() == {"one"}
    assert made.posts["one"].role is not Role.AI
    assert [reply.post_id for reply in made.ai_reviews["ai"].replies] == []


POSSIBLE_SIGNERS = (
    (f"{PAPER}/Reviewer_AI",),
    (f"{PAPER}/Reviewer_GPT4",),
    (f"{PAPER}/Reviewer_AIRev1",),
    (f"{PAPER}/Reviewer_LLaMA-3",),
    (f"{PAPER}/AI_Reviewer_x1Yz",),
    (f"{PAPER}/LLM_Reviewers/Reviewer_x1Yz",),
    (f"{PAPER}/aireviewer2",),
    (f"{PAPER}/Review_Assistant",),
    (f"{V}/Claude_Opus_Reviewer",),
    ("Other.org/2026/Conference/AI_Reviewer",),
    (AI, "~Ada_Example1"),
)


@pytest.mark.parametrize("invitation", ["Official_Review", "AI_Review"])
@pytest.mark.parametrize("signers", POSSIBLE_SIGNERS)
def test_a_possible_ai_is_no_person(tmp_path: Path, invitation: str, signers: tuple[str, ...]) -> None:
    notes = [ROOT, REVIEW, note("ai", invitation, *signers, **RATED), note("answer", "Rebuttal", AUTHORS, under="ai")]
    made = Made(tmp_path / "corpus", notes)
    assert made.reviews.keys() == made.posts.keys() == {"review"}
    assert made.ai_reviews["ai"].certainty is AiCertainty.POSSIBLE
    assert [reply.post_id for reply in made.ai_reviews["ai"].replies] == ["answer"]


def test_a_models_invitation_makes_ai_possible(tmp_path: Path) -> None:
    own = f'[[venue]]\nid = "{V}"\nsource = "its guide"\nwords.replies.review = ["Stated_LLM_Review"]\n'
    notes = [ROOT, note("person", "Stated_LLM_Review", REVIEWER, **RATED)]
    assert Made(tmp_path / "corpus", notes, own=own).reviews.keys() == {"person"}
    notes = [ROOT, note("ai", "GPT_Review", REVIEWER, **RATED), note("two", "Final_Assessment", AI, **RATED)]
    made = Made(tmp_path / "unstated", notes)
    assert {one.ai_review_id: one.certainty for one in made.ai_reviews.values()} == {"ai": "possible", "two": "certain"}
    assert not made.reviews


AGENTS = "Agents4Science/2025/Conference"


def test_documented_ai_reviewers_are_certain() -> None:
    signers = [f"{AGENTS}/Submission11/Reviewer_AIRev{one}" for one in ("1", "2", "3", "Correctness", "RelatedWork")]
    people = [f"{AGENTS}/Submission11/Reviewer_{one}" for one in ("6vjh", "NnAi", "onBz", "AIRe", "Bot_")]
    assert all(signs_for_ai([signer], AGENTS) for signer in signers)
    assert not any(signs_for_ai([signer], AGENTS) for signer in people)
    assert not signs_for_ai([f"{PAPER}/Reviewer_AIRev1"], V)


def test_other_journals_post_certain_ai_reviews(tmp_path: Path) -> None:
    certain = Made(tmp_path / "corpus", [ROOT, REVIEW, AI_REVIEW]).ai_reviews["ai"].certainty
    assert certain is AiCertainty.CERTAIN


def test_an_ai_committee_beside_another_is_not_believed(tmp_path: Path) -> None:
    group = {"reviewers_name": {"value": "Reviewers"}, "reviewers_anon_name": {"value": "AI_Reviewer_"}}
    made = Made(
        tmp_path / "corpus", [ROOT, note("one", "Official_Review", f"{PAPER}/AI_Reviewer_x1Yz", **RATED)], group
    )
    assert made.ai_reviews["one"].certainty is AiCertainty.POSSIBLE


def test_a_stated_committee_is_believed(tmp_path: Path) -> None:
    own = f'[[venue]]\nid = "{V}"\nsource = "its guide"\nwords.roles.reviewer = ["AI_Reviewer_"]\n'
    notes = [ROOT, note("one", "Official_Review", f"{PAPER}/AI_Reviewer_x1Yz", **RATED)]
    notes += [note("two", "Official_Review", f"{PAPER}/AI_Reviewer_GPT5", **RATED)]
    made = Made(tmp_path / "corpus", notes, own=own)
    assert (list(made.reviews), list(made.ai_reviews)) == (["one"], ["two"])


GROUPS = st.sampled_from(["Reviewer_", "AnonReviewer_", "Area_Chair_", "Secondary_Area_Chair_", "Technical_Reviewer_"])
RANDOM_IDS = st.text(ascii_letters + digits, min_size=4, max_size=4).filter(
    lambda drawn: drawn.rstrip(digits) not in {"LLM", "GPT", "Bot", "LLMs", "Bots", "Grok", "Qwen", "Kimi", "GLM"}
)
NAMES = st.sampled_from(
    ["AI", "LLM", "llm", "Bot", "GPT", "ChatGPT", "GPT-4o", "Claude", "Gemini2", "Qwen", "DeepSeek"]
)
SHAPES = st.sampled_from(
    ["{ai}_Reviewer", "{ai}_Reviewers/{ai}_{id}", "Reviewer_{ai}_{id}", "{ai}_Reviewer_{id}", "Reviewer_{ai}Rev1"]
)


@given(group=GROUPS, random_id=RANDOM_IDS)
@example(group="Reviewer_", random_id="AI12")
def test_random_ids_are_never_an_ai(group: str, random_id: str) -> None:
    assert not may_sign_for_ai(f"{V}/Submission7/{group}{random_id}", V)


@given(shape=SHAPES, name=NAMES, random_id=RANDOM_IDS)
def test_names_of_models_are_found_in_any_shape(shape: str, name: str, random_id: str) -> None:
    assert may_sign_for_ai(f"{V}/Submission7/{shape.format(ai=name, id=random_id)}", V)


TRACKS = [
    *("Generative_Models_Track_", "Track_O1_", "LLM_Track_", "Robots_and_AI_Track_", "Opus_Stream_", "Agents_Topic_")
]
FIELDS = [
    *("AI_Safety_", "Trustworthy_AI_", "Robot_Learning_", "Human_AI_Interaction_", "AI4Science_"),
    "Generative_Models_",
]


@given(track=st.sampled_from(TRACKS + FIELDS), group=GROUPS, random_id=RANDOM_IDS)
def test_a_tracks_name_is_no_ai(track: str, group: str, random_id: str) -> None:
    for name in (f"{track}{group}{random_id}", f"{track}{group}".rstrip("_")):
        assert not may_sign_for_ai(f"{V}/Submission7/{name}", V)


@given(track=st.sampled_from([*TRACKS, "Main_Track_", "Track_3_"]), shape=SHAPES, name=NAMES, random_id=RANDOM_IDS)
def test_an_ai_is_found_in_any_track(track: str, shape: str, name: str, random_id: str) -> None:
    assert may_sign_for_ai(f"{V}/Submission7/{track}{shape.format(ai=name, id=random_id)}", V)


@pytest.mark.parametrize(
    "name",
    [
        *("Reviewer_o3-mini", "o1_Reviewer", "Agentic_Reviewer", "Generative_AI_Reviewer", "LLM_Agents_Reviewer"),
        *("AI_Area_Chair_x1Yz", "Emergency_AI_Reviewer", "AI_Scientist_Reviewer", "LLM_Generated_Review", "AI_Agents"),
        *("AI_Co_Reviewer", "LLM-as-Judge_Review", "AI_Reviewer_Main_Track", "GPT-4o_mini_Reviewer"),
    ],
)
def test_words_for_an_ai_are_found(name: str) -> None:
    assert names_ai(name)


@given(
    subject=st.sampled_from(["llm", "ai", "chatgpt", "model", "ai_assistant", "LLM", "language_model"]),
    chat=st.sampled_from(["interactions", "conversation", "chat", "transcript", "prompts", "chat_log", "textbox"]),
    shape=st.sampled_from(["{subject}_{chat}", "{chat}_with_{subject}", "{chat}_with_the_{subject}_used"]),
)
def test_fields_for_chats_are_found_by_name(subject: str, chat: str, shape: str) -> None:
    assert holds_model_chat(shape.format(subject=subject, chat=chat))


@pytest.mark.parametrize(
    "name", ["summary", "strengths_and_weaknesses", "model_soundness", "ai_review_score", "llm_policy", "questions"]
)
def test_other_fields_hold_no_chat(name: str) -> None:
    assert not holds_model_chat(name, name.title(), "Do not include a conversation with an LLM in your answer.")


def test_a_models_chat_is_never_shown(tmp_path: Path) -> None:
    chatted = RATED | {"llm_interactions": "Reviewer: is it new? Model: I raise my score from 3 to 6."}
    made = Made(tmp_path / "corpus", [ROOT, note("one", "Official_Review", REVIEWER, **chatted)])
    review = made.reviews["one"]
    assert [section.kind for section in review.sections if section.field == "llm_interactions"] == ["model_chat"]
    assert [score.phase for score in review.scores] == ["final"]
    said = made.posts["one"].text + "".join(turn.text for talk in made.talks for turn in talk.turns)
    said += "".join(section.text for section in review.first_sections) + read_entry(review)
    row: Json = {
        "at_decision": "unchanged",
        "updated_fields": [],
        "created_at": None,
        "revised": None,
        "review_id": "one",
    }
    row |= asdict(review) | {"sections": [asdict(section) for section in review.sections], "scores": []}
    said += review_task({"reviews": [row]})["reviews"][0]["text"]
    assert "Of kites." in said
    assert "is it new" not in said
    assert "is it new" in made.posts["one"].extra


def read_entry(review: Review) -> str:
    """The review in ReviewBench's form."""
    return json.dumps(card_entry(review, dict.fromkeys(("rating", "confidence", "rebuttal")), None), default=str)


def test_a_venue_that_states_human_reviewers_is_believed(tmp_path: Path) -> None:
    group = {"review_name": {"value": "AI_Review"}, "reviewers_name": {"value": "AI_Reviewer"}}
    notes = [ROOT, note("one", "AI_Review", REVIEWER, **RATED), note("two", "AI_Review", AI_OF_PAPER, **RATED)]
    made = Made(tmp_path / "corpus", notes, group)
    assert made.reviews.keys() == {"one", "two"}
    assert not made.ai_reviews


def test_an_ais_other_posts_stay_apart(tmp_path: Path) -> None:
    notes = [
        ROOT,
        REVIEW,
        note("odd", "Meta_Review", AI, **RATED),
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


def test_a_survey_without_review_is_other(tmp_path: Path) -> None:
    made = Made(tmp_path / "corpus", [ROOT, REVIEW, note("s", "Survey", AUTHORS, under="gone", false_claims="None")])
    assert made.posts["s"].kind is PostKind.OTHER
    assert made.left["s"].reason is Reason.OUTSIDE_CONVERSATION


def test_ai_reviews_have_their_own_form(tmp_path: Path) -> None:
    made = Made(
        tmp_path / "corpus", [ROOT, REVIEW, note("ai", "AI_Review", AI, rating="6: weak accept", text="Words.")]
    )
    assert [(score.field, score.value) for score in made.ai_reviews["ai"].scores] == [("rating", 6.0)]
    assert made.ai_reviews["ai"].form_id is None


def test_a_person_is_never_declared_ai(tmp_path: Path) -> None:
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
    name, signer = one["invitations"][0].rpartition("/")[2], one["signatures"][0]
    return signer == AI if name == "Official_Review" else name == "AI_Review" and signer in {AI, CHAIRS}


OF_PEOPLE = ("Official_Review", "Meta_Review")


def _below_ai(notes: list[Json]) -> set[str]:
    """Return the posts below an AI's review, by the test's own rule: all of them until a person's form."""
    gone = {one["id"] for one in notes if _is_posted_by_ai(one)}
    for one in notes:  # Each comes after the post it answers.
        is_persons = one["invitations"][0].endswith(OF_PEOPLE) and one["signatures"] != [AI]
        if one["replyto"] in gone and not is_persons:
            gone.add(one["id"])
    return gone


@pytest.mark.slow
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
