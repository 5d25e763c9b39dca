"""Texts of `publish`: what a release contains, and how to load it."""

import json
from collections import Counter
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import counts_by_kind
from peercorpus.records.enums import GRADE_MEANINGS, PUBLISHABLE_GRADES, Grade
from peercorpus.release.request import Profile
from peercorpus.release.splits import RE2_PAPERS, RE2_SIZES, Split, Task
from peercorpus.wording.counted_nouns import plural, verb

if TYPE_CHECKING:
    from peercorpus.release.by_model.annotator import Annotator
    from peercorpus.release.by_model.turn_titles import Titler
    from peercorpus.release.counts import PublishSummary

FEW_PAPERS = 100
"""Below this a 95 % interval of a share is wider than ±10 percentage points: 1.96 √(0.25 / 100) = 0.098."""
_LARGEST_MARGIN = 30
"""Percentage points; an interval that is wider to each side, as of fewer than 11 papers, says nothing on a share."""
NEEDS = {
    Task.REVIEW: "a text that the tasks accept and a review from before the decision",
    Task.META_REVIEW: "a meta-review from before the decision, and are used by another task",
    Task.REBUTTAL: "a text that the tasks accept and a conversation in which a reviewer and the authors speak",
}
"""What makes a paper usable for a task."""


def how_to_load(release: Path, *, conversations: bool = True, has_configs: bool = True) -> str:
    """Return the lines of Python that load a release; without configurations of its own, ReviewBench's.

    The package to install is named if it is not there.
    """
    load = f"Load it in Python{'' if find_spec('datasets') else ' (pip install datasets)'}:"
    folder = json.dumps(str(release), ensure_ascii=False)
    if not has_configs:
        return f"{load}\n  from datasets import load_dataset\n  ds = load_dataset({folder})"
    lines = [
        load,
        "  from datasets import load_dataset",
        f'  papers = load_dataset({folder}, "papers")',
        f'  conversations = load_dataset({folder}, "conversations")',
    ]
    return "\n".join(lines if conversations else lines[:-1])


def published(summary: "PublishSummary", out: Path, profile: Profile | None) -> str:
    """Return what a release contains, what was taken down, the splits, and how to load it.

    Args:
        summary: The counts of the release.
        out: Its folder.
        profile: How its papers were split; None if they were not.
    """
    rows = Counter[str]()
    for split in summary.splits:
        rows[split.config] += split.rows
    reviews = plural(summary.reviews, "review")
    held = f", {reviews} and {_count_conversations(summary)}" if "papers" in rows else f" and {reviews}"
    counts = (
        f"{plural(summary.papers, 'paper')} ({summary.with_text:,} with a text, {summary.with_initial:,}"
        f" of them proven to be what the reviewers read){held}"
    )
    listed = f"  rows: {', '.join(f'{config} {count:,}' for config, count in rows.items())}\n"
    left_out = f"  left out: taken down {counts_by_kind(summary.taken_down)}\n" if summary.taken_down else ""
    unnamed = ", ".join(f"{what} {count:,}" for what, count in summary.unnamed.items())
    left_out += f"  left out without the names of authors: {unnamed}\n" if unnamed else ""
    used = [
        f"  {task}: {', '.join(f'{splits[split]:,} {split}' for split in reversed(Split))}"
        for task, splits in summary.used.items()
    ]
    splits = (
        "\n".join(["Papers by task and split:", *used, *_tell_wider(summary), *_tell_small(summary, profile), ""])
        if used
        else ""
    )
    loading = how_to_load(out, conversations=summary.conversations > 0, has_configs="papers" in rows)
    return f"{counts} are in {out}.\n{listed}{left_out}{splits}{loading}"


def _count_conversations(summary: "PublishSummary") -> str:
    """Return the number of conversations with reviewers and of others, such as those with chairs."""
    others = summary.conversations - summary.with_reviewers
    with_reviewers = f"{plural(summary.with_reviewers, 'conversation')} with reviewers"
    return f"{with_reviewers} ({others:,} with others)" if others else with_reviewers


def _tell_small(summary: "PublishSummary", profile: Profile | None) -> list[str]:
    """Return for each task with a small test split how uncertain results on it are, and why it is small."""
    lines = []
    for task, splits in summary.used.items():
        size = splits[Split.TEST]
        if size >= FEW_PAPERS:
            continue
        points = _tell_uncertainty(size)
        lines.append(
            f"  The test split of '{task}' is small: {plural(size, 'paper')}{points}. {splits.total():,} of"
            f" {plural(summary.papers, 'paper')} can be used for it: they have {NEEDS[task]}, and of several"
            " submissions of the same work, one is used."
        )
        if profile is Profile.RE2 and task in RE2_SIZES:
            share = RE2_SIZES[task] / RE2_PAPERS
            lines[-1] += f" Like Re², test takes {share:.1%} of the papers: for {FEW_PAPERS}, harvest more venues."
    return lines


def _tell_uncertainty(papers: int) -> str:
    """Return how uncertain a share of this many papers is, after a comma; nothing without papers."""
    if not papers:
        return ""
    points = 98 / sqrt(papers)
    if points > _LARGEST_MARGIN:
        return f", which {verb(papers, 'is', 'are')} too few to measure a share"
    return f", on which a share is known to ±{points:.0f} percentage points"


def _tell_wider(summary: "PublishSummary") -> list[str]:
    """Return which `--grade` accepts more, if the tasks have no paper; empty if no text has a worse grade."""
    if any(splits.total() for splits in summary.used.values()):
        return []
    proven_or_none = {*PUBLISHABLE_GRADES, Grade.UNAVAILABLE}
    best = next((grade for grade in GRADE_MEANINGS if summary.grades.get(grade) and grade not in proven_or_none), None)
    if best is None:
        return []
    return [
        f"  The tasks accept no text; the best grade is '{best}', of {plural(summary.grades[best], 'paper')}:"
        f" {GRADE_MEANINGS[best]} To accept that, publish with --grade {best}."
    ]


def told_by_model(titler: "Titler | None", annotator: "Annotator | None") -> list[str]:
    """Return how many titles a model wrote, and how many points it labelled; empty for a part that was not chosen."""
    lines = []
    if titler is not None:
        kept = f"; {plural(titler.unanswered, 'turn')} without an answer kept the title of the posts"
        lines.append(f"{plural(titler.given, 'title')} by the model{kept if titler.unanswered else ''}.")
    if annotator is not None:
        kept = f"; {plural(annotator.unread, 'question')} without a usable answer left the rest open"
        told = f"{plural(annotator.kinds, 'kind')}, {plural(annotator.aspects, 'aspect')}"
        answers = f"the answers to {plural(annotator.answered, 'point')}{kept if annotator.unread else ''}"
        lines.append(f"Points by the model: {told} and {answers}.")
    return lines
