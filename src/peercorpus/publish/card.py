"""The card of a release: what it is, what it holds, how it was made, what it cannot tell.

Nothing from OpenReview goes into it but venue ids and the names of licences, and these escaped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

from peercorpus.kinds import PUBLISHABLE_GRADES
from peercorpus.publish.front_matter import front_matter
from peercorpus.publish.shards import Split
from peercorpus.publish.splits import Profile, Side, Task
from peercorpus.publish.tally import Tally

_SIDES = (
    "`{path}` names by task the forum ids to train, validate and test on, and by side every paper that ever had one: it"
    " keeps it in later releases. "
)
SIDES = {
    Profile.RE2: _SIDES
    + "Test and validation are of Re²'s sizes (1,000 papers for reviews, 500 for rebuttals; of a smaller corpus the"
    " same share of Re²'s 19,926, rounded up, at most a third), with the venues and statuses of all in their shares.",
    Profile.TEMPORAL: _SIDES
    + "The test is every paper whose note was created after {day} (UTC), and no other side holds one; validation is"
    " of Re²'s sizes, drawn from the rest. Papers without a date have no side.",
}
"""How a profile draws."""
TASKS = (
    "A task uses papers with a publishable text: `review` those with a review, `rebuttal` those with a conversation in"
    " which a reviewer and the authors speak. A paper has one side for all tasks and all its reviews; it is held back"
    " where another task tests or validates with it, or another paper of the same work stands for it."
)


def escape(text: str) -> str:
    """Text that Markdown and HTML show as it is.

    >>> escape("A.cc/2020|<b>")
    'A.cc/2020&#124;&#60;b&#62;'
    """
    return re.sub(r"[^A-Za-z0-9./ -]", lambda found: f"&#{ord(found[0])};", text)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    aligned = ["---", *["---:"] * (len(header) - 1)]
    lines = [header, aligned, *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _venues(tally: Tally) -> str:
    rows = [
        (escape(venue.venue_id), venue.papers, venue.reviews, venue.conversations, venue.pdfs_here, venue.pdfs)
        for venue in tally.venues
    ]
    total = ("all", *(sum(counts) for counts in zip(*(row[1:] for row in rows), strict=True)))
    return _table(("venue", "papers", "reviews", "conversations", "PDFs fetched", "PDFs known"), [*rows, total])


def _completeness(tally: Tally) -> str:
    """Which venues are not here as a whole."""
    partial = [escape(venue.venue_id) for venue in tally.venues if venue.is_listed is False]
    imported = [escape(venue.venue_id) for venue in tally.venues if venue.is_listed is None and not venue.records]
    records = [escape(venue.venue_id) for venue in tally.venues if venue.records]
    said = []
    if partial:
        said.append(f"Harvested in part only, so that papers are missing: {', '.join(partial)}.")
    if imported:
        said.append(f"Imported from recorded answers, which may not be all: {', '.join(imported)}.")
    if records:
        said.append(
            "Papers of these venues that OpenReview itself was not asked for come from published datasets, which are to"
            f" be named: ReviewBench (CC BY 4.0) or Re² (Apache 2.0): {', '.join(records)}."
        )
    return " ".join(said) or "Every venue was listed to its end when it was harvested."


def _grades(tally: Tally) -> str:
    splits = sorted({split for split, _ in tally.grades})
    columns = (*PUBLISHABLE_GRADES, None)
    rows = [(f"`{split}`", *(tally.grades[split, grade] for grade in columns)) for split in splits]
    return _table(("split", *(f"`{grade}`" for grade in PUBLISHABLE_GRADES), "no text"), rows)


def _licences(tally: Tally) -> str:
    """Papers by the licence stated, those without one last."""
    stated = sorted((name, count) for name, count in tally.licensed.items() if name is not None)
    rows = [*((escape(name), count) for name, count in stated), ("none stated", tally.licensed[None])]
    return _table(("licence", "papers"), rows)


def _left_out(tally: Tally) -> str:
    counts = {f"{what} that not everyone may read": count for what, count in sorted(tally.withheld.items())}
    counts["reviews and conversations without a paper"] = tally.orphans
    counts |= {f"{what} that were taken down": count for what, count in sorted(tally.taken_down.items())}
    named = [f"{count:,} {what}" for what, count in counts.items() if count]
    return f"Left out of this release: {'; '.join(named)}." if named else "Nothing in the tables was left out."


def _sides(tally: Tally) -> str:
    if tally.asked is None:
        return "This release names none. Draw them by paper, never by review."
    of, columns = tally.sides.of, (*reversed(Side), None)
    papers = Counter((paper.venue_id, of.get(paper.forum_id)) for paper in tally.papers)
    venues = [(escape(one.venue_id), *(papers[one.venue_id, side] for side in columns)) for one in tally.venues]
    rows = []
    for task in Task:
        used = tally.sides.used[task]
        fitting = sum(task in paper.tasks and paper.forum_id in of for paper in tally.papers)
        counts = Counter(used.values())
        rows.append((task.value, *(counts[side] for side in reversed(Side)), fitting - len(used)))
    unusable = sum(paper.forum_id not in of and not paper.tasks for paper in tally.papers)
    undated = sum(paper.forum_id not in of and bool(paper.tasks) for paper in tally.papers)
    absent = len(of.keys() - {paper.forum_id for paper in tally.papers})
    said = [
        SIDES[tally.asked.profile].format(day=tally.asked.test_after, path=f"splits/{tally.asked.profile}.json"),
        _table(("venue", "train", "validation", "test", "no side"), venues),
        _table(("task", "train", "validation", "test", "held back"), rows),
        f"Without a side: {unusable:,} papers that no task can use, {undated:,} without a date. Of papers that had a"
        f" side in an earlier release, {absent:,} are not here.",
        TASKS,
    ]
    return "\n\n".join(said)


def write_card(folder: Path, tally: Tally, splits: Sequence[Split]) -> None:
    """Write `README.md` of a release."""
    template = Template(files("peercorpus.publish").joinpath("card.md").read_text(encoding="utf-8"))
    body = template.substitute(
        venues=_venues(tally),
        completeness=_completeness(tally),
        grades=_grades(tally),
        left_out=_left_out(tally),
        sides=_sides(tally),
        licences=_licences(tally),
        split=splits[0].name if splits else "train",
        version=version("peercorpus"),
    )
    (folder / "README.md").write_text(front_matter(splits) + "\n" + body, encoding="utf-8")
