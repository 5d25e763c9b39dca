"""Statuses and labels in unusual words and formats: ambiguous or unknown ones are not guessed."""

import json
from typing import Any

import pytest

from peercorpus.forms import vocabulary
from peercorpus.forms.form import read_score
from peercorpus.forms.invitation_forms import derive_form
from peercorpus.forms.papers import read_paper
from peercorpus.forms.scales import is_accepting, read_number, read_scale_options, unified_scale
from peercorpus.forms.vocabulary import VenueVocabulary
from peercorpus.openreview.objects import Note
from peercorpus.records.enums import PostKind, Status

ACCEPTED, REJECTED, WITHDRAWN, UNKNOWN = Status.ACCEPTED, Status.REJECTED, Status.WITHDRAWN, Status.UNKNOWN
V = "Kites.cc/2024/Conference"


@pytest.mark.parametrize(
    ("decision", "status"),
    [
        ("The paper will be accepted", ACCEPTED),
        ("This submission can be accepted", ACCEPTED),
        ("The paper will be rejected", REJECTED),
        ("Will not be accepted", REJECTED),
        ("Won't be accepted", REJECTED),
        ("This paper can\u2019t be accepted", REJECTED),
        ("Non\u2013acceptance", REJECTED),
        ("Accept without revision", ACCEPTED),
        ("Accept with no changes", ACCEPTED),
        ("Accept (not oral)", ACCEPTED),
        ("Accept, not as an oral", ACCEPTED),
        ("Accept pending minor revisions", ACCEPTED),
        ("Accept / minor revision", ACCEPTED),
        ("Accept, later withdrawn by the authors", WITHDRAWN),
        *(
            (given, UNKNOWN)
            for given in (
                *("Accept: No", "Accept = false", "Accept (no)", "Accepted - none", "Reject: no"),
                *("Acceptance not granted", "Acceptance is not possible", "Accept not recommended"),
                *("Acceptance denied", "Acceptance has been deferred", "Acceptance pending"),
                *("Accept if space permits", "Accept (if space permits)", "Accept only if the proof is repaired"),
                *("Reject unless revised", "Accept (overridden)", "Accepted in error", "Accepted by the authors"),
                *("Not: accepted", "Accept, acknowledging that one reader would reject"),
                *("Accept? One reader wants to reject", "Accept -> perhaps reject", "Accept or reject"),
                *("Accept or major revision", "Withdrawn/Rejected", "Rejected or withdrawn"),
                *("Desk rejected / rejected", "Withdrawal denied", "Withdrawal request rejected"),
                *("Withdrawal was not granted", "Withdrawal requested", "Accept; the authors may withdraw"),
                *("Accept (withdrawal until May)", "\u4e0d accept", "\u672a\u63a5\u6536 (not decided: accept)"),
                *("Accept\u00e9 : non", "Nicht angenommen", "Kein Accept", "No aceptado"),
            )
        ),
    ],
)
def test_an_ambiguous_decision_is_unknown(decision: str, status: Status) -> None:
    assert vocabulary.status_of_decision(decision) is status


def root(**content: str) -> Note:
    answers = {name: {"value": value} for name, value in content.items()}
    return Note(id="p", forum="p", invitations=[f"{V}/-/Submission"], content=answers)


def decided(decision: str) -> tuple[PostKind, Note]:
    note = Note(id="d", forum="p", invitations=[f"{V}/Submission1/-/Decision"], tcdate=1)
    note.content = {"decision": {"value": decision}}
    return PostKind.DECISION, note


def test_a_retracted_acceptance_is_not_an_acceptance() -> None:
    paper = read_paper(root(venueid=f"{V}/Retracted_Acceptance"), V, [decided("Accept as is")], VenueVocabulary())
    assert (paper.status, paper.decision) == (UNKNOWN, "Accept as is")


def with_headings(headings: dict[str, str]) -> VenueVocabulary:
    group = {"id": V, "content": {"decision_heading_map": {"value": headings}}}
    return vocabulary.read_words(json.dumps(group).encode())


def test_headings_reject_no_revised_paper() -> None:
    words = with_headings({"Kites 2024": "Accept", "Submitted to Kites 2024": "Reject"})
    listed = root(venueid=f"{V}/Submission", venue="Submitted to Kites 2024")
    assert read_paper(listed, V, [decided("Revision Needed")], words).status is UNKNOWN
    assert read_paper(listed, V, [decided("Reject")], words).status is REJECTED
    assert read_paper(listed, V, [], words).status is REJECTED
    accepted = root(venueid=f"{V}/Submission", venue="Kites 2024")
    assert read_paper(accepted, V, [decided("Tier 1")], words).status is ACCEPTED


def test_a_mapping_from_decisions_to_headings_is_ignored() -> None:
    words = with_headings({"Reject": "Submitted to Kites 2024", "Accept (Oral)": "Kites 2024 oral"})
    for venue in ("Submitted to Kites 2024", "Kites 2024 oral"):
        assert words.status_of_heading(venue) is UNKNOWN


@pytest.mark.parametrize(
    ("label", "accepts"),
    [
        ("2: Do not accept", False),
        ("2: Should not be accepted", False),
        ("1: Unacceptable", False),
        ("1: Not above the threshold", False),
        ("3: Accept, no need to reject", True),
        ("3: Would not reject", None),
        ("4: No doubt I would accept", None),
        ("3: Not a clear reject", None),
        ("4: Neutral", None),
    ],
)
def test_a_negated_verdict_is_not_favoured(label: str, accepts: bool | None) -> None:
    assert is_accepting(label) is accepts


def test_a_negated_verdict_is_below_the_threshold() -> None:
    labels = {1.0: "1: Reject", 2.0: "2: Do not accept", 3.0: "3: Accept", 4.0: "4: Strong accept"}
    scale = unified_scale(labels)
    assert scale is not None
    assert [scale.unify(value) for value in (1, 2, 3, 4)] == [1.0, 5.0, 6.0, 10.0]


def asked(options: list[str]) -> Any:
    body = {"id": "F", "edit": {"note": {"content": {"rating": {"value": {"param": {"enum": options}}}}}}}
    form = derive_form(json.dumps(body).encode())
    assert form is not None
    return form


@pytest.mark.parametrize("minus", ["-", "\u2212", "\u2013", "\uff0d"])
def test_negative_numbers_are_numbers_with_any_minus(minus: str) -> None:
    options = [f"{minus}2: strong reject", f"{minus}1: reject", "0: borderline", "1: accept", "2: strong accept"]
    form = asked(options)
    assert form.question("rating").offered == (-2.0, -1.0, 0.0, 1.0, 2.0)
    assert [read_score(option, "rating", form).unit for option in options] == [0.0, 0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    "options",
    [
        ["1-2: weak", "3-4: fair", "5: good"],
        ["3\u00bd: good", "3: fair"],
        ["3,5: good", "3: fair"],
        ["1: bad", "1: worse"],
        ["\u22641: bad", "2: good", "2+: best"],
    ],
)
def test_ranges_and_halves_are_no_scale(options: list[str]) -> None:
    assert read_scale_options(options) == {}
    assert read_score(options[0], "rating", asked(options)).value is None


@pytest.mark.parametrize(
    "answer",
    [
        *("N/A", "n/a (1)", "1\u20132", "1..2", "5 +/- 1", "5\u00b11", "~5", "<5", "5+", "5%", "5th", "5. or 6"),
        *("five", "5 6"),
    ],
)
def test_only_single_numbers_have_values(answer: str) -> None:
    assert read_number(answer, {}) is None


@pytest.mark.parametrize(("answer", "value"), [("5.5: weak accept", 5.5), ("(5.5)", 5.5), ("\u0665", 5.0), ("+1", 1.0)])
def test_halves_and_other_digits_are_numbers(answer: str, value: float) -> None:
    assert read_number(answer, {}) == value
