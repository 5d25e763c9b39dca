"""Parse and write the query string of a search page: words, filters, order, page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from peercorpus.corpus.filters import Condition, Operator, parse
from peercorpus.errors import PeercorpusError
from peercorpus.wording.suggestions import suggest_name

_MAX_QUERY_CHARACTERS = 500
"""Further characters of the words are ignored."""
_MAX_CONDITIONS = 40
"""Further conditions are ignored."""
TOO_MANY = "The address has more than 200 parameters; nothing of it was used."
SORTS = {
    "relevance": "Relevance",
    "newest": "Newest",
    "oldest": "Oldest",
    "rating": "Highest rated",
    "rating-low": "Lowest rated",
    "spread": "Widest spread",
    "raised": "Raised most",
    "turns": "Most turns",
}
CONTROLS = {
    "venue": ("venue", Operator.IS),
    "conference": ("conference", Operator.IS),
    "year": ("year", Operator.IS),
    "status": ("status", Operator.IS),
    "grade": ("grade", Operator.IS),
    "rating_from": ("rating", Operator.AT_LEAST),
    "rating_to": ("rating", Operator.AT_MOST),
    "has_rebuttal": ("has_rebuttal", Operator.IS),
    "score_changed": ("score_changed", Operator.IS),
}
"""Controls of the search form, with field and operator of the condition; others are passed as `where` or in `more`."""
PARAMETERS = ("q", *CONTROLS, "where", "more", "sort", "page")


@dataclass(frozen=True, slots=True)
class Selection:
    """The request of a search page.

    Attributes:
        words: The search, in tantivy's query language; empty for all papers.
        conditions: Conditions on papers, combined as in `corpus.filters`.
        faults: One sentence for each part of the query string that could not be parsed. Such a selection is empty: what
            it was meant to leave out is not known.
        hints: Parts that are read otherwise than they were written, one sentence each.
    """

    words: str = ""
    conditions: tuple[Condition, ...] = ()
    sort: str = "relevance"
    page: int = 1
    faults: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    def value(self, control: str) -> str:
        """Return the value of a control of the form, or "" if it is empty."""
        values = (_format_value(condition) for condition in self.conditions if _find_control(condition) == control)
        return next(values, "")

    @property
    def further(self) -> tuple[Condition, ...]:
        """The conditions that no control of the form shows."""
        controls = [_find_control(condition) for condition in self.conditions]
        return tuple(
            condition
            for index, condition in enumerate(self.conditions)
            if controls[index] is None or controls[index] in controls[:index]
        )

    def query_string(self, **changed: object) -> str:
        """Return the query string of the page, with the given fields changed; empty for all papers.

        >>> Selection("graph", (parse("status=accepted"), parse("reviews>=3")), "turns").query_string(page=2)
        'q=graph&status=accepted&where=reviews%3E%3D3&sort=turns&page=2'
        """
        asked = replace(self, **changed)  # type: ignore[arg-type]
        pairs = [("q", asked.words)] if asked.words else []
        further = asked.further
        for condition in asked.conditions:
            control = _find_control(condition)
            is_control = control is not None and condition not in further
            pairs.append((str(control), _format_value(condition)) if is_control else ("where", str(condition)))
        if asked.sort != "relevance":
            pairs.append(("sort", asked.sort))
        if asked.page > 1:
            pairs.append(("page", str(asked.page)))
        return urlencode(pairs)

    def without(self, condition: Condition) -> "Selection":
        """Return the first page of the selection without one condition."""
        return replace(self, conditions=tuple(kept for kept in self.conditions if kept != condition), page=1)


def _find_control(condition: Condition) -> str | None:
    pair = (condition.name, condition.comparison)
    return next((name for name, of_control in CONTROLS.items() if of_control == pair), None)


def _format_value(condition: Condition) -> str:
    return str(condition)[len(condition.name) + len(condition.comparison) :]


def read_selection(query_string: str) -> Selection:
    """Parse a query string; parts that cannot be parsed are described in `faults`.

    >>> read_selection("status=accepted&rating_from=6").conditions == (parse("status=accepted"), parse("rating>=6"))
    True
    >>> read_selection("status=loved").faults
    ("'loved' is not a status; use one of: accepted, rejected, withdrawn, desk_rejected, under_review, unknown.",)
    """
    try:
        pairs = parse_qsl(query_string, max_num_fields=200, errors="replace")
    except ValueError:
        return Selection(faults=(TOO_MANY,))
    last = dict(pairs)
    conditions, faults = _read_conditions(pairs)
    words, hints = clip_words(last.get("q", ""))
    sort = last.get("sort", "relevance")
    faults += [explain_unknown("parameter", name, PARAMETERS) for name in last if name not in PARAMETERS]
    if sort not in SORTS:
        faults.append(explain_unknown("order", sort, SORTS))
    return Selection(
        words=words,
        conditions=conditions,
        sort=sort if sort in SORTS else "relevance",
        page=read_page(last.get("page", "1")),
        faults=tuple(faults),
        hints=hints,
    )


def clip_words(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the words to search for, and a sentence that says so if some are too many."""
    words = " ".join(text.replace("\0", " ").split())
    is_long = len(words) > _MAX_QUERY_CHARACTERS
    hints = (f"Only the first {_MAX_QUERY_CHARACTERS} characters were searched for.",) if is_long else ()
    return words[:_MAX_QUERY_CHARACTERS], hints


def read_page(text: str) -> int:
    """Return the number of a page, or 1 if it is none.

    >>> read_page("3"), read_page("-1"), read_page("9" * 30)
    (3, 1, 1)
    """
    is_page = text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= 1_000_000
    return int(text[:9]) if is_page else 1


def require_selection(query_string: str) -> Selection:
    """Parse a query string, with or without its "?".

    Raises:
        PeercorpusError: A part of it cannot be parsed, or would be left out.
    """
    selection = read_selection(query_string.removeprefix("?"))
    if selection.faults or selection.hints:
        raise PeercorpusError(" ".join((*selection.faults, *selection.hints)))
    return selection


def explain_unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return a sentence about a name in the address that is not known, with the nearest that is."""
    return f"The address has no {what} '{name}'; {suggest_name(name, known)}"


def _read_conditions(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[Condition, ...], list[str]]:
    texts = list(_list_condition_texts(pairs))
    conditions: dict[Condition, None] = {}
    faults: list[str] = []
    for text in texts[:_MAX_CONDITIONS]:
        try:
            conditions[parse(text)] = None
        except PeercorpusError as error:
            faults.append(str(error))
    if len(texts) > _MAX_CONDITIONS:
        faults.append(f"Only the first {_MAX_CONDITIONS} conditions are used.")
    return tuple(conditions), faults


def _list_condition_texts(pairs: Iterable[tuple[str, str]]) -> Iterable[str]:
    for name, value in pairs:
        if name == "where" and value.strip():
            yield value
        elif name == "more":
            yield from (part for part in value.split(";") if part.strip())
        elif name in CONTROLS and value.strip():
            field, comparison = CONTROLS[name]
            yield f"{field}{comparison}{value}"
