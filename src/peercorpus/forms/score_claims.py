"""Read changes of scores from the reviewers' own words, and thereby the first scores.

This is weaker evidence than edits and snapshots: a change counts only if all of a reviewer's statements on a score
agree, and the later number is the score in the note.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from peercorpus.criticism.sentence_ends import is_only_intended
from peercorpus.forms import vocabulary
from peercorpus.forms.form import ReviewForm
from peercorpus.records.enums import Aspect, Phase, ScoreSource
from peercorpus.records.scores import Score, ScoreChange

_CHANGE = rf"(?:{'|'.join(verb.rstrip('e') for verb in vocabulary.CHANGE_WORDS)})\w*"
_VERB = re.compile(rf"\b{_CHANGE}", re.IGNORECASE)
"""Matches the verb before every change reported without an arrow: a quick test before the slow search."""
_NUMBER = r"\d+(?:\.\d+)?(?!\d|\.\d|\s*[/%])"
_TO = r"(?:to|into|->|-->|\u2192)"
_ARTICLE = r"(?:an?\s+)?\W{0,3}"
FROM_TO = re.compile(
    rf"from\s+{_ARTICLE}(?P<before>{_NUMBER})[^.\d\n]{{0,60}}?\s{_TO}\s+{_ARTICLE}(?P<after>{_NUMBER})"
)
TO_FROM = re.compile(
    rf"to\s+{_ARTICLE}(?P<after>{_NUMBER})[^.\d\n]{{0,60}}?[\s(]from\s+(?:[a-z]+\s+){{0,5}}?{_ARTICLE}(?P<before>{_NUMBER})"
)
"""Matches `to 8 from 5`, `to 6 (from the original rating of 5)`."""
TO_ONLY = re.compile(
    rf"to\s+(?:an?\s+)?[\"'*_(\[]{{0,3}}(?P<after>{_NUMBER})(?!\w|\s*(?:-{{1,2}}>|or\b|and\b|to\b|-|\u2013)\s*\d)"
)
"""Matches `to 8`, without the earlier number; not `to 6 or 7`."""
_TO_NUMBER = re.compile(r"to\s(?:\s*an?\s)?\W{0,5}\d")
"""Matches a part of every change reported without an arrow, which few texts contain."""
ARROW = re.compile(rf"(?<![\w.])(?P<before>{_NUMBER})\s*(?:-{{1,2}}>|=>|\u2192)\s*(?P<after>{_NUMBER})(?!\w)")
"""`5 -> 8`."""
CHANGE = re.compile(
    rf"(?s:.*)(?P<words>\b{_CHANGE}\s+(?:(?:up|down)\s+)?(?P<what>(?:[a-z]+\s+){{1,6}}?)"
    rf"|\bmy\s+(?P<which>(?:[a-z]+\s+){{1,4}}?)(?:(?:is|was|has|have|been|now)\s+){{0,3}}{_CHANGE}\s+)$",
    re.IGNORECASE,
)
"""Matches the words before the numbers; the last verb counts."""
ARROWED = re.compile(
    rf"(?s:.*)(?P<words>(?:\b{_CHANGE}\s+)?(?P<what>(?:\b[a-z]+\s+){{0,4}}?\b[a-z]+)\s*[:=(]?\s*)$", re.IGNORECASE
)
"""Matches the words before "5 -> 8": "updated my rating ", "Score: "."""
_BARE = re.compile(
    rf"(?:^|[.!?\n])[\W_]*(?P<words>(?:(?:I|I've|I'm|I\u2019ve|I\u2019m)\s+(?:have\s+|am\s+)?)?"
    rf"(?:(?:{'|'.join(sorted(vocabulary.OVERALL_WORDS))})\W+)?(?:(?:is|was|has|been)\s+){{0,2}}{_CHANGE}\s+)$",
    re.IGNORECASE,
)
"""Matches a sentence that begins "Increase from 5 to 6", "Score raised from 5 to 6"."""
_ENDS = re.compile(r"\s*(?:$|[.!;,:)\]\n*_]|(?:after|since|because|given|based|due|as|in|following)\b)", re.IGNORECASE)
"""Matches what may follow the numbers of such a sentence: not a noun that they might count."""
_NEAR_WORDS = 6
"""Number of words before the verb within which words of intention count; our choice."""
CLAUSE = re.compile(r"[^.!?;\n]*$")
OWN = re.compile(r"\b(?:i|we|my)\b", re.IGNORECASE)
_OWN_ALONE = re.compile(r"\b(?:i|my)\b", re.IGNORECASE)
NOT_OWN = re.compile(
    r"\b(?:not|cannot|if|unless|had|he|she|they|(?:other )?reviewers?|r\d)\b|n['\u2019]t\b"
    r"|\b(?:authors?|methods?|models?|papers?|it)\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
"""Matches words before the verb that make the change someone else's, or deny it."""
_MAX_CLAIM_CHARACTERS = 100
"""Number of characters before the numbers that are searched."""
_MAX_REST_CHARACTERS = 1_000
"""Number of characters after the numbers within which the end of the sentence is searched."""
OVERALL = vocabulary.OVERALL_WORDS
NEUTRAL = vocabulary.NEUTRAL_WORDS
NAMED = {name: aspect for name, aspect in vocabulary.ASPECTS.items() if name == aspect.value and name not in OVERALL}


class Claim(NamedTuple):
    """A change of a score in the reviewer's own words; `before` is None if they state only the later number."""

    aspect: Aspect
    before: float | None
    after: float
    words: str


def _find_aspect(words: str) -> Aspect | None:
    spoken = set(words.lower().split())
    named = spoken & NAMED.keys()
    if not spoken <= OVERALL | NEUTRAL | NAMED.keys() or len(named) > 1:
        return None
    if named:
        return NAMED[named.pop()]
    return Aspect.RECOMMENDATION if spoken & OVERALL else None


def _find_clause(before: str) -> str:
    match = CLAUSE.search(before)
    return match[0] if match else ""


def _is_only_intended(clause: str, spoken: str, rest: str) -> bool:
    near = " ".join(clause.split()[-_NEAR_WORDS:])
    return is_only_intended(f"{near} {spoken}", re.split(r"[.!?\n]", rest, maxsplit=1)[0])


def _is_own(clause: str, spoken: str, rest: str) -> bool:
    """Return whether a change was made, and by the writer: in the first person, or without words before the verb."""
    if NOT_OWN.search(clause) or _is_only_intended(clause, spoken, rest):
        return False
    return bool(OWN.search(f"{clause} {spoken}") or not clause.strip(" \t-*#:_\"'(["))


def _read_from_to(text: str) -> Iterator[tuple[tuple[int, int], Claim | None]]:
    for match in FROM_TO.finditer(text):
        start, end = match.span()
        begin = max(0, start - _MAX_CLAIM_CHARACTERS)
        rest = text[end : end + _MAX_REST_CHARACTERS]
        change = CHANGE.match(text, begin, start)
        before, after = float(match["before"]), float(match["after"])
        words, aspect = None, None
        if change is None:
            found = _BARE.search(text[begin:start])
            if found and _ENDS.match(text, end) and not _is_only_intended("", found["words"], rest):
                words, aspect = found["words"], Aspect.RECOMMENDATION
        elif _is_own(_find_clause(text[begin : change.start("words")]), change["words"], rest):
            words, aspect = change["words"], _find_aspect(change["what"] or change["which"])
        is_reported = aspect is not None and words is not None and before != after
        yield (start, end), Claim(aspect, before, after, words + match[0]) if is_reported else None  # type: ignore[arg-type, operator]


def _read_plain(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[tuple[int, int], Claim | None]]:
    is_arrow = pattern is ARROW
    for match in pattern.finditer(text):
        start, end = match.span()
        begin = max(0, start - _MAX_CLAIM_CHARACTERS)
        lead = text[max(text.rfind("\n", begin, start) + 1, begin) : start]
        if not is_arrow and not lead.endswith((" ", "\t")):
            continue  # The end of a word, or nothing.
        if not is_arrow and not _VERB.search(lead):
            continue
        report = ARROWED.match(lead) if is_arrow else CHANGE.match(re.sub(r"\s(?:up|down)\s+$", " ", lead))
        yield (start, end), _read_claim(lead, match, report, text[end : end + _MAX_REST_CHARACTERS]) if report else None


def _read_claim(lead: str, numbers: re.Match[str], report: re.Match[str], rest: str) -> Claim | None:
    clause = _find_clause(lead[: report.start("words")])
    if NOT_OWN.search(clause) or _is_only_intended(clause, report["words"], rest):
        return None
    is_alone = all(_drop_verb(word) == "" or word in NEUTRAL for word in re.findall(r"\w+", clause.lower()))
    if not is_alone and not _OWN_ALONE.search(f"{clause} {report['words']}"):
        return None
    aspect = _find_aspect(_drop_verb(report["what"]) if report.re is ARROWED else report["what"] or report["which"])
    before, after = numbers.groupdict().get("before"), numbers["after"]
    if aspect is None or before == after:
        return None
    return Claim(
        aspect, None if before is None else float(before), float(after), lead[report.start("words") :] + numbers[0]
    )


def _drop_verb(words: str) -> str:
    first, _, rest = words.partition(" ")
    return rest if re.fullmatch(_CHANGE, first, re.IGNORECASE) else words


def _read_all(text: str) -> Iterator[Claim]:
    has_to = _TO_NUMBER.search(text) is not None
    has_arrow = "->" in text or "=>" in text or "\u2192" in text
    if not has_to and not has_arrow:
        return
    readings = [*_read_from_to(text)]
    for pattern, may_match in ((TO_FROM, has_to), (ARROW, has_arrow), (TO_ONLY, has_to)):
        if not may_match:
            continue
        taken = bytearray(len(text))
        for (start, end), claim in readings:
            if claim is not None or pattern is TO_ONLY:
                taken[start:end] = b"x" * (end - start)
        for (start, end), claim in _read_plain(text, pattern):
            if claim is not None and taken.find(b"x", start, end) < 0:
                readings.append(((start, end), claim))
    yield from (claim for _, claim in readings if claim is not None)


def read_claims(text: str) -> Iterator[Claim]:
    """Yield every change of a score for which a text reports both numbers.

    >>> [claim[:3] for claim in read_claims("Thanks! I raise my overall score from 5 to 6. BLEU score from 3 to 4.")]
    [(<Aspect.RECOMMENDATION: 'recommendation'>, 5.0, 6.0)]
    >>> [claim[1:3] for claim in read_claims("I am raising my score to 8 from 5.")]
    [(5.0, 8.0)]
    """
    return (claim for claim in _read_all(text) if claim.before is not None)


def read_later_claims(text: str) -> Iterator[Claim]:
    """Yield every change of a score for which a text reports only the later number.

    >>> [claim[:3] for claim in read_later_claims("I raise my score to 8. I raise my rating from 5 to 6.")]
    [(<Aspect.RECOMMENDATION: 'recommendation'>, None, 8.0)]
    """
    return (claim for claim in _read_all(text) if claim.before is None)


def collect_claims(texts: Iterable[str]) -> frozenset[Claim]:
    """Return all changes of scores reported in the texts of one reviewer."""
    return frozenset(claim for text in texts for claim in _read_all(text))


def _find_agreed(scores: Sequence[Score], claims: Set[Claim]) -> Iterator[tuple[Score, str, float | None]]:
    """Yield the current scores whose change the reviewer reports, with the words and the earlier number.

    All claims on the aspect must agree, and the later number must be the note's one current score of it.
    """
    for score in scores if claims else ():
        matching = [claim for claim in claims if claim.aspect is score.aspect]
        earlier_numbers = {claim.before for claim in matching if claim.before is not None}
        is_only = sum(other.aspect is score.aspect for other in scores) == 1
        if not is_only or score.phase is not Phase.FINAL or {claim.after for claim in matching} != {score.value}:
            continue
        if len(earlier_numbers) <= 1:
            before = next(iter(earlier_numbers), None)
            yield score, min(claim.words for claim in matching if claim.before == before), before


def claimed_scores(scores: Sequence[Score], claims: Set[Claim], form: ReviewForm) -> Iterator[Score]:
    """Yield the first scores that the reviewer's own words report; each must be on a known scale."""
    for score, words, before in _find_agreed(scores, claims):
        if before is not None and _is_on_scale(before, score):
            unified = form.unify(score.field, before)
            first = replace(score, value=before, label=words, unified=unified, rank=None)
            yield replace(first, phase=Phase.INITIAL, source=ScoreSource.TEXT)


def reported_changes(scores: Sequence[Score], claims: Set[Claim]) -> Iterator[ScoreChange]:
    """Yield the changes, at unknown times, for which the reviewer's own words report only the later number."""
    for score, words, before in _find_agreed(scores, claims):
        if before is None:
            yield ScoreChange(score.aspect, score.field, None, score.value, None, ScoreSource.TEXT, words)


def _is_on_scale(value: float, score: Score) -> bool:
    if score.offered:
        return value in score.offered
    return score.low is not None and score.high is not None and score.low <= value <= score.high
