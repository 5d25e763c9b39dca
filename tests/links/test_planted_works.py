"""Works submitted twice and rewritten are found among papers of the same groups and topics."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from in_this_process import InThisProcess
from invented_tables import ICLR, ICML, NOON, TMLR, invented, paper, post
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.links import similarity
from peercorpus.links.link_submissions import link_papers
from peercorpus.links.similarity import PaperComparer, normalise_head
from peercorpus.pipeline.build_venues import ALL_VENUES
from peercorpus.records.enums import PostKind, Role
from peercorpus.records.papers import Link, Paper
from peercorpus.records.reviews import Post

TOPICS, OTHERS = 20, 500
STOCK = (
    "In this paper we propose a novel approach to the problem of {}.",
    "Extensive experiments on several benchmarks show that our method outperforms strong baselines.",
    "Our code is publicly available.",
    "However, existing methods suffer from high computational cost.",
)
VENUES = (ICLR, ICML, TMLR)
LATER = NOON + timedelta(days=200)
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
    with invented(folder, by_venue) as workspace:
        link_papers(InThisProcess(), workspace, ALL_VENUES, BuildRequest(), "b" * 64, no_report)
        found = [one for venue_id in VENUES for one in workspace.tables.read(Link, venue_id)]
    return {(one.earlier_id, one.forum_id) for one in found}


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
def test_a_link_to_another_paper_in_a_review_links_no_work(tmp_path: Path, says: str) -> None:
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
def test_one_sentence_in_common_does_not_make_one_work_of_a_groups_papers(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "COUNTER_SLOTS", 1 << 16)
    couples = [share_one_sentence(number, kind) for number in range(300)]
    assert link_couples(couples) == []
    assert [rule for couple in couples[:100] for rule in link_couples([couple])] == []


def test_chains_are_linked_step_by_step(tmp_path: Path) -> None:
    one, other, _ = plant("two tenths retitled", 3)
    topic = int(one.primary_area or 0)
    last = replace(
        other,
        forum_id="chain-end",
        venue_id=TMLR,
        created_at=LATER + timedelta(days=200),
        title=title(Random(1), topic),
        abstract=rewritten(Random(2), other.abstract or "", 0.4, topic),
    )
    assert {(one.forum_id, other.forum_id), (other.forum_id, "chain-end")} <= links_of(
        tmp_path / "w", [one, other, last], []
    )
