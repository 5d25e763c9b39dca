"""Text of `status` without `--all`: a table of venues, and below it only what is missing or may mislead."""

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from peercorpus.cli.text.formatting import align
from peercorpus.cli.text.losses import lost
from peercorpus.cli.text.status import caution, closing_lines, form_doubts, is_empty, named_oddities
from peercorpus.pipeline.status import Completeness, KnownIssue, WorkspaceStatus
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, Unseen
from peercorpus.venues.venue_id import conference_of
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.untrusted_text import escape_controls

MOST_VENUES = 40
"""Maximum number of venues with a row each; more are counted by conference. Our choice, to fit a screen."""
MOST_NAMED = 3
"""Most venues that a line names."""
WIDTH = 80
_ID_WIDTH = 26
HEADER = ("venue", "papers", "reviews", "proven", "other", "none", "state")

TITLES = {
    KnownIssue.COUNTS_DISAGREE: "another number of submissions than OpenReview announced",
    KnownIssue.LISTED_TWICE: "papers listed twice",
    KnownIssue.BEFORE_DECISIONS: "most papers have no decision",
    KnownIssue.NO_REJECTED: "rejected papers are missing or incomplete",
    KnownIssue.REVIEWS_HIDDEN: "papers without reviews, which the venue hides",
    KnownIssue.WITHDRAWN_HIDDEN: "no withdrawn papers, perhaps hidden",
    KnownIssue.REVERTED: "reviews reset to their state before the discussion",
    KnownIssue.PDFS_OVERWRITTEN: "submitted PDFs perhaps replaced by final ones",
    KnownIssue.NO_DEADLINE: "no deadline known, so no PDF can be graded exact",
    KnownIssue.NOT_PUBLIC: "notes that are not public, as their readers are others or unknown",
    KnownIssue.READERS_UNSTATED: "notes published though their dump names no readers",
    KnownIssue.UNKNOWN_NAMES: "replies to invitations with unknown names",
}
"""What may mislead, in a few words, if it applies to several venues."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the table.

    Attributes:
        papers: None if the notes are not built, like the next ones.
        grades: Papers with a PDF proven to be initial, with another, with none.
        state: What is missing, in one or two words.
    """

    name: str
    papers: int | None
    reviews: int | None
    grades: tuple[int, int, int] | None
    state: str

    def cells(self) -> tuple[str, ...]:
        """Return the cells as they are shown; "-" for what is not known yet."""
        numbers = (self.papers, self.reviews, *(self.grades or (None, None, None)))
        return (_shorten(self.name), *("-" if number is None else f"{number:,}" for number in numbers), self.state)


def overview(status: WorkspaceStatus) -> str:
    """Return a table of the venues, and what is missing or may mislead, each once with the venues it concerns.

    A row has the papers, the reviews, and the papers by their PDF: proven to be the initial version, another, none.
    """
    if not status.venues:
        return is_empty(status)
    unfinished = {venue_id for _, venue_id in status.unfinished}
    unequal = {balance.venue_id for balance in status.balances if not balance.holds}
    rows = [_read_row(venue, unfinished, unequal) for venue in status.venues]
    is_summary = len(rows) > MOST_VENUES
    lines = [*lost(status.losses, is_built=True)]
    lines += _table(_summarise(rows) if is_summary else rows, is_summary=is_summary, total=_join("all", rows))
    lines.append("proven, other, none: papers by PDF: proven initial, another version, or none.")
    exceptions = [line for exception in _exceptions(status, unequal) for line in _wrap(exception)]
    lines += ["", *exceptions] if exceptions else []
    closing = list(closing_lines(status))
    return "\n".join([*lines, "", *closing, "--all shows everything of each venue, --venue NAME one of them."])


def _read_row(venue: Completeness, unfinished: set[str], unequal: set[str]) -> _Row:
    notes, pdfs = venue.notes, venue.pdfs
    grades = None
    if pdfs is not None:
        proven = sum(pdfs.grades.get(grade, 0) for grade in PUBLISHABLE_GRADES)
        papers = sum(notes.papers.values()) if notes else sum(pdfs.grades.values())
        other = sum(pdfs.grades.values()) - proven - pdfs.grades.get(Grade.UNAVAILABLE, 0)
        grades = (proven, other, max(0, papers - proven - other))
    return _Row(
        name=venue.venue_id,
        papers=sum(notes.papers.values()) if notes else None,
        reviews=notes.reviews if notes else None,
        grades=grades,
        state=_state(venue, unfinished, unequal),
    )


def _state(venue: Completeness, unfinished: set[str], unequal: set[str]) -> str:
    if venue.venue_id in unequal:
        return "ROWS MISSING"
    if venue.held.is_listed is False:
        return "incomplete"
    if venue.venue_id in unfinished:
        return "to build"
    never_asked = venue.pdfs.never_asked if venue.pdfs else 0
    if venue.held.edits_left or never_asked:
        return "to harvest"
    missing = sum(venue.held.files_not_had.values()) + sum(venue.held.edits_not_had.values())
    return "some missing" if missing else "complete"


def _summarise(rows: Sequence[_Row]) -> list[_Row]:
    """Return a row for each conference, those with the most papers first, and one for all that are too many."""
    by_conference: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_conference[conference_of(row.name)].append(row)
    joined = [_join(f"{name} ({len(of)})", of) for name, of in by_conference.items()]
    joined.sort(key=lambda row: (-(row.papers or 0), row.name))
    if len(joined) <= MOST_VENUES:
        return joined
    shown, rest = joined[: MOST_VENUES - 1], joined[MOST_VENUES - 1 :]
    return [*shown, _join(plural(len(rest), "other conference"), rest)]


def _join(name: str, rows: Sequence[_Row]) -> _Row:
    grades = [row.grades for row in rows if row.grades is not None]
    odd = sum(row.state != "complete" for row in rows)
    proven, other, none = (sum(counts) for counts in zip(*grades, strict=True)) if grades else (0, 0, 0)
    return _Row(
        name=name,
        papers=_sum(row.papers for row in rows),
        reviews=_sum(row.reviews for row in rows),
        grades=(proven, other, none) if grades else None,
        state=f"{odd:,} incomplete" if odd else "complete",
    )


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _table(rows: Sequence[_Row], *, is_summary: bool, total: _Row) -> list[str]:
    header = ("conference (venues)", *HEADER[1:]) if is_summary else HEADER
    cells = [header, *(row.cells() for row in rows), *([total.cells()] if len(rows) > 1 else [])]
    return align(cells, {0, len(header) - 1})


def _shorten(name: str) -> str:
    """Return a name that fits its column: of a long one the beginning and the end, where tracks differ."""
    shown = escape_controls(name, 200)
    if len(shown) <= _ID_WIDTH:
        return shown
    return f"{shown[: _ID_WIDTH // 2 - 1]}…{shown[-(_ID_WIDTH // 2) :]}"


def _exceptions(status: WorkspaceStatus, unequal: set[str]) -> Iterator[str]:
    """Yield a line for each thing that is missing or may mislead: in full for one venue, in brief for several."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for venue in status.venues:
        for title, sentence in _of_venue(venue, status, unequal):
            found[title].append((venue.venue_id, sentence))
    for title, places in found.items():
        venue_ids = [_shorten(venue_id) for venue_id, _ in places]
        if len(places) == 1:
            yield f"{venue_ids[0]}: {places[0][1]}"
        else:
            more = f" and {len(places) - MOST_NAMED:,} more" if len(places) > MOST_NAMED else ""
            yield f"{plural(len(places), 'venue')}: {title} ({', '.join(venue_ids[:MOST_NAMED])}{more})"


def _wrap(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _of_venue(venue: Completeness, status: WorkspaceStatus, unequal: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what is missing of a venue or may mislead: in a few words, and as a sentence."""
    venue_id, held = venue.venue_id, venue.held
    if venue_id in unequal:
        yield "ROWS ARE MISSING", "rows are missing: a sum of a stage does not agree; --all shows which."
    if held.is_listed is False:
        yield "not listed completely", "not listed completely; harvest it again without --limit."
    for what, count, advice in _missing(venue):
        yield f"{what}", f"{what}: {count:,}; {advice}"
    for problem in named_oddities(venue):
        yield problem.partition(":")[0], problem
    for doubt in form_doubts(status.censuses.get(venue_id, ())):
        yield "scores that may be misread, by their form", doubt
    for issue in venue.cautions:
        yield TITLES[issue.trap], caution(issue)


def _missing(venue: Completeness) -> Iterator[tuple[str, int, str]]:
    held, again = venue.held, "harvest the venue again."
    unseen = venue.notes.unseen if venue.notes else {}
    counts = (
        ("edits still to request", held.edits_left, again),
        ("PDFs never requested", venue.pdfs.never_asked if venue.pdfs else 0, again),
        ("PDFs that could not be fetched", sum(held.files_not_had.values()), "--all shows why."),
        ("edits that could not be fetched", sum(held.edits_not_had.values()), "--all shows why."),
        ("notes no longer shown", held.gone, "they are kept, and left out of releases."),
        ("notes not listed since raw.db was repaired", held.unconfirmed, again),
        ("papers with replies not shown to us", unseen.get(Unseen.NOT_SHOWN, 0), "--all counts the replies."),
        ("papers with deleted replies", unseen.get(Unseen.DELETED, 0), "--all counts the replies."),
    )
    return ((what, count, advice) for what, count, advice in counts if count)
