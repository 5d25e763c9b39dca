"""What a site may show besides its pages of papers: texts, points of reviews, and changes between versions."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.errors import PeercorpusError
from peercorpus.release.folder import Release


class Extra(StrEnum):
    """Something that a site shows on request."""

    TEXTS = "texts"
    """A page of the text of each paper."""
    POINTS = "points"
    """The points of each review, on the page of its paper."""
    CHANGES = "changes"
    """A page of what changed between the versions of each paper."""


_SHOWN: Mapping[Extra, tuple[str, Mapping[str, Sequence[str]]]] = {
    Extra.TEXTS: ("texts of papers", {"papers_full": ("markdown",)}),
    Extra.POINTS: ("points of reviews", {"points": ("text", "reaction_text"), "answers": ("text",)}),
    Extra.CHANGES: ("changes between versions", {"changes": ("before", "after")}),
}
"""Names of the extras, and the columns of a release that their texts are in."""
_ROW_BYTES = {Extra.POINTS: 365, Extra.CHANGES: 545}
"""Bytes of HTML around the texts of one row: measured on 120 simulated papers."""
_HOW = {Extra.POINTS: ", which 'peercorpus publish --points' adds"}
"""How a release comes to have an extra, if not by itself."""


def name_extra(extra: Extra) -> str:
    """Return the name of an extra.

    >>> name_extra(Extra.POINTS)
    'points of reviews'
    """
    return _SHOWN[extra][0]


def estimate_extras(release: Release) -> Mapping[Extra, int]:
    """Return about how many bytes each extra that a release can show would take, from the heads of its files.

    Raises:
        PeercorpusError: A file cannot be read.
    """
    sizes = {extra: _estimate(release, extra) for extra in Extra}
    return {extra: size for extra, size in sizes.items() if size}


def check_extras(release: Release, wanted: Collection[Extra]) -> Mapping[Extra, int]:
    """Check that a release has what extras are made of, and return the size of each that it has.

    A release without texts may still be asked for them.

    Raises:
        PeercorpusError: It does not; the error names the extras that it has.
    """
    held = estimate_extras(release)
    for extra in wanted:
        if extra not in held and extra is not Extra.TEXTS:
            offered = [f"{name_extra(other)} (--{other})" for other in held]
            instead = f" It has {' and '.join(offered)}." if offered else ""
            raise PeercorpusError(
                f"The release '{release.folder}' has no {name_extra(extra)}{_HOW.get(extra, '')}; leave out"
                f" --{extra}.{instead}"
            )
    return held


def _estimate(release: Release, extra: Extra) -> int:
    """Return the bytes of the columns of an extra before they are compressed, and of the HTML around them."""

    def is_empty(column: pq.ColumnChunkMetaData) -> bool:
        statistics = column.statistics
        return bool(statistics and statistics.has_null_count and statistics.null_count == column.num_values)

    size = 0
    for config, columns in _SHOWN[extra][1].items():
        for shard in release.shards(config):
            try:
                head = pq.read_metadata(shard.path)
            except (pa.ArrowException, OSError) as error:
                raise PeercorpusError(
                    f"'{shard.path}' of the release cannot be read ({error}); take an intact copy."
                ) from None
            groups = (head.row_group(number) for number in range(head.num_row_groups))
            chunks = (group.column(number) for group in groups for number in range(group.num_columns))
            texts = sum(
                one.total_uncompressed_size for one in chunks if one.path_in_schema in columns and not is_empty(one)
            )
            size += texts + (_ROW_BYTES.get(extra, 0) * head.num_rows if texts else 0)
    return size
