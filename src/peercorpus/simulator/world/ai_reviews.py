"""Generate an AI's reviews of a paper in the ways in which venues post them, with answers and surveys."""

from collections.abc import Callable, Iterator
from random import Random

from peercorpus.simulator.world.papers import ThreadEntry
from peercorpus.simulator.world.venues import Venue

LIKERT = ("Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree")
ANSWERS = {
    "share_of_valid_issues": ("None", "Less than 25%", "About 50%", "More than 75%", "All"),
    "false_claims": ("None", "One minor", "Several minor", "At least one serious", "Unsure"),
    "clear_feedback": LIKERT,
}
CLOSED_TO_GUESTS = 0.3
"""Share of surveys that are not public."""


def play_ai_review(
    chance: Random, venue: Venue, say: Callable[[str], str], status: str, index: int
) -> Iterator[ThreadEntry]:
    """Yield an AI's review and the replies to it, posted in the venue's next way; nothing if it has none.

    Args:
        chance: Draws people's answers.
        venue: The venue.
        say: Returns a passage of a kind.
        status: Outcome of the paper; a desk-rejected paper has no such review.
        index: Number of the paper among the generated ones, from 0.
    """
    if not venue.ai_ways or status == "desk_rejected":
        return
    way = venue.ai_ways[index % len(venue.ai_ways)]
    yield ThreadEntry("ai", way.invitation, way.signer, -4.5, {way.field: f"{say('summary')}\n\n{say('weaknesses')}"})
    yield ThreadEntry("ai-a", "Official_Comment", "authors", 4, {"comment": say("answer")}, "ai")
    if chance.random() < 0.5:
        yield ThreadEntry("ai-f", "Official_Comment", "R1", 5, {"comment": say("follow_up")}, "ai-a")
    for person in ("authors", "R2", "AC"):
        rated: dict[str, object] = {field: chance.choice(answers) for field, answers in ANSWERS.items()}
        is_closed = chance.random() < CLOSED_TO_GUESTS
        yield ThreadEntry(f"ai-s-{person}", "Survey", person, 8, rated, "ai", closed=is_closed)
