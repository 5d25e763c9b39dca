"""Measures the quality of links, for invented and recorded papers, and their cost by the number of papers.

Run as a program it fills a workspace with invented papers, or links the papers of one.
"""

import gzip
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from alike_papers import LONG_TEXT_ITEMS, OTHER, SAME, TOPICS, Work, couples, edit, write, write_work
from peercorpus.execution.local_processes import LocalExecutor
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import no_report
from peercorpus.links.candidates import ComparedPaper, Pair
from peercorpus.links.link_submissions import find_candidate_pairs, link_papers
from peercorpus.links.similarity import PaperComparer, find_word_runs, normalise_head, text_share
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import Grade, Status
from peercorpus.records.papers import Evidence, Paper, PaperVersion
from peercorpus.texts.engines.pdfium_text import PdfiumText
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace
from tabling import KEY, in_a_process

DATA = Path(__file__).parents[2] / "shared" / "data"
SIZES = (12_882, 25_764, 51_529)
AGAIN = 10
"""One in this many papers is a resubmission of an earlier one."""
PAIRS, OTHERS = 200, 10_000
"""Pairs of each case, and papers among which they must be found."""
VENUES = ("Alpha.cc/2023/Conference", "Beta.cc/2023/Conference", "Gamma.cc/2024/Conference", "Delta.cc/2024/Conference")
FIRST = datetime(2022, 9, 1, tzinfo=UTC)


def _submission(place: int, work: Work) -> ComparedPaper:
    return ComparedPaper(f"{place:06}", VENUES[0], None, None, normalise_head(work.title, work.abstract))


def measure_rules() -> None:
    """The result for pairs of one work and of similar works, with and without texts."""
    chance = Random(1)
    works = [write_work(chance, chance.randrange(TOPICS), 1) for _ in range(OTHERS)]
    cases: dict[Pair, str] = {}
    for case in (*SAME, *OTHER):
        for couple in couples(case, PAIRS):
            cases[len(works), len(works) + 1] = case
            works.extend(couple)
    papers = [_submission(place, work) for place, work in enumerate(works)]
    compared = PaperComparer([paper.head for paper in papers])
    found, by_heads, by_text = find_candidate_pairs(papers, compared, BytesIO()), set[Pair](), set[Pair]()
    for pair in found:
        one, other = pair
        like = compared.likeness(papers[one].head, papers[other].head)
        if like.may_be_one():
            by_heads |= {pair} if like.rule() else set()
            text = text_share(find_word_runs(works[one].text), find_word_runs(works[other].text))
            by_text |= {pair} if replace(like, text=text).rule() else set()
    print(f"\n{len(works):,} invented papers, {len(found):,} candidates\n")
    print("| pairs of | is one work | candidates | by title and abstract | by text |\n|---|---|---:|---:|---:|")
    for case in (*SAME, *OTHER):
        own = {pair for pair, name in cases.items() if name == case}
        counts = " | ".join(f"{len(own & some) / len(own):.0%}" for some in (set(found), by_heads, by_text))
        print(f"| {case} | {'yes' if case in SAME else 'no'} | {counts} |")
    same = {pair for pair, case in cases.items() if case in SAME}
    _say("title and abstract", same, by_heads)
    _say("text", same, by_text)


def _say(what: str, same: set[Pair], linked: set[Pair]) -> None:
    right = len(same & linked)
    print(f"{what}: precision {right / len(linked):.3f}, recall {right / len(same):.3f}; {len(linked - same)} wrong")


def measure_recorded() -> None:
    """The links found for recorded titles and abstracts, and the similarity of recorded texts."""
    print("\n| known | pairs | precision | recall | wrong | with another abstract | linked of these |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for by_whom in (False, True):
        for is_missing in (False, True):
            _measure_heads(by_whom=by_whom, is_missing=is_missing)
    _measure_texts()


def _read_ratings() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the recorded papers by year and forum; those before the revision have the authors of the others."""
    rows = {
        (name, row["url"].rpartition("=")[2]): row
        for name in ("iclr2017", "iclr2018pre", "iclr2018")
        for row in json.loads(gzip.decompress((DATA / "ratings-chillee" / f"{name}.json.gz").read_bytes()))
    }
    for (_, one), row in rows.items():
        row.setdefault("authors", rows.get(("iclr2018", one), {}).get("authors", []))
    return rows


def _measure_heads(*, by_whom: bool, is_missing: bool) -> None:
    """Link by title and abstract, with or without authors and the abstract of the earlier version."""
    rows = _read_ratings()
    ids, papers = list(rows), list[ComparedPaper]()
    for (name, one), row in rows.items():
        abstract = None if is_missing and name == "iclr2018pre" else row["abstract"]
        head = normalise_head(row["title"], abstract, row["authors"] if by_whom else ())
        papers.append(ComparedPaper(one, name, None, None, head))
    places = {one: place for place, one in enumerate(ids)}
    same = {
        (places["iclr2018pre", one], place)
        for (name, one), place in places.items()
        if name == "iclr2018"
        if ("iclr2018pre", one) in places
    }
    changed = {pair for pair in same if len({rows[ids[place]]["abstract"] for place in pair}) > 1}
    compared = PaperComparer([paper.head for paper in papers])
    found = find_candidate_pairs(papers, compared, BytesIO())
    linked = {pair for pair in found if compared.likeness(papers[pair[0]].head, papers[pair[1]].head).rule()}
    what = f"title, {'no abstract of the earlier one' if is_missing else 'abstract'}{', authors' if by_whom else ''}"
    right = len(same & linked)
    shares = f"{right / len(linked):.3f} | {right / len(same):.3f} | {len(linked - same)}"
    print(f"| {what} | {len(same):,} | {shares} | {len(changed)} | {len(changed & linked)} |")


def _measure_texts() -> None:
    engine, shares = PdfiumText(), list[tuple[float, bool]]()
    paths = [*sorted(DATA.glob("pdf-initial-final/*/*.pdf")), *sorted(DATA.glob("pdf-bench/pdf/*.pdf"))]
    runs = {path: find_word_runs(engine.convert(path.read_bytes()).markdown) for path in paths}
    for one, other in combinations(paths, 2):
        is_same = _work_of(one) == _work_of(other)
        shares.append((text_share(runs[one], runs[other]) or 0.0, is_same))
    alike, others = (sorted(share for share, same in shares if same is is_same) for is_same in (True, False))
    print("\n| recorded PDFs | pairs | least share of runs of five words | greatest |\n|---|---:|---:|---:|")
    for what, found in (("of one paper", alike), ("of two papers", others)):
        print(f"| {what} | {len(found)} | {found[0]:.2f} | {found[-1]:.2f} |")


def _work_of(path: Path) -> str:
    return path.parent.name if "initial-final" in str(path) else path.stem.rpartition("__")[0]


def measure_growth(scratch: Path) -> None:
    """Processor time and peak memory of the stage, in a separate process."""
    print("\n| papers | links | s CPU | peak MB |\n|---:|---:|---:|---:|")
    for papers in SIZES:
        folder = scratch / f"links-{papers}"
        in_a_process("linking", "fill", str(folder), str(papers))
        before = os.times()
        _, peak = in_a_process("linking", "link", str(folder))
        after = os.times()
        seconds = sum(after[2:4]) - sum(before[2:4])
        with open_workspace(folder) as workspace:
            links = sum(workspace.tables.count("8-links", venue_id) for venue_id in VENUES)
        print(f"| {papers:,} | {links:,} | {seconds:.0f} | {peak:.0f} |", flush=True)


def _rows(place: int, venue_id: str, work: Work, sha256: str | None) -> Iterator[object]:
    forum_id, created = f"{place:06}", FIRST + timedelta(hours=place % 10_000)
    head = Paper(
        forum_id, venue_id, "alpha", 2023, "main", place, work.title, work.abstract, (), (), None, None, None,
        Status.UNKNOWN, None, None, None, None, created, created, "{}",
    )  # fmt: skip
    yield head
    if sha256 is not None:
        evidence = Evidence(None, None, "", None)
        yield PaperVersion(forum_id, venue_id, "e", created, created, "/pdf/a.pdf", sha256, True, Grade.EXACT, evidence)
        yield PaperText(sha256, venue_id, "invented", "1", work.text, 9, 6_000.0, ())


def _works(places: range) -> Iterator[tuple[int, Work, bool]]:
    """Invented papers, and whether each has a text: those have one that come back, and those that do."""
    for place in places:
        first = place - (place % AGAIN == 1)
        chance, topic = Random(f"paper {first}"), first % TOPICS
        work, is_held = write_work(chance, topic, 1), place % AGAIN in {0, 1}
        if is_held:
            work = replace(work, text=write(chance, topic, LONG_TEXT_ITEMS))
        if place % AGAIN == 1:
            own = Random(place)
            text = edit(own, topic, work.text, 0.25)
            work = Work(work.title, edit(own, topic, work.abstract, 0.2), text)
        yield place, work, is_held


def fill(folder: Path, papers: int) -> None:
    """Write the tables that the stage reads; one paper in ten is another one that came back, and both have a text."""
    names = ("1-papers", "4-versions", "5-texts")
    with open_workspace(folder, create=True) as workspace:
        # A workspace in which nothing was received is not kept.
        workspace.raw.add([RawObject(RawKind.NOTE, "0", 2, VENUES[0], "0", "0", 0, 0, "benchmark", b"{}")])
        for number, venue_id in enumerate(VENUES):
            with workspace.tables.replacing(names, venue_id, "invent", KEY) as out:
                for place, work, is_held in _works(range(number, papers, len(VENUES))):
                    for row in _rows(place, venue_id, work, f"{place:064}" if is_held else None):
                        out.add(row)


def link(folder: Path) -> None:
    """Run the stage."""
    with open_workspace(folder) as workspace:
        link_papers(LocalExecutor(), workspace, "", BuildRequest(), KEY, no_report)


def main(arguments: Sequence[str]) -> None:
    """Fill a workspace, or link its papers."""
    if arguments[0] == "fill":
        fill(Path(arguments[1]), int(arguments[2]))
    else:
        link(Path(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
