"""Link submissions of the same work across all venues: the stage `link_papers`.

A submission that names an earlier one is linked to it, and so is one to which a public post names an earlier one.
Further candidate pairs are found by title, abstract and authors, their texts are compared if both are available, and
each pair that is one work by a rule of `similarity.py` becomes a link. A build of one venue links all venues.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import chain
from typing import IO

import pyarrow.compute as pc

from peercorpus.execution.executor import Executor, Failure
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Balance, ProgressCallback, Stage
from peercorpus.links.candidates import (
    ABSTRACTS,
    TITLES,
    ComparedPaper,
    Heads,
    Pair,
    PaperKey,
    Passages,
    StoredPapers,
    TextPair,
    find_candidates,
    find_equal_keys,
    find_shared_authors,
    pair_share,
    read_submissions,
)
from peercorpus.links.named_submissions import (
    DIGEST,
    has_naming_field,
    is_commitment,
    read_linked_forums,
    read_named_submissions,
)
from peercorpus.links.similarity import (
    MIN_ABSTRACT_PAIRS,
    MIN_WORDS_BESIDE_AUTHORS,
    Likeness,
    PaperComparer,
)
from peercorpus.records.enums import LinkKind, Reason, Role
from peercorpus.records.papers import Link
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.workspace import Workspace

NAME = "link_papers"
TABLE = "8-links"
MAX_TWIN_GAP = timedelta(days=7)
"""Largest time between submissions to two venues that counts as simultaneous."""

TIMEOUT_S = 600.0
"""Time limit for comparing two texts, in seconds; a few hundredths of a second are usual."""

BY_NAME = "a submission names the other one as an earlier one of the same work"
BY_POST = "a post names the other one as an earlier submission of the same work"
BY_LINK = "a post links to the other one, and titles, abstracts or authors are similar"
"""Stored in rows, like the rules of `similarity.py`: a change requires a higher version of the stage."""

NO_WORDS = "Neither its title nor its abstract contains a word."
OF_NAMES = frozenset({Reason.EARLIER_MISSING, Reason.NAMES_ITSELF})
"""Reasons for setting aside the earlier submission that a submission names."""

PASSING = frozenset({Reason.NOT_COMPARED})
"""Transient reasons for setting a paper aside, which may not apply next time."""

ShareTexts = Callable[[Iterator[TextPair]], Iterator[tuple[TextPair, float | Failure | None]]]
"""Yields for each pair of texts, in order, the share of runs that they have in common."""

logger = logging.getLogger(__name__)


def link_kind(earlier: ComparedPaper, later: ComparedPaper, *, named_in: str | None = None) -> LinkKind:
    """Return the kind of link between two submissions of one work.

    A submission that commits the other, with its reviews, to its venue is a commitment; between years or cycles of one
    venue, the same field names a resubmission. Within a venue it is a resubmission if the earlier one was decided
    before the later one was made; between venues, if there are more than seven days between them. A submission that
    names the other as the earlier one is a resubmission, whatever the dates.
    """
    if named_in is not None and is_commitment(named_in) and not _are_cycles(earlier.venue_id, later.venue_id):
        return LinkKind.COMMITMENT
    if earlier.is_at_workshop is not later.is_at_workshop:
        return LinkKind.WORKSHOP
    if named_in is not None:
        return LinkKind.RESUBMISSION
    first = earlier.created_at
    second = later.created_at
    if earlier.venue_id == later.venue_id:
        was_decided = second is not None and earlier.decided_at is not None and earlier.decided_at < second
        return LinkKind.RESUBMISSION if was_decided else LinkKind.TWIN
    if first is None or second is None:
        return LinkKind.UNDATED
    return LinkKind.TWIN if second - first <= MAX_TWIN_GAP else LinkKind.RESUBMISSION


def _are_cycles(one: str, other: str) -> bool:
    """Return whether two venues are years or cycles of one, judging by what precedes the year in their ids."""
    return one.partition("/20")[0] == other.partition("/20")[0]


def make_link(
    one: ComparedPaper, other: ComparedPaper, likeness: Likeness, rule: str, named: "Naming | None" = None
) -> Link:
    """Return the link from the later of two submissions of one work to the earlier one.

    The dates determine which is earlier; if they do not, the submission named in `named` is.
    """
    earlier, later, days = _order_by_time(one, other)
    if named is not None and not days and earlier.key == named.by.key:
        earlier, later = later, earlier
    return Link(
        forum_id=later.forum_id,
        venue_id=later.venue_id,
        earlier_id=earlier.forum_id,
        earlier_venue_id=earlier.venue_id,
        kind=link_kind(earlier, later, named_in=named.field if named else None),
        days=days,
        title_similarity=likeness.title,
        abstract_similarity=likeness.abstract,
        text_similarity=likeness.text,
        rule=rule,
        named_in=named.field if named else None,
    )


def _order_by_time(one: ComparedPaper, other: ComparedPaper) -> tuple[ComparedPaper, ComparedPaper, float | None]:
    earlier, later = sorted((one, other), key=lambda paper: paper.forum_id)
    if earlier.created_at is None or later.created_at is None:
        return earlier, later, None
    days = (later.created_at - earlier.created_at) / timedelta(days=1)
    return (earlier, later, days) if days >= 0 else (later, earlier, -days)


def find_candidate_pairs(papers: Sequence[ComparedPaper], compared: PaperComparer, scratch: IO[bytes]) -> list[Pair]:
    """Return the pairs of papers with similar titles, similar abstracts, the same title, or the same authors."""
    heads = Heads(papers)
    titles = [" ".join(head.title) for head in heads]
    by_title = find_candidates((compared.names(head) for head in heads), TITLES, titles, scratch)
    pairs = (compared.pairs(head) for head in heads)
    tokens = (own_pairs if len(own_pairs) >= MIN_ABSTRACT_PAIRS else () for own_pairs in pairs)
    by_abstract = find_candidates(tokens, ABSTRACTS, titles, scratch)
    keys = (head.abstract and f"{title}\n{head.abstract}" for head, title in zip(heads, titles, strict=True))
    named = (" ".join(head.bare_title) if head.telling_words >= MIN_WORDS_BESIDE_AUTHORS else "" for head in heads)
    by_authors = find_shared_authors((head.authors for head in heads), titles)
    return sorted(by_title | by_abstract | by_authors | find_equal_keys(keys, titles) | find_equal_keys(named, titles))


@dataclass(frozen=True, slots=True)
class Naming:
    """A submission that names an earlier one of the same work.

    Attributes:
        by: The submission that names the other.
        forum_id: The forum that it names.
        field: The field that names it, or the kind of the post that links to it.
        named: The paper of that forum; None if it is not in the workspace.
        is_stated: Whether the field or the post calls it an earlier submission of the same work.
    """

    by: ComparedPaper
    forum_id: str
    field: str
    named: ComparedPaper | None
    is_stated: bool = True

    @property
    def pair(self) -> frozenset[PaperKey]:
        """Keys of both submissions; only that of the first if the other is the same or not in the workspace."""
        return frozenset({self.by.key, (self.named or self.by).key})

    def why_not(self) -> tuple[Reason, str] | None:
        """Return why there is no link, as reason and sentence; None if there is one."""
        if self.named is None:
            sentence = f"Its field '{self.field}' names '{self.forum_id}', which is not in the workspace."
            return Reason.EARLIER_MISSING, sentence
        if self.named.key == self.by.key:
            return Reason.NAMES_ITSELF, f"Its field '{self.field}' names the submission itself."
        return None

    def record_id(self) -> str:
        """Return the id under which it is set aside."""
        return f"{self.by.forum_id}/{self.field}/{self.forum_id}"


def find_namings(papers: Sequence[ComparedPaper]) -> list[Naming]:
    """Return which submissions name which others, in the order of the papers."""
    naming = [paper for paper in papers if has_naming_field(paper.extra, paper.venue_id)]
    by_forum = {paper.forum_id: place for place, paper in enumerate(papers)} if naming else {}
    return [
        Naming(
            paper, one.forum_id, one.field, papers[place] if (place := by_forum.get(one.forum_id)) is not None else None
        )
        for paper in naming
        for one in read_named_submissions(paper.extra, paper.venue_id, by_forum.keys())
    ]


def find_namings_in_posts(tables: Tables, papers: Sequence[ComparedPaper]) -> dict[frozenset[PaperKey], Naming]:
    """Return the pairs of papers of which a public post to one links to the other; those called earlier ones first."""
    linked = [
        (venue_id, *row) for venue_id in tables.venues("3-posts") for row in _read_links_in_posts(tables, venue_id)
    ]
    if not linked:
        return {}
    places = {paper.forum_id: place for place, paper in enumerate(papers)}
    namings: dict[frozenset[PaperKey], Naming] = {}
    for venue_id, forum_id, kind, named_id, is_stated in sorted(linked, key=lambda row: not row[-1]):
        by, named = places.get(forum_id), places.get(named_id)
        if by is not None and named is not None and by != named and papers[by].venue_id == venue_id:
            naming = Naming(
                papers[by].without_text(), named_id, kind, papers[named].without_text(), is_stated=is_stated
            )
            namings.setdefault(naming.pair, naming)
    return namings


def _read_links_in_posts(tables: Tables, venue_id: str) -> Iterator[tuple[str, str, str, bool]]:
    columns = ["forum_id", "kind", "role", "readers_public", "deleted", "text"]
    for batch in tables.batches("3-posts", venue_id, columns):
        has_link = pc.match_substring(batch.column("text"), "openreview.net", ignore_case=True)
        for row in batch.filter(has_link).to_pylist():
            if row["readers_public"] and not row["deleted"]:
                for named_id, is_stated in read_linked_forums(row["text"], is_by_authors=row["role"] == Role.AUTHOR):
                    yield row["forum_id"], row["kind"], named_id, is_stated


@dataclass(frozen=True, slots=True)
class Likely:
    """Two submissions that may be one work.

    Attributes:
        likeness: Their similarity; without that of the texts until these are compared.
        naming: How one names the other; None if neither does.
        in_post: How a post to one links to the other; None if none does.
        failure: Why their texts could not be compared; None if they could.
    """

    one: ComparedPaper
    other: ComparedPaper
    likeness: Likeness
    naming: Naming | None = None
    in_post: Naming | None = None
    failure: Failure | None = None

    def rule(self) -> str | None:
        """Return the rule by which they are one work; None if none applies, or if that is unknown."""
        if self.naming is not None:
            return BY_NAME
        rule = self.likeness.rule() if self.failure is None else None
        if self.in_post is None or self.likeness.is_contradicted():
            return rule
        if self.in_post.is_stated:
            return BY_POST
        return BY_LINK if rule is None and self.likeness.is_similar() else rule


def find_likely_pairs(
    papers: Sequence[ComparedPaper],
    namings: Sequence[Naming],
    in_posts: Mapping[frozenset[PaperKey], Naming],
    scratch: IO[bytes],
) -> list[Likely]:
    """Return the pairs of papers of which one names the other, or whose texts are worth comparing."""
    compared = PaperComparer(Heads(papers))
    # If two name each other, the one submitted later is trusted.
    named = {naming.pair: naming for naming in sorted(namings, key=_by_time, reverse=True) if naming.why_not() is None}
    in_pairs = frozenset[PaperKey]().union(*named, *in_posts)
    places = {paper.key: place for place, paper in enumerate(papers) if paper.key in in_pairs} if in_pairs else {}
    given = {tuple(sorted(places[key] for key in pair)) for pair in (*named, *in_posts)}
    likely: list[Likely] = []
    for one_index, other_index in sorted({*find_candidate_pairs(papers, compared, scratch), *given}):
        one = papers[one_index]
        other = papers[other_index]
        likeness = compared.likeness(one.head, other.head)
        pair = frozenset({one.key, other.key})
        if pair in named or pair in in_posts or likeness.may_be_one():
            ends = one.without_text(), other.without_text()
            likely.append(Likely(*ends, likeness, named.get(pair), in_posts.get(pair)))
    return likely


def _by_time(naming: Naming) -> tuple[bool, float, str]:
    created_at = naming.by.created_at
    return created_at is None, -created_at.timestamp() if created_at else 0.0, naming.by.forum_id


def compare_pairs(
    papers: Sequence[ComparedPaper],
    namings: Sequence[Naming],
    tables: Tables,
    scratch: Callable[[], AbstractContextManager[IO[bytes]]],
    share_texts: ShareTexts,
    report: ProgressCallback,
) -> Iterator[Likely]:
    """Yield each pair that may be one work with its similarity, including the texts if both are available."""
    with scratch() as signatures:
        pairs = find_likely_pairs(papers, namings, find_namings_in_posts(tables, papers), signatures)
    forum_ids: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        for paper in (pair.one, pair.other):
            forum_ids[paper.venue_id].add(paper.forum_id)
    with scratch() as texts:
        yield from _compare_texts(pairs, Passages(texts, tables, forum_ids), share_texts, report)


def _compare_texts(
    pairs: Sequence[Likely], passages: Passages, share_texts: ShareTexts, report: ProgressCallback
) -> Iterator[Likely]:
    have_texts = [pair.one.key in passages and pair.other.key in passages for pair in pairs]
    shares = share_texts(
        passages.pair(pair.one.key, pair.other.key)
        for pair, is_comparable in zip(pairs, have_texts, strict=True)
        if is_comparable
    )
    for done, (pair, is_comparable) in enumerate(zip(pairs, have_texts, strict=True), 1):
        share = next(shares)[1] if is_comparable else None
        if isinstance(share, Failure):
            yield replace(pair, failure=share)
        else:
            yield replace(pair, likeness=replace(pair.likeness, text=share))
        report(done, len(pairs))
    # Exhaust the iterator, so that the executor ends its workers in order instead of cancelling them.
    next(shares, None)


def link_papers(
    spread: Executor, workspace: Workspace, _: str, options: BuildRequest, key: str, report: ProgressCallback
) -> None:
    """Link the papers of all venues and write the links of each venue under the same key."""
    tables = workspace.tables
    venue_ids = workspace.venues()
    share_texts = partial(spread, pair_share, timeout_s=TIMEOUT_S, workers=options.workers, in_order=True)
    links: dict[str, list[Link]] = defaultdict(list)
    with workspace.files.scratch() as scratch:
        papers = StoredPapers(scratch, chain.from_iterable(read_submissions(tables, name) for name in venue_ids))
        namings = find_namings(papers)
        aside = {paper.key: (Reason.NO_WORDS, NO_WORDS) for paper in papers if not paper.head.has_words}
        for pair in compare_pairs(papers, namings, tables, workspace.files.scratch, share_texts, report):
            rule = pair.rule()
            if rule is not None:
                named = pair.in_post if rule in {BY_POST, BY_LINK} else pair.naming
                link = make_link(pair.one, pair.other, pair.likeness, rule, named)
                links[link.venue_id].append(link)
            elif pair.failure is not None:
                for paper, counterpart in ((pair.one, pair.other), (pair.other, pair.one)):
                    detail = f"Whether it and '{counterpart.forum_id}' are one work is not known: {pair.failure.detail}"
                    aside.setdefault(paper.key, (Reason.NOT_COMPARED, detail))
    left = _list_set_aside(aside, namings)
    for venue_id in venue_ids:
        with tables.replacing((TABLE,), venue_id, NAME, key) as out:
            for link in sorted(links[venue_id], key=lambda link: (link.forum_id, link.earlier_id)):
                out.add(link)
            for record_id, forum_id, reason, detail in left[venue_id]:
                out.set_aside(record_id, forum_id, reason, detail)
    logger.info("%s: %d links between %d papers", NAME, sum(map(len, links.values())), len(papers))


def _list_set_aside(
    aside: Mapping[PaperKey, tuple[Reason, str]], namings: Sequence[Naming]
) -> dict[str, list[tuple[str, str, Reason, str]]]:
    left: dict[str, list[tuple[str, str, Reason, str]]] = defaultdict(list)
    for (venue_id, forum_id), (reason, detail) in aside.items():
        left[venue_id].append((forum_id, forum_id, reason, detail))
    for naming in namings:
        if why_not := naming.why_not():
            left[naming.by.venue_id].append((naming.record_id(), naming.by.forum_id, *why_not))
    return left


def balance(workspace: Workspace, venue_id: str) -> Sequence[Balance]:
    """Return the balances: papers compared, links written and, if there are any, earlier submissions named.

    Papers without words, papers whose text could not be compared with another one, and references to submissions that
    are not in the workspace or to the paper itself are set aside.
    """
    tables = workspace.tables
    aside = tables.set_aside_counts(venue_id, NAME)
    compared = -aside.get(Reason.NOT_COMPARED, 0)
    naming: list[ComparedPaper] = []
    for paper in read_submissions(tables, venue_id):
        compared += paper.head.has_words
        if has_naming_field(paper.extra, venue_id):
            naming.append(paper)
    written = tables.count_committed(TABLE, venue_id)

    def state(unit: str, rows_in: int, rows_out: int, reasons: Set[Reason] = frozenset()) -> Balance:
        left = {reason: number for reason, number in aside.items() if reason in reasons}
        return Balance(stage=NAME, venue_id=venue_id, unit=unit, rows_in=rows_in, rows_out=rows_out, set_aside=left)

    balances = [
        state("papers", tables.count("1-papers", venue_id), compared, aside.keys() - OF_NAMES),
        state("links", written, tables.count(TABLE, venue_id)),
    ]
    named, linked = _count_namings(tables, naming)
    if named:
        balances.append(state("earlier submissions named", named, linked, OF_NAMES))
    return balances


def _count_namings(tables: Tables, papers: Sequence[ComparedPaper]) -> tuple[int, int]:
    """Return how many earlier submissions these papers name, and how many of those are linked with the paper.

    Only papers with a field for earlier submissions name any.
    """
    if not papers:
        return 0, 0
    held = _read_forum_ids(tables, tables.version("1-papers"))
    named = {
        (paper.forum_id, one.forum_id)
        for paper in papers
        for one in read_named_submissions(paper.extra, paper.venue_id, held)
    }
    if not named:
        return 0, 0
    links = _read_linked_pairs(tables, tables.version(TABLE))
    return len(named), sum(frozenset(pair) in links for pair in named)


@lru_cache(maxsize=1)
def _read_forum_ids(tables: Tables, _version: int | None) -> frozenset[str]:
    return frozenset(
        forum_id
        for venue_id in tables.venues("1-papers")
        for (forum_id,) in tables.rows("1-papers", venue_id, ["forum_id"])
    )


@lru_cache(maxsize=1)
def _read_linked_pairs(tables: Tables, _version: int | None) -> frozenset[frozenset[str]]:
    return frozenset(
        frozenset(pair)
        for venue_id in tables.venues(TABLE)
        for pair in tables.rows(TABLE, venue_id, ["forum_id", "earlier_id"])
    )


def stage(spread: Executor) -> Stage[Workspace]:
    """Return the stage `link_papers`."""
    return Stage(
        name=NAME,
        doing="linking submissions of the same work",
        version=7,
        reads_raw=(),
        reads=("1-papers", "3-posts", "4-versions", "5-texts"),
        writes=(TABLE,),
        options=(),
        run=partial(link_papers, spread),
        balance=balance,
        passing=PASSING,
        # rensa computes the signatures.
        made_with=lambda _: f"rensa {version('rensa')}, names {DIGEST}",
        is_of_all=True,
    )
