"""The kind of a reply whose invitation has an unknown name follows from its place, its signer and its content."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invented_posts import post
from peercorpus.conversations.build import build_conversations
from peercorpus.forms.reply_kinds import find_reply_kind, find_small_forms, is_unknown_name, learn_roles
from peercorpus.forms.vocabulary import VenueVocabulary, read_words
from peercorpus.openreview.objects import Note, invitation_name
from peercorpus.records.enums import ConversationKind, PostKind, Role
from peercorpus.venues.committees import find_role
from peercorpus.workspace.raw_store import RawKind
from raw_forums import PAPER, Normalised, V, raw, v2

WORDS = VenueVocabulary()
SIGNERS = {
    "Authors": Role.AUTHOR,
    "Reviewer_A1bC": Role.REVIEWER,
    "Reviewer_B2cD": Role.REVIEWER,
    "Area_Chair_X1yZ": Role.AREA_CHAIR,
    "Program_Chairs": Role.PROGRAM_CHAIR,
    "Ethics_Reviewer_E1fG": Role.ETHICS_REVIEWER,
    "~Ada_Example1": Role.PUBLIC,
}
ELEMENTS = ("Reply", "Rebuttal", "Author", "Feedback", "Second", "Response", "Round", "2", "Discussion", "Note")
NAMES = (
    st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=4)
    .map("_".join)
    .filter(lambda name: is_unknown_name(name, WORDS))
)


def _note(name: str, signer: str, reply_to: str, content: dict[str, Any]) -> Note:
    group = "" if "~" in signer else f"{V}/Submission1/"
    return Note(
        id="x",
        forum="f",
        replyto=reply_to,
        invitations=[f"{V}/Submission1/-/{name}"],
        signatures=[group + signer],
        readers=["everyone"],
        content={field: {"value": answer} for field, answer in content.items()},
    )


def _kind(name: str, signer: str, reply_to: str = "f", **content: Any) -> PostKind:
    return find_reply_kind(_note(name, signer, reply_to, content), V, WORDS, frozenset())


@given(
    st.lists(st.tuples(NAMES, st.sampled_from(sorted(SIGNERS))), min_size=1, max_size=6),
    st.sampled_from(["Official_Review", "Some_Remark"]),
)
def test_replies_join_their_reviewers_conversation(chain: list[tuple[str, str]], top: str) -> None:
    content = {"review": "Kites fly."} if top == "Official_Review" else {"comment": "Kites fly."}
    first = _kind(top, "Reviewer_A1bC", **content)
    posts = [post("r", 0, (Role.REVIEWER, "Reviewer_A1bC"), kind=first)]
    for day, (name, signer) in enumerate(chain, 1):
        kind = _kind(name, signer, posts[-1].post_id, comment="Words.")
        posts.append(post(f"x{day}", day, (SIGNERS[signer], signer), posts[-1].post_id, kind=kind))
    talks, left = build_conversations(posts)
    (talk,) = (talk for talk in talks if talk.reviewer == "Reviewer_A1bC")
    assert [post_id for turn in talk.turns for post_id in turn.post_ids] == [one.post_id for one in posts]
    assert left == []


@given(NAMES, st.sampled_from(["Area_Chair_X1yZ", "Program_Chairs", "Ethics_Reviewer_E1fG", "~Ada_Example1"]))
def test_others_posts_join_no_review(name: str, signer: str) -> None:
    review = post("r", 0, (Role.REVIEWER, "Reviewer_A1bC"))
    notice = post("x", 1, (SIGNERS[signer], signer), kind=_kind(name, signer, comment="Words.", rating="3: weak"))
    talks, left = build_conversations([review, notice])
    of_reviewers = [talk for talk in talks if talk.kind is ConversationKind.REVIEW]
    assert [turn.post_ids for talk in of_reviewers for turn in talk.turns] == [("r",)]
    assert [one.post_id for one, _, _ in left] == ["x"]


@given(NAMES, st.sampled_from(["Area_Chair_X1yZ", "Program_Chairs", "Ethics_Reviewer_E1fG", "~Ada_Example1"]))
def test_others_forms_are_no_comments(name: str, signer: str) -> None:
    assert _kind(name, signer, "r", recommendation="Reject", metareview="Kites fall.") is PostKind.OTHER
    assert _kind(name, signer, "r", metareview="Kites fall.") is PostKind.OTHER
    assert _kind(name, signer, "r", rating_of_review=2, comment="Too short.") is PostKind.OTHER


@pytest.mark.parametrize("name", ["Review_Round_2", "First_Round_Review", "Second_Look", "Phase_Two"])
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"review": "Kites fly.", "rating": "6: weak accept"}, PostKind.REVIEW),
        ({"rating": 6}, PostKind.REVIEW),
        ({"strengths": "It flies."}, PostKind.REVIEW),
        ({"summary": "Kites.", "questions": "Why?"}, PostKind.REVIEW),
        ({"title": "A question", "questions": "Why?"}, PostKind.COMMENT),
        ({"comment": "Kites fly."}, PostKind.COMMENT),
    ],
)
def test_answers_make_a_review(name: str, content: dict[str, Any], kind: PostKind) -> None:
    assert _kind(name, "Reviewer_A1bC", **content) is kind
    assert _kind(name, "Reviewer_A1bC", "r", **content) is PostKind.COMMENT
    assert _kind(name, "Area_Chair_X1yZ", **content) is PostKind.OTHER
    apart = PostKind.AI_REVIEW if kind is PostKind.REVIEW else kind
    assert _kind(f"AI_{name}", "Reviewer_A1bC", **content) is apart
    assert _kind(name, "AI_Reviewer", **content) is (apart if apart is PostKind.AI_REVIEW else PostKind.OTHER)


def test_the_venues_fields_make_a_review() -> None:
    note = _note("Second_Look", "Reviewer_A1bC", "f", {"lift": "High.", "drag": "Low.", "comment": "Fine."})
    assert find_reply_kind(note, V, WORDS, frozenset({"lift", "drag"})) is PostKind.REVIEW
    assert find_reply_kind(note, V, WORDS, frozenset({"lift", "comment"})) is PostKind.COMMENT


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"rebuttal": "We thank all reviewers.", "pdf": "/pdf/0a1b.pdf"}, PostKind.COMMENT),
        ({"summary_of_changes": "A new figure."}, PostKind.COMMENT),
        ({"claims": "Yes", "code": "No", "limitations": "See there."}, PostKind.OTHER),
    ],
)
def test_authors_posts_are_comments(content: dict[str, Any], kind: PostKind) -> None:
    assert _kind("Author_Statement", "Authors", **content) is kind


def test_an_edit_named_as_a_note_stays_unknown() -> None:
    assert _kind("Official_Review/AnonReviewer3/Revision", "AnonReviewer3", rating=5) is PostKind.OTHER


def test_the_users_own_word_for_a_name_counts() -> None:
    note = _note("Outlook", "Reviewer_A1bC", "f", {"rating": 5})
    assert find_reply_kind(note, V, VenueVocabulary(kinds={"outlook": PostKind.OTHER}), frozenset()) is PostKind.OTHER


def test_second_rounds_have_their_own_form(tmp_path: Path) -> None:
    offered = {"value": {"param": {"type": "string", "enum": ["1: falls", "2: flies"]}}}
    asked = {"rating": offered, "review": {"value": {"param": {"type": "string"}}}}
    form = {"id": f"{V}/-/Round_2_Look", "edit": {"invitation": {"edit": {"note": {"content": asked}}}}}
    review = v2("r", "Round_2_Look", "Reviewer_A1bC", content={"rating": "2: flies", "review": "Kites fly."})
    found = Normalised(tmp_path / "w", [PAPER, review], raw(form, RawKind.INVITATION))
    assert [(one.form_id, one.scores[0].offered) for one in found.reviews] == [(f"{V}/-/Round_2_Look", (1.0, 2.0))]
    assert all(one.holds for one in found.sums)


COMMITTEES = ["Technical_Reviewer", "Program_Committee", "Emergency_Reviewer", "Kite_Expert", "Juror", "Second_Board"]


@given(st.sampled_from(COMMITTEES), st.from_regex(r"[A-Za-z0-9]{4}", fullmatch=True), NAMES)
def test_who_reviews_is_a_reviewer(committee: str, member: str, name: str) -> None:
    signer = f"{committee}_{member}"
    review = _note(name, signer, "f", {"review": "Kites fly.", "rating": "6: weak accept"})
    word = _note(name, f"{committee}_z9Zz", "r", {"comment": "Yes.", "more": "No."})
    kind = find_reply_kind(review, V, WORDS, frozenset())
    assert kind is PostKind.REVIEW
    words = learn_roles([(kind, review), (PostKind.OTHER, word)], WORDS)
    assert [words.role(one) for one in (signer, f"{committee}_z9Zz")] == [Role.REVIEWER] * 2
    assert find_reply_kind(word, V, words, frozenset()) is PostKind.COMMENT


def test_who_writes_a_meta_review_is_a_chair() -> None:
    note = _note("Meta_Review", "Track_Lead_x1Yz", "f", {"metareview": "Kites fly.", "recommendation": "Accept"})
    words = learn_roles([(PostKind.META_REVIEW, note)], WORDS)
    assert words.role("Track_Lead_x1Yz") is Role.AREA_CHAIR
    verdict = _note("Summary_of_All", "Track_Lead_x1Yz", "f", {"recommendation": "Accept", "comment": "Fine."})
    rated = _note("Summary_of_All", "Track_Lead_x1Yz", "f", {"recommendation": "8: accept", "metareview": "Fine."})
    for one in (verdict, rated):
        assert find_reply_kind(one, V, WORDS, frozenset()) is PostKind.OTHER


def test_accounts_show_no_role() -> None:
    for signature in ("~Ada_Example1", f"{V}/Submission1/Friends", f"{V}/Board_x1Yz"):
        note = Note(id="x", forum="f", replyto="f", signatures=[signature], readers=["everyone"])
        assert learn_roles([(PostKind.REVIEW, note)], WORDS) is WORDS


@pytest.mark.parametrize(
    ("signer", "role"),
    [
        ("Technical_Reviewer_x1Yz", Role.REVIEWER),
        ("Emergency_Reviewers", Role.REVIEWER),
        ("Program_Committee_x1Yz", Role.REVIEWER),
        ("Senior_Program_Committee_x1Yz", Role.AREA_CHAIR),
        ("Technical_Area_Chair_x1Yz", Role.AREA_CHAIR),
        ("Technical_Senior_Area_Chairs", Role.SENIOR_AREA_CHAIR),
        ("Meta_Reviewer_x1Yz", Role.AREA_CHAIR),
        ("Program_Committee_Chairs", Role.PROGRAM_CHAIR),
        ("Ethics_Reviewer_x1Yz", Role.ETHICS_REVIEWER),
    ],
)
def test_names_of_committees_show_roles(signer: str, role: Role) -> None:
    assert WORDS.role(signer) is role


def test_lists_of_roles_name_committees() -> None:
    said = {
        "reviewers_name": "Area_Chairs",
        "reviewer_roles": ["Area_Chairs", "Kite_Jurors"],
        "submission_reviewer_roles": ["Flyers"],
        "area_chair_roles": ["Judges"],
        "submission_area_chair_roles": ["Wind_Judges"],
    }
    content = {name: {"value": value} for name, value in said.items()}
    words = read_words(json.dumps({"id": V, "content": content}).encode())
    for signer in ("Area_Chair_x1Yz", "Kite_Juror_x1Yz", "Kite_Jurors", "Flyer_x1Yz"):
        assert words.role(signer) is Role.REVIEWER
    for signer in ("Judge_x1Yz", "Wind_Judge_x1Yz", "Wind_Judges"):
        assert words.role(signer) is Role.AREA_CHAIR


def test_reviews_of_an_unknown_committee_are_read(tmp_path: Path) -> None:
    content = {"review": "Kites fly.", "rating": "6: weak accept"}
    notes = [
        v2("a", "First_Round_Review", "Kite_Expert_K1aa", content=content),
        v2("b", "Official_Review", "Kite_Expert_K2bb", content=content),
        v2("c", "Official_Comment", "Kite_Expert_K3cc", content={"comment": "I agree."}),
        v2("d", "Official_Comment", "Authors", content={"title": "To expert K1aa", "comment": "We agree."}),
    ]
    found = Normalised(tmp_path / "w", [PAPER, *notes])
    assert sorted(one.reviewer for one in found.reviews) == ["Kite_Expert_K1aa", "Kite_Expert_K2bb"]
    assert (found.posts["c"].role, found.posts["c"].signature) == (Role.REVIEWER, "Kite_Expert_K3cc")
    assert found.posts["d"].addressed_to == ("Kite_Expert_K1aa",)


def test_a_review_posted_twice_is_one_review(tmp_path: Path) -> None:
    content = {"review": "Kites fly.", "rating": "6: weak accept"}
    notes = [v2(note_id, "Official_Review", "Reviewer_A1bC", content=content) for note_id in ("a", "b")]
    notes += [v2("c", "Official_Review", "Reviewer_B2cD", content=content)]
    found = Normalised(tmp_path / "w", [PAPER, *notes])
    assert [one.review_id for one in found.reviews] == ["a", "c"]
    assert [found.posts[one].kind for one in "abc"] == [PostKind.REVIEW, PostKind.COMMENT, PostKind.REVIEW]
    assert found.posts["b"].text == found.posts["a"].text
    assert all(one.holds for one in found.sums)


SMALL: list[tuple[str, dict[str, str]]] = [
    ("Score_Update", {"final_score": "8: accept"}),
    ("Review_Confidence_Check", {"confidence": "4"}),
    ("Reviewer_Checklist", {"soundness": "3", "comment": "done"}),
]


@pytest.mark.parametrize(("name", "content"), SMALL)
def test_a_small_form_is_a_comment(name: str, content: dict[str, str]) -> None:
    def post(note_id: str, invitation: str, fields: dict[str, str]) -> Note:
        return Note(
            id=note_id,
            forum="p",
            replyto="p",
            invitations=[f"V/2030/Submission1/-/{invitation}"],
            signatures=["V/2030/Submission1/Reviewer_aB1c"],
            content={field: {"value": answer} for field, answer in fields.items()},
        )

    review = post("r", "Official_Review", {"weaknesses": "No wind.", "rating": "6"})
    second = post("s", "Review_Round_2", {"weaknesses": "Still no wind.", "rating": "6"})
    small = post("c", name, content)
    words = VenueVocabulary()
    kinds: list[tuple[PostKind | None, Note]] = [(PostKind.REVIEW, note) for note in (review, second, small)]
    assert [kind for kind, _ in find_small_forms(kinds, words)] == [PostKind.REVIEW, PostKind.REVIEW, PostKind.COMMENT]
    alone = PostKind.COMMENT if name == "Score_Update" else PostKind.REVIEW
    assert [kind for kind, _ in find_small_forms(kinds[2:], words)] == [alone]


ROUNDS = [("First_Round_Review", {"rating": 6}), ("Round_2_Review", {"rating": 7}), ("Final_Review", {"rating": 8})]
BESIDE = [
    ("Score_Update", {"rating": 8}),
    ("Rating_Change", {"rating": 8, "comment": "All is well."}),
    ("Revised_Score", {"rating": 5}),
    ("Post_Rebuttal_Rating", {"rating": 5}),
    ("Confidence_Check", {"confidence": 4}),
]


@given(st.lists(st.sampled_from(ROUNDS + BESIDE), min_size=1, max_size=5, unique_by=str), st.booleans())
def test_new_ratings_alone_are_reviews(forms: list[tuple[str, dict[str, Any]]], is_other_deleted: bool) -> None:
    notes = [_note(name, "Reviewer_A1bC", "f", content) for name, content in forms]
    if is_other_deleted:
        gone = _note("First_Look", "Reviewer_A1bC", "f", {})
        gone.ddate, gone.content = 1, None
        notes.append(gone)
    kinds = [(find_reply_kind(note, V, WORDS, frozenset()), note) for note in notes]
    found = [
        invitation_name(note.created_by) for kind, note in find_small_forms(kinds, WORDS) if kind is PostKind.REVIEW
    ]
    rounds = [name for name, _ in forms if name in dict(ROUNDS)]
    if rounds:
        assert found == rounds
    else:
        assert not {"Score_Update", "Rating_Change", "Revised_Score"} & set(found)


def test_an_update_survives_a_deleted_review(tmp_path: Path) -> None:
    for number, gone in enumerate(["Official_Review", "First_Round_Review"]):
        review = v2("r", gone, "Reviewer_A1bC") | {"ddate": 1, "content": None}
        update = v2("u", "Score_Update", "Reviewer_A1bC", content={"rating": 8})
        found = Normalised(tmp_path / str(number), [PAPER, review, update])
        assert "u" not in [one.review_id for one in found.reviews]
        assert (found.posts["u"].kind, found.posts["u"].extra) == (PostKind.COMMENT, '{"rating":8}')
        assert all(one.holds for one in found.sums)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Emergency_Ethics_Reviewer_ab12", Role.ETHICS_REVIEWER),
        ("Ethics_Committee_ab12", Role.ETHICS_REVIEWER),
        ("Program_Committee_Chair_ab12", Role.PROGRAM_CHAIR),
        ("Program_Committee_ab12", Role.REVIEWER),
        ("Associate_Editor_ab12", Role.AREA_CHAIR),
        ("Emergency_Reviewer_ab12", Role.REVIEWER),
        ("Ethics_Meta_Reviewer", Role.ETHICS_REVIEWER),
        ("Ethics_Meta_Reviewer_ab12", Role.ETHICS_REVIEWER),
        ("Ethics_Track_Reviewer_ab12", Role.REVIEWER),
        ("Steering_Chair", Role.PROGRAM_CHAIR),
        ("General_Co_Chairs", Role.PROGRAM_CHAIR),
        ("Reviewer_Coordinator", Role.UNKNOWN),
        ("Reviewers_Liaison_ab12", Role.UNKNOWN),
        ("Reviewer_Selection_Committee", Role.UNKNOWN),
        ("Head_of_Reviewers", Role.UNKNOWN),
        ("Program_Committee_Secretary_ab12", Role.UNKNOWN),
        ("Reviewer_abc", Role.REVIEWER),
        ("Reviewer_2_ab12", Role.REVIEWER),
        ("Reviewer_Lead", Role.REVIEWER),  # Four random characters.
    ],
)
def test_the_rarer_role_in_a_name_counts(name: str, role: Role) -> None:
    assert find_role(name) is role


OFFICES = ["Steering_Chair", "Reviewer_Coordinator", "Section_Editor", "Workshop_Organiser", "Review_Administrator"]


@given(st.sampled_from(OFFICES), st.from_regex(r"[A-Za-z0-9]{4}", fullmatch=True), NAMES)
def test_who_holds_office_is_no_reviewer(office: str, member: str, name: str) -> None:
    group = {"id": V, "content": {"reviewers_name": {"value": "Reviewers"}}}
    words = read_words(json.dumps(group).encode())
    signer = f"{office}_{member}"
    rated = _note(name, signer, "f", {"review": "Kites fly.", "rating": "6: weak accept"})
    assert find_reply_kind(rated, V, words, frozenset()) is PostKind.OTHER
    learned = learn_roles([(PostKind.REVIEW, _note("Official_Review", signer, "f", {"rating": 6}))], words)
    assert learned.role(signer) is not Role.REVIEWER


def test_reviews_signed_together_differ(tmp_path: Path) -> None:
    notes = [
        v2("a", "Official_Review", "Reviewers", content={"review": "Kites fly.", "rating": 6}),
        v2("b", "Official_Review", "Reviewers", content={"review": "Kites fall.", "rating": 3}),
        v2("c", "Official_Comment", "Reviewers", content={"comment": "We agree."}) | {"replyto": "b"},
        v2("d", "Official_Review", "Program_Chairs", content={"review": "Kites may fly.", "rating": 5}),
    ]
    found = Normalised(tmp_path / "w", [PAPER, *notes])
    assert {one.review_id: one.reviewer for one in found.reviews} == {
        "a": "unknown_1",
        "b": "unknown_2",
        "d": "Program_Chairs",
    }
    talks, left = build_conversations(list(found.posts.values()))
    of_reviewers = {talk.reviewer: [turn.post_ids for turn in talk.turns] for talk in talks if talk.kind == "review"}
    assert of_reviewers == {"unknown_1": [("a",)], "unknown_2": [("b",), ("c",)]}
    assert left == []


def test_a_shared_small_form_stands_alone() -> None:
    review = _note("Official_Review", "Reviewers", "f", {"weaknesses": "No wind.", "rating": 6})
    other = _note("First_Impression", "Reviewers", "f", {"rating": 3})
    kinds: list[tuple[PostKind | None, Note]] = [(PostKind.REVIEW, review), (PostKind.REVIEW, other)]
    assert find_small_forms(kinds, WORDS) == kinds
