"""Compute the ids, names and times of a paper at a venue."""

import re
from dataclasses import dataclass
from functools import cached_property

from peercorpus.simulator.world.holdings import draw_id, draw_path, draw_share, draw_suffix
from peercorpus.simulator.world.papers import Draft, Script, ThreadEntry
from peercorpus.simulator.world.venues import DAY_MS, Calendar, Venue

PLACEHOLDER = re.compile(r"\{(R\d)\}")
REVIEW_KINDS = ("Official_Review", "Review")
OF_AI = {"AI": "AI_Reviewer", "AI of the paper": "AI_Reviewer", "administrator": "Automated_Administrator"}
"""The groups that sign an AI's posts."""
VERDICT_KINDS = ("Meta_Review", "Official_Recommendation", "Decision")
GRACE_MS = 30 * 60 * 1000


@dataclass(frozen=True)
class PaperTimeline:
    """A paper at a venue, with its number there."""

    venue: Venue
    seed: int
    number: int
    script: Script

    @cached_property
    def forum_id(self) -> str:
        """The id of the public submission."""
        return self.draw_id("forum")

    @cached_property
    def place(self) -> str:
        """The group that contains the groups and invitations of this paper (`…/Submission12`)."""
        return f"{self.venue.venue_id}/{self.venue.paper_name}{self.number}"

    @cached_property
    def calendar(self) -> Calendar:
        """The venue's calendar, or the paper's own at a venue without deadlines."""
        if not self.venue.rolling:
            return self.venue.calendar
        return self.venue.calendar.moved(self.number * 1.5)

    @cached_property
    def inner_circle(self) -> list[str]:
        """The readers of objects that only the venue and the authors may see."""
        return [self.venue.venue_id, f"{self.place}/Authors"]

    @cached_property
    def thread(self) -> list[ThreadEntry]:
        """The entries of the script in chronological order, which determines their numbers."""
        return sorted(self.script.thread, key=self.said)

    @cached_property
    def _lag(self) -> int:
        return int(self.draw_share("lag") * 6 * 3600 * 1000)

    def draw_id(self, *names: object) -> str:
        """Return the id of an object of this paper."""
        return draw_id(self.seed, self.venue.venue_id, self.number, *names)

    def draw_share(self, *names: object) -> float:
        """Return a number in [0, 1) for an object of this paper."""
        return draw_share(self.seed, self.venue.venue_id, self.number, *names)

    def path(self, version: Draft, folder: str = "pdf") -> str:
        """Return the path at which OpenReview would serve this version's PDF."""
        return f"/{folder}/{draw_path(self.seed, self.venue.venue_id, self.number, version.name)}.pdf"

    def signature(self, by: str) -> str:
        """Return the group or profile that signs for an entry's `by`."""
        if by.startswith(("~", "(")):
            return by
        if by == "authors":
            return f"{self.place}/Authors"
        if by == "PC":
            return f"{self.venue.venue_id}/{'Editors_In_Chief' if self.venue.rolling else 'Program_Chairs'}"
        if by in OF_AI:
            return f"{self.place if by == 'AI of the paper' else self.venue.venue_id}/{OF_AI[by]}"
        if by == "SAC":
            return f"{self.place}/Senior_Area_Chairs"
        if by == "AC":
            return f"{self.place}/{self._chair}"
        return f"{self.place}/{'AnonReviewer' if self.venue.api == 1 else 'Reviewer_'}{self.public_name(by)}"

    @cached_property
    def _chair(self) -> str:
        if self.venue.api == 1:
            return "Area_Chair1"
        name = "Action_Editor" if self.venue.rolling else "Area_Chair"
        return f"{name}_{draw_suffix(self.seed, self.place, 'AC')}"

    def public_name(self, reviewer: str) -> str:
        """Return the public name of reviewer `R1`: a number on API v1, four characters on API v2."""
        if self.venue.api == 1:
            return reviewer[1:]
        return draw_suffix(self.seed, self.place, reviewer)

    def spoken(self, answer: object) -> object:
        """Replace `{R1}` in a text with the reviewer's public name."""
        if isinstance(answer, str) and "{R" in answer:
            return PLACEHOLDER.sub(lambda match: self.public_name(match[1]), answer)
        return answer

    def submitted(self, version: Draft = Draft.SUBMISSION) -> int:
        """Return the time at which a version was uploaded, in epoch milliseconds."""
        calendar = self.calendar
        share = self.draw_share("upload", version.name)
        if version is Draft.EARLY:
            return (calendar.registration or calendar.deadline) - int((0.2 + 2 * share) * DAY_MS)
        if version is Draft.SUBMISSION:
            return calendar.deadline - int((0.01 + 0.12 * share) * DAY_MS)
        if version is Draft.REBUTTAL:
            return calendar.discussion + int((6 + 3 * share) * DAY_MS)
        return calendar.camera_ready + int(4 * share * DAY_MS)

    def registered(self) -> int:
        """Return the time of the first submission, in epoch milliseconds."""
        if Draft.EARLY in self.script.versions:
            return self.submitted(Draft.EARLY)
        if self.calendar.registration:
            return self.calendar.registration - int((0.02 + 3 * self.draw_share("registered")) * DAY_MS)
        return self.submitted()

    def said(self, entry: ThreadEntry) -> int:
        """Return the time of an entry, in epoch milliseconds."""
        phase = self.calendar.discussion
        if entry.kind in REVIEW_KINDS:
            phase = self.calendar.reviews
        elif entry.kind in VERDICT_KINDS:
            phase = self.calendar.decision
        return phase + int(entry.at * DAY_MS) + self._lag + int(self.draw_share("second", entry.key) * 40_000)

    def changed(self, at: float, key: str) -> int:
        """Return the time of a change, `at` days into the discussion, in epoch milliseconds."""
        return (
            self.calendar.discussion + int(at * DAY_MS) + self._lag + int(self.draw_share("change", key, at) * 40_000)
        )
