"""Where tables may be on a page, by the rules drawn there: rules of equal extent, one above the other."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from peercorpus.texts.layout.glyphs import Run
from peercorpus.texts.layout.shapes import Box

MOST_RULES = 3_000
"""Rules of a page beyond which they draw something else."""
MOST_GROUPS = 50
"""Extents of rules of a page that are looked at, at most."""
MOST_FRAMES = 40
"""Places of a page that are looked at, at most."""
SHORTEST = 40.0
"""Width of a table, in points, at least."""
TOUCH = 1.5
"""Gap between two pieces of a rule, in points, at most."""
EXTENT = 3.0
"""Difference of the ends of two rules of one table, in points, at most."""
DOUBLE = 6.0
"""Distance of two rules with nothing between them that are drawn as one, in points, at most."""
THICK = 1.3
"""Height of a table's first and last rule over that of its thinnest, at least, where they are drawn thicker."""
FAR_BELOW = 3.5
"""Distance of a baseline from the rule above it, in the size of the font, at most."""
FAR_ABOVE = 2.2
"""Distance of a baseline from the rule below it, in the size of the font, at most."""


@dataclass(slots=True)
class Frame:
    """A place that may hold a table.

    Attributes:
        heights: Of its rules from top to bottom, in points above the lower edge of the page.
        rules: Shorter rules inside, as there are below a heading of several columns.
        uprights: Vertical lines inside.
        is_open: Whether no rule at all is drawn.
    """

    box: Box
    heights: list[float]
    rules: list[Box]
    uprights: list[Box]
    is_open: bool = False


class Shelf:
    """The runs of a page, by their height."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = sorted(runs, key=attrgetter("base"))
        self._bases = [run.base for run in self._runs]

    def within(self, box: Box) -> list[Run]:
        """The runs on a baseline inside a box that have their middle in it."""
        first, behind = bisect_right(self._bases, box.bottom), bisect_left(self._bases, box.top)
        return [run for run in self._runs[first:behind] if box.left <= (run.left + run.right) / 2 <= box.right]


IsProse = Callable[[Box, Sequence[Run]], bool]
"""Tells whether the text in a box is prose."""


def find_frames(
    rules: Sequence[Box], uprights: Sequence[Box], shelf: Shelf, breaks: Sequence[Run], is_prose: IsProse
) -> list[Frame]:
    """Places that may hold a table, the largest first.

    Args:
        rules: All horizontal lines of the page.
        uprights: All vertical ones.
        shelf: Its text.
        breaks: What stands between tables, never in one: the beginnings of captions.
        is_prose: Tells prose between two tables.
    """
    if len(rules) > MOST_RULES or len(uprights) > MOST_RULES:
        return []
    whole = joined(rules)
    chains = [chain for group in _groups(whole) for chain in _chains(group, shelf, breaks, is_prose)]
    chains.sort(key=lambda chain: -(chain[0].right - chain[0].left) * (chain[0].top - chain[-1].bottom))
    return [_frame(chain, whole, uprights) for chain in chains[:MOST_FRAMES]]


def _frame(chain: Sequence[Box], rules: Sequence[Box], uprights: Sequence[Box]) -> Frame:
    box = Box(chain[0].left, chain[-1].bottom, chain[0].right, chain[0].top)
    wide = Box(box.left - EXTENT, box.bottom - EXTENT, box.right + EXTENT, box.top + EXTENT)
    own = {id(rule) for rule in chain}
    inner = [one for one in rules if id(one) not in own and wide.holds((one.left + one.right) / 2, one.top)]
    beside = [one for one in uprights if wide.holds(one.left, (one.top + one.bottom) / 2)]
    return Frame(box, [rule.top for rule in chain], inner, beside)


def joined(rules: Sequence[Box]) -> list[Box]:
    """Rules drawn in pieces, as one each."""
    found: list[Box] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.bottom), rule.left)):
        last = found[-1] if found else None
        if last and abs(last.bottom - rule.bottom) <= 1 and rule.left <= last.right + TOUCH:
            found[-1] = Box(last.left, last.bottom, max(last.right, rule.right), max(last.top, rule.top))
        else:
            found.append(rule)
    return found


def _groups(rules: Sequence[Box]) -> Iterator[list[Box]]:
    """Rules of equal extent, from top to bottom."""
    groups: list[list[Box]] = []
    for rule in sorted(rules, key=lambda rule: (rule.left, rule.right)):
        if rule.right - rule.left < SHORTEST:
            continue
        for group in reversed(groups[-12:]):
            if abs(group[0].left - rule.left) <= EXTENT and abs(group[0].right - rule.right) <= EXTENT:
                group.append(rule)
                break
        else:
            groups.append([rule])
    several = sorted((group for group in groups if len(group) > 1), key=len, reverse=True)
    for group in several[:MOST_GROUPS]:
        yield sorted(group, key=lambda rule: -rule.top)


def _chains(group: Sequence[Box], shelf: Shelf, breaks: Sequence[Run], is_prose: IsProse) -> Iterator[list[Box]]:
    """Rules that belong to one table each."""
    ends = _ends(group)
    chain: list[Box] = []
    for number, rule in enumerate(group):
        if chain and (number - 1 in ends or not _holds_rows(chain[-1], rule, shelf, breaks, is_prose)):
            if len(chain) > 1:
                yield chain
            chain = []
        chain.append(rule)
    if len(chain) > 1:
        yield chain


def _ends(group: Sequence[Box]) -> set[int]:
    """Which rules end a table, where the first and the last of each are thicker than the others."""
    thin = min(rule.top - rule.bottom for rule in group)
    thick = [number for number, rule in enumerate(group) if rule.top - rule.bottom >= THICK * thin]
    is_paired = len(thick) % 2 == 0 and len(group) > len(thick) > 2 and thick[0] == 0
    if not is_paired or any(low - high < 2 for high, low in zip(thick[::2], thick[1::2], strict=True)):
        return set()
    return set(thick[1::2])


def _holds_rows(upper: Box, lower: Box, shelf: Shelf, breaks: Sequence[Run], is_prose: IsProse) -> bool:
    """Whether what stands between two rules may be of a table."""
    if any(lower.top < run.base < upper.bottom and upper.left - 40 < run.left < upper.right for run in breaks):
        return False
    box = Box(upper.left, lower.top, upper.right, upper.bottom)
    if box.top - box.bottom <= DOUBLE:
        return True
    runs = shelf.within(box)
    return bool(runs) and not _is_loose(box, runs) and not is_prose(box, runs)


def _is_loose(box: Box, runs: Sequence[Run]) -> bool:
    """Whether text stands further off from the rules than it does in a table."""
    first, last = max(runs, key=attrgetter("base")), min(runs, key=attrgetter("base"))
    return box.top - first.base > FAR_BELOW * first.size or last.base - box.bottom > FAR_ABOVE * last.size
