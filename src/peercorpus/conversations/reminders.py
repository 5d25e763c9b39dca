"""Recognise reminders: posts of the authors that only ask for a reply and say nothing about the paper."""

import re
import tomllib
from collections.abc import Iterator
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
_MAX_OTHER_WORDS = 3
"""Largest number of words outside the lists in a reminder, with at most one per sentence."""
_MAX_OTHER_SHARE = 0.08
"""Largest share of such words among all words of a reminder."""

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
QUOTATION = re.compile(r"^[^\S\n]*+>\s*+\S.*+\n[^\S\n]*+\n\s*+\S", re.MULTILINE)
"""A quotation of the review followed by an answer."""
ASKS = re.compile(
    r"\?|\bremind|\bdeadline|\bplease\b(?! (?:also )?(?:see|refer|find|note)\b)"
    r"|\b(?:kindly|could you|would you|can you|let us know|hear(?:ing)? from|look(?:ing)? forward|bump(?:ing)?|ping"
    r"|nudge|follow(?:ing)? up on|check(?:ing)? in|await(?:ing)?|waiting|not (?:yet )?(?:heard|received)"
    r"|no (?:reply|response|answer)|hope (?:you|that you|this)|ask you|request|urge|encourage|invite|hesitate"
    r"|would be (?:grateful|glad|happy|thankful)|last (?:day|chance))\b"
    r"|\b(?:discussion|period|phase|stage|window|thread)\b[^.]{0,60}\b(?:close|closing|end|extend|conclude|concluding)"
)
"""Applied to lower-case text, because ignoring case takes twice as long."""
SPACE = re.compile(r"[^\S\n]{2,}|[^\S\n ]|(?<=[-=_*#~.]{3})[-=_*#~.]+")
LINES = re.compile(r"(?<!\s)(?:[^\S\n]*+\n){2}\s*+")
_MAX_REMINDER_CHARACTERS = 4_000
"""Longer posts are never reminders."""
_MAX_QUOTED = 80
"""Number of characters of a sentence that an objection quotes."""
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
    full_text = SPACE.sub(" ", LINES.sub("\n\n", f"{title or ''}\n\n{text}")).replace("\u2019", "'")
    if len(full_text) > _MAX_REMINDER_CHARACTERS or not ASKS.search(full_text.lower()) or QUOTATION.search(text):
        return False
    plain = _remove_harmless(full_text)
    if plain is None or _gives_evidence(plain):
        return False
    sentences = [WORD.findall(sentence) for sentence in SENTENCE.split(plain.lower())]
    if any(map(_says_something, sentences)):
        return False
    others = [
        sum(len(word) > 1 and not _is_in(PROCESS, word) and not _is_in(RECAP, word) for word in sentence)
        for sentence in sentences
    ]
    most = max(1, _MAX_OTHER_SHARE * sum(map(len, sentences)))
    return sum(others) <= min(_MAX_OTHER_WORDS, most) and max(others) <= 1


def find_objections(title: str | None, text: str) -> tuple[str, ...] | None:
    """Return the objections that keep a post from being a reminder, in words; None if it asks for nothing.

    >>> find_objections("Reminder", "The discussion ends soon. With three seeds the gap is 0.4 points.")
    ("evidence: '0'", "evidence: '4'", "a word about the paper: 'gap'", "a word about the paper: 'seeds'")
    >>> find_objections(None, "Please reply before the discussion ends."), find_objections(None, "Thank you.")
    ((), None)
    """
    full_text = SPACE.sub(" ", LINES.sub("\n\n", f"{title or ''}\n\n{text}")).replace("\u2019", "'")
    if not ASKS.search(full_text.lower()):
        return None
    objections = [f"more than {_MAX_REMINDER_CHARACTERS:,} characters"] * (len(full_text) > _MAX_REMINDER_CHARACTERS)
    objections += ["it quotes and answers"] * bool(QUOTATION.search(text))
    plain = HARMLESS.sub(" ", full_text[:_MAX_REMINDER_CHARACTERS])
    objections += [f"evidence: '{sign}'" for sign in dict.fromkeys(EVIDENCE.findall(plain))]
    objections += ["letters of another alphabet"] * any(sign.isalpha() and not sign.isascii() for sign in plain)
    sentences = SENTENCE.split(plain.lower())
    objections += [f"a statement: '{_shorten(one)}'" for one in sentences if _says_something(WORD.findall(one))]
    words = {word for word in WORD.findall(plain.lower()) if len(word) > 1}
    others = sorted(word for word in words if not _is_in(PROCESS, word) and not _is_in(RECAP, word))
    if others and not is_reminder(title, text):
        objections += [f"a word about the paper: '{word}'" for word in others]
    return tuple(objections)


def _shorten(sentence: str) -> str:
    words = " ".join(sentence.split())
    return words if len(words) <= _MAX_QUOTED else f"{words[:_MAX_QUOTED]}…"


def _remove_harmless(text: str) -> str | None:
    """Return a text without harmless numbers, or None at the first evidence, so that the rest need not be searched."""
    parts: list[str] = []
    walked = 0
    for match in HARMLESS.finditer(text):
        part = text[walked : match.start()]
        if _gives_evidence(part):
            return None
        parts.append(part)
        walked = match.end()
    return " ".join([*parts, text[walked:]])


def _gives_evidence(text: str) -> bool:
    if EVIDENCE.search(text):
        return True
    return not text.isascii() and any(letter.isalpha() and not letter.isascii() for letter in text)


def _says_something(sentence: list[str]) -> bool:
    """Return whether a sentence reports a finding, answers yes or no, or states more than a recap."""
    if any(_is_in(FINDINGS, word) for word in sentence) or sentence[:1] in (["yes"], ["no"]):
        return True
    return not STATEMENTS.isdisjoint(sentence) and any(_is_in(RECAP, word) for word in sentence)
