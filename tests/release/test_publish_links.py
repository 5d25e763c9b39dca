"""A release's links between submissions of the same work: without those taken down, and all in one split."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from asked_releases import publish_release, rows_of
from cards import read_card
from invented_tables import ICLR, ICML, NOON, TMLR, a_forum, invented, link, paper, post, review, score
from peercorpus.records.enums import Aspect, LinkKind, PostKind, Role
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.shards import CONFIGS
from peercorpus.workspace.workspace import Workspace

RE2 = SplitRequest(Profile.RE2)
ADDRESS = "ada@example.org"


def pairs(out: Path) -> list[tuple[str, str]]:
    return [(row["earlier_id"], row["forum_id"]) for row in rows_of(out, "links")]


def tries(out: Path) -> list[tuple[str, int | None, str]]:
    return [(row["work_id"], row["try_number"], row["forum_id"]) for row in rows_of(out, "tries")]


def three_tries() -> dict[str, list[object]]:
    """One work at three venues: `a` after `b` after `c`; and an unrelated paper."""
    scores = (score("rating", 3.0, "3", Aspect.RECOMMENDATION),)
    days = [NOON + timedelta(days=number) for number in (0, 100, 200)]
    return {
        ICLR: [paper("c", created_at=days[0]), paper("other"), review("c", "R1", scores=scores), review("other")],
        ICML: [paper("b", ICML, created_at=days[1]), review("b", "R1", ICML), link("b", ICML, "c")],
        TMLR: [
            paper("a", TMLR, created_at=days[2]),
            link("a", TMLR, "b", ICML),
            link("a", TMLR, "c", kind=LinkKind.TWIN),
        ],
    }


def published(workspace: Workspace, out: Path, venue_ids: list[str] | None = None, **takedown: str) -> str:
    (workspace.folder / "takedown.txt").write_text("".join(f"{one}\n" for one in takedown.values()))
    publish_release(workspace, out, venue_ids)
    return read_card(out)


@pytest.mark.slow
def test_links_are_published_and_counted(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", three_tries()) as workspace:
        card = published(workspace, tmp_path / "out")
    assert pairs(tmp_path / "out") == [("c", "b"), ("b", "a"), ("c", "a")]
    first = rows_of(tmp_path / "out", "links")[0]
    assert (first["venue_id"], first["conference"], first["year"], first["work_id"]) == (ICML, "icml", 2023, "a")
    assert (first["kind"], first["days"], first["text_similarity"]) == ("resubmission", 120.0, None)
    assert sorted(tries(tmp_path / "out")) == [("a", 1, "c"), ("a", 2, "b"), ("a", 3, "a")]
    by_id = {row["forum_id"]: row for row in rows_of(tmp_path / "out", "tries")}
    assert [by_id[one]["ratings"] for one in "cba"] == [[3.0], [6.0], []]
    assert by_id["c"].keys() == set(CONFIGS["tries"].schema.names)
    assert "| `resubmission` | 2 |\n| `workshop` | 0 |\n| `twin` | 1 |" in card
    assert "links to papers" not in card


@pytest.mark.parametrize(
    ("gone", "links", "left", "lost"),
    [
        ("a", [("c", "b")], [("b", 1, "c"), ("b", 2, "b")], 2),
        ("b", [("c", "a")], [("a", 1, "c"), ("a", 2, "a")], 2),
        ("c", [("b", "a")], [("a", 1, "b"), ("a", 2, "a")], 2),
    ],
)
def test_no_link_names_a_removed_paper(
    tmp_path: Path, gone: str, links: list[tuple[str, str]], left: list[tuple[str, int, str]], lost: int
) -> None:
    with invented(tmp_path / "corpus", three_tries()) as workspace:
        card = published(workspace, tmp_path / "out", gone=gone)
    assert pairs(tmp_path / "out") == links
    assert sorted(tries(tmp_path / "out"), key=lambda one: one[1] or 0) == left
    assert f"{lost} links" in card
    for config in ("links", "tries"):
        assert all(gone not in row.values() for row in rows_of(tmp_path / "out", config))


@pytest.mark.slow
def test_a_hidden_review_gives_no_rating(tmp_path: Path) -> None:
    venues = three_tries()
    more = [review("c", "R2"), review("c", "R3", readers_public=False), review("c", "R4", deleted=True)]
    venues[ICLR] = [*venues[ICLR][:-1], *more]
    with invented(tmp_path / "corpus", venues) as workspace:
        published(workspace, tmp_path / "out", gone="c-R1")
    (found,) = (row for row in rows_of(tmp_path / "out", "tries") if row["forum_id"] == "c")
    assert found["ratings"] == [6.0]


@pytest.mark.slow
def test_links_reveal_no_hidden_decision(tmp_path: Path) -> None:
    venues = three_tries()
    hidden = {"kind": PostKind.DECISION, "role": Role.PROGRAM_CHAIR, "text": "Accept (Poster)"}
    venues[ICLR] += [post("c-decision", "c", readers_public=False, **hidden)]
    venues[ICML][0] = paper("b", ICML, decision=f"Ask {ADDRESS}")
    with invented(tmp_path / "corpus", venues) as workspace:
        published(workspace, tmp_path / "out")
    found = {row["forum_id"]: (row["status"], row["decision"]) for row in rows_of(tmp_path / "out", "tries")}
    assert found["c"] == (None, None)
    assert found["b"] == ("accepted", "Ask [e-mail]")


def forums(first: int, last: int, venue_id: str = ICLR) -> list[object]:
    return [record for number in range(first, last) for record in a_forum(f"f{number:03}", venue_id)]


def splits(workspace: Workspace, out: Path, asked: SplitRequest = RE2) -> dict[str, Any]:
    publish_release(workspace, out, splits=asked)
    found: dict[str, Any] = json.loads(asked.path(out).read_text())
    return found


@pytest.mark.slow
def test_a_taken_down_paper_still_joins_splits(tmp_path: Path) -> None:
    count = 30
    joins = [paper(f"gone{number:03}", TMLR) for number in range(count)]
    links = [link(f"gone{number:03}", TMLR, f"f{number:03}") for number in range(count)]
    links += [link(f"gone{number:03}", TMLR, f"f{number + count:03}", ICML) for number in range(count)]
    venues = {ICLR: forums(0, count), ICML: forums(count, 2 * count, ICML), TMLR: [*joins, *links]}
    with invented(tmp_path / "corpus", venues) as workspace:
        (workspace.folder / "takedown.txt").write_text("".join(f"gone{number:03}\n" for number in range(count)))
        found = splits(workspace, tmp_path / "out")
    split_of = {forum_id: split for split, ids in found["splits"].items() for forum_id in ids}
    assert all(split_of[f"f{number:03}"] == split_of[f"f{number + count:03}"] for number in range(count))
    assert "gone" not in RE2.path(tmp_path / "out").read_text()
    assert {row["work_id"][0] for row in rows_of(tmp_path / "out", "tries")} == {"f"}
    assert pairs(tmp_path / "out") == []


def test_a_later_link_moves_no_paper(tmp_path: Path) -> None:
    with invented(tmp_path / "first", {ICLR: forums(0, 60)}) as workspace:
        before = splits(workspace, tmp_path / "one")
    tested = next(one for one in before["tasks"]["review"]["test"] if one in before["tasks"]["rebuttal"]["test"])
    trained = before["tasks"]["review"]["train"][0]
    ids = sorted((tested, trained))
    with invented(tmp_path / "second", {ICLR: [*forums(0, 60), link(ids[1], ICLR, ids[0])]}) as workspace:
        after = splits(workspace, tmp_path / "two", replace(RE2, earlier=tmp_path / "one"))
        assert splits(workspace, tmp_path / "three", replace(RE2, earlier=tmp_path / "two")) | {"made": None} == (
            after | {"made": None}
        )
    assert after["splits"] == before["splits"]
    for task in ("review", "rebuttal"):
        assert tested in after["tasks"][task]["test"]
        assert trained not in after["tasks"][task]["train"]
    assert trained not in [row["forum_id"] for row in rows_of(tmp_path / "two", "review_sft")]
    held_back = [
        re.search(r"\| review \|.* (\d+) \|\n", (tmp_path / out / "README.md").read_text()) for out in ("one", "two")
    ]
    assert [int(found[1]) for found in held_back if found] == [0, 1]


def test_identical_texts_are_in_one_split(tmp_path: Path) -> None:
    forums = [a_forum(f"f{number:02}", markdown="# One text" if number % 4 else None) for number in range(24)]
    with invented(tmp_path / "corpus", {ICLR: [record for forum in forums for record in forum]}) as workspace:
        publish_release(workspace, tmp_path / "out", splits=RE2)
    splits = json.loads(RE2.path(tmp_path / "out").read_text())["splits"]
    of = {forum_id: split for split, ids in splits.items() for forum_id in ids}
    assert len({of[f"f{number:02}"] for number in range(24) if number % 4}) == 1
    assert len(set(of.values())) == 3
    assert not (tmp_path / "out" / "data" / "links").exists()
