"""Measures the explorer's search of points on invented points, as many as papers with four reviews each have."""

import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import tantivy

from peercorpus.explorer.index_parts import POINTS, Part, Segments, SegmentWriter, join_parts
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.point_documents import make_point_document, make_point_schema
from peercorpus.explorer.point_search import MOST_PAGES, read_point_selection, search_points
from peercorpus.explorer.querying.searched_fields import OpenTexts
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.venue_page import VenueCounts
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import KindSource, Point, PointAspect, PointKind

VENUES = 28
TEXTS = 50_000
"""Different texts, of which every point has one."""
WORDS_OF_POINT = 45
VOCABULARY = 30_000
QUERIES = 200
HEAP_BYTES = 96_000_000
SHARES = {"summary": 2, "strength": 3, "weakness": 7, "question": 4, "suggestion": 3, "minor": 2, "other": 4}


class _Texts:
    """Texts with the word frequencies of a language: the nth most frequent word is 1/n as frequent as the first."""

    def __init__(self) -> None:
        chance = random.Random(5)
        letters = "abcdefghijklmnoprstuvw"
        self.words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(VOCABULARY)]
        self.weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
        self.all = [" ".join(self.draw(chance, WORDS_OF_POINT)) for _ in range(TEXTS)]

    def draw(self, chance: random.Random, count: int) -> list[str]:
        """Words of one text."""
        return chance.choices(self.words, cum_weights=self.weights, k=count)


def _list_points(texts: _Texts, count: int) -> Iterator[Point]:
    chance = random.Random(6)
    kinds = [PointKind(kind) for kind, share in SHARES.items() for _ in range(share)]
    aspects = [*PointAspect, None, None, None, None]
    for number in range(count):
        text = chance.choice(texts.all)
        venue = number * VENUES // count
        yield Point(
            point_id=f"r{number // 20}/{number % 20 + 1}",
            forum_id=f"f{number // 80}",
            venue_id=f"Venue{venue}.cc/{2000 + venue}/Conference",
            review_id=f"r{number // 20}",
            reviewer=f"Reviewer_{number // 20 % 4}",
            number=number % 20 + 1,
            field="weaknesses",
            section_kind=SectionKind.WEAKNESSES,
            start=0,
            end=len(text),
            text=text,
            kind=chance.choice(kinds),
            kind_source=KindSource.WORDS,
            label=None,
            aspect=chance.choice(aspects),
        )


def _paper_of(point: Point) -> PaperRow:
    """The row of its paper, of which the index of points uses the title and the year alone."""
    values: dict[str, Any] = dict.fromkeys(PaperRow.__dataclass_fields__)
    year = int(point.venue_id.split("/")[1])
    return PaperRow(**(values | {"title": f"On {point.forum_id}", "venue_id": point.venue_id, "year": year}))


def _build(folder: Path, texts: _Texts, count: int) -> OpenIndex:
    writer = SegmentWriter(make_point_schema(), folder / POINTS, HEAP_BYTES)
    venues: dict[str, VenueCounts] = {}
    began = time.monotonic()
    for number, point in enumerate(_list_points(texts, count)):
        row = _paper_of(point)
        counts = venues.setdefault(point.venue_id, VenueCounts(point.venue_id, year=row.year))
        counts.count_points([point])
        writer.add(*make_point_document(point, row, 1e9 + number // 80))
    join_parts([Part("", Segments(), writer.finish(), venues)], folder)
    size = sum(path.stat().st_size for path in (folder / POINTS).iterdir() if path.is_file())
    opened = [tantivy.Index.open(str(path)) for path in (folder, folder / POINTS)]
    papers, points = (OpenTexts(index, index.searcher()) for index in opened)
    took = time.monotonic() - began
    print(f"{count:,} points in {points.searcher.num_segments} segments: {took:.0f} s, {size / 1e6:,.0f} MB")
    return OpenIndex(papers.index, papers.searcher, folder, points, venues)


def _line(name: str, opened: OpenIndex, queries: Sequence[dict[str, str]]) -> None:
    taken = []
    for query in queries:
        selection = read_point_selection(urlencode(query))
        began = time.perf_counter()
        search_points(opened, selection)
        taken.append((time.perf_counter() - began) * 1000)
    taken.sort()
    p95 = taken[int(0.95 * (len(taken) - 1))]
    print(f"| {name} | {statistics.median(taken):.1f} | {p95:.1f} | {taken[-1]:.0f} |")


def main() -> None:
    """Measure: `searching_points.py FOLDER POINTS`; the folder does not exist yet."""
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    texts = _Texts()
    opened = _build(folder, texts, count)
    chance = random.Random(7)
    # As frequent as words of the texts are: one, two or three of them.
    words = [" ".join(texts.draw(chance, 1 + number % 3)) for number in range(QUERIES)]
    venue = {"venue": f"Venue{VENUES - 1}.cc/{2000 + VENUES - 1}/Conference"}
    print("| points searched | p50 ms | p95 ms | most ms |\n|---|---:|---:|---:|")
    for _ in range(2):
        _line("words", opened, [{"q": query} for query in words])
    _line("words, every kind", opened, [{"q": query, "kind": "all"} for query in words])
    _line("words, kind and aspect", opened, [{"q": w, "kind": "weakness", "aspect": "experiments"} for w in words])
    _line("words, venue", opened, [{"q": query} | venue for query in words])
    _line("words, the last page", opened, [{"q": query, "page": str(MOST_PAGES)} for query in words])
    _line("the most frequent word", opened, [{"q": texts.words[0], "kind": "all"}] * 20)
    _line("no words", opened, [{}] * 20)
    _line("no words, every kind", opened, [{"kind": "all"}] * 20)
    _line("no words, the last page", opened, [{"page": str(MOST_PAGES)}] * 20)


if __name__ == "__main__":
    main()
