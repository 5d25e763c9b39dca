"""Find papers of a release that belong to one work, and write the configurations `links` and `tries`."""

import hashlib
from collections import Counter
from collections.abc import Iterable

import msgspec

from peercorpus.corpus.resubmissions import Attempt, group_into_works, make_attempt, number_attempts, read_links
from peercorpus.records.enums import LinkKind
from peercorpus.release.record_rows import as_row
from peercorpus.release.rows import ForumRows
from peercorpus.release.shards import Writers
from peercorpus.workspace.delta_tables import Tables

DIGEST_BYTES = 16


class MetPaper(msgspec.Struct, frozen=True, array_like=True):
    """The data on a published paper that links need.

    Attributes:
        split: The split of its rows.
        texts: Digests of its texts, each once.
        submission: The paper as the only submission of its work, with its public ratings.
    """

    forum_id: str
    split: str
    texts: tuple[bytes, ...]
    submission: Attempt


def meet_paper(split: str, rows: ForumRows) -> MetPaper:
    """Return the data on a paper that links need, from its rows."""
    texts = [rows.paper["markdown"], *(text["markdown"] for text in rows.texts)]
    digests = [
        hashlib.blake2b(markdown.encode(), digest_size=DIGEST_BYTES).digest()
        for markdown in dict.fromkeys(filter(None, texts))
    ]
    ratings = [(review["rating"], review["rating_unified"]) for review in rows.reviews]
    return MetPaper(rows.paper["forum_id"], split, tuple(digests), make_attempt(rows.paper, ratings))


class WorkLinks:
    """The links of a workspace, and those within a release.

    Attributes:
        kinds: Number of links written, by kind.
        left_out: Number of links with a paper that is missing from the release.
    """

    def __init__(self, tables: Tables) -> None:
        self._links = read_links(tables)
        self._pairs = [(link.earlier_id, link.forum_id) for link in self._links]
        self._works = group_into_works(self._pairs)
        self._texts: dict[bytes, str] = {}
        self.kinds = Counter[LinkKind]()
        self.left_out = 0
        self._here: dict[str, tuple[str, Attempt]] = {}

    def meet(self, papers: Iterable[MetPaper]) -> None:
        """Record papers of the release."""
        for paper in papers:
            for digest in paper.texts:
                first_id = self._texts.setdefault(digest, paper.forum_id)
                if first_id != paper.forum_id:
                    self._pairs.append((first_id, paper.forum_id))
            if paper.forum_id in self._works:
                self._here[paper.forum_id] = paper.split, paper.submission

    def groups(self) -> dict[str, str]:
        """The work of every paper that must share a split with others, by forum id.

        Linked submissions belong to one work, and so do papers with an identical text in any version, whatever their
        titles. Submissions outside the release connect others too. The id of a work may be that of a submission that
        was taken down; it is never published.
        """
        return group_into_works(pair for pair in self._pairs if pair[0] != pair[1])

    def write(self, writers: Writers) -> None:
        """Write the configurations `links` and `tries`, restricted to papers of the release."""
        attempts = number_attempts((attempt for _, attempt in self._here.values()), self._works)
        works = {attempt.forum_id: attempt.work_id for attempt in attempts}
        for link in self._links:
            if link.forum_id not in works or link.earlier_id not in works:
                self.left_out += 1
                continue
            split, later = self._here[link.forum_id]
            work_columns = {"conference": later.conference, "year": later.year, "work_id": works[link.forum_id]}
            writers.add("links", split, as_row(link) | work_columns)
            self.kinds[link.kind] += 1
        for attempt in attempts:
            writers.add("tries", self._here[attempt.forum_id][0], as_row(attempt))
