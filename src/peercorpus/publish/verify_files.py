"""Whether the files of a release are those it names, with the columns and as many rows as it says."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from peercorpus.publish.card_counts import read_counts
from peercorpus.publish.checks import Check
from peercorpus.publish.opened import FILE, SCHEMAS, Release, Shard
from peercorpus.publish.release import MANIFEST, digest_of

CARD = "README.md"


def _files(folder: Path) -> Iterator[tuple[str, bool]]:
    """The path of everything that is no folder, and whether it is a plain file."""
    for where, folders, files in os.walk(folder):
        for name in sorted([*files, *(one for one in folders if Path(where, one).is_symlink())]):
            path = Path(where, name)
            yield path.relative_to(folder).as_posix(), path.is_file() and not path.is_symlink()


def check_sums(release: Release) -> Check:
    """Every file that is named is there as it was, and no other is."""
    check = Check("sums", "file")
    there = dict(_files(release.folder))
    for name, sha256 in sorted(release.manifest.files.items()):
        check.looked_at += 1
        if name not in there:
            check.breach(name, None, f"is named in {MANIFEST} and not there")
        elif not there[name]:
            check.breach(name, None, "is no plain file")
        elif digest_of(release.folder / name) != sha256:
            check.breach(name, None, f"is not as {MANIFEST} says")
    for name in sorted(there.keys() - release.manifest.files.keys() - {MANIFEST}):
        check.looked_at += 1
        check.breach(name, None, f"is not named in {MANIFEST}")
    return check


def _rows_of(shard: Shard, check: Check) -> int | None:
    """The rows of a file, as its foot says; None where it cannot be read."""
    try:
        with pq.ParquetFile(shard.path) as file:
            schema, rows = file.schema_arrow, int(file.metadata.num_rows)
    except (pa.ArrowException, OSError):
        check.breach(shard.name, None, "cannot be read as Parquet")
        return None
    declared = SCHEMAS.get(shard.config)
    if declared is None:
        check.breach(shard.name, None, "is of a configuration that this version of peercorpus does not know")
    elif not schema.equals(declared, check_metadata=False):
        differing = [name for name in declared.names if name not in schema.names or schema.names.count(name) > 1]
        differing += [name for name in schema.names if name not in declared.names]
        differing += [one.name for one in declared if not differing and schema.field(one.name).type != one.type]
        check.breach(shard.name, None, f"has other columns than declared: {', '.join(differing[:5]) or 'their order'}")
    return rows


def check_schema(release: Release) -> Check:
    """Every Parquet file has the columns of its configuration, and every split the rows that the card says."""
    check, rows = Check("schema", "Parquet file"), Counter[tuple[str, str]]()
    for name in sorted(release.manifest.files):
        if name.startswith("data/") and FILE.fullmatch(name) is None:
            check.breach(name, None, "is no file of a configuration")
    unread = set()
    for shard in release.shards():
        check.looked_at += 1
        count = _rows_of(shard, check)
        rows[shard.config, shard.split] += count or 0
        if count is None:
            unread.add((shard.config, shard.split))
    try:
        counts = read_counts((release.folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        check.breach(CARD, None, "cannot be read, so that its counts of rows were not compared")
        return check
    for config, split in sorted((rows.keys() | counts.keys()) - unread):
        said, held = counts.get((config, split)), rows.get((config, split))
        if said != held:
            check.breach(CARD, f"{config}/{split}", f"says {said or 0} rows where there are {held or 0}")
    return check
