"""Submissions of the same work are linked across all venues, and nothing else is; what is set aside is counted."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from in_this_process import InThisProcess, build_here
from invented_tables import ICLR, ICML, NOON, TMLR, invented, paper, post, text, version
from naming import Naming
from peercorpus.errors import TableError
from peercorpus.execution.executor import Executor, Failure, FailureKind
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.links import link_submissions, similarity
from peercorpus.links.similarity import PaperComparer, normalise_head
from peercorpus.pipeline.build import build, require_built
from peercorpus.pipeline.build_venues import ALL_VENUES
from peercorpus.pipeline.status import read_status
from peercorpus.records.enums import Grade, LinkKind, PostKind, Reason, Role
from peercorpus.records.papers import Link, Paper, SetAside
from peercorpus.records.reviews import Post
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


def rows(tables: Tables) -> list[Link]:
    return [one for venue_id in tables.venues("8-links") for one in tables.read(Link, venue_id)]


def link(workspace: Workspace, spread: Executor | None = None) -> list[Link]:
    link_submissions.link_papers(spread or InThisProcess(), workspace, ALL_VENUES, BuildRequest(), KEY, no_report)
    assert all(one.holds for venue_id in workspace.venues() for one in link_submissions.balance(workspace, venue_id))
    return rows(workspace.tables)


def linked(folder: Path, venues: Mapping[str, Iterable[object]]) -> list[Link]:
    with invented(folder, venues) as workspace:
        return link(workspace)


def ids(links: Sequence[Link]) -> list[tuple[str, str]]:
    return [(one.earlier_id, one.forum_id) for one in links]


def test_retry_repeats_failed_comparisons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_distributing_pairs_changes_no_links(tmp_path: Path) -> None:
    found = []
    for name, spread in (("here", InThisProcess()), ("there", LocalExecutor())):
        with invented(tmp_path / name, alike_in_text(12)) as workspace:
            found.append(link(workspace, spread))
    assert found[0] == found[1]
    assert ids(found[0]) == [(f"f{n:02}", f"f{n + 1:02}") for n in range(0, 12, 2)]


def test_a_failed_link_is_set_aside(tmp_path: Path) -> None:
    failing = InThisProcess(failures=(Failure(FailureKind.CRASH, "Its process died (exit code -11)."),))
    with invented(tmp_path / "corpus", alike_in_text(4)) as workspace:
        assert ids(link(workspace, failing)) == [("f02", "f03")]
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
def test_the_kind_states_the_relation(tmp_path: Path, venue_id: str, other: dict[str, Any], kind: LinkKind) -> None:
    first = clouds("first", decided_at=None)
    second = clouds("second", venue_id, **other)
    venues = {ICLR: [first, second]} if venue_id == ICLR else {ICLR: [first], venue_id: [second]}
    (found,) = linked(tmp_path / "corpus", venues)
    assert (found.kind, found.days is None) == (kind, other["created_at"] is None)


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


FIRST, SECOND, THIRD = "aB3dE_fG-1", "aB3dE_fG-2", "aB3dE_fG-3"


def naming(forum_id: str, named: str, venue_id: str = ICLR, **other: Any) -> Paper:
    """A paper without a word in common with others that names an earlier one."""
    own = {"title": words(forum_id[-1] * 3, 6), "abstract": words(forum_id[-1] * 4, 40)}
    extra = json.dumps({"previous_URL": f"https://openreview.net/forum?id={named}"} if named else {})
    return paper(forum_id, venue_id, **({"extra": extra} | own | other))


def test_a_named_submission_is_linked(tmp_path: Path) -> None:
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
def test_dates_or_names_determine_the_earlier(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], expected: tuple[str, str]
) -> None:
    papers = [naming(FIRST, **({"named": ""} | first)), naming(SECOND, **({"named": FIRST} | second))]
    (found,) = linked(tmp_path / "corpus", {ICLR: papers})
    assert ((found.earlier_id, found.forum_id), found.kind) == (expected, LinkKind.RESUBMISSION)
    assert found.rule == link_submissions.BY_NAME


def test_self_references_are_set_aside(tmp_path: Path) -> None:
    papers = [naming(FIRST, FIRST), naming(SECOND, "gone_12345"), naming(THIRD, SECOND, created_at=LATER)]
    with invented(tmp_path / "corpus", {ICLR: papers}) as workspace:
        assert ids(link(workspace)) == [(SECOND, THIRD)]
        of_papers, _, of_names = link_submissions.balance(workspace, ICLR)
        assert (of_papers.rows_in, of_papers.rows_out, of_papers.set_aside) == (3, 3, {})
        assert (of_names.rows_in, of_names.rows_out) == (3, 1)
        assert of_names.set_aside == {Reason.EARLIER_MISSING: 1, Reason.NAMES_ITSELF: 1}


def test_the_same_common_title_is_found(tmp_path: Path) -> None:
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


@pytest.mark.slow
def test_links_are_deterministic(tmp_path: Path) -> None:
    venues = {ICLR: [clouds("a"), clouds("d", title="Counting Clouds")], ICML: [clouds("b", ICML, created_at=LATER)]}
    with invented(tmp_path / "one", venues) as workspace:
        found = link(workspace)
        assert link(workspace) == found
    with invented(tmp_path / "two", dict(reversed(venues.items()))) as workspace:
        assert link(workspace) == found
    assert len(found) == 3


def test_building_one_venue_links_all(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [clouds("a")], ICML: [clouds("b", ICML, created_at=LATER)]}) as workspace:
        assert {name for name, _ in read_status(workspace).unfinished} >= {"link_papers"}
        build_here(workspace, [ICLR])
        assert workspace.tables.count("1-papers", ICLR) == 0, "nothing was received, so nothing is built of it"
        with pytest.raises(TableError, match="run 'peercorpus build'"):
            require_built(workspace, [ICML])
        build_here(workspace)
        require_built(workspace)
        assert rows(workspace.tables) == []


def test_a_template_links_no_papers(tmp_path: Path) -> None:
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


TOPICS, OTHERS = 20, 500
STOCK = (
    "In this paper we propose a novel approach to the problem of {}.",
    "Extensive experiments on several benchmarks show that our method outperforms strong baselines.",
    "Our code is publicly available.",
    "However, existing methods suffer from high computational cost.",
)
VENUES = (ICLR, ICML, TMLR)


Pair = tuple[Paper, Paper, list[Post]]


def word(chance: Random, topic: int | None) -> str:
    """A word of a topic, or of all topics."""
    number = chance.randrange(400) if topic is None else 1_000 + 150 * topic + min(chance.randrange(150) for _ in "ab")
    return "".join("bdfglmnprstvz"[number // 13**place % 13] + "aeiou"[number // 5**place % 5] for place in range(3))


def sentence(chance: Random, topic: int) -> str:
    words = [word(chance, topic if chance.random() < 0.5 else None) for _ in range(chance.randrange(9, 22))]
    return f"{' '.join(words).capitalize()}."


def sentences(chance: Random, topic: int, number: int) -> list[str]:
    own = [sentence(chance, topic) for _ in range(number)]
    own.insert(0, STOCK[0].format(word(chance, topic)))
    return [*own, chance.choice(STOCK[1:])]


def title(chance: Random, topic: int) -> str:
    return " ".join(
        word(chance, topic if chance.random() < 0.6 else None) for _ in range(chance.randrange(4, 9))
    ).title()


def group_of(chance: Random, topic: int) -> list[str]:
    """Three to five of a topic's twelve people; a group works on one topic all its life."""
    return [
        f"{word(Random(f'{topic} {n}'), None)} {word(Random(n), topic)}".title() for n in chance.sample(range(12), 4)
    ]


def submission(name: str, chance: Random, venue_id: str, *, is_blind: bool = False) -> Paper:
    topic = chance.randrange(TOPICS)
    return paper(
        name,
        venue_id,
        title=title(chance, topic),
        abstract=" ".join(sentences(chance, topic, chance.randrange(5, 9))),
        authors=() if is_blind else tuple(group_of(chance, topic)),
        created_at=NOON,
        primary_area=str(topic),
    )


def rewritten(chance: Random, abstract: str, kept: float, topic: int) -> str:
    """An abstract with a share of its sentences kept word by word, and the others written anew."""
    old = abstract.split(". ")
    keep = set(chance.sample(range(len(old)), round(kept * len(old))))
    return ". ".join(text if n in keep else sentence(chance, topic).rstrip(".") for n, text in enumerate(old)) + "."


def halved(abstract: str) -> str:
    parts = abstract.split(". ")
    return ". ".join(parts[: -(-len(parts) // 2)]) + "."


def names(chance: Random, earlier: Paper, sentence_of: Callable[[str], str]) -> Callable[[str], list[Post]]:
    url = f"https://openreview.net/forum?id={earlier.forum_id}"
    text = f"{sentence(chance, 0)} {sentence_of(url)} {sentence(chance, 1)}"

    def in_review(forum_id: str) -> list[Post]:
        return [
            post(f"{forum_id}-R", forum_id, ICML, kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1", text=text)
        ]

    return in_review


def plant(kind: str, number: int) -> Pair:
    chance = Random(f"{kind} {number}")
    is_blind = kind.startswith("blind")
    one = submission(f"{kind.replace(' ', '')[:14]}{number}a", chance, ICLR, is_blind=is_blind)
    topic, abstract = int(one.primary_area or 0), one.abstract or ""
    other = replace(one, forum_id=one.forum_id[:-1] + "b", venue_id=ICML, created_at=LATER)
    posts: list[Post] = []
    if "retitled" in kind:
        other = replace(other, title=title(chance, topic))
    if "two tenths" in kind:
        other = replace(other, abstract=rewritten(chance, abstract, 0.35, topic))
    if "halved" in kind:
        other = replace(other, abstract=halved(abstract))
    if "doubled" in kind:
        more = " ".join(sentences(chance, topic, len(abstract.split(". "))))
        other = replace(other, abstract=f"{abstract} {more}")
    if "reworded" in kind:
        old = (one.title or "").split()
        other = replace(other, title=" ".join([word(chance, topic).title(), *old[1:]]))
    if "named" in kind or "linked" in kind:
        other = replace(other, title=title(chance, topic), abstract=rewritten(chance, abstract, 0.0, topic))
        says = chance.choice(SAYS if "named" in kind else MERE)
        posts = names(chance, one, lambda url: says.format(url))(other.forum_id)
    if "joined" in kind:
        other = replace(other, authors=(*one.authors[:2], "New Person", "Another One", "Third Person"))
    return one, other, posts


SAYS = (
    "This is a resubmission of {}, and most of the concerns raised there remain.",
    "I reviewed an earlier version of this paper ({}).",
    "The paper was previously submitted, see {}, and rejected.",
    "Compared to the previous submission at {} little has changed.",
    "Was this not already rejected last year? {}",
)
MERE = ("See {}.", "Please also have a look at {} and the reviews there.", "({})")
KINDS = (
    "two tenths retitled",
    "two tenths joined retitled",
    "halved",
    "halved retitled",
    "doubled",
    "doubled retitled",
    "blind halved",
    "blind halved reworded",
    "blind doubled reworded",
    "named in a review",
    "blind named in a review",
    "linked in a review",
)
"""`linked`: by the same authors, and a review links to the other without calling it the earlier one."""

EACH = 6


def links_of(folder: Path, papers: list[Paper], posts: list[Post]) -> set[tuple[str, str]]:
    records: list[Paper | Post] = [*papers, *posts]
    records.sort(key=lambda record: record.forum_id)
    by_venue = {venue_id: [record for record in records if record.venue_id == venue_id] for venue_id in VENUES}
    return set(ids(linked(folder, by_venue)))


def test_works_submitted_again_are_found_among_others(tmp_path: Path) -> None:
    chance = Random(7)
    others = [submission(f"x{n:03}", chance, VENUES[n % 3], is_blind=n % 4 == 0) for n in range(OTHERS)]
    planted = {(kind, number): plant(kind, number) for kind in KINDS for number in range(EACH)}
    couples = [paper for one, other, _ in planted.values() for paper in (one, other)]
    posts = [each for *_, own in planted.values() for each in own]
    wanted = {
        kind: {(one.forum_id, other.forum_id) for (name, _), (one, other, _) in planted.items() if name == kind}
        for kind in KINDS
    }
    found = links_of(tmp_path / "w", [*others, *couples], posts)
    assert found - set().union(*wanted.values()) == set()
    shares = {kind: len(found & pairs) / len(pairs) for kind, pairs in wanted.items()}
    assert sum(shares.values()) / len(shares) >= 19 / 21, shares


@pytest.mark.parametrize(
    "says",
    [
        "The authors should compare with {}.",
        "This builds upon the prior work {}.",
        "Related work is missing: {}.",
        "Please cite {} and discuss the difference.",
        "Concurrent work submitted to the same venue: {}.",
        "See {}.",
        "A better theory of this is in {}.",
        "This paper is a resubmission of {}.",
    ],
)
def test_other_links_in_reviews_link_nothing(tmp_path: Path, says: str) -> None:
    chance = Random(says)
    one, other = submission("aa1", chance, ICLR), submission("bb2", chance, ICML)
    other = replace(other, created_at=LATER, authors=("Ada Day", "Bo Ek"))
    posts = names(chance, one, lambda url: says.format(url))("bb2")
    assert links_of(tmp_path / "w", [one, other], posts) == set()


def test_a_hidden_or_deleted_review_names_no_work(tmp_path: Path) -> None:
    one, other, (given,) = plant("named in a review", 1)
    assert links_of(tmp_path / "a", [one, other], [given]) == {(one.forum_id, other.forum_id)}
    assert links_of(tmp_path / "b", [one, other], [replace(given, readers_public=False)]) == set()
    assert links_of(tmp_path / "c", [one, other], [replace(given, deleted=True)]) == set()


def share_one_sentence(number: int, kind: str) -> tuple[Paper, Paper]:
    """Two short abstracts by the same authors, two to six sentences, of which they have one in common."""
    chance = Random(f"{kind} {number}")
    one = submission(f"s{number}a", chance, ICLR)
    topic = int(one.primary_area or 0)
    shared = sentence(chance, topic)
    abstracts = [[sentence(chance, topic) for _ in range(chance.randrange(1, 5))] for _ in "ab"]
    for own in abstracts:
        own.insert(chance.randrange(len(own) + 1), shared)
        if kind == "edited":
            shared = " ".join([word(chance, topic).title(), *shared.split()[1:]])
        if kind == "and stock":
            own.append(STOCK[1])
    new = [*(one.title or "").split()[: kind == "and a word of the title"], *title(chance, topic).split()]
    other = replace(one, forum_id=f"s{number}b", venue_id=ICML, title=" ".join(new), created_at=LATER)
    return replace(one, abstract=" ".join(abstracts[0])), replace(other, abstract=" ".join(abstracts[1]))


def link_couples(couples: list[tuple[Paper, Paper]]) -> list[str]:
    """The rules by which these pairs are one work, in a corpus of nothing else."""
    heads = [[normalise_head(each.title, each.abstract, each.authors) for each in couple] for couple in couples]
    compared = PaperComparer([head for couple in heads for head in couple])
    return [rule for one, other in heads if (rule := compared.likeness(one, other).rule())]


@pytest.mark.parametrize("kind", ["alone", "edited", "and stock", "and a word of the title"])
def test_one_common_sentence_makes_no_work(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "COUNTER_SLOTS", 1 << 16)
    couples = [share_one_sentence(number, kind) for number in range(300)]
    assert link_couples(couples) == []
    assert [rule for couple in couples[:100] for rule in link_couples([couple])] == []
