"""Generate review threads of reviewers, authors and chairs."""

from collections.abc import Callable, Mapping
from random import Random

from peercorpus.simulator.world.forms import FormField
from peercorpus.simulator.world.papers import EntryEdit, ThreadEntry
from peercorpus.simulator.world.venues import Venue

PROSE = {
    "summary": "summary",
    "strengths": "strengths",
    "weaknesses": "weaknesses",
    "questions": "questions",
    "limitations": "limitations",
    "review": "review",
    "strengths_and_weaknesses": "both_sides",
    "Paper_Topic_and_Main_Contributions": "summary",
    "Reasons_to_accept": "strengths",
    "Reasons_to_reject": "weaknesses",
    "Questions_for_the_Authors": "questions",
    "Missing_References": "missing",
    "summary_of_contributions": "summary",
    "requested_changes": "requested",
    "broader_impact_concerns": "impact",
}
VERDICTS = ("rating", "Soundness")
ACKNOWLEDGED = [
    "I have read the author rebuttal.",
    "I have engaged in discussions and responded to authors.",
    "I have filled in the final justification and updated the rating if needed.",
]


def play_thread(
    chance: Random,
    venue: Venue,
    say: Callable[[str], str],
    quality: float,
    status: str,
    decision: str,
) -> tuple[ThreadEntry, ...]:
    """Return a complete thread, from the first review to the decision; `say` returns a passage of a kind."""
    stage = ThreadDraft(chance, venue, say, quality)
    if status == "desk_rejected":
        return (stage.desk_rejection(),)
    count = 3 if venue.rolling else chance.choice((3, 4, 4, 4, 5))
    for reviewer in range(1, count + 1):
        stage.review(f"R{reviewer}")
    if status == "withdrawn":
        return (*stage.entries, stage.withdrawal())
    stage.discuss(count)
    if decision:
        stage.decide(status, decision)
    return tuple(stage.entries)


class ThreadDraft:
    """A thread in the course of generation."""

    def __init__(self, chance: Random, venue: Venue, say: Callable[[str], str], quality: float) -> None:
        self.chance, self.venue, self.say, self.quality = chance, venue, say, quality
        self.entries: list[ThreadEntry] = []

    def add(self, key: str, kind: str, by: str, day: float, content: Mapping[str, object], under: str = "") -> None:
        """Append an entry."""
        self.entries.append(ThreadEntry(key=key, kind=kind, by=by, at=day, content=content, under=under))

    def review(self, reviewer: str) -> None:
        """Add a review in the venue's form, which the reviewer sometimes changes later."""
        fields = self.venue.forms[self.venue.review_name]
        content: dict[str, object] = {}
        for field in fields:
            answer = self._answer(field, reviewer)
            if answer is not None:
                content[field.name] = answer
        changes = (self._revise_review(fields, content),) if self.chance.random() < 0.22 else ()
        day = self.chance.uniform(1, 16)
        self.entries.append(
            ThreadEntry(
                key=reviewer,
                kind=self.venue.review_name,
                by=reviewer,
                at=day,
                content=content,
                under="",
                changes=changes,
            )
        )

    def _answer(self, field: FormField, reviewer: str) -> object:
        if field.many:
            return [field.options[0]]
        if field.options:
            return self._grade(field)
        if field.name == "title":
            return f"Official Blind Review #{reviewer[1:]}"
        kind = PROSE.get(field.name)
        if kind is None or (field.optional and self.chance.random() < 0.3):
            return None
        return self.say(kind)

    def _grade(self, field: FormField) -> object:
        values = [option if isinstance(option, str) else option[0] for option in field.options]
        if field.name == "Ethical_Concerns":
            return "No"
        if set(values) == {"Yes", "No"}:
            return "Yes" if self.chance.random() < self.quality + 0.2 else "No"
        if not isinstance(values[0], int) and not values[0][0].isdigit():
            return self.chance.choice(values)
        ladder = sorted((value for value in values if str(value)[0].isdigit()), key=_leading_number)
        centre = self.quality if field.name not in ("confidence", "Reviewer_Confidence") else 0.62
        rank = round((centre + self.chance.gauss(0, 0.16)) * (len(ladder) - 1))
        return ladder[max(0, min(rank, len(ladder) - 1))]

    def _revise_review(self, fields: tuple[FormField, ...], content: Mapping[str, object]) -> EntryEdit:
        """Return a change that raises the rating by one step if possible, with a reason if the form asks for one."""
        change: dict[str, object] = {}
        for field in fields:
            if field.name in VERDICTS:
                values = [option if isinstance(option, str) else option[0] for option in field.options]
                ladder = sorted(values, key=_leading_number)
                change[field.name] = ladder[min(ladder.index(content[field.name]) + 1, len(ladder) - 1)]  # type: ignore[arg-type]
            if field.name == "final_justification":
                change[field.name] = self.say("justification")
            if field.name == "requested_changes":
                change[field.name] = self.say("requested")
        return EntryEdit(self.chance.uniform(8, 14), change)

    def discuss(self, reviewers: int) -> None:
        """Add the discussion: answers of the authors, and replies of reviewers, chairs and the public."""
        if self.chance.random() < 0.35:
            if "Author_Rebuttal" in self.venue.forms:
                self.add("all", "Author_Rebuttal", "authors", 5, {"rebuttal": self.say("everyone")})
            else:
                content = {"title": "Response to all reviewers", "comment": self.say("everyone")}
                self.add("all", "Official_Comment", "authors", 5, content)
        for number in range(1, reviewers + 1):
            self._exchange(f"R{number}")
        if self.chance.random() < 0.15:
            content = {"title": "Please respond", "comment": self.say("chair")}
            self.add("chair", "Official_Comment", "AC", 7.5, content)
        if "Public_Comment" in self.venue.forms and self.chance.random() < 0.06:
            content = {"title": "A question on the data", "comment": self.say("public")}
            self.add("public", "Public_Comment", "~Tavi_Marrow1", 4.2, content)

    def _exchange(self, reviewer: str) -> None:
        day = self.chance.uniform(3, 6.5)
        key = f"{reviewer}a"
        in_parts = self._answer_review(reviewer, key, day)
        if self.chance.random() < 0.1:
            comment = {"title": "A reminder", "comment": self.say("reminder")}
            self.add(f"{reviewer}m", "Official_Comment", "authors", 9.1, comment, f"{key}2" if in_parts else key)
        if self.chance.random() < 0.5:
            self.add(f"{reviewer}f", "Official_Comment", reviewer, day + 4, {"comment": self.say("follow_up")}, key)
            if self.chance.random() < 0.4:
                thanks = {"title": "Thank you", "comment": self.say("thanks")}
                self.add(f"{reviewer}t", "Official_Comment", "authors", day + 5, thanks, f"{reviewer}f")
        if "Mandatory_Acknowledgement" in self.venue.forms and self.chance.random() < 0.6:
            ticked: dict[str, object] = {"mandatory_acknowledgement": ACKNOWLEDGED}
            self.add(f"{reviewer}k", "Mandatory_Acknowledgement", reviewer, 10, ticked, reviewer)

    def _answer_review(self, reviewer: str, key: str, day: float) -> bool:
        """Add the authors' answer to a review in the venue's form; return whether it has two parts."""
        if self.venue.answer == "Rebuttal":
            self.add(key, "Rebuttal", "authors", day, {"rebuttal": self.say("answer")}, reviewer)
            return False
        in_parts = self.chance.random() < 0.25
        title = f"Response to Reviewer {{{reviewer}}}"
        first = {"title": f"{title} (1/2)" if in_parts else title, "comment": self.say("answer")}
        self.add(key, "Official_Comment", "authors", day, first, reviewer)
        if in_parts:
            second = {"title": f"{title} (2/2)", "comment": self.say("continuation")}
            under = key if self.chance.random() < 0.5 else reviewer
            self.add(f"{key}2", "Official_Comment", "authors", day + 0.002, second, under)
        return in_parts

    def decide(self, status: str, decision: str) -> None:
        """Add the meta-review, if the venue has one, and the decision."""
        if "Meta_Review" in self.venue.forms:
            content: dict[str, object] = {"metareview": self.say("verdict")}
            # Recommendations go from the best to the worst.
            recommended = -1 if status == "rejected" else 0
            for field in self.venue.forms["Meta_Review"][1:]:
                content[field.name] = field.options[recommended] if field.options else self.say("verdict")
            self.add("meta", "Meta_Review", "AC", -12, content)
        if self.venue.rolling:
            verdict = self.say("verdict")
            judged = {"claims_and_evidence": verdict, "audience": self.say("summary"), "recommendation": decision}
            self.add("decision", "Decision", "AC", 0.2, judged)
            return
        comment = "" if "Meta_Review" in self.venue.forms else self.say("verdict")
        self.add("decision", "Decision", "PC", 0, {"title": "Paper Decision", "decision": decision, "comment": comment})

    def desk_rejection(self) -> ThreadEntry:
        """Return the desk rejection, before any review."""
        kind = "Desk_Reject" if self.venue.api == 1 else "Desk_Rejection"
        content = {"title": "Submission Desk Rejected by Program Chairs", "desk_reject_comments": self.say("desk")}
        return ThreadEntry(key="desk", kind=kind, by="PC", at=-30, content=content)

    def withdrawal(self) -> ThreadEntry:
        """Return the withdrawal by the authors."""
        if self.venue.api == 1:
            confirmed = "I have read and agree with the venue's withdrawal policy."
            content = {"title": "Submission Withdrawn by the Authors", "withdrawal confirmation": confirmed}
            return ThreadEntry(key="leave", kind="Withdraw", by="authors", at=5.5, content=content)
        confirmed = "I have read and agree with the venue's withdrawal policy on behalf of us all."
        content = {"withdrawal_confirmation": confirmed, "comment": self.say("leave")}
        return ThreadEntry(key="leave", kind="Withdrawal", by="authors", at=5.5, content=content)


def _leading_number(value: object) -> int:
    return int(str(value).partition(":")[0])
