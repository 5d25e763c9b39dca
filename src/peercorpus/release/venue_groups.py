"""Group the venues of a release by the files with their rows, and compute what those files depend on.

A large venue has its own files; consecutive small ones share files. The end of a group depends only on the names and
sizes of its own venues: adding, changing or removing a venue leaves other groups unchanged.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from peercorpus.corpus.takedown import ID_COLUMNS, Takedown
from peercorpus.release.provenance import LINKS, VERSION, VenueInput
from peercorpus.release.request import ReleaseRequest
from peercorpus.release.splits import Split, Task
from peercorpus.workspace.delta_tables import Tables

LARGE_VENUE = 100
"""Minimum number of papers for a venue to have its own files."""
SMALL_VENUES = 32
"""Average number of small venues that share files; one name in this many ends its group."""
_OF_CARD = frozenset({"set-aside", LINKS})
"""Tables whose rows change the card, the links or the splits of a release, but no row of a venue."""


def group_venues(venue_ids: Iterable[str], count_papers: Callable[[str], int]) -> Iterator[list[str]]:
    """Yield venues in groups whose rows share files.

    Args:
        venue_ids: Venues in the order of writing.
        count_papers: Returns the number of papers of a venue.
    """
    group: list[str] = []
    for venue_id in venue_ids:
        is_large = count_papers(venue_id) >= LARGE_VENUE
        if is_large and group:
            yield group
            group = []
        group.append(venue_id)
        if is_large or hashlib.sha256(venue_id.encode()).digest()[0] % SMALL_VENUES == 0:
            yield group
            group = []
    if group:
        yield group


def _find_ids(tables: Tables, name: str, venue_id: str, columns: Sequence[str], ids: pa.Array) -> Iterator[str]:
    """Yield the ids among some that occur in these columns of a venue; lists of replies are searched post by post."""
    for batch in tables.batches(name, venue_id, columns):
        for column in batch.columns:
            is_nested = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
            values = pc.struct_field(pc.list_flatten(column), "post_id") if is_nested else column
            yield from values.filter(pc.is_in(values.cast(pa.string()), ids)).to_pylist()


def find_taken(tables: Tables, venue_id: str, takedown: Takedown) -> list[str]:
    """Return the taken-down ids of a venue, and the sha256 of its taken-down files; each once, sorted."""
    found: set[str] = set()
    if ids := takedown.forums | takedown.posts:
        for name, column in ID_COLUMNS.items():
            nested = {"replies"} if name == "2-ai-reviews" else set()
            columns = sorted({column, "forum_id", *nested})
            found.update(_find_ids(tables, name, venue_id, columns, pa.array(sorted(ids), pa.string())))
    if takedown.files:
        files = pa.array(sorted(takedown.files), pa.string())
        found.update(_find_ids(tables, "4-versions", venue_id, ["sha256"], files))
    return sorted(found)


def key_of_group(venues: Mapping[str, tuple[VenueInput, Sequence[str]]], request: ReleaseRequest) -> str:
    """Return the key for finding the rows of some venues in an earlier release: equal keys mean equal bytes.

    It is a digest of their tables, take-downs, options and code.

    Args:
        venues: The workspace's data on each venue, and its taken-down ids.
        request: What the release shall contain.
    """
    made_with = version("peercorpus"), version("pyarrow"), VERSION
    options = request.layout, not request.no_authors, request.figures, bool(request.points), request.text_rule
    depends_on = [
        (venue_id, sorted((name, of) for name, of in held.tables.items() if name not in _OF_CARD), taken)
        for venue_id, (held, taken) in venues.items()
    ]
    return _digest([made_with, options, depends_on])


def key_of_tasks(key: str, forum_ids: Iterable[str], used: Mapping[Task, Mapping[str, Split]]) -> str:
    """Return the key of some papers' rows for tasks, from the key of their rows and their splits."""
    splits = [[(task, of.get(forum_id)) for task, of in sorted(used.items())] for forum_id in forum_ids]
    return _digest([key, splits])


def _digest(parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
