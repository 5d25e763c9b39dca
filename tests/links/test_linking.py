"""Submissions of the same work are linked across all venues, and nothing else is; what is set aside is counted."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from in_this_process import InThisProcess, build_here
from invented_tables import ICLR, ICML, NOON, TMLR, invented, paper, text, version
from naming import Naming
from peercorpus.cli.text.show import show_record
from peercorpus.corpus.forums import read_whole_record
from peercorpus.errors import TableError
from peercorpus.execution.executor import Executor, Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.links import link_submissions
from peercorpus.pipeline.build import build, require_built
from peercorpus.pipeline.build_venues import ALL_VENUES
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Grade, LinkKind, Reason
from peercorpus.records.papers import Link, Paper, SetAside
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.workspace import Workspace

WORKSHOP = "ICLR.cc/2020/Workshop/Clouds"
KEY = "b" * 64
LATER = NOON + timedelta(days=120)
TITLE = "Counting the White Clouds of Three Towns"
ABSTRACT = (
    "We count clouds above three towns. A camera looks up, and each picture is cut into squares of equal size. Adding"
    " up the white ones gives a count that is exact, and lower than was thought since 1802."
)
OTHER = (
    "Rivers carry more sand in spring than in autumn. From the records of forty gauges we learn how much, and show that"
    " neither rain nor melting snow alone can tell it; a model with both halves the error."
)


def words(seed: str, count: int = 500) -> str:
    """A text without repeated words, sharing none with other seeds."""
    return " ".join(f"{seed}{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(count))


def clouds(forum_id: str, venue_id: str = ICLR, **other: Any) -> Paper:
    return paper(forum_id, venue_id, **({"title": TITLE, "abstract": ABSTRACT} | other))


def with_text(one: Paper, markdown: str, grade: Grade | None = Grade.EXACT) -> list[object]:
    sha256 = f"sha-{one.forum_id}-{grade}"
    return [one, version(one.forum_id, sha256, grade, one.venue_id), text(sha256, markdown, one.venue_id)]


def link(workspace: Workspace, spread: Executor | None = None) -> list[Link]:
    link_submissions.link_papers(spread or InThisProcess(), workspace, ALL_VENUES, BuildRequest(), KEY, no_report)
    tables = workspace.tables
    assert all(one.holds for venue_id in workspace.venues() for one in link_submissions.balance(workspace, venue_id))
    return [one for venue_id in tables.venues("8-links") for one in tables.read(Link, venue_id)]


def linked(folder: Path, venues: Mapping[str, Iterable[object]]) -> list[Link]:
    with invented(folder, venues) as workspace:
        return link(workspace)


def ids(links: Sequence[Link]) -> list[tuple[str, str]]:
    return [(one.earlier_id, one.forum_id) for one in links]


def test_failed_comparisons_are_repeated_by_a_build_with_retry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_done_by_build(spread: Executor, *, retry: bool = False) -> bool:
        monkeypatch.setattr("peercorpus.pipeline.build.STAGES", (link_submissions.stage(spread),))
        return [step.was_finished for step in build(workspace, options=BuildRequest(retry=retry))] == [False]

    failing = InThisProcess(failures=(Failure(FailureKind.TIMEOUT, "It took too long."),))
    with invented(tmp_path / "corpus", alike_in_text(2)) as workspace:
        assert is_done_by_build(failing)
        assert not is_done_by_build(InThisProcess())
        assert workspace.tables.set_aside_counts(ICLR, link_submissions.NAME) == {Reason.NOT_COMPARED: 2}
        assert is_done_by_build(InThisProcess(), retry=True)
        assert workspace.tables.set_aside_counts(ICLR, link_submissions.NAME) == {}
        assert not is_done_by_build(InThisProcess(), retry=True)


def alike_in_text(number: int) -> dict[str, list[object]]:
    """Papers each of which shares most of its text with the next."""
    texts = [words(f"t{n // 2}") + " " + words(f"own{n}", 100) for n in range(number)]
    records = [with_text(clouds(f"f{n:02}"), one) for n, one in enumerate(texts)]
    return {ICLR: [record for paper_records in records for record in paper_records]}


@pytest.mark.slow
def test_links_do_not_depend_on_how_pairs_are_distributed(tmp_path: Path) -> None:
    found = []
    for name, spread in (("here", InThisProcess()), ("there", LocalExecutor())):
        with invented(tmp_path / name, alike_in_text(12)) as workspace:
            found.append(link(workspace, spread))
    assert found[0] == found[1]
    assert [(one.earlier_id, one.forum_id) for one in found[0]] == [
        (f"f{n:02}", f"f{n + 1:02}") for n in range(0, 12, 2)
    ]


def test_a_paper_whose_text_cannot_be_compared_is_set_aside_and_may_be_retried(tmp_path: Path) -> None:
    failing = InThisProcess(failures=(Failure(FailureKind.CRASH, "Its process died (exit code -11)."),))
    with invented(tmp_path / "corpus", alike_in_text(4)) as workspace:
        assert [(one.earlier_id, one.forum_id) for one in link(workspace, failing)] == [("f02", "f03")]
        aside = {one.record_id: (one.reason, one.detail) for one in workspace.tables.read(SetAside, ICLR)}
        why = "Whether it and '{}' are one work is not known: Its process died (exit code -11)."
        assert aside == {
            "f00": (Reason.NOT_COMPARED, why.format("f01")),
            "f01": (Reason.NOT_COMPARED, why.format("f00")),
        }
        assert len(link(workspace)) == 2
        assert list(workspace.tables.read(SetAside, ICLR)) == []


def test_a_resubmission_is_linked_to_its_predecessor(tmp_path: Path) -> None:
    papers = {
        ICLR: [clouds("z"), paper("other", title="Of Sand", abstract=OTHER)],
        ICML: [clouds("a", ICML, created_at=LATER, title="Clouds of Three Towns, Counted")],
    }
    (found,) = linked(tmp_path / "corpus", papers)
    assert (found.forum_id, found.venue_id, found.earlier_id, found.earlier_venue_id) == ("a", ICML, "z", ICLR)
    assert (found.kind, found.days, found.abstract_similarity) == (LinkKind.RESUBMISSION, 120.0, 1.0)
    assert found.title_similarity is not None
    assert 0.4 < found.title_similarity < 1
    assert (found.text_similarity, found.rule) == (None, Naming("abstracts", "texts cannot be compared"))


@pytest.mark.parametrize(
    ("venue_id", "other", "kind"),
    [
        (ICML, {"created_at": LATER}, LinkKind.RESUBMISSION),
        (ICML, {"created_at": NOON + timedelta(days=7)}, LinkKind.TWIN),
        (ICML, {"created_at": None}, LinkKind.UNDATED),
        (WORKSHOP, {"created_at": LATER}, LinkKind.WORKSHOP),
        (WORKSHOP, {"created_at": None}, LinkKind.WORKSHOP),
        (ICLR, {"created_at": LATER, "decided_at": None}, LinkKind.TWIN),
        (ICLR, {"created_at": None}, LinkKind.TWIN),
    ],
)
def test_the_kind_of_a_link_states_the_relation_of_two_papers(
    tmp_path: Path, venue_id: str, other: dict[str, Any], kind: LinkKind
) -> None:
    first = clouds("first", decided_at=None)
    second = clouds("second", venue_id, **other)
    venues = {ICLR: [first, second]} if venue_id == ICLR else {ICLR: [first], venue_id: [second]}
    (found,) = linked(tmp_path / "corpus", venues)
    assert (found.kind, found.days is None) == (kind, other["created_at"] is None)


def test_a_later_submission_to_the_same_venue_after_its_decision_is_a_resubmission(tmp_path: Path) -> None:
    papers = [clouds("first", TMLR, decided_at=NOON + timedelta(days=50)), clouds("second", TMLR, created_at=LATER)]
    (found,) = linked(tmp_path / "corpus", {TMLR: papers})
    assert (found.earlier_id, found.kind) == ("first", LinkKind.RESUBMISSION)


@pytest.mark.slow
def test_three_submissions_of_a_work_give_three_links(tmp_path: Path) -> None:
    tries = {
        ICLR: [clouds("a")],
        ICML: [clouds("b", ICML, created_at=LATER)],
        TMLR: [clouds("c", TMLR, created_at=None)],
    }
    assert ids(linked(tmp_path / "corpus", tries)) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_available_texts_decide_about_links(tmp_path: Path) -> None:
    one, other = words("one"), words("other")
    venues = {
        ICLR: [
            *with_text(clouds("a", abstract=OTHER), one),
            *with_text(paper("b", title="Of Sand", abstract=OTHER), other),
        ],
        ICML: [*with_text(clouds("c", ICML, created_at=LATER), f"# {TITLE}\n{one} {words('added')}")],
    }
    (found,) = linked(tmp_path / "corpus", venues)
    assert (found.earlier_id, found.forum_id, found.text_similarity, found.rule) == (
        "a",
        "c",
        1.0,
        Naming("texts", "a third"),
    )


@pytest.mark.slow
def test_the_version_that_the_reviewers_read_is_compared(tmp_path: Path) -> None:
    first, later = clouds("a"), clouds("b", ICML, created_at=LATER)
    drafts = [*with_text(first, words("draft"), None)[1:], *with_text(first, words("read"))[1:]]
    last = [version("a", "sha-last", None), text("sha-last", words("last"))]
    venues = {ICLR: [first, *drafts, *last], ICML: with_text(later, words("read"))}
    (found,) = linked(tmp_path / "corpus", venues)
    assert found.text_similarity == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"title": "Introduction", "abstract": None}, {"title": "Introduction", "abstract": None}),
        ({"title": TITLE, "abstract": OTHER}, {}),
        ({"title": f"{TITLE}: An Extension", "abstract": f"{OTHER} We count clouds."}, {}),
        ({"title": f"{TITLE}, Part I"}, {"title": f"{TITLE}, Part II"}),
    ],
)
def test_merely_similar_papers_are_not_linked(tmp_path: Path, one: dict[str, Any], other: dict[str, Any]) -> None:
    venues = {ICLR: [clouds("a", **one)], ICML: [clouds("b", ICML, created_at=LATER, **other)]}
    assert linked(tmp_path / "corpus", venues) == []


FIRST, SECOND, THIRD = "aB3dE_fG-1", "aB3dE_fG-2", "aB3dE_fG-3"


def naming(forum_id: str, named: str, venue_id: str = ICLR, **other: Any) -> Paper:
    """A paper without a word in common with others that names an earlier one."""
    own = {"title": words(forum_id[-1] * 3, 6), "abstract": words(forum_id[-1] * 4, 40)}
    extra = json.dumps({"previous_URL": f"https://openreview.net/forum?id={named}"} if named else {})
    return paper(forum_id, venue_id, **({"extra": extra} | own | other))


def test_a_submission_naming_an_earlier_one_is_linked_whatever_their_texts(tmp_path: Path) -> None:
    first = with_text(naming(FIRST, ""), words("one"))
    second = with_text(naming(SECOND, FIRST, ICML, created_at=LATER), words("two"))
    (found,) = linked(tmp_path / "corpus", {ICLR: first, ICML: second})
    assert (found.earlier_id, found.forum_id, found.kind, found.days) == (FIRST, SECOND, LinkKind.RESUBMISSION, 120.0)
    assert (found.rule, found.named_in, found.text_similarity) == (link_submissions.BY_NAME, "previous_URL", 0.0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {}, (FIRST, SECOND)),
        ({"named": SECOND}, {"named": ""}, (SECOND, FIRST)),
        ({"created_at": None}, {}, (FIRST, SECOND)),
        ({"named": SECOND}, {"named": "", "created_at": None}, (SECOND, FIRST)),
        ({"named": SECOND}, {"named": "", "created_at": LATER}, (FIRST, SECOND)),
        ({"named": SECOND}, {"created_at": LATER}, (FIRST, SECOND)),
        ({"named": SECOND, "created_at": LATER}, {}, (SECOND, FIRST)),
        ({"title": None, "abstract": None}, {}, (FIRST, SECOND)),
    ],
)
def test_dates_or_else_the_named_submission_determine_the_earlier_of_two(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], expected: tuple[str, str]
) -> None:
    papers = [naming(FIRST, **({"named": ""} | first)), naming(SECOND, **({"named": FIRST} | second))]
    (found,) = linked(tmp_path / "corpus", {ICLR: papers})
    assert ((found.earlier_id, found.forum_id), found.kind) == (expected, LinkKind.RESUBMISSION)
    assert found.rule == link_submissions.BY_NAME


def test_references_to_itself_and_to_missing_submissions_are_set_aside(tmp_path: Path) -> None:
    papers = [naming(FIRST, FIRST), naming(SECOND, "gone_12345"), naming(THIRD, SECOND, created_at=LATER)]
    with invented(tmp_path / "corpus", {ICLR: papers}) as workspace:
        assert ids(link(workspace)) == [(SECOND, THIRD)]
        of_papers, _, of_names = link_submissions.balance(workspace, ICLR)
        assert (of_papers.rows_in, of_papers.rows_out, of_papers.set_aside) == (3, 3, {})
        assert (of_names.rows_in, of_names.rows_out) == (3, 1)
        assert of_names.set_aside == {Reason.EARLIER_MISSING: 1, Reason.NAMES_ITSELF: 1}


def test_a_named_submission_is_linked_if_texts_cannot_be_compared(tmp_path: Path) -> None:
    failing = InThisProcess(failures=(Failure(FailureKind.CRASH, "Its process died (exit code -11)."),))
    records = [*with_text(naming(FIRST, ""), words("one")), *with_text(naming(SECOND, FIRST), words("one"))]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        (found,) = link(workspace, failing)
        assert (found.rule, found.text_similarity) == (link_submissions.BY_NAME, None)
        assert list(workspace.tables.read(SetAside, ICLR)) == []


def test_the_same_title_is_found_even_if_all_its_words_are_common(tmp_path: Path) -> None:
    title = "Deep Learning for Graph Networks"
    others = [clouds(f"o{n}", title=f"{title}: {words(f'own{n}', 3)}", abstract=words(f"o{n}", 40)) for n in range(20)]
    authors: dict[str, Any] = {"authors": ("Ada Lüft", "Bo Nebel")}
    same = [clouds("a", title=title, abstract=words("a", 40), **authors)]
    again = [clouds("b", ICML, title=title, abstract=words("b", 40), created_at=LATER, **authors)]
    assert ids(linked(tmp_path / "corpus", {ICLR: [*others, *same], ICML: again})) == [("a", "b")]


def test_a_paper_without_text_is_set_aside(tmp_path: Path) -> None:
    papers = [clouds("a"), clouds("b"), paper("c", title=None, abstract=None), paper("d", title="\u2014", abstract=" ")]
    with invented(tmp_path / "corpus", {ICLR: papers}) as workspace:
        assert ids(link(workspace)) == [("a", "b")]
        found, _ = link_submissions.balance(workspace, ICLR)
        assert (found.rows_in, found.rows_out, found.set_aside) == (4, 2, {Reason.NO_WORDS: 2})


def test_a_lost_link_breaks_the_balance(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [clouds("a"), clouds("b"), clouds("c")]}) as workspace:
        written = len(link(workspace))
        (path,) = workspace.tables.paths("8-links", ICLR)
        pq.write_table(pq.read_table(path, partitioning=None).slice(1), path)
        _, found = link_submissions.balance(workspace, ICLR)
    assert (found.unit, found.rows_in, found.rows_out, found.holds) == ("links", written, written - 1, False)


def test_a_hundred_identical_papers_are_not_compared_pairwise(tmp_path: Path) -> None:
    papers = [clouds(f"f{number:03}") for number in range(100)]
    found = linked(tmp_path / "corpus", {ICLR: papers})
    assert len(found) < 100 * 2 * 3
    assert {one for pair in ids(found) for one in pair} == {one.forum_id for one in papers}


def rows(tables: Tables) -> list[Link]:
    return [one for venue_id in tables.venues("8-links") for one in tables.read(Link, venue_id)]


@pytest.mark.slow
def test_links_are_deterministic_and_a_second_run_gives_the_same(tmp_path: Path) -> None:
    venues = {ICLR: [clouds("a"), clouds("d", title="Counting Clouds")], ICML: [clouds("b", ICML, created_at=LATER)]}
    with invented(tmp_path / "one", venues) as workspace:
        found = link(workspace)
        assert link(workspace) == found
    with invented(tmp_path / "two", dict(reversed(venues.items()))) as workspace:
        assert link(workspace) == found
    assert len(found) == 3


def test_building_one_venue_links_all_and_names_outdated_ones(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [clouds("a")], ICML: [clouds("b", ICML, created_at=LATER)]}) as workspace:
        assert {name for name, _ in read_status(workspace).unfinished} >= {"link_papers"}
        build_here(workspace, [ICLR])
        assert workspace.tables.count("1-papers", ICLR) == 0, "nothing was received, so nothing is built of it"
        with pytest.raises(TableError, match="run 'peercorpus build'"):
            require_built(workspace, [ICML])
        build_here(workspace)
        require_built(workspace)
        assert rows(workspace.tables) == []


def test_show_names_the_other_submissions(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [clouds("a")], ICML: [clouds("b", ICML, created_at=LATER)]}) as workspace:
        link(workspace)
        shown = {one: show_record(read_whole_record(workspace.tables, one), is_brief=True) for one in "ab"}
    assert Naming(f"  b, {ICML}, 120 days later: resubmission; ", "abstracts") in shown["a"].splitlines()
    assert Naming(f"  a, {ICLR}, 120 days before: resubmission; ", "abstracts") in shown["b"].splitlines()


def test_a_template_in_texts_and_abstracts_does_not_link_papers(tmp_path: Path) -> None:
    template = words("template", 600)
    names = [f"{chr(97 + number)}own" for number in range(20)]
    records: list[object] = []
    for name in names:
        one = clouds(name, title=f"{name} {TITLE}", abstract=f"{ABSTRACT} {words(name, 20)}")
        records += with_text(one, f"{template} {words(name, 400)}")
    again = clouds("again", ICML, created_at=LATER, title=f"aown {TITLE}", abstract=f"{ABSTRACT} {words('aown', 20)}")
    venues = {ICLR: records, ICML: with_text(again, f"{template} {words('aown', 400)}")}
    assert ids(linked(tmp_path / "corpus", venues)) == [("aown", "again")]


ACL = "ACL.org/2026/Conference"
ARR_OLD, ARR_NEW = "ARR.org/2025/October", "ARR.org/2026/January"
ACL_WORKSHOP = "ACL.org/2026/Workshop/Clouds_ARR_Commitment"


@pytest.mark.parametrize(
    ("venue_id", "field", "kind"),
    [
        (ACL, "paper_link", LinkKind.COMMITMENT),
        (ACL, "arr_submission_link", LinkKind.COMMITMENT),
        (ACL, "commitment_url", LinkKind.COMMITMENT),
        (ACL_WORKSHOP, "paper_link", LinkKind.COMMITMENT),
        (ACL, "previous_URL", LinkKind.RESUBMISSION),
        (ARR_NEW, "paper_link", LinkKind.RESUBMISSION),
        (ARR_NEW, "previous_URL", LinkKind.RESUBMISSION),
    ],
)
def test_a_commitment_is_no_resubmission(tmp_path: Path, venue_id: str, field: str, kind: LinkKind) -> None:
    named = json.dumps({field: "https://openreview.net/forum?id=aB3dE_fG-h"})
    earlier = clouds("aB3dE_fG-h", ARR_OLD)
    later = clouds("later", venue_id, title="Sand", abstract=OTHER, extra=named, created_at=LATER)
    (found,) = linked(tmp_path / "corpus", {ARR_OLD: [earlier], venue_id: [later]})
    assert (found.kind, found.named_in, found.earlier_id) == (kind, field, "aB3dE_fG-h")
