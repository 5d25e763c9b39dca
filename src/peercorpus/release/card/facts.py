"""The facts about a release that the templates of its card and metadata state: counts, venues and rules."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from peercorpus.corpus.text_choice import is_grade_accepted
from peercorpus.records.enums import (
    GRADE_MEANINGS,
    PUBLISHABLE_GRADES,
    REASON_MEANINGS,
    Grade,
    LinkKind,
    Reason,
    Status,
    Unseen,
    VersionMoment,
)
from peercorpus.records.points import AnswerMethod, PointKind
from peercorpus.release.card.citation import CITED
from peercorpus.release.card.markdown import units
from peercorpus.release.columns import Config
from peercorpus.release.counts import ReleaseCounts, VenueCounts
from peercorpus.release.point_rows import BY_MODEL
from peercorpus.release.request import ReleaseLayout, ReleaseRequest
from peercorpus.release.shards import CONFIGS, SplitShards
from peercorpus.release.splits import Split, Task
from peercorpus.release.table1 import explain_row, make_row, table_markdown
from peercorpus.release.task_tables import CONFIG
from peercorpus.venues.catalogue import DueDate, VenueRow, Visibility, row_of
from peercorpus.venues.own_venues import OwnInvitations, OwnVenue, OwnWords, extend_row
from peercorpus.venues.rules import list_rules, rules_of, warn_of_pooling

COMPARED = (Status.ACCEPTED, Status.REJECTED, Status.WITHDRAWN, Status.DESK_REJECTED)
SHOWN = ("papers", "conversations", "review_sft")
"""Configurations that the card's example loads."""
Share = tuple[str, int, int]
"""An outcome in words, the number of its papers that are counted, and the number of all of them."""


class Gaps(NamedTuple):
    """Papers by what the numbers of their replies prove, of the venues where they prove anything."""

    none: int
    not_shown: int
    deleted: int
    unknown: int
    replies_not_shown: int
    replies_deleted: int


class OwnStatements(NamedTuple):
    """What the workspace's `venues.toml` states about a venue: due dates by what was due, and other subjects."""

    dues: list[tuple[str, DueDate]]
    others: list[str]


def extended_row(venue: VenueCounts) -> VenueRow | None:
    """Return the catalogue's row of a venue, extended by the user's at the time of the release."""
    row = row_of(venue.venue_id)
    return extend_row(row, venue.own) if venue.own else row


def held(splits: Sequence[SplitShards]) -> list[Config]:
    """Return the configurations that a release has."""
    names = {split.config for split in splits}
    return [config for config in CONFIGS.values() if config.name in names]


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """What the templates state about a release, beside the counts of `tally` themselves."""

    tally: ReleaseCounts
    splits: Sequence[SplitShards] = ()

    grades = tuple(Grade)
    kinds = tuple(PointKind)
    link_kinds = tuple(LinkKind)
    methods = (*AnswerMethod, BY_MODEL)
    task_configs = tuple(CONFIG.values())

    @property
    def request(self) -> ReleaseRequest:
        return self.tally.request

    @property
    def is_reviewbench(self) -> bool:
        """Whether it has the layout of ReviewBench."""
        return self.request.layout is ReleaseLayout.REVIEWBENCH

    def total(self, name: str) -> int:
        """Return the sum of a count of all venues."""
        return sum(getattr(venue, name) for venue in self.tally.venues)

    @property
    def papers(self) -> int:
        return self.total("papers")

    @property
    def reviews(self) -> int:
        return self.total("reviews")

    @property
    def days(self) -> list[str]:
        """The days when the oldest and the newest data were received; empty if that is not recorded."""
        return [f"{day:%Y-%m-%d}" for day in self.tally.harvested or ()]

    @property
    def received(self) -> str:
        """When the data was received, in words."""
        if not self.days:
            return "the date of its data is not recorded"
        first, last = self.days
        return f"received on {first} (UTC)" if first == last else f"received from {first} to {last} (UTC)"

    # What is missing.

    @property
    def has_records(self) -> bool:
        """Whether records of published datasets were imported."""
        return any(venue.records for venue in self.tally.venues)

    @property
    def partial(self) -> list[str]:
        """Venues that were harvested only in part."""
        return [venue.venue_id for venue in self.tally.venues if venue.is_listed is False]

    @property
    def imported(self) -> list[str]:
        """Venues imported from recorded responses."""
        return [venue.venue_id for venue in self.tally.venues if venue.is_listed is None and not venue.records]

    @property
    def sources(self) -> list[tuple[str, str, list[str]]]:
        """Title, licence and venues of each published dataset with records here."""
        by_name = {name: [one.venue_id for one in self.tally.venues if one.records[name]] for name in CITED}
        return [(*CITED[name][:2], venues) for name, venues in by_name.items() if venues]

    @property
    def upstream(self) -> list[str]:
        """The BibTeX entries of these datasets."""
        return [entry for title, _, entry in CITED.values() if title in {source[0] for source in self.sources}]

    @property
    def left_out(self) -> dict[str, int]:
        """Rows of the tables that are not in the release, by what they are; without those of which there are none."""
        tally = self.tally
        counts = {f"{what} that are not public": count for what, count in sorted(tally.withheld.items())}
        counts |= dict(sorted(tally.left_out.items()))
        counts["reviews and conversations without a paper"] = tally.orphans
        counts["links to papers outside this release"] = tally.links_left_out
        taken_down = sorted(tally.taken_down.items())
        counts |= {f"{what.replace('ai_', 'AI ')} that were taken down": count for what, count in taken_down}
        return {what: count for what, count in counts.items() if count}

    @property
    def unstated(self) -> list[VenueCounts]:
        """Venues with notes that name no readers."""
        return [venue for venue in self.tally.venues if venue.readers_unstated]

    @property
    def gaps(self) -> Gaps | None:
        """What the numbers of replies prove; None if they prove nothing."""
        known = [venue for venue in self.tally.venues if venue.unseen.total() > venue.unseen[Unseen.UNKNOWN]]
        unseen = sum((venue.unseen for venue in known), Counter[Unseen]())
        replies = (sum(getattr(venue, name) for venue in known) for name in ("replies_not_shown", "replies_deleted"))
        return Gaps(*(unseen[kind] for kind in Unseen), *replies) if known else None

    # Outcomes.

    def _with_visibility(self, *visibilities: Visibility) -> Iterator[VenueCounts]:
        for venue in self.tally.venues:
            row = extended_row(venue)
            if row is not None and row.visibility in visibilities:
                yield venue

    @property
    def hiding(self) -> list[VenueCounts]:
        """Venues that publish rejected papers only if their authors agree, or not at all."""
        return [*self._with_visibility(Visibility.REJECTED_OPT_IN, Visibility.ACCEPTED_ONLY)]

    @property
    def silent(self) -> list[VenueCounts]:
        """Other venues without rejected papers."""
        return [
            venue
            for venue in self.tally.venues
            if venue not in self.hiding and venue.of_status(Status.ACCEPTED) and not venue.of_status(Status.REJECTED)
        ]

    @property
    def reverted(self) -> list[VenueCounts]:
        """Venues that reset their reviews to their state before the discussion."""
        return [venue for venue in self._with_visibility(Visibility.REVERTED_BEFORE_DISCUSSION) if venue.reviews]

    def _of_status(self, *statuses: Status) -> int:
        return sum(venue.of_status(*statuses) for venue in self.tally.venues)

    @property
    def accepted(self) -> int:
        return self._of_status(Status.ACCEPTED)

    @property
    def judged(self) -> int:
        """The number of papers that were accepted or rejected."""
        return self._of_status(Status.ACCEPTED, Status.REJECTED)

    def _by_outcome(self, count: Callable[[VenueCounts, Status], int]) -> dict[Status, int]:
        return {status: sum(count(venue, status) for venue in self.tally.venues) for status in COMPARED}

    @property
    def missing(self) -> list[Share]:
        """Papers without a text that is proven to be what the reviewers read, by outcome."""
        proven = self._by_outcome(lambda venue, status: venue.with_initial[status])
        counted = {status: self._of_status(status) for status in COMPARED}
        return [(_spell(one), count - proven[one], count) for one, count in counted.items() if count]

    @property
    def most_and_least_missing(self) -> tuple[str, str]:
        """The outcomes for which it is missing most often and least often; empty if it is equally often for all."""
        shares = {outcome: count / of for outcome, count, of in self.missing}
        most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
        return ("", "") if shares[most] == shares[least] else (most, least)

    @property
    def unproven(self) -> list[Share]:
        """Papers whose text is not proven to be what the reviewers read, by outcome, of those with a text."""
        texts = self._by_outcome(lambda venue, status: venue.with_text[status])
        proven = self._by_outcome(lambda venue, status: venue.with_initial[status])
        shares = ((_spell(status), texts[status] - proven[status], texts[status]) for status in COMPARED)
        return [share for share in shares if share[1]]

    # Venues.

    @property
    def pooling(self) -> str:
        """The warning that venues with different rules are counted together; empty if there is none."""
        rows = {venue.venue_id: extended_row(venue) for venue in self.tally.venues if venue.papers}
        return warn_of_pooling(rows, rows)

    def _list_rules(self, venue: VenueCounts) -> list[str]:
        return list_rules(rules_of(venue.venue_id, extended_row(venue)))

    @property
    def rules(self) -> list[tuple[str, str]]:
        """The known rules of the venues that change what a record means."""
        return [(venue.venue_id, rule) for venue in self.tally.venues for rule in self._list_rules(venue)]

    @property
    def without_rules(self) -> int:
        """The number of venues of which no such rule is known."""
        return sum(not self._list_rules(venue) for venue in self.tally.venues)

    @staticmethod
    def own_words(own: OwnVenue) -> OwnStatements:
        """Return what the workspace's `venues.toml` states about a venue."""
        dues = {"abstracts": own.abstract_deadline, "full papers": own.full_deadline, "reviews": own.review_deadline}
        others = {
            "review form": own.form is not None,
            "names for replies, scores, roles or decision fields": own.words != OwnWords(),
            "statuses": bool(own.statuses),
            "visibility": own.visibility is not None,
            "invitations that change a PDF": own.invitations != OwnInvitations(),
        }
        known = [(what, due) for what, due in dues.items() if due is not None]
        return OwnStatements(known, [what for what, is_stated in others.items() if is_stated])

    # Configurations and splits.

    @property
    def configurations(self) -> list[tuple[Config, int, str]]:
        """Each configuration with its rows and its size in MB."""
        rows, size = Counter[str](), Counter[str]()
        for split in self.splits:
            rows[split.config] += split.rows
            size[split.config] += split.file_bytes
        return [(one, rows[one.name], f"{size[one.name] / 1e6:,.1f}") for one in held(self.splits)]

    @property
    def shown(self) -> dict[str, str]:
        """Configurations that the card's example loads, each with a split of it."""
        first = {split.config: split.name for split in reversed(self.splits)}
        first |= {split.config: split.name for split in self.splits if split.name == Split.TRAIN}
        return {name: first[name] for name in SHOWN if name in first}

    @property
    def rows_by_split(self) -> Iterator[tuple[list[Config], list[tuple[str, list[int]]]]]:
        """Configurations and their rows by split: of conferences first, then of train, validation and test."""
        rows = {(split.config, split.name): split.rows for split in self.splits}
        for is_task in (False, True):
            configs = [config for config in held(self.splits) if config.is_task is is_task]
            names = dict.fromkeys(one.name for config in configs for one in self.splits if one.config == config.name)
            if configs:
                yield configs, [(name, [rows.get((config.name, name), 0) for config in configs]) for name in names]

    @property
    def tasks(self) -> list[tuple[str, list[int], int]]:
        """Each task with its papers for training, validation and test, and those held back."""
        of, rows = self.tally.splits.of, []
        for task in Task:
            used = self.tally.splits.used[task]
            fitting = sum(task in paper.tasks and paper.forum_id in of for paper in self.tally.papers)
            counts = Counter(used.values())
            rows.append((task.value, [counts[split] for split in reversed(Split)], fitting - len(used)))
        return rows

    @property
    def venues_by_split(self) -> list[tuple[str, list[int]]]:
        """Each venue with its papers for training, validation and test, and those without a split."""
        of = self.tally.splits.of
        papers = Counter((paper.venue_id, of.get(paper.forum_id)) for paper in self.tally.papers)
        columns = (*reversed(Split), None)
        return [(one.venue_id, [papers[one.venue_id, split] for split in columns]) for one in self.tally.venues]

    @property
    def unusable(self) -> int:
        """Papers without a split that no task can use."""
        of = self.tally.splits.of
        return sum(paper.forum_id not in of and not paper.tasks for paper in self.tally.papers)

    @property
    def without_split(self) -> int:
        """Other papers without a split."""
        of = self.tally.splits.of
        return sum(paper.forum_id not in of and bool(paper.tasks) for paper in self.tally.papers)

    @property
    def absent(self) -> int:
        """Papers with a split that are not in this release."""
        return len(self.tally.splits.of.keys() - {paper.forum_id for paper in self.tally.papers})

    @property
    def stated_twice(self) -> int:
        """Papers that the files of one task state in two splits."""
        return sum(any(one.also_stated for one in paper.stated) for paper in self.tally.papers)

    # Texts and grades.

    @property
    def are_texts_proven(self) -> bool:
        """Whether tasks have only texts that are proven to be what the reviewers read."""
        return self.request.grade in PUBLISHABLE_GRADES

    @property
    def grade_meanings(self) -> list[tuple[str, str, bool]]:
        """Each grade, its meaning, and whether tasks may have such texts."""
        worst = self.request.text_rule.worst_grade
        return [
            (grade.value, meaning, self.request.drawn is None or is_grade_accepted(grade, worst))
            for grade, meaning in GRADE_MEANINGS.items()
        ]

    @property
    def texts(self) -> list[tuple[str, int, list[int]]]:
        """Papers by the grade of their text, or by its moment if it has none, with those that each task uses."""
        counts: Counter[tuple[Grade | None, VersionMoment | None]] = Counter()
        in_tasks: Counter[tuple[Grade | None, Task]] = Counter()
        for paper in self.tally.papers:
            if paper.has_text:
                counts[paper.grade, None if paper.grade else paper.moment] += 1
                used = self.tally.splits.used
                in_tasks.update((paper.grade, task) for task in Task if paper.forum_id in used.get(task, ()))
        of_grades = [
            (f"`{grade}`", counts[grade, None], [in_tasks[grade, task] for task in CONFIG])
            for grade in Grade
            if counts[grade, None]
        ]
        others = [
            (f"none, `{moment}`" if moment else "none, moment not known", counts[None, moment])
            for moment in (*VersionMoment, None)
            if counts[None, moment]
        ]
        others.append(("no text", len(self.tally.papers) - counts.total()))
        return of_grades + [(label, count, [0] * len(CONFIG)) for label, count in others]

    @property
    def graded(self) -> list[tuple[str, str | None, list[int], int]]:
        """Papers by outcome and grade, and those with a text: of all venues together and then of each."""
        rows = []
        total = VenueCounts("all")
        for venue in self.tally.venues:
            total.grades += venue.grades
            total.with_text += venue.with_text
        for venue in (total, *self.tally.venues):
            for status in (*Status, None):
                counts = [venue.grades[status, grade] for grade in (*Grade, None)]
                if any(counts):
                    rows.append((venue.venue_id, status and status.value, counts, venue.with_text[status]))
        return rows

    @property
    def licences(self) -> list[tuple[str, int]]:
        """Papers by stated licence."""
        return sorted((name, count) for name, count in self.tally.licensed.items() if name is not None)

    @property
    def set_aside(self) -> list[tuple[str, str, str, int]]:
        """Rows set aside during the build, by stage and reason."""
        counts = sum((venue.set_aside for venue in self.tally.venues), Counter[tuple[str, Reason]]())
        return [(stage, one.value, REASON_MEANINGS[one], count) for (stage, one), count in sorted(counts.items())]

    @property
    def table1(self) -> str:
        """The row of the release in Table 1 of Re², above the printed rows, with an explanation of its numbers."""
        rows = {venue.venue_id: extended_row(venue) for venue in self.tally.venues}
        row = make_row("this release", self.tally.dataset, rows)
        return f"{table_markdown(row)}\n\n{explain_row(row)}"

    @property
    def units(self) -> str:
        """The table of units of its columns."""
        return units(held(self.splits))


def _spell(status: Status) -> str:
    return status.value.replace("_", " ")
