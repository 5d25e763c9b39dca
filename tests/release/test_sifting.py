"""What remains of a paper's decision when a post that announced it is taken down."""

from dataclasses import replace

import pytest

from invented_tables import a_forum, paper, post, review
from peercorpus.corpus.forums import Forum
from peercorpus.corpus.public_forums import PublicFilter, keep_public
from peercorpus.corpus.takedown import Takedown
from peercorpus.records.enums import PostKind, Role
from peercorpus.records.papers import Conflict, Paper
from peercorpus.records.reviews import Post

META, RULING = "The kites of this paper fly.", "All agree."
"""Return the words of the meta-review, and of the decision."""


def sifted(comment: str | None, *gone: str, has_decision: bool = True) -> Paper:
    """Return what remains without these posts of a paper with a meta-review and, by default, a decision."""
    chair = {"role": Role.AREA_CHAIR, "signature": "Area_Chair_1"}
    said = [post("meta", "f", kind=PostKind.META_REVIEW, text=f"### metareview\n\n{META}", **chair)]
    if has_decision:
        said.append(post("ruling", "f", kind=PostKind.DECISION, text=RULING, **chair))
    posts = [*(record for record in a_forum("f") if isinstance(record, Post)), *said]
    kept = PublicFilter(Takedown(posts=frozenset(gone))).sift(
        Forum(paper("f", decision_comment=comment), [], posts, [], [])
    )
    assert kept is not None
    return kept.paper


def test_a_taken_down_meta_reviews_text_is_removed_from_the_decisions_comment() -> None:
    found = sifted(META, "meta")
    assert found.decision_comment is None, "words that are taken down are published as the comment of the decision"
    assert (found.decision, found.decided_at) == ("Accept (Poster)", paper("f").decided_at)


def test_a_decisions_own_comment_is_kept_without_the_meta_review() -> None:
    assert sifted(RULING, "meta").decision_comment == RULING


@pytest.mark.parametrize("gone", [("ruling",), ("ruling", "meta")])
def test_a_taken_down_decision_is_not_revealed_by_the_paper(gone: tuple[str, ...]) -> None:
    found = sifted(RULING, *gone)
    assert (found.decision, found.decided_at, found.decision_comment) == (None, None, None)


def test_a_takedown_of_the_only_source_of_a_decision_removes_it() -> None:
    found = sifted(META, "meta", has_decision=False)
    assert (found.decision, found.decided_at, found.decision_comment) == (None, None, None)


def test_conflicts_between_records_are_removed_with_their_review_or_decision() -> None:
    records = ("reviewbench:f", "re2-reviews:f")
    fields = ("title", "decision", "rating (final) of R1", "rating (initial) of R2", "reviewer")
    conflicts = tuple(Conflict(name, "R1" if name == "reviewer" else "6", "5", *records) for name in fields)
    reviews = [review("f", "R1"), review("f", "R2")]
    said = [post("ruling", "f", kind=PostKind.DECISION, text=RULING, role=Role.PROGRAM_CHAIR)]
    whole = Forum(paper("f", conflicts=conflicts), reviews, said, [], [])

    def left_without(*gone: str) -> list[str]:
        kept = PublicFilter(Takedown(posts=frozenset(gone))).sift(whole)
        assert kept is not None
        return [one.field for one in kept.paper.conflicts]

    assert left_without() == [*fields]
    assert left_without(reviews[0].review_id) == ["title", "decision", "rating (initial) of R2"]
    assert left_without(reviews[1].review_id) == ["title", "decision", "rating (final) of R1", "reviewer"]
    assert "decision" not in left_without("ruling")
    hidden = keep_public(replace(whole, reviews=[replace(reviews[0], readers_public=False), reviews[1]]))
    assert [one.field for one in hidden.paper.conflicts] == ["title", "decision", "rating (initial) of R2"]
