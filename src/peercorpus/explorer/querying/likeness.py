"""Find papers like a paper, and points like a point, by the rarest words that they share (TF-IDF).

tantivy chooses the words of a text that are frequent in it and rare in the index (`MoreLikeThis`), and ranks what has
them by BM25. Among few texts, every word is rare; there, those found must also share several words that matter.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import log2

import tantivy
from tantivy import DocAddress, Occur, Query

from peercorpus.explorer.index_documents import FIELDS_SEARCHED, TEXT, read_stored
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.querying.searched_fields import OpenTexts, SearchedFields, split_words
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


@dataclass(frozen=True, slots=True)
class FewRule:
    """What decides which texts are alike if there are few.

    Attributes:
        fewer_than: Few texts are fewer than this.
        share: Share of a text's score with itself that another text must reach.
        is_alike: Whether a document is like the given texts, of which tantivy found that they share words.
    """

    fewer_than: int
    share: float
    is_alike: Callable[[tantivy.Document], bool]


def find_like(
    opened: OpenTexts,
    texts: Mapping[str, Sequence[str]],
    own: Query,
    filters: Sequence[Query],
    limit: int,
    rule: FewRule,
) -> list[DocAddress]:
    """Return documents like given texts, the most alike first.

    Args:
        opened: The index.
        texts: The texts by field.
        own: Query for the document of these texts, which is not returned.
        filters: Queries that every document must meet.
        limit: Maximum number of documents.
        rule: What decides among few documents.
    """
    like = Query.more_like_this_document_fields_query(
        opened.schema,
        {name: list(values) for name, values in texts.items()},
        min_doc_frequency=2,
        min_term_frequency=1,
        max_query_terms=_MAX_TERMS,
        min_word_length=3,
    )
    itself = opened.searcher.search(Query.boolean_query([(Occur.Must, like), (Occur.Must, own)]), 1, count=False).hits
    is_few = opened.searcher.num_docs < rule.fewer_than
    least = (rule.share if is_few else _LEAST_SHARE) * itself[0][0] if itself else 0.0
    parts = [(Occur.Must, like), (Occur.MustNot, own)]
    parts += [(Occur.Must, Query.const_score_query(each, 0.0)) for each in filters]
    hits = opened.searcher.search(Query.boolean_query(parts), _MOST_CANDIDATES if is_few else limit, count=False).hits
    found = [address for score, address in hits if score >= least]
    if is_few:
        found = [address for address in found if rule.is_alike(opened.searcher.doc(address))]
    return found[:limit]


class FewWords:
    """Finds the words that matter among few texts: those that at most half of the documents have in some field."""

    def __init__(self, opened: OpenTexts, fields: SearchedFields, names: Sequence[str]) -> None:
        """Look at the words of an index.

        Args:
            opened: The index.
            fields: How its fields compare words.
            names: The fields in which the documents with a word are counted.
        """
        self._opened = opened
        self._fields = fields
        self._names = names
        self._most = max(_MANY_DOCUMENTS, opened.searcher.num_docs // 2)

    def read(self, text: str) -> frozenset[str]:
        """Return the words of a text that may matter, each as it is compared."""
        words = (word for word in split_words(text) if len(word) >= _LEAST_LETTERS)
        return frozenset(self._fields.term(self._names[0], word) for word in words)

    def matter(self, words: Set[str]) -> dict[str, float]:
        """Return those words that at most half of the documents have, each with its information in bits."""
        counts = {word: max(1, self._count(word)) for word in words}
        all_documents = self._opened.searcher.num_docs + 1
        return {word: log2(all_documents / count) for word, count in counts.items() if count <= self._most}

    def _count(self, word: str) -> int:
        """Return the number of documents with a word; those beyond what matters are not counted."""
        terms = [Query.term_query(self._opened.schema, name, word, "basic") for name in self._names]
        either = Query.boolean_query([(Occur.Should, term) for term in terms])
        return len(self._opened.searcher.search(either, self._most + 1, count=False).hits)


def make_rule_of_points(points: OpenTexts, fields: SearchedFields, name: str, text: str) -> FewRule:
    """Return what decides which points are alike among few: they share enough words that matter.

    Args:
        points: The index of points.
        fields: How it compares words.
        name: The field of their texts.
        text: The text of one.
    """
    words = FewWords(points, fields, (name,))
    own = words.read(text)

    def is_alike(document: tantivy.Document) -> bool:
        other = words.read(str(document.get_first(name) or ""))
        shared, shorter = len(words.matter(own & other)), min(len(own), len(other))
        least = max(_LEAST_SHARED, min(_LEAST_SHARED_OF_POINTS, shorter), _LEAST_SHARE_OF_SHORTER * shorter)
        return shared >= least

    return FewRule(_FEW_POINTS, _LEAST_SHARE_OF_FEW_POINTS, is_alike)


def papers_like(opened: OpenIndex, row: PaperRow) -> list[PaperRow]:
    """Return papers whose title, abstract and keywords share the rarest words with those of a paper.

    Among few papers, words that matter must be in the title or keywords of both: all of the one with fewer, or so many
    that they are hardly there by chance.
    """
    texts = {"title": [row.title or ""], "abstract": [row.abstract or ""], "keywords": ["; ".join(row.keywords)]}
    own = Query.term_query(opened.schema, "forum_id", row.forum_id, "basic")
    held = {name: text for name, text in texts.items() if text[0]}
    words = FewWords(opened, FIELDS_SEARCHED, _COUNTED)
    subject = words.read(_write_subject(row))

    def is_alike(document: tantivy.Document) -> bool:
        other = words.read(_write_subject(read_stored(document).row))
        shared = words.matter(subject & other)
        is_whole = len(subject & other) == min(len(subject), len(other))
        return len(shared) >= _LEAST_SHARED and (is_whole or sum(shared.values()) >= _LEAST_BITS)

    rule = FewRule(_FEW_PAPERS, _LEAST_SHARE, is_alike)
    found = find_like(opened, held, own, (), MAX_PAPERS, rule) if held else []
    return [read_stored(opened.searcher.doc(address)).row for address in found]


def _write_subject(row: PaperRow) -> str:
    return " ".join([row.title or "", *row.keywords])
