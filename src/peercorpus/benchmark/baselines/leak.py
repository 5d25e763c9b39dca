"""Baseline that predicts acceptance from the best single feature found by the leak audit."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import zstandard

from peercorpus.audit.features import NUMBERS, PRESENCES, Facts, phrases_of, read_facts
from peercorpus.audit.leak_audit import Audit, Finding, audit
from peercorpus.audit.papers import MOST_CHARACTERS, AuditedPaper, AuditSource, SourceRecord
from peercorpus.audit.predictors import Feature, FeatureKind, threshold_of
from peercorpus.benchmark.baselines.baseline import Baseline, decided, learnt, no_training_data
from peercorpus.benchmark.baselines.simple import answer_decision
from peercorpus.benchmark.cases import BenchTask, Case
from peercorpus.errors import BaselineError, TableError
from peercorpus.wording.untrusted_text import escape_and_cut

MAX_FEATURE_CHARACTERS = 120
"""Maximum characters shown of a feature's name, which may be a phrase from a paper."""
ROUTE = "source route"
"""A trait that a release records of a paper: the grade of its version. The workspace audit uses the same name."""
THE_REST = ""
"""Cell of the papers in no named cell."""


class _Kept(NamedTuple):
    forum_id: str
    packed: bytes
    accepted: bool
    route: str


@dataclass(frozen=True, slots=True)
class AcceptShares:
    """The accept shares of a feature's cells in the train split.

    Attributes:
        shares: Accept share of each cell; for a cell without papers, the overall share.
        overall: Accept share of all papers.
    """

    feature: Feature
    shares: Mapping[str, float]
    overall: float


def find_cell(feature: Feature, cells: Iterable[str], text: str, facts: Facts) -> str:
    """Return the cell of a feature that a paper falls into; `THE_REST` if it is in no named cell.

    Args:
        feature: A feature found by the audit.
        cells: The feature's named cells.
        text: Text of the paper.
        facts: Values of the audit's fixed features for the paper.
    """
    names = list(cells)
    if feature.kind is FeatureKind.NUMBER:
        value = facts.numbers[NUMBERS.index(feature.name)]
        return next((name for name in names if value <= threshold_of(name)), THE_REST)
    if feature.kind is FeatureKind.CATEGORY:
        value_here = facts.categories.get(feature.name, "")
        return value_here if value_here in names else THE_REST
    if feature.kind is FeatureKind.SIGN:
        is_there = bool(facts.presences >> PRESENCES.index(feature.name) & 1)
    else:
        is_there = feature.name in phrases_of(text)
    return names[0] if is_there else THE_REST


def _compute_shares(finding: Finding, audited: Audit) -> AcceptShares:
    """Return the accept shares of a finding's cells; the last one has a name only for a category."""
    overall = audited.accepted / (audited.accepted + audited.rejected)
    shares = {cell.name: cell.accepted / (cell.accepted + cell.rejected) for cell in finding.values}
    if finding.feature.kind is not FeatureKind.CATEGORY:
        accepted = audited.accepted - sum(cell.accepted for cell in finding.values)
        rejected = audited.rejected - sum(cell.rejected for cell in finding.values)
        shares[THE_REST] = accepted / (accepted + rejected) if accepted + rejected else overall
    return AcceptShares(finding.feature, shares, overall)


class Leak(Baseline):
    """Predicts the accept share of the papers that share, or lack, the best feature of the leak audit.

    Attributes:
        feature: Name of the feature; None before fitting.
        is_leak: Whether the audit considers it a leak; None before fitting.
    """

    name = "leak"
    tasks = frozenset({BenchTask.ACCEPTANCE})

    says = "the leak audit's best single feature in the train split"
    feature: str | None = None
    is_leak: bool | None = None
    _shares: AcceptShares | None = None

    def fit(self, cases: Iterable[Case]) -> None:
        """Audit the train split; see `Baseline.fit`.

        Raises:
            BaselineError: There are too few papers with either decision, or no feature separates them.
        """
        squeeze = zstandard.ZstdCompressor()
        kept = []
        for case, accepted in decided(cases):
            packed = squeeze.compress(case.paper.markdown.encode("utf-8", "surrogatepass"))
            kept.append(_Kept(forum_id=case.case_id, packed=packed, accepted=accepted, route=case.paper.grade.value))
        if not kept:
            raise no_training_data(self.name)
        try:
            audited = audit(
                AuditSource(
                    name="the train split",
                    text="markdown",
                    decision="status",
                    entries=lambda: _unpack_records(kept),
                    total=len(kept),
                )
            )
        except TableError as error:
            raise BaselineError(f"The baseline '{self.name}' cannot learn: {error}") from None
        if not audited.findings:
            raise BaselineError(
                f"The baseline '{self.name}' cannot learn, as no single feature separates the papers of the train"
                " split."
            )
        finding = audited.findings[0]
        self._shares = _compute_shares(finding, audited)
        self.is_leak = finding.is_leak
        self.feature = escape_and_cut(finding.feature.title, MAX_FEATURE_CHARACTERS)
        kind = "a leak" if finding.is_leak else "no leak"
        self.says = f"the leak audit's best single feature in the train split: {self.feature} ({kind})"

    def answer(self, case: Case) -> str:
        """Answer with the accept share of the train papers in the same cell."""
        shares = learnt(self._shares, self.name)
        text = case.paper.markdown[:MOST_CHARACTERS].strip()
        # The audit's type for a paper has a decision, which is not used here.
        row = AuditedPaper(b"", case.paper.forum_id, text, accepted=False, traits={ROUTE: case.paper.grade.value})
        cell = find_cell(shares.feature, (name for name in shares.shares if name), row.text, read_facts(row))
        return answer_decision(shares.shares.get(cell, shares.overall))


def _unpack_records(kept: Iterable[_Kept]) -> Iterator[SourceRecord]:
    unpack = zstandard.ZstdDecompressor()
    for paper in kept:
        text = unpack.decompress(paper.packed).decode("utf-8", "surrogatepass")
        yield SourceRecord(record_id=paper.forum_id, text=text, decision=paper.accepted, traits={ROUTE: paper.route})
