"""Recognise letters by the authors to others than reviewers: to chairs, to ethics reviewers, to the public.

Only the address of a post counts ("Message to AC: …", "Dear Area Chairs and SAC,"), not its subject. The words are from
forums of ICLR, NeurIPS, ICML and TMLR.
"""

import re
from functools import lru_cache

_SHORT = r"(?-i:S?ACs?|S?ACs?\(s\)|S?AC\(s\)|PCs?|AEs?|E[Ii]Cs?|SPCs?|MRs)"
_CHAIR = (
    r"(?:(?:(?:senior|area|program(?:me)?|track|general|associate|vice)[\s\-_]*)*chair(?:\(s\)|s|men|man|persons?)?"
    r"|meta[\s\-]*review(?:ers?|s)?|(?:(?:action|associate|handling|managing)\s+)?editors?(?:[\s\-]+in[\s\-]+chief)?"
    rf"|(?:program(?:me)?\s+|organi[sz]ing\s+)?committee(?:\s+members?)?|{_SHORT})"
    r"(?![A-Za-z])(?:[\s_]+(?-i:(?=\w*[\dA-Z])\w{4}\b))?"
)
_REVIEWER = (
    r"(?:(?:anonymous|anon)\s*)?(?:reviewers?|referees?)(?:[\s_#]*(?:\d{1,2}|(?-i:(?=\w*[\dA-Z])\w{4}))\b)?"
    r"|R\d\b|everyone|everybody|all\b|readers|authors"
)
_KIND = r"(?:(?:the|our|all|both|dear|esteemed|respected|honou?red|honou?rable|other|fellow|whole|entire|of)\s+)*"
_JOIN = r"\s*(?:,\s*and\b|,|;|/|&|\+|\band\b|\bas well as\b)\s*(?:(?:also\s+)?(?:to|for)\s+)?"
_PERSON = rf"{_KIND}(?:{_CHAIR}|{_REVIEWER})"
_LIST = rf"(?P<list>{_PERSON}(?:{_JOIN}{_PERSON})*)"
_OF_PAPER = (
    r"(?:\s+(?:of|for|handling|in charge of)\s+(?:this|our|the)?\s*(?:paper|submission|manuscript|work)?[\s#]*\d*)?"
)
_END = (
    rf"{_OF_PAPER}(?=\s*(?:[,:;.!?)\]}}*_#|\u2013\u2014\n]|$|['\u2019]s?\b)|\s+-|-\s|\s+(?:we|i|this|thanks?|about|regarding"
    r"|on|concerning|re|from|by|with|in|for|only|after|before|during|as|please|it)\b)"
)
_TO = r"(?:dear|to|for|hi|hello|hey|attn|attention|cc|@|greetings|good\s+(?:morning|day|afternoon|evening))"
TITLE = re.compile(rf"(?:^[\W_]*|(?<![A-Za-z]){_TO}[\s:.,*_@]+){_LIST}{_END}", re.IGNORECASE)
GREETING = re.compile(
    rf"[\W_]*(?:{_TO}[\s:.,*_@]+|(?:message|letter|note|comments?|response|reply|statement|appeal|summary)\s+(?:to|for)\s+)"
    rf"{_LIST}{_END}",
    re.IGNORECASE,
)
_BARE = re.compile(rf"[\W_]*{_LIST}\s*(?:[:,\])*_]|$)", re.IGNORECASE)
"""Matches a title or first line that consists of addressees, or begins with them and a colon."""
_LETTER = re.compile(
    r"\b(?:messages?|letters?|notes?|comments?|responses?|repl(?:y|ies)|rebuttals?|answers?|requests?|questions?|summar(?:y|ies)"
    r"|statements?|reports?|appeals?|concerns?|complaints?|information|remarks?|follow[\s\-]?up|thanks?|thank you"
    r"|clarifications?|updates?|reminder|general|e?mails?|words?|authors?|confidential|private|in?quir(?:y|ies)|feedback"
    r"|issues?|notifications?|notice|dear|hi|hello|attn|attention|cc)\b",
    re.IGNORECASE,
)
"""Matches words that make a title that of a letter if an abbreviation follows: "Message to AC", not "Extension to
PC"."""
_ONLY_TO = re.compile(rf"[\W_]*(?:{_TO}[\W_]*(?:(?:the|our)\s+)?)?", re.IGNORECASE)
_IS_CHAIR = re.compile(rf"(?<![A-Za-z]){_CHAIR}", re.IGNORECASE)
_IS_LONG = re.compile(r"chair|editor|committee|meta", re.IGNORECASE)
_HINT = re.compile(r"(?i:chair|editor|committee|meta)|\b(?:S?AC|S?PC|AE|E[Ii]C|MR)s?\b|AC\(")
"""A quick test before the slow searches."""
_CONFIDENTIAL = re.compile(
    r"[\W_]*(?:(?:authors?['\u2019]?s?|our|an?|the|ac|to|official)\s+)*(?:confidential|private)\s+(?:authors?\W*\s+)?"
    r"(?:comments?|messages?|notes?|letters?|remarks?|communications?|statements?|reports?|responses?|concerns?"
    r"|requests?|questions?)\b"
    r"|.*\bauthors?[\s\-]+(?:to[\s\-]+)?(?:ac|area[\s\-]+chairs?)[\s\-]+(?:confidential|private|comment)",
    re.IGNORECASE,
)
_ETHICS = re.compile(
    rf"(?:^[\W_]*|(?<![A-Za-z]){_TO}[\s:.,*_@]+)(?:(?:the|our|all|dear)\s+)*ethics?\s+(?:review(?:ers?)?|(?:review\s+)?(?:chairs?"
    rf"|committee|board))(?:[\s_]+(?-i:(?=\w*[\dA-Z])\w{{4}}\b))?{_END}",
    re.IGNORECASE,
)
_PUBLIC = re.compile(
    rf"(?:^[\W_]*|(?<![A-Za-z]){_TO}[\s:.,*_@]+)(?:(?:the|our|all|dear|a)\s+)*public\s+(?:comment(?:er|ator)?s?|readers?|reviewers?)"
    rf"{_END}",
    re.IGNORECASE,
)
_KEPT = 4_096
"""Number of texts whose result is cached: most titles occur on several posts."""
_MAX_CHARACTERS = 300
"""Only the beginning of a text is searched, as some of the patterns take time cubic in its length."""


@lru_cache(maxsize=_KEPT)
def find_letter(text: str, *, is_title: bool) -> str | None:
    """Return the list of addressees of a letter to chairs, possibly among others, or None if it is not one.

    >>> find_letter("Message to AC: a misreading", is_title=True)
    'AC'
    >>> find_letter("Dear AC and reviewers, thank you.", is_title=False)
    'Dear AC and reviewers'
    >>> find_letter("Extension to PC", is_title=True), find_letter("Dear reviewers,", is_title=False)
    (None, None)
    """
    text = text[:_MAX_CHARACTERS]
    if not _HINT.search(text):
        return None
    match = _BARE.match(text) or (TITLE.search(text) if is_title else GREETING.match(text))
    if match is None or not _IS_CHAIR.search(match["list"]):
        return None
    before = text[: match.start("list")]
    is_clear = not is_title or _ONLY_TO.fullmatch(before) or _IS_LONG.search(match["list"]) or _LETTER.search(before)
    return match["list"] if is_clear else None


def is_confidential(text: str) -> bool:
    """Return whether a title, or the name of an invitation, shows that a post is confidential, hence to the chairs.

    >>> is_confidential("Confidential comments of the authors"), is_confidential("On confidential data")
    (True, False)
    """
    return _CONFIDENTIAL.match(text, 0, _MAX_CHARACTERS) is not None


@lru_cache(maxsize=_KEPT)
def addresses_ethics(text: str, *, is_title: bool) -> bool:
    """Return whether a title or a first line addresses only ethics reviewers or ethics chairs."""
    text = text[:_MAX_CHARACTERS]
    if "ethic" not in text.casefold():
        return False
    return (_ETHICS.search(text) if is_title else _ETHICS.match(text)) is not None


@lru_cache(maxsize=_KEPT)
def addresses_public(text: str, *, is_title: bool) -> bool:
    """Return whether a title or a first line addresses only public commenters."""
    text = text[:_MAX_CHARACTERS]
    if "public" not in text.casefold():
        return False
    return (_PUBLIC.search(text) if is_title else _PUBLIC.match(text)) is not None
