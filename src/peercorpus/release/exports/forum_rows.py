"""Read configurations of a release paper by paper, in parallel with the rows of a task."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from peercorpus.errors import PeercorpusError
from peercorpus.release.folder import Release
from peercorpus.release.record_rows import Row


class ForumRows:
    """The rows of a configuration split by conference, read paper by paper in the order of a task.

    The splits of a task and those of this configuration list the papers of a conference in the same order, but not
    the conferences, so each split is read separately. Papers without a row may be requested too.
    """

    def __init__(self, release: Release, config: str, columns: Sequence[str] | None = None) -> None:
        self._release, self._config, self._columns = release, config, columns
        splits = sorted({shard.split for shard in release.shards(config, None)})
        self._splits = {row["forum_id"]: split for split in splits for row in release.rows(config, split, ["forum_id"])}
        self._groups: dict[str, Iterator[tuple[str, Iterator[Row]]]] = {}

    def __bool__(self) -> bool:
        return bool(self._splits)

    def take(self, forum_id: str) -> list[Row]:
        """Return the rows of a paper.

        Raises:
            PeercorpusError: The release lists its papers in a different order.
        """
        split = self._splits.get(forum_id)
        if split is None:
            return []
        if split not in self._groups:
            rows = self._release.rows(self._config, split, self._columns)
            self._groups[split] = groupby(rows, key=itemgetter("forum_id"))
        found = next((list(rows) for found, rows in self._groups[split] if found == forum_id), None)
        if found is None:
            raise PeercorpusError(
                f"The configuration '{self._config}' of the release '{self._release.folder}' lists '{forum_id}' in a"
                " different place than its tasks; publish the release again."
            )
        return found
