"""Assign papers to the splits that a published dataset states; nothing is drawn or moved."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from peercorpus.errors import PeercorpusError
from peercorpus.release.splits import PaperSplits, Split, Task, Usable, follow_other_tasks


def take_stated_splits(
    papers: Iterable[Usable], earlier: PaperSplits, groups: Mapping[str, str] | None = None
) -> PaperSplits:
    """Return the splits that datasets state; a paper without a stated split gets none.

    A dataset states a split for each task. A paper that one task tests on is not used for training in any task: it is
    in the test split, and is held back from tasks that would train on it. Papers of one work stay where they are
    stated; `apart` counts the works that are in two splits. `meta_review` uses the papers of the stated tasks, as in
    Re² (section 2.1).

    Args:
        papers: Each paper once, in any order.
        earlier: Splits of an earlier release; they are kept for papers not among `papers`.
        groups: The work of each paper, by forum id.

    Raises:
        PeercorpusError: No paper has a stated split.
    """
    of: dict[str, Split] = {}
    used: dict[Task, dict[str, Split]] = {task: {} for task in Task}
    apart: defaultdict[str, set[Split]] = defaultdict(set)
    known = list(papers)
    for paper in known:
        stated = {Task(one.task): Split(one.split) for one in paper.stated}
        if not stated:
            continue
        split = of[paper.forum_id] = min(stated.values(), key=list(Split).index)
        for task in paper.tasks & stated.keys():
            if stated[task] is split:
                used[task][paper.forum_id] = split
        apart[(groups or {}).get(paper.forum_id, paper.forum_id)].add(split)
    if not of:
        raise PeercorpusError(
            "No published dataset states the split of a paper of these venues; import one whose files do, such as Re²'s"
            " REVIEWS_train.json, or publish with --splits re2."
        )
    used[Task.META_REVIEW] = follow_other_tasks(used, known, groups or {})
    return PaperSplits(dict(earlier.of) | of, used, apart=sum(len(splits) > 1 for splits in apart.values()))
