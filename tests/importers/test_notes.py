"""Property: whatever happens to an item of a list, it is a row or is set aside, and no other item is lost."""

import csv
import io
import json
import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.importers.files import DumpFile, read_values
from peercorpus.importers.notes import DumpScanner
from peercorpus.importers.reader import DamagedRow
from peercorpus.importers.tables import read_rows
from peercorpus.openreview.raw_rows import RawOrigin, build_note
from peercorpus.workspace.raw_store import RawKind

VENUE = "Pier.org/2026/Conference"
NOTES = 6
Note = dict[str, Any]
Change = Callable[[Note], object]


def note(number: int) -> Note:
    is_root = number == 0
    name = "-/Submission" if is_root else "Submission1/-/Official_Review"
    return {
        "id": f"note{number}",
        "forum": "note0",
        "replyto": None if is_root else "note0",
        "invitations": [f"{VENUE}/{name}"],
        "domain": VENUE,
        "signatures": [f"{VENUE}/Submission1/{'Authors' if is_root else f'Reviewer_{number}'}"],
        "readers": ["everyone"],
        "tcdate": 1_767_225_600_000 + number,
        "tmdate": 1_767_225_600_000 + number,
        "number": number,
        "content": {"title": {"value": f"Title {number}"}, "review": {"value": "The kites fly."}},
    }


VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        7,
        1.5,
        -(2**70),
        2**63,
        True,
        "",
        "text",
        "\ud83d",
        "2026-01-21T00:00:00Z",
        [],
        [1],
        ["a"],
        [{}],
        {},
        {"a": []},
    ]
)
FIELDS = st.sampled_from(sorted(note(1)))


def drop(field: str) -> Change:
    return lambda item: {name: value for name, value in item.items() if name != field}


def retype(field: str, value: object) -> Change:
    return lambda item: {**item, field: value}


WRAPS: list[Change] = [
    lambda item: [item],
    lambda item: {"notes": [item], "count": 1},
    lambda item: {"note": item},
    lambda item: {"one": item, "other": {"page": 1}},
    lambda item: {"details": {"replies": [item, None]}, "title": "x"},
    lambda item: json.dumps(item),
]
CHANGES = st.one_of(
    st.builds(drop, FIELDS),
    st.builds(retype, FIELDS, VALUES),
    st.sampled_from(WRAPS),
    st.builds(lambda v: lambda _: v, VALUES),
)


def take(content: bytes, name: str) -> tuple[list[str], list[str]]:
    """Read one file; return the ids of the notes in it, and the reason for every item set aside."""
    ids: list[str] = []
    left: list[str] = []

    def receive(_: RawKind, body: bytes) -> None:
        try:
            ids.append(build_note(body, RawOrigin(name, 1)).object_id)
        except msgspec.ValidationError as error:
            left.append(str(error))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        DumpScanner(receive, lambda reason, _: left.append(reason)).enter_items(
            read_values(DumpFile(path, name, is_named=True))
        )
    return ids, left


SHELLS: dict[str, Callable[[list[bytes]], bytes]] = {
    "dump.json": lambda items: b"[%b]" % b",\n".join(items),
    "dump.jsonl": b"\n".join,
    "answer.json": lambda items: b'{"count": 9, "notes": [%b]}' % b", ".join(items),
    "replies.json": lambda items: (
        b'[{"id":"root","forum":"root","content":{},"details":{"replies":[%b]}}]' % b",".join(items)
    ),
}


@given(place=st.integers(0, NOTES - 1), change=CHANGES, shell=st.sampled_from(sorted(SHELLS)))
def test_a_changed_item_loses_no_other(place: int, change: Change, shell: str) -> None:
    notes: list[object] = [note(number) for number in range(NOTES)]
    notes[place] = change(deepcopy(note(place)))
    ids, left = take(SHELLS[shell]([json.dumps(item).encode() for item in notes]), shell)
    assert {*ids} >= {f"note{number}" for number in range(NOTES) if number != place}
    items = NOTES + (shell == "replies.json")
    # A line that is a list has no item if it is empty; a wrapper may have two.
    has_no_item = shell == "dump.jsonl" and notes[place] in ([], {"a": []})
    assert items - has_no_item <= len(ids) + len(left) <= items + 1


@given(data=st.data(), shell=st.sampled_from(sorted(SHELLS)))
def test_damaged_bytes_cost_one_item(data: st.DataObject, shell: str) -> None:
    place = data.draw(st.integers(0, NOTES - 1))
    items = [json.dumps(note(number)).encode() for number in range(NOTES)]
    # Brackets and quotes stay: without them nobody can tell where the item ends.
    free = [at for at, byte in enumerate(items[place]) if byte not in b'"[]{}\\']
    damaged = bytearray(items[place])
    damaged[data.draw(st.sampled_from(free))] = data.draw(st.sampled_from(b"\xff\x00x:,\xc3"))
    items[place] = bytes(damaged)
    ids, left = take(SHELLS[shell](items), shell)
    assert {*ids} >= {f"note{number}" for number in range(NOTES) if number != place}
    assert len(ids) + len(left) == NOTES + (shell == "replies.json")


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
DAMAGED_ROWS = (b'k,"open,x', b"k,one", b"k,1,2,3,4", b"k,\xff,x")


@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6),
    damage=st.sampled_from(DAMAGED_ROWS),
    place=st.integers(0, 6),
)
def test_a_damaged_row_costs_no_other_row(rows: list[tuple[str, str]], damage: bytes, place: int) -> None:
    lines = []
    for cells in rows:
        row = io.StringIO()
        csv.writer(row, quoting=csv.QUOTE_ALL).writerow(["k", *cells])
        lines.append(row.getvalue().encode())
    lines.insert(place, damage + b"\r\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_bytes(b"".join([b"id,title,review\r\n", *lines]))
        found = list(read_rows(path))
    sound = [(row["title"], row["review"]) for row in found if not isinstance(row, DamagedRow)]
    assert sound == rows
    assert len(found) == len(rows) + 1


SPOILT: list[Change] = [drop("forum"), drop("id"), lambda item: {"id": item["id"], "content": "text"}]
PLACES: list[Callable[[list[Note]], Note]] = [
    lambda items: {"reviews": items},
    lambda items: {"replies": items},
    lambda items: {"details": {"replies": items}},
    lambda items: {"details": {"replies": {f"key{place}": item for place, item in enumerate(items)}}},
    lambda items: {"reviews": {f"key{place}": item for place, item in enumerate(items)}},
]


@given(st.lists(st.sampled_from([None, *SPOILT]), min_size=1, max_size=4), st.sampled_from(PLACES))
def test_nested_records_are_all_counted(changes: list[Change | None], place: Callable[[list[Note]], Note]) -> None:
    items: list[Any] = [
        note(number) if change is None else change(note(number)) for number, change in enumerate(changes, 1)
    ]
    taken: list[bytes] = []
    left: list[str] = []
    scanner = DumpScanner(lambda _, body: taken.append(body), lambda reason, _: left.append(reason))
    scanner.enter_value(json.dumps({**note(0), **place(items)}).encode())
    assert len(taken) + len(left) == 1 + len(items)
