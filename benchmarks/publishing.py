"""Measures a release of as many papers as ReviewBench has, beside `datasets` writing the rows of its `papers` alone."""

import hashlib
import json
import os
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from apart import run_apart
from fill import ORIGIN
from peercorpus.openreview.raw_rows import build_note
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import Aspect, Grade, Phase, PostKind, Role, ScoreSource, SectionKind, Status
from peercorpus.records.papers import Evidence, Paper, PaperVersion
from peercorpus.records.reviews import Conversation, Post, Review, Section, Turn
from peercorpus.records.scores import Score
from peercorpus.release.publish import publish_release
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace, open_workspace

PAPERS = 51_529
"""Of ReviewBench (its card, read 2026-11-21)."""
CHARACTERS = 60_000
"""Of a paper's Markdown."""
REVIEWS = 4
NAMES = ("ICLR.cc", "ICML.cc", "NeurIPS.cc", "aclweb.org/ACL", "EMNLP", "robot-learning.org/CoRL", "TMLR")
YEARS = (2022, 2023, 2024, 2025)
BEGAN = datetime(2022, 1, 1, tzinfo=UTC)
STATUSES = (Status.ACCEPTED, Status.REJECTED, Status.WITHDRAWN)


class Words:
    """Text that compresses about like prose: words drawn by rank, with the frequencies of a language."""

    def __init__(self) -> None:
        chance = random.Random(8)
        letters = "etaoinshrdlucmfwypvbgkjqxz"
        known = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(30_000)]
        drawn = chance.choices(known, weights=[1 / (rank + 3) for rank in range(len(known))], k=3_000_000)
        self._text, self._chance, self._drawn = " ".join(drawn), chance, drawn

    def new(self, words: int) -> str:
        """So many words, in an order that no other passage has: a paper's title and abstract are its own."""
        return " ".join(self._chance.choices(self._drawn, k=words))

    def take(self, characters: int) -> str:
        """Some passage; of a long one, pieces of some 2,000 characters from anywhere."""
        pieces = []
        while characters > 0:
            start = self._chance.randrange(len(self._text) - 2_000)
            pieces.append(self._text[start : start + min(characters, 2_000)])
            characters -= 2_000
        return "\n\n".join(pieces)


def _review(forum_id: str, venue_id: str, number: int, words: Words) -> tuple[Review, Post]:
    reviewer, made = f"Reviewer_{number}", BEGAN + timedelta(days=60)
    review_id, first, last = f"{forum_id}r{number}", float(number + 2), float(number + 3)
    kinds = (SectionKind.SUMMARY, SectionKind.STRENGTHS, SectionKind.WEAKNESSES, SectionKind.QUESTIONS)
    sections = tuple(Section(kind, kind.value, words.take(700)) for kind in kinds)
    scores = tuple(
        Score(aspect, aspect.value, value, 1, 10, f"{value:g}: some words", phase, ScoreSource.EDIT, (), value)
        for aspect in (Aspect.RECOMMENDATION, Aspect.CONFIDENCE)
        for phase, value in ((Phase.INITIAL, first), (Phase.FINAL, last))
    )
    text = "\n\n".join(section.text for section in sections)
    form = f"{venue_id}/-/Official_Review"
    known = (review_id, forum_id, venue_id)
    review = Review(*known, form, reviewer, made, made, None, scores, sections, None, True, True, False, "{}")
    return review, replace(_post(review_id, forum_id, venue_id, None, text), kind=PostKind.REVIEW, signature=reviewer)


def _post(post_id: str, forum_id: str, venue_id: str, reply_to: str | None, text: str) -> Post:
    made = BEGAN + timedelta(days=70)
    author = ("", "Authors", made, made, None)
    return Post(post_id, forum_id, venue_id, reply_to, PostKind.COMMENT, Role.AUTHOR, *author, text, True, False, "{}")


def _forum(number: int, venue_id: str, words: Words) -> Iterator[object]:
    forum_id = hashlib.sha256(str(number).encode()).hexdigest()[:10]
    made, year = BEGAN + timedelta(minutes=number), int(venue_id.split("/")[-2])
    status = STATUSES[number % 3]
    title, abstract = words.new(10), words.new(190)
    about = (forum_id, venue_id, venue_id.split(".")[0].lower(), year, "main", number, title, abstract)
    decided = (status, status.value, made, words.take(500), None, made, made, "{}")
    yield Paper(*about, ("Ada Example",), ("word",), None, None, None, *decided)
    sha256 = hashlib.sha256(forum_id.encode()).hexdigest()
    evidence = Evidence(made, "the call", "on or before", None)
    yield PaperVersion(forum_id, venue_id, forum_id, made, made, "/pdf/a.pdf", sha256, True, Grade.EXACT, evidence)
    yield PaperText(sha256, venue_id, "made-up", "1", words.take(CHARACTERS), 20, CHARACTERS / 20, ())
    for place in range(REVIEWS):
        review, post = _review(forum_id, venue_id, place, words)
        yield review
        yield post
        turns = [Turn(Role.REVIEWER, review.reviewer, None, post.text, made, (post.post_id,))]
        for answer, (role, name) in enumerate([(Role.AUTHOR, "Authors"), (Role.REVIEWER, review.reviewer)]):
            text, post_id = words.take(1_500 // (answer + 1)), f"{post.post_id}a{answer}"
            answered = _post(post_id, forum_id, venue_id, post.post_id, text)
            yield replace(answered, role=role, signature=name)
            turns.append(Turn(role, name, None, text, made, (post_id,)))
        talk_id = f"{forum_id}/{review.reviewer}"
        yield Conversation(talk_id, forum_id, venue_id, review.reviewer, tuple(turns), ())


def fill_venue(workspace: Workspace, venue_id: str, numbers: Sequence[int], words: Words) -> None:
    """Write the tables of one venue with the papers of these numbers."""
    built = [name for name in TABLES if name != "set-aside"]
    ordered = sorted(numbers, key=lambda number: hashlib.sha256(str(number).encode()).hexdigest()[:10])
    with workspace.tables.replacing(built, venue_id, "made up", "a" * 64) as replacement:
        for number in ordered:
            for record in _forum(number, venue_id, words):
                replacement.add(record)


def begin(workspace: Workspace, venue_id: str) -> None:
    """Receive one note, as an empty workspace would be removed."""
    note = {"id": "f", "forum": "f", "invitation": f"{venue_id}/-/Submission", "content": {}}
    with workspace.raw.transaction():
        workspace.raw.add([build_note(json.dumps(note).encode(), ORIGIN)])
        workspace.raw.place()


def fill(folder: Path, papers: int) -> None:
    """Write the tables of a workspace of that many papers, distributed evenly over venues and years."""
    venues, words = [f"{name}/{year}/Conference" for name in NAMES for year in YEARS], Words()
    with open_workspace(folder, create=True) as workspace:
        begin(workspace, venues[0])
        for place, venue_id in enumerate(venues):
            fill_venue(workspace, venue_id, range(place, papers, len(venues)), words)


def change_venue(folder: Path, place: int) -> None:
    """Give the papers of one venue of a filled workspace other titles; all its rows are rewritten."""
    built = [name for name in TABLES if name != "set-aside"]
    with open_workspace(folder) as workspace:
        venue_id = workspace.tables.venues("1-papers")[place]
        kept: list[list[Any]] = [list(workspace.tables.read(TABLES[name], venue_id)) for name in built]
        key = hashlib.sha256(os.urandom(8)).hexdigest()
        with workspace.tables.replacing(built, venue_id, "made up", key) as replacement:
            for record in chain.from_iterable(kept):
                is_paper = isinstance(record, Paper)
                replacement.add(replace(record, title=f"{record.title} {key[:8]}") if is_paper else record)


def publish_all(folder: Path, out: Path) -> None:
    """Write a release with all configurations and Re²'s splits."""
    with open_workspace(folder, write=False) as workspace:
        publish_release(workspace, out)


def _rows(release: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((release / "data" / "papers").glob("*.parquet")):
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(50):
                yield from batch.to_pylist()


def _generate(release: Path, out: Path) -> None:
    import datasets

    cache = str(out / "cache")
    made = datasets.Dataset.from_generator(_rows, gen_kwargs={"release": release}, cache_dir=cache)
    made.to_parquet(out / "papers.parquet")


def _in_a_process(*arguments: str) -> tuple[float, float]:
    """Seconds and peak megabytes."""
    took = run_apart([sys.executable, __file__, *arguments])
    return took.seconds, took.peak_mb


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet")) / 1e9


def measure_publishing(scratch: Path, papers: int = PAPERS) -> None:
    """Minutes, peak memory and size of a release with all configurations, beside `datasets` with one."""
    folder, release, other = scratch / "corpus", scratch / "release", scratch / "other"
    _in_a_process("fill", str(folder), str(papers))
    ours = _in_a_process("publish", str(folder), str(release))
    theirs = _in_a_process("generate", str(release), str(other))
    print(f"\n{papers:,} papers of {CHARACTERS:,} characters, {REVIEWS} reviews each\n")
    print("| what writes | minutes | peak MB | GB of Parquet |\n|---|---:|---:|---:|")
    for name, (seconds, peak), made in (
        ("`peercorpus publish`, all configurations", ours, release),
        ("`datasets.Dataset.from_generator(…).to_parquet`, `papers` alone", theirs, other),
    ):
        print(f"| {name} | {seconds / 60:.1f} | {peak:,.0f} | {_size(made):.2f} |", flush=True)


if __name__ == "__main__":
    what, where, number = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if what == "fill":
        fill(where, int(number))
    elif what == "publish":
        publish_all(where, Path(number))
    else:
        _generate(where, Path(number))
