"""Write the dataset card of a release (`README.md`) with its tables of counts, and its columns beside it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

from peercorpus.corpus.text_choice import TextChoice, is_grade_accepted
from peercorpus.records.counted_nouns import plural
from peercorpus.records.enums import (
    GRADE_MEANINGS,
    PUBLISHABLE_GRADES,
    REASON_MEANINGS,
    FigureKind,
    Grade,
    LinkKind,
    Reason,
    Status,
    VersionMoment,
)
from peercorpus.records.points import AnswerMethod, PointKind
from peercorpus.release.card.citation import CITED
from peercorpus.release.card.markdown import describe_columns, escape, front_matter, markdown_table, units
from peercorpus.release.card.statements import extended_row, state_release
from peercorpus.release.columns import Config
from peercorpus.release.counts import ReleaseCounts, VenueCounts
from peercorpus.release.point_rows import BY_MODEL, PointCounts
from peercorpus.release.request import Profile, ReleaseLayout
from peercorpus.release.shards import CONFIGS, SplitShards
from peercorpus.release.splits import Split, Task
from peercorpus.release.table1 import explain_row, make_row, table_markdown
from peercorpus.release.task_tables import CONFIG
from peercorpus.venues.rules import list_rules, rules_of

_SPLITS = (
    "`{path}` lists, for each task, the forum ids of the train, validation and test split, and every paper that ever"
    " had a split, which it keeps in later releases. "
)
SPLITS = {
    Profile.RE2: _SPLITS
    + "Test and validation have Re²'s sizes (1,000 papers for reviews, 500 for rebuttals; in a smaller corpus, their"
    " shares of Re²'s 19,926 papers, rounded up, at most a third), and are stratified by venue and status.",
    Profile.TEMPORAL: _SPLITS
    + "The test split is every paper whose note was created after {day} (UTC); no other split has such papers."
    " Validation has Re²'s sizes and is drawn from the rest. Papers without a date are in no split.",
    Profile.STATED: _SPLITS
    + "A published dataset states these splits for each task; a test paper of one task is held back from a task that"
    " would train on it. Papers without a stated split are in none. The splits are unchanged, even if papers of the"
    " same work are in two of them.",
}
"""Text of the card on how each profile draws papers."""
TASKS = (
    "A task uses papers with a text of grade `{grade}` or better: `review` those with a review that was not posted"
    " after the decision, `rebuttal` those with a conversation in which a reviewer and the authors speak before it,"
    " `meta_review` those that `review` or `rebuttal` uses and that have a meta-review from before the decision. A"
    " paper is in one split, for all tasks and with all its reviews; it is held back from a task if another task uses"
    " it for test or validation, or if another submission of the same work is used instead. A conversation of"
    " `rebuttal` ends at the decision; turns after it: {late_turns}. In `meta_review_sft` the reviews and their"
    " discussion end at the decision or the first meta-review, whichever was first; posts that state the decision are"
    " left out as well, and each row counts what was left out."
)
COMPLETE = {True: "yes", False: "no", None: "imported"}
"""Text of the card on whether a venue was listed completely."""
STATUSES: tuple[Status | None, ...] = (*Status, None)


def configurations(splits: Sequence[SplitShards]) -> str:
    """Return the table of configurations with the meaning of their rows and their sizes."""
    rows = []
    for config in held(splits):
        config_splits = [split for split in splits if split.config == config.name]
        default = " (default)" if config is next(iter(CONFIGS.values())) else ""
        size = f"{sum(split.file_bytes for split in config_splits) / 1e6:,.1f}"
        rows.append((f"`{config.name}`{default}", config.says, sum(split.rows for split in config_splits), size))
    return markdown_table(("configuration", "what it is", "rows", "MB"), rows, text_columns=2)


def held(splits: Sequence[SplitShards]) -> list[Config]:
    """Return the configurations that a release has."""
    names = {split.config for split in splits}
    return [config for config in CONFIGS.values() if config.name in names]


def rows_by_split(splits: Sequence[SplitShards]) -> str:
    """Return the tables of rows by split: of conferences first, then of train, validation and test."""
    rows = {(split.config, split.name): split.rows for split in splits}
    tables: list[str] = []
    for is_task in (False, True):
        configs = [config for config in held(splits) if config.is_task is is_task]
        names = dict.fromkeys(split.name for config in configs for split in splits if split.config == config.name)
        lines = [(f"`{name}`", *(rows.get((config.name, name), 0) for config in configs)) for name in names]
        if configs:
            tables.append(markdown_table(("split", *(f"`{config.name}`" for config in configs)), lines))
    return "\n\n".join(tables)


def coverage(tally: ReleaseCounts) -> str:
    """Return the table of the release's contents by venue."""
    columns: dict[str, Callable[[VenueCounts], int]] = {
        "papers": lambda venue: venue.papers,
        "reviews": lambda venue: venue.reviews,
        "conversations": lambda venue: venue.conversations,
        "PDFs known": lambda venue: venue.pdfs,
        "fetched": lambda venue: venue.pdfs_here,
        "with text": lambda venue: venue.texts,
    }
    if tally.request.layout is ReleaseLayout.REVIEWBENCH:
        del columns["conversations"]
    rows = [
        (escape(venue.venue_id), COMPLETE[venue.is_listed], *(count(venue) for count in columns.values()))
        for venue in tally.venues
    ]
    total = ("all", "", *(sum(map(count, tally.venues)) for count in columns.values()))
    table = markdown_table(("venue", "listed completely", *columns), [*rows, total], text_columns=2)
    return "\n\n".join([table, *_list_rules(tally)])


def _list_rules(tally: ReleaseCounts) -> Iterator[str]:
    """Yield the known rules of the venues, and for how many none is known."""
    listed = {venue.venue_id: list_rules(rules_of(venue.venue_id, extended_row(venue))) for venue in tally.venues}
    lines = [f"- {escape(venue_id)}: {escape(rule)}" for venue_id, rules in listed.items() for rule in rules]
    unlisted = sum(not rules for rules in listed.values())
    if lines:
        yield "Rules of these venues that change what a record means; one that is not listed is unknown, not absent:"
        yield "\n".join(lines)
    if unlisted:
        yield f"No such rule is known for {plural(unlisted, 'venue')} of {len(listed):,}."


def grades_table(tally: ReleaseCounts) -> str:
    """Return the table of papers by status and grade, for all venues together and then for each."""
    columns: tuple[Grade | None, ...] = (*Grade, None)
    rows = []
    total = VenueCounts("all")
    for venue in tally.venues:
        total.grades += venue.grades
        total.with_text += venue.with_text
    for venue in (total, *tally.venues):
        for status in STATUSES:
            counts = [venue.grades[status, grade] for grade in columns]
            if any(counts):
                name = "all" if venue is total else escape(venue.venue_id)
                outcome = "not public" if status is None else f"`{status.value}`"
                rows.append((name, outcome, *counts, venue.with_text[status]))
    header = ("venue", "outcome", *(grade.replace("_", " ") if grade else "none" for grade in columns), "with text")
    return markdown_table(header, rows, text_columns=2)


def texts_table(tally: ReleaseCounts) -> str:
    """Return the table of papers by the grade of their text, or by its moment if it has no grade."""
    counts: Counter[tuple[Grade | None, VersionMoment | None]] = Counter()
    in_tasks: Counter[tuple[Grade | None, Task]] = Counter()
    for paper in tally.papers:
        if paper.has_text:
            counts[paper.grade, None if paper.grade else paper.moment] += 1
            in_tasks.update((paper.grade, task) for task in Task if paper.forum_id in tally.splits.used.get(task, ()))
    tasks = [] if tally.request.drawn is None else list(Task)
    rows: list[tuple[str | int, ...]] = [
        (f"`{grade}`", counts[grade, None], *(in_tasks[grade, task] for task in tasks))
        for grade in Grade
        if counts[grade, None]
    ]
    rows += [
        (f"none, `{moment}`" if moment else "none, moment not known", counts[None, moment], *(0 for _ in tasks))
        for moment in (*VersionMoment, None)
        if counts[None, moment]
    ]
    rows.append(("no text", len(tally.papers) - counts.total(), *(0 for _ in tasks)))
    return markdown_table(("grade of the text", "papers", *(f"in `{CONFIG[task]}`" for task in tasks)), rows)


_CHOICES = {
    TextChoice.INITIAL: (
        "`markdown` is the text of a version that is accepted as the one that the reviewers read; without one, it is"
        " empty. `texts` has these texts (`is_initial`) and those known to be another version's, with their"
        " `moment`."
    ),
    TextChoice.BEST: (
        "`markdown` is the best text available: that of the version with the best `grade` or, if none has a grade, of"
        " the version nearest to the one that the reviewers read; `papers_full` has its `grade` and `text_moment`."
        " `texts` has it too, and the texts known to be what the reviewers read (`is_initial`) or another version."
    ),
    TextChoice.ALL: (
        "`markdown` is the best text available: that of the version with the best `grade` or, if none has a grade, of"
        " the version nearest to the one that the reviewers read; `papers_full` has its `grade` and `text_moment`."
        " `texts` has the text of every version."
    ),
}
_ACCEPTED = {
    True: "Every text in a configuration for a task is proven to be what the reviewers read.",
    False: (
        "The configurations for tasks accept texts that are **not** proven to be what the reviewers read, as the"
        " release was published with `--grade {grade}`. Some may be later versions, which answer the reviews and name"
        " authors: state this with every result, or select the proven grades with `grade`."
    ),
}
_UNSTATED = (
    "With `unstated` they even include texts whose version nobody states: many are camera-ready, which gives the"
    " decision away."
)


def text_choice(tally: ReleaseCounts) -> str:
    """Return the paragraphs on the texts in the release, and on those used in the tasks."""
    worst = tally.request.text_rule.worst_grade
    if tally.request.drawn is None:
        return _CHOICES[tally.request.text_rule.choice]
    parts = [_CHOICES[tally.request.text_rule.choice], _ACCEPTED[worst in PUBLISHABLE_GRADES].format(grade=worst)]
    return " ".join([*parts, *([_UNSTATED] if worst is Grade.UNSTATED else [])])


def grade_meanings(tally: ReleaseCounts) -> str:
    """Return the list of the grades' meanings and, in a release with tasks, of the grades that are not in them."""
    worst = tally.request.text_rule.worst_grade
    left_out = {grade for grade in Grade if tally.request.drawn is not None and not is_grade_accepted(grade, worst)}
    lines = [
        f"- `{grade.value}`: {meaning}{' Not in the tasks.' if grade in left_out else ''}"
        for grade, meaning in GRADE_MEANINGS.items()
    ]
    return "\n".join(lines)


def set_aside_table(tally: ReleaseCounts) -> str:
    """Return the table of rows set aside during the build, by stage and reason."""
    counts = sum((venue.set_aside for venue in tally.venues), Counter[tuple[str, Reason]]())
    if not counts:
        return "No rows were set aside."
    rows = [
        (escape(stage), f"`{reason.value}`", REASON_MEANINGS[reason], count)
        for (stage, reason), count in sorted(counts.items())
    ]
    return markdown_table(("stage", "reason", "what it means", "rows"), rows, text_columns=3)


def figures(tally: ReleaseCounts) -> str:
    """Return the section on figures: their number, their versions, and captions without a figure; or nothing."""
    counts = tally.figures
    if counts is None:
        return ""
    kinds = " and ".join(f"{counts.kinds[kind]:,} {kind.value}{'s' * (counts.kinds[kind] != 1)}" for kind in FigureKind)
    grades = ", ".join(f"`{grade.value}`: {counts.images[grade]:,}" for grade in Grade if counts.images[grade])
    lines = [
        "### Figures",
        f"`figures` has {kinds}, for {counts.captions:,} captions, each cut out of the PDF whose text is in `papers`;"
        f" images by the grade of that version: {grades or 'none'}. A figure is found next to its caption by what is"
        " drawn there; a few images show too much or too little. The content of images is not masked.",
        *(f"- without an image: {count:,}. {escape(problem)}" for problem, count in sorted(counts.problems.items())),
    ]
    return "\n\n".join(lines)


def points(tally: ReleaseCounts) -> str:
    """Return the section on the points of reviews, with counts by kind and of answered points; or nothing."""
    counts = tally.points
    if counts is None:
        return ""
    rows = [(f"`{kind}`", counts.kinds[kind], counts.answered[kind]) for kind in PointKind if counts.kinds[kind]]
    known = [*AnswerMethod, BY_MODEL]
    methods = ", ".join(f"`{method}`: {counts.answers[method]:,}" for method in known if counts.answers[method])
    how, by_model = " without a model", ""
    if tally.points_model is not None:
        how, by_model = " and a model", _tell_of_points_model(tally.points_model, counts)
    return "\n\n".join(
        (
            "### Points of reviews",
            "`points` has every review split into single criticisms, questions and praise, and `answers` the authors'"
            f" passages that answer them, found by rules{how}: both are often wrong. `confidence` is how"
            f" often people judged such answers to be right. Answers by their main evidence: {methods or 'none'}."
            f"{by_model}",
            markdown_table(("kind", "points", "with an answer"), rows),
        )
    )


def _tell_of_points_model(model: str, counts: PointCounts) -> str:
    """Return the sentences on the model that labelled what the rules left open, with counts of its answers."""
    return (
        f" The model {escape(model)} was asked about what the rules left open; its answers are marked `{BY_MODEL}`:"
        f" kinds: {counts.kinds_by_model:,}, aspects: {counts.aspects_by_model:,}, answers:"
        f" {counts.answers[BY_MODEL]:,}. How often it is right was not measured, so its answers have no `confidence`."
    )


def links(tally: ReleaseCounts) -> str:
    """Return the table of linked pairs of submissions, by kind."""
    if not tally.links:
        return "No two submissions in this release are known to be the same work."
    return markdown_table(("links", "pairs"), [(f"`{kind}`", tally.links[kind]) for kind in LinkKind])


def beside_others(tally: ReleaseCounts, name: str) -> str:
    """Return the row of the release in Table 1 of Re², above the printed rows, with an explanation of its numbers."""
    row = make_row(name, tally.dataset, {venue.venue_id: extended_row(venue) for venue in tally.venues})
    return f"{table_markdown(row)}\n\n{explain_row(row)}"


def licences(tally: ReleaseCounts) -> str:
    """Return the table of papers by stated licence, those without one last."""
    stated = sorted((name, count) for name, count in tally.licensed.items() if name is not None)
    rows = [*((escape(name), count) for name, count in stated), ("none stated", tally.licensed[None])]
    return markdown_table(("licence", "papers"), rows)


def _tell_of_stated(tally: ReleaseCounts) -> str:
    """Return the sentences on inconsistencies in the splits that a dataset states."""
    both = sum(any(one.also_stated for one in paper.stated) for paper in tally.papers)
    return (
        f"Works with papers in two splits, by identical texts or by links: {tally.splits.apart:,}. Papers that the"
        f" files of one task state in both splits, which are used for test: {both:,}."
    )


def describe_splits(tally: ReleaseCounts) -> str:
    """Return the section on train, validation and test, by venue and by task."""
    if tally.request.drawn is None:
        return "This release has none. If you make your own, split by paper, never by review."
    of = tally.splits.of
    columns = (*reversed(Split), None)
    papers = Counter((paper.venue_id, of.get(paper.forum_id)) for paper in tally.papers)
    venues = [(escape(venue.venue_id), *(papers[venue.venue_id, split] for split in columns)) for venue in tally.venues]
    rows = []
    for task in Task:
        used = tally.splits.used[task]
        fitting = sum(task in paper.tasks and paper.forum_id in of for paper in tally.papers)
        counts = Counter(used.values())
        rows.append((task.value, *(counts[split] for split in reversed(Split)), fitting - len(used)))
    unusable = sum(paper.forum_id not in of and not paper.tasks for paper in tally.papers)
    without_split = sum(paper.forum_id not in of and bool(paper.tasks) for paper in tally.papers)
    is_stated = tally.request.drawn.profile is Profile.STATED
    for_want = "for which no dataset states a split" if is_stated else "without a date"
    absent = len(of.keys() - {paper.forum_id for paper in tally.papers})
    paragraphs = [
        SPLITS[tally.request.drawn.profile].format(
            day=tally.request.drawn.test_after, path=f"splits/{tally.request.drawn.profile}.json"
        ),
        markdown_table(("venue", "train", "validation", "test", "no split"), venues),
        markdown_table(("task", "train", "validation", "test", "held back"), rows),
        f"In no split: {plural(unusable, 'paper')} that no task can use, {without_split:,} {for_want}. Of the papers"
        f" that had a split in an earlier release, {absent:,} are not in this one. Papers whose split this release"
        f" changed or dropped, because new splits were requested: {tally.splits.moved:,}.",
        *([_tell_of_stated(tally)] if is_stated else ()),
        TASKS.format(grade=tally.request.text_rule.worst_grade, late_turns=f"{tally.late_turns:,}"),
    ]
    return "\n\n".join(paragraphs)


CARD, DETAILS = "card.md", "details.md"
REVIEWS_JSON = "reviews_json.md"
"""File with the explanation of the only column that contains JSON."""


def _load(splits: Sequence[SplitShards]) -> str:
    """Return the lines of Python that load a split of some configurations."""
    first = {split.config: split.name for split in reversed(splits)}
    first |= {split.config: split.name for split in splits if split.name == Split.TRAIN}
    shown_configs = [name for name in ("papers", "conversations", "review_sft") if name in first]
    return "\n".join(
        f'{name} = load_dataset("path/to/this/folder", "{name}", split="{first[name]}")' for name in shown_configs
    )


def _read_text(name: str) -> str:
    return files("peercorpus.release").joinpath(name).read_text(encoding="utf-8")


COLUMNS_SAY = (
    "A configuration lists those of these names that have this meaning in it. The type is in brackets, if it is not a"
    " string. The fields of a struct follow it as `struct.field`, or are listed once: a `list of score` has those of"
    " score, a `list of reviews` the columns of the configuration `reviews`."
)


def describe_configurations(configs: Sequence[Config]) -> str:
    """Return the sections with all columns: first those that several configurations have alike."""
    shared, others = describe_columns(configs)
    parts = ["## Columns of several configurations", COLUMNS_SAY, shared]
    for config in configs:
        parts += [f"## Columns of `{config.name}`", others[config.name]]
        if config is next(iter(CONFIGS.values())):
            parts.append(_read_text(REVIEWS_JSON).strip())
    return "\n\n".join(parts)


def cite_upstream(tally: ReleaseCounts) -> str:
    """Return the citations of published datasets whose records the release includes; empty without any."""
    records = [name for name in CITED if any(venue.records[name] for venue in tally.venues)]
    if not records:
        return ""
    entries = "\n\n".join(f"```bibtex\n{CITED[name][2]}\n```" for name in records)
    return f"This release was made partly from records of published datasets; cite them too.\n\n{entries}"


_TASK_SPLITS = "; in the configurations for tasks the splits are train, validation and test"


def _tell_received(days: Sequence[str]) -> str:
    """Return when the data was received: between two days, or on a single one."""
    if not days:
        return "the date of its data is not recorded"
    first, last = days
    return f"received on {first} (UTC)" if first == last else f"received from {first} to {last} (UTC)"


def write_dataset_card(folder: Path, tally: ReleaseCounts, splits: Sequence[SplitShards]) -> None:
    """Write `README.md` into a release, and beside it `details.md`, with every column among them."""
    statements = state_release(tally, escape)
    configs = held(splits)
    facts = dict(
        statements.as_markdown(),
        version=version("peercorpus"),
        load=_load(splits),
        received=_tell_received(statements.rai.get("dataCollectionTimeframe", [])),
        task_splits=_TASK_SPLITS if tally.request.drawn is not None else "",
        configurations=configurations(splits),
        rows_by_split=rows_by_split(splits),
        coverage=coverage(tally),
        grades=grades_table(tally),
        texts=texts_table(tally),
        text_choice=text_choice(tally),
        grade_meanings=grade_meanings(tally),
        set_aside=set_aside_table(tally),
        splits=describe_splits(tally),
        figures="\n\n".join(filter(None, (figures(tally), points(tally)))),
        links=links(tally),
        table1=beside_others(tally, "this release"),
        licences=licences(tally),
        units=units(configs),
        upstream=cite_upstream(tally),
        columns=describe_configurations(configs),
    )
    for name, head in ((CARD, f"{front_matter(splits)}\n"), (DETAILS, "")):
        text = re.sub(r"\n{3,}", "\n\n", head + Template(_read_text(name)).substitute(facts))
        (folder / ("README.md" if name == CARD else name)).write_text(text, encoding="utf-8")
