"""`peercorpus venues`: what is known of venues before anything is harvested."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from peercorpus.cli.app import UrlV1, UrlV2, app
from peercorpus.cli.console import ProgressLines, say
from peercorpus.cli.gather import read_venue_id
from peercorpus.errors import PeercorpusError, VenueNotFoundError

if TYPE_CHECKING:
    from peercorpus.venues.catalogue import VenueRow


@app.command
def venues(
    venue_ids: Annotated[
        list[str] | None, Parameter(name="VENUE_ID", help="The whole catalogue, if none is named.")
    ] = None,
    /,
    *,
    family: str | None = None,
    year: int | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative=())] = False,
    check: Annotated[bool, Parameter(negative=())] = False,
    url_v1: UrlV1 = None,
    url_v2: UrlV2 = None,
) -> int:
    """List the catalogue of venues: API, deadlines, what the public sees of the reviews, and how sure each row is.

    A venue that is not in it can be harvested all the same.

    Parameters
    ----------
    family
        Only this conference family, such as iclr.
    year
        Only this year.
    json_
        As one JSON array, with the source of everything.
    check
        Compare with OpenReview instead, which needs no account, and say what differs; exit with 1 if something
        contradicts the catalogue. Venues that are not in it may be named too.
    """
    from peercorpus import wording_venues

    named = [read_venue_id(text) for text in venue_ids or ()]
    if named and (family or year):
        raise PeercorpusError("Name venues, or a family and a year, not both.")
    if check and json_:
        raise PeercorpusError("A comparison is not written as JSON; leave out --json or --check.")
    if check:
        return _check(named or [row.id for row in _choose(family, year)], url_v1, url_v2)
    chosen = _choose_named(named) if named else _choose(family, year)
    say(wording_venues.as_json(chosen) if json_ else wording_venues.table(chosen))
    return 0


def _choose_named(venue_ids: list[str]) -> "list[VenueRow]":
    from peercorpus.venues.catalogue import row_of

    chosen = []
    for venue_id in venue_ids:
        row = row_of(venue_id)
        if row is None:
            raise VenueNotFoundError(f"'{venue_id}' is not in the catalogue; add --check to ask OpenReview for it.")
        chosen.append(row)
    return chosen


def _choose(family: str | None, year: int | None) -> "list[VenueRow]":
    from peercorpus.venues.catalogue import families, rows

    if family is not None and family.lower() not in families():
        raise VenueNotFoundError(f"The catalogue has no family '{family}'; it knows {', '.join(families())}.")
    of_family = rows(family and family.lower())
    chosen = [row for row in of_family if year in {None, row.year}]
    if not chosen:
        years = sorted({row.year for row in of_family if row.year})
        raise VenueNotFoundError(f"The catalogue has none of {year}; it knows {', '.join(map(str, years))}.")
    return chosen


def _check(venue_ids: list[str], url_v1: str | None, url_v2: str | None) -> int:
    from peercorpus import wording_venues
    from peercorpus.harvest.catalogue_check import check_catalogue
    from peercorpus.openreview.client import URL_V1, URL_V2, Client

    all_checked = []
    with ProgressLines() as lines, Client(url_v1 or URL_V1, url_v2 or URL_V2, on_wait=lines.wait) as client:
        for checked in check_catalogue(client, venue_ids, show=lines.show):
            all_checked.append(checked)
            if line := wording_venues.checked_line(checked):
                say(line)
    say(wording_venues.check_sum(all_checked))
    return 1 if any(checked.is_contradicted for checked in all_checked) else 0
