"""A selection → the papers of one page, with the words found marked, or all of them one after another."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

import tantivy
from tantivy import FieldType, Occur, Order, Query

from peercorpus.explorer.legible import legible
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.search_index import TEXTS, OpenIndex, read_stored
from peercorpus.explorer.selection import Selection
from peercorpus.kinds import Status
from peercorpus.where import FIELDS, Comparison, Condition, FieldKind

PAGE = 25
"""Papers on a page."""
SNIPPET = 220
"""Characters of a passage shown."""
MOST_PASSAGES = 2
"""Passages shown of one paper."""
LONGEST_SEARCHED = 60_000
"""Characters of a text in which the passage to show is looked for, where it is not found at once."""
NEAR = 1_600
"""Characters in which it is looked for first."""
WORD = re.compile(r"\w+")
BOOSTS = {"title": 4.0, "abstract": 2.0}
"""A word in the title counts as four in a review."""
ORDERS = {
    "newest": ("created", Order.Desc),
    "oldest": ("created", Order.Asc),
    "rating": ("rating_unit", Order.Desc),
    "rating-low": ("rating_unit", Order.Asc),
    "spread": ("rating_spread", Order.Desc),
    "turns": ("turns", Order.Desc),
}
COLUMNS = {"reviews": "reviews_count"}
"""Where a field of `where` has another name in the index."""

Piece = tuple[str, bool]
"""A piece of text, and whether it is what was searched for."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One paper found.

    Attributes:
        title: In pieces.
        passages: Where the words stand: the field's name and the passage in pieces.
    """

    row: PaperRow
    title: Sequence[Piece]
    passages: Sequence[tuple[str, Sequence[Piece]]]


@dataclass(frozen=True, slots=True)
class Found:
    """One page of what was found.

    Attributes:
        total: Papers found, on all pages.
        statuses: How many of them have each status.
        faults: What of the words could not be understood.
    """

    hits: Sequence[Hit]
    total: int
    statuses: Mapping[str, int]
    faults: Sequence[str]

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, -(-self.total // PAGE))


def _words(opened: OpenIndex, words: str) -> tuple[Query, Sequence[str]]:
    """What is searched for, read leniently: what cannot be understood is told of, and asks for nothing."""
    if not words:
        return Query.all_query(), []
    query, errors = opened.index.parse_query_lenient(words, list(TEXTS), BOOSTS, conjunction_by_default=True)
    said = [str(error) for error in errors]
    if any("Only excluding" in error for error in said):
        query, errors = opened.index.parse_query_lenient(f"* {words}", list(TEXTS), BOOSTS, conjunction_by_default=True)
        said = [str(error) for error in errors]
    if ":" in words and "*" in words and not _can_be_asked(opened, query):
        return Query.all_query(), [f"'{words}' asks whether a field is there, which only some can be asked for."]
    return query, said[:3]


def _can_be_asked(opened: OpenIndex, query: Query) -> bool:
    """Whether the index can answer; `title:*` is read, and refused only when it is searched for."""
    try:
        opened.searcher.search(query, 1, count=False)
    except ValueError:
        return False
    return True


def _condition(opened: OpenIndex, condition: Condition) -> Query:
    field = FIELDS[condition.name]
    column = COLUMNS.get(field.column, field.column)
    if field.kind is FieldKind.NUMBER:
        return _number(opened, column, condition)
    is_it = Query.term_query(opened.schema, column, condition.value)
    if condition.comparison is Comparison.IS:
        return is_it
    return Query.boolean_query([(Occur.Must, Query.exists_query(column)), (Occur.MustNot, is_it)])


def _number(opened: OpenIndex, column: str, condition: Condition) -> Query:
    value, comparison = float(condition.value), condition.comparison
    if comparison is Comparison.IS_NOT:
        is_it = Query.range_query(opened.schema, column, FieldType.Float, value, value)
        return Query.boolean_query([(Occur.Must, Query.exists_query(column)), (Occur.MustNot, is_it)])
    low = value if comparison in {Comparison.IS, Comparison.AT_LEAST, Comparison.MORE} else None
    high = value if comparison in {Comparison.IS, Comparison.AT_MOST, Comparison.LESS} else None
    return Query.range_query(
        opened.schema,
        column,
        FieldType.Float,
        low,
        high,
        include_lower=comparison is not Comparison.MORE,
        include_upper=comparison is not Comparison.LESS,
    )


def _groups(conditions: Iterable[Condition]) -> Iterator[list[Condition]]:
    """Groups all of which must hold, each if any of its conditions does, as `where` says."""

    def key(one: Condition) -> str:
        return one.name if one.comparison is Comparison.IS else str(one)

    for _, group in groupby(sorted(conditions, key=key), key):
        yield list(group)


def query_of(opened: OpenIndex, selection: Selection) -> tuple[Query, Query, Sequence[str]]:
    """All that is asked for; the words alone; what of them could not be understood."""
    words, faults = _words(opened, selection.words)
    parts = [words]
    for group in _groups(selection.conditions):
        queries = [_condition(opened, condition) for condition in group]
        anyone = queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, one) for one in queries])
        parts.append(Query.const_score_query(anyone, 0.0))
    whole = words if len(parts) == 1 else Query.boolean_query([(Occur.Must, part) for part in parts])
    return whole, words, faults


def _order(selection: Selection) -> tuple[str | None, Order]:
    if selection.sort == "relevance":
        return (None, Order.Desc) if selection.words else ORDERS["newest"]
    return ORDERS[selection.sort]


def search(opened: OpenIndex, selection: Selection) -> Found:
    """The papers of one page of a selection."""
    query, words, faults = query_of(opened, selection)
    field, order = _order(selection)
    # Whoever asks for the millionth page gets the last one, and no memory for all before it.
    offset = min((selection.page - 1) * PAGE, opened.searcher.num_docs)
    result = opened.searcher.search(query, PAGE, count=False, order_by_field=field, offset=offset, order=order)
    terms = {"statuses": {"terms": {"field": "status", "size": len(Status)}}}
    buckets = opened.searcher.aggregate(query, terms)["statuses"]["buckets"]
    statuses = {one["key"]: one["doc_count"] for one in buckets}
    marker = Marker(opened, words, selection.words) if selection.words else None
    hits = [_hit(opened.searcher.doc(address), marker) for _, address in result.hits]
    return Found(hits, sum(statuses.values()), statuses, faults)


def rows_of(opened: OpenIndex, selection: Selection) -> Iterator[PaperRow]:
    """Every paper of a selection, in its order, whatever its page."""
    query, _, _ = query_of(opened, selection)
    field, order = _order(selection)
    most = max(1, opened.searcher.num_docs)
    for _, address in opened.searcher.search(query, most, order_by_field=field, order=order).hits:
        yield read_stored(opened.searcher.doc(address)).row


class Marker:
    """Finds the passage of a text in which the words stand."""

    def __init__(self, opened: OpenIndex, query: Query, words: str) -> None:
        self._roots = [word[: max(3, len(word) - 3)] for word in WORD.findall(words.lower())]
        self._makers: dict[str, tantivy.SnippetGenerator] = {}
        for name in TEXTS:
            maker = tantivy.SnippetGenerator.create(opened.searcher, query, opened.schema, name)
            maker.set_max_num_chars(SNIPPET)
            self._makers[name] = maker

    def passage(self, document: tantivy.Document, name: str) -> list[Piece]:
        """The best passage of a field in pieces; none where no word stands in it."""
        text = str(document.get_first(name) or "")
        near = self._near(text)
        found = self._best(near, name)
        return self._best(text[:LONGEST_SEARCHED], name) if near and not found and near != text else found

    def _near(self, text: str) -> str:
        """What stands around the first word that begins like one searched for; empty where none does.

        To look through the whole of a long text takes long.
        """
        if len(text) <= NEAR:
            return text
        lowered = text.lower()
        first = min((at for root in self._roots if (at := lowered.find(root)) >= 0), default=-1)
        start = text.find(" ", max(0, first - NEAR // 4)) if first > NEAR // 4 else 0
        return text[start : start + NEAR] if first >= 0 else ""

    def _best(self, text: str, name: str) -> list[Piece]:
        if not text:
            return []
        snippet = self._makers[name].snippet_from_doc(tantivy.Document(**{name: [text]}))
        return pieces(snippet.fragment(), [(one.start, one.end) for one in snippet.highlighted()])


def pieces(text: str, marked: Sequence[tuple[int, int]]) -> list[Piece]:
    """A text cut at what is marked, given in bytes of its UTF-8; none where nothing is.

    >>> pieces("a réseau b", [(2, 9)])
    [('a ', False), ('réseau', True), (' b', False)]
    """
    raw, cut, at = text.encode(), list[Piece](), 0
    for start, end in _joined(marked):
        cut += [(raw[at:start].decode(errors="replace"), False), (raw[start:end].decode(errors="replace"), True)]
        at = end
    cut.append((raw[at:].decode(errors="replace"), False))
    return [(legible(piece), is_marked) for piece, is_marked in cut if piece] if marked else []


def _joined(marked: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that overlap as one."""
    done: list[tuple[int, int]] = []
    for start, end in sorted(marked):
        if done and start < done[-1][1]:
            done[-1] = done[-1][0], max(done[-1][1], end)
        else:
            done.append((start, end))
    return done


def _hit(document: tantivy.Document, marker: Marker | None) -> Hit:
    row = read_stored(document).row
    plain = [(legible(row.title or "Untitled"), False)]
    if marker is None:
        return Hit(row, plain, [])
    title = marker.passage(document, "title") if len(row.title or "") <= SNIPPET else []
    passages = ((name, passage) for name in TEXTS[1:] if (passage := marker.passage(document, name)))
    return Hit(row, title or plain, list(islice(passages, MOST_PASSAGES)))
