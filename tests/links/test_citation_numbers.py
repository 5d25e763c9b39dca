"""Keys of sentences without the numbers of cross-references."""

import random

from peercorpus.links.sentences import CROSS_REFERENCE, MAY_REFER

NAMES = [
    *(
        "eqn.",
        "Eqs.",
        "fig.",
        "Tab.",
        "secs.",
        "thm.",
        "lem.",
        "prop.",
        "cor.",
        "def.",
        "alg.",
        "app.",
        "Equation",
        "figures",
    ),
    *(
        "Table",
        "sections",
        "Theorem",
        "lemma",
        "lemmas",
        "Proposition",
        "corollary",
        "Corollaries",
        "definition",
        "remark",
        "assumptions",
        "algorithm",
        "Example",
        "claim",
        "conjecture",
        "appendix",
        "Appendices",
        "APPENDIX",
        "§",
        "§§",
    ),
]
REST = ["(", "3", "12", ")", "A", "B.", "a", "and", ",", "x", "The", "&", "\u2013", "to", ".2", "K", "S"]
REST += ["\u017f", "\u212a"]
"""Characters that may adjoin a name; the last two match s and K in an expression that ignores case."""


def test_the_quick_check_misses_no_cross_reference() -> None:
    chance = random.Random(3)
    keys = ["".join(chance.choices([*NAMES, *REST], k=chance.randrange(1, 7))) for _ in range(20_000)]
    referring = [key for key in keys if CROSS_REFERENCE.search(key)]
    assert len(referring) > 2_000
    assert [key for key in referring if not MAY_REFER.search(key)] == []
