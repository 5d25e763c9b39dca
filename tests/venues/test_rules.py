"""Rules of venue-years have a source and a day; pooling venues with different rules is said in one sentence."""

import datetime
import json
import re
from itertools import combinations
from typing import Any

import pytest

from peercorpus.cli.venues import catalogue_table, catalogue_to_json
from peercorpus.release.table1 import DatasetCounts, PaperFacts, explain_row, make_row
from peercorpus.venues.catalogue import Confidence, VenueRow, Visibility, row_of, rows
from peercorpus.venues.rules import SUBJECTS, RuleKind, list_rules, read_rules, rules_of, warn_of_pooling

ICML, ICLR, NEURIPS = "ICML.cc/2026/Conference", "ICLR.cc/2026/Conference", "NeurIPS.cc/2026/Conference"
UNKNOWN = "Invented.cc/2031/Conference"


def test_every_rule_has_a_source() -> None:
    for row in read_rules():
        assert row.says.endswith(".")
        assert datetime.date(2025, 1, 1) < row.date < datetime.date(2027, 1, 1)
        assert re.search(r"https://|/|announcement", row.source)
        assert all("/" in venue_id or row_of(venue_id) for venue_id in row.venues)
    assert {row.kind for row in read_rules()} <= SUBJECTS.keys() == set(RuleKind)


@pytest.mark.parametrize(
    ("venue_id", "kind", "value"),
    [
        (ICML, RuleKind.MODELS, "two policies"),
        (ICML, RuleKind.REMOVED_REVIEWS, "reviews by a model removed"),
        (ICML, RuleKind.PDFS, "hidden instructions"),
        (ICML, RuleKind.PUBLICATION, "rejected opt in"),
        (NEURIPS, RuleKind.MODELS, "three arms at random"),
        ("AAAI.org/2026/Conference", RuleKind.AI_REVIEWS, "beside those of people"),
        ("Agents4Science/2025/Conference", RuleKind.AI_REVIEWS, "signed as reviewers"),
        (ICLR, RuleKind.SCORES, "reverted before the discussion"),
        (ICLR, RuleKind.REMOVED_REVIEWS, "public comments removed"),
        ("ICLR.cc/2027/Conference", RuleKind.MODELS, "chat beside the review"),
        ("ICLR.cc/2025/Conference", RuleKind.EDITS, "not public"),
    ],
)
def test_the_rules_of_a_venue_year_are_known(venue_id: str, kind: RuleKind, value: str) -> None:
    assert [rule.value for rule in rules_of(venue_id) if rule.kind is kind] == [value]


def test_an_unknown_rule_is_not_none() -> None:
    assert rules_of(UNKNOWN) == ()
    assert not any(rule.kind is RuleKind.SCORES for rule in rules_of(ICML))


def test_what_a_user_states_is_a_rule_too() -> None:
    own = VenueRow(id=UNKNOWN, visibility=Visibility.ACCEPTED_ONLY, confidence=Confidence.B, source="its page")
    assert [(rule.value, rule.source) for rule in rules_of(UNKNOWN, own)] == [("accepted only", "its page")]
    assert "what is published: accepted only" in warn_of_pooling([UNKNOWN, "V"], {UNKNOWN: own})


def test_stated_visibility_is_a_rule() -> None:
    for row in rows():
        published = [rule for rule in rules_of(row.id) if rule.kind is RuleKind.PUBLICATION]
        assert len(published) == (row.visibility is not None)
        assert all(rule.source for rule in published)


def test_pooling_names_rules_that_differ() -> None:
    warning = warn_of_pooling([ICML, ICLR, UNKNOWN])
    assert "two policies (ICML.cc/2026/Conference), unknown for 1" in warning
    assert "reverted scores: reverted before the discussion (ICLR.cc/2026/Conference), unknown for 2" in warning


@pytest.mark.parametrize("venue_ids", [[], [ICML], [ICML, ICML], [UNKNOWN, "V"], ["ICLR.cc/2021/Conference"] * 2])
def test_pooling_what_does_not_differ_warns_of_nothing(venue_ids: list[str]) -> None:
    assert warn_of_pooling(venue_ids) == ""


def test_a_warning_depends_on_no_order() -> None:
    venue_ids = [venue_id for row in read_rules() for venue_id in row.venues] + [UNKNOWN, "ICLR.cc/2021/Conference"]
    for first, second in combinations(sorted(set(venue_ids)), 2):
        known = [{rule.kind: rule.value for rule in rules_of(one)} for one in (first, second)]
        different = [SUBJECTS[kind] for kind in RuleKind if known[0].get(kind) != known[1].get(kind)]
        brief = warn_of_pooling([second, first], is_brief=True)
        assert brief == warn_of_pooling([first, second], is_brief=True)
        assert brief.partition(": ")[2].rstrip(".").split("; ") == (different or [""])


def test_the_command_lists_rules_with_sources() -> None:
    row = row_of(ICML)
    assert row is not None
    shown = catalogue_table([row])
    assert "instructions hidden in PDFs" in shown
    assert max(map(len, shown.splitlines())) <= 100
    (venue,) = json.loads(catalogue_to_json([row]))
    assert all(rule["source"] for rule in venue["rules"])
    assert [rule["kind"] for rule in venue["rules"]] == ["models", "removed_reviews", "pdfs", "publication"]
    assert list_rules(rules_of(ICML))[0].endswith("2026-01-19)")


def count(*venue_ids: str) -> DatasetCounts:
    counts = DatasetCounts()
    for venue_id in venue_ids:
        facts: dict[str, Any] = {
            "venue_id": venue_id,
            "conference": "icml",
            "year": 2026,
            "status": "accepted",
            "grade": None,
        }
        counts.add(PaperFacts(**facts, has_text=True, has_meta_review=False))
    return counts


def test_table_1_says_that_it_pools() -> None:
    assert "two policies (ICML.cc/2026/Conference)" in explain_row(make_row("ours", count(ICML, ICLR)))
    assert "Pools" not in explain_row(make_row("ours", count(ICML)))
