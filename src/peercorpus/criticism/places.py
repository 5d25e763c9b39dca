"""Find the sections, tables, figures and equations that a passage names."""

import re
from collections.abc import Iterator

PLACE = re.compile(
    r"\b(?P<kind>section|sec|appendix|app|figure|fig|table|tab|equation|eqn|eq|theorem|lemma|algorithm|alg)s?\.?\s*+[(~]?\s*+"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,2}|(?-i:[A-H])(?:\.\d{1,2}){0,2}(?![A-Za-z]))",
    re.IGNORECASE,
)
KINDS = {
    "sec": "section", "appendix": "section", "app": "section", "fig": "figure", "tab": "table",
    "eq": "equation", "eqn": "equation", "alg": "algorithm",
}  # fmt: skip

Place = tuple[str, str]
"""Kind of place, and its number as written."""


def find_places(text: str) -> Iterator[Place]:
    """Yield the sections, tables, figures and equations that a text names.

    >>> [*find_places("See Fig. 3, Table 2 and Appendix B.1.")]
    [('figure', '3'), ('table', '2'), ('section', 'B.1')]
    """
    for match in PLACE.finditer(text):
        kind = match["kind"].casefold()
        yield KINDS.get(kind, kind), match["number"]
