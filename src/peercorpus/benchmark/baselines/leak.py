"""Acceptance by the one feature of the train side's papers that tells most, as the leak audit finds it.

The audit reads its papers three times, and cases come once: their texts are kept, compressed, while it is done.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import zstandard

from peercorpus.audit.features import NUMBERS, PRESENCES, Facts, read_facts
from peercorpus.audit.measure import Audit, Finding, audit
from peercorpus.audit.phrases import phrases_of
from peercorpus.audit.predictors import Feature, Kind, threshold_of
from peercorpus.audit.source import MOST_CHARACTERS, Entry, Row, Source
from peercorpus.audit.visible import visible
from peercorpus.benchmark.baselines.acceptance import say
from peercorpus.benchmark.baselines.baseline import decided, learnt, none_to_learn_from
from peercorpus.benchmark.cases import BenchTask, Case, CasePaper
from peercorpus.errors import BaselineError, TableError

SHOWN_CHARACTERS = 120
"""Of a feature's name, which may be words of a paper."""
ROUTE = "source route"
"""A trait that a release knows of a paper, named as the audit of a workspace names it: the grade of its version."""
THE_REST = ""
"""The cell of papers that are in none that has a name."""


class _Kept(NamedTuple):
    forum_id: str
    packed: bytes
    accepted: bool
    route: str


@dataclass(frozen=True, slots=True)
class Told:
    """What the feature tells.

    Attributes:
        shares: The accept share in each cell of the train side; of one that has no papers, the share of all.
    """

    feature: Feature
    shares: Mapping[str, float]
    overall: float


def cell_of(feature: Feature, cells: Iterable[str], text: str, facts: Facts) -> str:
    """Which cell of a feature a paper is in; `THE_REST` where it is in none that has a name.

    Args:
        feature: As an audit found it.
        cells: Its cells that have names.
        text: Of the paper.
        facts: What the audit's fixed features see of it.
    """
    names = list(cells)
    if feature.kind is Kind.NUMBER:
        value = facts.numbers[NUMBERS.index(feature.name)]
        return next((name for name in names if value <= threshold_of(name)), THE_REST)
    if feature.kind is Kind.CATEGORY:
        value_here = facts.categories.get(feature.name, "")
        return value_here if value_here in names else THE_REST
    if feature.kind is Kind.SIGN:
        is_there = bool(facts.presences >> PRESENCES.index(feature.name) & 1)
    else:
        is_there = feature.name in phrases_of(text)
    return names[0] if is_there else THE_REST


def _told(found: Finding, audited: Audit) -> Told:
    """The shares of a finding; its cells have names but for the last, which a category names too."""
    overall = audited.accepted / (audited.accepted + audited.rejected)
    shares = {one.name: one.accepted / (one.accepted + one.rejected) for one in found.values}
    if found.feature.kind is not Kind.CATEGORY:
        accepted = audited.accepted - sum(one.accepted for one in found.values)
        rejected = audited.rejected - sum(one.rejected for one in found.values)
        shares[THE_REST] = accepted / (accepted + rejected) if accepted + rejected else overall
    return Told(found.feature, shares, overall)


class Leak:
    """The predictor of the leak audit's best finding: the accept share of the papers that have its feature, or lack it.

    Attributes:
        feature: Its name, once it has learnt; None before.
        is_leak: Whether the audit calls it a leak; None before.
    """

    name = "leak"
    tasks = frozenset({BenchTask.ACCEPTANCE})

    def __init__(self, seed: int = 0) -> None:
        """Take a seed; the audit has its own."""
        del seed
        self.says = "the leak audit's best single feature on the train side"
        self.feature: str | None = None
        self.is_leak: bool | None = None
        self._told: Told | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Audit the train side; see `Baseline`.

        Raises:
            BaselineError: There are too few papers of either decision, or nothing tells them apart.
        """
        squeeze = zstandard.ZstdCompressor()
        kept = [
            _Kept(case.case_id, squeeze.compress(_encoded(case.paper.markdown)), accepted, case.paper.grade.value)
            for case, accepted in decided(cases)
        ]
        if not kept:
            raise none_to_learn_from(self.name)
        try:
            audited = audit(Source("the train side", "markdown", "status", lambda: _entries(kept), len(kept)))
        except TableError as error:
            raise BaselineError(f"The baseline '{self.name}' cannot learn: {error}") from None
        if not audited.findings:
            raise BaselineError(
                f"The baseline '{self.name}' cannot learn, as no single feature parts the papers of the train side."
            )
        found = audited.findings[0]
        self._told, self.is_leak = _told(found, audited), found.is_leak
        self.feature = visible(found.feature.title, SHOWN_CHARACTERS)
        kind = "a leak" if found.is_leak else "no leak"
        self.says = f"the leak audit's best single feature on the train side: {self.feature} ({kind})"

    def answer(self, case: Case) -> str:
        """The accept share of the train side's papers that are alike in that feature."""
        told = learnt(self._told, self.name)
        row = _row(case.paper)
        cell = cell_of(told.feature, (name for name in told.shares if name), row.text, read_facts(row))
        return say(told.shares.get(cell, told.overall))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _entries(kept: Iterable[_Kept]) -> Iterator[Entry]:
    unpack = zstandard.ZstdDecompressor()
    for one in kept:
        text = unpack.decompress(one.packed).decode("utf-8", "surrogatepass")
        yield Entry(one.forum_id, text, one.accepted, {ROUTE: one.route})


def _row(paper: CasePaper) -> Row:
    """A paper as the audit sees one; its decision is none of what is looked at."""
    text = paper.markdown[:MOST_CHARACTERS].strip()
    return Row(b"", paper.forum_id, text, accepted=False, traits={ROUTE: paper.grade.value})
