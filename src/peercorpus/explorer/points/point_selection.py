"""Parse and write the query string of the page that searches points: words, filters, page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import parse_qsl, urlencode

from peercorpus.explorer.points.point_documents import NO_ASPECT
from peercorpus.explorer.selection import TOO_MANY, clip_words, explain_unknown, read_page
from peercorpus.records.points import CRITICAL_KINDS, PointAspect, PointKind

EVERY_KIND = "all"
"""Value of `kind` for points of every kind; without one, only those that authors may be expected to answer."""
VALUES: Mapping[str, Sequence[str]] = MappingProxyType(
    {"kind": (EVERY_KIND, *PointKind), "aspect": (*PointAspect, NO_ASPECT), "answered": ("yes", "no")}
)
"""The filters that have given values."""
FILTERS = ("kind", "aspect", "venue", "year", "answered")
PARAMETERS = ("q", "like", *FILTERS, "page")


@dataclass(frozen=True, slots=True)
class PointSelection:
    """The request of a page of points.

    Attributes:
        words: The search, in tantivy's query language; empty for all points.
        kind: A `PointKind`, `EVERY_KIND`, or empty for all that authors may be expected to answer.
        aspect: A `PointAspect`, `NO_ASPECT` if none is known, or empty for any.
        venue: A venue's id in lower case; empty for any.
        year: The calendar year that the venue names; empty for any.
        page: Number of the page, from 1.
        faults: One sentence for each part of the query string that could not be parsed. Such a selection is empty.
        like: Id of a point that those selected are like; empty for none.
        answered: "yes" for those with an answer of the authors, "no" for the others; empty for both.
        hints: Parts that are read otherwise than they were written, one sentence each.
    """

    words: str = ""
    kind: str = ""
    aspect: str = ""
    venue: str = ""
    year: str = ""
    page: int = 1
    faults: tuple[str, ...] = ()
    like: str = ""
    answered: str = ""
    hints: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are selected."""
        if self.kind == EVERY_KIND:
            return tuple(PointKind)
        return (self.kind,) if self.kind else tuple(kind for kind in PointKind if kind in CRITICAL_KINDS)

    @property
    def filters(self) -> int:
        """Number of filters that are set."""
        return sum(bool(getattr(self, name)) for name in FILTERS)

    def query_string(self, **changed: object) -> str:
        """Return the query string of the page, with the given fields changed.

        >>> PointSelection("missing baseline", kind="weakness").query_string(page=2)
        'q=missing+baseline&kind=weakness&page=2'
        """
        asked = replace(self, **changed)  # type: ignore[arg-type]
        pairs = [("q", asked.words), ("like", asked.like), *((name, getattr(asked, name)) for name in FILTERS)]
        pairs.append(("page", str(asked.page) if asked.page > 1 else ""))
        return urlencode([(name, value) for name, value in pairs if value])


def read_point_selection(query_string: str) -> PointSelection:
    """Parse a query string; parts that cannot be parsed are described in `faults`.

    >>> read_point_selection("q=baseline&kind=question").kinds
    ('question',)
    >>> read_point_selection("kind=questions").faults
    ("The address has no kind 'questions'; did you mean 'question'?",)
    """
    try:
        last = dict(parse_qsl(query_string, max_num_fields=200, errors="replace"))
    except ValueError:
        return PointSelection(faults=(TOO_MANY,))
    words, hints = clip_words(last.get("q", ""))
    filters = {name: last.get(name, "").strip().lower() for name in FILTERS}
    faults = [explain_unknown("parameter", name, PARAMETERS) for name in last if name not in PARAMETERS]
    for name, known in VALUES.items():
        if filters[name] and filters[name] not in known:
            faults.append(explain_unknown(name, filters[name], known))
            filters[name] = ""
    like = last.get("like", "").strip()
    page = read_page(last.get("page", "1"))
    return PointSelection(words=words, like=like, **filters, page=page, faults=tuple(faults), hints=hints)
