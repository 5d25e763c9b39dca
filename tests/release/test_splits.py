"""Properties of the splits for any papers, any earlier splits and any links."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peercorpus.records.enums import Status
from peercorpus.records.papers import StatedSplit
from peercorpus.release.kept_splits import take_stated_splits
from peercorpus.release.splits import NO_SPLITS, RE2_SIZES, PaperSplits, Split, Task, Usable, draw_splits, split_sizes

DAY = date(2024, 1, 1)
BOTH, REVIEWS, NOTHING = frozenset(Task), frozenset({Task.REVIEW}), frozenset[Task]()
DATES = [
    None,
    *(datetime(2024, 1, 1, 23, 59, tzinfo=UTC) + timedelta(minutes=minutes) for minutes in (-9999, 0, 1, 99)),
]
HELD = (Split.TEST, Split.VALIDATION)


@st.composite
def corpora(draw: st.DrawFn, prefix: str = "f", most: int = 60) -> list[Usable]:
    """Papers in strata of very different sizes, some of them unusable."""
    kinds = st.tuples(
        st.sampled_from(["A", "A", "B", "C", "D", "E"]),
        st.sampled_from([Status.ACCEPTED, Status.ACCEPTED, Status.REJECTED]),
        st.sampled_from(DATES),
        st.sampled_from([BOTH, BOTH, REVIEWS, frozenset({Task.REBUTTAL}), NOTHING]),
    )
    return [Usable(f"{prefix}{number}", *kind) for number, kind in enumerate(draw(st.lists(kinds, max_size=most)))]


def links(seed: int, *parts: Sequence[Usable]) -> dict[str, str]:
    """Half of the papers in works of about three."""
    random, papers = Random(seed), [paper for part in parts for paper in part]
    return {paper.forum_id: f"w{random.randrange(1 + len(papers) // 6)}" for paper in papers if random.random() < 0.5}


def sizes(splits: PaperSplits, task: Task) -> Counter[Split]:
    return Counter(splits.used[task].values())


@given(corpora())
def test_every_usable_paper_has_one_split(papers: list[Usable]) -> None:
    splits = draw_splits(papers)
    assert splits.of.keys() == {paper.forum_id for paper in papers if paper.tasks}
    for task in RE2_SIZES:
        fitting = {paper.forum_id for paper in papers if task in paper.tasks}
        assert splits.used[task].items() <= splits.of.items()
        assert splits.used[task].keys() <= fitting
        assert all(splits.of[forum_id] in HELD for forum_id in fitting - splits.used[task].keys())
        size = split_sizes(task, len(splits.of), len(fitting))
        assert [sizes(splits, task)[split] for split in HELD] == [size, size]


@given(corpora(), st.sampled_from([None, DAY]))
def test_meta_reviews_move_no_paper(papers: list[Usable], after: date | None) -> None:
    others = [replace(paper, tasks=paper.tasks - {Task.META_REVIEW}) for paper in papers]
    splits, without = draw_splits(papers, after), draw_splits(others, after)
    assert splits.of == without.of
    used = {forum_id: split for task in RE2_SIZES for forum_id, split in without.used[task].items()}
    fitting = {paper.forum_id for paper in papers if Task.META_REVIEW in paper.tasks}
    assert splits.used[Task.META_REVIEW] == {name: split for name, split in used.items() if name in fitting}


def of_size(number: int, seed: int) -> list[Usable]:
    """Papers in nine strata, from a third of all to hardly any; four in five have a conversation."""
    random = Random(seed)
    venues = random.choices("ABCDEFGHI", [2.0**-power for power in range(9)], k=number)
    tasks = random.choices([BOTH, REVIEWS], [4, 1], k=number)
    return [Usable(f"f{at}", venues[at], Status.ACCEPTED, None, tasks[at]) for at in range(number)]


@pytest.mark.slow
@settings(deadline=None)
@given(st.one_of(corpora(), st.builds(of_size, st.integers(0, 700), st.integers(0, 999))))
def test_a_stratum_has_its_share_within_one_paper(papers: list[Usable]) -> None:
    splits = draw_splits(papers)
    for task in RE2_SIZES:
        fitting = {paper.forum_id: paper.stratum for paper in papers if task in paper.tasks}
        for split in HELD:
            drawn = Counter(fitting[forum_id] for forum_id, of in splits.used[task].items() if of is split)
            for stratum, number in Counter(fitting.values()).items():
                assert abs(drawn[stratum] - drawn.total() * number / len(fitting)) <= 1


@given(st.integers(3, 300), st.integers(0, 999))
def test_tasks_share_their_test_papers(number: int, seed: int) -> None:
    random = Random(seed)
    papers = [
        Usable(f"f{at}", "A", Status.ACCEPTED, None, random.choice([BOTH, REVIEWS, REVIEWS])) for at in range(number)
    ]
    splits = draw_splits(papers)
    assert splits.used[Task.REVIEW].keys() == {paper.forum_id for paper in papers}


@given(corpora(), st.integers(0, 99), st.sampled_from([None, DAY]))
def test_the_order_of_the_papers_changes_nothing(papers: list[Usable], seed: int, after: date | None) -> None:
    groups, shuffled = links(seed, papers), Random(seed).sample(papers, len(papers))
    assert draw_splits(papers, after, groups=groups) == draw_splits(shuffled, after, groups=groups)


@given(corpora(), corpora("g"), st.integers(0, 99), st.sampled_from([None, DAY]))
def test_no_paper_moves_in_a_growing_corpus(
    papers: list[Usable], more: list[Usable], seed: int, after: date | None
) -> None:
    first = draw_splits(papers, after, groups=links(seed, papers))
    groups = links(seed + 1, papers, more)
    changed = [replace(paper, tasks=Random(seed).choice([BOTH, REVIEWS, NOTHING])) for paper in papers]
    second = draw_splits([*changed, *more], after, first, groups)
    assert first.of.items() <= second.of.items()
    assert_no_work_is_in_two_splits(second, groups)
    for task in Task if after is None else ():
        added = [one for one, split in second.used[task].items() if split in HELD and one not in first.used[task]]
        kept = {groups.get(one, one) for one in second.used[task].keys() & first.used[task].keys()}
        works = [groups.get(one, one) for one in added]
        assert len(works) == len(set(works))
        assert kept.isdisjoint(works)
    for task in Task:
        kept = {paper.forum_id for paper in changed if task in paper.tasks}
        moved = {
            forum_id
            for forum_id in kept & first.used[task].keys() & second.used[task].keys()
            if first.used[task][forum_id] is not second.used[task][forum_id]
        }
        assert not moved


@pytest.mark.slow
@given(corpora(), corpora("g"))
def test_test_sets_grow_and_keep_their_papers(papers: list[Usable], more: list[Usable]) -> None:
    first = draw_splits(papers)
    second = draw_splits([*papers, *more], earlier=first)
    for task in Task:
        for split in HELD:
            before = {forum_id for forum_id, of in first.used[task].items() if of is split}
            after = {forum_id for forum_id, of in second.used[task].items() if of is split}
            assert before <= after


@pytest.mark.slow
@given(corpora(), corpora("g"), st.integers(0, 99), st.sampled_from([None, DAY]))
def test_a_same_corpus_keeps_splits(papers: list[Usable], more: list[Usable], seed: int, after: date | None) -> None:
    held = [*papers, *more]
    groups = links(seed, held)
    second = draw_splits(held, after, draw_splits(papers, after), groups)
    assert draw_splits(held, after, second, groups) == second


def assert_no_work_is_in_two_splits(splits: PaperSplits, groups: Mapping[str, str]) -> None:
    by_work: dict[str, set[Split]] = {}
    for used in splits.used.values():
        for forum_id, split in used.items():
            by_work.setdefault(groups.get(forum_id, forum_id), set()).add(split)
    assert all(len(found) == 1 for found in by_work.values())


@given(corpora(), st.integers(0, 99), st.sampled_from([None, DAY]))
def test_papers_of_one_work_are_in_one_split(papers: list[Usable], seed: int, after: date | None) -> None:
    groups = links(seed, papers)
    splits = draw_splits(papers, after, groups=groups)
    found: dict[str, set[Split]] = {}
    for forum_id, split in splits.of.items():
        found.setdefault(groups.get(forum_id, forum_id), set()).add(split)
    assert all(len(one) == 1 for one in found.values())
    if after is None:
        for task in Task:
            tested = [groups.get(one, one) for one, split in splits.used[task].items() if split in HELD]
            assert len(tested) == len(set(tested))


@given(corpora(), st.integers(0, 99))
def test_temporal_tests_are_the_newer_papers(papers: list[Usable], seed: int) -> None:
    splits = draw_splits(papers, DAY, groups=links(seed, papers))
    dated = {paper.forum_id: paper for paper in papers if paper.submitted_at is not None and paper.tasks}
    assert splits.of.keys() == dated.keys()
    for task in Task:
        for split, is_test in ((Split.TEST, True), (Split.VALIDATION, False), (Split.TRAIN, False)):
            for forum_id in (one for one, of in splits.used[task].items() if of is split):
                submitted_at = dated[forum_id].submitted_at
                assert submitted_at is not None
                assert (submitted_at.date() > DAY) is is_test
    groups = links(seed, papers)
    newer = {one for one, paper in dated.items() if paper.submitted_at and paper.submitted_at.date() > DAY}
    assert newer == {one for used in splits.used.values() for one, split in used.items() if split is Split.TEST}
    works = {groups.get(one, one) for one in newer}
    assert works == {groups.get(one, one) for one, split in splits.of.items() if split is Split.TEST}


def test_a_divided_work_is_in_its_largest_part() -> None:
    papers = [Usable(name, "A", Status.ACCEPTED, None, BOTH) for name in "abcdef"]
    of = {
        "a": Split.TRAIN,
        "b": Split.TEST,
        "c": Split.VALIDATION,
        "d": Split.TRAIN,
        "e": Split.TRAIN,
        "f": Split.VALIDATION,
    }
    earlier = PaperSplits(of, {task: dict(of) for task in Task})
    splits = draw_splits(papers, earlier=earlier, groups={"a": "w", "b": "w", "c": "v", "d": "v", "e": "u", "f": "u"})
    assert splits.of == of
    used = {"b": Split.TEST, "c": Split.VALIDATION, "f": Split.VALIDATION}
    assert splits.used == dict.fromkeys(Task, used)


def test_a_later_date_leaves_training() -> None:
    old = Usable("f1", "A", Status.ACCEPTED, DATES[1], BOTH)
    first = draw_splits([old], DAY)
    second = draw_splits([replace(old, submitted_at=DATES[4])], DAY, first)
    assert (first.of["f1"], first.used[Task.REVIEW]) == (Split.TRAIN, {"f1": Split.TRAIN})
    assert (second.of["f1"], second.used[Task.REVIEW]) == (Split.TRAIN, {})


@pytest.mark.parametrize(
    ("works", "fit", "review", "rebuttal"),
    [
        (0, 0, 0, 0),
        (2, 2, 0, 0),
        (3, 3, 1, 1),
        (9_963, 9_963, 500, 250),
        (19_926, 900, 300, 300),
        (10**5, 10**5, 1_000, 500),
    ],
)
def test_sizes_are_those_of_re2_or_its_shares(works: int, fit: int, review: int, rebuttal: int) -> None:
    assert (split_sizes(Task.REVIEW, works, fit), split_sizes(Task.REBUTTAL, works, fit)) == (review, rebuttal)


def test_papers_of_a_test_work_are_held_back() -> None:
    papers = of_size(60, 1)
    first = draw_splits(papers)
    tested = next(one for one, split in first.used[Task.REBUTTAL].items() if split is Split.TEST)
    again = [Usable(f"again{number}", "A", Status.REJECTED, None, BOTH) for number in range(20)]
    second = draw_splits([*papers, *again], earlier=first, groups={one.forum_id: tested for one in again})
    assert second.used == first.used
    assert second.of == {**first.of, **{one.forum_id: Split.TEST for one in again}}


def stated(forum_id: str, **splits: str) -> Usable:
    own = tuple(StatedSplit(*one) for one in splits.items())
    return Usable(forum_id, "A", Status.ACCEPTED, None, BOTH, stated=own)


def test_stated_splits_are_kept() -> None:
    papers = [
        stated("a", review="train", rebuttal="train"),
        stated("b", review="test", rebuttal="train"),
        stated("c", rebuttal="test"),
        stated("d"),
        replace(stated("e", review="train"), tasks=NOTHING),
    ]
    splits = take_stated_splits(papers, NO_SPLITS, {"a": "work", "b": "work"})
    assert splits.of == {"a": Split.TRAIN, "b": Split.TEST, "c": Split.TEST, "e": Split.TRAIN}
    assert splits.used[Task.REVIEW] == {"a": Split.TRAIN, "b": Split.TEST}
    assert splits.used[Task.REBUTTAL] == {"a": Split.TRAIN, "c": Split.TEST}
    assert splits.apart == 1
