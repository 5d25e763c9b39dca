"""Examples of a feature: the words around it in a paper, without people."""

import re
from typing import NamedTuple

from peercorpus.audit.features import EMAIL_SIGN, NUMBERS, Facts, read_facts, words_of
from peercorpus.audit.phrases import ADDRESSES, CAPITALISED, edges
from peercorpus.audit.predictors import Feature, Kind
from peercorpus.audit.source import Row
from peercorpus.openreview.objects import blot_people

CONTEXT_CHARACTERS = 120
CAPITAL = re.compile(r"(?<![^\W_])[^\W\d_a-z][^\W_]*(?:['\u2019-][^\W_]+)*")
"""A word that begins with no small Latin letter: whoever it names is not shown."""
HIDDEN = "[\u2026]"
HIDDEN_IN_A_ROW = re.compile(r"\[\u2026\](?:[\W\d_]*\[\u2026\])+")
SHOWN = CAPITALISED | {
    *("a", "an", "the", "this", "that", "these", "we", "our", "it", "in", "on", "at", "to", "of", "for", "from", "by"),
    *("as", "and", "or", "but", "not", "no", "is", "are", "see", "if", "when", "while", "with", "under", "review"),
    *("paper", "papers", "author", "authors", "double", "double-blind", "blind", "submitted", "accepted", "workshop"),
    *("university", "institute", "department", "school", "college", "equal", "contribution", "corresponding"),
    *("supported", "funded", "thank", "code", "figure", "table", "section", "theorem", "camera-ready", "preliminary"),
}
"""Words that are shown with a capital letter too."""
BETWEEN = r"[\W_]+(?:\d+[\W_]+)*"
"""Between two words of a phrase, the number of a line too."""


class Example(NamedTuple):
    """One paper that has what a feature looks for.

    Attributes:
        context: The words around it, or its value; empty where there is nothing to show.
    """

    record_id: str
    accepted: bool
    context: str


def _without_people(text: str) -> str:
    hidden = CAPITAL.sub(lambda word: word[0] if word[0].casefold() in SHOWN else HIDDEN, str(blot_people(text)))
    return HIDDEN_IN_A_ROW.sub(HIDDEN, hidden)


def around(text: str, words: str) -> str:
    """The first place where a text says these words, in at most `CONTEXT_CHARACTERS`, less who else is named there.

    >>> around("Published as a conference paper. Ada Example (ada@example.org) of Kites", "published as")
    'Published as a conference paper. [\u2026] [e-mail] of [\u2026]'
    """
    text = ADDRESSES.sub(" [e-mail] ", text)
    pattern = BETWEEN.join(map(re.escape, words.split())) or r"(?!)"
    found = re.search(pattern, text, re.IGNORECASE)
    if found is None:
        return ""
    start = max(0, found.start() - CONTEXT_CHARACTERS)
    # Only whole words: the half of a name could not be told.
    before = text[start : found.start()].partition(" ")[2] if start else text[: found.start()]
    after = text[found.end() : found.end() + CONTEXT_CHARACTERS]
    after = after.rpartition(" ")[0] if found.end() + CONTEXT_CHARACTERS < len(text) else after
    said = " ".join(found[0].split())
    before, after = (" ".join(_without_people(part).split()) for part in (before, after))
    spaced = "" if text[found.end() : found.end() + 1].strip() else " "
    room = max(0, CONTEXT_CHARACTERS - len(said) - 2)
    left = before[-(room // 3) :] if room >= 3 else ""
    left = left.partition(" ")[2] if len(left) < len(before) else left
    return f"{left} {said}{spaced}{after[: room - len(left)]}".strip()[:CONTEXT_CHARACTERS]


def _value(feature: Feature, facts: Facts) -> str:
    if feature.kind is Kind.NUMBER:
        return f"{facts.numbers[NUMBERS.index(feature.name)]:,}"
    if feature.kind is Kind.CATEGORY:
        return str(blot_people(facts.categories.get(feature.name, "")))[:CONTEXT_CHARACTERS]
    return "[e-mail]" if feature.name == EMAIL_SIGN else ""


def example(feature: Feature, row: Row) -> Example:
    """What a paper shows of a feature that it has."""
    if feature.kind is Kind.PHRASE:
        shown = next(filter(None, (around(part, feature.name) for part in edges(row.text))), "")
    elif (words := words_of(feature.name)) is not None:
        shown = around(row.text, words)
    else:
        shown = _value(feature, read_facts(row))
    return Example(str(blot_people(row.record_id)), row.accepted, shown)
