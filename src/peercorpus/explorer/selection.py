"""Which papers a page shows: words to search for, conditions, an order; the query string of the page and back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from peercorpus.errors import PeercorpusError
from peercorpus.where import FIELDS, Comparison, Condition, parse

LONGEST_QUERY = 500
"""Characters of what is searched for."""
MOST_CONDITIONS = 40
SORTS = {
    "relevance": "Relevance",
    "newest": "Newest",
    "oldest": "Oldest",
    "rating": "Highest rated",
    "rating-low": "Lowest rated",
    "spread": "Widest spread",
    "turns": "Most turns",
}
CONTROLS = {
    "venue": ("venue", Comparison.IS),
    "conference": ("conference", Comparison.IS),
    "year": ("year", Comparison.IS),
    "status": ("status", Comparison.IS),
    "grade": ("grade", Comparison.IS),
    "rating_from": ("rating", Comparison.AT_LEAST),
    "rating_to": ("rating", Comparison.AT_MOST),
    "has_rebuttal": ("has_rebuttal", Comparison.IS),
    "score_changed": ("score_changed", Comparison.IS),
}
"""The form's controls: the condition each stands for. All else is asked with `where`, or with `more`, parted by ";"."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is asked for.

    Attributes:
        words: What to search for, in the search's own language; empty for all papers.
        conditions: All of which must hold, as `where` says.
        sort: A key of `SORTS`.
        page: From 1.
        faults: What of the query string could not be read, a sentence each; it counts as not asked.
    """

    words: str = ""
    conditions: tuple[Condition, ...] = ()
    sort: str = "relevance"
    page: int = 1
    faults: tuple[str, ...] = ()

    @property
    def is_everything(self) -> bool:
        """Whether nothing is asked."""
        return not self.words and not self.conditions

    def value(self, control: str) -> str:
        """What stands in a control of the form; empty where nothing does."""
        return next((_text(one) for one in self.conditions if _control(one) == control), "")

    @property
    def further(self) -> tuple[Condition, ...]:
        """The conditions that no control of the form shows."""
        controls = [_control(one) for one in self.conditions]
        return tuple(
            one
            for index, one in enumerate(self.conditions)
            if controls[index] is None or controls[index] in controls[:index]
        )

    def query_string(self, **changed: object) -> str:
        """The selection as the query string of its page, with some of it changed; empty for all papers.

        >>> Selection("graph", (parse("status=accepted"), parse("reviews>=3")), "turns").query_string(page=2)
        'q=graph&status=accepted&where=reviews%3E%3D3&sort=turns&page=2'
        """
        asked = replace(self, **changed)  # type: ignore[arg-type]
        pairs = [("q", asked.words)] if asked.words else []
        further = asked.further
        for condition in asked.conditions:
            control = _control(condition)
            is_control = control is not None and condition not in further
            pairs.append((str(control), _text(condition)) if is_control else ("where", str(condition)))
        if asked.sort != "relevance":
            pairs.append(("sort", asked.sort))
        if asked.page > 1:
            pairs.append(("page", str(asked.page)))
        return urlencode(pairs)

    def without(self, condition: Condition) -> "Selection":
        """The same, less one condition, from its first page."""
        return replace(self, conditions=tuple(one for one in self.conditions if one != condition), page=1)


def _control(condition: Condition) -> str | None:
    pair = (condition.name, condition.comparison)
    return next((name for name, of_control in CONTROLS.items() if of_control == pair), None)


def _text(condition: Condition) -> str:
    return str(condition)[len(condition.name) + len(condition.comparison) :]


def read_selection(query_string: str) -> Selection:
    """Read what a query string asks for; what cannot be read is told of, and asks for nothing.

    >>> read_selection("status=accepted&rating_from=6").conditions == (parse("status=accepted"), parse("rating>=6"))
    True
    >>> read_selection("status=loved").faults
    ("'loved' is no status; it is one of: accepted, rejected, withdrawn, desk_rejected, under_review, unknown.",)
    """
    try:
        pairs = parse_qsl(query_string, max_num_fields=200, errors="replace")
    except ValueError:
        return Selection(faults=("The address asks for too much at once.",))
    last = dict(pairs)
    conditions, faults = _conditions(pairs)
    words = " ".join(last.get("q", "").replace("\0", " ").split())
    if len(words) > LONGEST_QUERY:
        faults.append(f"Only the first {LONGEST_QUERY} characters are searched for.")
    sort = last.get("sort", "relevance")
    page = last.get("page", "1")
    is_page = page.isascii() and page.isdecimal() and 0 < int(page[:9]) <= 1_000_000
    sort = sort if sort in SORTS else "relevance"
    return Selection(words[:LONGEST_QUERY], conditions, sort, int(page[:9]) if is_page else 1, tuple(faults))


def _conditions(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[Condition, ...], list[str]]:
    texts, found, faults = list(_as_conditions(pairs)), dict[Condition, None](), list[str]()
    for text in texts[:MOST_CONDITIONS]:
        try:
            found[parse(text)] = None
        except PeercorpusError as error:
            faults.append(str(error))
    if len(texts) > MOST_CONDITIONS:
        faults.append(f"Only the first {MOST_CONDITIONS} conditions are used.")
    return tuple(found), faults


def _as_conditions(pairs: Iterable[tuple[str, str]]) -> Iterable[str]:
    for name, value in pairs:
        if name == "where" and value.strip():
            yield value
        elif name == "more":
            yield from (part for part in value.split(";") if part.strip())
        elif name in CONTROLS and value.strip():
            field, comparison = CONTROLS[name]
            yield f"{field}{comparison}{value}"


def is_of_papers(condition: Condition) -> bool:
    """Whether the table of papers alone tells if a condition holds."""
    return FIELDS[condition.name].column in {"venue_id", "conference", "year", "track", "status", "keywords"}
