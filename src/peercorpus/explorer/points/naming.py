"""Put the facts about a point into words: kinds, aspects, methods, reactions, and the confidence in an answer."""

import re
from collections.abc import Mapping

from peercorpus.records.points import (
    AnswerMethod,
    ChangeSign,
    KindSource,
    PointAspect,
    PointChange,
    PointKind,
    Reaction,
    ReactionScope,
)
from peercorpus.release.point_rows import BY_MODEL

KINDS = {
    PointKind.SUMMARY: "Summary",
    PointKind.STRENGTH: "Strength",
    PointKind.WEAKNESS: "Weakness",
    PointKind.QUESTION: "Question",
    PointKind.SUGGESTION: "Suggestion",
    PointKind.MINOR: "Minor",
    PointKind.LIMITATION: "Limitation",
    PointKind.OTHER: "Other",
}
KIND_SOURCES: Mapping[str, str] = {
    KindSource.FIELD: "The kind is known from the form: the field is for this kind only.",
    KindSource.HEADING: "The kind is known from a heading that the reviewer wrote, or from a list of + and -.",
    KindSource.WORDS: "The kind follows from the point's own words, or those before it.",
    KindSource.NONE: "Nothing shows the kind.",
    BY_MODEL: "A language model named the kind.",
}
ASPECTS = {aspect: aspect.value.replace("_", " ").capitalize() for aspect in PointAspect}
METHODS: Mapping[str, str] = {
    AnswerMethod.QUOTE: "repeats words of the point",
    AnswerMethod.LABEL: "names the point's label",
    AnswerMethod.ORDER: "known only from its place among the answers",
    AnswerMethod.SIMILARITY: "shares rare words with the point",
    BY_MODEL: "named by a language model",
}
REACTIONS = {
    Reaction.RESOLVED: "Resolved",
    Reaction.PARTLY: "Partly resolved",
    Reaction.NOT_RESOLVED: "Not resolved",
}
SCOPES = {
    ReactionScope.POINT: "said of this point",
    ReactionScope.ALL: "said of all points",
}
SIGNS = {
    ChangeSign.TERMS: "shares the words",
    ChangeSign.PLACE: "at the place that the point names:",
    ChangeSign.PROMISE: "at the place that the answer promises:",
}
_WORD = re.compile(r"[^\W_]+")
_CONFIDENCES = ((0.9, "very likely"), (0.7, "likely"))


def describe_shared(change: PointChange, text: str) -> str:
    """Return the evidence that a change concerns a point; shared words in the form that the point has them.

    >>> describe_shared(PointChange(1, ChangeSign.TERMS, "kite tether"), "A tethered kite")
    'shares the words tethered, kite'
    """
    if change.sign is not ChangeSign.TERMS:
        return f"{SIGNS[change.sign]} {change.shared}"
    shared = change.shared.split()
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    shown = {stem: next((word for word in words if word.startswith(stem)), stem) for stem in shared}
    order = list(words)
    ranked = sorted(dict.fromkeys(shown.values()), key=lambda word: order.index(word) if word in words else len(order))
    return f"{SIGNS[change.sign]} {', '.join(ranked)}"


def describe_confidence(confidence: float | None) -> str:
    """Return how sure an answer is, in words and as a number on [0, 1]; None if that was not measured.

    >>> describe_confidence(0.934), describe_confidence(0.7), describe_confidence(0.5), describe_confidence(None)
    ('very likely, 0.93', 'likely, 0.70', 'uncertain, 0.50', 'not measured')
    """
    if confidence is None:
        return "not measured"
    words = next((words for least, words in _CONFIDENCES if confidence >= least), "uncertain")
    return f"{words}, {confidence:.2f}"
