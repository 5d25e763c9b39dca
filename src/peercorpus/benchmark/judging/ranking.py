"""Whether a judge ranks what is worse below the gold: shares of papers, with what can be said of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from peercorpus.benchmark.judging.degrading import Degradation
from peercorpus.errors import UndefinedMetricError
from peercorpus.metrics.shares import wilson


@dataclass(frozen=True, slots=True)
class Ranking:
    """How often a judge ranks the gold above what is worse.

    Attributes:
        share: Of the papers, ties counted half; on [0, 1], 0.5 by chance.
        low: The 95 % interval of the share over papers begins here (Wilson), `high`: and ends here.
        papers: Compared.
        ties: Papers in which neither is above the other.
        unread: Papers in which an answer could not be read; they are not among `papers`.
        share_unread_wrong: The share if those counted as papers in which the judge is wrong.
    """

    share: float
    low: float
    high: float
    papers: int
    ties: int
    unread: int
    share_unread_wrong: float

    def by_name(self) -> dict[str, float]:
        """The numbers under their names."""
        return asdict(self)


TELLS, REVERSES, FAILS = "ranks below the gold:", "ranks above the gold:", "is not shown to rank below the gold:"
UNTRIED = "was not tried on:"


def points(gold: float, worse: float) -> float:
    """1 where the gold is above, 0 where it is below, a half where neither is."""
    return (gold > worse) + (gold == worse) / 2


def rank(of_papers: Sequence[float | None]) -> Ranking:
    """How often the gold is above.

    Args:
        of_papers: The points of each paper; None where an answer could not be read.

    Raises:
        UndefinedMetricError: There is no paper with both answers.
    """
    known = [one for one in of_papers if one is not None]
    bounds = wilson(sum(known), len(known))
    if bounds is None:
        raise UndefinedMetricError("A judge is calibrated on at least one paper of which all its answers can be read.")
    unread, ties = len(of_papers) - len(known), sum(one == 0.5 for one in known)
    return Ranking(sum(known) / len(known), *bounds, len(known), ties, unread, sum(known) / len(of_papers))


def finding(ranking: Ranking) -> str:
    """What the interval allows to say: it lies above a half, below it, or holds it."""
    if ranking.low > 0.5:
        return TELLS
    return REVERSES if ranking.high < 0.5 else FAILS


def verdict(rankings: Mapping[Degradation, Ranking]) -> str:
    """The sentence at the end: what a judge must do, and whether this one does it."""
    said = []
    for name in Degradation:
        found = finding(rankings[name]) if name in rankings else UNTRIED
        said.append((found, name.value.replace("_", " ")))
    kinds = dict.fromkeys(found for found, _ in said)
    parts = [f"{kind} {', '.join(name for found, name in said if found == kind)}" for kind in kinds]
    passed = all(found == TELLS for found, _ in said)
    does = "does" if passed else "does not"
    return f"A judge must rank all of them below the gold. This one {does}: it {'; it '.join(parts)}."
