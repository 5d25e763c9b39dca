"""The rules of venue-years that change what their record means, from `rules.toml` and the catalogue; and their pooling.

A rule that is in neither is unknown, never "none".
"""

import datetime
import re
import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Annotated

import msgspec

from peercorpus.venues.catalogue import Text, VenueRow, Visibility, row_of
from peercorpus.wording.counted_nouns import plural


class RuleKind(StrEnum):
    """Subject of a rule."""

    MODELS = "models"
    AI_REVIEWS = "ai_reviews"
    SCORES = "scores"
    REMOVED_REVIEWS = "removed_reviews"
    PDFS = "pdfs"
    PUBLICATION = "publication"
    EDITS = "edits"


SUBJECTS: Mapping[RuleKind, str] = MappingProxyType(
    {
        RuleKind.MODELS: "language models in reviewing",
        RuleKind.AI_REVIEWS: "reviews by an AI",
        RuleKind.SCORES: "reverted scores",
        RuleKind.REMOVED_REVIEWS: "removed reviews and comments",
        RuleKind.PDFS: "instructions hidden in PDFs",
        RuleKind.PUBLICATION: "what is published",
        RuleKind.EDITS: "edits of reviews",
    }
)
"""Each subject in words."""
_PUBLISHED = {
    Visibility.PUBLIC: "All submissions are public with their reviews, accepted or not.",
    Visibility.REVERTED_BEFORE_DISCUSSION: "All submissions are public with their reviews, accepted or not.",
    Visibility.REJECTED_OPT_IN: "Rejected papers are public only if their authors agreed.",
    Visibility.ACCEPTED_ONLY: "Only accepted papers are public.",
    Visibility.SOME_REVIEWS: "Papers are public with only some of their reviews.",
    Visibility.REVIEWS_PRIVATE: "Papers are public without their reviews.",
    Visibility.NOTHING: "No submission is public.",
}


class VenueRule(msgspec.Struct, frozen=True):
    """One rule of a venue-year.

    Attributes:
        value: The rule in a few words, the same for venues with the same rule.
        says: The rule in one sentence.
        date: Day of the source, or on which it was read; None if the source does not state one.
    """

    kind: RuleKind
    value: str
    says: str
    source: str
    date: datetime.date | None = None


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    venues: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    kind: RuleKind
    value: Text
    says: Text
    date: datetime.date
    source: Text


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[_Row, ...]


@cache
def read_rules() -> tuple[_Row, ...]:
    """Return the rows of `rules.toml`.

    Raises:
        ValueError: A row is invalid or lacks a source, or a venue has two rows of one kind.
    """
    text = files("peercorpus.venues").joinpath("rules.toml").read_text(encoding="utf-8")
    rows = msgspec.convert(tomllib.loads(text), _File).rule
    seen: set[tuple[str, RuleKind]] = set()
    for row in rows:
        for venue_id in row.venues:
            if (venue_id, row.kind) in seen:
                raise ValueError(f"rules.toml has two rows of '{venue_id}' for '{row.kind}'; merge them into one.")
            seen.add((venue_id, row.kind))
    return rows


def rules_of(venue_id: str, row: VenueRow | None = None) -> tuple[VenueRule, ...]:
    """Return the known rules of a venue, in the order of `RuleKind`; `row` None means the catalogue's row."""
    own = (one for one in read_rules() if venue_id in one.venues)
    rules = [VenueRule(one.kind, one.value, one.says, one.source, one.date) for one in own]
    rules += _read_row(row or row_of(venue_id))
    return tuple(sorted(rules, key=lambda rule: list(RuleKind).index(rule.kind)))


def _read_row(row: VenueRow | None) -> list[VenueRule]:
    """Return the rules that a row of the catalogue states."""
    stated: list[tuple[RuleKind, str, str, str]] = []
    if row is not None and row.visibility is not None:
        is_reverted = row.visibility is Visibility.REVERTED_BEFORE_DISCUSSION
        source = row.visibility_source or row.source
        published = (Visibility.PUBLIC if is_reverted else row.visibility).value.replace("_", " ")
        stated.append((RuleKind.PUBLICATION, published, _PUBLISHED[row.visibility], source))
        if is_reverted:
            says = "Reviews were reset to their state before the discussion, so the scores are those first given."
            stated.append((RuleKind.SCORES, "reverted before the discussion", says, source))
    if row is not None and (removed := row.removed_comments) is not None:
        says = f"Public comments from {removed.since:%Y-%m-%d} to {removed.until:%Y-%m-%d} were removed."
        stated.append((RuleKind.REMOVED_REVIEWS, "public comments removed", says, removed.source))
    return [VenueRule(*one, _find_day(one[-1])) for one in stated]


_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")


def _find_day(source: str) -> datetime.date | None:
    """Return the first day that a source of the catalogue names, on which it was read; None if it names none."""
    named = _DAY.search(source)
    return datetime.date.fromisoformat(named[0]) if named else None


def list_rules(rules: Iterable[VenueRule]) -> list[str]:
    """Return each rule as a sentence with its subject, source and day."""
    return [
        f"{SUBJECTS[rule.kind]}: {rule.says} ({rule.source}{f', {rule.date}' if rule.date else ''})" for rule in rules
    ]


_MOST_NAMED = 2
"""Most venues that a warning names for one rule; more are counted."""
_UNKNOWN = "unknown"


def warn_of_pooling(
    venue_ids: Iterable[str], rows: Mapping[str, VenueRow | None] = MappingProxyType({}), *, is_brief: bool = False
) -> str:
    """Return one sentence if venues whose numbers are pooled differ in a known rule; empty otherwise.

    A rule that is known for one venue and unknown for another counts: it may be different there.

    >>> warn_of_pooling(["ICML.cc/2026/Conference"]), warn_of_pooling(["V/2030", "V/2031"])
    ('', '')
    >>> warn_of_pooling(["ICML.cc/2023/Conference", "ICML.cc/2025/Conference"], is_brief=True)
    'Pools venue-years whose rules differ or may differ: what is published.'

    Args:
        venue_ids: The venues, in any order.
        rows: Facts about some of them, such as the user's, instead of the catalogue's rows.
        is_brief: Whether only the subjects are named, without values and venues.
    """
    known = {venue_id: rules_of(venue_id, rows.get(venue_id)) for venue_id in sorted(set(venue_ids))}
    said = []
    for kind in RuleKind:
        by_value: dict[str, list[str]] = {}
        for venue_id, rules in known.items():
            value = next((rule.value for rule in rules if rule.kind is kind), _UNKNOWN)
            by_value.setdefault(value, []).append(venue_id)
        if len(by_value) > 1:
            said.append(SUBJECTS[kind] if is_brief else f"{SUBJECTS[kind]}: {_join_values(by_value)}")
    return f"Pools venue-years whose rules differ or may differ: {'; '.join(said)}." if said else ""


def _join_values(by_value: dict[str, list[str]]) -> str:
    """Return each value of a rule with its venues, and for how many it is unknown."""
    unknown = by_value.pop(_UNKNOWN, [])
    said = [
        f"{value} ({' and '.join(of) if len(of) <= _MOST_NAMED else plural(len(of), 'venue')})"
        for value, of in by_value.items()
    ]
    return ", ".join([*said, *([f"{_UNKNOWN} for {len(unknown)}"] if unknown else [])])
