"""Submissions that are one work, as far as a release holds them: their links, and the tries of each work."""

import hashlib
from collections import Counter

from peercorpus.kinds import LinkKind
from peercorpus.publish.record_rows import as_row
from peercorpus.publish.rows import ForumRows
from peercorpus.publish.shards import Writers
from peercorpus.tables import Tables
from peercorpus.works import Try, a_try, numbered, read_links, works_of

DIGEST_BYTES = 16


class Linked:
    """The links of a workspace, and what a release has of them.

    Attributes:
        kinds: Links written, by kind.
        left_out: Links of which the release lacks a paper.
    """

    def __init__(self, tables: Tables) -> None:
        self._links = read_links(tables)
        self._pairs = [(link.earlier_id, link.forum_id) for link in self._links]
        self._works = works_of(self._pairs)
        self._texts: dict[bytes, str] = {}
        self.kinds = Counter[LinkKind]()
        self.left_out = 0
        self._here: dict[str, tuple[str, Try]] = {}

    def meet(self, split: str, rows: ForumRows) -> None:
        """Take note of a paper that the release holds, and of its public ratings."""
        self._read(rows.paper["forum_id"], rows.paper["markdown"])
        if rows.paper["forum_id"] in self._works:
            ratings = [(review["rating"], review["rating_unified"]) for review in rows.reviews]
            self._here[rows.paper["forum_id"]] = split, a_try(rows.paper, ratings)

    def _read(self, forum_id: str, markdown: str) -> None:
        if markdown:
            digest = hashlib.blake2b(markdown.encode(), digest_size=DIGEST_BYTES).digest()
            self._pairs.append((self._texts.setdefault(digest, forum_id), forum_id))

    def groups(self) -> dict[str, str]:
        """The work of every paper that must come on one side with others, by forum id.

        Linked submissions are of one work, and so are papers with the very same text, whatever their titles say.
        Submissions that the release does not hold join others too. The id of a work may be that of one which was taken
        down: it is never published.
        """
        return works_of(pair for pair in self._pairs if pair[0] != pair[1])

    def write(self, writers: Writers) -> None:
        """Write the configurations `links` and `tries`, of papers that were met alone."""
        tries = numbered((one for _, one in self._here.values()), self._works)
        works = {one.forum_id: one.work_id for one in tries}
        for link in self._links:
            if link.forum_id not in works or link.earlier_id not in works:
                self.left_out += 1
                continue
            split, later = self._here[link.forum_id]
            known = {"conference": later.conference, "year": later.year, "work_id": works[link.forum_id]}
            writers.add("links", split, as_row(link) | known)
            self.kinds[link.kind] += 1
        for one in tries:
            writers.add("tries", self._here[one.forum_id][0], as_row(one))
