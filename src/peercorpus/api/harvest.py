"""Harvest venues into a workspace from Python, as `peercorpus harvest` does."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.api.arguments import (
    Field,
    list_venues,
    make_receivers,
    make_request,
    read_optional_path,
    read_path,
)
from peercorpus.errors import PeercorpusError
from peercorpus.execution.requests import HarvestRequest, PlanRequest

if TYPE_CHECKING:
    from peercorpus.harvest.harvest import HarvestSummary
    from peercorpus.harvest.plan import VenuePlan


@dataclass(frozen=True, slots=True)
class HarvestResult:
    """Result of a harvest.

    Attributes:
        folder: Folder of the workspace.
        venues: A summary of each venue: the stored data, and those added by this run.
        is_complete: Whether nothing needs to be requested again; otherwise the same call continues later.
    """

    folder: Path
    venues: tuple["HarvestSummary", ...]
    is_complete: bool


def harvest(
    venue_ids: str | Iterable[str],
    folder: str | Path,
    *,
    url_v1: str | None = None,
    url_v2: str | None = None,
    token_file: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
    **request: Field,
) -> HarvestResult:
    """Fetch venues from OpenReview into a workspace, as `peercorpus harvest` does.

    It can be interrupted at any time; the same call continues, and a later one fetches only what has changed since. It
    signs in with `token_file`, or as the command does, else as a guest.

    Args:
        venue_ids: Short names such as "ICLR2024", group ids, or the URLs of their pages.
        folder: Folder of the workspace, which is created if it is missing.
        url_v1: Base URL of API v1; None means OpenReview's.
        url_v2: Base URL of API v2; None means OpenReview's.
        token_file: File with a token, which nobody else may read.
        progress: Receives lines on how far the harvest is and why it waits, such as `print`; None shows nothing.
        request: What to fetch: the fields of `peercorpus.HarvestRequest`. With a scope, `venue_ids` may be empty.

    Raises:
        VenueNotFoundError: A venue does not exist.
        RefusedAlikeError: All requests of one kind were refused alike; everything else is stored.
        TryLaterError: OpenReview asks for a longer wait or is unavailable, or another harvest is running.
        PeercorpusError: No venue is named, a name fits several or none, the sign-in is refused, or the folder is not a
            workspace.

    Example:
        >>> with peercorpus.simulate(papers=5) as openreview:
        ...     result = peercorpus.harvest(
        ...         "Aurora.cc/2020/Conference", "new", url_v1=openreview.url_v1, url_v2=openreview.url_v2
        ...     )
        >>> [(venue.venue_id, venue.submissions) for venue in result.venues], result.is_complete
        ([('Aurora.cc/2020/Conference', 1)], True)
    """
    from peercorpus.harvest.harvest import check_refusals, is_complete
    from peercorpus.harvest.harvest import harvest as run_harvest
    from peercorpus.harvest.session import open_client

    asked = make_request(HarvestRequest, "harvest", request)
    token, path = read_optional_path(token_file, "token_file", "file"), read_path(folder, "folder")
    chosen = _choose_venues(venue_ids, asked, path)
    say, show = make_receivers(progress)
    is_shared = asked.share_budget
    with open_client(path, (url_v1, url_v2), token, say, say, is_shared=is_shared) as (opened, client):
        summaries = run_harvest(opened, client, chosen, asked, show)
    check_refusals(summaries)
    return HarvestResult(path, tuple(summaries), is_complete(summaries))


def plan_harvest(
    venue_ids: str | Iterable[str],
    folder: str | Path,
    *,
    url_v1: str | None = None,
    url_v2: str | None = None,
    token_file: str | Path | None = None,
    **request: Field,
) -> "tuple[VenuePlan, ...]":
    """Estimate what a harvest has left to fetch, as `peercorpus harvest --plan` does; nothing is fetched.

    It only requests the settings of the venues and how many papers they have, and may run beside a harvest.

    Args:
        venue_ids: As in `harvest`.
        folder: Folder of the workspace, which is created if it is missing.
        url_v1: Base URL of API v1; None means OpenReview's.
        url_v2: Base URL of API v2; None means OpenReview's.
        token_file: File with a token, which nobody else may read.
        request: What would be fetched: the fields `scope`, `limit` and `no_files` of `peercorpus.HarvestRequest`.

    Returns:
        The plan of each venue, with its requests by step.

    Raises:
        PeercorpusError: As `harvest`.

    Example:
        >>> with peercorpus.simulate(papers=5) as openreview:
        ...     plans = peercorpus.plan_harvest(
        ...         "Aurora.cc/2020/Conference", "planned", url_v1=openreview.url_v1, url_v2=openreview.url_v2
        ...     )
        >>> [(plan.venue_id, plan.steps[0].things) for plan in plans]
        [('Aurora.cc/2020/Conference', 1)]
    """
    from peercorpus.harvest.plan import plan_harvest as run_plan
    from peercorpus.harvest.session import open_client

    asked = make_request(PlanRequest, "plan_harvest", request)
    token, path = read_optional_path(token_file, "token_file", "file"), read_path(folder, "folder")
    chosen = _choose_venues(venue_ids, asked, path)
    say, _ = make_receivers(None)
    access = open_client(path, (url_v1, url_v2), token, say, say, is_held=False, is_shared=True)
    with access as (opened, client):
        return tuple(run_plan(opened, client, chosen, asked))


def _choose_venues(venue_ids: str | Iterable[str], request: PlanRequest, folder: Path) -> list[str]:
    """Return the ids of the venues to harvest: those named, and those of a published dataset.

    Raises:
        PeercorpusError: There is none, or a name fits several venues or none.
    """
    from peercorpus.recipes.recipe import RecipeName, read_recipe
    from peercorpus.venues.venue_names import read_venue_ids
    from peercorpus.workspace.workspace import read_held_venues

    named = list_venues(venue_ids)
    in_scope = read_recipe(RecipeName(request.scope)).venue_ids if request.scope is not None else ()
    if not (named or in_scope) or not all(named):
        raise PeercorpusError("No venue was named; name one, such as ICLR2024 or ICLR.cc/2024/Conference.")
    held = read_held_venues(folder)
    return list(dict.fromkeys([*read_venue_ids(named, held), *in_scope]))
