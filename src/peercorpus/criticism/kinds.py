"""Classify the sentences of a review by kind and aspect, from the words and phrases of `words.toml`."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files

from peercorpus.execution.stage import digest_of_data
from peercorpus.records.points import PointAspect, PointKind

TOKEN = re.compile(r"[a-z0-9]+(?:['\u2019\-][a-z0-9]+)*")
"""Matches a word in lower case, including parts joined by an apostrophe or a hyphen."""

MIN_STEM = 3
"""Fewest letters that a stem keeps; our choice."""

REACH_WORDS = 4
"""Number of following words that are affected by a word that turns praise into criticism; our choice."""


@dataclass(slots=True)
class _Node:
    """A node of the tree of phrases, one word per level; has a `label` if a phrase ends here."""

    below: dict[str, "_Node"] = field(default_factory=dict)
    label: str | None = None


class Phrases:
    """Finds phrases in a sequence of words, the longest at each place.

    Args:
        by_label: Phrases by label, with words separated by one space; a final star matches any ending of the last word.

    Raises:
        ValueError: A phrase has two labels.
    """

    def __init__(self, by_label: Mapping[str, Iterable[str]]) -> None:
        self._root = _Node()
        self._has_stars = False
        for label, phrases in by_label.items():
            for phrase in dict.fromkeys(phrases):
                node = self._root
                for word in phrase.split():
                    node = node.below.setdefault(word, _Node())
                if node.label not in (None, label):
                    raise ValueError(f"The phrase '{phrase}' is listed under both {node.label} and {label}.")
                node.label = label

    def find(self, words: Sequence[str]) -> list[tuple[int, int, str]]:
        """Return first index, number of words and label of each phrase that occurs; they do not overlap."""
        found: list[tuple[int, int, str]] = []
        top = self._root.below
        index = 0
        while index < len(words):
            node = top.get(words[index])
            best = None
            length = 0
            while node is not None:
                length += 1
                if node.label is not None:
                    best = (index, length, node.label)
                if index + length >= len(words):
                    break
                node = _descend(node, words[index + length])
            if best is not None:
                found.append(best)
                index += best[1]
            else:
                index += 1
        return found


def _descend(node: _Node, word: str) -> _Node | None:
    below = node.below.get(word)
    if below is not None or not node.below:
        return below
    for known, child in node.below.items():
        if known.endswith("*") and word.startswith(known[:-1]):
            return child
    return None


@dataclass(frozen=True, slots=True)
class Words:
    """The words and phrases of `words.toml`, prepared for search.

    Attributes:
        kinds: Phrases that indicate the kind of a sentence.
        aspects: Phrases that indicate its aspect.
        turning: Words that turn a word of praise shortly after them into criticism or a suggestion.
        empty: Words that do not indicate what a passage is about.
        endings: Endings removed from a word before it is compared, longest first.
        headings: Texts of headings, with the kind of the text below each.
        plain_headings: Lines that are headings even without markup.
        digest: Digest of the file, for content keys.
    """

    kinds: Phrases
    aspects: Phrases
    turning: frozenset[str]
    empty: frozenset[str]
    endings: tuple[str, ...]
    headings: Mapping[str, PointKind]
    plain_headings: frozenset[str]
    digest: str


@cache
def read_words() -> Words:
    """Return the words and phrases that indicate kinds and aspects."""
    data = tomllib.loads(files("peercorpus.criticism").joinpath("words.toml").read_text(encoding="utf-8"))
    headings = {name: PointKind(kind) for kind, names in data["headings"].items() for name in names}
    return Words(
        kinds=Phrases(data["kinds"]),
        aspects=Phrases(data["aspects"]),
        turning=frozenset(data["turning"]["words"]),
        empty=frozenset(data["empty"]["words"]),
        endings=tuple(data["empty"]["endings"]),
        headings=headings,
        plain_headings=frozenset(headings).union(data["headings_without_marks"]["words"]),
        digest=digest_of_data(data),
    )


def split_words(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    >>> split_words("It isn\u2019t state-of-the-art (2x).")
    ['it', "isn't", 'state-of-the-art', '2x']
    """
    return TOKEN.findall(text.lower().replace("\u2019", "'"))


def read_heading_kind(words: Sequence[str]) -> PointKind | None:
    """Return the kind of the text below a heading; None if the heading does not indicate one.

    In a longer heading, the first words count, or the last ones: "Weaknesses and questions", "My main concerns".
    """
    headings = read_words().headings
    whole = " ".join(words)
    if whole in headings:
        return headings[whole]
    for length in range(min(4, len(words)), 0, -1):
        for part in (words[:length], words[-length:]):
            kind = headings.get(" ".join(part))
            if kind is not None:
                return kind
    return None


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return a word without its usual ending, so that "compared" and "comparisons" match.

    >>> stem("experiments"), stem("comparing"), stem("compared"), stem("is")
    ('experiment', 'compar', 'compar', 'is')
    """
    if len(word) > MIN_STEM:
        for ending in read_words().endings:
            if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
                return word[: -len(ending)]
    return word


def content_words(words: Iterable[str]) -> list[str]:
    """Return the stems of the words that indicate what a passage is about, each once, in order."""
    empty = read_words().empty
    return [*dict.fromkeys(stem(word) for word in words if word not in empty)]


def read_sentence_kind(words: Sequence[str], *, is_question: bool) -> PointKind | None:
    """Return the kind of a sentence from its words; None if they do not indicate one.

    Args:
        words: Its words.
        is_question: Whether it ends with a question mark.
    """
    if is_question:
        return PointKind.QUESTION
    votes: dict[str, int] = {}
    known = read_words()
    for index, _, label in known.kinds.find(words):
        before = words[max(0, index - REACH_WORDS) : index]
        if label == PointKind.STRENGTH and not known.turning.isdisjoint(before):
            label = PointKind.WEAKNESS
        votes[label] = votes.get(label, 0) + 1
    for kind in _PRECEDENCE:
        if votes.get(kind):
            return kind
    if not votes:
        return None
    praise, criticism = votes.get(PointKind.STRENGTH, 0), votes.get(PointKind.WEAKNESS, 0)
    return PointKind.STRENGTH if praise > criticism else PointKind.WEAKNESS


_PRECEDENCE = (PointKind.MINOR, PointKind.SUGGESTION, PointKind.QUESTION, PointKind.SUMMARY)
"""Kinds whose words decide, whatever else the sentence contains, in order of precedence."""


def read_aspect(words: Sequence[str]) -> PointAspect | None:
    """Return the aspect with the most words in a point; None if there is none, or two are tied."""
    votes: dict[str, float] = {}
    for _, length, label in read_words().aspects.find(words):
        votes[label] = votes.get(label, 0) + length
    if not votes:
        return None
    most = max(votes.values())
    leading = [label for label, count in votes.items() if count == most]
    return PointAspect(leading[0]) if len(leading) == 1 else None
