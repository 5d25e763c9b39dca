"""Search the index for a selection, and mark where its words occur in the papers found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import tantivy
from tantivy import DocAddress, Order, Query

from peercorpus.corpus.filters import Condition, Operator, group_alternatives
from peercorpus.explorer.index_documents import (
    FIELDS_SEARCHED,
    TEXT,
    TEXTS_OF_PAPER,
    TEXTS_OF_POSTS,
    read_post_ids,
    read_pseudonyms,
    read_row,
    read_text,
)
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.querying.facets import AGGREGATIONS, make_facets
from peercorpus.explorer.querying.names import REVIEWER, list_pseudonym_words
from peercorpus.explorer.querying.passages import CHARACTERS, Passage, PassageFinder, Piece, Sought
from peercorpus.explorer.querying.searched_fields import FOLDED_IDS, IDS, VOCABULARY, require_all, split_words
from peercorpus.explorer.querying.typed_query import (
    STRAIGHT,
    Reference,
    TypedQuery,
    read_outcome,
    read_query,
    read_reference,
    write_condition,
)
from peercorpus.explorer.querying.venue_names import NO_VENUES, NamedVenues, find_named, write_names
from peercorpus.explorer.querying.words import (
    Found,
    ParsedWords,
    Relaxed,
    Word,
    filter_by,
    parse_words,
    relax,
    suggest_words,
)
from peercorpus.explorer.rendering import STATUSES
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.selection import Selection
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import Status
from peercorpus.wording.untrusted_text import replace_controls

PAGE = 25
"""Papers on a page."""
_MAX_PASSAGES = 2
"""Passages shown of one paper."""
_NAMED = ("conference", "year")
"""Conditions that words may name beside an outcome."""
_ORDERS = {
    "relevance": ("discussed", Order.Desc),
    "newest": ("created", Order.Desc),
    "oldest": ("created", Order.Asc),
    "rating": ("rating_unit", Order.Desc),
    "rating-low": ("rating_unit", Order.Asc),
    "spread": ("spread_unit", Order.Desc),
    "raised": ("change_unit", Order.Desc),
    "turns": ("turns", Order.Desc),
}


@dataclass(frozen=True, slots=True)
class Hit:
    """One paper found.

    Attributes:
        without: The words, as they were typed, that the paper lacks and another paper of the selection has.
    """

    row: PaperRow
    title: Sequence[Piece]
    passages: Sequence["ShownPassage"]
    without: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage of a paper found.

    Attributes:
        post_id: The post that it is part of; None if it is part of none.
        page: The page of the paper's own text that it is on, from 1; None if it is part of another text.
    """

    name: str
    pieces: Sequence[Piece]
    post_id: str | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class NamedOutcome:
    """An outcome that the words of a search name.

    Attributes:
        asked: The search for the papers with this outcome, without the words that named it.
    """

    asked: Selection
    papers: int

    @property
    def title(self) -> str:
        """The names of the facets by which the papers are selected."""
        return "Decision and year" if "year" in self._values else "Decision"

    @property
    def _values(self) -> Mapping[str, str | float | bool]:
        """The values that papers must have, by field."""
        return {each.name: each.value for each in self.asked.conditions if each.comparison is Operator.IS}

    @property
    def label(self) -> str:
        """The conditions and the words that are left of the search, as a text."""
        values = self._values
        shown = [STATUSES[Status(str(values["status"]))]]
        shown += [f"{values[name]:.0f}" if name == "year" else str(values[name]) for name in _NAMED if name in values]
        shown += [f"with “{self.asked.words}”"] if self.asked.words else []
        return ", ".join(shown)


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A search without its quotation marks, and the number of papers that it finds with all words."""

    words: str
    papers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage(Found):
    """One page of results.

    Attributes:
        total: Number of papers found, on all pages.
        reference: The paper or post that the words name by its id or address; None if they are words.
        named: The venues that the words name.
        outcome: The outcome that plain words name; None if they name none.
        unquoted: The same search without quotation marks; None if it has none, finds papers, or finds none so either.
    """

    hits: Sequence[Hit]
    total: int
    statuses: Mapping[str, int]
    reference: Reference | None = None
    named: NamedVenues = NO_VENUES
    outcome: NamedOutcome | None = None
    unquoted: Unquoted | None = None

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-self.total // PAGE))


@dataclass(frozen=True, slots=True)
class BuiltQuery:
    """The query of a selection.

    Attributes:
        counted: Their numbers by `AGGREGATIONS`.
        relaxed: What is searched for of them.
        typed: The words and the conditions typed among them; for a reference its text alone.
        reference: The paper or post that the words name by its id or address; None if they are words.
    """

    query: Query
    counted: Mapping[str, Any]
    parsed: ParsedWords
    relaxed: Relaxed
    typed: TypedQuery
    reference: Reference | None = None


def build_query(opened: OpenIndex, selection: Selection) -> BuiltQuery:
    """Return the query of a selection; one with an unreadable part selects nothing."""
    reference = _find_reference(opened, selection.words)
    if reference is not None:
        typed, parsed = TypedQuery(selection.words), ParsedWords(_find_paper(opened, reference))
    else:
        typed = read_query(selection.words, FIELDS_SEARCHED)
        parsed = parse_words(opened, typed, FIELDS_SEARCHED)
    if selection.faults:
        nothing = Query.empty_query()
        return BuiltQuery(nothing, _count(opened, nothing), parsed, Relaxed(parsed.query), typed, reference)
    filters = [*_list_filters(opened, selection.conditions), *_list_filters(opened, typed.conditions)]
    relaxed, query = Relaxed(parsed.query), filter_by(parsed.query, filters)
    counted = _count(opened, query)
    if parsed.words and not _sum_statuses(counted):
        relaxed = relax(opened, parsed, filters)
        query = filter_by(relaxed.query, filters)
        counted = _count(opened, query)
    return BuiltQuery(query, counted, parsed, relaxed, typed, reference)


def _count(opened: OpenIndex, query: Query) -> Mapping[str, Any]:
    counted: Mapping[str, Any] = opened.searcher.aggregate(query, dict(AGGREGATIONS))
    return counted


def _sum_statuses(counted: Mapping[str, Any]) -> int:
    """Return the number of papers counted: each has one status."""
    return sum(bucket["doc_count"] for bucket in counted["status"]["buckets"])


def _list_filters(opened: OpenIndex, conditions: Iterable[Condition]) -> Iterator[Query]:
    for group in group_alternatives(conditions):
        yield opened.index.parse_query(" OR ".join(map(write_condition, group)))


def _find_reference(opened: OpenIndex, text: str) -> Reference | None:
    """Return the paper or post that a search names by its address or id, or None if it is words to search for.

    An id typed in other letter case counts if exactly one paper has such an id, and no text has it as a word.
    """
    reference = read_reference(text)
    if reference is None or reference.is_address:
        return reference
    searcher, words = opened.searcher, reference.forum_id
    is_id = searcher.doc_freq(IDS, words) > 0
    if not is_id and searcher.doc_freq(FOLDED_IDS, words.lower()) == 1:
        is_id = not any(searcher.doc_freq(VOCABULARY, part) for part in split_words(words))
    return reference if is_id else None


def _find_paper(opened: OpenIndex, reference: Reference) -> Query:
    """Return the query for the paper of a reference; letter case matters only if several papers have the id."""
    searcher, folded = opened.searcher, reference.forum_id.lower()
    if not searcher.doc_freq(IDS, reference.forum_id) and searcher.doc_freq(FOLDED_IDS, folded) == 1:
        return Query.term_query(opened.schema, FOLDED_IDS, folded, "basic")
    return Query.term_query(opened.schema, IDS, reference.forum_id, "basic")


def _choose_order(selection: Selection, typed: TypedQuery) -> tuple[str | None, Order]:
    if selection.sort == "relevance" and typed.text:
        return None, Order.Desc
    return _ORDERS[selection.sort]


def _join_conditions(selection: Selection, typed: TypedQuery) -> Selection:
    """Return a selection with the conditions that are typed among its words as its own.

    If it has alternatives to one of them, it stays as it is: all of its own conditions must be met as well.
    """
    own = {condition.name for condition in selection.conditions if condition.comparison is Operator.IS}
    if not typed.conditions or own.intersection(condition.name for condition in typed.conditions):
        return selection
    return replace(selection, words=typed.text, conditions=(*selection.conditions, *typed.conditions))


def search(opened: OpenIndex, selection: Selection) -> SearchPage:
    """Return one page of the papers of a selection."""
    built = build_query(opened, selection)
    counted = built.counted
    statuses = {bucket["key"]: bucket["doc_count"] for bucket in counted["status"]["buckets"]}
    documents = [opened.searcher.doc(address) for address in _list_page(opened, selection, built)]
    rows = [read_row(document) for document in documents]
    lacking = _find_lacking(opened, built.relaxed.wanted, rows)
    suggested = suggest_words(opened, built.parsed.words)
    finder = PassageFinder(built.parsed.sought, FIELDS_SEARCHED) if built.parsed.sought else None
    return SearchPage(
        hits=[
            _make_hit(document, row, finder, built.parsed.sought, lacking.get(row.forum_id, ()))
            for document, row in zip(documents, rows, strict=True)
        ],
        total=_sum_statuses(counted),
        statuses=statuses,
        faults=built.parsed.faults,
        facets=make_facets(counted, _join_conditions(selection, built.typed), opened.venues),
        missed=built.relaxed.missed,
        is_any=bool(built.relaxed.wanted),
        suggested=None if suggested is None else " ".join([suggested, *built.typed.typed_conditions]),
        reference=built.reference,
        hints=[*selection.hints, *built.typed.hints],
        named=find_named(opened.venues, built.typed.words.values()),
        outcome=_offer_outcome(opened, selection, built),
        unquoted=None if statuses else _offer_unquoted(opened, selection),
    )


def _offer_outcome(opened: OpenIndex, selection: Selection, built: BuiltQuery) -> NamedOutcome | None:
    """Return the outcome that plain words name, with the number of papers that have it; None if no paper has it."""
    asked = _join_conditions(selection, built.typed)
    taken = {condition.name for condition in asked.conditions}
    outcome = read_outcome(built.typed.words, opened.venues.values(), taken)
    if outcome is None:
        return None
    conditions, words = outcome
    named = replace(asked, words=" ".join(words), conditions=(*asked.conditions, *conditions), page=1)
    of_outcome = build_query(opened, named)
    papers = 0 if of_outcome.relaxed.wanted else _sum_statuses(of_outcome.counted)
    return NamedOutcome(named, papers) if papers else None


def _offer_unquoted(opened: OpenIndex, selection: Selection) -> Unquoted | None:
    straight = selection.words.translate(STRAIGHT)
    words = " ".join(straight.replace('"', " ").split())
    if '"' not in straight or not words:
        return None
    built = build_query(opened, replace(selection, words=words))
    papers = 0 if built.relaxed.wanted else _sum_statuses(built.counted)
    return Unquoted(words, papers) if papers else None


def _list_page(opened: OpenIndex, selection: Selection, built: BuiltQuery) -> list[DocAddress]:
    field, order = _choose_order(selection, built.typed)
    # A page far beyond the last one must not allocate memory for all pages before it.
    offset = min((selection.page - 1) * PAGE, opened.searcher.num_docs)
    result = opened.searcher.search(built.query, PAGE, count=False, order_by_field=field, offset=offset, order=order)
    return [address for _, address in result.hits]


def _find_lacking(opened: OpenIndex, wanted: Sequence[Word], rows: Sequence[PaperRow]) -> dict[str, list[str]]:
    """Return, for each paper, the words that it lacks among those of which one is enough."""
    ids = [row.forum_id for row in rows]
    lacking: dict[str, list[str]] = {forum_id: [] for forum_id in ids} if wanted else {}
    for forum_id in lacking:
        own = Query.term_query(opened.schema, "forum_id", forum_id, "basic")
        for word in wanted:
            both = require_all([own, word.query])
            if not opened.searcher.search(both, 1, count=False).hits:
                lacking[forum_id].append(word.written)
    return lacking


def select_rows(opened: OpenIndex, selection: Selection) -> Iterator[PaperRow]:
    """Yield every paper of a selection in its order, on all pages."""
    built = build_query(opened, selection)
    field, order = _choose_order(selection, built.typed)
    most = max(1, opened.searcher.num_docs)
    for _, address in opened.searcher.search(built.query, most, order_by_field=field, order=order).hits:
        yield read_row(opened.searcher.doc(address))


def _make_hit(
    document: tantivy.Document,
    row: PaperRow,
    finder: PassageFinder | None,
    sought: Sequence[Sought],
    without: Sequence[str],
) -> Hit:
    plain = [(replace_controls(row.title or "Untitled"), False)]
    if finder is None:
        return Hit(row, plain, [])
    title = finder.find(row.title or "", "title") if len(row.title or "") <= CHARACTERS else None
    seen = title.numbers if title else frozenset()
    shown = _choose_passages(list(_list_passages(document, finder)))
    seen = seen.union(*(passage.numbers for passage, _ in shown))
    passages = [each for _, each in shown]
    if len(passages) < _MAX_PASSAGES and (missed := finder.numbers - seen):
        of_venue = set(write_names(row.venue_id, row.conference, row.year).split())
        missed -= {each.number for each in sought if not of_venue.isdisjoint(each.parts)}
        passages += _find_in_text(document, finder, missed) if missed else ()
    return Hit(row, title.pieces if title else plain, passages, without)


FoundPassage = tuple[Passage, ShownPassage]
"""A passage as it was found, and as it is shown."""


def _list_passages(document: tantivy.Document, finder: PassageFinder) -> Iterator[FoundPassage]:
    """Yield the passages of fields, until enough of them have every word."""
    seen, count = frozenset[int](), 0
    for name in filter(finder.counts_in, (*TEXTS_OF_PAPER[1:], *TEXTS_OF_POSTS)):
        found = _find(document, finder, name)
        if found is not None:
            yield found
            seen, count = seen | found[0].numbers, count + 1
            if count >= _MAX_PASSAGES and seen == finder.numbers:
                return
    if seen != finder.numbers and (pseudonym := _find_pseudonym(document, finder)) is not None:
        yield pseudonym


def _find(document: tantivy.Document, finder: PassageFinder, name: str) -> FoundPassage | None:
    is_of_posts = name in TEXTS_OF_POSTS
    texts = list(map(str, document.get_all(name))) if is_of_posts else [str(document.get_first(name) or "")]
    passage = finder.find("\n\n".join(texts), name)
    if passage is None or not is_of_posts:
        return (passage, ShownPassage(name, passage.pieces)) if passage else None
    ends = accumulate(len(text) + 2 for text in texts)
    place = next(index for index, end in enumerate(ends) if passage.start < end)
    return passage, ShownPassage(name, passage.pieces, read_post_ids(document, name)[place] or None)


def _find_pseudonym(document: tantivy.Document, finder: PassageFinder) -> FoundPassage | None:
    """Return the pseudonym of a reviewer that the search names, if there is one."""
    for pseudonym, review_id in read_pseudonyms(document):
        numbers = finder.find_whole(list_pseudonym_words(pseudonym), REVIEWER)
        if numbers:
            pieces = [(replace_controls(pseudonym), True)]
            return Passage(pieces, 0, numbers), ShownPassage(REVIEWER, pieces, review_id)
    return None


def _choose_passages(found: Sequence[FoundPassage]) -> list[FoundPassage]:
    """Return those that have the most words that no other chosen one has; the order of the fields decides otherwise."""
    left, chosen, seen = list(found), list[FoundPassage](), frozenset[int]()
    while left and len(chosen) < _MAX_PASSAGES:
        best = max(left, key=lambda each: len(each[0].numbers - seen))
        left.remove(best)
        chosen.append(best)
        seen |= best[0].numbers
    return sorted(chosen, key=found.index)


def _find_in_text(document: tantivy.Document, finder: PassageFinder, missed: Set[int]) -> Iterator[ShownPassage]:
    """Yield the passage of the paper's own text that has words which no other passage has, if there is one."""
    text = read_text(document)
    passage = finder.only(missed).find(text, TEXT) if text else None
    if passage is not None:
        page = text.count(PAGE_BREAK, 0, passage.start) + 1
        yield ShownPassage(TEXT, passage.pieces, page=page)
