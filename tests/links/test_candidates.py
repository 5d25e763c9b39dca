"""Similar papers are candidates, the same in every process; a large group of equal papers costs little."""

import tracemalloc
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import combinations
from random import Random

import pytest

from peercorpus.links import candidates, similarity
from peercorpus.links.candidates import ABSTRACTS, TITLES, ComparedPaper, Heads, StoredPapers, find_candidates
from peercorpus.links.link_submissions import find_likely_pairs
from peercorpus.links.similarity import PaperComparer, normalise_head


def some(start: int, count: int) -> frozenset[str]:
    return frozenset(f"word {number}" for number in range(start, start + count))


def test_half_equal_titles_are_mostly_found() -> None:
    tokens = [one for number in range(100) for one in (some(100 * number, 6), some(100 * number + 2, 6))]
    pairs = {(2 * number, 2 * number + 1) for number in range(100)}
    found = find_candidates(tokens, TITLES, [""] * 200, BytesIO())
    assert found <= pairs
    assert len(found) > 60


def test_a_large_group_is_paired_with_neighbours() -> None:
    count = 200
    order = [f"{number % 100:03}" for number in range(count)]
    found = find_candidates([some(0, 10)] * count, TITLES, order, BytesIO())
    assert len(found) <= count * 3
    assert {(number, number + 100) for number in range(100)} <= found
    few = find_candidates([some(0, 10)] * 50, TITLES, order, BytesIO())
    assert few == set(combinations(range(50), 2))


FIRST = datetime(2023, 1, 31, 23, 59, 59, 123_000, tzinfo=UTC)


def paper(number: int, words: int = 60) -> ComparedPaper:
    chance = Random(number)
    abstract = " ".join(f"word{chance.randrange(100_000)}" for _ in range(words))
    head = normalise_head(f"Paper {number} of many", abstract, ["Ada Example", "Björn Beispiel"])
    return ComparedPaper(f"f{number}", "V.cc/2023/Workshop", FIRST + timedelta(days=number), None, head, '{"a": 1}')


def test_stored_papers_are_those_that_were_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "BLOCK", 3)
    papers = [paper(number) for number in range(10)]
    stored = StoredPapers(BytesIO(), iter(papers))
    assert list(stored) == papers
    assert len(stored) == 10
    assert stored[0] == papers[0]
    assert stored[-1] == papers[-1]
    assert stored[2:7:2] == papers[2:7:2]
    assert [head.title for head in Heads(stored)] == [one.head.title for one in papers]
    assert list(StoredPapers(BytesIO(), ())) == []
    with pytest.raises(IndexError):
        stored[10]


@pytest.mark.parametrize("batch", [1, 7, 20, 21, 1_000])
def test_batches_of_signatures_change_nothing(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "SIGNATURE_BATCH", batch)
    monkeypatch.setattr(candidates, "CACHED_SIGNATURES", 2)
    tokens = [
        frozenset(f"word {n}" for n in range(20 * (i // 2), 20 * (i // 2) + 60)) if i % 5 else () for i in range(26)
    ]
    scratch = BytesIO(b"something else")
    found = find_candidates(tokens, ABSTRACTS, [""] * 26, scratch)
    alike = {(one, one + 1) for one in range(0, 26, 2) if one % 5 and (one + 1) % 5}
    assert alike <= found
    assert found <= {(one, other) for one in range(26) for other in range(one + 1, one + 6) if one % 5 and other % 5}
    assert scratch.getvalue().startswith(b"something else")


def test_a_paper_takes_less_memory_than_its_abstract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "SIGNATURE_BATCH", 20)
    monkeypatch.setattr(candidates, "CACHED_SIGNATURES", 20)
    monkeypatch.setattr(similarity, "CACHED_ABSTRACTS", 20)
    monkeypatch.setattr(similarity, "COUNTER_SLOTS", 1 << 16)
    monkeypatch.setattr(candidates, "BLOCK", 20)

    def peak(count: int) -> int:
        stored, signatures = StoredPapers(BytesIO(), (paper(number, 250) for number in range(count))), BytesIO()
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        find_likely_pairs(stored, (), {}, signatures)
        # The scratch files are in memory here.
        return tracemalloc.get_traced_memory()[1] - held - len(signatures.getvalue())

    tracemalloc.start()
    try:
        few, many = peak(100), peak(300)
    finally:
        tracemalloc.stop()
    assert (many - few) / 200 < len(paper(0, 250).head.abstract) / 2


def test_stored_papers_give_the_same_pairs() -> None:
    papers = [*map(paper, range(30)), *map(paper, range(10))]
    papers = [
        ComparedPaper(f"f{place}", *(getattr(one, name) for name in ("venue_id", "created_at", "decided_at", "head")))
        for place, one in enumerate(papers)
    ]
    stored = StoredPapers(BytesIO(), papers)
    found = find_likely_pairs(stored, (), {}, BytesIO())
    assert found == find_likely_pairs(papers, (), {}, BytesIO())
    assert [(one.one.forum_id, one.other.forum_id) for one in found] == [(f"f{n}", f"f{n + 30}") for n in range(10)]
    assert PaperComparer(Heads(stored)).likeness(papers[0].head, papers[30].head) == found[0].likeness
