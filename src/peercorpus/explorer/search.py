"""Search the index for a selection, and mark where its words occur in the papers found."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import tantivy
from tantivy import DocAddress, FieldType, Occur, Order, Query

from peercorpus.corpus.filters import FIELDS, Condition, FieldKind, Operator
from peercorpus.explorer.index_documents import FIELDS_SEARCHED, TEXT, TEXTS, read_stored
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.querying.facets import AGGREGATIONS, Facet, make_facets
from peercorpus.explorer.querying.references import Reference, find_reference, query_of
from peercorpus.explorer.querying.spelling import suggest_words
from peercorpus.explorer.querying.words import ParsedWords, Relaxed, Word, filter_by, parse_words, relax
from peercorpus.explorer.search_index import OpenIndex, OpenTexts
from peercorpus.explorer.selection import Selection
from peercorpus.records.untrusted_text import replace_controls

PAGE = 25
"""Papers on a page."""
_SNIPPET_CHARACTERS = 220
"""Length of a passage shown."""
_MAX_PASSAGES = 2
"""Passages shown of one paper."""
_MAX_SEARCHED_CHARACTERS = 60_000
"""Length of the text in which a passage is searched if it is not found near the first match."""
_NEAR_CHARACTERS = 1_600
"""Length of the text around the first match in which a passage is searched first."""
_WORD = re.compile(r"\w+")
_ORDERS = {
    "relevance": ("discussed", Order.Desc),
    "newest": ("created", Order.Desc),
    "oldest": ("created", Order.Asc),
    "rating": ("rating_unit", Order.Desc),
    "rating-low": ("rating_unit", Order.Asc),
    "spread": ("rating_spread", Order.Desc),
    "raised": ("change_unit", Order.Desc),
    "turns": ("turns", Order.Desc),
}
_INDEX_FIELDS = {"reviews": "reviews_count", "keywords": "keyword"}
"""Columns of `corpus.filters` that have another name in the index."""

Piece = tuple[str, bool]
"""A piece of text, and whether it matches the search."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One paper found.

    Attributes:
        title: The title in pieces.
        passages: Where the words occur: the name of the field, and the passage in pieces.
        without: The words, as they were typed, that the paper lacks and another paper of the selection has.
        is_in_text: Whether the words occur in no passage that can be shown, so that they are in the paper's own text.
    """

    row: PaperRow
    title: Sequence[Piece]
    passages: Sequence[tuple[str, Sequence[Piece]]]
    without: Sequence[str] = ()
    is_in_text: bool = False


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of results.

    Attributes:
        hits: The papers of the page.
        total: Number of papers found, on all pages.
        statuses: Number of papers found by status.
        faults: Parts of the words that could not be parsed.
        facets: Number of papers found by their properties.
        missed: The words, as they were typed, that no paper of the selection has.
        is_any: Whether no paper has all words, so that those with any of them are found.
        suggested: The words in the spelling that the index has; None if they are spelt so.
        reference: The paper or post that the words name by its id or address; None if they are words.
    """

    hits: Sequence[Hit]
    total: int
    statuses: Mapping[str, int]
    faults: Sequence[str]
    facets: Sequence[Facet] = ()
    missed: Sequence[str] = ()
    is_any: bool = False
    suggested: str | None = None
    reference: Reference | None = None

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-self.total // PAGE))


def _make_condition_query(opened: OpenIndex, condition: Condition) -> Query:
    field = FIELDS[condition.name]
    column = _INDEX_FIELDS.get(field.column, field.column)
    if field.kind is FieldKind.NUMBER:
        return _make_number_query(opened, column, condition)
    equals = Query.term_query(opened.schema, column, condition.value)
    if condition.comparison is Operator.IS:
        return equals
    return Query.boolean_query([(Occur.Must, Query.exists_query(column)), (Occur.MustNot, equals)])


def _make_number_query(opened: OpenIndex, column: str, condition: Condition) -> Query:
    value = float(condition.value)
    comparison = condition.comparison
    if comparison is Operator.IS_NOT:
        equals = Query.range_query(opened.schema, column, FieldType.Float, value, value)
        return Query.boolean_query([(Occur.Must, Query.exists_query(column)), (Occur.MustNot, equals)])
    low = value if comparison in {Operator.IS, Operator.AT_LEAST, Operator.MORE} else None
    high = value if comparison in {Operator.IS, Operator.AT_MOST, Operator.LESS} else None
    return Query.range_query(
        opened.schema,
        column,
        FieldType.Float,
        low,
        high,
        include_lower=comparison is not Operator.MORE,
        include_upper=comparison is not Operator.LESS,
    )


def _group_conditions(conditions: Iterable[Condition]) -> Iterator[list[Condition]]:
    """Yield groups of alternative conditions, all of which must hold, as `corpus.filters` defines them."""

    def key(condition: Condition) -> str:
        return condition.name if condition.comparison is Operator.IS else str(condition)

    for _, group in groupby(sorted(conditions, key=key), key):
        yield list(group)


@dataclass(frozen=True, slots=True)
class BuiltQuery:
    """The query of a selection.

    Attributes:
        query: What finds its papers.
        counted: Their numbers by `AGGREGATIONS`.
        words: What finds the words alone; None if there are none to find.
        parsed: The words, read.
        relaxed: What is searched for of them.
        reference: The paper or post that the words name by its id or address; None if they are words.
    """

    query: Query
    counted: Mapping[str, Any]
    words: Query | None
    parsed: ParsedWords
    relaxed: Relaxed
    reference: Reference | None = None


def build_query(opened: OpenIndex, selection: Selection) -> BuiltQuery:
    """Return the query of a selection; one of which a part could not be read selects nothing."""
    reference = find_reference(opened, selection.words) if selection.words else None
    if reference is not None:
        parsed = ParsedWords(query_of(opened, reference))
    else:
        parsed = parse_words(opened, selection.words, FIELDS_SEARCHED)
    if selection.faults:
        nothing = Query.empty_query()
        return BuiltQuery(nothing, _count(opened, nothing), None, parsed, Relaxed(parsed.query), reference)
    filters = list(_list_filters(opened, selection))
    relaxed, query = Relaxed(parsed.query), filter_by(parsed.query, filters)
    counted = _count(opened, query)
    if parsed.words and not _sum_statuses(counted):
        relaxed = relax(opened, parsed, filters)
        query = filter_by(relaxed.query, filters)
        counted = _count(opened, query)
    marked = relaxed.query if selection.words and reference is None else None
    return BuiltQuery(query, counted, marked, parsed, relaxed, reference)


def _count(opened: OpenIndex, query: Query) -> Mapping[str, Any]:
    counted: Mapping[str, Any] = opened.searcher.aggregate(query, dict(AGGREGATIONS))
    return counted


def _sum_statuses(counted: Mapping[str, Any]) -> int:
    """Return the number of papers counted: each has one status."""
    return sum(bucket["doc_count"] for bucket in counted["status"]["buckets"])


def _list_filters(opened: OpenIndex, selection: Selection) -> Iterator[Query]:
    for group in _group_conditions(selection.conditions):
        queries = [_make_condition_query(opened, condition) for condition in group]
        yield queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])


def _choose_order(selection: Selection) -> tuple[str | None, Order]:
    if selection.sort == "relevance" and selection.words:
        return None, Order.Desc
    return _ORDERS[selection.sort]


def search(opened: OpenIndex, selection: Selection) -> SearchPage:
    """Return one page of the papers of a selection."""
    built = build_query(opened, selection)
    counted = built.counted
    statuses = {bucket["key"]: bucket["doc_count"] for bucket in counted["status"]["buckets"]}
    documents = [opened.searcher.doc(address) for address in _list_page(opened, selection, built.query)]
    rows = [read_stored(document).row for document in documents]
    lacking = _find_lacking(opened, built.relaxed.wanted, rows)
    marker = HitFinder(opened, built.words, selection.words) if built.words is not None else None
    return SearchPage(
        hits=[
            _make_hit(opened, built.parsed.words, document, row, marker, lacking.get(row.forum_id, ()))
            for document, row in zip(documents, rows, strict=True)
        ],
        total=_sum_statuses(counted),
        statuses=statuses,
        faults=built.parsed.faults,
        facets=make_facets(counted, selection, opened.venues),
        missed=built.relaxed.missed,
        is_any=bool(built.relaxed.wanted),
        suggested=suggest_words(opened, built.parsed.words),
        reference=built.reference,
    )


def _list_page(opened: OpenIndex, selection: Selection, query: Query) -> list[DocAddress]:
    field, order = _choose_order(selection)
    # A page far beyond the last one must not allocate memory for all pages before it.
    offset = min((selection.page - 1) * PAGE, opened.searcher.num_docs)
    result = opened.searcher.search(query, PAGE, count=False, order_by_field=field, offset=offset, order=order)
    return [address for _, address in result.hits]


def _find_lacking(opened: OpenIndex, wanted: Sequence[Word], rows: Sequence[PaperRow]) -> dict[str, list[str]]:
    """Return for each paper the words that it lacks, of those of which it is enough to have one."""
    ids = [row.forum_id for row in rows]
    lacking: dict[str, list[str]] = {forum_id: [] for forum_id in ids} if wanted else {}
    for forum_id in lacking:
        own = Query.term_query(opened.schema, "forum_id", forum_id, "basic")
        for word in wanted:
            both = Query.boolean_query([(Occur.Must, own), (Occur.Must, word.query)])
            if not opened.searcher.search(both, 1, count=False).hits:
                lacking[forum_id].append(word.written)
    return lacking


def select_rows(opened: OpenIndex, selection: Selection) -> Iterator[PaperRow]:
    """Yield every paper of a selection in its order, on all pages."""
    query = build_query(opened, selection).query
    field, order = _choose_order(selection)
    most = max(1, opened.searcher.num_docs)
    for _, address in opened.searcher.search(query, most, order_by_field=field, order=order).hits:
        yield read_stored(opened.searcher.doc(address)).row


class HitFinder:
    """Finds the passages of a document in which the words of a search occur."""

    def __init__(
        self,
        opened: OpenTexts,
        query: Query,
        words: str,
        names: Sequence[str] = TEXTS,
        characters: int = _SNIPPET_CHARACTERS,
    ) -> None:
        """Find passages for one search.

        Args:
            opened: The index.
            query: What the words ask for.
            words: What is searched for.
            names: The fields of which passages are shown.
            characters: Length of a passage.
        """
        self._roots = [word[: max(3, len(word) - 3)] for word in _WORD.findall(words.lower())]
        self._makers: dict[str, tantivy.SnippetGenerator] = {}
        for name in names:
            maker = tantivy.SnippetGenerator.create(opened.searcher, query, opened.schema, name)
            maker.set_max_num_chars(characters)
            self._makers[name] = maker

    def passage(self, document: tantivy.Document, name: str) -> list[Piece]:
        """Return the best passage of a field in pieces, or an empty list if no word occurs in it."""
        text = str(document.get_first(name) or "")
        near = self._cut_near(text)
        best = self._find_best(near, name)
        if near and not best and near != text:
            return self._find_best(text[:_MAX_SEARCHED_CHARACTERS], name)
        return best

    def _cut_near(self, text: str) -> str:
        """Return the text around the first word that begins like one of the search, or "" if there is none.

        Searching a whole long text for the best passage would be slow.
        """
        if len(text) <= _NEAR_CHARACTERS:
            return text
        lowered = text.lower()
        first = min((index for root in self._roots if (index := lowered.find(root)) >= 0), default=-1)
        start = text.find(" ", max(0, first - _NEAR_CHARACTERS // 4)) if first > _NEAR_CHARACTERS // 4 else 0
        return text[start : start + _NEAR_CHARACTERS] if first >= 0 else ""

    def _find_best(self, text: str, name: str) -> list[Piece]:
        if not text:
            return []
        snippet = self._makers[name].snippet_from_doc(tantivy.Document(**{name: [text]}))
        return pieces(snippet.fragment(), [(marked.start, marked.end) for marked in snippet.highlighted()])


def pieces(text: str, marked: Sequence[tuple[int, int]]) -> list[Piece]:
    """Cut a text at the marked ranges (byte offsets in UTF-8); return an empty list if nothing is marked.

    >>> pieces("a réseau b", [(2, 9)])
    [('a ', False), ('réseau', True), (' b', False)]
    """
    raw = text.encode()
    cut: list[Piece] = []
    position = 0
    for start, end in _merge(marked):
        cut += [(raw[position:start].decode(errors="replace"), False), (raw[start:end].decode(errors="replace"), True)]
        position = end
    cut.append((raw[position:].decode(errors="replace"), False))
    return [(replace_controls(piece), is_marked) for piece, is_marked in cut if piece] if marked else []


def _merge(marked: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges in order, with overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(marked):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _is_in_text(opened: OpenIndex, words: Sequence[Word], row: PaperRow) -> bool:
    """Return whether one of the words is in the paper's own text."""
    terms = {FIELDS_SEARCHED.term(TEXT, part) for word in words for part in word.parts}
    if not terms or row.text_sha256 is None:
        return False
    own = Query.term_query(opened.schema, "forum_id", row.forum_id, "basic")
    among = Query.boolean_query([(Occur.Should, Query.term_query(opened.schema, TEXT, term, "freq")) for term in terms])
    return bool(opened.searcher.search(Query.boolean_query([(Occur.Must, own), (Occur.Must, among)]), 1).hits)


def _make_hit(
    opened: OpenIndex,
    words: Sequence[Word],
    document: tantivy.Document,
    row: PaperRow,
    marker: HitFinder | None,
    without: Sequence[str],
) -> Hit:
    plain = [(replace_controls(row.title or "Untitled"), False)]
    if marker is None:
        return Hit(row, plain, [])
    title = marker.passage(document, "title") if len(row.title or "") <= _SNIPPET_CHARACTERS else []
    passages = ((name, passage) for name in TEXTS[1:] if (passage := marker.passage(document, name)))
    shown = list(islice(passages, _MAX_PASSAGES))
    is_in_text = not title and not shown and _is_in_text(opened, words, row)
    return Hit(row, title or plain, shown, without, is_in_text)
