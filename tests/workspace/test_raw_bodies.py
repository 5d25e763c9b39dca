"""Bodies are distinguished by their full content, however long their common beginning."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from peercorpus.workspace.raw_store import RawKind, RawObject, RawStore

VENUE = "Aurora.cc/2020/Conference"
ALIKE = '{"id":"r","content":{"review":"' + 5_000 * "a"
"""The first 5,000 bytes, and a few more, of two versions of a long review."""


def version(end: str, at_ms: int) -> RawObject:
    body = f'{ALIKE}{end}"}}}}'.encode()
    return RawObject(RawKind.NOTE, "r", 2, VENUE, "f", "r", at_ms, 7, "a dump", body)


@pytest.fixture
def raw() -> Iterator[RawStore]:
    with closing(RawStore(Path(":memory:"))) as store:
        yield store


def test_two_versions_that_differ_only_at_the_end_of_long_bodies_are_both_kept(raw: RawStore) -> None:
    first, second = version(" Weak.", 1), version(" Strong.", 2)
    assert raw.add([first, second]) == 2
    assert list(raw.versions(RawKind.NOTE, VENUE)) == [first, second]
    assert raw.find(RawKind.NOTE, "r") == second


def test_the_digest_covers_the_end_of_a_long_body(raw: RawStore) -> None:
    raw.add([version(" Weak.", 1)])
    with closing(RawStore(Path(":memory:"))) as other:
        other.add([version(" Strong.", 1)])
        assert other.digest("note", VENUE) != raw.digest("note", VENUE)
