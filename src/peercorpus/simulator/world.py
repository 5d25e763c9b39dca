"""The invented world: venues, papers, threads and PDFs, written into both APIs' holdings.

Objects share parts (equal texts, lists of readers), which keeps 20,000 papers small: copy before changing one.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest

from peercorpus.errors import PeercorpusError
from peercorpus.simulator import api1, api2
from peercorpus.simulator.casting import Casting
from peercorpus.simulator.editions import find_venues, venue_years
from peercorpus.simulator.generated import MANUSCRIPTS, SHARED_BY, generate_manuscript, generate_script
from peercorpus.simulator.groups import write_groups
from peercorpus.simulator.handwritten import read_handwritten
from peercorpus.simulator.holdings import Holdings, World
from peercorpus.simulator.ids import draw_share
from peercorpus.simulator.invitations import write_invitations, write_review_invitation
from peercorpus.simulator.pdfs import Layout, stamp, typeset
from peercorpus.simulator.script import Draft
from peercorpus.simulator.venues import EMPTY, VENUES, Venue

NUMBER_STEP = 7


def build_world(
    papers: int = 12,
    seed: int = 0,
    venues: Sequence[str] | None = None,
    number: int | None = None,
    *,
    is_large: bool = False,
) -> World:
    """Build both APIs of one simulated OpenReview; the same arguments give the same world, byte for byte.

    Args:
        papers: Over all venues together: the hand-written ones first, dealt over the venues, then generated ones.
        seed: Of all ids, numbers and generated texts.
        venues: Ids of the venues to build; None for all.
        number: How many venue-years there are, where no venue is named; None for one of each.
        is_large: Whether generated papers and threads are as long as real ones; several papers of a venue share a file.

    Raises:
        PeercorpusError: A venue is not known, there are not so many venue-years, or both are said.
    """
    if venues is not None and number is not None:
        raise PeercorpusError("The venues are named (--venues); leave out how many there are (--venue-years).")
    chosen = venue_years(len(VENUES) if number is None else number) if venues is None else find_venues(venues)
    world = World(Holdings(), Holdings())
    write_groups(world, (*chosen, EMPTY))
    for venue in (*chosen, EMPTY):
        write_invitations(_holdings(world, venue), venue)
    collecting = gc.isenabled()
    # Nothing here is garbage, and looking for some in a million new objects takes longer than making them.
    gc.disable()
    try:
        _write_papers(world, chosen, papers, seed, is_large=is_large)
    finally:
        if collecting:
            gc.enable()
    return world


def _holdings(world: World, venue: Venue) -> Holdings:
    return world.v1 if venue.api == 1 else world.v2


def _write_papers(world: World, chosen: Sequence[Venue], papers: int, seed: int, *, is_large: bool) -> None:
    writers: dict[int, api1.Writer | api2.Writer] = {1: api1.Writer(world.v1), 2: api2.Writer(world.v2)}
    for venue, index in _deal(chosen, papers):
        holdings, written = _holdings(world, venue), read_handwritten(venue.venue_id)
        number = index * NUMBER_STEP + int(draw_share(seed, venue.venue_id, "number", index) * NUMBER_STEP) + 1
        if index < len(written):
            script = written[index].script
        else:
            script = generate_script(venue, seed, index - len(written), is_long=is_large)
        casting = Casting(venue, seed, number, script)
        writers[venue.api].write(casting)
        write_review_invitation(holdings, venue, casting.place, casting.forum_id)
        for version in script.versions:
            path = casting.path(version)
            holdings.files[path] = _file(casting, version, index, path, is_large=is_large)
            if venue.api == 1 and version is Draft.SUBMISSION and script.public_history:
                holdings.files[casting.path(version, "attachment")] = holdings.files[path]
    for holdings in (world.v1, world.v2):
        _sort_notes(holdings)


def _sort_notes(holdings: Holdings) -> None:
    order = sorted(holdings.notes.items(), key=lambda item: (int(str(item[1]["tcdate"])), item[0]))
    holdings.notes = dict(order)


def _deal(chosen: Sequence[Venue], papers: int) -> Iterator[tuple[Venue, int]]:
    """Give venue and index of each paper: first the hand-written ones in rounds, then generated ones in rounds."""
    written = [[(venue, index) for index in range(len(read_handwritten(venue.venue_id)))] for venue in chosen]
    hands = [hand for around in zip_longest(*written) for hand in around if hand is not None]
    yield from hands[:papers]
    for extra in range(papers - len(hands) if chosen else 0):
        around, place = divmod(extra, len(chosen))
        yield chosen[place], len(written[place]) + around


def _file(casting: Casting, version: Draft, index: int, path: str, *, is_large: bool) -> Callable[[], bytes]:
    venue, written = casting.venue, read_handwritten(casting.venue.venue_id)
    layout = Layout(venue.short, venue.columns, venue.ruled, venue.rolling)
    if index < len(written):
        return partial(typeset, written[index].manuscript, layout, version)
    number, seed = index - len(written), casting.seed
    if is_large:
        return partial(_long_file, venue, seed, number // SHARED_BY, layout, version)
    return partial(_generated_file, venue, seed, number, layout, version, path)


def _long_file(venue: Venue, seed: int, index: int, layout: Layout, version: Draft) -> bytes:
    return typeset(generate_manuscript(venue, seed, index, is_long=True), layout, version)


def _generated_file(venue: Venue, seed: int, index: int, layout: Layout, version: Draft, path: str) -> bytes:
    """Give a generated paper's PDF; beyond the first few it is an earlier one's under an id of its own."""
    pdf = typeset(generate_manuscript(venue, seed, index % MANUSCRIPTS), layout, version)
    if index < MANUSCRIPTS:
        return pdf
    return stamp(pdf, path.rpartition("/")[2].removesuffix(".pdf"))
