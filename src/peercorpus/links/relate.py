"""The stage that finds submissions that are one work, over all venues at once.

A row in is a paper; it is compared with those that may be like it, or set aside where it has no words, or where one of
these comparisons failed. Whether two are one work the texts say where both are held, else titles and abstracts: see
`alike.py`.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from importlib.metadata import version
from typing import IO

from peercorpus.file_records import Link
from peercorpus.kinds import LinkKind, Reason
from peercorpus.links.alike import FEWEST_PAIRS, Compared, Head, Likeness, head_of
from peercorpus.links.candidates import ABSTRACTS, TITLES, Pair, find_candidates, find_same
from peercorpus.links.passages import PaperKey, Passages, TextPair, pair_share
from peercorpus.spread import Failure, Spread
from peercorpus.stage import Balance, Options, Report, Stage
from peercorpus.tables import Tables
from peercorpus.workspace import Workspace

NAME = "link_papers"
TABLE = "8-links"
AT_ONCE = timedelta(days=7)
"""Between submissions at two venues that were made at the same time."""
TIMEOUT_S = 600.0
"""Seconds that comparing two texts may take: hundredths of one are usual."""

NO_WORDS = "Neither its title nor its abstract holds a word."
PASSING = frozenset({Reason.NOT_COMPARED})
"""Reasons that may not hold another time."""

ShareTexts = Callable[[Iterator[TextPair]], Iterator[tuple[TextPair, float | Failure | None]]]
"""Tells of pairs of texts, in their order, what each two have in common."""

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
    def key(self) -> PaperKey:
        """Which of all papers it is."""
        return self.venue_id, self.forum_id

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


Likely = tuple[Submission, Submission, Likeness]
"""Two submissions that may be one work, by title and abstract."""
Judged = tuple[Submission, Submission, Likeness | Failure]
"""Two submissions, and how alike they are; or why their texts could not be compared."""


def likely_pairs(papers: Sequence[Submission]) -> list[Likely]:
    """The pairs of papers whose texts are worth a look."""
    compared = Compared([paper.head for paper in papers])
    found = (
        ((papers[one], papers[other]), papers[one].head, papers[other].head)
        for one, other in candidates(papers, compared)
    )
    likely = ((*pair, compared.likeness(one, other)) for pair, one, other in found)
    return [one for one in likely if one[2].may_be_one()]


def passages_of(pairs: Sequence[Likely], tables: Tables, scratch: IO[bytes]) -> Passages:
    """The texts of these papers."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        for paper in pair[:2]:
            wanted[paper.venue_id].add(paper.forum_id)
    return Passages(scratch, tables, wanted)


def judge_pairs(
    papers: Sequence[Submission], tables: Tables, scratch: IO[bytes], share_texts: ShareTexts, report: Report
) -> Iterator[Judged]:
    """How alike those pairs of papers are that may be one work, by their texts as well where both are held."""
    pairs = likely_pairs(papers)
    passages = passages_of(pairs, tables, scratch)
    held = [one.key in passages and other.key in passages for one, other, _ in pairs]
    texts = (passages.pair(one.key, other.key) for (one, other, _), both in zip(pairs, held, strict=True) if both)
    shares = share_texts(texts)
    for done, ((one, other, like), both) in enumerate(zip(pairs, held, strict=True), 1):
        share = next(shares)[1] if both else None
        yield one, other, share if isinstance(share, Failure) else replace(like, text=share)
        report(done, len(pairs))
    # Asked once more, the spread knows that it is done; else its workers would be broken off.
    next(shares, None)


def link_papers(spread: Spread, workspace: Workspace, _: str, options: Options, key: str, report: Report) -> None:
    """Link the papers of all venues, and write the links of each under the same key."""
    tables, venue_ids = workspace.tables, workspace.venues()
    papers = [paper for venue_id in venue_ids for paper in read_submissions(tables, venue_id)]
    compared = [paper for paper in papers if paper.head.has_words]
    links: dict[str, list[Link]] = defaultdict(list)
    aside = {paper.key: (Reason.NO_WORDS, NO_WORDS) for paper in papers if not paper.head.has_words}
    share_texts = partial(spread, pair_share, timeout_s=TIMEOUT_S, workers=options.workers, in_order=True)
    with workspace.files.scratch() as scratch:
        for one, other, found in judge_pairs(compared, tables, scratch, share_texts, report):
            if isinstance(found, Failure):
                for this, that in ((one, other), (other, one)):
                    detail = f"Whether it and '{that.forum_id}' are one work is not known: {found.detail}"
                    aside.setdefault(this.key, (Reason.NOT_COMPARED, detail))
            elif (rule := found.rule()) is not None:
                link = link_of(one, other, found, rule)
                links[link.venue_id].append(link)
    for venue_id in venue_ids:
        with tables.replacing((TABLE,), venue_id, NAME, key) as out:
            for link in sorted(links[venue_id], key=lambda one: (one.forum_id, one.earlier_id)):
                out.add(link)
            for (_, forum_id), why in filter(lambda item: item[0][0] == venue_id, aside.items()):
                out.set_aside(forum_id, forum_id, *why)
    logger.info("%s: %d links between %d papers", NAME, sum(map(len, links.values())), len(compared))


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Papers = papers with words + those set aside for none; every link written is there.

    Of the papers with words those are set aside that could not be compared with another.
    """
    tables = workspace.tables
    aside = tables.set_aside_counts(venue_id, NAME)
    with_words = sum(paper.head.has_words for paper in read_submissions(tables, venue_id))
    compared = with_words - aside.get(Reason.NOT_COMPARED, 0)
    written = tables.count_committed(TABLE, venue_id)
    return (
        Balance(NAME, venue_id, "papers", tables.count("1-papers", venue_id), compared, aside),
        Balance(NAME, venue_id, "links", written, tables.count(TABLE, venue_id), {}),
    )


def _made_with(_: Options) -> str:
    """The library by whose signatures candidates are found."""
    return f"rensa {version('rensa')}"


def stage(spread: Spread) -> Stage[Workspace]:
    """The stage, with the executor that spreads its work."""
    return Stage(
        name=NAME,
        version=2,
        reads_raw=(),
        reads=("1-papers", "4-versions", "5-texts"),
        writes=(TABLE,),
        options=(),
        run=partial(link_papers, spread),
        balance=balance,
        passing=PASSING,
        made_with=_made_with,
        is_of_all=True,
    )
