"""What a venue's id says, over the ids that real venues have."""

import re
import tomllib
from datetime import UTC, datetime
from importlib.resources import files

import pytest

from peercorpus.raw import UNPLACED
from peercorpus.venues import catalogue
from peercorpus.venues.catalogue import conference_of, deadline_of, submission_lists_of, track_of, year_of

IDS = [
    ("ICLR.cc/2024/Conference", "iclr", 2024, "main"),
    ("ICLR.cc/2013/conference", "iclr", 2013, "main"),
    ("ICLR.cc/2016/workshop", "iclr", 2016, "workshop"),
    ("ICLR.cc/2023/TinyPapers", "iclr", 2023, "TinyPapers"),
    ("NIPS.cc/2018/Workshop/CDNNRIA", "neurips", 2018, "Workshop/CDNNRIA"),
    ("NeurIPS.cc/2023/Track/Datasets_and_Benchmarks", "neurips", 2023, "Track/Datasets_and_Benchmarks"),
    ("NeurIPS.cc/2024/Datasets_and_Benchmarks_Track", "neurips", 2024, "Datasets_and_Benchmarks_Track"),
    ("robot-learning.org/CoRL/2022/Conference", "corl", 2022, "main"),
    ("auai.org/UAI/2022/Conference", "uai", 2022, "main"),
    ("EMNLP/2023/Conference", "emnlp", 2023, "main"),
    ("aclweb.org/ACL/ARR/2023/May", "arr", 2023, "May"),
    ("MIDL.amsterdam/2018/Conference", "midl", 2018, "main"),
    ("rl-conference.cc/RLC/2024/Conference", "rlc", 2024, "main"),
    ("3DV/2025/Conference", "3dv", 2025, "main"),
    ("TMLR", "tmlr", None, "main"),
    (".TMLR", "tmlr", None, "main"),
    ("DMLR/Journal", "dmlr", None, "main"),
    (UNPLACED, "unplaced", None, "main"),
    ("2024", "2024", 2024, "main"),
    ("/", "unknown", None, "main"),
    ("", "unknown", None, "main"),
]


@pytest.mark.parametrize(("venue_id", "conference", "year", "track"), IDS)
def test_an_id_says_family_year_and_track(venue_id: str, conference: str, year: int | None, track: str) -> None:
    assert (conference_of(venue_id), year_of(venue_id), track_of(venue_id)) == (conference, year, track)
    assert re.fullmatch(r"[a-z0-9_]+", conference_of(venue_id))


def test_every_row_of_the_catalogue_names_its_source() -> None:
    rows = tomllib.loads((files("peercorpus.venues") / "catalogue.toml").read_text(encoding="utf-8"))
    assert all(row["source"] for name in ("lists", "deadlines") for row in rows.get(name, ()))


def test_a_deadline_is_known_with_its_source_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    assert deadline_of("ICLR.cc/2024/Conference") is None
    at = datetime(2030, 9, 28, 11, 59, tzinfo=UTC)
    row = {"venue_id": "Example.cc/2030/Conference", "at": at, "source": "its page"}
    monkeypatch.setattr(catalogue, "_catalogue", lambda: {"deadlines": [row]})
    found = deadline_of("Example.cc/2030/Conference")
    assert found is not None
    assert (found.at, found.source) == (at, "its page")


def test_odd_lists_are_whole_invitation_ids() -> None:
    assert submission_lists_of("ICLR.cc/2017/conference") == ("ICLR.cc/2017/conference/-/submission",)
    assert submission_lists_of("ICLR.cc/2024/Conference") == ()
