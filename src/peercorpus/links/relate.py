"""The stage that finds submissions that are one work, over all venues at once.

A row in is a paper; it is compared with those that may be like it, or set aside where it has no words. Whether two are
one work the texts say where both are held, else titles and abstracts: see `alike.py`.
"""

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import IO

from peercorpus.file_records import Link
from peercorpus.kinds import LinkKind, Reason
from peercorpus.links.alike import FEWEST_PAIRS, Compared, Head, Likeness, head_of, text_share
from peercorpus.links.candidates import ABSTRACTS, TITLES, Pair, find_candidates, find_same
from peercorpus.links.passages import Passages
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Tables
from peercorpus.workspace import Workspace

NAME = "link_papers"
TABLE = "8-links"
AT_ONCE = timedelta(days=7)
"""Between submissions at two venues that were made at the same time."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Submission:
    """A paper as far as it is compared and linked.

    Attributes:
        decided_at: When its decision was posted; None where that is not known.
    """

    forum_id: str
    venue_id: str
    created_at: datetime | None
    decided_at: datetime | None
    head: Head

    @property
    def is_at_workshop(self) -> bool:
        """Whether its venue's id says that it is a workshop."""
        return "workshop" in self.venue_id.casefold()


COLUMNS = ["forum_id", "title", "abstract", "created_at", "decided_at"]


def read_submissions(tables: Tables, venue_id: str) -> Iterator[Submission]:
    """The papers of a venue, in the order of their forums."""
    for batch in tables.batches("1-papers", venue_id, COLUMNS):
        for row in batch.to_pylist():
            head = head_of(row["title"], row["abstract"])
            yield Submission(row["forum_id"], venue_id, row["created_at"], row["decided_at"], head)


def kind_of(earlier: Submission, later: Submission) -> LinkKind:
    """How two submissions of one work stand to each other."""
    if earlier.is_at_workshop is not later.is_at_workshop:
        return LinkKind.WORKSHOP
    first, second = earlier.created_at, later.created_at
    if earlier.venue_id == later.venue_id:
        was_decided = second is not None and earlier.decided_at is not None and earlier.decided_at < second
        return LinkKind.RESUBMISSION if was_decided else LinkKind.TWIN
    if first is None or second is None:
        return LinkKind.UNDATED
    return LinkKind.TWIN if second - first <= AT_ONCE else LinkKind.RESUBMISSION


def link_of(one: Submission, other: Submission, found: Likeness, rule: str) -> Link:
    """What is written of two submissions that are one work."""
    earlier, later, days = _in_order(one, other)
    kind = kind_of(earlier, later)
    ids = later.forum_id, later.venue_id, earlier.forum_id, earlier.venue_id
    return Link(*ids, kind, days, found.title, found.abstract, found.text, rule)


def _in_order(one: Submission, other: Submission) -> tuple[Submission, Submission, float | None]:
    """The earlier of two, the later, and the days between them."""
    earlier, later = sorted((one, other), key=lambda paper: paper.forum_id)
    if earlier.created_at is None or later.created_at is None:
        return earlier, later, None
    days = (later.created_at - earlier.created_at) / timedelta(days=1)
    return (earlier, later, days) if days >= 0 else (later, earlier, -days)


def candidates(papers: Sequence[Submission], compared: Compared) -> list[Pair]:
    """The pairs of papers that are worth a closer look, by title, by abstract, or as they say the same."""
    heads = [paper.head for paper in papers]
    titles = [" ".join(head.title) for head in heads]
    by_title = find_candidates((compared.names(head) for head in heads), TITLES, titles)
    pairs = (compared.pairs(head) for head in heads)
    by_abstract = find_candidates((own if len(own) >= FEWEST_PAIRS else () for own in pairs), ABSTRACTS, titles)
    same = find_same(
        (head.abstract and f"{title}\n{head.abstract}" for head, title in zip(heads, titles, strict=True)), titles
    )
    return sorted(by_title | by_abstract | same)


def find_links(papers: Sequence[Submission], tables: Tables, scratch: IO[bytes], report: Report) -> Iterator[Link]:
    """The links between papers: candidates that a rule says are one work."""
    compared = Compared([paper.head for paper in papers])
    found = (
        ((papers[one], papers[other]), papers[one].head, papers[other].head)
        for one, other in candidates(papers, compared)
    )
    likely = ((*pair, compared.likeness(one, other)) for pair, one, other in found)
    worth = [one for one in likely if one[2].may_be_one()]
    wanted: dict[str, set[str]] = defaultdict(set)
    for pair in worth:
        for paper in pair[:2]:
            wanted[paper.venue_id].add(paper.forum_id)
    passages = Passages(scratch, tables, wanted)
    for done, (one, other, like) in enumerate(worth, 1):
        texts = [passages.read(paper.venue_id, paper.forum_id) for paper in (one, other)]
        judged = replace(like, text=text_share(*texts))
        rule = judged.rule()
        if rule is not None:
            yield link_of(one, other, judged, rule)
        report(done, len(worth))


def run(workspace: Workspace, _: str, __: Options, key: str, report: Report) -> None:
    """Link the papers of all venues, and write the links of each under the same key."""
    tables, venue_ids = workspace.tables, workspace.venues()
    papers = [paper for venue_id in venue_ids for paper in read_submissions(tables, venue_id)]
    compared = [paper for paper in papers if paper.head.has_words]
    links: dict[str, list[Link]] = defaultdict(list)
    with workspace.files.scratch() as scratch:
        for link in find_links(compared, tables, scratch, report):
            links[link.venue_id].append(link)
    aside: dict[str, list[str]] = defaultdict(list)
    for paper in papers:
        if not paper.head.has_words:
            aside[paper.venue_id].append(paper.forum_id)
    for venue_id in venue_ids:
        with tables.replacing((TABLE,), venue_id, NAME, key) as out:
            for link in sorted(links[venue_id], key=lambda one: (one.forum_id, one.earlier_id)):
                out.add(link)
            for forum_id in aside[venue_id]:
                out.set_aside(forum_id, forum_id, Reason.NO_WORDS, "Neither its title nor its abstract holds a word.")
    logger.info("%s: %d links between %d papers", NAME, sum(map(len, links.values())), len(compared))


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Papers = papers that were compared with all others + papers set aside; and every link written is there."""
    tables = workspace.tables
    compared = sum(paper.head.has_words for paper in read_submissions(tables, venue_id))
    aside = tables.set_aside_counts(venue_id, NAME)
    written = tables.count_committed(TABLE, venue_id)
    return (
        Balance(NAME, venue_id, "papers", tables.count("1-papers", venue_id), compared, aside),
        Balance(NAME, venue_id, "links", written, tables.count(TABLE, venue_id), {}),
    )


def _made_with(_: Options) -> str:
    """The library by whose signatures candidates are found."""
    return f"rensa {version('rensa')}"


STAGE = Stage(
    NAME, 2, (), ("1-papers", "4-versions", "5-texts"), (TABLE,), (), run, balance, made_with=_made_with, is_of_all=True
)
