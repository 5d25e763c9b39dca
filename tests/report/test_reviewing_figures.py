"""Load, lateness and responses of the reviewing by subject area, and where the due dates of reviews come from."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from invented_sources import NOON, Given, paper, review, talk
from invented_tables import ICLR, invented
from invented_tables import paper as paper_record
from invented_tables import post as post_record
from invented_tables import review as review_record
from peercorpus.models.token_counts import words_and_signs
from peercorpus.records.enums import PostKind
from peercorpus.report.corpus_sources import WorkspaceSource
from peercorpus.report.corpus_statistics import Statistic
from peercorpus.report.reviewing_figures import late_reviews, responses_by_area, review_load
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

PAPERS = [
    paper("f1", primary_area="optimisation"),
    paper("f2", primary_area=" optimisation "),
    paper("f3", primary_area="graphs"),
    paper("f4", primary_area=""),
    paper("f5"),
]


def rows(statistic: Statistic, *columns: str) -> list[tuple[Any, ...]]:
    return statistic.table.select("area", *columns).rows()


def test_the_load_includes_papers_without_reviews() -> None:
    given = Given(papers=PAPERS, reviews=[review("f1", 3, 3, place=place) for place in range(4)] + [review("f3", 3, 3)])
    load = review_load(given)
    assert rows(load, "papers", "reviews", "reviews_per_paper", "fewest", "most", "without_review") == [
        ("optimisation", 2, 4, 2.0, 0, 4, 1),
        ("graphs", 1, 1, 1.0, 1, 1, 0),
        ("no area named", 2, 0, 0.0, 0, 0, 2),
    ]
    assert load.says == "A paper has 1.0 reviews on average, between 0 and 4; 3 papers without any."
    assert load.unknown == {"papers that name no area": 2}


def test_a_review_is_late_after_its_date() -> None:
    def posted(number: int, hours: float | None, *, is_due: bool = True) -> dict[str, Any]:
        created_at = None if hours is None else NOON + timedelta(hours=hours)
        due_at = NOON if is_due else None
        return {"review_id": f"r{number}", "forum_id": "f1", "created_at": created_at, "due_at": due_at}

    times = [posted(0, 0), posted(1, 48), posted(2, -3), posted(3, 24), posted(4, None), posted(5, 1, is_due=False)]
    late = late_reviews(Given(papers=PAPERS, review_times=times))
    assert rows(late, "reviews", "late", "share_late", "median_days_late") == [("optimisation", 4, 2, 0.5, 1.5)]
    assert late.says == "2 of 4 reviews came after the due date, the median one by 1.5 days."
    assert late.unknown == {"no due date of the reviews is known": 1, "no time of posting": 1}


def test_a_response_to_all_counts() -> None:
    turns = [*talk("f1/a", "ra"), *talk("f1/b", "rar"), *talk("f2/c", "r"), *talk("f3/d", "rr")]
    found = responses_by_area(Given({"f2/c": 1}, papers=PAPERS, turns=turns))
    assert rows(found, "conversations", "answered", "returned") == [("optimisation", 3, 3, 1), ("graphs", 1, 0, 0)]
    assert found.says == "The authors answered in 75 % of the conversations, and the reviewer came back in 25 %."


OWN = f"{ICLR}/Paper1/-/Official_Review"
FORM = f"{ICLR}/-/Official_Review"
DUE = datetime(2019, 11, 4, 12, tzinfo=UTC)
STATED = f"""
[[venue]]
id = "{ICLR}"
source = "https://iclr.example"
review_deadline = {{ at = 2019-11-01T00:00:00Z, source = "https://iclr.example/dates" }}
"""


def invitation(name: str, due: datetime | None) -> RawObject:
    body = {"id": name, "duedate": int(due.timestamp() * 1000) if due else None}
    return RawObject(RawKind.INVITATION, name, 1, ICLR, "", name, 1, 1, "t", json.dumps(body).encode())


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A paper with a public review, whose post names its own invitation, and a restricted one."""
    posts = [post_record(f"f1-{who}", "f1", kind=PostKind.REVIEW, invitation=OWN) for who in ("R1", "R2")]
    reviews = [review_record("f1", "R1"), review_record("f1", "R2", readers_public=False)]
    with invented(tmp_path / "corpus", {ICLR: [paper_record("f1"), *reviews, *posts]}) as opened:
        opened.raw.add([RawObject(RawKind.NOTE, "f1", 1, ICLR, "f1", "f1", 1, 1, "t", b"{}")])
        yield opened


def read_due(workspace: Workspace) -> list[tuple[str, datetime | None]]:
    times = WorkspaceSource(workspace, words_and_signs()).review_times
    return times.select("review_id", "due_at").rows()


def test_the_nearest_due_date_counts(workspace: Workspace) -> None:
    assert read_due(workspace) == [("f1-R1", None)]
    workspace.raw.add([invitation(FORM, DUE)])
    assert read_due(workspace) == [("f1-R1", DUE)]
    workspace.raw.add([invitation(OWN, DUE + timedelta(days=2))])
    assert read_due(workspace) == [("f1-R1", DUE + timedelta(days=2))]
    workspace.own_venues = STATED.encode()
    assert read_due(workspace) == [("f1-R1", datetime(2019, 11, 1, tzinfo=UTC))]


def test_due_dates_are_read_despite_a_takedown(workspace: Workspace) -> None:
    workspace.raw.add([invitation(OWN, DUE)])
    (workspace.folder / "takedown.txt").write_text("f1-R2\n")
    assert read_due(workspace) == [("f1-R1", DUE)]
