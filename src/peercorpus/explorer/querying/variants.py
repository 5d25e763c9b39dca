"""Spell a word as the British and as the Americans do: -ise and -ize, -our and -or, -re and -er.

A rule gives another spelling of the same word, and never another word: size, prise, four, tour, hour and enter stay as
they are. The other spelling is searched for only if the index has it.
"""

import re
from collections.abc import Mapping

_VERBS = re.compile(
    r"([bcdfghj-np-tvwxz]*+[aeiouy][a-z]+)(is|iz)(e|es|ed|er|ers|ing|able|ation|ations|ational|ationally)"
)
"""Optimise, organisation. A vowel and another letter come before it, as in no one of size, prise, wise and rise."""
_LYSES = re.compile(r"([a-z]*(?:anal|paral|catal))(ys|yz)(e|ed|er|ers|ing)")
"""Analyse; not analyses, which is a noun as well."""
_COLOURS = re.compile(
    r"([a-z]*(?:arb|ard|arm|behavi|cand|clam|col|demean|endeav|fav|ferv|flav|glam|hon|hum|lab|neighb|od|parl|ranc|rig|rum"
    r"|sav|savi|splend|succ|tum|val|vap|vig))"
    r"(our|or)(|s|ed|ing|ings|al|ally|able|ably|ful|fully|hood|hoods|ist|ists|ite|ites|less|y|er|ers|ism)"
)
_CENTRES = re.compile(
    r"([a-z]*(?:cent|theat|met|lit)|fib|spect|calib|sab|lust|somb|och|meag|tit|mit|scept)(re|er)(|s|d|ed)"
)
_PAIRS = (("is", "iz"), ("ys", "yz"), ("our", "or"), ("re", "er"))
_OTHER: Mapping[str, str] = dict(_PAIRS) | {second: first for first, second in _PAIRS}


def respell(word: str) -> str | None:
    """Return the other spelling of a word in lower case, or None if it has one spelling.

    >>> respell("optimisation"), respell("behavior"), respell("fibres"), respell("four")
    ('optimization', 'behaviour', 'fibers', None)
    """
    for rule in (_VERBS, _LYSES, _COLOURS, _CENTRES):
        found = rule.fullmatch(word)
        if found is not None:
            head, sign, end = found.groups()
            if rule is _CENTRES:
                end = {"d": "ed", "ed": "d"}.get(end, end)  # Centred, centered.
            return f"{head}{_OTHER[sign]}{end}"
    return None
