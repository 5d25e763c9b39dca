"""Search the index for a selection, and mark where its words occur in the papers found."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from types import MappingProxyType

import tantivy
from tantivy import FieldType, Occur, Order, Query

from peercorpus.corpus.filters import FIELDS, Condition, FieldKind, Operator
from peercorpus.explorer.index_documents import TEXTS, read_stored
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.search_index import OpenIndex, OpenTexts
from peercorpus.explorer.selection import Selection
from peercorpus.records.enums import Status
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
NO_BOOSTS: Mapping[str, float] = MappingProxyType({})
_BOOSTS = {"title": 4.0, "abstract": 2.0}
"""Weights of the fields; a word in the title counts as much as four in a review."""
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
_INDEX_FIELDS = {"reviews": "reviews_count"}
"""Columns of `corpus.filters` that have another name in the index."""

Piece = tuple[str, bool]
"""A piece of text, and whether it matches the search."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One paper found.

    Attributes:
        title: The title in pieces.
        passages: Where the words occur: the name of the field, and the passage in pieces.
    """

    row: PaperRow
    title: Sequence[Piece]
    passages: Sequence[tuple[str, Sequence[Piece]]]


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of results.

    Attributes:
        hits: The papers of the page.
        total: Number of papers found, on all pages.
        statuses: Number of papers found by status.
        faults: Parts of the words that could not be parsed.
    """

    hits: Sequence[Hit]
    total: int
    statuses: Mapping[str, int]
    faults: Sequence[str]

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-self.total // PAGE))


def parse_words(
    opened: OpenTexts, words: str, names: Sequence[str], boosts: Mapping[str, float] = NO_BOOSTS
) -> tuple[Query, Sequence[str]]:
    """Parse the words leniently; return the query, and the parts that could not be parsed and were left out.

    Args:
        opened: The index.
        words: What to search for.
        names: The fields that are searched if the words name none.
        boosts: Weights of fields; others weigh 1.
    """
    if not words:
        return Query.all_query(), []
    query, errors = opened.index.parse_query_lenient(words, list(names), dict(boosts), conjunction_by_default=True)
    faults = [str(error) for error in errors]
    if any("Only excluding" in error for error in faults):
        query, errors = opened.index.parse_query_lenient(
            f"* {words}", list(names), dict(boosts), conjunction_by_default=True
        )
        faults = [str(error) for error in errors]
    if ":" in words and "*" in words and not _is_supported(opened, query):
        return Query.all_query(), [
            f"'{words}' asks whether a field has a value, which the index supports for some fields only."
        ]
    return query, faults[:3]


def _is_supported(opened: OpenTexts, query: Query) -> bool:
    """Return whether the index can run a query; `title:*` can be parsed, but fails when it is run."""
    try:
        opened.searcher.search(query, 1, count=False)
    except ValueError:
        return False
    return True


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


def build_query(opened: OpenIndex, selection: Selection) -> tuple[Query, Query, Sequence[str]]:
    """Return the query of a selection, the query of its words only, and the parts that could not be parsed.

    A selection of which a part could not be read selects nothing.
    """
    words, faults = parse_words(opened, selection.words, TEXTS, _BOOSTS)
    if selection.faults:
        return Query.empty_query(), words, faults
    parts = [words]
    for group in _group_conditions(selection.conditions):
        queries = [_make_condition_query(opened, condition) for condition in group]
        either = queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])
        parts.append(Query.const_score_query(either, 0.0))
    every_part = words if len(parts) == 1 else Query.boolean_query([(Occur.Must, part) for part in parts])
    return every_part, words, faults


def _choose_order(selection: Selection) -> tuple[str | None, Order]:
    if selection.sort == "relevance" and selection.words:
        return None, Order.Desc
    return _ORDERS[selection.sort]


def search(opened: OpenIndex, selection: Selection) -> SearchPage:
    """Return one page of the papers of a selection."""
    query, words, faults = build_query(opened, selection)
    field, order = _choose_order(selection)
    # A page far beyond the last one must not allocate memory for all pages before it.
    offset = min((selection.page - 1) * PAGE, opened.searcher.num_docs)
    result = opened.searcher.search(query, PAGE, count=False, order_by_field=field, offset=offset, order=order)
    terms = {"statuses": {"terms": {"field": "status", "size": len(Status)}}}
    buckets = opened.searcher.aggregate(query, terms)["statuses"]["buckets"]
    statuses = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
    marker = HitFinder(opened, words, selection.words) if selection.words else None
    hits = [_make_hit(opened.searcher.doc(address), marker) for _, address in result.hits]
    return SearchPage(hits=hits, total=sum(statuses.values()), statuses=statuses, faults=faults)


def select_rows(opened: OpenIndex, selection: Selection) -> Iterator[PaperRow]:
    """Yield every paper of a selection in its order, on all pages."""
    query, _, _ = build_query(opened, selection)
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


def _make_hit(document: tantivy.Document, marker: HitFinder | None) -> Hit:
    row = read_stored(document).row
    plain = [(replace_controls(row.title or "Untitled"), False)]
    if marker is None:
        return Hit(row, plain, [])
    title = marker.passage(document, "title") if len(row.title or "") <= _SNIPPET_CHARACTERS else []
    passages = ((name, passage) for name in TEXTS[1:] if (passage := marker.passage(document, name)))
    return Hit(row, title or plain, list(islice(passages, _MAX_PASSAGES)))
