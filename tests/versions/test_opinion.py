"""The conclusion from the signs in a file and its dates, and when there is none."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naming import Naming
from peercorpus.records.documents import Inspection, VersionSign
from peercorpus.records.enums import FileSays, SignKind
from peercorpus.versions.version_signs import MEANINGS, SignWeight, infer_version

DEADLINE = datetime(2020, 10, 2, 15, tzinfo=UTC)
EARLY, LATE = DEADLINE - timedelta(hours=1), DEADLINE + timedelta(days=50)
REVIEW, ANONYMOUS, PREPRINT = SignKind.UNDER_REVIEW, SignKind.ANONYMOUS_AUTHORS, SignKind.PREPRINT
PUBLISHED, NAMED, THANKS = SignKind.PUBLISHED_AS, SignKind.NAMED_AUTHORS, SignKind.ACKNOWLEDGEMENTS
NUMBERS, CODE, OWN = SignKind.LINE_NUMBERS, SignKind.CODE_LINK, SignKind.OWN_CITATION
S, F, N = FileSays.SUBMITTED, FileSays.FINAL, FileSays.NOTHING


def inspection(kinds: Sequence[SignKind], made: datetime | None = None, changed: datetime | None = None) -> Inspection:
    signs = tuple(VersionSign(kind, 1, f"words of {kind}") for kind in kinds)
    return Inspection("0" * 64, "f", "v", 9, made, changed, None, signs, ())


@pytest.mark.parametrize(
    ("kinds", "made", "says"),
    [
        ([], None, N),
        ([REVIEW], None, S),
        ([ANONYMOUS], None, S),
        ([PUBLISHED], None, F),
        ([SignKind.ACCEPTED_AT], None, F),
        ([SignKind.PROCEEDINGS], None, F),
        ([REVIEW, PUBLISHED], None, N),
        ([ANONYMOUS, PUBLISHED], EARLY, N),
        ([REVIEW, NAMED, THANKS], None, S),
        ([PUBLISHED, NUMBERS], None, F),
        ([NAMED], None, N),
        ([THANKS, CODE, OWN], None, N),
        ([NAMED, THANKS], None, F),
        ([NAMED, CODE], None, F),
        ([NAMED, THANKS, PREPRINT], None, N),
        ([NAMED, THANKS], EARLY, N),
        ([NUMBERS], None, N),
        ([NUMBERS], EARLY, S),
        ([NUMBERS, NAMED], EARLY, N),
        ([], EARLY, N),
        ([], LATE, F),
        ([REVIEW, ANONYMOUS], EARLY, S),
        ([REVIEW, ANONYMOUS], LATE, F),
        ([PUBLISHED], EARLY, F),
    ],
)
def test_decisive_signs_decide_alone_others_together_and_contradictions_not_at_all(
    kinds: list[SignKind], made: datetime | None, says: FileSays
) -> None:
    assert infer_version(inspection(kinds, made), DEADLINE)[0] is says


def test_names_and_acknowledgements_are_no_contradiction_if_submissions_show_authors() -> None:
    named = inspection([NAMED, THANKS, CODE])
    assert infer_version(named, DEADLINE)[0] is F
    assert infer_version(named, DEADLINE, names_are_open=True)[0] is N
    assert infer_version(inspection([NAMED, NUMBERS], EARLY), DEADLINE, names_are_open=True)[0] is S
    assert infer_version(inspection([NAMED, PUBLISHED]), DEADLINE, names_are_open=True)[0] is F


def test_without_a_deadline_dates_decide_nothing() -> None:
    assert infer_version(inspection([REVIEW], LATE, LATE), None) == (S, ("page 1: words of under_review",))
    assert infer_version(inspection([], LATE), None) == (N, ())


@pytest.mark.parametrize(("after", "says"), [(timedelta(days=1), S), (timedelta(days=1, seconds=1), F)])
def test_a_day_after_the_deadline_is_still_in_time(after: timedelta, says: FileSays) -> None:
    assert infer_version(inspection([REVIEW], DEADLINE + after), DEADLINE)[0] is says


def test_a_late_change_of_a_timely_file_is_only_a_hint() -> None:
    assert infer_version(inspection([REVIEW], EARLY, LATE), DEADLINE)[0] is S
    assert infer_version(inspection([NAMED], None, LATE), DEADLINE)[0] is F
    assert infer_version(inspection([], None, LATE), DEADLINE)[0] is N


def test_the_explanation_names_signs_for_and_against() -> None:
    assert infer_version(inspection([REVIEW, THANKS]), None)[1] == (
        "page 1: words of under_review",
        "although page 1: words of acknowledgements",
    )
    assert infer_version(inspection([REVIEW, PUBLISHED, THANKS]), None)[1] == (
        "submitted: page 1: words of under_review",
        "final: page 1: words of published_as",
    )
    said = infer_version(inspection([REVIEW], LATE), DEADLINE)[1]
    assert said[0] == Naming("2020-11-21 15:00 UTC", "50 days after")


times = st.none() | st.datetimes(timezones=st.just(UTC))


@given(st.lists(st.sampled_from(sorted(MEANINGS)), unique=True), times, times, times)
def test_any_inspection_has_a_verdict_and_a_late_or_published_file_is_never_called_submitted(
    kinds: list[SignKind], made: datetime | None, changed: datetime | None, deadline: datetime | None
) -> None:
    says, why = infer_version(inspection(kinds, made, changed), deadline)
    decisive = {MEANINGS[kind].speaks_for for kind in kinds if MEANINGS[kind].strength is SignWeight.DECISIVE}
    late = made is not None and deadline is not None and made - deadline > timedelta(days=1)
    if says is S:
        assert not late
        assert F not in decisive
    if says is not N:
        assert why
    if len(decisive) == 2:
        assert says is (F if late else N)
