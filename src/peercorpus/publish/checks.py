"""One check of a release: how much was looked at, and what does not hold."""

from dataclasses import dataclass, field

MOST = 10
"""Breaches of a check that are named; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Breach:
    """One thing that does not hold.

    Attributes:
        file: Its path in the release.
        record_id: Of the row concerned; None where it is the file.
        what: What is wrong, in words of ours: never what a text says.
    """

    file: str
    record_id: str | None
    what: str


@dataclass(slots=True)
class Check:
    """What one check found.

    Attributes:
        noun: What it looks at, in the singular.
        looked_at: How many.
        breaches: The first of those found, at most ten.
        found: How many were found.
        left_out: What of it could not be checked, and why.
    """

    name: str
    noun: str
    looked_at: int = 0
    breaches: list[Breach] = field(default_factory=list)
    found: int = 0
    left_out: list[str] = field(default_factory=list)

    def breach(self, file: str, record_id: str | None, what: str) -> None:
        """Write down something that does not hold."""
        self.found += 1
        if len(self.breaches) < MOST:
            self.breaches.append(Breach(file, record_id, what))
