"""What `peercorpus status` says: how complete each venue is, what may mislead, and whether every sum agrees."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from peercorpus.forms.census import Census
from peercorpus.forms.known import Origin, find_declared, origin_named
from peercorpus.harvest.completeness import Completeness
from peercorpus.harvest.coverage import Coverage, PdfCoverage
from peercorpus.harvest.inventory import EXAMPLES, LARGE_BYTES, Inventory, Named
from peercorpus.harvest.traps import Caution, Trap
from peercorpus.pipeline import Standing
from peercorpus.placement import Placement
from peercorpus.stage import Balance
from peercorpus.wording import plural, printable

CAUTIONS = {
    Trap.COUNTS_DISAGREE: (
        "OpenReview gave another number of submissions than it announced in {examples}: the list changed while it was"
        " read, or hides some; harvest it again with --refresh."
    ),
    Trap.LISTED_TWICE: (
        "{count} of {of} papers are listed twice, such as {examples}: keep one of each before you count or split."
    ),
    Trap.BEFORE_DECISIONS: (
        "{count} of {of} papers with reviews have no decision: they were harvested before it, or the venue shows none;"
        " harvest it again with --refresh when decisions are out."
    ),
    Trap.NO_REJECTED: (
        "{count} of {of} decided papers shown are rejected ones: the venue shows them only if their authors agree, or"
        " not at all; take no acceptance rate from it."
    ),
    Trap.REVIEWS_HIDDEN: (
        "{count} of {of} papers are without reviews: the venue shows a part of them, or none; do not take it that they"
        " were not reviewed."
    ),
    Trap.WITHDRAWN_HIDDEN: (
        "The list of withdrawn papers is empty, which may mean that it is hidden; do not take it that nobody withdrew."
    ),
    Trap.REVERTED: (
        "The venue put its {count} reviews back to how they stood before the discussion: take their scores as the"
        " initial ones, and none as final."
    ),
    Trap.PDFS_OVERWRITTEN: (
        "All versions of {count} of {of} accepted papers, months apart, are one PDF, such as of {examples}: the chairs"
        " may have written the final PDF over the submitted one; look at its first page before you take it for initial."
    ),
    Trap.NO_DEADLINE: (
        "No deadline is known for {count} of {of} papers with a PDF, so none of their versions can be exact: the"
        " venue's invitation shows none for full papers, and the catalogue ('peercorpus venues') none with a source."
    ),
    Trap.NOT_PUBLIC: (
        "The account was shown {count} notes that are not public; they are never published, but harvest with an account"
        " that has no role at the venue."
    ),
}
"""What may mislead, and what to do about it."""


def caution(found: Caution) -> str:
    """One sentence on what may mislead, and what to do about it."""
    examples = ", ".join(f"'{printable(one)}'" for one in found.examples)
    of = "all" if found.of is None else f"{found.of:,}"
    return CAUTIONS[found.trap].format(count=f"{found.count:,}", of=of, examples=examples)


def _line(head: str, *told: str) -> Iterator[str]:
    """One line, unless there is nothing to tell."""
    parts = "; ".join(filter(None, told))
    if parts:
        yield f"  {head:<20} {parts}"


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())


def _causes(counts: Mapping[str, int]) -> str:
    return "; ".join(_some(printable(cause), number) for cause, number in counts.items())


def _some(what: str, number: int) -> str:
    return f"{what}: {number:,}" if number else ""


def _harvest_line(held: Inventory, pdfs: PdfCoverage | None) -> Iterator[str]:
    listed = {
        None: "imported, not harvested",
        True: "listed completely",
        False: "NOT listed completely; harvest it again without a limit",
    }[held.is_listed]
    of = f" of {held.expected:,} announced" if held.expected is not None else ""
    given = f"{plural(held.received, 'submission')} received{of}" if held.lists else ""
    seen = f"last seen {held.last_seen_at:%Y-%m-%d %H:%M} UTC" if held.last_seen_at else ""
    here = f"{pdfs.here:,} of {plural(pdfs.known, 'known PDF')} here" if pdfs else ""
    yield from _line("harvest", listed, given, seen, here)


def _missing_lines(held: Inventory, pdfs: PdfCoverage | None) -> Iterator[str]:
    never = _some("never asked for", pdfs.never_asked if pdfs else 0)
    yield from _line("files missing", _causes(held.files_not_had), never)
    yield from _line("edits missing", _causes(held.edits_not_had), _some("still to ask for", held.edits_left))


def _note_lines(notes: Coverage, gone: int, censuses: Sequence[Census]) -> Iterator[str]:
    bare = f"without reviews: {_counts(notes.without_reviews)}" if notes.without_reviews else ""
    unasked = sum(census.without_rating for census in censuses if census.asks_rating is False)
    yield from _line("papers", _counts(notes.papers), bare)
    yield from _line(
        "reviews",
        f"{notes.reviews:,}",
        _some("without a rating", notes.without_rating - unasked),
        _some("without a rating, as their form asks for none", unasked),
    )
    yield from _line(
        "notes",
        _some("dangling replies", notes.dangling_replies),
        _some("deleted", notes.deleted),
        _some("no longer shown", gone),
        _some("not public", notes.not_public),
    )


def _named(found: Named, what: str) -> str:
    if not found.count:
        return ""
    rest = ", …" if found.count > len(found.examples) else ""
    examples = ", ".join(f"'{printable(one)}'" for one in found.examples)
    return f"{what}: {found.count:,} ({examples}{rest})"


def _completeness(found: Completeness, censuses: Sequence[Census]) -> Iterator[str]:
    held, notes, pdfs = found.held, found.notes, found.pdfs
    yield from _harvest_line(held, pdfs)
    yield from _missing_lines(held, pdfs)
    yield from _note_lines(notes, held.gone, censuses) if notes else _line("notes", _some("no longer shown", held.gone))
    if pdfs is not None:
        yield from _line("initial versions", _counts(pdfs.grades))
    yield from _line(
        "kept, but odd",
        _named(held.odd_ids, "ids that OpenReview does not give"),
        _named(held.large_notes, f"notes over {LARGE_BYTES // 1_000_000} MB"),
        _named(notes.odd_titles, "titles that are markup, paths or no text") if notes else "",
    )


def _balance(balance: Balance) -> str:
    aside = sum(balance.set_aside.values())
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in balance.set_aside.items())
    why = f" ({reasons})" if aside else ""
    verdict = "agrees" if balance.holds else "DOES NOT AGREE"
    sums = f"{balance.rows_in:,} in = {balance.rows_out:,} out + {aside:,} set aside{why}"
    return f"  {balance.stage:<20} {balance.unit}: {sums}: {verdict}"


def _form_line(census: Census) -> Iterator[str]:
    """What there is to know of a form that reviews were read with."""
    if not census.reviews:
        return
    nulls = (
        f"answers that the form does not offer, and so null: {_fields(census.unoffered)}" if census.unoffered else ""
    )
    yield from _line("form", _doubt(census), _drift(census), nulls)


def _doubt(census: Census) -> str:
    """Why what was read with a form may be wrong, the form being no invitation's."""
    if origin_named(census.form_id) is Origin.INFERRED:
        return f"{plural(census.reviews, 'review')} read without a form, so that no scale is known"
    if _is_verified(census) is False:
        return f"read with '{census.form_id}', a declared form never seen in real reviews"
    if not census.unverified:
        return ""
    return f"fields known, or their answers, from code or memory only: {_fields(census.unverified)}"


def _is_verified(census: Census) -> bool | None:
    """Whether anything of the form was seen in real reviews; None where it is no declared one."""
    known = find_declared(census.form_id) if origin_named(census.form_id) is Origin.DECLARED else None
    return known.declared.is_verified if known and known.declared else None


def _fields(counts: Mapping[str, int]) -> str:
    told = ", ".join(f"'{printable(name)}' ({count:,})" for name, count in list(counts.items())[:EXAMPLES])
    return told + (", …" if len(counts) > EXAMPLES else "")


def _drift(census: Census) -> str:
    if not census.drifting:
        return ""
    answer = "answers fields its form does" if census.drifting == 1 else "answer fields their form does"
    return f"{plural(census.drifting, 'review')} {answer} not have: {_fields(census.unknown)}"


def _venue(venue: Completeness, found: Standing) -> Iterator[str]:
    yield printable(venue.venue_id, most=200)
    censuses = found.censuses.get(venue.venue_id, ())
    yield from _completeness(venue, censuses)
    for census in censuses:
        yield from _form_line(census)
    yield from (_balance(balance) for balance in found.balances if balance.venue_id == venue.venue_id)
    for stage, venue_id in found.unfinished:
        if venue_id == venue.venue_id:
            yield f"  {stage:<20} not built yet, or older than what it is made from"
    yield from (f"  Take care: {caution(one)}" for one in venue.cautions)
    yield from [f"  The catalogue says: {venue.remark}"] if venue.remark else ()


def _engines(found: Standing) -> Iterator[str]:
    """Which venues another engine read, or another version of it, than the one that is the default here."""
    name, version = found.default_engine
    for (other, other_version), number in Counter(found.engines.values()).items():
        if (other, other_version) != found.default_engine:
            were = "was" if number == 1 else "were"
            yield (
                f"{plural(number, 'venue')} {were} read by '{printable(other)}' {printable(other_version)}; the default"
                f" here is '{name}' {version}, with which 'peercorpus build' would read the PDFs again."
            )


def _verdict(found: Standing) -> str:
    if not found.holds:
        return "Rows are missing: a sum above does not agree. Rebuild; if that does not mend it, report it."
    if found.unfinished:
        return "All sums of what is built agree; run 'peercorpus build' for the rest."
    return "All sums agree: no row is lost."


def standing(found: Standing) -> str:
    """How complete each venue is; rows in, out and set aside of every stage, and whether the sums agree."""
    if not found.venues:
        return "\n".join(["The workspace is empty: harvest a venue, or import a dump.", *_move(found.placement)])
    lines = [line for venue in found.venues for line in _venue(venue, found)]
    return "\n".join([*lines, *_engines(found), *_move(found.placement), _verdict(found)])


def _move(found: Placement) -> Iterator[str]:
    if found.other is not None:
        yield (
            f"A move has not come to its end: '{printable(found.other)}' holds copies of files and tables that do not"
            f" count; if it was broken off, run it again, or with --to {printable(found.at)}, where they lie now."
        )


def _rows_json(rows: Sequence[Balance], venue_id: str) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(row) | {"holds": row.holds} for row in rows if row.venue_id == venue_id]


def _form_json(census: Census) -> dict[str, Any]:
    counted: dict[str, Any] = msgspec.to_builtins(census)
    return counted | {"from": origin_named(census.form_id).value, "is_verified": _is_verified(census)}


def standing_json(found: Standing) -> str:
    """All that `standing` says, and what it leaves out, as one JSON object in ASCII."""
    venues = [
        msgspec.to_builtins(venue)
        | {
            "cautions": [msgspec.to_builtins(one) | {"sentence": caution(one)} for one in venue.cautions],
            "balances": _rows_json(found.balances, venue.venue_id),
            "forms": list(map(_form_json, found.censuses.get(venue.venue_id, ()))),
            "unfinished": [stage for stage, venue_id in found.unfinished if venue_id == venue.venue_id],
            "read_by": found.engines.get(venue.venue_id),
        }
        for venue in found.venues
    ]
    told = {
        "holds": found.holds,
        "default_engine": found.default_engine,
        "move_begun": found.placement.other,
        "venues": venues,
    }
    return json.dumps(told, indent=2)
