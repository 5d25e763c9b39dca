"""A paper's page marks what was posted or changed after the decision, and shows scores given in words as words."""

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from explored import explored
from invented_tables import ICLR, NOON, a_forum, conversation, paper, post, review, score, text, turn, version
from peercorpus.records.enums import Aspect, AtDecision, Grade, Phase, PostKind, Role, Status
from peercorpus.records.scores import Score

AFTER = NOON + timedelta(days=2)
TAG = re.compile(r"<[^>]+>")
CONTENTS = re.compile(r'<nav class="contents".*?</nav>', re.DOTALL)
"""Return the page's table of contents."""


def words_of(page: str) -> str:
    return " ".join(unescape(TAG.sub(" ", page)).split())


def page_of(folder: Path, **of_review: Any) -> str:
    """Return the words on the page of a paper with one review and a late turn of its reviewer."""
    late = replace(turn(Role.REVIEWER, "late"), created_at=AFTER, posted_after_decision=True)
    records = [
        *a_forum("f1")[:1],
        review("f1", **of_review),
        post("f1-R1", "f1", kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1"),
        post("late", "f1", role=Role.REVIEWER, signature="R1", created_at=AFTER),
        post("aside", "f1", role=Role.PUBLIC, signature="public_1", created_at=AFTER, posted_after_decision=True),
        conversation("f1", "R1", (turn(Role.REVIEWER, "f1-R1"), late)),
    ]
    with explored(folder, {ICLR: records}) as client:
        return words_of(CONTENTS.sub("", client.get("/paper/f1").text))


def rating(value: float | None, phase: Phase, **more: Any) -> Score:
    return replace(score("rating", value, f"{value}", Aspect.RECOMMENDATION, phase), **more)


def test_turns_and_posts_after_the_decision_say_so(tmp_path: Path) -> None:
    page = page_of(tmp_path / "corpus")
    assert re.search(r"2 January 2020 Words of f1-R1\.", page)
    assert re.search(r"4 January 2020 after the decision Words of late\.", page)
    assert re.search(r"4 January 2020 after the decision Words of aside\.", page)


@pytest.mark.parametrize(
    ("state", "scores", "said"),
    [
        (AtDecision.UNCHANGED, {Phase.AT_DECISION: 6.0, Phase.FINAL: 6.0}, None),
        (AtDecision.EDITS, {Phase.AT_DECISION: 4.0, Phase.FINAL: 6.0}, "R1 changed this review after the decision."),
        (AtDecision.CHANGED_UNSEEN, {Phase.FINAL: 6.0}, "R1 changed this review after the decision; its earlier"),
        (AtDecision.POSTED_AFTER, {Phase.FINAL: 6.0}, "R1 posted this review after the decision."),
    ],
)
def test_a_score_changed_after_the_decision_shows_its_value_at_the_decision(
    tmp_path: Path, state: AtDecision, scores: dict[Phase, float], said: str | None
) -> None:
    given = tuple(rating(value, phase) for phase, value in scores.items())
    page = page_of(tmp_path / "corpus", scores=given, at_decision=state)
    assert ("after the decision" in page.partition("Conversations R1")[0]) is (said is not None)
    assert said is None or said in page
    assert ("6 4 at the decision" in page) is (state is AtDecision.EDITS)


def test_a_verbal_score_is_shown_at_the_top_of_its_conversation(tmp_path: Path) -> None:
    words = {"low": None, "high": None, "answers": ("Reject", "Accept"), "rank": 2, "label": "Accept"}
    given = (
        rating(None, Phase.INITIAL, **words | {"rank": 1, "label": "Reject"}),
        rating(None, Phase.FINAL, **words),
    )
    page = page_of(tmp_path / "corpus", scores=given)
    assert "2 turns rating Reject → Accept" in page
    assert "not known" not in page.partition("Versions")[0]


def test_an_unrecognised_status_is_unknown_and_shown_verbatim(tmp_path: Path) -> None:
    with explored(
        tmp_path / "corpus", {ICLR: [paper("f1", status=Status.UNKNOWN, decision="Major revision")]}
    ) as client:
        page = words_of(client.get("/paper/f1").text)
        found = client.get("/?status=unknown").text
    assert "Unknown" in page
    assert "Decision: Major revision" in page
    assert "/paper/f1" in found


def test_a_text_that_the_reviewers_may_have_read_is_not_called_a_later_one(tmp_path: Path) -> None:
    perhaps = replace(version("f1", "aa", Grade.UNAVAILABLE), is_initial=False)
    with explored(tmp_path / "corpus", {ICLR: [paper("f1"), perhaps, text("aa", "# Kites")]}) as client:
        page, read = (words_of(client.get(f"/{kind}/f1").text) for kind in ("paper", "text"))
    assert "Read the paper (not known to be what the reviewers read)" in page
    assert (
        "Not known to be the version the reviewers read: it may be a later one. Its version: version not known." in read
    )
