"""Texts of `venues`: the catalogue as a table and as JSON, and its comparison with OpenReview."""

import textwrap
from collections.abc import Iterator, Sequence

import msgspec

from peercorpus.records.counted_nouns import plural
from peercorpus.venues.catalogue import DueDate, VenueRow, Visibility
from peercorpus.venues.rules import SUBJECTS, RuleKind, rules_of

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
