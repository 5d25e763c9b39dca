"""Find papers like a paper, and points like a point, by the rarest words that they share (TF-IDF).

tantivy chooses the words of a text that are frequent in it and rare in the index (`MoreLikeThis`), and ranks what has
them by BM25.
"""

from collections.abc import Mapping, Sequence

from tantivy import DocAddress, Occur, Query

from peercorpus.explorer.index_documents import read_stored
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.search_index import OpenIndex, OpenTexts

MAX_PAPERS = 5
"""Maximum number of papers shown as like another."""
_LEAST_SHARE = 0.12
"""Share of a text's score with itself that another text must reach to be like it."""
_LEAST_SHARE_OF_FEW = 0.35
"""The same among few texts, where words such as "much" and "depend" are as rare as those of a subject: of the twelve
papers of the demo, which have twelve subjects, no two share more than 0.32; of 300, those of one subject share 0.57."""
_FEW = 200
"""Few are fewer texts than this."""
_MAX_TERMS = 25
"""Words by which texts are compared."""


def find_like(
    opened: OpenTexts, texts: Mapping[str, Sequence[str]], own: Query, filters: Sequence[Query], limit: int
) -> list[DocAddress]:
    """Return documents like given texts, the most alike first.

    Args:
        opened: The index.
        texts: The texts by field.
        own: Query for the document of these texts, which is not returned.
        filters: Queries that every document must meet.
        limit: Maximum number of documents.
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
    share = _LEAST_SHARE if opened.searcher.num_docs >= _FEW else _LEAST_SHARE_OF_FEW
    least = share * itself[0][0] if itself else 0.0
    parts = [(Occur.Must, like), (Occur.MustNot, own)]
    parts += [(Occur.Must, Query.const_score_query(each, 0.0)) for each in filters]
    hits = opened.searcher.search(Query.boolean_query(parts), limit, count=False).hits
    return [address for score, address in hits if score >= least]


def papers_like(opened: OpenIndex, row: PaperRow) -> list[PaperRow]:
    """Return papers whose title, abstract and keywords share the rarest words with those of a paper."""
    texts = {"title": [row.title or ""], "abstract": [row.abstract or ""], "keywords": ["; ".join(row.keywords)]}
    own = Query.term_query(opened.schema, "forum_id", row.forum_id, "basic")
    held = {name: text for name, text in texts.items() if text[0]}
    found = find_like(opened, held, own, (), MAX_PAPERS) if held else []
    return [read_stored(opened.searcher.doc(address)).row for address in found]
