"""Generated threads: how reviewers, authors and chairs of a venue answer each other, drawn by chance."""

from collections.abc import Callable, Mapping
from random import Random

from peercorpus.simulator.fields import Field
from peercorpus.simulator.script import Change, Entry
from peercorpus.simulator.venues import Venue

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
) -> tuple[Entry, ...]:
    """Give a whole thread, from the first review to the decision; `say` gives a passage of a kind."""
    stage = Stage(chance, venue, say, quality)
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


class Stage:
    """One thread while it is written."""

    def __init__(self, chance: Random, venue: Venue, say: Callable[[str], str], quality: float) -> None:
        self.chance, self.venue, self.say, self.quality = chance, venue, say, quality
        self.entries: list[Entry] = []

    def add(self, key: str, kind: str, by: str, at: float, content: Mapping[str, object], under: str = "") -> None:
        """Append an entry."""
        self.entries.append(Entry(key, kind, by, at, content, under))

    def review(self, reviewer: str) -> None:
        """Let a reviewer fill in the venue's form, and sometimes think again later."""
        fields = self.venue.forms[self.venue.review_name]
        content: dict[str, object] = {}
        for field in fields:
            answer = self._answer(field, reviewer)
            if answer is not None:
                content[field.name] = answer
        changes = (self._second_thought(fields, content),) if self.chance.random() < 0.22 else ()
        at = self.chance.uniform(1, 16)
        self.entries.append(Entry(reviewer, self.venue.review_name, reviewer, at, content, "", changes))

    def _answer(self, field: Field, reviewer: str) -> object:
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

    def _grade(self, field: Field) -> object:
        values = [option if isinstance(option, str) else option[0] for option in field.options]
        if field.name == "Ethical_Concerns":
            return "No"
        if set(values) == {"Yes", "No"}:
            return "Yes" if self.chance.random() < self.quality + 0.2 else "No"
        if not isinstance(values[0], int) and not values[0][0].isdigit():
            return self.chance.choice(values)
        ladder = sorted((value for value in values if str(value)[0].isdigit()), key=_leading_number)
        centre = self.quality if field.name not in ("confidence", "Reviewer_Confidence") else 0.62
        place = round((centre + self.chance.gauss(0, 0.16)) * (len(ladder) - 1))
        return ladder[max(0, min(place, len(ladder) - 1))]

    def _second_thought(self, fields: tuple[Field, ...], content: Mapping[str, object]) -> Change:
        """Let the rating move one step up where there is one, and say why where the form asks."""
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
        return Change(self.chance.uniform(8, 14), change)

    def discuss(self, reviewers: int) -> None:
        """Let the authors answer everyone, and whoever cares come back to it."""
        if self.chance.random() < 0.35:
            self._answer_all()
        for number in range(1, reviewers + 1):
            self._exchange(f"R{number}")
        if self.chance.random() < 0.15:
            content = {"title": "Please respond", "comment": self.say("chair")}
            self.add("chair", "Official_Comment", "AC", 7.5, content)
        if "Public_Comment" in self.venue.forms and self.chance.random() < 0.06:
            content = {"title": "A question on the data", "comment": self.say("public")}
            self.add("public", "Public_Comment", "~Tavi_Marrow1", 4.2, content)

    def _answer_all(self) -> None:
        if "Author_Rebuttal" in self.venue.forms:
            self.add("all", "Author_Rebuttal", "authors", 5, {"rebuttal": self.say("everyone")})
            return
        content = {"title": "Response to all reviewers", "comment": self.say("everyone")}
        self.add("all", "Official_Comment", "authors", 5, content)

    def _exchange(self, reviewer: str) -> None:
        at, key = self.chance.uniform(3, 6.5), f"{reviewer}a"
        in_parts = self._answer_review(reviewer, key, at)
        if self.chance.random() < 0.1:
            comment = {"title": "A reminder", "comment": self.say("reminder")}
            self.add(f"{reviewer}m", "Official_Comment", "authors", 9.1, comment, f"{key}2" if in_parts else key)
        if self.chance.random() < 0.5:
            self.add(f"{reviewer}f", "Official_Comment", reviewer, at + 4, {"comment": self.say("follow_up")}, key)
            if self.chance.random() < 0.4:
                thanks = {"title": "Thank you", "comment": self.say("thanks")}
                self.add(f"{reviewer}t", "Official_Comment", "authors", at + 5, thanks, f"{reviewer}f")
        if "Mandatory_Acknowledgement" in self.venue.forms and self.chance.random() < 0.6:
            ticked: dict[str, object] = {"mandatory_acknowledgement": ACKNOWLEDGED}
            self.add(f"{reviewer}k", "Mandatory_Acknowledgement", reviewer, 10, ticked, reviewer)

    def _answer_review(self, reviewer: str, key: str, at: float) -> bool:
        """Answer one review, in the venue's way and sometimes in two parts; true where there are two."""
        if self.venue.answer == "Rebuttal":
            self.add(key, "Rebuttal", "authors", at, {"rebuttal": self.say("answer")}, reviewer)
            return False
        in_parts = self.chance.random() < 0.25
        title = f"Response to Reviewer {{{reviewer}}}"
        first = {"title": f"{title} (1/2)" if in_parts else title, "comment": self.say("answer")}
        self.add(key, "Official_Comment", "authors", at, first, reviewer)
        if in_parts:
            second = {"title": f"{title} (2/2)", "comment": self.say("continuation")}
            under = key if self.chance.random() < 0.5 else reviewer
            self.add(f"{key}2", "Official_Comment", "authors", at + 0.002, second, under)
        return in_parts

    def decide(self, status: str, decision: str) -> None:
        """Let the chairs write what the venue's forms ask of them."""
        if "Meta_Review" in self.venue.forms:
            content: dict[str, object] = {"metareview": self.say("verdict")}
            for field in self.venue.forms["Meta_Review"][1:]:
                content[field.name] = self._recommendation(field, status) if field.options else self.say("verdict")
            self.add("meta", "Meta_Review", "AC", -12, content)
        if self.venue.rolling:
            verdict = self.say("verdict")
            judged = {"claims_and_evidence": verdict, "audience": self.say("summary"), "recommendation": decision}
            self.add("decision", "Decision", "AC", 0.2, judged)
            return
        comment = "" if "Meta_Review" in self.venue.forms else self.say("verdict")
        self.add("decision", "Decision", "PC", 0, {"title": "Paper Decision", "decision": decision, "comment": comment})

    def _recommendation(self, field: Field, status: str) -> object:
        return field.options[-1] if status == "rejected" else field.options[0]

    def desk_rejection(self) -> Entry:
        """Turn the paper away before any review."""
        kind = "Desk_Reject" if self.venue.api == 1 else "Desk_Rejection"
        content = {"title": "Submission Desk Rejected by Program Chairs", "desk_reject_comments": self.say("desk")}
        return Entry("desk", kind, "PC", -30, content)

    def withdrawal(self) -> Entry:
        """Let the authors take the paper back."""
        if self.venue.api == 1:
            confirmed = "I have read and agree with the venue's withdrawal policy."
            content = {"title": "Submission Withdrawn by the Authors", "withdrawal confirmation": confirmed}
            return Entry("leave", "Withdraw", "authors", 5.5, content)
        confirmed = "I have read and agree with the venue's withdrawal policy on behalf of us all."
        content = {"withdrawal_confirmation": confirmed, "comment": self.say("leave")}
        return Entry("leave", "Withdrawal", "authors", 5.5, content)


def _leading_number(value: object) -> int:
    return int(str(value).partition(":")[0])
