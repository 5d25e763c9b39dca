"""Check the digests, schemas and row counts of a release; `Check` is the result of one check."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH
from peercorpus.release.folder import FILE, MANIFEST, Release, Shard
from peercorpus.release.shards import EVERY_CONFIG
from peercorpus.workspace.object_store import file_digest

CONFIG = re.compile(r'- config_name: (".*")')
SPLIT = re.compile(r'  - (\{"name":.*\})')


def read_counts(card: str) -> dict[tuple[str, str], int]:
    r"""Return rows by configuration and split, as written by `front_matter`; empty if the card states none.

    A card without named configurations has ReviewBench's single one.

    >>> head = '---\ndataset_info:\n- config_name: "a"\n  splits:\n  - {"name":"b","num_examples":3}\n---\n'
    >>> read_counts(head)
    {('a', 'b'): 3}

    Raises:
        ValueError: A line of it is damaged.
    """
    counts: dict[tuple[str, str], int] = {}
    config = DEFAULT_OF_REVIEWBENCH
    head = card.removeprefix("---").partition("\n---\n")[0]
    for line in head.partition("\ndataset_info:\n")[2].splitlines():
        if named := CONFIG.fullmatch(line):
            config = json.loads(named[1])
        elif stated := SPLIT.fullmatch(line):
            split = json.loads(stated[1])
            if "num_examples" in split:
                counts[config, split["name"]] = int(split["num_examples"])
    return counts


_MAX_NAMED_BREACHES = 10
"""Maximum number of breaches named per check; further ones are only counted."""


@dataclass(frozen=True, slots=True)
class Breach:
    """One breach of a check.

    Attributes:
        file: Its path in the release.
        record_id: The row concerned; None if it is the whole file.
        what: Description of the fault; never quotes a text of the release.
    """

    file: str
    record_id: str | None
    what: str


@dataclass(slots=True)
class Check:
    """The result of one check.

    Attributes:
        noun: Kind of the items checked, in the singular.
        looked_at: Number of items checked.
        breaches: The first breaches, at most `_MAX_NAMED_BREACHES`.
        found: Number of breaches.
        rows: Number of them that are rows with an id that was taken down; 0 in other checks.
        left_out: Items that could not be checked, with the reason.
    """

    name: str
    noun: str
    looked_at: int = 0
    breaches: list[Breach] = field(default_factory=list)
    found: int = 0
    rows: int = 0
    left_out: list[str] = field(default_factory=list)

    def breach(self, file: str, record_id: str | None, what: str) -> None:
        """Record a breach."""
        self.found += 1
        if len(self.breaches) < _MAX_NAMED_BREACHES:
            self.breaches.append(Breach(file, record_id, what))


CARD = "README.md"


def _list_files(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the path of everything that is not a folder, and whether it is a regular file."""
    for parent, folders, files in os.walk(folder):
        for name in sorted(
            [*files, *(folder_name for folder_name in folders if Path(parent, folder_name).is_symlink())]
        ):
            path = Path(parent, name)
            yield path.relative_to(folder).as_posix(), path.is_file() and not path.is_symlink()


def check_sums(release: Release) -> Check:
    """Check that every file in the manifest exists unchanged, and that there are no others."""
    check = Check("sums", "file")
    there = dict(_list_files(release.folder))
    for name, sha256 in sorted(release.manifest.files.items()):
        check.looked_at += 1
        if name not in there:
            check.breach(name, None, f"is listed in {MANIFEST} but missing")
        elif not there[name]:
            check.breach(name, None, "is not a regular file")
        elif file_digest(release.folder / name) != sha256:
            check.breach(name, None, f"differs from what {MANIFEST} states")
    for name in sorted(there.keys() - release.manifest.files.keys() - {MANIFEST}):
        check.looked_at += 1
        check.breach(name, None, f"is not listed in {MANIFEST}")
    return check


def _count_rows(shard: Shard, check: Check) -> int | None:
    """Return the number of rows stated in a file's footer; None if it cannot be read."""
    try:
        with pq.ParquetFile(shard.path) as file:
            schema = file.schema_arrow
            rows = int(file.metadata.num_rows)
    except (pa.ArrowException, OSError):
        check.breach(shard.name, None, "cannot be read as Parquet")
        return None
    config = EVERY_CONFIG.get(shard.config)
    if config is None:
        check.breach(shard.name, None, "belongs to a configuration that this version of peercorpus does not know")
    elif not schema.equals(declared := config.schema, check_metadata=False):
        differing = [name for name in declared.names if name not in schema.names or schema.names.count(name) > 1]
        differing += [name for name in schema.names if name not in declared.names]
        differing += [
            column.name for column in declared if not differing and schema.field(column.name).type != column.type
        ]
        check.breach(shard.name, None, f"has other columns than declared: {', '.join(differing[:5]) or 'their order'}")
    return rows


def check_schema(release: Release) -> Check:
    """Check that every Parquet file has the declared columns, and every split the number of rows stated in the card."""
    check = Check("schema", "Parquet file")
    rows = Counter[tuple[str, str]]()
    for name in sorted(release.manifest.files):
        if name.startswith("data/") and FILE.fullmatch(name) is None:
            check.breach(name, None, "belongs to no configuration")
    unread = set()
    for shard in release.shards():
        check.looked_at += 1
        count = _count_rows(shard, check)
        rows[shard.config, shard.split] += count or 0
        if count is None:
            unread.add((shard.config, shard.split))
    try:
        counts = read_counts((release.folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        check.breach(CARD, None, "cannot be read, so its counts of rows were not compared")
        return check
    for config, split in sorted((rows.keys() | counts.keys()) - unread):
        stated_rows, actual_rows = counts.get((config, split)), rows.get((config, split))
        if stated_rows != actual_rows:
            check.breach(CARD, f"{config}/{split}", f"says {stated_rows or 0} rows where there are {actual_rows or 0}")
    return check
