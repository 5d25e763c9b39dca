"""Assign papers to train, validation and test by work, not by review.

A paper keeps its split for good, in all tasks; submissions of one work share it. `draw_splits` is the rule.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from peercorpus.records.enums import ConversationKind, Grade, Role, Status, VersionMoment
from peercorpus.records.papers import Paper, StatedSplit
from peercorpus.release.request import Profile
from peercorpus.release.rows import ForumRows, end_at_decision

KEY = "peercorpus splits 1"
"""Hashed together with a forum's id to order papers; another key draws other papers."""
RE2_PAPERS = 19_926
"""Number of papers in Re² (arXiv:2505.07920)."""


class Split(StrEnum):
    """A paper's part of the data, in order of precedence: a work with a test paper is a test work."""

    TEST = "test"
    VALIDATION = "validation"
    TRAIN = "train"


class Task(StrEnum):
    """Task for a model to learn, in the order in which papers are drawn."""

    REBUTTAL = "rebuttal"
    """A conversation in which a reviewer and the authors speak, with the text of the paper."""
    REVIEW = "review"
    """A review that was not posted after the decision, with the text of the paper."""
    META_REVIEW = "meta_review"
    """A meta-review that was not posted after the decision, with such a review and the text of the paper."""


RE2_SIZES: Mapping[Task, int] = {Task.REBUTTAL: 500, Task.REVIEW: 1_000}
"""Number of test papers per task in Re², in the order of drawing; `meta_review` uses the papers of the others."""


@dataclass(frozen=True, slots=True)
class Usable:
    """The data that the split of a paper depends on.

    Attributes:
        submitted_at: Time when its note was created; None if not known.
        tasks: Tasks that it can be used for.
        grade: The grade of its text; None if it has none, or there is no text.
        moment: When the version of that text was uploaded; None if not known, or there is no text.
        has_text: Whether it has a text.
        stated: The splits that published datasets state.
    """

    forum_id: str
    venue_id: str
    status: Status
    submitted_at: datetime | None
    tasks: frozenset[Task]
    grade: Grade | None = None
    moment: VersionMoment | None = None
    has_text: bool = False
    stated: tuple[StatedSplit, ...] = ()

    @property
    def stratum(self) -> tuple[str, str]:
        """Venue and status, whose shares are the same in test and validation as in all papers."""
        return self.venue_id, self.status.value


@dataclass(frozen=True, slots=True)
class PaperSplits:
    """The split of each paper.

    Attributes:
        of: The split of every paper that ever had one; it never changes.
        used: By task, the papers it uses and their splits. A paper with a split that is missing here is held back:
            another task tests on it, another paper of the same work is used instead, or it is no longer usable.
        apart: Works with papers in two splits, which only stated splits have.
        moved: Number of papers that change or lose the split assigned by earlier releases, which happens only on
            request.
    """

    of: Mapping[str, Split]
    used: Mapping[Task, Mapping[str, Split]]
    apart: int = field(default=0, compare=False)
    moved: int = field(default=0, compare=False)


NO_SPLITS = PaperSplits({}, {})


def usable(paper: Paper, rows: ForumRows) -> Usable:
    """Return the possible uses of a paper, judged by its published rows."""
    has_text = rows.is_accepted and bool(rows.paper["markdown"])
    with_reviewers = (talk for talk in rows.conversations if talk["kind"] == ConversationKind.REVIEW)
    speakers = [_find_sides_heard(end_at_decision(talk)) for talk in with_reviewers]
    is_reviewed = any(review["posted_after_decision"] is not True for review in rows.reviews)
    fits = {
        Task.REVIEW: is_reviewed,
        Task.META_REVIEW: is_reviewed and any(map(is_target, rows.meta_reviews)),
        Task.REBUTTAL: {Role.REVIEWER, Role.AUTHOR} in speakers,
    }
    tasks = frozenset(task for task in Task if has_text and fits[task])
    return Usable(
        forum_id=paper.forum_id,
        venue_id=paper.venue_id,
        status=paper.status,
        submitted_at=paper.created_at,
        tasks=tasks,
        grade=rows.grade,
        moment=rows.paper["text_moment"],
        has_text=bool(rows.paper["markdown"]),
        stated=paper.stated_splits,
    )


def _find_sides_heard(talk: dict[str, Any]) -> set[str]:
    """Return which of the two sides, reviewer and authors, speak in a conversation.

    A response to all reviewers between two turns of the reviewer counts as a turn of the authors.
    """
    names = {Role.REVIEWER: {talk["reviewer"]}, Role.AUTHOR: {turn["signature"] for turn in talk["turns"]}}
    spoken = (turn for turn in talk["turns"] if turn["text"].strip() or (turn["final_justification"] or "").strip())
    heard = {turn["role"] for turn in spoken if turn["signature"] in names.get(turn["role"], ())}
    return heard | ({Role.AUTHOR} if any(_is_between(talk, beside) for beside in talk["context"]) else set())


def _is_between(talk: dict[str, Any], beside: dict[str, Any]) -> bool:
    """Return whether a response to all reviewers is between two turns of the reviewer."""
    place = beside["before_turn"]
    around = talk["turns"][place - 1 : place + 1] if place else []
    return len(around) > 1 and all(turn["signature"] == talk["reviewer"] for turn in around)


def split_sizes(task: Task, works: int, fit: int) -> int:
    """Return the number of papers in the test split of a task, which is also that of its validation split.

    Args:
        task: The task.
        works: Number of works that some task can use. From Re²'s number upwards the size is Re²'s, below it the same
            share, rounded up.
        fit: Number of works that this task can use; test and validation each take at most a third of them.

    >>> split_sizes(Task.REVIEW, 19_926, 19_926), split_sizes(Task.REBUTTAL, 60_000, 40_000)
    (1000, 500)
    >>> split_sizes(Task.REVIEW, 100, 100)
    6
    """
    return min(-(-RE2_SIZES[task] * min(works, RE2_PAPERS) // RE2_PAPERS), fit // 3)


def is_after(paper: Usable, day: date) -> bool:
    """Return whether a paper has a date after a day (UTC)."""
    return paper.submitted_at is not None and paper.submitted_at.astimezone(UTC).date() > day


def _hash_for_order(paper: Usable) -> str:
    return hashlib.sha256(f"{KEY}:{paper.forum_id}".encode()).hexdigest()


def is_target(meta_review: Mapping[str, Any]) -> bool:
    """Return whether a meta-review can be learnt: it has a text and was not posted after the decision."""
    return bool(meta_review["text"].strip()) and meta_review["posted_after_decision"] is not True


def follow_other_tasks(
    used: Mapping[Task, Mapping[str, Split]],
    papers: Iterable[Usable],
    groups: Mapping[str, str],
    before: Collection[str] = (),
) -> dict[str, Split]:
    """Return the split of each paper for `meta_review`: the split in which another task uses it.

    So this task changes no split, and never tests on a paper that another task trains on. Like the other tasks, it
    tests and validates on one paper of a work, though not necessarily the same one.

    Args:
        used: Papers by task, with their splits.
        papers: All papers.
        groups: The work of each paper; a paper not listed is a work of its own.
        before: Papers that an earlier release used for the task, which come first.
    """
    elsewhere = {forum_id: split for task in RE2_SIZES for forum_id, split in used[task].items()}
    fitting = (paper for paper in papers if Task.META_REVIEW in paper.tasks and paper.forum_id in elsewhere)
    of: dict[str, Split] = {}
    held: set[str] = set()
    for paper in sorted(fitting, key=lambda paper: (paper.forum_id not in before, _hash_for_order(paper))):
        forum_id = paper.forum_id
        split, work = elsewhere[forum_id], groups.get(forum_id, forum_id)
        if split is Split.TRAIN or work not in held:
            of[forum_id] = split
            if split is not Split.TRAIN:
                held.add(work)
    return of


@dataclass(slots=True)
class _Draw:
    """Works in the course of getting their splits.

    Attributes:
        works: The papers of each work, in the order in which they are drawn.
        given: Splits that papers already had.
        splits: Splits of works; if their papers had several, the one with the highest precedence.
    """

    works: Mapping[str, list[Usable]]
    given: Mapping[str, Split]
    splits: dict[str, Split]
    used: dict[Task, dict[str, Split]] = field(default_factory=lambda: {task: {} for task in Task})

    def agrees(self, work: str, paper: Usable) -> bool:
        """Return whether a paper can be used in the split of its work: it had no split before, or the same one."""
        return paper.forum_id not in self.given or self.given[paper.forum_id] is self.splits[work]

    def standing(self, task: Task) -> dict[str, Usable]:
        """Return the paper used for each work in a task: the one already used, else the first drawn."""
        papers_by_work = {}
        for work, papers in self.works.items():
            fitting = [paper for paper in papers if task in paper.tasks and self.agrees(work, paper)]
            if fitting:
                papers_by_work[work] = min(fitting, key=lambda paper: paper.forum_id not in self.used[task])
        return papers_by_work

    def fill(self, task: Task, split: Split, works: Mapping[str, Usable], size: int) -> None:
        """Draw papers for a split until it has its size, each from the stratum furthest below its share."""
        used = self.used[task]
        lacking = dict.fromkeys((paper.stratum for paper in works.values()), 0)
        free: dict[tuple[str, str], list[tuple[bool, str, str]]] = defaultdict(list)
        for work, paper in works.items():
            is_used = used.get(paper.forum_id) is split
            # Counted in units of one paper divided by the number of works, so that nothing is rounded.
            lacking[paper.stratum] += size - len(works) * is_used
            if self.splits.get(work, split) is split and not is_used:
                free[paper.stratum].append((work not in self.splits, _hash_for_order(paper), work))
        for left in free.values():
            left.sort(reverse=True)
        missing = size - sum(used.get(paper.forum_id) is split for paper in works.values())
        for _ in range(missing):
            stratum = max((name for name in free if free[name]), key=lambda name: (lacking[name], name), default=None)
            if stratum is None:
                return
            work = free[stratum].pop()[2]
            self.splits[work] = used[works[work].forum_id] = split
            lacking[stratum] -= len(works)

    def held_apart(self, task: Task, works: Iterable[str], profile: Profile) -> None:
        """Draw the validation split of a task, and its test split in profile `re2`."""
        allowed = set(works)
        standing = {work: paper for work, paper in self.standing(task).items() if work in allowed}
        size = split_sizes(task, len(allowed), len(standing))
        for split in (Split.TEST, Split.VALIDATION) if profile is Profile.RE2 else (Split.VALIDATION,):
            self.fill(task, split, standing, size)

    def use_rest(self, task: Task, split: Split) -> None:
        """Add every paper of a split that a task can use."""
        for work, papers in self.works.items():
            if self.splits[work] is split:
                fitting = (paper.forum_id for paper in papers if task in paper.tasks and self.agrees(work, paper))
                self.used[task] |= dict.fromkeys(fitting, split)


def _group_by_work(papers: Iterable[Usable], groups: Mapping[str, str]) -> dict[str, list[Usable]]:
    works: dict[str, list[Usable]] = defaultdict(list)
    for paper in sorted(papers, key=_hash_for_order):
        works[groups.get(paper.forum_id, paper.forum_id)].append(paper)
    return works


def _choose_earlier_splits(earlier_splits: Mapping[str, Split], groups: Mapping[str, str]) -> dict[str, Split]:
    """Return the split of each work: test if any of its papers is, else validation if any is, else train."""
    splits_by_work: dict[str, list[Split]] = defaultdict(list)
    for forum_id, split in earlier_splits.items():
        splits_by_work[groups.get(forum_id, forum_id)].append(split)
    return {work: next(split for split in Split if split in splits) for work, splits in splits_by_work.items()}


def draw_splits(
    papers: Iterable[Usable],
    test_after: date | None = None,
    earlier: PaperSplits = NO_SPLITS,
    groups: Mapping[str, str] | None = None,
) -> PaperSplits:
    """Assign a split to every paper that some task can use; with `test_after`, only to papers with a date.

    Args:
        papers: Each paper once, in any order.
        test_after: Test on the papers submitted after this day (UTC); None draws the test split as Re² does.
        earlier: Splits of an earlier release; they are kept in any case, and new papers are added.
        groups: The work of each paper, by forum id; a paper not listed is a work of its own. All papers of a work get
            one split. If they had different splits earlier, those in the split of lower precedence are held back.
    """
    known_works = groups or {}
    fitting = [paper for paper in papers if paper.tasks and (test_after is None or paper.submitted_at is not None)]
    works = _group_by_work(fitting, known_works)
    drawn = _Draw(works, earlier.of, _choose_earlier_splits(earlier.of, known_works))
    late = {paper.forum_id for paper in fitting if test_after is not None and is_after(paper, test_after)}
    newer = {work for work, members in works.items() if any(paper.forum_id in late for paper in members)}
    drawn.splits |= dict.fromkeys(newer, Split.TEST)
    for task in RE2_SIZES:
        for work, members in works.items():
            for paper in members:
                split = earlier.used.get(task, {}).get(paper.forum_id)
                if split is not None and task in paper.tasks and drawn.agrees(work, paper):
                    drawn.used[task][paper.forum_id] = split
    profile = Profile.RE2 if test_after is None else Profile.TEMPORAL
    for task in RE2_SIZES:
        drawn.held_apart(task, works.keys() - newer, profile)
    for work in works:
        drawn.splits.setdefault(work, Split.TRAIN)
    for task in RE2_SIZES:
        drawn.use_rest(task, Split.TRAIN)
        if test_after is not None:
            drawn.use_rest(task, Split.TEST)
            drawn.used[task] = {
                forum_id: split
                for forum_id, split in drawn.used[task].items()
                if (forum_id in late) is (split is Split.TEST)
            }
    before = earlier.used.get(Task.META_REVIEW, {})
    drawn.used[Task.META_REVIEW] = follow_other_tasks(drawn.used, fitting, known_works, before)
    fresh = {paper.forum_id: drawn.splits[work] for work, members in works.items() for paper in members}
    return PaperSplits(fresh | dict(earlier.of), drawn.used)
