"""Build the invented world: venues, papers, threads and PDFs."""

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import zip_longest
from typing import cast

from peercorpus.simulator.world import api1_notes, api2_notes
from peercorpus.simulator.world.generated import MANUSCRIPTS, generate_manuscript, generate_script
from peercorpus.simulator.world.groups import write_groups, write_invitations, write_review_invitation
from peercorpus.simulator.world.holdings import Holdings, World, draw_share
from peercorpus.simulator.world.papers import Draft, read_handwritten
from peercorpus.simulator.world.pdfs import PageStyle, stamp, typeset
from peercorpus.simulator.world.timeline import PaperTimeline
from peercorpus.simulator.world.venues import EMPTY, VENUES, Venue, find_venues, venue_years

NUMBER_STEP = 7


def build_world(
    papers: int = 12,
    seed: int = 0,
    venues: Sequence[str] | None = None,
    number: int | None = None,
    *,
    is_large: bool = False,
    papers_per_file: int = 1,
) -> World:
    """Build both APIs of a simulated OpenReview; equal arguments give equal worlds, byte for byte.

    Args:
        papers: Total number over all venues: hand-written papers first, then generated ones.
        seed: Seed of all ids, numbers and generated texts.
        venues: Ids of the venues to build; None for all.
        number: Number of venue-years if no venue is named; None for one per venue.
        is_large: Whether generated papers and threads are as long as real ones.
        papers_per_file: Number of generated papers of a venue that share a text, if `is_large`.

    Raises:
        PeercorpusError: A venue is unknown, or there are fewer venue-years.
    """
    chosen = venue_years(len(VENUES) if number is None else number) if venues is None else find_venues(venues)
    world = World(Holdings(), Holdings())
    write_groups(world, (*chosen, EMPTY))
    for venue in (*chosen, EMPTY):
        write_invitations(_holdings(world, venue), venue)
    collecting = gc.isenabled()
    # Nothing here is garbage, and collecting a million new objects takes longer than creating them.
    gc.disable()
    try:
        _write_papers(world, chosen, papers, seed, papers_per_file if is_large else None)
    finally:
        if collecting:
            gc.enable()
    return world


def find_venues_with_papers(world: World) -> list[str]:
    """Return the venues that have a paper."""
    notes = [*world.v1.notes.values(), *world.v2.notes.values()]
    created_by = {str(note.get("invitation") or note.get("invitations")) for note in notes}
    # Both APIs list all venues.
    listed = cast(list[str], world.v2.groups["venues"]["members"])
    return [venue_id for venue_id in listed if any(f"{venue_id}/" in name for name in created_by)]


def _holdings(world: World, venue: Venue) -> Holdings:
    return world.v1 if venue.api == 1 else world.v2


@dataclass(frozen=True, slots=True, eq=False)
class _LongFile:
    """Reader of a file shared by several long papers of a venue; all of them use the same object."""

    venue: Venue
    seed: int
    index: int
    layout: PageStyle
    version: Draft

    def __call__(self) -> bytes:
        return _write_long(self)


# Writing the text of a long manuscript for each request would take longer than the rest of the response.
@lru_cache(maxsize=1_024)
def _write_long(file: _LongFile) -> bytes:
    manuscript = generate_manuscript(file.venue, file.seed, file.index, is_long=True)
    return typeset(manuscript, file.layout, file.version)


def _write_papers(world: World, chosen: Sequence[Venue], papers: int, seed: int, papers_per_file: int | None) -> None:
    """Write the papers of the venues; `papers_per_file` is None for short papers."""
    writers: dict[int, api1_notes.Api1Writer | api2_notes.Api2Writer] = {
        1: api1_notes.Api1Writer(world.v1),
        2: api2_notes.Api2Writer(world.v2),
    }
    shared: dict[tuple[str, int, Draft], _LongFile] = {}
    for venue, index in _deal(chosen, papers):
        holdings = _holdings(world, venue)
        written = read_handwritten(venue.venue_id)
        number = index * NUMBER_STEP + int(draw_share(seed, venue.venue_id, "number", index) * NUMBER_STEP) + 1
        if index < len(written):
            script = written[index].script
        else:
            script = generate_script(venue, seed, index - len(written), is_long=papers_per_file is not None)
        timeline = PaperTimeline(venue=venue, seed=seed, number=number, script=script)
        writers[venue.api].write(timeline)
        write_review_invitation(holdings, venue, timeline.place, timeline.forum_id)
        for version in script.versions:
            path = timeline.path(version)
            holdings.files[path] = _file(timeline, version, index, path, papers_per_file, shared)
            if venue.api == 1 and version is Draft.SUBMISSION and script.public_history:
                holdings.files[timeline.path(version, "attachment")] = holdings.files[path]
    for holdings in (world.v1, world.v2):
        notes = sorted(holdings.notes.items(), key=lambda item: (int(str(item[1]["tcdate"])), item[0]))
        holdings.notes = dict(notes)


def _deal(chosen: Sequence[Venue], papers: int) -> Iterator[tuple[Venue, int]]:
    """Yield venue and index of each paper, in rounds over the venues: first hand-written, then generated ones."""
    written = [[(venue, index) for index in range(len(read_handwritten(venue.venue_id)))] for venue in chosen]
    handwritten = [paper for around in zip_longest(*written) for paper in around if paper is not None]
    yield from handwritten[:papers]
    for extra in range(papers - len(handwritten) if chosen else 0):
        around, position = divmod(extra, len(chosen))
        yield chosen[position], len(written[position]) + around


def _file(
    timeline: PaperTimeline,
    version: Draft,
    index: int,
    path: str,
    papers_per_file: int | None,
    shared: dict[tuple[str, int, Draft], _LongFile],
) -> Callable[[], bytes]:
    venue = timeline.venue
    written = read_handwritten(timeline.venue.venue_id)
    layout = PageStyle(short=venue.short, columns=venue.columns, ruled=venue.ruled, rolling=venue.rolling)
    if index < len(written):
        return partial(typeset, written[index].manuscript, layout, version)
    number = index - len(written)
    seed = timeline.seed
    if papers_per_file is not None:
        group = number // papers_per_file
        return shared.setdefault((venue.venue_id, group, version), _LongFile(venue, seed, group, layout, version))
    return partial(_generated_file, venue, seed, number, layout, version, path)


def _generated_file(venue: Venue, seed: int, index: int, layout: PageStyle, version: Draft, path: str) -> bytes:
    """Return a generated paper's PDF; beyond the first few, it is an earlier one with a different document id."""
    pdf = typeset(generate_manuscript(venue, seed, index % MANUSCRIPTS), layout, version)
    if index < MANUSCRIPTS:
        return pdf
    return stamp(pdf, path.rpartition("/")[2].removesuffix(".pdf"))
