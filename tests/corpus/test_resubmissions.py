"""Linked submissions are the same work, and each work's submissions are listed in order, with public ratings only."""

from datetime import timedelta
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import peercorpus
from invented_tables import ICLR, ICML, NOON, invented, link, paper, review, score
from peercorpus.corpus.resubmissions import group_into_works, make_attempt, number_attempts
from peercorpus.records.enums import Aspect, Phase, Status
from peercorpus.workspace.raw_store import RawKind, RawObject

LATER = NOON + timedelta(days=120)
IDS = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(IDS, IDS)))
def test_linked_papers_are_one_work(pairs: list[tuple[str, str]]) -> None:
    works = group_into_works(pairs)
    reachable = {one: {one} for pair in pairs for one in pair}
    for _ in pairs:
        for one, other in pairs:
            both = reachable[one] | reachable[other]
            for each in both:
                reachable[each] = reachable[each] | both
    assert works == {one: min(others) for one, others in reachable.items()}
    assert group_into_works([(other, one) for one, other in reversed(pairs)]) == works


def submission(forum_id: str, **other: object) -> dict[str, object]:
    row = {"forum_id": forum_id, "venue_id": ICLR, "conference": "iclr", "year": 2020, "created_at": NOON}
    return {**row, "status": "rejected", "decision": "Reject", **other}


def test_submissions_of_a_work_are_numbered() -> None:
    tries = [
        make_attempt(submission("a", created_at=LATER), []),
        make_attempt(submission("c"), []),
        make_attempt(submission("z"), []),
    ]
    found = number_attempts(tries, {"a": "a", "c": "a", "z": "z"})
    assert [(one.work_id, one.try_number, one.tries, one.forum_id) for one in found] == [
        ("a", 1, 2, "c"),
        ("a", 2, 2, "a"),
    ]
    assert number_attempts(tries[:1], {"a": "a"}) == []


def test_the_order_is_not_guessed() -> None:
    tries = [make_attempt(submission("c", created_at=None), []), make_attempt(submission("b"), [])]
    found = number_attempts(tries, {"c": "a", "b": "a"})
    assert [(one.work_id, one.try_number, one.forum_id) for one in found] == [("b", None, "b"), ("b", None, "c")]


def test_a_corpus_gives_its_links(tmp_path: Path) -> None:
    first = score("rating", 3.0, "3: reject", Aspect.RECOMMENDATION, Phase.INITIAL)
    scores = (first, score("rating", 5.0, "5", Aspect.RECOMMENDATION), score("confidence", 4.0, "4", Aspect.CONFIDENCE))
    venues = {
        ICLR: [
            paper("b", status=Status.REJECTED, decision="Reject"),
            paper("other"),
            review("b", "R1", scores=scores),
            review("b", "R2", readers_public=False),
            review("b", "R3", deleted=True),
            review("b", "R4", scores=()),
            review("other"),
        ],
        ICML: [paper("a", ICML, created_at=LATER), review("a", "R1", ICML), link("a", ICML, "b")],
    }
    with invented(tmp_path / "corpus", venues) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "b", 2, ICLR, "b", "b", 0, 0, "test", b"{}")])
    corpus = peercorpus.open(tmp_path / "corpus")
    links = corpus.links().collect()
    assert links.select("forum_id", "earlier_id", "kind").rows() == [("a", "b", "resubmission")]
    tries = corpus.tries().collect()
    columns = ("work_id", "try_number", "tries", "forum_id", "venue_id", "year", "status", "ratings")
    assert tries.select(columns).rows() == [
        ("a", 1, 2, "b", ICLR, 2020, "rejected", [5.0]),
        ("a", 2, 2, "a", ICML, 2023, "accepted", [6.0]),
    ]
    assert tries.schema["unified"] == pl.List(pl.Float64)
