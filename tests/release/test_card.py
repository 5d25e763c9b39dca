"""The card of a release: its numbers match the tables, and nothing from OpenReview can change its structure."""

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from answered_points import with_points
from asked_releases import publish_release, rows_of
from cards import read_card
from invented_tables import (
    ICLR,
    ICML,
    TMLR,
    a_forum,
    invented,
    link,
    paper,
    review,
    score,
    version,
    what_follows,
    with_figures,
)
from peercorpus.cli.text.publish import published
from peercorpus.records.documents import Figure
from peercorpus.records.enums import GRADE_MEANINGS, REASON_MEANINGS, Aspect, Grade, Phase, Reason, ScoreSource, Status
from peercorpus.records.papers import PaperVersion
from peercorpus.records.points import Point
from peercorpus.release.card.markdown import escape, units
from peercorpus.release.columns import flatten_columns
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.shards import CONFIGS
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import Workspace

REVERTED, OPT_IN = "ICLR.cc/2026/Conference", "ICML.cc/2025/Conference"
RE2 = SplitRequest(Profile.RE2)


def received(venue_id: str, at: datetime, kind: RawKind = RawKind.NOTE, object_id: str = "n1") -> RawObject:
    return RawObject(kind, object_id, 2, venue_id, "f1", "f1", 0, int(at.timestamp() * 1000), "a dump", b"{}")


def card_of(workspace: Workspace, out: Path, splits: SplitRequest | None = None, *, no_authors: bool = False) -> str:
    publish_release(workspace, out, splits=splits, no_authors=no_authors)
    return read_card(out)


def a_card(tmp_path: Path, venues: dict[str, list[object]], splits: SplitRequest | None = None) -> str:
    kinds = {type(record) for records in venues.values() for record in records}
    with invented(tmp_path / "corpus", venues) as workspace:
        publish_release(workspace, tmp_path / "out", splits=splits, figures=Figure in kinds, points=Point in kinds)
    return read_card(tmp_path / "out")


def section(card: str, heading: str) -> str:
    return re.split(r"^#+ ", card.split(f" {heading}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def cells(card: str, heading: str) -> list[list[str]]:
    """The rows of every table of a section, heads included."""
    lines = section(card, heading).splitlines()
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines if line.startswith("| ")]


@pytest.mark.slow
def test_the_cards_counts_are_those_of_the_tables(tmp_path: Path) -> None:
    unread = [paper("f2", status=Status.REJECTED), version("f2", None, Grade.UNAVAILABLE)]
    venues: dict[str, list[object]] = {ICLR: [*a_forum("f1"), *what_follows("f1"), *unread], TMLR: []}
    venues[ICML] = [*a_forum("f3", ICML), link("f3", ICML, "f1")]
    card, out = a_card(tmp_path, venues, RE2), tmp_path / "out"
    venue_of = {config: Counter(row["venue_id"] for row in rows_of(out, config)) for config in CONFIGS}
    texts = Counter(row["venue_id"] for row in rows_of(out, "papers") if row["markdown"])
    found = {row[0]: row[1:] for row in cells(card, "Venues")}
    further = {row[0]: row[2:] for row in cells(card, "PDFs and rules of the venues")}
    for venue_id in (ICLR, ICML):
        papers, reviews, talks, pdfs = (
            str(venue_of[config][venue_id]) for config in ("papers", "reviews", "conversations", "versions")
        )
        assert found[venue_id] == [papers, reviews, str(texts[venue_id])]
        assert further[venue_id][:3] == [papers, talks, pdfs]
    assert (found["all"], further["all"]) == (["3", "2", "2"], ["3", "2", "4", "3", "2"])
    named = ((row[0].split("`")[1], row[2]) for row in cells(card, "What is in it") if "`" in row[0])
    sizes = {name: size for name, size in named if name in CONFIGS}
    # Figures and points are present only on request, and questions only for test papers.
    assert sizes == {config: str(sum(of.values())) for config, of in venue_of.items() if of}
    assert CONFIGS.keys() - sizes.keys() == {"figures", "points", "answers", "acceptance"}
    zeros = " 0 |" * 8
    assert re.findall(r".*`rejected`.* 0 \|", card)[1:] == [f"| {ICLR} | `rejected` |{zeros} 1 | 0 | 0 |"]


@pytest.mark.slow
def test_without_splits_no_task_is_mentioned(tmp_path: Path) -> None:
    words = ("in the tasks", "configurations for tasks", "keeps its split")
    assert [word for word in words if word in a_card(tmp_path, {ICLR: a_forum("f1")})] == []
    card = a_card(tmp_path / "with", {ICLR: a_forum("f1")}, RE2)
    assert [word for word in words if word not in card] == []


def test_only_used_datasets_are_credited(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        assert "eprint" not in card_of(workspace, tmp_path / "out")
        at = datetime(2026, 11, 1, tzinfo=UTC)
        workspace.raw.add([received(ICLR, at, RawKind.PUBLISHED, "re2-reviews:f1")])
        card = card_of(workspace, tmp_path / "out")
    assert "Re² (Apache 2.0)" in card
    assert "ReviewBench (CC BY 4.0)" not in card
    assert "received on 2026-11-01 (UTC)" in card
    cited = section(card, "How to cite it")
    assert "eprint = {2505.07920}" in cited
    assert "Samarth0710" not in cited


@pytest.mark.parametrize(("grade", "named"), [(Grade.STATED, True), (Grade.UNAVAILABLE, False), (Grade.EXACT, False)])
def test_empty_tasks_name_a_worse_grade(tmp_path: Path, grade: Grade, named: bool) -> None:
    records = [replace(one, grade=grade) if isinstance(one, PaperVersion) else one for one in a_forum("f1")]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        told = published(publish_release(workspace, tmp_path / "out", splits=RE2), tmp_path / "out", RE2.profile)
    assert ("--grade stated" in told) == named
    assert ("--grade" in told) == named


def test_missing_texts_by_outcome(tmp_path: Path) -> None:
    lost = [paper(f"f{number}", status=Status.REJECTED) for number in range(4, 6)]
    card = a_card(tmp_path, {ICLR: [*a_forum("f1"), *a_forum("f2"), paper("f3"), *lost]})
    accepted, missing, *_, unreviewed = section(card, "Known biases").strip().splitlines()
    assert "accepted 1 of 3 (33%); rejected 2 of 2 (100%)" in missing
    leaning = missing.split("(100%)")[1]
    assert re.findall(r"(most|least) often[^,:]* (accepted|rejected)", leaning) == [
        ("most", "rejected"),
        ("least", "accepted"),
    ]
    assert "3 of 5 (60%) are accepted" in accepted
    assert "3 of 5 (60%) papers" in unreviewed
    assert "review" in unreviewed.split("(60%)")[1]


@pytest.mark.slow
def test_hiding_and_reverting_venues_are_named(tmp_path: Path) -> None:
    venues: dict[str, list[object]] = {REVERTED: a_forum("f1", REVERTED), OPT_IN: [paper("f2", OPT_IN)]}
    said = section(a_card(tmp_path, venues), "Known biases")
    naming = [
        (line, [venue for venue in (OPT_IN, REVERTED) if venue in line]) for line in said.splitlines() if ".cc/" in line
    ]
    assert [venues_named for _, venues_named in naming] == [[OPT_IN], [REVERTED], [REVERTED], [OPT_IN, REVERTED]]
    hiding, silent, reverted, pooled = (line for line, _ in naming)
    assert f"{OPT_IN} (1 accepted, 0 rejected)" in hiding
    assert f"{REVERTED} (1 accepted, 0 rejected)" in silent
    assert "before the discussion" in reverted
    assert " 1 reviews" in reverted
    assert f"language models in reviewing: disclosed ({REVERTED}), unknown for 1" in unescape(pooled)


def test_known_rules_of_venues_are_listed(tmp_path: Path) -> None:
    venues: dict[str, list[object]] = {REVERTED: a_forum("f1", REVERTED), "V/2031": [paper("f2", "V/2031")]}
    said = unescape(section(a_card(tmp_path, venues), "PDFs and rules of the venues"))
    assert f"- {REVERTED}: reverted scores: Reviews were reset" in said
    assert "2025-08-26" in said
    assert "No such rule is known for 1 venue of 2." in said


def test_unknown_initial_values_are_counted(tmp_path: Path) -> None:
    told = (
        replace(score("rating", 3, "from 3", Aspect.RECOMMENDATION, Phase.INITIAL), source=ScoreSource.TEXT),
        score("rating", 6, "6", Aspect.RECOMMENDATION),
    )
    known = review("f1", "R1", scores=told, revised=True)
    unknown = review("f1", "R2", updated_fields=("summary",))
    said = section(a_card(tmp_path, {ICLR: [paper("f1"), known, unknown]}), "Known biases")
    assert re.search(r"3 of 4 \(75%\) scores; of 1 .*`initial_source` is `text`", said)
    assert re.search(r"1 of 2 \(50%\) reviews.*`revised`", said)
    assert re.search(r"1 of 2 \(50%\) reviews.*`updated_fields`, `holds_update`", said)


def test_unseen_replies_are_counted_by_venue(tmp_path: Path) -> None:
    shown: list[object] = [
        paper("f1", replies_not_shown=0),
        paper("f2", replies_not_shown=3),
        paper("f3", replies_deleted=2),
        paper("f4"),
    ]
    card = a_card(tmp_path / "a", {ICLR: shown, ICML: [paper("f5", ICML)]})
    said = section(card, "Known biases")
    assert "1 papers with none, 1 with at least 3 that were not shown to us, 1 with 2 deleted since" in said
    assert "not known for 1, and at other venues." in said
    by_venue = cells(card, "Replies that are not here")[2:]
    assert by_venue == [[ICLR, "1", "1", "3", "1", "2", "1"], [ICML, "0", "0", "0", "0", "0", "1"]]
    assert "No numbers of replies" in section(a_card(tmp_path / "b", {ICLR: [paper("f1")]}), "Known biases")


def test_notes_without_readers_are_counted(tmp_path: Path) -> None:
    said = section(a_card(tmp_path, {ICLR: [paper("f1", readers_unstated=4), paper("f2")]}), "Known biases")
    assert f"nothing names readers; it counts as public, but nothing proves it: {ICLR} (4 notes)." in said


def test_an_initial_answer_in_words_is_known(tmp_path: Path) -> None:
    answers = tuple(score("audience", None, "Yes", Aspect.OTHER, phase) for phase in (Phase.INITIAL, Phase.FINAL))
    unrevised = review("f1", "R1", revised=False, scores=answers)
    said = section(a_card(tmp_path, {ICLR: [paper("f1"), unrevised]}), "Known biases")
    assert "0 of 1 (0%) scores" in said


@pytest.mark.slow
def test_set_aside_rows_by_reason(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1"), ICML: a_forum("f2", ICML)}) as workspace:
        for venue_id in (ICLR, ICML):
            with workspace.tables.replacing((), venue_id, "read_<b>", "b" * 64) as replacement:
                replacement.set_aside("x", "f1", Reason.PDF_DAMAGED, "One word.")
        assert workspace.tables.stages(ICLR) == ["read_<b>"]
        both, one = card_of(workspace, tmp_path / "out"), tmp_path / "one"
        publish_release(workspace, one, [ICML])
    line = f"| {escape('read_<b>')} | `pdf_damaged` | {REASON_MEANINGS[Reason.PDF_DAMAGED]} | 2 |"
    assert line in both
    assert line.replace("2 |", "1 |") in read_card(one)


def test_every_grade_and_every_reason_has_a_description() -> None:
    assert (list(GRADE_MEANINGS), list(REASON_MEANINGS)) == (list(Grade), list(Reason))
    assert all(said.endswith(".") for said in (*GRADE_MEANINGS.values(), *REASON_MEANINGS.values()))


@pytest.mark.slow
@pytest.mark.fault(
    "input", "Markdown and YAML in names that stand on the card of a release", "the card keeps its shape"
)
def test_names_from_openreview_cannot_change_the_cards_markup(tmp_path: Path) -> None:
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


def test_what_is_absent_is_said(tmp_path: Path) -> None:
    card = a_card(tmp_path, {ICLR: [paper("f1", status=Status.UNDER_REVIEW, decision=None)]})
    assert [row[0] for row in cells(card, "What is in it")][2:4] == ["`papers` (default)", "`papers_full`"]
    for heading in ("Train, validation and test splits", "What was set aside", "Submissions of the same work"):
        assert cells(card, heading) == []
    assert "1 of 1 (100%) papers" in section(card, "Known biases")
    assert 'load_dataset("path/to/this/folder", "papers", split="iclr")' in card
    assert "conversations = load_dataset" not in card
    assert "missing" not in section(card, "Known biases")


@pytest.mark.slow
def test_the_newest_object_dates_a_release(tmp_path: Path) -> None:
    days = [datetime(2025, 3, 4, 5, tzinfo=UTC), datetime(2025, 6, 7, tzinfo=UTC)]
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1"), ICML: a_forum("f2", ICML)}) as workspace:
        undated = card_of(workspace, tmp_path / "undated")
        with workspace.raw.transaction():
            workspace.raw.add(
                received(venue, day, object_id=venue) for venue, day in zip((ICLR, ICML), days, strict=True)
            )
        card = card_of(workspace, tmp_path / "out")
        publish_release(workspace, tmp_path / "one", [ICLR])
    assert "from 2025-03-04 to 2025-06-07 (UTC)" in card
    assert re.search(r"@misc\{peercorpus_20250607,\n  title = \{[^{}]+\},\n", card)
    assert "@misc{peercorpus_20250304,\n" in read_card(tmp_path / "one")
    assert "@misc{peercorpus,\n" in undated


def test_the_card_says_whether_authors_are_named(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        named = card_of(workspace, tmp_path / "out")
        unnamed = card_of(workspace, tmp_path / "out", no_authors=True)
    told = [section(card, "People and removal") for card in (named, unnamed)]
    assert [re.findall(r"Authors are (not )?named", said) for said in told] == [[""], ["not "]]


@pytest.fixture(scope="module")
def columns_of_every_configuration(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The columns beside the card of a release that has a row in each configuration."""
    records: list[object] = [one for number in range(9) for one in a_forum(f"f{number}")]
    records += what_follows("f8")
    whole = with_figures([*records, link("f1", ICLR, "f0")])
    folder = tmp_path_factory.mktemp("columns")
    a_card(folder, {ICLR: with_points(whole)}, RE2)
    (columns,) = folder.rglob("details.md")
    return columns.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CONFIGS)
def test_columns_are_described_with_units(columns_of_every_configuration: str, name: str) -> None:
    config = CONFIGS[name]
    listed = section(columns_of_every_configuration, f"Columns of `{name}`")
    shared = section(columns_of_every_configuration, "Columns of several configurations")
    for path, field in flatten_columns(config.schema):
        above = [path.rsplit(".", depth)[0] for depth in range(1, path.count(".") + 1)]
        said = listed + shared
        has_parts_elsewhere = any(re.search(rf"(?m)^- `{parent}` \((list of )+(?!struct)", said) for parent in above)
        is_shared = f"`{path}`" in listed and f"\n- `{field.name}`" in shared
        assert f"- `{path}`" in listed or is_shared or has_parts_elsewhere
        if any(word in str(field.type) for word in ("double", "int", "timestamp")) and "struct" not in str(field.type):
            assert f"`{field.name}`" in units([config])


def test_the_card_of_twelve_papers_is_short(demo_folder: Path) -> None:
    card = (demo_folder / "release" / "README.md").read_text(encoding="utf-8")
    assert len(card.split()) <= 1_500
    assert "](details.md)" in card
