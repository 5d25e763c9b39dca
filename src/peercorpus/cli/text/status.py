"""Texts of `status`: completeness, warnings and row balances of each venue, as text and as JSON."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from peercorpus.cli.text.losses import lost
from peercorpus.execution.stage import Balance
from peercorpus.forms.form_usage import FormUsage
from peercorpus.forms.venue_forms import FormOrigin, find_declared, is_own_form, read_form_origin
from peercorpus.harvest.submissions import List
from peercorpus.pipeline.inventory import EXAMPLES, LARGE_BYTES, Coverage, Inventory, NamedExamples, PdfCoverage
from peercorpus.pipeline.status import Completeness, IssueFound, KnownIssue, WorkspaceStatus
from peercorpus.records.enums import Unseen
from peercorpus.venues.venue_names import is_stand_in
from peercorpus.wording.counted_nouns import plural, verb
from peercorpus.wording.untrusted_text import escape_controls
from peercorpus.workspace.object_store import Placement
from peercorpus.workspace.workspace import OWN_VENUES

CAUTIONS = {
    KnownIssue.COUNTS_DISAGREE: (
        "OpenReview listed a different number of submissions than it announced in {examples}: the list changed during"
        " the harvest, or some are hidden; harvest it again with --refresh."
    ),
    KnownIssue.LISTED_TWICE: (
        "{count} of {papers} {are} listed twice, such as {examples}: keep one of each before you count or split them."
    ),
    KnownIssue.BEFORE_DECISIONS: (
        "{count} of {papers} with reviews {have} no decision: the venue was harvested before it, the imported files"
        " have none, or the venue shows none; harvest it with --refresh when decisions are out."
    ),
    KnownIssue.NO_REJECTED: (
        "Only {count} of {papers} with a decision {are} rejected: the venue shows rejected papers only if their authors"
        " agree, or not at all; do not compute an acceptance rate from it."
    ),
    KnownIssue.REVIEWS_HIDDEN: (
        "{count} of {papers} {have} no reviews: the venue shows only some reviews, or none; do not conclude that these"
        " papers were not reviewed."
    ),
    KnownIssue.WITHDRAWN_HIDDEN: (
        "The list of withdrawn papers is empty, perhaps because it is hidden; do not conclude that none was withdrawn."
    ),
    KnownIssue.REVERTED: (
        "The venue reset its {reviews} to the state before the discussion: use their scores as initial scores,"
        " never as final ones."
    ),
    KnownIssue.PDFS_OVERWRITTEN: (
        "All versions of {count} of {accepted}, uploaded months apart, are the same PDF ({examples}): the chairs"
        " may have replaced the submitted PDF by the final one; check its first page before you use it as initial."
    ),
    KnownIssue.NO_DEADLINE: (
        "No deadline is known for {count} of {papers} with a PDF, so none of their versions can be exact: neither"
        " the venue's invitation nor the catalogue ('peercorpus venues') has one for full papers; if you know it,"
        " state it in the workspace's venues.toml."
    ),
    KnownIssue.NOT_PUBLIC: (
        "{notes} {are} never published, naming other readers than everyone, or none; harvest with an account without a"
        " role at the venue, and ask who made a dump for what lacks readers."
    ),
    KnownIssue.READERS_UNSTATED: (
        "{notes} {are} published although no readers are named, as nothing in the imported dump names any: make sure"
        " that it holds only what OpenReview shows to everyone."
    ),
    KnownIssue.UNKNOWN_NAMES: (
        "{count} of {replies} {are} to invitations with unknown names, each with its number: {examples}; their kind"
        " follows from their place, signer and content, unless the workspace's venues.toml states it (replies)."
    ),
}
"""What may mislead about a venue, and what to do about it."""


UNSEEN = {
    Unseen.NONE: "papers with none",
    Unseen.NOT_SHOWN: "with some not shown to us",
    Unseen.DELETED: "with some deleted",
    Unseen.UNKNOWN: "not known",
}
"""What is known of a paper's unseen replies."""


def caution(issue: IssueFound) -> str:
    """Return one sentence on what may mislead, and what to do about it."""
    examples = ", ".join(f"'{escape_controls(example)}'" for example in issue.examples)
    of, number = issue.of, issue.count
    return CAUTIONS[issue.trap].format(
        count=f"{number:,}",
        papers="all papers" if of is None else plural(of, "paper"),
        accepted="all accepted papers" if of is None else plural(of, "accepted paper"),
        reviews=plural(number, "review"),
        notes=plural(number, "note"),
        replies="all replies" if of is None else plural(of, "reply"),
        are=verb(number, "is", "are"),
        have=verb(number, "has", "have"),
        examples=examples,
    )


def _line(head: str, *parts: str) -> Iterator[str]:
    """Yield one line, or nothing if all parts are empty."""
    text = "; ".join(filter(None, parts))
    if text:
        yield f"  {head:<20} {text}"


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())


def _causes(counts: Mapping[str, int]) -> str:
    return "; ".join(_some(escape_controls(cause), number) for cause, number in counts.items())


def _some(what: str, number: int) -> str:
    return f"{what}: {number:,}" if number else ""


def _harvest_line(inventory: Inventory, pdfs: PdfCoverage | None) -> Iterator[str]:
    listed = {
        None: "imported, not harvested",
        True: "listed completely",
        False: "NOT listed completely; harvest it again without --limit",
    }[inventory.is_listed]
    of = f" of {inventory.expected:,} announced" if inventory.expected is not None else ""
    received = f"{plural(inventory.received, 'submission')} received{of}" if inventory.lists else ""
    seen = f"last seen {inventory.last_seen_at:%Y-%m-%d %H:%M} UTC" if inventory.last_seen_at else ""
    here = f"{pdfs.here:,} of {plural(pdfs.known, 'known PDF')} here" if pdfs else ""
    yield from _line("harvest", listed, received, seen, here)


def _list_line(lists: Sequence[List], venue_id: str) -> Iterator[str]:
    """Yield the stored and announced length of each list, if there are several or one was refused."""
    if len(lists) > 1 or any(held.problem for held in lists):
        yield from _line("lists", *(_held(held, venue_id) for held in lists))


def _held(held: List, venue_id: str) -> str:
    name = escape_controls(held.invitation.removeprefix(f"{venue_id}/-/"))
    if held.problem:
        return f"{name}: refused ({escape_controls(held.problem)})"
    of = "" if held.expected is None else f" of {held.expected:,}"
    return f"{name}: {held.received:,}{of}{'' if held.is_complete else ', not read completely'}"


NOT_NAMED = "no venue, or more than one, has this name in the catalogue, so this id is a stand-in"


def _not_shown(inventory: Inventory) -> tuple[str, str]:
    return (
        _some("no longer shown", inventory.gone),
        _some("not listed since raw.db was repaired; harvest the venue", inventory.unconfirmed),
    )


def _note_lines(notes: Coverage, inventory: Inventory, censuses: Sequence[FormUsage]) -> Iterator[str]:
    bare = f"without reviews: {_counts(notes.without_reviews)}" if notes.without_reviews else ""
    unasked = sum(census.without_rating for census in censuses if census.asks_rating is False)
    yield from _line("papers", _counts(notes.papers), bare)
    yield from _line(
        "reviews",
        f"{notes.reviews:,}",
        _some("without a rating", notes.without_rating - unasked),
        _some("without a rating, as their form asks for none", unasked),
        _some("further ones by an AI, kept apart", notes.ai_reviews),
    )
    yield from _line(
        "notes",
        _some("dangling replies", notes.dangling_replies),
        _some("deleted", notes.deleted),
        *_not_shown(inventory),
        _some("not public", notes.not_public),
    )
    yield from _line(
        "unseen replies",
        _some(UNSEEN[Unseen.NONE], notes.unseen.get(Unseen.NONE, 0)),
        *(
            f"{_some(UNSEEN[state], notes.unseen[state])} ({plural(replies, 'reply')})"
            for state, replies in ((Unseen.NOT_SHOWN, notes.replies_not_shown), (Unseen.DELETED, notes.replies_deleted))
            if state in notes.unseen
        ),
        _some(UNSEEN[Unseen.UNKNOWN], notes.unseen.get(Unseen.UNKNOWN, 0)),
    )
    yield from _line("records that differ", *(_some(escape_controls(name), n) for name, n in notes.conflicts.items()))


def _named(odd: NamedExamples, what: str) -> str:
    if not odd.count:
        return ""
    more = ", …" if odd.count > len(odd.examples) else ""
    examples = ", ".join(f"'{escape_controls(example)}'" for example in odd.examples)
    return f"{what}: {odd.count:,} ({examples}{more})"


def _completeness(completeness: Completeness, censuses: Sequence[FormUsage]) -> Iterator[str]:
    inventory, notes, pdfs = completeness.held, completeness.notes, completeness.pdfs
    yield from _line("venue", NOT_NAMED if is_stand_in(completeness.venue_id) else "")
    yield from _harvest_line(inventory, pdfs)
    yield from _list_line(inventory.lists, completeness.venue_id)
    never_asked = _some("never requested", pdfs.never_asked if pdfs else 0)
    yield from _line("files missing", _causes(inventory.files_not_had), never_asked)
    yield from _line("edits missing", _causes(inventory.edits_not_had), _some("still to request", inventory.edits_left))
    if notes:
        yield from _note_lines(notes, inventory, censuses)
    else:
        yield from _line("notes", *_not_shown(inventory))
    if pdfs is not None:
        yield from _line("initial versions", _counts(pdfs.grades))
    yield from _line("unreadable", _named(inventory.unreadable, "not JSON, stored as received"))
    yield from _line(
        "kept, but odd",
        _named(inventory.odd_ids, "ids that OpenReview does not create"),
        _named(inventory.large_notes, f"notes over {LARGE_BYTES // 1_000_000} MB"),
        _named(notes.odd_titles, "titles that are markup, paths or no text") if notes else "",
    )


def _balance(balance: Balance) -> str:
    aside = sum(balance.set_aside.values())
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in balance.set_aside.items())
    why = f" ({reasons})" if aside else ""
    verdict = "agrees" if balance.holds else "DOES NOT AGREE"
    sums = f"{balance.rows_in:,} in = {balance.rows_out:,} out + {aside:,} set aside{why}"
    return f"  {balance.stage:<20} {balance.unit}: {sums}: {verdict}"


def _form_line(census: FormUsage) -> Iterator[str]:
    """Yield a line if the user declared the form that reviews were read with, or there are doubts about it."""
    if not census.reviews:
        return
    nulls = (
        f"answers that the form does not offer, therefore null: {_fields(census.unoffered)}" if census.unoffered else ""
    )
    drift = ""
    if census.drifting:
        answer = "answers fields its form does" if census.drifting == 1 else "answer fields their form does"
        drift = f"{plural(census.drifting, 'review')} {answer} not have: {_fields(census.unknown)}"
    own = (
        f"{plural(census.reviews, 'review')} read with the form of {OWN_VENUES}" if is_own_form(census.form_id) else ""
    )
    yield from _line("form", own, _doubt(census), drift, nulls)


def _doubt(census: FormUsage) -> str:
    """Return why scores read with a declared or inferred form may be wrong; empty if nothing suggests it."""
    if read_form_origin(census.form_id) is FormOrigin.INFERRED:
        why = f"; {census.contradicting:,} contradict the declared form" if census.contradicting else ""
        return f"{plural(census.reviews, 'review')} read without a form, so their scales are unknown{why}"
    if _is_verified(census) is False:
        return f"read with '{census.form_id}', a declared form never seen in real reviews"
    if not census.unverified:
        return ""
    return f"fields known, or their answers, from code or memory only: {_fields(census.unverified)}"


def _is_verified(census: FormUsage) -> bool | None:
    """Return whether a declared form was ever seen in real reviews; None for other forms."""
    declared_form = find_declared(census.form_id) if read_form_origin(census.form_id) is FormOrigin.DECLARED else None
    return declared_form.declared.is_verified if declared_form and declared_form.declared else None


def _fields(counts: Mapping[str, int]) -> str:
    fields = ", ".join(f"'{escape_controls(name)}' ({count:,})" for name, count in list(counts.items())[:EXAMPLES])
    return fields + (", …" if len(counts) > EXAMPLES else "")


def _venue(
    venue: Completeness, censuses: Sequence[FormUsage], balances: Iterable[Balance], unfinished: Iterable[str]
) -> Iterator[str]:
    yield escape_controls(venue.venue_id, most=200)
    yield from _completeness(venue, censuses)
    for census in censuses:
        yield from _form_line(census)
    yield from map(_balance, balances)
    yield from (f"  {stage:<20} not built yet, or out of date" for stage in unfinished)
    yield from (f"  Take care: {caution(issue)}" for issue in venue.cautions)
    yield from [f"  The catalogue says: {venue.remark}"] if venue.remark else ()


def _venues(status: WorkspaceStatus) -> Iterator[str]:
    balances: dict[str, list[Balance]] = defaultdict(list)
    unfinished: dict[str, list[str]] = defaultdict(list)
    for balance in status.balances:
        balances[balance.venue_id].append(balance)
    for stage, venue_id in status.unfinished:
        unfinished[venue_id].append(stage)
    for venue in status.venues:
        venue_id = venue.venue_id
        yield from _venue(venue, status.censuses.get(venue_id, ()), balances[venue_id], unfinished[venue_id])


def _engines(status: WorkspaceStatus) -> Iterator[str]:
    """Yield the venues whose PDFs were read by another engine, or another version, than the current default."""
    name, version = status.default_engine
    for (other, other_version), number in Counter(status.engines.values()).items():
        if (other, other_version) != status.default_engine:
            were = verb(number, "was", "were")
            yield (
                f"{plural(number, 'venue')} {were} read by '{escape_controls(other)}'"
                f" {escape_controls(other_version)}; the default"
                f" here is '{name}' {version}, with which 'peercorpus build' would read the PDFs again."
            )


def _verdict(status: WorkspaceStatus) -> str:
    if not status.holds:
        return "Rows are missing: a sum above does not agree. Build again; if that does not help, report a bug."
    if status.unfinished:
        return "All sums of the finished stages agree; run 'peercorpus build' for the rest."
    return "All sums agree: no row is lost."


def standing(status: WorkspaceStatus) -> str:
    """Return how complete each venue is, the row balance of every stage, and whether all sums agree."""
    if not status.venues:
        return is_empty(status)
    return "\n".join([*lost(status.losses, is_built=True), *_venues(status), *closing_lines(status)])


def is_empty(status: WorkspaceStatus) -> str:
    """Return that a workspace is empty, and what to do."""
    return "\n".join(["The workspace is empty: harvest a venue, or import data.", *_move(status.placement)])


def closing_lines(status: WorkspaceStatus) -> Iterator[str]:
    """Yield lines on the whole workspace: other engines, an unfinished move, and whether all sums agree."""
    yield from _engines(status)
    yield from _move(status.placement)
    yield _verdict(status)


def form_doubts(censuses: Sequence[FormUsage]) -> Iterator[str]:
    """Yield doubts about the forms with which reviews were read."""
    for census in censuses:
        yield from (line.strip().removeprefix("form").strip() for line in _form_line(census))


def named_oddities(venue: Completeness) -> Iterator[str]:
    """Yield unreadable and odd records of a venue, which are kept, each with examples."""
    inventory, notes = venue.held, venue.notes
    oddities = (
        _named(inventory.unreadable, "not JSON, stored as received"),
        _named(inventory.odd_ids, "ids that OpenReview does not create"),
        _named(inventory.large_notes, f"notes over {LARGE_BYTES // 1_000_000} MB"),
        _named(notes.odd_titles, "titles that are markup, paths or no text") if notes else "",
    )
    yield from filter(None, oddities)


def _move(placement: Placement) -> Iterator[str]:
    if placement.other is not None:
        yield (
            f"A move is unfinished: '{escape_controls(placement.other)}' has copies of files and tables that are not"
            " used yet; if it was interrupted, run it again, or undo it with --to"
            f" {escape_controls(placement.at)}, where the originals are."
        )


def standing_json(status: WorkspaceStatus) -> str:
    """Return the whole status, including details that `standing` omits, as one JSON object in ASCII."""
    venues = [
        msgspec.to_builtins(venue)
        | {
            "cautions": [msgspec.to_builtins(issue) | {"sentence": caution(issue)} for issue in venue.cautions],
            "balances": [
                msgspec.to_builtins(row) | {"holds": row.holds}
                for row in status.balances
                if row.venue_id == venue.venue_id
            ],
            "forms": [
                msgspec.to_builtins(census)
                | {"from": read_form_origin(census.form_id).value, "is_verified": _is_verified(census)}
                for census in status.censuses.get(venue.venue_id, ())
            ],
            "unfinished": [stage for stage, venue_id in status.unfinished if venue_id == venue.venue_id],
            "read_by": status.engines.get(venue.venue_id),
        }
        for venue in status.venues
    ]
    content = {
        "holds": status.holds,
        "default_engine": status.default_engine,
        "move_begun": status.placement.other,
        "mostly_set_aside": [msgspec.to_builtins(loss) for loss in status.losses],
        "venues": venues,
    }
    return json.dumps(content, indent=2)
