"""Check that everything that rows refer to is in the release: posts of meta-reviews, texts of changes, versions."""

from typing import Any, NamedTuple

from peercorpus.release.folder import Shard
from peercorpus.release.verify.files import Check

Row = dict[str, Any]


class Reference(NamedTuple):
    """Columns of one configuration whose combined values must occur in columns of another one."""

    config: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]


REFERENCES = (
    Reference("scores", ("review_id",), "reviews", ("review_id",)),
    Reference("meta_reviews", ("forum_id", "post_id"), "posts", ("forum_id", "post_id")),
    Reference("texts", ("forum_id", "edit_id", "sha256"), "versions", ("forum_id", "edit_id", "sha256")),
    Reference("changes", ("forum_id", "left_sha256"), "texts", ("forum_id", "sha256")),
    Reference("points", ("review_id",), "reviews", ("review_id",)),
    Reference("answers", ("point_id", "review_id"), "points", ("point_id", "review_id")),
    Reference("answers", ("forum_id", "post_id"), "posts", ("forum_id", "post_id")),
    Reference("changes", ("forum_id", "right_sha256"), "versions", ("forum_id", "sha256")),
)


class References:
    """Checks `REFERENCES`; for each value, a hash and one row are kept."""

    def __init__(self, check: Check) -> None:
        """Record breaches in a check of ids."""
        self._check = check
        self._wanted: dict[Reference, dict[int, tuple[str, str]]] = {reference: {} for reference in REFERENCES}
        self._held: dict[Reference, set[int]] = {reference: set() for reference in REFERENCES}

    def see(self, shard: Shard, row: Row) -> None:
        """Take one row."""
        for reference in REFERENCES:
            if reference.config == shard.config:
                key = tuple(row.get(column) for column in reference.columns)
                self._wanted[reference].setdefault(hash(key), (shard.name, "/".join(map(str, key))))
            if reference.target == shard.config:
                self._held[reference].add(hash(tuple(row.get(column) for column in reference.target_columns)))

    def end(self) -> None:
        """Record dangling references, once every row has been seen."""
        for reference, wanted in self._wanted.items():
            for key in sorted(wanted.keys() - self._held[reference], key=wanted.__getitem__):
                file, row_id = wanted[key]
                self._check.breach(file, row_id, f"is not in '{reference.target}'")
