"""Recognise reminders: posts of the authors that only ask for a reply and say nothing about the paper."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_WORDS = tomllib.loads(files("peercorpus.conversations").joinpath("reminders.toml").read_text("utf-8"))
PROCESS, RECAP, FINDINGS, STATEMENTS = (
    frozenset(_WORDS[name].split()) for name in ("process", "recap", "findings", "statements")
)
ENDINGS = (
    *(("'s", ""), ("'ve", ""), ("'re", ""), ("'ll", ""), ("'d", ""), ("'m", ""), ("n't", "")),
    *(("ies", "y"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"), ("d", "")),
    *(("ing", ""), ("ing", "e"), ("ly", ""), ("er", ""), ("ers", ""), ("ment", ""), ("ments", "")),
)
_MAX_REMINDER_CHARACTERS = 4_000
"""Longer posts are never reminders."""
_MAX_QUOTED = 80
"""Number of characters of a sentence that an objection quotes."""

# What a reminder may weigh: a word about the paper counts one, and once more in the sentence with most of them; any
# other objection counts two. Fitted to the sets of labelled posts that are not held out.
_FREE = 1.0
_WORDS_PER_FREE = 30
_MOST_FREE = 6.0
_FREE_PER_ASK = 0.5
_MOST_ASKS = 4
_MOST_EVIDENCE = int(_MOST_FREE + _FREE_PER_ASK * (_MOST_ASKS - 1)) // 2

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
HARMLESS = re.compile(
    rf"\b{_MONTH}\s*\d{{1,2}}(?:[nrst][dht])?\b|\b\d{{1,2}}(?:[nrst][dht])?\s*(?:of\s+)?{_MONTH}(?!\w)"
    r"|\b\d{1,2}[nrst][dht]\b|\b\d{1,2}[:.]\d\d\s*(?:am|pm|h|aoe|utc|est|edt|pst)?\b|\b\d{1,2}\s*(?:am|pm)\b"
    r"|\b\d+\s*(?:\+|more)?[\s-]*(?:hours?|hrs?|h|days?|weeks?|minutes?|months?)\b|\b(?:19|20)\d\d\b"
    r"|\b(?:paper|submission)[\s#_]*\d+\b|(?<!\w)#\d{1,5}\b"
    r"|\b(?:anon)?(?:reviewers?|rev|r)[\s_#*`]*(?:\d\b|(?=\w*\d)\w{4}\b|(?-i:(?=\w*[A-Z])\w{4}\b))"
    r"|\b(?=[a-z]*\d)(?=\w*[a-z])\w{4}\b|\b[wq]\d\b|\(\s*\d\s*\)|^\s*(?:\(?\d{1,2}[.):]|[-*\u2022>#])+\s+"
    r"|\b(?:scores?|ratings?|rated?|from|to|shows?|an?|of|it)\W{0,3}\b(?:10|[1-9])\b(?!\s*(?:%|x\b|/|\.\d))",
    re.IGNORECASE | re.MULTILINE,
)
"""Numbers that are not evidence: dates, times, durations, scores, reviewers, points of a list."""
EVIDENCE = re.compile(
    r"\d|[=<>|$\\%\u00d7\u2264\u2265\u00b1\u2192{}]|https?:|\bet al\b"
    r"|\b(?:[Ss]ec(?:tion|t)?|[Aa]pp(?:endix)?|[Ff]igure|[Ff]ig|[Tt]ab(?:le)?|[Ee]q(?:uation)?|[Tt]heorem|[Ll]emma"
    r"|[Aa]lgorithm)\.?\s*~?[A-Z]\b"
)
SIGNS = re.compile(r"[=<|$%\u00d7\u2264\u2265\u00b1\u2192{}]|\d\.\d")
"""Evidence that is never harmless, so that most answers are recognised at little cost."""
QUOTATION = re.compile(r"^[^\S\n]*+>\s*+\S.*+\n[^\S\n]*+\n\s*+\S", re.MULTILINE)
"""A quotation of the review followed by an answer."""
TITLE = re.compile(r"\bremind|\bbump|\bping\b|\bnudg|\bfollow(?:ing)?[- ]?up\b|\bcheck(?:ing)?[- ]in\b", re.IGNORECASE)
"""Titles that state that a post is a reminder."""
_NUDGE = re.compile(
    rf"{TITLE.pattern}"
    r"|\b(?:chance|opportunity|time) to (?:\w+ ){0,2}?(?:look|read|review|see|check|consider|respond|reply)"
    r"|\b(?:not|n't|yet|never|nothing) (?:(?:yet|to|been|had) ){0,2}(?:hear|heard|receive|received)\b"
    r"|\bno (?:reply|response|answer|reaction) (?:so far|yet)|\b(?:still |kindly )?(?:a?waiting) (?:for )?your\b",
    re.IGNORECASE,
)
"""Words of a post that states that it is a reminder, and is no answer to what the reviewer posted last."""
_DONE_BY_AUTHORS = r"(?:include|incorporate|add|cite|share|release|extend|revise|adopt|consider|take|make|fix)"
ASKS = re.compile(
    r"\?|\bremind|\bdeadline|\bplease\b(?! (?:also )?(?:see|refer|find|note)\b)|\bplea\b|\bsilen(?:t|ce)"
    r"|\bkindly\b(?! (?:described|pointed|noted|raised|suggested|provided))"
    r"|\b(?:(?:could|would|can|will|if|may|might|hope|hoping|ask|invite|encourage|urge|beg|request) (?:that )?(?:we )?"
    r"(?:ask )?(?:you|reviewers?|the reviewer|this re)|(?:let|tell|inform|give|send) (?:us|me)"
    r"|hear(?:ing)? (?:(?:back|anything|a word|your|more) ){0,3}(?:from|of|what|whether|if)|to hear your"
    r"|look(?:ing)? forward|bump(?:ing)?|ping|nudge|following up|check(?:ing)?[ -]in|a?wait(?:ing|s)?"
    r"|(?:not|n't|yet|never|nothing) (?:(?:yet|to|been|had|received) ){0,3}"
    r"(?:hear|heard|receive|received|replied|respond|responded|answered|reacted)"
    r"|(?:heard|received) (?:nothing|back|from)"
    r"|no (?:\w+ )?(?:reply|response|answer|reaction|feedback|engagement|comment|word|news|discussion)"
    r"|requests?|urge|invite|hesitate|eager|keen|curious|wonder(?:ing)?|[ei]nquir(?:e|ing|y)|attention"
    rf"|(?:would|'d|will|'ll) (?:\w+ )?be (?:\w+ ){{0,3}}?(?:grateful|glad|happy|thankful|pleased|obliged|delighted"
    rf"|appreciated|ready)(?! to {_DONE_BY_AUTHORS}\b)"
    r"|(?:would|'d) (?:\w+ )?(?:appreciate|love|like to (?:know|ask|hear|learn|draw)|welcome|value)"
    r"|last (?:day|chance|hours?|message|opportunity)|(?:reconsider|re-?evaluat|reassess|revisit)\w*"
    r"|at your (?:\w+ )?(?:disposal|convenience)|(?:remain|stay|are)s? (?:\w+ )?(?:open|available|at hand)"
    r"|(?:days?|hours?|time|weeks?|minutes?) (?:\w+ )?(?:left|remain\w*|to go)|remain about|running out)\b"
)
"""Applied to lower-case text, because ignoring case takes twice as long."""
HINTS = re.compile(
    r"\b(?:discussion|period|phase|stage|window|thread|rebuttal|time|system)\b[^.]{0,60}"
    r"\b(?:clos|ending|ends?\b|extend|prolong|conclud|finish|expir|terminat|over\b|near)"
    r"|\b(?:(?:any|without|lack of|quick|short|brief|prompt|early|late) (?:\w+ )?(?:reply|response|answer|reaction"
    r"|feedback|engagement|comments?|word|return|news|opinion|thoughts|confirmation|acknowledge?ment)|expectation"
    r"|welcome (?:any|your|further|a)|appreciate (?:it|any|your|a)|encourage|hear|follow(?:ing)?[ -]?up)\b"
)
"""Parts of a sentence that asks for a reply, unless it thanks for one."""
THANKS = re.compile(
    r"\bthank|\bappreciate (?:your|the|it|for)\b|\bgrateful (?:for|to|that)\b|\bpleasure\b|\bwish you\b|\brespect your"
    r"|\b(?:glad|happy|delighted|pleased) (?:that|to (?:hear|see|know|learn))\b"
)
SPACE = re.compile(r"[^\S\n]{2,}|[^\S\n ]|(?<=[-=_*#~.]{3})[-=_*#~.]+")
LINES = re.compile(r"(?<!\s)(?:[^\S\n]*+\n){2}\s*+")
ESCAPED_LINE = re.compile(r"\\n(?=[A-Z\s\\]|$)")
"""A line break that was escaped twice, which is not a command of LaTeX."""
_YOURS = frozenset({"you", "your", "you'd", "you've", "you'll", "you're"})
_YOUR_POINT = re.compile(
    r"\byour (?:\w+ )?(?:concern|question|point|comment|doubt|score|rating|assessment|evaluation)s?\b"
)
WRAPPED = re.compile(r"(?<=[\w,])\n(?=[a-z])")
"""A line break within a sentence."""
SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


def _find_stems(word: str) -> Iterator[str]:
    """Yield a word and the words of which it may be an inflected form."""
    yield word
    for ending, instead in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            stem = word.removesuffix(ending) + instead
            yield stem
            if len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1]


@lru_cache(maxsize=16_384)
def _is_in(words: frozenset[str], word: str) -> bool:
    return not words.isdisjoint(_find_stems(word))


def is_reminder(title: str | None, text: str) -> bool:
    """Return whether a post only asks for a reply.

    >>> is_reminder(None, "Dear Reviewer, the discussion ends on Nov 26. Have we addressed your concerns?")
    True
    >>> is_reminder("Reminder", "The discussion ends soon. With three seeds the gap is 0.4 points.")
    False
    """
    if len(SIGNS.findall(text)) > _MOST_EVIDENCE:
        return False
    full_text = _join(title, text)
    if len(full_text) > _MAX_REMINDER_CHARACTERS:
        return False
    plain = _remove_harmless(full_text)
    return (
        plain is not None
        and bool(ASKS.search(plain.lower()) or HINTS.search(plain.lower()))
        and _weigh(title, text, plain).is_reminder
    )


def nudges(title: str | None, text: str) -> bool:
    """Return whether a reminder states that it is one.

    >>> nudges(None, "Have you had a chance to look at our reply?"), nudges(None, "Have we addressed your concerns?")
    (True, False)
    """
    return _NUDGE.search(_join(title, text)) is not None


def find_objections(title: str | None, text: str) -> tuple[str, ...] | None:
    """Return the objections that keep a post from being a reminder, in words; None if it asks for nothing.

    >>> find_objections("Reminder", "The discussion ends soon. With three seeds the gap is 0.4 points.")
    ("evidence: '0'", "evidence: '4'", "a word about the paper: 'gap'", "a word about the paper: 'seeds'")
    >>> find_objections(None, "Please reply before the discussion ends."), find_objections(None, "Thank you.")
    ((), None)
    """
    full_text = _join(title, text)
    too_long = len(full_text) > _MAX_REMINDER_CHARACTERS
    weighed = _weigh(title, text, HARMLESS.sub(" ", full_text[:_MAX_REMINDER_CHARACTERS]))
    if not weighed.asks:
        return None
    if weighed.is_reminder and not too_long:
        return ()
    return (
        *(f"more than {_MAX_REMINDER_CHARACTERS:,} characters" for _ in range(too_long)),
        *dict.fromkeys(weighed.objections),
        *(f"a word about the paper: '{word}'" for word in sorted(weighed.words)),
    )


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A post's words, weighed: sentences that ask for a reply, objections, and words about the paper."""

    asks: int
    objections: tuple[str, ...]
    words: frozenset[str]
    is_reminder: bool


def _weigh(title: str | None, text: str, plain: str) -> _Weighed:
    sentences = [(sentence, WORD.findall(sentence)) for sentence in SENTENCE.split(plain.lower())]
    asks = sum(
        bool(ASKS.search(sentence) or (HINTS.search(sentence) and not THANKS.search(sentence)))
        for sentence, _ in sentences
    )
    unknown = [
        {word for word in words if len(word) > 1 and not (_is_in(PROCESS, word) or _is_in(RECAP, word))}
        for _, words in sentences
    ]
    objections = [f"evidence: '{sign}'" for sign in EVIDENCE.findall(plain)]
    objections += [f"a statement: '{_shorten(one)}'" for one, words in sentences if _states_something(one, words)]
    objections += ["it quotes and answers"] * bool(QUOTATION.search(text))
    objections += ["letters of another alphabet"] * sum(sign.isalpha() and not sign.isascii() for sign in plain)
    if title and TITLE.search(title):
        unknown = [
            set() if _asks_verdict(one, words) else new for (one, words), new in zip(sentences, unknown, strict=True)
        ]
    words = frozenset[str]().union(*unknown)
    named = len(words) + max(map(len, unknown), default=0)
    allowed = min(_MOST_FREE, _FREE + sum(len(words) for _, words in sentences) / _WORDS_PER_FREE)
    allowed += _FREE_PER_ASK * (min(asks, _MOST_ASKS) - 1)
    return _Weighed(asks, tuple(objections), words, asks > 0 and 2 * len(objections) + named <= allowed)


def _states_something(sentence: str, words: Sequence[str]) -> bool:
    if words[:1] == ["yes"]:
        return True
    recaps = sum(_is_in(RECAP, word) for word in words)
    findings = sum(_is_in(FINDINGS, word) for word in words)
    if findings and findings + recaps > 1:
        return True
    return recaps > 0 and not STATEMENTS.isdisjoint(words) and not _asks_verdict(sentence, words)


def _asks_verdict(sentence: str, words: Sequence[str]) -> bool:
    """Return whether a sentence asks to judge something and does not state it: "whether the proof convinces you"."""
    is_indirect = not _YOURS.isdisjoint(words) and ("whether" in words or "if" in words)
    return is_indirect or (sentence.rstrip().endswith("?") and _YOUR_POINT.search(sentence) is not None)


def _join(title: str | None, text: str) -> str:
    lines = LINES.sub("\n\n", ESCAPED_LINE.sub("\n", f"{title or ''}\n\n{text}"))
    return SPACE.sub(" ", WRAPPED.sub(" ", lines)).replace("\u2019", "'")


def _shorten(sentence: str) -> str:
    words = " ".join(sentence.split())
    return words if len(words) <= _MAX_QUOTED else f"{words[:_MAX_QUOTED]}…"


def _remove_harmless(text: str) -> str | None:
    """Return a text without harmless numbers, or None at the first evidence beyond any reminder's."""
    parts: list[str] = []
    walked = signs = 0
    for match in HARMLESS.finditer(text):
        part = text[walked : match.start()]
        signs += len(EVIDENCE.findall(part))
        if signs > _MOST_EVIDENCE:
            return None
        parts.append(part)
        walked = match.end()
    return " ".join([*parts, text[walked:]])
