"""Texts of `demo`: its steps, what it made, and how to go on with a real venue."""

from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import conversation_lines
from peercorpus.records.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.cli.demo import DemoResult

SIMULATING = "Simulating OpenReview on this machine."
HARVESTING = "Harvesting it over HTTP."
BUILDING = "Building the tables."
PUBLISHING = "Publishing the dataset."


def demo_summary(result: "DemoResult") -> str:
    """Return what a demo made: one conversation, the counts, and where everything is."""
    contents = ", ".join(
        [
            plural(result.papers, "paper"),
            plural(result.reviews, "review"),
            f"{plural(result.conversations, 'conversation')} with reviewers",
        ]
    )
    places = f"The corpus is in {result.workspace}, the dataset in {result.release}."
    return f"\n{conversation_lines(result.example)}\n\nMade {contents}.\n{places}"


def real_venue(program: str) -> str:
    """Return the commands for a real venue."""
    return (
        "For a real venue, with an OpenReview account:\n"
        f"  {program} login\n"
        f"  {program} harvest ICLR2024 -w corpus --limit 20\n"
        f"  {program} build -w corpus\n"
        f"  {program} publish -w corpus --out release"
    )
