"""Recognise answers that decline the task in words."""

import re

DECLINES = re.compile(
    r"""\b i(?:'m|\ am)?\ ?
    (?: cannot | can\ ?not | can't | won't | will\ not | (?:must\ |have\ to\ )?decline | unable | not\ able
      | (?:do\ not|don't)\ feel\ comfortable | not\ comfortable
    )\b
    [^.!?\n]{0,30}? \b
    (?: assist | help | comply | engage | requests?
      | (?:provide|write|generate|produce|create|give|make)\b [^.!?\n]{0,30}?
        (?:reviews?|decision|prediction|scores?|assessment|judgement|response|content|answer|rating)
      | (?:review|evaluate|assess|judge|rate|process)\ (?:this|that|the|your)\ (?:paper|submission|manuscript|request)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Matches the words that decline: "I can't assist with that"."""
SENTENCE_END = re.compile(r"[.!?\n]")
REGRETS = re.compile(
    r"""\W*(?:
      (?:i'?m|i\ am)\ (?:very\ |so\ |really\ |truly\ )?sorry | sorry | (?:my\ )?apologies | i\ apologi[sz]e
      | as\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model) | unfortunately
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Matches the beginning of words that may precede them."""
LONGEST_REGRET = 100
"""Maximum number of characters of a sentence that only expresses regret."""
LONGEST_REFUSAL_WORDS = 100
"""Longer texts contain more than a refusal."""


def is_refusal(text: str) -> bool:
    """Return whether an answer declines the task in words.

    None of the 12,457 reviews of ICLR 2019 and 2020 does.

    >>> is_refusal("I'm sorry, but I can't assist with that."), is_refusal("I cannot recommend acceptance.")
    (True, False)
    """
    if len(text.split()) > LONGEST_REFUSAL_WORDS:
        return False
    plain = text.replace("\u2019", "'")
    declines = DECLINES.search(plain)
    if declines is None:
        return False
    before = (part.strip() for part in SENTENCE_END.split(plain[: declines.start()]))
    return all(len(part) <= LONGEST_REGRET and REGRETS.match(part) for part in before if any(map(str.isalnum, part)))
