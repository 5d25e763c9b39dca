"""Which side a paper is on, train, validation or test: by paper, one for all tasks, and kept once it is given.

Test and validation are drawn for each task in the order of a keyed hash, stratum by stratum. What one task holds out no
task trains on, nor on a paper of the same work. Whatever has been given before comes first and stands.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from peercorpus.kinds import Role, Status
from peercorpus.publish.rows import ForumRows
from peercorpus.records import Paper

KEY = "peercorpus splits 1"
"""What is hashed with a forum's id; another key draws other papers."""
RE2_PAPERS = 19_926
"""Papers of Re² (arXiv:2505.07920)."""


class Side(StrEnum):
    """Where a paper is used, the one that weighs most first."""

    TEST = "test"
    VALIDATION = "validation"
    TRAIN = "train"


class Task(StrEnum):
    """What a model learns, in the order in which papers are drawn."""

    REBUTTAL = "rebuttal"
    """A conversation in which a reviewer and the authors speak, with the text of the paper."""
    REVIEW = "review"
    """A review, with the text of the paper."""


class Profile(StrEnum):
    """How papers are drawn."""

    RE2 = "re2"
    """Test and validation of Re²'s sizes, stratified by venue and status."""
    TEMPORAL = "temporal"
    """Test: every paper submitted after a day; validation as in `re2`, of the others."""


RE2_SIZES: Mapping[Task, int] = {Task.REBUTTAL: 500, Task.REVIEW: 1_000}
"""Papers that Re² tests each task on."""


@dataclass(frozen=True, slots=True)
class Usable:
    """A paper as far as its side depends on it.

    Attributes:
        submitted_at: When its note was created; None where that is not known.
        tasks: Those it can be used for.
    """

    forum_id: str
    venue_id: str
    status: Status
    submitted_at: datetime | None
    tasks: frozenset[Task]

    @property
    def stratum(self) -> tuple[str, str]:
        """What test and validation hold in the same shares as all papers."""
        return self.venue_id, self.status.value


@dataclass(frozen=True, slots=True)
class Sides:
    """Who is where.

    Attributes:
        of: The side of every paper that was ever given one; it never changes.
        used: By task, the papers it uses and their side. A paper that has a side and is not here is held back: another
            task tests on it, or another paper of the same work stands for it, or it is not usable any more.
    """

    of: Mapping[str, Side]
    used: Mapping[Task, Mapping[str, Side]]


NO_SIDES = Sides({}, {})


def usable(paper: Paper, rows: ForumRows) -> Usable:
    """What a paper can be used for, as what is published of it shows."""
    has_text = rows.grade is not None and bool(rows.paper["markdown"])
    speakers = [_sides_heard(talk) for talk in rows.conversations]
    fits = {
        Task.REVIEW: rows.paper["num_reviews"] > 0,
        Task.REBUTTAL: {Role.REVIEWER, Role.AUTHOR} in speakers,
    }
    tasks = frozenset(task for task in Task if has_text and fits[task])
    return Usable(paper.forum_id, paper.venue_id, paper.status, paper.created_at, tasks)


def _sides_heard(talk: dict[str, Any]) -> set[str]:
    """Which of its reviewer and the authors say something in a conversation."""
    names = {Role.REVIEWER: {talk["reviewer"]}, Role.AUTHOR: {turn["signature"] for turn in talk["turns"]}}
    spoken = (turn for turn in talk["turns"] if turn["text"].strip() or (turn["final_justification"] or "").strip())
    return {turn["role"] for turn in spoken if turn["signature"] in names.get(turn["role"], ())}


def size_of(task: Task, works: int, fit: int) -> int:
    """Papers in the test of a task, and in its validation.

    Args:
        task: The task.
        works: All works that some task can use. From Re²'s number on it is Re²'s size, below it the same share, rounded
            up.
        fit: Works that this task can use; test and validation take at most a third of them each.

    >>> size_of(Task.REVIEW, 19_926, 19_926), size_of(Task.REBUTTAL, 60_000, 40_000), size_of(Task.REVIEW, 100, 100)
    (1000, 500, 6)
    """
    return min(-(-RE2_SIZES[task] * min(works, RE2_PAPERS) // RE2_PAPERS), fit // 3)


def is_after(paper: Usable, day: date) -> bool:
    """Whether a dated paper was submitted after the end of a day (UTC)."""
    return paper.submitted_at is not None and paper.submitted_at.astimezone(UTC).date() > day


def _drawn_first(paper: Usable) -> str:
    return hashlib.sha256(f"{KEY}:{paper.forum_id}".encode()).hexdigest()


@dataclass(slots=True)
class _Draw:
    """Works as they get their sides.

    Attributes:
        works: The papers of each work, in the order in which they are drawn.
        given: Sides of papers given before.
        sides: Sides of works: of papers given several, the one that weighs most.
    """

    works: Mapping[str, list[Usable]]
    given: Mapping[str, Side]
    sides: dict[str, Side]
    used: dict[Task, dict[str, Side]] = field(default_factory=lambda: {task: {} for task in Task})

    def agrees(self, work: str, paper: Usable) -> bool:
        """Whether a paper is on the side of its work, or will be."""
        return paper.forum_id not in self.given or self.given[paper.forum_id] is self.sides[work]

    def standing(self, task: Task) -> dict[str, Usable]:
        """The paper that stands for each work in a task: the one it uses already, else the first drawn."""
        found = {}
        for work, papers in self.works.items():
            fitting = [paper for paper in papers if task in paper.tasks and self.agrees(work, paper)]
            if fitting:
                found[work] = min(fitting, key=lambda paper: paper.forum_id not in self.used[task])
        return found

    def fill(self, task: Task, side: Side, works: Mapping[str, Usable], size: int) -> None:
        """Draw papers for a side until it has its size, each time where most is lacking of a stratum's share."""
        used, lacking = self.used[task], dict.fromkeys((paper.stratum for paper in works.values()), 0)
        free: dict[tuple[str, str], list[tuple[bool, str, str]]] = defaultdict(list)
        for work, paper in works.items():
            is_used = used.get(paper.forum_id) is side
            # In units of one paper through the number of works, so that nothing is rounded.
            lacking[paper.stratum] += size - len(works) * is_used
            if self.sides.get(work, side) is side and not is_used:
                free[paper.stratum].append((work not in self.sides, _drawn_first(paper), work))
        for left in free.values():
            left.sort(reverse=True)
        missing = size - sum(used.get(paper.forum_id) is side for paper in works.values())
        for _ in range(missing):
            stratum = max((name for name in free if free[name]), key=lambda name: (lacking[name], name), default=None)
            if stratum is None:
                return
            work = free[stratum].pop()[2]
            self.sides[work] = used[works[work].forum_id] = side
            lacking[stratum] -= len(works)

    def held_apart(self, task: Task, works: Iterable[str], profile: Profile) -> None:
        """Draw the validation of a task, and its test where that is drawn."""
        allowed = set(works)
        standing = {work: paper for work, paper in self.standing(task).items() if work in allowed}
        size = size_of(task, len(allowed), len(standing))
        for side in (Side.TEST, Side.VALIDATION) if profile is Profile.RE2 else (Side.VALIDATION,):
            self.fill(task, side, standing, size)

    def use_rest(self, task: Task, side: Side) -> None:
        """Use every paper of a side that a task can use."""
        for work, papers in self.works.items():
            if self.sides[work] is side:
                fitting = (paper.forum_id for paper in papers if task in paper.tasks and self.agrees(work, paper))
                self.used[task] |= dict.fromkeys(fitting, side)


def _group(papers: Iterable[Usable], groups: Mapping[str, str]) -> dict[str, list[Usable]]:
    works: dict[str, list[Usable]] = defaultdict(list)
    for paper in sorted(papers, key=_drawn_first):
        works[groups.get(paper.forum_id, paper.forum_id)].append(paper)
    return works


def _sides_given(given: Mapping[str, Side], groups: Mapping[str, str]) -> dict[str, Side]:
    """Sides of works: test where any paper of it tests, else validation where any validates, else train."""
    found: dict[str, list[Side]] = defaultdict(list)
    for forum_id, side in given.items():
        found[groups.get(forum_id, forum_id)].append(side)
    return {work: next(side for side in Side if side in sides) for work, sides in found.items()}


def draw(
    papers: Iterable[Usable],
    test_after: date | None = None,
    earlier: Sides = NO_SIDES,
    groups: Mapping[str, str] | None = None,
) -> Sides:
    """Give every paper a side that some task can use and, where days count, that has a date.

    Args:
        papers: Each once, in any order.
        test_after: Test on what was submitted after this day (UTC); None draws the test as Re² does.
        earlier: What was given before: its sides are kept, whatever is known now, and new papers are added.
        groups: The work that a paper is of, by forum id; a paper that is not named is a work of its own. The papers of
            a work come on one side. Where earlier sides part them, those on the side that weighs less are held back.
    """
    known = groups or {}
    fitting = [paper for paper in papers if paper.tasks and (test_after is None or paper.submitted_at is not None)]
    works = _group(fitting, known)
    drawn = _Draw(works, earlier.of, _sides_given(earlier.of, known))
    late = {paper.forum_id for paper in fitting if test_after is not None and is_after(paper, test_after)}
    newer = {work for work, members in works.items() if any(paper.forum_id in late for paper in members)}
    drawn.sides |= dict.fromkeys(newer, Side.TEST)
    for task in Task:
        for work, members in works.items():
            for paper in members:
                side = earlier.used.get(task, {}).get(paper.forum_id)
                if side is not None and task in paper.tasks and drawn.agrees(work, paper):
                    drawn.used[task][paper.forum_id] = side
    profile = Profile.RE2 if test_after is None else Profile.TEMPORAL
    for task in Task:
        drawn.held_apart(task, works.keys() - newer, profile)
    for work in works:
        drawn.sides.setdefault(work, Side.TRAIN)
    for task in Task:
        drawn.use_rest(task, Side.TRAIN)
        if test_after is not None:
            drawn.use_rest(task, Side.TEST)
            drawn.used[task] = {
                forum_id: side
                for forum_id, side in drawn.used[task].items()
                if (forum_id in late) is (side is Side.TEST)
            }
    fresh = {paper.forum_id: drawn.sides[work] for work, members in works.items() for paper in members}
    return Sides(fresh | dict(earlier.of), drawn.used)
