"""`scripts/check_catalogue.py` compares the catalogue with the simulated OpenReview, as a guest."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
import stamina
from scripts.check_catalogue import (
    CONTRADICTIONS,
    CatalogueDifference,
    CheckedVenue,
    ListedVenue,
    check_catalogue,
    describe_check,
    main,
    summarise_checks,
)

from naming import Naming
from peercorpus.execution.progress import Progress
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.holdings import World
from peercorpus.simulator.world.world import build_world
from peercorpus.venues.catalogue import Confidence, DueDate, VenueRow, row_of

AURORA, BOREALIS, CASCADIA = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference", "Cascadia.cc/2025/Conference"
NOWHERE = "Nowhere.cc/2030/Conference"
ABSTRACTS, PAPERS = datetime(2023, 9, 24, 11, 59, tzinfo=UTC), datetime(2023, 9, 29, 11, 59, tzinfo=UTC)
"""The deadlines of Borealis; its submission invitation shows the first."""


def row_like(
    venue_id: str, abstracts: datetime | None = None, papers: datetime | None = None, **more: object
) -> VenueRow:
    due = [at and DueDate(at, "its page") for at in (abstracts, papers)]
    said = {"confidence": Confidence.A, "source": "its page", "abstract_deadline": due[0], "full_deadline": due[1]}
    return VenueRow(id=venue_id, **said | more)  # type: ignore[arg-type]


@pytest.fixture
def world() -> World:
    return build_world(papers=5)


@pytest.fixture
def guest(world: World) -> Iterator[Client]:
    """A client without an account, of a service that asks for one wherever OpenReview does."""
    with (
        serve_simulator(world, sign_in_required=True) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
    ):
        yield client


@pytest.fixture
def check(guest: Client) -> Callable[[VenueRow], CheckedVenue]:
    """Compares one row."""

    def check_row(row: VenueRow) -> CheckedVenue:
        [checked] = check_catalogue(guest, [row.id], {row.id: row}.get)
        return checked

    return check_row


def test_an_agreeing_row_has_no_differences(check: Callable[[VenueRow], CheckedVenue]) -> None:
    new = check(row_like(BOREALIS, ABSTRACTS, PAPERS, api=2, lists=("Submission",)))
    assert (new.differences, new.is_contradicted) == ((), False)
    assert new.found == ListedVenue(2, (f"{BOREALIS}/-/Submission",), ABSTRACTS)
    old = check(row_like(AURORA, api=1, lists=("Blind_Submission", "Withdrawn_Submission")))
    assert (old.differences, old.is_contradicted) == ((), False)
    assert old.found is not None
    assert (old.found.api, old.found.due) == (1, None)
    assert set(old.found.lists or ()) >= {f"{AURORA}/-/Blind_Submission", f"{AURORA}/-/Desk_Rejected_Submission"}


def test_an_incomplete_row_is_not_contradicted(check: Callable[[VenueRow], CheckedVenue]) -> None:
    assert check(row_like(BOREALIS)).differences == ()


@pytest.mark.parametrize(
    ("abstracts", "papers", "difference"),
    [
        (None, ABSTRACTS, ()),
        (datetime(2023, 9, 24, 12, tzinfo=UTC), PAPERS, ()),
        # The invitation closed before the row says that abstracts were due, or before papers were and after abstracts.
        (datetime(2023, 9, 26, 11, 59, tzinfo=UTC), PAPERS, (CatalogueDifference.DUE_EARLIER,)),
        (datetime(2023, 9, 21, 11, 59, tzinfo=UTC), PAPERS, (CatalogueDifference.DUE_EARLIER,)),
        (datetime(2023, 9, 26, 11, 59, tzinfo=UTC), None, (CatalogueDifference.DUE_EARLIER,)),
        # It may be that of abstracts the row does not know, or have been extended.
        (None, PAPERS, (CatalogueDifference.DUE_OTHER,)),
        (None, datetime(2023, 9, 20, tzinfo=UTC), (CatalogueDifference.DUE_OTHER,)),
        (datetime(2023, 9, 19, tzinfo=UTC), datetime(2023, 9, 20, tzinfo=UTC), (CatalogueDifference.DUE_OTHER,)),
    ],
)
def test_a_due_date_contradicts_only_impossible_deadlines(
    check: Callable[[VenueRow], CheckedVenue],
    abstracts: datetime | None,
    papers: datetime | None,
    difference: tuple[CatalogueDifference, ...],
) -> None:
    checked = check(row_like(BOREALIS, abstracts, papers))
    assert checked.differences == difference
    assert checked.is_contradicted == (difference == (CatalogueDifference.DUE_EARLIER,))


def test_a_wrong_api_contradicts_a_row(check: Callable[[VenueRow], CheckedVenue]) -> None:
    moved, missing = check(row_like(CASCADIA, api=1)), check(row_like(NOWHERE, api=2))
    assert (moved.differences, moved.is_contradicted) == ((CatalogueDifference.OTHER_API,), True)
    assert (missing.differences, missing.found, missing.is_contradicted) == ((CatalogueDifference.MISSING,), None, True)


def test_a_hidden_list_may_still_answer(check: Callable[[VenueRow], CheckedVenue]) -> None:
    checked = check(row_like(AURORA, api=1, lists=("submission",)))
    assert (checked.differences, checked.is_contradicted) == ((CatalogueDifference.LIST_NOT_SHOWN,), False)


def test_no_list_is_missed_among_many(world: World) -> None:
    shown = world.v1.invitations[f"{AURORA}/-/Blind_Submission"]
    names = [f"{AURORA}/-/Paper{number}/Official_Review" for number in range(1000)]
    world.v1.invitations.update({name: shown | {"id": name} for name in names})
    row = row_like(AURORA, api=1, lists=("submission",))
    with serve_simulator(world) as service, Client(service.base_url_v1, service.base_url_v2) as client:
        [checked] = check_catalogue(client, [AURORA], {AURORA: row}.get)
    assert checked.found == ListedVenue(1, None, None)
    assert checked.differences == ()


def test_an_unknown_venue_is_looked_up(guest: Client) -> None:
    [found] = check_catalogue(guest, [CASCADIA])
    assert (found.row, found.differences, found.is_contradicted) == (None, (), False)
    assert found.found is not None
    assert (found.found.api, found.found.lists) == (2, (f"{CASCADIA}/-/Submission",))
    assert found.found.due is not None


@pytest.mark.parametrize("due", ["soon", 10**30, 10**18, -(10**18), 1.5, None])
def test_an_invalid_due_date_is_ignored(world: World, check: Callable[[VenueRow], CheckedVenue], due: object) -> None:
    world.v2.invitations[f"{BOREALIS}/-/Submission"]["duedate"] = due
    checked = check(row_like(BOREALIS, ABSTRACTS, PAPERS))
    assert checked.found == ListedVenue(2, (f"{BOREALIS}/-/Submission",), None)
    assert checked.differences == ()


@pytest.mark.parametrize("content", [None, {}, {"submission_id": "text"}, {"submission_id": {"value": 7}}, 7])
def test_a_group_without_settings_has_the_usual_list(
    world: World, check: Callable[[VenueRow], CheckedVenue], content: object
) -> None:
    world.v2.groups[BOREALIS]["content"] = content
    assert check(row_like(BOREALIS, ABSTRACTS, PAPERS)).differences == ()


def test_a_venue_takes_two_requests(guest: Client) -> None:
    shown: list[Progress] = []
    list(check_catalogue(guest, [BOREALIS, CASCADIA], show=shown.append))
    assert guest.requests == 4
    assert [(one.what, one.done, one.total) for one in shown] == [("venues checked", 1, 2), ("venues checked", 2, 2)]


@pytest.fixture
def service(world: World) -> Iterator[Service]:
    with serve_simulator(world, sign_in_required=True) as running:
        yield running


def urls(service: Service) -> list[str]:
    return ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]


def test_a_guest_finds_an_unknown_venue(capsys: pytest.CaptureFixture[str], service: Service) -> None:
    assert main([BOREALIS, AURORA, *urls(service)]) == 0
    out, err = capsys.readouterr()
    first, second, last = out.splitlines()
    assert first.startswith(f"{BOREALIS}: ")
    assert [
        part for part in ("API v2", f"'{BOREALIS}/-/Submission'", "2023-09-24 11:59 UTC") if part not in first
    ] == []
    assert second.startswith(f"{AURORA}: ")
    assert "API v1" in second
    assert [int(number) for number in re.findall(r"\d+", last)] == [2, 0, 0, 2, 0]
    assert "2 of 2" in err


@pytest.mark.parametrize("venue_id", ["TMLR", "Nowhere.cc/2030"])
def test_a_row_that_openreview_lacks_exits_with_1(
    capsys: pytest.CaptureFixture[str], service: Service, venue_id: str
) -> None:
    assert main([venue_id, *urls(service)]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{venue_id}: ")
    assert ("not in the catalogue" in first) == (venue_id != "TMLR")
    assert [int(number) for number in re.findall(r"\d+", last)] == [1, 0, 0, 0, 1]


def test_an_unreachable_service_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with stamina.set_testing(True, attempts=1):
        assert main(["TMLR", "--url-v1", "http://127.0.0.1:9", "--url-v2", "http://127.0.0.1:9"]) == 2
    assert "127.0.0.1" in capsys.readouterr().err


def test_every_difference_is_worded_on_one_line() -> None:
    row = row_of("ICLR.cc/2024/Conference")
    assert row is not None
    assert row.full_deadline is not None
    said = {}
    for difference in CatalogueDifference:
        found = None if difference is CatalogueDifference.MISSING else ListedVenue(1, ("a",), row.full_deadline.at)
        line = describe_check(CheckedVenue(row.id, row, found, (difference,)))
        assert line is not None
        assert "\n" not in line
        said[difference] = line
    assert len(set(said.values())) == len(CatalogueDifference)
    assert "2023-09-29 11:59 UTC" in said[CatalogueDifference.DUE_EARLIER]
    assert said[CatalogueDifference.OTHER_API] == Naming("API v1", "v2")
    assert describe_check(CheckedVenue(row.id, row, ListedVenue(2, (), None), ())) is None
    both = CheckedVenue(
        row.id, row, ListedVenue(1, ("a",), None), (CatalogueDifference.OTHER_API, CatalogueDifference.LIST_NOT_SHOWN)
    )
    assert (describe_check(both) or "").count(";") == 1


def test_names_from_openreview_cannot_control_the_terminal() -> None:
    line = describe_check(CheckedVenue("X", None, ListedVenue(2, ("\x1b[2J\u202ex",), None), ()))
    assert line is not None
    assert line.isprintable()


def test_the_sum_counts_every_venue_once() -> None:
    row, found = row_of("TMLR"), ListedVenue(2, (), None)
    one_each = [
        CheckedVenue("a", row, found, ()),
        CheckedVenue("b", row, found, (CatalogueDifference.LIST_NOT_SHOWN,)),
        CheckedVenue("c", row, found, tuple(CONTRADICTIONS)),
        CheckedVenue("d", None, found, ()),
        CheckedVenue("e", None, None, (CatalogueDifference.MISSING,)),
    ]
    assert [int(number) for number in re.findall(r"\d+", summarise_checks(one_each))] == [5, 1, 1, 1, 2]
