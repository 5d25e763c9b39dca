"""What a reviewer says in words of having changed a score: "I raise my score from 5 to 6"; the weakest source."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.kinds import Aspect, Phase, ScoreSource
from peercorpus.records import Score

_CHANGE = rf"(?:{'|'.join(verb.rstrip('e') for verb in vocabulary.CHANGE_WORDS)})\w*"
_NUMBER = r"\d+(?:\.\d+)?(?!\d|\.\d|\s*[/%])"
_TO = r"(?:to|into|->|-->|\u2192)"
FROM_TO = re.compile(
    rf"from\s+(?:an?\s+)?\W{{0,3}}(?P<before>{_NUMBER})[^.\d\n]{{0,60}}?\s{_TO}\s+(?:an?\s+)?\W{{0,3}}(?P<after>{_NUMBER})"
)
CHANGE = re.compile(
    rf"(?s:.*)(?P<words>\b{_CHANGE}\s+(?:(?:up|down)\s+)?(?P<what>(?:[a-z]+\s+){{1,6}}?)"
    rf"|\bmy\s+(?P<which>(?:[a-z]+\s+){{1,4}}?)(?:(?:is|was|has|have|been|now)\s+){{0,3}}{_CHANGE}\s+)$",
    re.IGNORECASE,
)
"""What stands before "from 5 to 6"; the last verb counts."""
CLAUSE = re.compile(r"[^.!?;\n]*$")
OWN = re.compile(r"\b(?:i|we|my)\b", re.IGNORECASE)
NOT_OWN = re.compile(
    r"\b(?:not|cannot|if|unless|had|he|she|they|(?:other )?reviewers?|r\d)\b|n['\u2019]t\b"
    r"|\b(?:authors?|methods?|models?|papers?|it)\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
"""Words before the verb with which the change is another's, or none."""
LONGEST_CHANGE = 100
"""Characters of it that are looked at."""
OVERALL, NEUTRAL = vocabulary.OVERALL_WORDS, vocabulary.NEUTRAL_WORDS
NAMED = {name: aspect for name, aspect in vocabulary.ASPECTS.items() if name == aspect.value and name not in OVERALL}


class Claim(NamedTuple):
    """A change of a score as the reviewer tells it.

    Attributes:
        words: The words it was read in, verbatim.
    """

    aspect: Aspect
    before: float
    after: float
    words: str


def _aspect_of(words: str) -> Aspect | None:
    """What the words between the verb and the numbers speak of; None where one of them is not known here."""
    spoken = set(words.lower().split())
    named = spoken & NAMED.keys()
    if not spoken <= OVERALL | NEUTRAL | NAMED.keys() or len(named) > 1:
        return None
    if named:
        return NAMED[named.pop()]
    return Aspect.RECOMMENDATION if spoken & OVERALL else None


def _is_own(before: str, spoken: str) -> bool:
    """Whether the change is the speaker's own: said in the first person, or with no other words before the verb.

    Args:
        before: What stands before the verb.
        spoken: What stands between the verb and the numbers.
    """
    found = CLAUSE.search(before)
    clause = found[0] if found else ""
    return not NOT_OWN.search(clause) and bool(OWN.search(f"{clause} {spoken}") or not clause.strip(" \t-*#:_\"'"))


def read_claims(text: str) -> Iterator[Claim]:
    """Every change of a score that a text tells of.

    >>> [claim[:3] for claim in read_claims("Thanks! I raise my overall score from 5 to 6. BLEU score from 3 to 4.")]
    [(<Aspect.RECOMMENDATION: 'recommendation'>, 5.0, 6.0)]
    """
    for match in FROM_TO.finditer(text):
        start = match.start()
        change = CHANGE.match(text, max(0, start - LONGEST_CHANGE), start)
        before, after = float(match["before"]), float(match["after"])
        if change is None or before == after:
            continue
        aspect = _aspect_of(change["what"] or change["which"])
        prefix = text[max(0, start - LONGEST_CHANGE) : change.start("words")]
        if aspect is not None and _is_own(prefix, change["words"]):
            yield Claim(aspect, before, after, change["words"] + match[0])


def claimed_scores(scores: Sequence[Score], texts: Iterable[str], form: ReviewForm) -> Iterator[Score]:
    """The first scores that the reviewer's own words tell of.

    A claim counts only where all claims of its aspect agree, the note has one such score, its scale is known and holds
    both numbers, and the later number is the note's.

    Args:
        scores: The note's scores of whose first value nothing else tells.
        texts: What the reviewer wrote, and nobody else.
        form: The form that the note answers.
    """
    claims = {claim for text in texts for claim in read_claims(text)}
    for score in scores if claims else ():
        told = sorted(claim for claim in claims if claim.aspect is score.aspect)
        is_only = sum(other.aspect is score.aspect for other in scores) == 1
        if is_only and score.phase is Phase.FINAL and len({claim[1:3] for claim in told}) == 1:
            claim = told[0]
            if score.value == claim.after and _is_on_scale(claim.before, score):
                unified = form.unify(score.field, claim.before)
                told_score = replace(score, value=claim.before, label=claim.words, unified=unified)
                yield replace(told_score, phase=Phase.INITIAL, source=ScoreSource.TEXT)


def _is_on_scale(value: float, score: Score) -> bool:
    if score.offered:
        return value in score.offered
    return score.low is not None and score.high is not None and score.low <= value <= score.high
