"""Read from an invitation itself whether it can change a submission's PDF, and until when.

Source: openreview-py 2.9.1. A venue-wide invitation either edits submissions itself (`edit.note`) or is the template
of one invitation per paper (`edit.invitation.edit.note`), with dates of its own. A field that the form does not name
cannot be changed; one with `readers` and without `value` is only shown or hidden, as by the steps of the workflow
templates. `edit: true` allows everything.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from peercorpus.openreview.objects import decode_leniently, to_time

ANY_FIELD = "*"


class _Invitation(msgspec.Struct):
    """An invitation; its dates are milliseconds since the epoch, UTC."""

    edit: Any = None
    cdate: int | None = None
    duedate: int | None = None
    expdate: int | None = None


@dataclass(frozen=True, slots=True)
class PdfForm:
    """What an invitation states about the PDFs of submissions.

    Attributes:
        brings_pdf: Whether it can change a PDF; None if it does not say.
        opens_at: When it can first be used; None if unknown.
        due_at: When it is due; None if it states no due time.
        closes_at: When it can last be used; None if it stays open.
    """

    brings_pdf: bool | None
    opens_at: datetime | None = None
    due_at: datetime | None = None
    closes_at: datetime | None = None


def read_form(body: bytes) -> PdfForm:
    """Read an invitation as received; what cannot be read counts as absent."""
    invitation = decode_leniently(_Invitation, body)
    nested = invitation.edit.get("invitation") if isinstance(invitation.edit, dict) else None
    if isinstance(nested, dict):
        invitation = decode_leniently(_Invitation, msgspec.json.encode(nested))
    edit = invitation.edit
    return PdfForm(
        brings_pdf=_can_change(edit.get("note")) if isinstance(edit, dict) else None,
        opens_at=to_time(invitation.cdate),
        due_at=to_time(invitation.duedate),
        closes_at=to_time(invitation.expdate),
    )


def _can_change(note: object) -> bool | None:
    """Return whether a form for notes can change a submission's PDF, or None if it does not say."""
    content = note.get("content", {}) if isinstance(note, dict) else None
    if not isinstance(content, dict):
        return None
    fields = [content[name] for name in ("pdf", ANY_FIELD) if name in content]
    return any(not isinstance(field, dict) or "value" in field or "readers" not in field for field in fields)
