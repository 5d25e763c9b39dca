"""Find papers like a paper, and points like a point, by the rarest words that they share (TF-IDF).

tantivy chooses the words of a text that are frequent in it and rare in the index (`MoreLikeThis`), and ranks what has
them by BM25. Among few texts, every word is rare; there, those found must also share several words that matter.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from math import log2

import tantivy
from tantivy import DocAddress, Occur, Query

from peercorpus.explorer.index_documents import FIELDS_SEARCHED, TEXT, read_row
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.querying.searched_fields import (
    OpenTexts,
    SearchedFields,
    require_all,
    require_any,
    split_words,
)
from peercorpus.explorer.querying.words import filter_by
from peercorpus.explorer.search_index import OpenIndex

MAX_PAPERS = 5
"""Maximum number of papers shown as like another."""
_LEAST_SHARE = 0.12
"""Share of a text's score with itself that another text must reach to be like it."""
_MOST_CANDIDATES = 100
"""Documents that are compared, the best first."""
_FEW_PAPERS = 200
"""Few papers are fewer than this."""
_FEW_POINTS = 1_000
"""Few points are fewer than this."""
_LEAST_SHARE_OF_FEW_POINTS = 0.2
"""Share of a point's score with itself that another of few points must reach."""
_MANY_DOCUMENTS = 2
"""Documents that may have a word which matters, however few there are: two that are alike have it both."""
_LEAST_LETTERS = 4
"""Letters of a word that matters."""
_LEAST_SHARED = 2
"""Words that matter in two texts, if these are alike among few."""
_LEAST_BITS = 5.0
"""Information of the words that matter in the titles or keywords of two papers, if these are alike among few. A word
that two of 3 papers have is worth one bit, a word that two of 17 have three."""
_LEAST_SHARED_OF_POINTS = 5
"""Words that matter in two points, if these are alike among few, or all of the shorter one; and"""
_LEAST_SHARE_OF_SHORTER = 0.3
"""the share of the words of the shorter one, at least. Of the points so found in recorded reviews of 3, 10 and 30
papers, by another reviewer, 0.88, 0.8 and 0.65 were about the same paper; of all pairs 0.26, 0.07 and 0.02."""
_COUNTED = ("title", "abstract", "keywords", "reviews", "answers", TEXT)
"""Fields in which the papers with a word are counted."""
_MAX_TERMS = 25
"""Words by which texts are compared."""


class Few:
    """How texts are compared where there are few: by words that at most half of the documents have in some field."""

    def __init__(
        self, opened: OpenTexts, fields: SearchedFields, names: Sequence[str], fewer_than: int, least_share: float
    ) -> None:
        """Look at the words of an index.

        Args:
            opened: The index.
            fields: How its fields compare words.
            names: The fields in which the documents with a word are counted.
            fewer_than: Few texts are fewer than this.
            least_share: Share of a text's score with itself that another of few texts must reach.
        """
        self._searcher, self._schema = opened.searcher, opened.schema
        self._fields, self._names = fields, names
        self.is_few = opened.searcher.num_docs < fewer_than
        self.least_share = least_share if self.is_few else _LEAST_SHARE
        self._most = max(_MANY_DOCUMENTS, opened.searcher.num_docs // 2)

    def read(self, text: str) -> frozenset[str]:
        """Return the words of a text that may matter, each as it is compared."""
        words = (word for word in split_words(text) if len(word) >= _LEAST_LETTERS)
        return frozenset(self._fields.term(self._names[0], word) for word in words)

    def matter(self, words: Set[str]) -> dict[str, float]:
        """Return those words that at most half of the documents have, each with its information in bits."""
        bits = {}
        for word in words:
            either = require_any([Query.term_query(self._schema, name, word, "basic") for name in self._names])
            documents = len(self._searcher.search(either, self._most + 1, count=False).hits)
            if documents <= self._most:
                bits[word] = log2((self._searcher.num_docs + 1) / max(1, documents))
        return bits


def find_like(
    opened: OpenTexts,
    texts: Mapping[str, Sequence[str]],
    own: Query,
    filters: Sequence[Query],
    limit: int,
    few: Few,
    is_alike: Callable[[tantivy.Document], bool],
) -> list[DocAddress]:
    """Return documents like given texts, the most alike first.

    Args:
        opened: The index.
        texts: The texts by field.
        own: Query for the document of these texts, which is not returned.
        filters: Queries that every document must meet.
        limit: Maximum number of documents.
        few: How texts are compared if there are few.
        is_alike: Asked if there are few, about each document of which tantivy found that it shares words.
    """
    like = Query.more_like_this_document_fields_query(
        opened.schema,
        {name: list(values) for name, values in texts.items()},
        min_doc_frequency=2,
        min_term_frequency=1,
        max_query_terms=_MAX_TERMS,
        min_word_length=3,
    )
    itself = opened.searcher.search(require_all([like, own]), 1, count=False).hits
    least = few.least_share * itself[0][0] if itself else 0.0
    others = Query.boolean_query([(Occur.Must, filter_by(like, filters)), (Occur.MustNot, own)])
    hits = opened.searcher.search(others, _MOST_CANDIDATES if few.is_few else limit, count=False).hits
    found = [address for score, address in hits if score >= least]
    return [address for address in found if not few.is_few or is_alike(opened.searcher.doc(address))][:limit]


def points_like(
    points: OpenTexts, fields: SearchedFields, name: str, text: str, own: Query, filters: Sequence[Query], limit: int
) -> list[DocAddress]:
    """Return the points like one, whose text is in the field `name` and which the query `own` finds.

    Among few points, those that share enough words that matter.
    """
    few = Few(points, fields, (name,), _FEW_POINTS, _LEAST_SHARE_OF_FEW_POINTS)
    words = few.read(text)

    def is_alike(document: tantivy.Document) -> bool:
        other = few.read(str(document.get_first(name) or ""))
        shared, shorter = len(few.matter(words & other)), min(len(words), len(other))
        least = max(_LEAST_SHARED, min(_LEAST_SHARED_OF_POINTS, shorter), _LEAST_SHARE_OF_SHORTER * shorter)
        return shared >= least

    return find_like(points, {name: [text]}, own, filters, limit, few, is_alike)


def papers_like(opened: OpenIndex, row: PaperRow) -> list[PaperRow]:
    """Return papers whose title, abstract and keywords share the rarest words with those of a paper.

    Among few papers, words that matter must be in the title or keywords of both: all of the one with fewer, or so many
    that they are hardly there by chance.
    """
    texts = {"title": [row.title or ""], "abstract": [row.abstract or ""], "keywords": ["; ".join(row.keywords)]}
    own = Query.term_query(opened.schema, "forum_id", row.forum_id, "basic")
    held = {name: text for name, text in texts.items() if text[0]}
    few = Few(opened, FIELDS_SEARCHED, _COUNTED, _FEW_PAPERS, _LEAST_SHARE)
    subject = few.read(_write_subject(row))

    def is_alike(document: tantivy.Document) -> bool:
        other = few.read(_write_subject(read_row(document)))
        shared = few.matter(subject & other)
        is_whole = len(subject & other) == min(len(subject), len(other))
        return len(shared) >= _LEAST_SHARED and (is_whole or sum(shared.values()) >= _LEAST_BITS)

    found = find_like(opened, held, own, (), MAX_PAPERS, few, is_alike) if held else []
    return [read_row(opened.searcher.doc(address)) for address in found]


def _write_subject(row: PaperRow) -> str:
    return " ".join([row.title or "", *row.keywords])
