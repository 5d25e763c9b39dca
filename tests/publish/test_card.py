"""The card of a release: its numbers are those of the tables, and nothing from OpenReview can change its shape."""

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from markdown_it import MarkdownIt

from invented_tables import ICLR, ICML, TMLR, a_forum, invented, link, paper, review, score, version
from peercorpus.kinds import Aspect, Grade, Phase, Reason, ScoreSource, Status
from peercorpus.publish.columns import columns_of, escape, units
from peercorpus.publish.meanings import meanings
from peercorpus.publish.run import publish
from peercorpus.publish.schemas import flat
from peercorpus.publish.shards import CONFIGS
from peercorpus.publish.split_files import Asked
from peercorpus.publish.splits import Profile
from peercorpus.raw import Kind, RawObject
from peercorpus.workspace import Workspace

REVERTED, OPT_IN = "ICLR.cc/2026/Conference", "ICML.cc/2025/Conference"
RE2 = Asked(Profile.RE2)


def received(venue_id: str, at: datetime, kind: Kind = Kind.NOTE, object_id: str = "n1") -> RawObject:
    return RawObject(kind, object_id, 2, venue_id, "f1", "f1", 0, int(at.timestamp() * 1000), "a dump", b"{}")


def card_of(workspace: Workspace, out: Path, sides: Asked | None = None, *, with_authors: bool = True) -> str:
    publish(workspace, out, sides=sides, with_authors=with_authors)
    return (out / "README.md").read_text()


def a_card(tmp_path: Path, venues: dict[str, list[object]], sides: Asked | None = None) -> str:
    with invented(tmp_path / "corpus", venues) as workspace:
        return card_of(workspace, tmp_path / "out", sides)


def section(card: str, heading: str) -> str:
    return re.split(r"^#+ ", card.split(f" {heading}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def cells(card: str, heading: str) -> list[list[str]]:
    """The rows of every table of a section, heads included."""
    lines = section(card, heading).splitlines()
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines if line.startswith("| ")]


def rows_of(out: Path, config: str) -> list[dict[str, object]]:
    return [row for path in (out / "data" / config).glob("*.parquet") for row in pq.read_table(path).to_pylist()]


def test_its_counts_are_those_of_the_tables(tmp_path: Path) -> None:
    unread = [paper("f2", status=Status.REJECTED), version("f2", None, Grade.UNAVAILABLE)]
    venues: dict[str, list[object]] = {ICLR: [*a_forum("f1"), *unread], TMLR: []}
    venues[ICML] = [*a_forum("f3", ICML), link("f3", ICML, "f1")]
    card, out = a_card(tmp_path, venues, RE2), tmp_path / "out"
    venue_of = {config: Counter(row["venue_id"] for row in rows_of(out, config)) for config in CONFIGS}
    texts = Counter(row["venue_id"] for row in rows_of(out, "papers") if row["markdown"])
    found = {row[0]: row[2:] for row in cells(card, "Venues")}
    for venue_id in (ICLR, ICML):
        counts = (venue_of[config][venue_id] for config in ("papers", "reviews", "conversations", "versions"))
        assert found[venue_id][:4] == [str(count) for count in counts]
        assert found[venue_id][5] == str(texts[venue_id])
    assert found["all"] == ["3", "2", "2", "3", "2", "2"]
    sizes = {row[0].split("`")[1]: row[2] for row in cells(card, "What is in it") if "`" in row[0] and len(row) == 4}
    assert sizes == {config: str(sum(of.values())) for config, of in venue_of.items()}
    assert [f"| {ICLR} | `rejected` | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 |"] == re.findall(r".*`rejected`.* 0 \|", card)[1:]


def test_it_says_for_which_outcome_the_text_is_missing_most_often(tmp_path: Path) -> None:
    lost = [paper(f"f{number}", status=Status.REJECTED) for number in range(4, 6)]
    said = section(a_card(tmp_path, {ICLR: [*a_forum("f1"), *a_forum("f2"), paper("f3"), *lost]}), "Known biases")
    assert "accepted 1 of 3 (33%); rejected 2 of 2 (100%)" in said
    assert "missing most often where the paper is rejected, least often where it is accepted" in said
    assert "3 of 5 (60%) are accepted" in said
    assert "3 of 5 (60%) papers have no review" in said


def test_it_names_the_venues_that_hide_rejected_papers_or_put_their_reviews_back(tmp_path: Path) -> None:
    venues: dict[str, list[object]] = {REVERTED: a_forum("f1", REVERTED), OPT_IN: [paper("f2", OPT_IN)]}
    said = section(a_card(tmp_path, venues), "Known biases")
    assert f"not at all: {OPT_IN} (1 accepted, 0 rejected)" in said
    assert f"no rejected paper is here, for whatever reason: {REVERTED} (1 accepted, 0 rejected)" in said
    assert (
        f"{REVERTED} put its reviews back to how they stood before the discussion: the scores of its 1 reviews" in said
    )


def test_it_counts_scores_and_reviews_of_which_the_beginning_is_not_known(tmp_path: Path) -> None:
    told = (
        replace(score("rating", 3, "from 3", Aspect.RECOMMENDATION, Phase.INITIAL), source=ScoreSource.TEXT),
        score("rating", 6, "6", Aspect.RECOMMENDATION),
    )
    known = review("f1", "R1", scores=told, revised=True)
    unknown = review("f1", "R2", updated_fields=("summary",))
    said = section(a_card(tmp_path, {ICLR: [paper("f1"), known, unknown]}), "Known biases")
    assert "not known of 3 of 4 (75%) scores; of 1 it is known by the reviewer's own words alone" in said
    assert "whether the reviewer changed 1 of 2 (50%) reviews" in said
    assert "1 of 2 (50%) reviews say of themselves that a part was added later" in said


def test_what_was_set_aside_is_counted_by_stage_and_reason_in_the_words_of_the_reason(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1"), ICML: a_forum("f2", ICML)}) as workspace:
        for venue_id in (ICLR, ICML):
            with workspace.tables.replacing((), venue_id, "read_<b>", "b" * 64) as replacement:
                replacement.set_aside("x", "f1", Reason.PDF_DAMAGED, "One word.")
        assert workspace.tables.stages(ICLR) == ["read_<b>"]
        both, one = card_of(workspace, tmp_path / "out"), tmp_path / "one"
        publish(workspace, one, [ICML])
    line = f"| {escape('read_<b>')} | `pdf_damaged` | {meanings(Reason)['pdf_damaged']} | 2 |"
    assert line in both
    assert line.replace("2 |", "1 |") in (one / "README.md").read_text()


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_words(reason: Reason) -> None:
    assert meanings(Reason)[reason.value].endswith(".")


def test_what_openreview_names_cannot_change_its_shape(tmp_path: Path) -> None:
    bad_id = 'X.cc/2020/<script>alert("1")</script>|`${upstream}](http://x)'
    licence = "CC <b>|`\n\n# Heading"
    body, plain = (
        a_card(tmp_path / name, {venue_id: [paper("f1", venue_id, licence=stated), *a_forum("f1", venue_id)[1:]]}, RE2)
        for name, venue_id, stated in (("bad", bad_id, licence), ("plain", "X.cc/2020/Y", "CC"))
    )
    reader = MarkdownIt().enable("table")
    shapes = [[token.type for token in reader.parse(text.split("---\n", 2)[2])] for text in (body, plain)]
    assert shapes[0] == shapes[1]
    shown = reader.render(body.split("---\n", 2)[2])
    assert "<script>" not in shown
    assert "CC &lt;b&gt;|`" in shown


def test_a_release_without_texts_reviews_and_sides_says_so(tmp_path: Path) -> None:
    card = a_card(tmp_path, {ICLR: [paper("f1", status=Status.UNDER_REVIEW, decision=None)]})
    assert [row[0] for row in cells(card, "What is in it")][2:4] == ["`papers` (default)", "`papers_full`"]
    assert "This release names none. Draw them by paper, never by review." in card
    assert "Nothing was set aside." in card
    assert "1 of 1 (100%) papers have no review" in card
    assert 'load_dataset("path/to/this/folder", "papers", split="iclr")' in card
    assert "conversations = load_dataset" not in card
    assert "missing, by what became" not in card


def test_it_is_dated_by_the_newest_of_what_was_received(tmp_path: Path) -> None:
    days = [datetime(2025, 3, 4, 5, tzinfo=UTC), datetime(2025, 6, 7, tzinfo=UTC)]
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1"), ICML: a_forum("f2", ICML)}) as workspace:
        undated = card_of(workspace, tmp_path / "undated")
        with workspace.raw.transaction():
            workspace.raw.add(
                received(venue, day, object_id=venue) for venue, day in zip((ICLR, ICML), days, strict=True)
            )
        card = card_of(workspace, tmp_path / "out")
        publish(workspace, tmp_path / "one", [ICLR])
    assert "from 2025-03-04 to 2025-06-07 (UTC)" in card
    assert "@misc{peercorpus_20250607,\n  title = {Peer reviews from OpenReview}," in card
    assert "@misc{peercorpus_20250304,\n" in (tmp_path / "one" / "README.md").read_text()
    assert "@misc{peercorpus,\n" in undated


def test_the_datasets_whose_records_it_holds_are_to_be_cited(tmp_path: Path) -> None:
    day = datetime(2025, 1, 1, tzinfo=UTC)
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        assert "eprint" not in card_of(workspace, tmp_path / "out")
        with workspace.raw.transaction():
            workspace.raw.add([received(ICLR, day, Kind.PUBLISHED, "re2-reviews:1")])
        card = section(card_of(workspace, tmp_path / "out"), "How to cite it")
    assert "eprint = {2505.07920}" in card
    assert "Samarth0710" not in card


def test_it_says_whether_authors_are_named(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        named = card_of(workspace, tmp_path / "out")
        unnamed = card_of(workspace, tmp_path / "out", with_authors=False)
    assert ("Authors are named where" in named, "Authors are named where" in unnamed) == (True, False)
    assert "Authors are not named" in unnamed


@pytest.mark.parametrize("name", CONFIGS)
def test_every_column_is_described_and_every_number_has_a_unit(tmp_path: Path, name: str) -> None:
    config = CONFIGS[name]
    venues: dict[str, list[object]] = {ICLR: [one for number in range(9) for one in a_forum(f"f{number}")]}
    venues[ICLR].append(link("f1", ICLR, "f0"))
    described = section(a_card(tmp_path, venues, RE2), f"Columns of `{name}`")
    assert columns_of(config) in described
    for path, field in flat(config.schema):
        assert f"| `{path}` |" in described
        if any(word in str(field.type) for word in ("double", "int", "timestamp")) and "struct" not in str(field.type):
            assert f"`{field.name}`" in units([config])
