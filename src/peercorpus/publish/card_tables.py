"""The tables of a card: what was published of each venue, what was not, and how the texts are known."""

from collections import Counter
from collections.abc import Sequence

from peercorpus.kinds import PUBLISHABLE_GRADES, Grade, LinkKind, Reason, Status
from peercorpus.publish.columns import escape, table
from peercorpus.publish.meanings import meanings
from peercorpus.publish.shards import CONFIGS, Config, Split
from peercorpus.publish.splits import Profile, Side, Task
from peercorpus.publish.tally import Tally, VenueTally

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
COMPLETE = {True: "yes", False: "no", None: "imported"}
"""Whether a venue was listed to its end."""
STATUSES: tuple[Status | None, ...] = (*Status, None)


def configurations(splits: Sequence[Split]) -> str:
    """Every configuration, what a row of it is, and how large it is."""
    rows = []
    for config in held(splits):
        found = [split for split in splits if split.config == config.name]
        default = " (default)" if config is next(iter(CONFIGS.values())) else ""
        size = f"{sum(split.file_bytes for split in found) / 1e6:,.1f}"
        rows.append((f"`{config.name}`{default}", config.says, sum(split.rows for split in found), size))
    return table(("configuration", "what it is", "rows", "MB"), rows, text_columns=2)


def held(splits: Sequence[Split]) -> list[Config]:
    """The configurations that a release has."""
    names = {split.config for split in splits}
    return [config for config in CONFIGS.values() if config.name in names]


def rows_by_split(splits: Sequence[Split]) -> str:
    """Rows by split: of the configurations that are split by conference, then of those split by side."""
    return "\n\n".join(
        _matrix([config for config in held(splits) if config.is_task is is_task], splits)
        for is_task in (False, True)
        if any(config.is_task is is_task for config in held(splits))
    )


def _matrix(configs: Sequence[Config], splits: Sequence[Split]) -> str:
    rows = {(split.config, split.name): split.rows for split in splits}
    names = dict.fromkeys(split.name for config in configs for split in splits if split.config == config.name)
    lines = [(f"`{name}`", *(rows.get((config.name, name), 0) for config in configs)) for name in names]
    return table(("split", *(f"`{config.name}`" for config in configs)), lines)


def coverage(tally: Tally) -> str:
    """What is here of each venue."""
    rows = [
        (
            escape(venue.venue_id),
            COMPLETE[venue.is_listed],
            *(venue.papers, venue.reviews, venue.conversations, venue.pdfs, venue.pdfs_here, venue.texts),
        )
        for venue in tally.venues
    ]
    total = ("all", "", *(sum(counts) for counts in zip(*(row[2:] for row in rows), strict=True)))
    header = ("venue", "listed to its end", "papers", "reviews", "conversations", "PDFs known", "fetched", "with text")
    return table(header, [*rows, total], text_columns=2)


def grades(tally: Tally) -> str:
    """Papers by what became of them and how the text is known; of all venues, then of each."""
    columns: tuple[Grade | None, ...] = (*Grade, None)
    rows = []
    whole = VenueTally("all")
    for venue in tally.venues:
        whole.grades += venue.grades
        whole.with_text += venue.with_text
    for venue in (whole, *tally.venues):
        for status in STATUSES:
            counts = [venue.grades[status, grade] for grade in columns]
            if any(counts):
                name = "all" if venue is whole else escape(venue.venue_id)
                rows.append((name, _outcome(status), *counts, venue.with_text[status]))
    header = ("venue", "outcome", *(grade.replace("_", " ") if grade else "none" for grade in columns), "with text")
    return table(header, rows, text_columns=2)


def _outcome(status: Status | None) -> str:
    return "not public" if status is None else f"`{status.value}`"


def grade_meanings() -> str:
    """What each grade means, and whether its text is published."""
    lines = [
        f"- `{value}`: {said}{'' if Grade(value) in PUBLISHABLE_GRADES else ' Not published.'}"
        for value, said in meanings(Grade).items()
    ]
    return "\n".join(lines)


def set_aside(tally: Tally) -> str:
    """Rows that were set aside while the tables were made, by stage and reason."""
    counts = sum((venue.set_aside for venue in tally.venues), Counter[tuple[str, Reason]]())
    if not counts:
        return "Nothing was set aside."
    rows = [
        (escape(stage), f"`{reason.value}`", meanings(Reason)[reason.value], count)
        for (stage, reason), count in sorted(counts.items())
    ]
    return table(("stage", "reason", "what it means", "rows"), rows, text_columns=3)


def links(tally: Tally) -> str:
    """How many pairs of submissions are one work."""
    if not tally.links:
        return "No two submissions here are known to be one work."
    return table(("links", "pairs"), [(f"`{kind}`", tally.links[kind]) for kind in LinkKind])


def licences(tally: Tally) -> str:
    """Papers by the licence stated, those without one last."""
    stated = sorted((name, count) for name, count in tally.licensed.items() if name is not None)
    rows = [*((escape(name), count) for name, count in stated), ("none stated", tally.licensed[None])]
    return table(("licence", "papers"), rows)


def sides(tally: Tally) -> str:
    """Who is where to train, validate and test, by venue and by task."""
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
        table(("venue", "train", "validation", "test", "no side"), venues),
        table(("task", "train", "validation", "test", "held back"), rows),
        f"Without a side: {unusable:,} papers that no task can use, {undated:,} without a date. Of papers that had a"
        f" side in an earlier release, {absent:,} are not here.",
        TASKS,
    ]
    return "\n\n".join(said)
