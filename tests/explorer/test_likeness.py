"""Papers and criticisms that are alike among few: those of one subject, not those that share common words."""

import json
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from random import Random

import pytest

from explored import explored
from invented_points import split
from invented_tables import ICLR, paper, review
from peercorpus.records.enums import SectionKind
from peercorpus.records.reviews import Section

ALIKE = re.compile(r'<h2 id="alike">(.*?)</section>', re.DOTALL)
LINK = re.compile(r'<a href="/paper/([^"]+)">')
COMMON = [
    *("show", "that", "much", "this", "depends", "choice", "made", "before", "after", "propose", "approach", "which"),
    *("simple", "effective", "across", "several", "settings", "extensive", "experiments", "suggest", "large", "gains"),
    *("over", "earlier", "work", "results", "improve", "baselines", "significantly", "then", "both", "their", "under"),
]
SUBJECTS = {
    "Kites": ("tether", "altitude", "windward"),
    "Pumps": ("impeller", "cavitation", "viscous"),
    "Moths": ("pheromone", "antenna", "nocturnal"),
    "Tides": ("estuary", "lunar", "brackish"),
    "Bells": ("bronze", "overtone", "clapper"),
    "Yeast": ("ferment", "sourdough", "enzyme"),
    "Roads": ("asphalt", "camber", "gravel"),
    "Lamps": ("filament", "lumen", "phosphor"),
    "Seeds": ("germinate", "husk", "dormant"),
    "Glass": ("annealing", "silicate", "furnace"),
}


def write(chance: Random, words: Sequence[str]) -> str:
    """An abstract of common words with some of a subject among them."""
    return " ".join([*chance.sample(COMMON, 22), *words, *chance.sample(COMMON, 8)])


def pairs(folder: Path, subjects: Sequence[str], seed: int) -> list[tuple[str, str]]:
    """The pairs of papers that the explorer shows as alike; papers are named by their number and subject."""
    chance = Random(seed)
    records: list[object] = []
    for number, subject in enumerate(subjects):
        own = SUBJECTS[subject]
        title = f"{subject} with {own[number % 3]} and {own[(number + 1) % 3]}: a new approach"
        forum_id = f"{number:02}-{subject}"
        records.append(paper(forum_id, title=title, keywords=(), abstract=write(chance, own)))
    with explored(folder, {ICLR: records}) as client:
        found = []
        for number, subject in enumerate(subjects):
            forum_id = f"{number:02}-{subject}"
            section = ALIKE.search(client.get(f"/paper/{forum_id}").text)
            found += [(forum_id, other) for other in LINK.findall(section[1])] if section else []
    return found


@pytest.mark.parametrize("papers", [2, 3, 10])
def test_different_subjects_are_never_alike(tmp_path: Path, papers: int) -> None:
    for seed in range(3):
        assert pairs(tmp_path / f"{seed}", list(SUBJECTS)[:papers], seed) == []


def test_one_subject_is_alike_among_thirty(tmp_path: Path) -> None:
    subjects = [subject for subject in SUBJECTS for _ in range(3)]
    found = pairs(tmp_path / "corpus", subjects, 1)
    assert found
    assert all(one.partition("-")[2] == other.partition("-")[2] for one, other in found)
    assert len({one for one, _ in found}) == len(subjects)


def test_papers_posted_again_are_alike(tmp_path: Path) -> None:
    title = "Annealing of silicate in a furnace"
    records: list[object] = [
        paper("again001", title=title, keywords=(), abstract=write(Random(1), SUBJECTS["Glass"])),
        paper("again002", title=title, keywords=(), abstract=write(Random(2), SUBJECTS["Glass"])),
        paper("other003", title="A furnace in brackish estuaries", keywords=(), abstract=write(Random(3), ())),
    ]
    with explored(tmp_path / "corpus", {ICLR: records}) as client:
        section = ALIKE.search(client.get("/paper/again001").text)
        assert section is not None
        assert LINK.findall(section[1]) == ["again002"]


CRITICISMS = {
    "c1": "1. The comparison with Kalman filters is missing, although they handle drifting sensors well.",
    "c2": "1. Kalman filters would handle drifting sensors; why is the comparison missing?",
    "c3": "1. The paper is hard to follow, although the idea is simple and the results look good.",
    "c4": "1. The results look good, although it is hard to see why the comparison is fair.",
    "c5": "1. Is the proof of the third lemma complete?",
}


def test_criticisms_share_words_that_matter(tmp_path: Path) -> None:
    records: list[object] = []
    for name, text in CRITICISMS.items():
        of_paper = review(name, sections=(Section(SectionKind.WEAKNESSES, "weaknesses", text),))
        records += [paper(name, title=f"On {name}"), of_paper, *split(of_paper)]
    with explored(tmp_path / "corpus", {ICLR: records}) as client:
        found = {}
        links = re.findall(r'href="(/points\?like=[^"]+)">Criticisms', client.get("/points?kind=all").text)
        for link in map(unescape, links):
            page = client.get(link).text
            (of,) = re.findall(r'Of <a href="/paper/(\w+)\?', page)
            found[of] = re.findall(r'<h2><a href="/paper/(\w+)\?', page)
    assert found == {"c1": ["c2"], "c2": ["c1"], "c3": [], "c4": [], "c5": []}, json.dumps(found)
