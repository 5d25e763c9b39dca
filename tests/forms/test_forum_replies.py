"""What the numbers of replies prove about those that nobody saw."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from peercorpus.forms.forum_replies import UnseenReplies, count_unseen
from peercorpus.openreview.objects import Note, read_note
from peercorpus.records.enums import Unseen
from peercorpus.records.papers import find_unseen

V = "Invented.cc/2024/Conference"
HERE = f"{V}/Submission7/-/Official_Comment"


def reply(number: int | None, invitation: str = HERE, **more: Any) -> Note:
    return Note(id=f"{invitation} {number}", forum="p", invitations=[invitation], number=number, **more)


def root(replies: object = None) -> Note:
    details = {} if replies is None else {"details": {"replyCount": replies}}
    return read_note(json.dumps({"id": "p", "forum": "p", "number": 7} | details).encode())


@given(st.sets(st.integers(1, 30)), st.sets(st.integers(1, 30)), st.sets(st.integers(1, 30)))
def test_gaps_are_never_more_than_hidden(posted: set[int], hidden: set[int], deleted: set[int]) -> None:
    """Of replies numbered without a gap some are hidden, and some of the others deleted after they were seen."""
    numbers = range(1, max(posted, default=0) + 1)
    seen = [reply(number, ddate=1 if number in deleted else None) for number in numbers if number not in hidden]
    found = count_unseen("p", [root(), *seen], ())
    gone = len([note for note in seen if note.ddate])
    before_last = [
        number for number in numbers if number in hidden and any((note.number or 0) > number for note in seen)
    ]
    assert found == UnseenReplies(len(before_last) if seen else None, gone)


def test_each_invitation_numbers_alone() -> None:
    reviews = [reply(number, f"{V}/Submission7/-/Official_Review") for number in (1, 2, 4)]
    assert count_unseen("p", [root(), *reviews, reply(1), reply(3)], ()) == (2, 0)
    assert count_unseen("p", [root(), *reviews, reply(494, f"{V}/-/Acceptance_Decision")], ()) == (1, 0)


def test_numbers_of_the_venue_prove_nothing() -> None:
    assert count_unseen("p", [root(), reply(494, f"{V}/-/Acceptance_Decision"), reply(None)], ()) == (None, 0)


def test_a_rebuttal_numbers_its_review() -> None:
    review, rebuttal = f"{V}/Submission7/-/Official_Review", f"{V}/Submission7/Official_Review3/-/Rebuttal"
    assert count_unseen("p", [root(), reply(1, review), reply(1, rebuttal)], ()) == (1, 0)
    of_reviewer = reply(1, f"{V}/Submission7/AnonReviewer3/-/Comment")
    assert count_unseen("p", [root(), reply(1, review), of_reviewer], ()) == (0, 0)


def test_the_count_of_replies_is_a_bound() -> None:
    assert count_unseen("p", [root(5), reply(1), reply(2)], ()) == (3, 0)
    assert count_unseen("p", [root(2), reply(1), reply(4)], ()) == (2, 0)
    assert count_unseen("p", [root(1), reply(None, ddate=1)], ()) == (0, 1)
    assert count_unseen("p", [root("five"), reply(None)], ()) == (None, 0)


def test_what_is_gone_is_not_a_gap() -> None:
    assert count_unseen("p", [root(), reply(1), reply(2), reply(3)], {f"{HERE} 2"}) == (0, 1)


def test_states_are_three_and_unknown() -> None:
    assert [find_unseen(*found) for found in ((0, 0), (2, 1), (0, 1), (None, 1), (None, 0))] == [
        Unseen.NONE,
        Unseen.NOT_SHOWN,
        Unseen.DELETED,
        Unseen.DELETED,
        Unseen.UNKNOWN,
    ]


def test_an_unnumbered_note_is_no_gap() -> None:
    first, second = (Note(id=name, forum="p", invitations=[HERE]) for name in ("a", "b"))
    assert count_unseen("p", [root(), first, second, reply(3)], ()) == (0, 0)
    assert count_unseen("p", [root(), first, reply(3)], ()) == (1, 0)
