"""The reader of a user's `venues.toml` refuses invalid rows, and names file, venue and key."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from peercorpus.errors import VenuesFileError
from peercorpus.records.enums import Aspect, PostKind, Status
from peercorpus.venues.catalogue import DueDate, Visibility, row_of
from peercorpus.venues.own_venues import extend_row, find_row, known_rows, own_venues, read_own_venues
from peercorpus.workspace.workspace import open_workspace

V = "Harbour.org/2031/Conference"
LEAST = f"""
[[venue]]
id = "{V}"
source = "https://harbour.example"
"""
FULL = f"""{LEAST}
api = 2
lists = ["Papers"]
visibility = "public"
remark = "Invented."
[venue.abstract_deadline]
at = 2031-02-22T12:00:00Z
source = "https://harbour.example/dates"
[venue.full_deadline]
at = 2031-03-02T12:00:00Z
source = "https://harbour.example/dates"
[[venue.listed_deadlines]]
at = 2031-03-01T12:00:00Z
sources = ["a list", "another"]
[venue.words]
replies.review = ["Referee_Report"]
scores.recommendation = ["mark"]
roles.reviewer = ["Referee_"]
decision_fields = ["outcome"]
[venue.statuses]
accepted = ["Taken"]
[venue.form]
evidence = ["D"]
field = []
"""
FILE = "corpus/venues.toml"


def test_a_row_may_say_little_or_much() -> None:
    [least] = read_own_venues(LEAST.encode(), FILE).values()
    [full] = read_own_venues(FULL.encode(), FILE).values()
    assert (least.id, least.full_deadline, least.reading_digest) == (V, None, "")
    assert full.full_deadline == DueDate(datetime(2031, 3, 2, 12, tzinfo=UTC), "https://harbour.example/dates")
    assert full.words.replies == {PostKind.REVIEW: ("Referee_Report",)}
    assert full.words.scores == {Aspect.RECOMMENDATION: ("mark",)}
    assert full.statuses == {Status.ACCEPTED: ("Taken",)}
    assert len(full.reading_digest) == 64
    assert read_own_venues(b"", FILE) == {}
    assert read_own_venues(b"\xef\xbb\xbf" + LEAST.encode(), FILE).keys() == {V}


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ("api = 2", "api = 3", "'api'", "1, 2"),
        ("api = 2", 'api = "two"', "'api'", "`int"),
        ("api = 2", "apy = 2", "'apy'", "full_deadline"),
        ('visibility = "public"', 'visibility = "open"', "'visibility'", "rejected_opt_in"),
        ("at = 2031-03-02T12:00:00Z", "", "'full_deadline.at'", "missing"),
        ("at = 2031-03-02T12:00:00Z", 'at = "soon"', "'full_deadline.at'", "RFC3339"),
        ("at = 2031-03-02T12:00:00Z", "at = 2031-03-02T12:00:00", "'full_deadline.at'", "timezone"),
        ("at = 2031-03-02T12:00:00Z", "at = 2031-03-02T12:00:00-12:00", "deadlines", "UTC"),
        ("at = 2031-03-02T12:00:00Z", "at = 2031-02-02T12:00:00Z", "abstracts", "before full papers"),
        ("at = 2031-03-02T12:00:00Z", "on = 2031-03-02T12:00:00Z", "'full_deadline.on'", "at, source"),
        ('sources = ["a list", "another"]', "", "'listed_deadlines[0].sources'", "missing"),
        ('sources = ["a list", "another"]', 'sources = ["a", "a"]', "source", "twice"),
        ("at = 2031-03-02T12:00:00Z", "at = 2031-03-02", "'full_deadline.at'", "`datetime`"),
        ("at = 2031-03-02T12:00:00Z", "at = 9999-12-31T23:59:59Z", "deadlines", "2000 to 2199"),
        ('source = "https://harbour.example"\n', 'source = " "\n', "'source'", "blank"),
        ('accepted = ["Taken"]', 'accepted = [" "]', "'statuses[...]", "blank"),
        ('accepted = ["Taken"]', 'accepted = ["Taken"]\nrejected = [" taken "]', "'statuses'", "one status"),
        ("replies.review", 'replies.decision = ["referee_report"]\nreplies.review', "'words.replies'", "one kind"),
        (
            "scores.recommendation",
            'scores.confidence = ["Mark"]\nscores.recommendation',
            "'words.scores'",
            "one aspect",
        ),
        ("roles.reviewer", 'roles.area_chair = ["Referee_"]\nroles.reviewer', "'words.roles'", "one role"),
        ("replies.review", "replies.referee", "'words.replies'", "meta_review"),
        ("scores.recommendation", "scores.overall", "'words.scores'", "recommendation"),
        ("roles.reviewer", "roles.referee", "'words.roles'", "area_chair"),
        ("decision_fields", "decisions", "'words.decisions'", "decision_fields"),
        ('["outcome"]', '"outcome"', "'words.decision_fields'", "`array`"),
        ('accepted = ["Taken"]', 'taken = ["Taken"]', "'statuses'", "desk_rejected"),
        ('accepted = ["Taken"]', "accepted = []", "'statuses[...]'", "length >= 1"),
        ('accepted = ["Taken"]', 'accepted = ["Taken"]\nrejected = ["taken"]', "'statuses'", "one status"),
        (
            "[venue.statuses]",
            '[venue.invitations]\nfinal = ["X"]\n[venue.statuses]',
            "'invitations.final'",
            "full_paper",
        ),
        (
            "[venue.statuses]",
            '[venue.invitations]\nlate = ["X"]\nfull_paper = ["X"]\n[venue.statuses]',
            "'invitations'",
            "one kind",
        ),
        (f'id = "{V}"', f'id = "{V}/-/Submission"', "id", "group"),
        ('source = "https://harbour.example"\n', "", "'source'", "missing"),
    ],
)
def test_an_invalid_row_is_refused_by_its_key(old: str, new: str, key: str, expected: str) -> None:
    assert old in FULL
    with pytest.raises(VenuesFileError) as refused:
        read_own_venues(FULL.replace(old, new, 1).encode(), FILE)
    told = str(refused.value)
    assert told.startswith(f"'{FILE}', venue '{V}")
    assert [part for part in (key, expected) if part not in told] == []
    assert "\n" not in told


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"[[venue]\n", "TOML"),
        (b"\xff", "TOML"),
        (b"[venue]\nid = 'V'\n", "[[venue]]"),
        (b"[[venues]]\nid = 'V'\n", "'venues'"),
        (b"[[venue]]\nsource = 'x'\n", "number 1"),
        (LEAST.encode() * 2, "two tables"),
    ],
)
def test_an_invalid_file_is_refused(content: bytes, named: str) -> None:
    with pytest.raises(VenuesFileError) as refused:
        read_own_venues(content, FILE)
    assert f"'{FILE}'" in str(refused.value)
    assert named in str(refused.value)


def test_a_users_row_takes_precedence() -> None:
    known = row_of("NeurIPS.cc/2024/Conference")
    assert known is not None
    assert known.full_deadline is not None
    text = FULL.replace(V, known.id).replace("2031-", "2024-")
    [own] = read_own_venues(text.encode(), FILE).values()
    row = extend_row(known, own)
    assert row.full_deadline is not None
    assert row.full_deadline.at == datetime(2024, 3, 2, 12, tzinfo=UTC)
    assert "venues.toml" in row.full_deadline.source
    assert (row.visibility, row.remark, row.counts) == (Visibility.PUBLIC, "Invented.", known.counts)
    assert {one.at for one in known.stated_deadlines} < {one.at for one in row.stated_deadlines}
    assert {one.is_agreed for one in row.stated_deadlines if one.at == datetime(2024, 3, 1, 12, tzinfo=UTC)} == {True}
    [least] = read_own_venues(LEAST.replace(V, known.id).encode(), FILE).values()
    assert extend_row(known, least) == known


def test_a_workspace_reads_its_file_once(tmp_path: Path) -> None:
    (tmp_path / "venues.toml").write_text(LEAST, encoding="utf-8")
    with open_workspace(tmp_path, create=True) as workspace:
        (tmp_path / "venues.toml").write_text(FULL, encoding="utf-8")
        assert own_venues(workspace)[V].api is None
        assert V in [row.id for row in known_rows(workspace)]
    with open_workspace(tmp_path, write=False) as workspace:
        row = find_row(workspace, V)
        assert row is not None
        assert row.api == 2
        assert find_row(workspace, "Lagoon.org/2031/Conference") is None
