"""Which version of a paper a file is, by what stands in it: an inspection and the deadline → the second opinion."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from peercorpus.file_records import Inspection, Sign
from peercorpus.kinds import FileSays, SignKind
from peercorpus.versions.signs import MEANINGS
from peercorpus.versions.strength import Strength

SLACK = timedelta(days=1)
"""How much later than the deadline a file may say it was made: clocks are off, and times without a zone."""

OTHER = {FileSays.SUBMITTED: FileSays.FINAL, FileSays.FINAL: FileSays.SUBMITTED}


@dataclass(frozen=True, slots=True)
class Voice:
    """One sign, with what it speaks for and how much."""

    kind: SignKind
    speaks_for: FileSays
    strength: Strength
    words: str


def _voice(sign: Sign) -> Voice:
    meaning = MEANINGS[sign.kind]
    place = f"page {sign.page}: " if sign.page is not None else ""
    return Voice(sign.kind, meaning.speaks_for, meaning.strength, f"{place}{sign.words}")


def _dates(inspection: Inspection, deadline: datetime) -> Iterator[Voice]:
    """What the file's dates say beside a deadline: nothing, where it states none."""
    for at, what in ((inspection.made_at, "made"), (inspection.changed_at, "last changed")):
        if at is None or (what == "last changed" and at == inspection.made_at):
            continue
        said = f"the file says it was {what} on {at:%Y-%m-%d %H:%M} UTC"
        if at - deadline > SLACK:
            late = Strength.DECISIVE if what == "made" else Strength.HINT
            after = f"{said}, {(at - deadline).days} days after the deadline"
            yield Voice(SignKind.MADE_AT, FileSays.FINAL, late, after)
        elif what == "made":
            yield Voice(SignKind.MADE_AT, FileSays.SUBMITTED, Strength.HINT, f"{said}, not after the deadline")


def _decided(voices: Sequence[Voice]) -> FileSays:
    """Decisive signs that agree; else at least two kinds, one of them more than a hint, and none against."""
    decisive = [voice for voice in voices if voice.strength is Strength.DECISIVE]
    if any(voice.kind is SignKind.MADE_AT for voice in decisive):
        return FileSays.FINAL
    sides = {voice.speaks_for for voice in decisive or voices}
    if len(sides) != 1:
        return FileSays.NOTHING
    supported = any(voice.strength is not Strength.HINT for voice in voices)
    together = len({voice.kind for voice in voices}) > 1
    return sides.pop() if decisive or (supported and together) else FileSays.NOTHING


def judge(
    inspection: Inspection, deadline: datetime | None, *, names_are_open: bool = False
) -> tuple[FileSays, tuple[str, ...]]:
    """What the file says it is, and what in it says so; what speaks against it is named behind "although".

    A file made more than a day after the deadline is no version that was there at the deadline, whatever its layout:
    OpenReview gives out the bytes it was given, and of the four recorded initial and final files of one paper two
    differ on no other sign, for the papers were rejected and their last revisions are laid out as the first. Without
    a deadline no date says anything, and a revision that is still anonymous reads as submitted. A date of making that
    is early enough is but a hint: a final version keeps it where a program copies it. So is a late date of changing:
    stamps and archives change it. Else decisive signs decide, those that contradict each other say nothing, and
    others count only together.

    Args:
        inspection: What was found in the file.
        deadline: The last moment at which a PDF could be what the reviewers read; None where it is not known.
        names_are_open: Whether submissions to the venue name their authors, so that names tell nothing.
    """
    signs = (one for one in inspection.signs if not (names_are_open and one.kind is SignKind.NAMED_AUTHORS))
    voices = [*map(_voice, signs), *(_dates(inspection, deadline) if deadline else ())]
    says = _decided(voices)
    if says is FileSays.NOTHING:
        return says, tuple(f"{voice.speaks_for}: {voice.words}" for voice in _telling(voices))
    deciding = [voice for voice in voices if voice.speaks_for is says]
    against = [voice for voice in voices if voice.speaks_for is OTHER[says]]
    return says, (*(voice.words for voice in deciding), *(f"although {voice.words}" for voice in against))


def _telling(voices: Sequence[Voice]) -> Sequence[Voice]:
    """The decisive signs that contradict each other; where none does, whatever there is."""
    return [voice for voice in voices if voice.strength is Strength.DECISIVE] or voices
