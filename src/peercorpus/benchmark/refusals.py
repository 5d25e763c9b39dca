"""Recognise answers that decline the task in words."""

import re

REFUSAL = re.compile(
    r"""\W*
    (?: (?: (?:i'?m|i\ am)\ (?:very\ |so\ |really\ |truly\ )?sorry | sorry | (?:my\ )?apologies | i\ apologi[sz]e
          | as\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model)
        )\b [^.!?\n]{0,60}? [,.;:!-]*\s* (?:but,?\ )?
      | unfortunately,?\s+ (?:but,?\ )?
    )*
    i(?:'m|\ am)?\ ?
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
"""Matches the beginning of an answer that declines: "I'm sorry, but I can't assist with that." """
LONGEST_REFUSAL_WORDS = 100
"""Longer texts hold more than a refusal."""


def is_refusal(text: str) -> bool:
    """Return whether an answer declines the task in words.

    None of the 12,457 reviews of ICLR 2019 and 2020 does.

    >>> is_refusal("I'm sorry, but I can't assist with that."), is_refusal("I cannot recommend acceptance.")
    (True, False)
    """
    return len(text.split()) <= LONGEST_REFUSAL_WORDS and REFUSAL.match(text.replace("\u2019", "'")) is not None
