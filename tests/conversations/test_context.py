"""How a response to all reviewers is placed beside one conversation."""

from dataclasses import replace

from invented_posts import AUTHORS, OTHER, REVIEWER, post
from invented_tables import review
from peercorpus.conversations.build import build_conversations
from peercorpus.conversations.context import addressed_passages
from peercorpus.discussion.addressees import ReviewerNames

NAMES = ReviewerNames(["Reviewer_A1bC", "Reviewer_B2cD"])
TEXT = """We thank all reviewers.

**Novelty (Reviewer A1bC)**

Kites are new.

They fly.

**Speed (B2cD)**

Kites are fast.

- A1bC asked for tails.
- B2cD asked for strings."""


def concerning(text: str, reviewer: str) -> list[str]:
    return [passage for passage, named in addressed_passages(text, NAMES) if reviewer in named]


def test_passages_under_a_heading_are_found() -> None:
    assert concerning(TEXT, "Reviewer_A1bC") == [
        "**Novelty (Reviewer A1bC)**",
        "Kites are new.",
        "They fly.",
        "- A1bC asked for tails.",
    ]
    assert concerning(TEXT, "Reviewer_B2cD")[:2] == ["**Speed (B2cD)**", "Kites are fast."]
    assert concerning("Nothing of anyone.", "Reviewer_A1bC") == []


def test_reviewers_of_a_heading_apply_below() -> None:
    text = "## Reviewer A1bC\n\n**W1:**\n\nKites fly.\n\nAs B2cD said.\n\n## Others\n\nThe end."
    assert concerning(text, "Reviewer_A1bC") == ["## Reviewer A1bC", "**W1:**", "Kites fly.", "As B2cD said."]
    assert concerning(text, "Reviewer_B2cD") == ["As B2cD said."]


def test_every_passage_is_verbatim() -> None:
    assert all(passage in TEXT for passage, _ in addressed_passages(TEXT, NAMES))


def test_an_undated_post_has_no_position() -> None:
    posts = [post("A", 0, REVIEWER), post("a", 5, AUTHORS, "A"), post("all", 3, AUTHORS), post("never", 3, AUTHORS)]
    posts[3] = replace(posts[3], created_at=None)
    given = replace(review("f", "Reviewer_A1bC", review_id="A"), final_justification="It is well.")
    (talk,), _ = build_conversations(posts, [given])
    assert {one.post_id: one.before_turn for one in talk.context} == {"all": 1, "never": None}


def test_a_response_stands_where_it_appeared() -> None:
    posts = [
        post("A", 0, REVIEWER),
        post("B", 1, OTHER),
        post("a", 2, AUTHORS, "A"),
        post("all", 3, AUTHORS),
        post("r", 4, REVIEWER, "a"),
        post("b", 5, AUTHORS, "B"),
    ]
    conversations, _ = build_conversations(posts)
    assert [[(one.post_id, one.before_turn) for one in talk.context] for talk in conversations] == [
        [("all", 2)],
        [("all", 1)],
    ]


def test_parts_of_a_response_are_ordered() -> None:
    parts = [post("2", 3, AUTHORS, title="To all (2/2)"), post("1", 4, AUTHORS, title="To all (1/2)")]
    conversations, _ = build_conversations([post("A", 0, REVIEWER), *parts])
    assert [one.post_id for one in conversations[0].context] == ["1", "2"]
