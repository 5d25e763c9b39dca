"""The catalogue beside what the simulated OpenReview says of the same venues, as a guest."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from peercorpus.harvest.catalogue_check import Checked, Difference, Found, check_catalogue
from peercorpus.openreview.client import Client
from peercorpus.progress import Progress
from peercorpus.simulator.holdings import World
from peercorpus.simulator.server import serve
from peercorpus.simulator.world import build_world
from peercorpus.venues.catalogue import Confidence, Deadline, VenueRow

AURORA, BOREALIS, CASCADIA = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference", "Cascadia.cc/2025/Conference"
NOWHERE = "Nowhere.cc/2030/Conference"
ABSTRACTS, PAPERS = datetime(2023, 9, 24, 11, 59, tzinfo=UTC), datetime(2023, 9, 29, 11, 59, tzinfo=UTC)
"""The deadlines of Borealis; its submission invitation shows the first."""


def row_like(
    venue_id: str, abstracts: datetime | None = None, papers: datetime | None = None, **more: object
) -> VenueRow:
    due = [at and Deadline(at, "its page") for at in (abstracts, papers)]
    said = {"confidence": Confidence.A, "source": "its page", "abstract_deadline": due[0], "full_deadline": due[1]}
    return VenueRow(id=venue_id, **said | more)  # type: ignore[arg-type]


@pytest.fixture
def world() -> World:
    return build_world(papers=5)


@pytest.fixture
def guest(world: World) -> Iterator[Client]:
    """A client without an account, of a service that asks for one wherever OpenReview does."""
    with serve(world, sign_in_required=True) as service, Client(service.base_url_v1, service.base_url_v2) as client:
        yield client


@pytest.fixture
def check(guest: Client) -> Callable[[VenueRow], Checked]:
    """Compares one row."""

    def check_row(row: VenueRow) -> Checked:
        [checked] = check_catalogue(guest, [row.id], {row.id: row}.get)
        return checked

    return check_row


def test_a_row_that_says_what_openreview_says_differs_in_nothing(check: Callable[[VenueRow], Checked]) -> None:
    new = check(row_like(BOREALIS, ABSTRACTS, PAPERS, api=2, lists=("Submission",)))
    assert (new.differences, new.is_contradicted) == ((), False)
    assert new.found == Found(2, (f"{BOREALIS}/-/Submission",), ABSTRACTS)
    old = check(row_like(AURORA, api=1, lists=("Blind_Submission", "Withdrawn_Submission")))
    assert (old.differences, old.is_contradicted) == ((), False)
    assert old.found is not None
    assert (old.found.api, old.found.due) == (1, None)
    assert set(old.found.lists or ()) >= {f"{AURORA}/-/Blind_Submission", f"{AURORA}/-/Desk_Rejected_Submission"}


def test_a_row_that_says_little_is_not_contradicted(check: Callable[[VenueRow], Checked]) -> None:
    assert check(row_like(BOREALIS)).differences == ()


@pytest.mark.parametrize(
    ("abstracts", "papers", "difference"),
    [
        (None, ABSTRACTS, ()),
        (datetime(2023, 9, 24, 12, tzinfo=UTC), PAPERS, ()),
        # The invitation closed before the row says that abstracts were due, or before papers were and after abstracts.
        (datetime(2023, 9, 26, 11, 59, tzinfo=UTC), PAPERS, (Difference.DUE_EARLIER,)),
        (datetime(2023, 9, 21, 11, 59, tzinfo=UTC), PAPERS, (Difference.DUE_EARLIER,)),
        (datetime(2023, 9, 26, 11, 59, tzinfo=UTC), None, (Difference.DUE_EARLIER,)),
        # It may be that of abstracts the row does not know, or have been extended.
        (None, PAPERS, (Difference.DUE_OTHER,)),
        (None, datetime(2023, 9, 20, tzinfo=UTC), (Difference.DUE_OTHER,)),
        (datetime(2023, 9, 19, tzinfo=UTC), datetime(2023, 9, 20, tzinfo=UTC), (Difference.DUE_OTHER,)),
    ],
)
def test_a_due_date_contradicts_only_what_it_cannot_be(
    check: Callable[[VenueRow], Checked],
    abstracts: datetime | None,
    papers: datetime | None,
    difference: tuple[Difference, ...],
) -> None:
    checked = check(row_like(BOREALIS, abstracts, papers))
    assert checked.differences == difference
    assert checked.is_contradicted == (difference == (Difference.DUE_EARLIER,))


def test_a_wrong_api_and_a_venue_that_is_not_there_contradict_a_row(check: Callable[[VenueRow], Checked]) -> None:
    moved, missing = check(row_like(CASCADIA, api=1)), check(row_like(NOWHERE, api=2))
    assert (moved.differences, moved.is_contradicted) == ((Difference.OTHER_API,), True)
    assert (missing.differences, missing.found, missing.is_contradicted) == ((Difference.MISSING,), None, True)


def test_a_list_that_is_not_shown_may_answer_all_the_same(check: Callable[[VenueRow], Checked]) -> None:
    checked = check(row_like(AURORA, api=1, lists=("submission",)))
    assert (checked.differences, checked.is_contradicted) == ((Difference.LIST_NOT_SHOWN,), False)


def test_of_a_venue_with_too_many_invitations_no_list_is_missed(world: World) -> None:
    shown = world.v1.invitations[f"{AURORA}/-/Blind_Submission"]
    names = [f"{AURORA}/-/Paper{number}/Official_Review" for number in range(1000)]
    world.v1.invitations.update({name: shown | {"id": name} for name in names})
    row = row_like(AURORA, api=1, lists=("submission",))
    with serve(world) as service, Client(service.base_url_v1, service.base_url_v2) as client:
        [checked] = check_catalogue(client, [AURORA], {AURORA: row}.get)
    assert checked.found == Found(1, None, None)
    assert checked.differences == ()


def test_a_venue_that_is_not_in_the_catalogue_is_looked_up(guest: Client) -> None:
    [found] = check_catalogue(guest, [CASCADIA])
    assert (found.row, found.differences, found.is_contradicted) == (None, (), False)
    assert found.found is not None
    assert (found.found.api, found.found.lists) == (2, (f"{CASCADIA}/-/Submission",))
    assert found.found.due is not None


@pytest.mark.parametrize("due", ["soon", 10**30, 10**18, -(10**18), 1.5, None])
def test_a_due_date_that_is_none_says_nothing(world: World, check: Callable[[VenueRow], Checked], due: object) -> None:
    world.v2.invitations[f"{BOREALIS}/-/Submission"]["duedate"] = due
    checked = check(row_like(BOREALIS, ABSTRACTS, PAPERS))
    assert checked.found == Found(2, (f"{BOREALIS}/-/Submission",), None)
    assert checked.differences == ()


@pytest.mark.parametrize("content", [None, {}, {"submission_id": "text"}, {"submission_id": {"value": 7}}, 7])
def test_a_group_without_settings_has_the_usual_list(
    world: World, check: Callable[[VenueRow], Checked], content: object
) -> None:
    world.v2.groups[BOREALIS]["content"] = content
    assert check(row_like(BOREALIS, ABSTRACTS, PAPERS)).differences == ()


def test_a_venue_takes_two_requests_and_progress_is_shown(guest: Client) -> None:
    shown: list[Progress] = []
    list(check_catalogue(guest, [BOREALIS, CASCADIA], show=shown.append))
    assert guest.requests == 4
    assert [(one.what, one.done, one.total) for one in shown] == [("venues checked", 1, 2), ("venues checked", 2, 2)]
