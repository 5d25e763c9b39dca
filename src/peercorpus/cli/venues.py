"""The commands `venues` and `forms`."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from peercorpus.cli.console import OptionalWorkspace, say
from peercorpus.errors import PeercorpusError, VenueNotFoundError
from peercorpus.venues.catalogue import DueDate, VenueRow, Visibility
from peercorpus.venues.rules import SUBJECTS, RuleKind, rules_of
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.suggestions import suggest_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from peercorpus.forms.form_usage import FormUsage
    from peercorpus.forms.venue_forms import KnownForm
    from peercorpus.venues.catalogue import VenueRow
    from peercorpus.workspace.workspace import Workspace


def venues(
    venue_ids: Annotated[
        list[str] | None, Parameter(name="VENUE_ID", help="Venues to list, by id or short name; all if omitted.")
    ] = None,
    /,
    *,
    family: str | None = None,
    year: int | None = None,
    workspace: OptionalWorkspace = None,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """List the catalogue of known venues: API, deadlines, which reviews are public, and how certain each row is.

    Venues that are not in the catalogue can be harvested too.

    Parameters
    ----------
    family
        Only this conference family, such as iclr.
    year
        Only this year.
    workspace
        Folder of a workspace, to include its venues.toml; it must be named here.
    json_
        Print one JSON array, with the source of each value.
    """
    from peercorpus.venues.venue_names import read_venue_ids
    from peercorpus.workspace.workspace import read_held_venues

    if venue_ids and (family or year):
        raise PeercorpusError("Name venues, or a family and a year, not both.")
    rows = _read_rows(workspace)
    held = [] if workspace is None else read_held_venues(workspace)
    named = read_venue_ids(venue_ids or (), [*(row.id for row in rows), *held])
    chosen = _choose_named(named, rows) if named else _choose(family, year, rows)
    say(catalogue_to_json(chosen) if json_ else catalogue_table(chosen))


def _read_rows(workspace: Path | None) -> "Sequence[VenueRow]":
    """Return the catalogue, with the rows of a workspace's own file."""
    from peercorpus.venues.catalogue import rows
    from peercorpus.venues.own_venues import known_rows
    from peercorpus.workspace.workspace import open_workspace

    if workspace is None:
        return rows()
    with open_workspace(workspace, write=False) as opened:
        return known_rows(opened)


def _choose_named(venue_ids: list[str], rows: "Sequence[VenueRow]") -> "list[VenueRow]":
    by_id, chosen = {row.id: row for row in rows}, []
    for venue_id in venue_ids:
        row = by_id.get(venue_id)
        if row is None:
            raise VenueNotFoundError(
                f"'{venue_id}' is not in the catalogue; {suggest_name(venue_id, by_id)} It can be harvested all the"
                " same: run 'peercorpus harvest'."
            )
        chosen.append(row)
    return chosen


def _choose(family: str | None, year: int | None, rows: "Sequence[VenueRow]") -> "list[VenueRow]":
    families = sorted({row.family for row in rows})
    if family is not None and family.lower() not in families:
        raise VenueNotFoundError(f"The catalogue has no family '{family}'; {suggest_name(family, families)}")
    of_family = [row for row in rows if family is None or row.family == family.lower()]
    chosen = [row for row in of_family if year in {None, row.year}]
    if not chosen:
        years = sorted({row.year for row in of_family if row.year})
        raise VenueNotFoundError(
            f"The catalogue has no such venue of {year}; choose from: {', '.join(map(str, years))}."
        )
    return chosen


def forms(
    venue_id: Annotated[
        str | None,
        Parameter(
            name="VENUE_ID", help="A venue, by id or short name, or the id of a declared form; all forms if omitted."
        ),
    ] = None,
    /,
    *,
    workspace: OptionalWorkspace = None,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """List the known review forms and their venues, or show the fields of one form.

    A venue's form is read from OpenReview's own invitation if the workspace has it; otherwise the form that the
    workspace's venues.toml declares is used, else a declared form of the package, each with its sources; otherwise the
    form is inferred from the reviews. For a venue in venues.toml, each field is shown as read with and without that
    file.

    Parameters
    ----------
    workspace
        Folder of a workspace: also show the forms of its venues, and how often each field was filled in. It must be
        named here.
    json_
        Print JSON, with every answer that a field offers.
    """
    from peercorpus.cli.text import forms as form_texts
    from peercorpus.forms.form_usage import compare_readings
    from peercorpus.forms.venue_forms import all_declared, held_forms
    from peercorpus.workspace.workspace import open_workspace

    with nullcontext() if workspace is None else open_workspace(workspace, write=False) as opened:
        if venue_id is None:
            every = [*(held_forms(opened) if opened else ()), *all_declared()]
            as_json = map(form_texts.form_to_dict, every)
            say(form_texts.forms_to_json(list(as_json)) if json_ else form_texts.forms_table(every))
            return
        name = _read_name(venue_id, opened)
        described = _find(name, opened)
        compared = compare_readings(opened, name) if opened else None
    if json_:
        say(form_texts.forms_to_json([form_texts.form_to_dict(known_form, census) for known_form, census in described]))
    else:
        parts = [form_texts.form(known_form, census) for known_form, census in described]
        say("\n\n".join([*parts, *([form_texts.readings(compared)] if compared else [])]))


def _read_name(text: str, opened: "Workspace | None") -> str:
    """Return the id of a declared form as it is, and otherwise the venue that is meant."""
    from peercorpus.forms.venue_forms import find_declared
    from peercorpus.venues.venue_names import is_known, read_venue_id

    held = opened.venues() if opened else ()
    return read_venue_id(text, held) if find_declared(text) is None and is_known(text, held) else text


def _find(name: str, opened: "Workspace | None") -> "Sequence[tuple[KnownForm, FormUsage | None]]":
    """Return the forms of a venue: as the workspace uses them, with their usage, or else the declared form."""
    from peercorpus.forms.form_usage import read_censuses
    from peercorpus.forms.venue_forms import find_declared

    if opened is not None and name in opened.raw.venues():
        return read_censuses(opened, name)
    declared = find_declared(name)
    if declared is None:
        raise VenueNotFoundError(_explain_not_found(name, opened))
    return [(declared, None)]


def _explain_not_found(name: str, opened: "Workspace | None") -> str:
    from peercorpus.forms.venue_forms import close_name

    close = close_name(name, opened.raw.venues() if opened else ())
    advice = f"did you mean '{close}'?" if close else "harvest the venue, then name its workspace with --workspace."
    absence = ", and the workspace has no data for it" if opened else ""
    return f"No form of '{name}' is known: none is declared for it{absence}; {advice}"


WIDTH = 100
"""Columns of the terminal."""
_ID_COLUMNS = 46
"""A longer id gets a line of its own, so that the table fits into 100 columns."""
WIDTHS = (3, 10, 16, 8, 4)
"""Widths of the columns after the id."""
SEEN = {
    Visibility.PUBLIC: "all",
    Visibility.REJECTED_OPT_IN: "opt-in",
    Visibility.ACCEPTED_ONLY: "accepted",
    Visibility.SOME_REVIEWS: "some",
    Visibility.REVIEWS_PRIVATE: "none",
    Visibility.NOTHING: "no paper",
    Visibility.REVERTED_BEFORE_DISCUSSION: "reverted",
}
LEGEND = """\
Deadlines are in UTC. Reviews that the public sees: all: of all submissions; opt-in: of accepted
papers, and of rejected ones if their authors agreed; accepted: of accepted papers only; some; none;
no paper: not even submissions; reverted: all, in their state before the discussion. Sure:
A observed, B read in running code, C one weak source, D from memory. '-': unknown.
Sources and remarks: --json"""
_RULES = "Rules that change what a record means; one that is not listed is unknown, not absent:"


def catalogue_table(rows: Sequence[VenueRow]) -> str:
    """Return the catalogue, one line per venue, with a legend."""
    lines = [_line("venue", "API", "abstracts", "full papers", "reviews", "sure")]
    lines += [
        _line(
            row.id,
            f"v{row.api}" if row.api else "-",
            _moment(row.abstract_deadline, "%Y-%m-%d"),
            _moment(row.full_deadline, "%Y-%m-%d %H:%M"),
            SEEN[row.visibility] if row.visibility else "-",
            row.confidence.value,
        )
        for row in rows
    ]
    return "\n".join([*lines, "", f"{plural(len(rows), 'venue')}.", LEGEND, *_list_rules(rows)])


def _list_rules(rows: Sequence[VenueRow]) -> Iterator[str]:
    """Yield the rules of each venue other than what it publishes, which the table has."""
    others = {row.id: [rule for rule in rules_of(row.id, row) if rule.kind is not RuleKind.PUBLICATION] for row in rows}
    yield from ("", *textwrap.wrap(_RULES, WIDTH)) if any(others.values()) else ()
    for venue_id, rules in others.items():
        yield from [venue_id] if rules else []
        for rule in rules:
            text = f"{SUBJECTS[rule.kind]}: {rule.says}"
            yield from textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def catalogue_to_json(rows: Sequence[VenueRow]) -> str:
    """Return the catalogue as a JSON array, with family, year and track from each id; unknown values are null."""
    venues = [
        {
            **msgspec.to_builtins(row),
            "family": row.family,
            "year": row.year,
            "track": row.track,
            "rules": msgspec.to_builtins(rules_of(row.id, row)),
        }
        for row in rows
    ]
    return msgspec.json.format(msgspec.json.encode(venues)).decode()


def _line(*cells: str) -> str:
    venue, *others = cells
    fields = "  ".join(f"{cell:<{width}}" for cell, width in zip(others, WIDTHS, strict=True))
    begin = f"{venue}\n{'':<{_ID_COLUMNS}}" if len(venue) > _ID_COLUMNS else f"{venue:<{_ID_COLUMNS}}"
    return f"{begin}  {fields}".rstrip()


def _moment(deadline: DueDate | None, form: str) -> str:
    return f"{deadline.at:{form}}" if deadline else "-"
