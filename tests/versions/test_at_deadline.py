"""Histories of one PDF with everything that happened, and what of it is shown: no proof says more than what happened.

A history is a list of edits by forms that are open for a time. What reviewers read is the file that stood before the
first review that was not deleted. The rules see the public part of it, as OpenReview shows it afterwards.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histories import NOON
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, Reason
from peercorpus.venues.catalogue import Confidence, DueDate, VenueRow
from peercorpus.versions.at_deadline import InitialVersion
from peercorpus.versions.deadlines import Deadlines
from peercorpus.versions.initial_version import choose_initial_version
from peercorpus.versions.read_submission import read_submission
from peercorpus.workspace.raw_store import RawKind, RawObject

Json = dict[str, Any]
V = "Invented.cc/2027/Conference"
HARVESTED = 400
"""Hours from the deadline to the harvest."""
REMOVED = ""


def ms(hour: float) -> int:
    return int((NOON + timedelta(hours=hour)).timestamp() * 1000)


def at(hour: float) -> datetime:
    return NOON + timedelta(hours=hour)


@dataclass(frozen=True)
class Form:
    """A form of the venue, open between two hours; whether its edits, and the form itself, are public."""

    name: str
    opens: int
    closes: int
    brings_pdf: bool = True
    is_public: bool = False
    is_stored: bool = False

    @property
    def invitation(self) -> str:
        is_own = self.name.endswith("Revision")
        return f"{V}/Submission1/-/{self.name}" if is_own else f"{V}/-/{self.name}"

    def as_stored(self) -> Json:
        content = {"pdf": {"value": {"param": {"type": "file"}}} if self.brings_pdf else {"readers": [V]}}
        dates = {"cdate": ms(self.opens), "expdate": ms(self.closes)}
        if self.name.endswith("Revision"):
            edit: Json = {"invitation": {**dates, "edit": {"note": {"id": "paper", "content": content}}}}
            return {"id": f"{V}/-/{self.name}", "cdate": ms(self.opens), "edit": edit}
        return {"id": self.invitation, **dates, "edit": {"note": {"content": content}}}


@dataclass(frozen=True)
class Step:
    """An edit: the PDF that it brought (None for none, `REMOVED` if it removed it), when, and what became of it."""

    form: Form
    hour: int
    pdf: str | None
    deleted: int | None = None
    rewritten: tuple[int, str] | None = None

    def brought(self, hour: float) -> str | None:
        """What it said at an hour; None if it said nothing of the PDF, or did not stand."""
        if self.hour > hour or (self.deleted is not None and self.deleted <= hour):
            return None
        return self.rewritten[1] if self.rewritten and self.rewritten[0] <= hour else self.pdf

    def as_shown(self, number: int) -> Json:
        pdf = self.rewritten[1] if self.rewritten else self.pdf
        value = {"delete": True} if pdf == REMOVED else f"/pdf/{pdf}.pdf"
        return {
            "id": f"e{number}",
            "invitation": self.form.invitation,
            "readers": ["everyone"],
            "tcdate": ms(self.hour),
            "tmdate": ms(self.rewritten[0] if self.rewritten else self.hour),
            "ddate": None if self.deleted is None else ms(self.deleted),
            "note": {
                "id": "paper",
                "content": {"title": {"value": "On Kites"}} if pdf is None else {"pdf": {"value": value}},
            },
        }


@dataclass(frozen=True)
class History:
    """Everything that happened to a submission; the first step made it."""

    steps: Sequence[Step]
    reviews: Sequence[tuple[int, int | None]]
    is_deadline_known: bool = True
    hides_pdf: bool = False

    @property
    def first_review(self) -> int | None:
        return min((hour for hour, deleted in self.reviews if deleted is None), default=None)

    def stood(self, hour: float) -> str:
        said = [found for step in self.steps if (found := step.brought(hour)) is not None]
        return said[-1] if said else REMOVED

    def as_shown(self) -> Iterator[tuple[RawKind, Json]]:
        times = [
            ms(hour)
            for step in self.steps
            for hour in (step.hour, step.deleted, *(step.rewritten or ())[:1])
            if hour is not None
        ]
        pdf = self.stood(HARVESTED)
        shown: Json = {"readers": [V]} if self.hides_pdf else {"value": f"/pdf/{pdf}.pdf"}
        content = {"title": {"value": "On Kites"}} | ({"pdf": shown} if pdf else {})
        yield (
            RawKind.NOTE,
            {
                "id": "paper",
                "forum": "paper",
                "domain": V,
                "readers": ["everyone"],
                "invitations": list(dict.fromkeys(step.form.invitation for step in self.steps)),
                "cdate": times[0],
                "tcdate": times[0],
                "tmdate": max(times),
                "content": content,
            },
        )
        for number, step in enumerate(self.steps):
            if step.form.is_public:
                yield RawKind.EDIT, step.as_shown(number)
        for form in {step.form.name: step.form for step in self.steps}.values():
            if form.is_stored:
                yield RawKind.INVITATION, form.as_stored()


class _Aside:
    """Collects what is set aside."""

    def __init__(self) -> None:
        self.reasons: dict[str, Reason] = {}

    def set_aside(self, record_id: str, _forum_id: str, reason: Reason, _detail: str) -> None:
        self.reasons[record_id] = reason


class _Store:
    """Stands in for `raw.db`."""

    def __init__(self, objects: Sequence[RawObject]) -> None:
        self._objects = objects

    def latest(self, kind: RawKind, _venue_id: str) -> Iterator[RawObject]:
        return (one for one in self._objects if one.kind is kind)


def choose(
    rows: Sequence[tuple[RawKind, Json]], first_review: int | None, *, due: int | None, api: int = 2
) -> tuple[InitialVersion, dict[str, Reason]]:
    """The choice for a submission as OpenReview shows it, with every file fetched."""
    objects = [
        RawObject(
            kind,
            one["id"],
            api,
            V,
            "" if kind is RawKind.INVITATION else "paper",
            one.get("referent", "paper"),
            0,
            0,
            "t",
            json.dumps(one).encode(),
        )
        for kind, one in rows
    ]
    row = VenueRow(id=V, confidence=Confidence.A, source="page")
    if due is not None:
        row = VenueRow(id=V, confidence=Confidence.A, source="page", full_deadline=DueDate(at(due - 0.5), "page"))
    found, aside = Deadlines(cast("Any", _Store(objects)), V, row), _Aside()
    first = None if first_review is None else at(first_review)
    forum = [one for one in objects if one.kind is not RawKind.INVITATION]
    submission = read_submission("paper", forum, found, first, cast("Any", aside))
    paths = {one.path for one in submission.uploads} | (
        {submission.attachment.path} if submission.attachment else set()
    )
    return choose_initial_version(replace(submission, sha256={path: path for path in paths})), aside.reasons


def judge(history: History) -> InitialVersion:
    """The choice for a history, which must not claim more than what happened."""
    first = history.first_review
    chosen, _ = choose([*history.as_shown()], first, due=0 if history.is_deadline_known else None)
    if chosen.grade in PUBLISHABLE_GRADES and first is not None:
        assert chosen.upload is not None
        assert chosen.upload.path == f"/pdf/{history.stood(first - 0.01)}.pdf"
    return chosen


PDFS = st.sampled_from("abc")


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A history in which an unseen edit between the deadline and the reviews came by a form that may bring a PDF.

    Chairs replace no PDF unseen before reviewing; a form whose closing is not known closed at the known deadline; an
    unseen edit is deleted or rewritten only while its form is open; the second form opens when the first has closed.
    """
    first = draw(st.integers(20, 60))
    knows = draw(st.booleans())
    is_stored = draw(st.booleans())
    closes = draw(st.sampled_from([0, 5, 30, 100])) if is_stored or not knows else 0
    submission = Form("Submission", -100, closes, is_public=draw(st.booleans()), is_stored=is_stored)
    opens = max(closes, draw(st.integers(-30, 80)))
    stored = draw(st.booleans())
    other = Form(
        draw(st.sampled_from(["Second_Revision", "Polishing_Revision"])),
        opens,
        opens + draw(st.integers(2, 40)),
        brings_pdf=not stored or draw(st.booleans()),
        is_public=draw(st.booleans()),
        is_stored=stored,
    )
    shows_edits = draw(st.booleans())
    chairs = Form("Edit", -50 if shows_edits else first, 300, is_public=shows_edits)
    release = Form("Reject_Submission_Change_After_Decision", 200, 300, brings_pdf=False, is_stored=draw(st.booleans()))
    made = draw(st.integers(-90, -1)) if draw(st.integers(0, 5)) else draw(st.integers(-90, 90))
    maker = replace(submission, closes=max(closes, made))
    steps = [Step(maker, made, draw(st.sampled_from(["a", "a", None])))]
    for _ in range(draw(st.integers(0, 4))):
        form = draw(st.sampled_from([maker, maker, other, chairs, release]))
        low = max(made + 1, form.opens)
        if low > form.closes:
            continue
        hour = draw(st.integers(low, form.closes))
        pdf = draw(st.one_of(PDFS, PDFS, st.just(REMOVED), st.none())) if form.brings_pdf else None
        fate = draw(st.integers(0, 9))
        later = hour + draw(st.integers(1, 60))
        fate = fate if form.is_public or later <= form.closes else 9
        steps.append(
            Step(
                form,
                hour,
                pdf,
                deleted=later if fate == 0 else None,
                rewritten=(later, draw(PDFS)) if fate == 1 and pdf else None,
            )
        )
    steps[1:] = sorted(steps[1:], key=lambda step: step.hour)
    early = draw(st.integers(-40, 10))
    reviews: list[tuple[int, int | None]] = [(first, None)]
    if draw(st.booleans()):
        reviews.append((early, early + draw(st.integers(1, 40))))
    return History(steps, reviews, knows, hides_pdf=draw(st.integers(0, 5)) == 0)


@settings(max_examples=500, deadline=None)
@given(history=histories())
def test_no_proof_claims_more_than_what_happened(history: History) -> None:
    judge(history)


TAKES = Form("Submission", -100, 0)
SHOWN = replace(TAKES, is_public=True)
CHAIRS = Form("Edit", -100, 300, is_public=True)
ON_TIME = Step(TAKES, -20, "a")
LIKELY = Grade.UNREVISED_LIKELY


@pytest.mark.parametrize(
    ("history", "grade"),
    [
        pytest.param(History([ON_TIME], [(30, None)]), Grade.UNREVISED, id="closed at the deadline"),
        pytest.param(History([ON_TIME], [(30, None)], is_deadline_known=False), LIKELY, id="no deadline known"),
        pytest.param(
            History([Step(replace(TAKES, closes=90, is_stored=True), -20, "a")], [(30, None)]),
            LIKELY,
            id="the form was open until after the reviews",
        ),
        pytest.param(
            History([Step(replace(TAKES, is_stored=True), -20, "a")], [(30, None)], is_deadline_known=False),
            Grade.UNREVISED,
            id="the form states when it closed",
        ),
        pytest.param(
            History(
                [ON_TIME, Step(Form("Post_Submission", -10, 0, brings_pdf=False), -10, None)],
                [(30, None)],
                is_deadline_known=False,
            ),
            Grade.UNREVISED,
            id="last changed before the first review",
        ),
        pytest.param(History([Step(TAKES, 80, "a")], [(30, None)]), Grade.UNAVAILABLE, id="made after its reviews"),
        pytest.param(History([Step(TAKES, 10, "a")], [(30, None)]), LIKELY, id="made after the deadline"),
        pytest.param(
            History([Step(SHOWN, -20, "a"), Step(CHAIRS, -10, REMOVED)], [(30, None)], hides_pdf=True),
            Grade.UNAVAILABLE,
            id="removed before the deadline",
        ),
        pytest.param(
            History([Step(SHOWN, -20, "a"), Step(CHAIRS, -10, REMOVED), Step(SHOWN, -5, "a")], [(30, None)]),
            Grade.EXACT,
            id="and put back",
        ),
        pytest.param(
            History([Step(SHOWN, -20, "a")], [(30, None)], hides_pdf=True),
            Grade.EXACT,
            id="the release hides the PDF, the edit shows it",
        ),
        pytest.param(
            History([Step(SHOWN, -1, "a"), Step(SHOWN, 0, REMOVED, deleted=30)], [(30, None)]),
            Grade.UNAVAILABLE,
            id="removed at the deadline, the removal deleted with the first review",
        ),
        pytest.param(
            History([Step(SHOWN, -1, "a"), Step(CHAIRS, 1, REMOVED, deleted=30)], [(30, None)]),
            Grade.UNAVAILABLE,
            id="removed after the deadline, the removal deleted with the first review",
        ),
        pytest.param(
            History([Step(SHOWN, -20, "a"), Step(SHOWN, -10, "b", deleted=90)], [(30, None)]),
            Grade.UNAVAILABLE,
            id="another came before the deadline, and was deleted after the reviews",
        ),
        pytest.param(
            History([Step(SHOWN, -20, "a"), Step(SHOWN, -10, "b", rewritten=(90, "a"))], [(30, None)]),
            Grade.UNAVAILABLE,
            id="another came before the deadline, and was rewritten after the reviews",
        ),
        pytest.param(
            History([Step(SHOWN, -20, "a"), Step(CHAIRS, 10, "b", rewritten=(90, "a"))], [(30, None)]),
            Grade.BEFORE_FIRST_REVIEW,
            id="another came before the reviews, and was rewritten after them",
        ),
        pytest.param(
            History([Step(SHOWN, -20, "a"), Step(SHOWN, -10, "b", rewritten=(10, "a"))], [(30, None)]),
            Grade.EXACT,
            id="another came before the deadline, and was rewritten before the reviews",
        ),
    ],
)
def test_each_history_has_the_grade_that_is_proven(history: History, grade: Grade) -> None:
    assert judge(history).grade is grade


@pytest.mark.parametrize(
    ("form", "grade"),
    [
        pytest.param(Form("Accept_Paper_Change_After_Decision", 200, 300), Grade.UNREVISED, id="known by its ending"),
        pytest.param(Form("Camera_Step", 200, 300, is_stored=True), None, id="states that it takes a PDF"),
        pytest.param(
            Form("Open_Step", 200, 300, brings_pdf=False, is_stored=True), Grade.UNREVISED, id="states readers alone"
        ),
        pytest.param(Form("Typo_Revision", 2, 10, is_stored=True), Grade.UNREVISED, id="closed before the reviews"),
        pytest.param(Form("Typo_Revision", 2, 60, is_stored=True), None, id="closed after the first review"),
        pytest.param(Form("Unheard_Of", 2, 10), None, id="unknown"),
        pytest.param(
            Form("Reject_Submission_Change_After_Decision", 200, 300, is_stored=True),
            None,
            id="a step that chairs gave a PDF",
        ),
    ],
)
def test_an_invitation_states_its_pdf(form: Form, grade: Grade | None) -> None:
    steps = [ON_TIME, Step(form, max(form.opens, 5), None)]
    assert judge(History(steps, [(30, None)])).grade is (grade or Grade.UNAVAILABLE)


def test_any_form_that_made_the_note() -> None:
    paper = Form("Paper_Entry", -100, 0, is_public=True, is_stored=True)
    known = judge(History([Step(paper, -20, "a")], [(30, None)], is_deadline_known=False))
    assert known.grade is Grade.EXACT
    assert judge(History([Step(replace(paper, is_public=False), -20, "a")], [(30, None)])).grade is Grade.UNREVISED


def _reference(name: str, hour: int, pdf: str, kept: str | None) -> tuple[RawKind, Json]:
    content = {"pdf": f"/pdf/{pdf}.pdf"} | ({"original_pdf": f"/attachment/{kept}.pdf"} if kept else {})
    named = {"invitation": f"{V}/-/Blind_Submission", "readers": ["everyone"]}
    body: Json = {"id": name, "referent": "paper", "forum": "paper"} | named
    return RawKind.REFERENCE, body | {"tcdate": ms(hour), "tmdate": ms(hour), "content": content}


@pytest.mark.parametrize(
    ("references", "grade"),
    [
        pytest.param([], Grade.EXACT_ATTACHMENT, id="no reference is known"),
        pytest.param([("r", 2, "b", "kept")], Grade.EXACT_ATTACHMENT, id="kept when it was posted"),
        pytest.param([("r", 2, "b", "other"), ("s", 90, "b", "kept")], None, id="replaced after the reviews"),
        pytest.param([("r", 2, "b", None), ("s", 90, "b", "kept")], None, id="kept only after the reviews"),
        pytest.param([("r", 2, "b", "kept"), ("s", 90, "b", "kept")], Grade.EXACT_ATTACHMENT, id="named twice"),
        pytest.param(
            [("r", 2, "other", "other"), ("s", 90, "kept", "kept")], None, id="replaced, and brought as the PDF, late"
        ),
    ],
)
def test_a_named_attachment_counts(references: Sequence[tuple[str, int, str, str | None]], grade: Grade | None) -> None:
    content = {"title": "On Kites", "original_pdf": "/attachment/kept.pdf"}
    root = {
        "id": "paper",
        "forum": "paper",
        "invitation": f"{V}/-/Blind_Submission",
        "readers": ["everyone"],
        "tcdate": ms(1),
        "content": content,
    }
    chosen, _ = choose([(RawKind.NOTE, root), *(_reference(*one) for one in references)], 30, due=0, api=1)
    assert (chosen.grade is Grade.EXACT_ATTACHMENT) == (grade is not None)
