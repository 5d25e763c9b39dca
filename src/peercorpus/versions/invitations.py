"""Which invitations can have changed a submission's PDF, and when: `invitations.toml`, read once."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from peercorpus.kinds import VersionMoment
from peercorpus.openreview.objects import tail_of

_TEXT = files(__package__).joinpath("invitations.toml").read_text(encoding="utf-8")
DIGEST = hashlib.sha256(_TEXT.encode()).hexdigest()
"""Stands for this knowledge in the keys of what is chosen with it."""


@dataclass(frozen=True, slots=True)
class Stages:
    """What the invitations of a venue do to a PDF, by the last element of their id.

    Attributes:
        harmless: Cannot have changed the PDF after the deadline.
        full_paper: Bring the full paper, on or before the deadline.
        ambiguous: Do not touch the PDF by themselves, but chairs can change it with them.
        late: Bring a PDF only after reviewing began.
        moments: When a version came that one of them brought, where they tell.
    """

    harmless: frozenset[str]
    full_paper: frozenset[str]
    ambiguous: frozenset[str]
    late: frozenset[str]
    moments: Mapping[str, VersionMoment]

    def may_bring_the_full_paper(self, invitation: str) -> bool:
        """Whether a paper's own invitation may have brought a PDF before the deadline; unknown ones may."""
        tail = tail_of(invitation)
        if tail in self.full_paper:
            return True
        return tail not in self.harmless | self.ambiguous | self.late and tail.endswith(("Revision", "_Submission"))


def read_stages(text: str) -> dict[str, Stages]:
    """What invitations do, by venue; the empty id stands for every venue that is not named.

    A venue's own row comes on top of what holds in general, and names its source.
    """
    found = tomllib.loads(text)
    general = found["any"]
    rows = [{"id": "", "source": general["source"]}, *found.get("venue", ())]
    return {row["id"]: _stages(general, row) for row in rows if row["source"]}


def _stages(general: Mapping[str, Any], row: Mapping[str, Any]) -> Stages:
    def named(kind: str) -> frozenset[str]:
        return frozenset(general.get(kind, ())) | frozenset(row.get(kind, ()))

    full_paper, discussion, final = named("full_paper"), named("discussion"), named("camera_ready")
    return Stages(
        harmless=named("submission") | named("without_pdf") | full_paper,
        full_paper=full_paper,
        ambiguous=named("ambiguous"),
        late=named("late") | discussion | final,
        moments=dict.fromkeys(discussion, VersionMoment.DISCUSSION) | dict.fromkeys(final, VersionMoment.CAMERA_READY),
    )


@cache
def _known() -> dict[str, Stages]:
    return read_stages(_TEXT)


def stages_of(venue_id: str) -> Stages:
    """What the invitations of a venue do."""
    return _known().get(venue_id) or _known()[""]
