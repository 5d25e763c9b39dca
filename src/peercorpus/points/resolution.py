"""Read from a reviewer's sentence whether points are resolved, and whether it is about all of them."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files

from peercorpus.criticism.align import ReviewMatcher
from peercorpus.criticism.kinds import split_words
from peercorpus.criticism.passages import Passage, read_passages
from peercorpus.criticism.sentence_ends import is_only_intended
from peercorpus.execution.stage import digest_of_data
from peercorpus.records.points import PointReaction, Reaction, ReactionScope
from peercorpus.records.scores import ScoreChange

_DATA = tomllib.loads(files(__package__).joinpath("resolution.toml").read_text(encoding="utf-8"))
DIGEST = digest_of_data(_DATA)
"""Digest of the words, part of the content key of the points."""

_THINGS = f"(?:{'|'.join(_DATA['things'])})"


def _compile(*names: str) -> re.Pattern[str]:
    """Return a pattern for the words of these lists."""
    words = "|".join(word for name in names for word in _DATA[name])
    return re.compile(rf"\b(?:{words})\b".replace("{thing}", _THINGS))


POSITIVE = _compile("resolved", "eased")
OPEN = _compile("open", "more")
_MORE = _compile("more")
PART = _compile("part", "eased")
UNSAID = _compile("unsaid")
_TIED = _compile("tied", "answer")
_DENIED = re.compile(
    rf"{_compile('answer').pattern}(?: \w+){{0,5}} (?:(?:do|does|did|is|are|was|were|has|have)(?: not|n't)|cannot)"
    rf"(?!\W*(?:been )?{_compile('told').pattern}) \w+"
)
"""Matches what an answer does not do, or what was not done with a point, by any verb."""
_DONE = re.compile(
    rf"\b(?:{_THINGS}s?\b(?: \w+){{0,8}} (?:has|have) (?:now |all )?been|my (?:\w+ )?{_THINGS}s? (?:was|were))"
    r" (?:\w+ly )?"
    rf"(?!{_compile('told', 'undone').pattern})\w+(?:ed|en|out)\b"
)
"""Matches what has been done with a point, by any verb."""
NOT = re.compile(rf"{_compile('not').pattern}|n't\b")
_PART_OF_MINE = re.compile(
    r"\b(?:most|many|some|several|few|one|two|part) of (?:my|the)\b|^\W*(?:partially|partly|somewhat)\b"
    rf"|\b(?:some|few|several|minor) (?:\w+ )?{_THINGS}s? (?:still )?(?:remain|persist)"
)
_ASKED = re.compile(r"\b(?:that|what|which) i (?:had )?(?:ask(?:ed)?|requested)(?: for| about)?\b|\bmy suggestions?\b")
"""Matches what was asked in the review, which is not asked now."""
UNIVERSAL = re.compile(r"(?<!\bat )\ball\b|\b(?:every|each|both|everything|fully|entirely|completely)\b")
_ABOUT = (
    r"(?! (?:about|on|regarding|with|concerning|of the)\b"
    r"(?! (?:this|the|your|my) (?:paper|work|submission|end|part|side)\b))"
)
ALL = re.compile(
    r"\b(?:all|each|every|both|any|none|neither|no(?! longer)|not (?:one|a single)|nor)\b"
    rf"(?: \w+){{0,5}}? {_THINGS}s?\b{_ABOUT}|\b(?:my|your)(?: \w+)?(?: and)? {_THINGS}s\b{_ABOUT}"
    r"|\b(?:satisfied|happy|content) (?:with|by) (?:it|(?:the|your)(?: authors')?"
    r" (?:rebuttal|responses?|repl(?:y|ies)|answers))(?=\W*$|,| and\b)"
    r"|\b(?:everything|nothing|no reason|my review)\b"
    rf"|\b(?:the {_THINGS}s (?:that |which )?i (?:had|raised|listed|mentioned|asked))\b"
    rf"|\b{_THINGS}s(?: \w+)? (?:have |are |were )?all\b"
)
"""Matches words about all points at once."""
_FEW_WORDS = 3
"""Most words of a sentence without a subject: "Partially addressed."."""
_WOULD = re.compile(r"\b(?:would|could|might)\b")
_BY_REVIEWER = re.compile(r"\breviewers?\b")
_MINE = re.compile(r"\b(?:i|my|mine)\b")
_OPENING = re.compile(
    r"^\W*(?:had|were|should|to|do|does|did|will|can|could|may|is|are|has|have)"
    r" (?:the|all|my|any|you|these|this|address|answer|resolve|clarify)\b|^\W*(?:address|answer|resolv|clarify)ing\b"
    r"|^\W*(?:if|unless|once|until|provided|assuming)\b"
)
"""Matches the beginning of a condition, a purpose or a question."""
_REASON = re.compile(r"\b(?:since|because|now that|given that|(?<!soon )(?<!long )as(?! (?:soon|long)\b))\b")
"""Matches what introduces a fact, whatever is intended because of it."""
_CONTENT = re.compile(r"\b(?:that|why|how|because|which)\b")
"""Matches what introduces the content of a concern, whose negations do not turn the predicate before it."""
_CONDITION = re.compile(
    r"(?:^\W*|[,;:] |\b(?:but|and|only) )(?:unless|until|provided|assuming|supposing|suppose|granted|as long as"
    r"|if(?! (?:anything|not|i (?:understand|read))\b)|once(?! (?:again|more)))\b|^\W*(?:had|were|should)\b"
    r"|^\W*(?:in order )?to (?!me\b|my\b|conclude\b|sum\b|summari[sz]e\b|be (?:fair|honest|clear)\b)"
    r"|^\W*(?:according to|as [^,]{0,80}\b(?:reviewers?|authors?|chair)\b[^,]{0,80} (?:says?|writes?|notes?|states?"
    r"|claims?|argues?|mentions?|points? out)\b)"
    r"|^\W*(?:after (?:all|each|every|both|my|these|those)\b .*\b(?:will|would)\b"
    r"|(?:with|given) (?:an?|such an?|more) .*\bwould\b"
    r"|an? (?:\w+ )?(?:\w+ing|satisfactory|sufficient|good|clear)"
    r" (?:answer|response|reply|explanation|argument).*\bwould\b)|[?:]\W*$"
    r"|\b(?:clear|sure|know|see|judge|decide|check|determine)\b.{0,80} whether\b"
)
"""Matches a sentence that states what would follow, what another says, or a question, and not that it is so."""
_ASSURANCE = re.compile(
    r"\b(?:i )?(?:(?:can|may|would|must|have to|am (?:happy|glad|pleased) to|want to|would like to)"
    r" (?:(?!not\b|never\b|hardly\b)\w+ )?(?:say|confirm|add|report|state|acknowledge|attest)|have no doubts?"
    r"|there is no (?:doubt|question|denying)"
    r"|(?:cannot|can't) (?:deny|dispute)) that\b|\bmust (?:say|admit)\b"
    r"|\bi can (?=(?:\w+ )?(?:follow|see|understand)\b)"
    r"|\bconsider(?:ed)?\b(?=.{0,80} (?:re)?(?:solved|closed|settled|addressed|answered|fixed)\b)"
)
"""Matches words before a statement that only assure it: their negation does not turn it."""
_OF_PAPER = re.compile(
    r"(?:^\W*(?:(?:the|this|that|these|your|our|their|an?|existing|prior|previous|earlier|recent|current|most|many|other"
    r"|proposed) ){0,3}(?:papers?|works?|manuscript|submission|methods?|approach(?:es)?|study|studies|models?"
    r"|algorithms?|datasets?|baselines?|networks?|architectures?|frameworks?|systems?|modules?|literature)\b"
    r"|\b(?:paper|method|approach|model|work)s?(?: that| which)? (?=(?:address|solve|resolve|tackle|fix)))"
    r"(?!.*\b(?:my|i|me|now|still|remains|w\d|q\d|{0}s?|reviews?|reviewers?)\b)".replace("{0}", "(?:concern|comment)")
)
"""Matches a sentence about papers and methods, and not about what the reviewer said."""
CLAUSES = re.compile(
    r"[,;:] |(?<=[.!?]) | [\u2013\u2014-]+ "
    r"| (?<!not )(?=(?:but also|but (?!one\b|two\b|the )|yet(?! to)|although|though|while|whereas|however|since|because"
    r"|and i)\b)"
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a sentence says about points.

    Attributes:
        is_about_all: Whether it is about all points, not about one or some of them.
    """

    reaction: Reaction
    is_about_all: bool


def read_resolution(sentence: str) -> Resolution | None:
    """Return what a sentence says about points; None if nothing, or only what is wished for, planned or conditional.

    >>> read_resolution("None of my concerns have been addressed.")
    Resolution(reaction=<Reaction.NOT_RESOLVED: 'not_resolved'>, is_about_all=True)
    >>> read_resolution("Once all my concerns are addressed, I will raise my score.")
    """
    text = " ".join(sentence.lower().replace("\u2019", "'").split())
    text = _ASSURANCE.sub("", text.replace("i'm ", "i am ").replace("i've ", "i have ")).strip()
    is_tied = _TIED.search(text) is not None or len(text.split()) <= _FEW_WORDS
    if not is_tied or _CONDITION.search(text) or (_BY_REVIEWER.search(text) and not _MINE.search(text)):
        return None
    read = [one for one in map(_read_clause, CLAUSES.split(text)) if one is not None]
    if not read:
        return None
    reactions = {one.reaction for one in read}
    is_part = PART.search(text) is not None and "without exception" not in text
    is_confined = is_part and (Reaction.RESOLVED in reactions or _PART_OF_MINE.search(text) is not None)
    if Reaction.PARTLY in reactions or len(reactions) > 1 or is_confined:
        return Resolution(Reaction.PARTLY, is_about_all=False)
    return Resolution(read[0].reaction, not is_part and any(one.is_about_all for one in read))


def _read_clause(clause: str) -> Resolution | None:
    """Return what a clause states: its first predicate, turned by every negation; None if it states nothing."""
    found = [match for match in (POSITIVE.search(clause), OPEN.search(clause)) if match is not None] or [
        match for match in (_DENIED.search(clause), _DONE.search(clause)) if match is not None
    ]
    if not found or _OPENING.search(clause) or _OF_PAPER.search(clause):
        return None
    predicate = min(found, key=re.Match.start)
    if _MORE.fullmatch(predicate[0]) and (later := POSITIVE.search(_CONTENT.split(clause)[0], predicate.end())):
        predicate = later
    is_open = predicate.re in {OPEN, _DENIED}
    before = _ASKED.sub("", _REASON.split(clause[: predicate.start()])[-1])
    after = clause[predicate.end() :]
    near = _CONTENT.split(after)[0]
    if UNSAID.search(before) or (not is_open and (is_only_intended(before, after) or _WOULD.search(near))):
        return None
    is_negated = len(NOT.findall(f"{clause[: predicate.start()]}| {'' if is_open else near}")) % 2 == 1
    if is_negated and not is_open and UNIVERSAL.search(clause):
        return Resolution(Reaction.PARTLY, is_about_all=False)
    reaction = Reaction.RESOLVED if is_open is is_negated else Reaction.NOT_RESOLVED
    return Resolution(reaction, ALL.search(clause) is not None)


MIN_CONFIDENCE = 0.5
"""Minimum probability for taking words of the reviewer to be about a point; our choice."""


@dataclass(frozen=True, slots=True)
class LaterWords:
    """Words of a reviewer after the review: a post, or words added to the review itself.

    Attributes:
        post_id: The post, or the review.
        text: The words, verbatim.
        created_at: Time of writing; None if unknown.
        score_changes: Score changes made by the reviewer in the same turn.
    """

    post_id: str
    text: str
    created_at: datetime | None
    score_changes: tuple[ScoreChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A reaction to one point, with the score changes of its turn."""

    reaction: PointReaction
    score_changes: tuple[ScoreChange, ...]


def read_reaction(words: Sequence[str]) -> Reaction | None:
    """Return the reaction that a sentence expresses; None if it expresses none.

    >>> read_reaction("my concern is still not addressed".split()), read_reaction("thanks for the reply".split())
    (<Reaction.NOT_RESOLVED: 'not_resolved'>, None)
    """
    resolution = read_resolution(" ".join(words))
    return None if resolution is None else resolution.reaction


def find_reactions(
    matcher: ReviewMatcher, later: Sequence[LaterWords], expecting: Sequence[int]
) -> Mapping[int, Verdict]:
    """Return the last reaction to each point, by its index; points without a reaction are absent.

    Args:
        matcher: Finds the point that a passage is about.
        later: The reviewer's later words, in time order.
        expecting: Points that words about all points at once refer to.
    """
    verdicts: dict[int, Verdict] = {}
    for words in later:
        passages = read_passages(words.text)
        told = [split_words(passage.words) for passage in passages]
        read = [read_resolution(passage.words) for passage in passages]
        for passage, resolution in zip(passages, read, strict=True):
            if resolution is not None and resolution.is_about_all:
                verdict = _make(words, passage, resolution.reaction, ReactionScope.ALL)
                verdicts.update(dict.fromkeys(expecting, verdict))
        for passage, resolution, found in zip(passages, read, matcher.attribute(passages, told), strict=True):
            if resolution is None or resolution.is_about_all or found.point is None:
                continue
            if found.probability >= MIN_CONFIDENCE:
                verdicts[found.point] = _make(words, passage, resolution.reaction, ReactionScope.POINT)
    return verdicts


def _make(words: LaterWords, passage: Passage, reaction: Reaction, scope: ReactionScope) -> Verdict:
    told = PointReaction(reaction, words.post_id, passage.words, scope, words.created_at)
    return Verdict(told, words.score_changes)
