"""Reviews made worse in ways that nobody doubts, for a judge to rank below those that people wrote."""

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import cycle
from random import Random


class Degradation(StrEnum):
    """How a review was made worse."""

    SHUFFLED = "shuffled"
    """Its sentences stand in another order, chosen by chance; headings and lists keep their places."""
    TRUNCATED = "truncated"
    """Only the first third of its words is there."""
    FOREIGN = "from_another_paper"
    """It is a review of another paper of the same venue."""
    PADDED = "padded"
    """Sentences that fit every paper follow it, as many words again."""


SENTENCE_END = re.compile(r"((?<=[.!?])\s+|\n+)")
HEADING = re.compile(r"\s*#")
GENERIC = (
    "The paper addresses a topic that is of interest to the community.",
    "The authors present their work in the usual form.",
    "Some parts could be improved, while other parts are fine as they are.",
    "More experiments are always welcome, and more discussion may help some readers.",
    "The related work covers related work.",
    "Overall, the paper has strengths and weaknesses that should be weighed against each other.",
)
"""Sentences that say nothing of any paper; written for this purpose."""


def shuffled(text: str, chance: Random) -> str | None:
    """The sentences in another order; None where no other order reads differently."""
    parts = SENTENCE_END.split(text)
    places = [place for place in range(0, len(parts), 2) if parts[place].strip() and not HEADING.match(parts[place])]
    order = [parts[place] for place in places]
    if len(set(order)) < 2:
        return None
    drawn = order
    while drawn == order:
        drawn = chance.sample(order, len(order))
    for place, sentence in zip(places, drawn, strict=True):
        parts[place] = sentence
    return "".join(parts)


def truncated(text: str) -> str | None:
    """The first third of the words; None where there are fewer than three.

    >>> truncated("One two three four five six seven.")
    'One two'
    """
    words = list(re.finditer(r"\S+", text))
    return text[: words[len(words) // 3 - 1].end()] if len(words) >= 3 else None


def padded(text: str) -> str:
    """The text, and at least as many words that say nothing."""
    more, added = list[str](), 0
    for sentence in cycle(GENERIC):
        if added >= len(text.split()):
            break
        more.append(sentence)
        added += len(sentence.split())
    return f"{text}\n\n{' '.join(more)}"


def degrade(text: str, of_others: Sequence[str], chance: Random) -> dict[Degradation, str]:
    """Every way in which a review can be made worse.

    Args:
        text: The review, with words.
        of_others: Reviews of other papers of its venue.
        chance: What is drawn from.

    Returns:
        The worse reviews; a way that there is not for this one is missing.
    """
    made = {
        Degradation.SHUFFLED: shuffled(text, chance),
        Degradation.TRUNCATED: truncated(text),
        Degradation.FOREIGN: chance.choice(of_others) if of_others else None,
        Degradation.PADDED: padded(text),
    }
    return {name: worse for name, worse in made.items() if worse is not None}
