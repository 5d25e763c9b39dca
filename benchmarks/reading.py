"""Measures how fast reviews are read with their forms, beside passes that only parse them, and the memory it takes."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from peercorpus.forms.reviews import read_review
from peercorpus.forms.venue_forms import VenueReader, read_venue
from peercorpus.openreview.objects import Note, invitation_name, read_note
from peercorpus.records.enums import PostKind
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace
from tabling import ROUNDS, in_a_process, timed

SPEED_PAPERS = 4_000
MEMORY_PAPERS = (5_000, 10_000, 20_000)
"""The fewest fill SQLite's cache of 64 MB already."""


def _reviews(workspace: Workspace) -> Iterator[tuple[VenueReader, Note, bytes]]:
    for venue_id in workspace.raw.venues():
        reader = read_venue(workspace, venue_id)
        for found in workspace.raw.latest(RawKind.NOTE, venue_id):
            note = read_note(found.body)
            if reader.words.kind(invitation_name(note.created_by)) is PostKind.REVIEW:
                yield reader, note, found.body


def read_all(folder: Path) -> None:
    """Read every review of a workspace, and keep none."""
    with open_workspace(folder) as workspace:
        for reader, note, _ in _reviews(workspace):
            read_review(note, reader.venue_id, "R", reader.form_of(note), [])


def measure_reading(scratch: Path) -> None:
    """Reviews a second beside three parsers, of JSON in memory; and the peak memory of reading all of a workspace."""
    memory = []
    for papers in MEMORY_PAPERS:
        folder = scratch / f"reviews-{papers}"
        in_a_process("fill", str(folder), str(papers))
        memory.append((papers, in_a_process("reading", str(folder))[1]))
    folder = scratch / "reviews"
    in_a_process("fill", str(folder), str(SPEED_PAPERS))
    with open_workspace(folder) as workspace:
        held = [(reader, body) for reader, _, body in _reviews(workspace)]
    passes: dict[str, Callable[[VenueReader, bytes], object]] = {
        "json of the standard library": lambda _, body: json.loads(body),
        "orjson": lambda _, body: orjson.loads(body),
        "decoded to a note, fields unwrapped": lambda _, body: read_note(body).fields,
        "read with its form": _read,
    }
    best = {name: min(_timed(one, held) for _ in range(ROUNDS)) for name, one in passes.items()}
    took = best["read with its form"]
    print(f"\n{len(held):,} reviews, {sum(len(body) for _, body in held) / 1e6:.1f} MB of JSON\n")
    print("| pass | reviews/s | reading, of this pass |\n|---|---:|---:|")
    for name, seconds in best.items():
        print(f"| {name} | {len(held) / seconds:,.0f} | {seconds / took:.2f} |")
    print("\n| papers | peak MB of reading all reviews |\n|---:|---:|")
    for papers, peak in memory:
        print(f"| {papers:,} | {peak:.0f} |")


def _read(reader: VenueReader, body: bytes) -> object:
    note = read_note(body)
    return read_review(note, reader.venue_id, "R", reader.form_of(note), [])


def _timed(one: Callable[[VenueReader, bytes], object], held: list[tuple[VenueReader, bytes]]) -> float:
    def work() -> None:
        for reader, body in held:
            one(reader, body)

    return timed(work)


if __name__ == "__main__":
    read_all(Path(sys.argv[1]))
