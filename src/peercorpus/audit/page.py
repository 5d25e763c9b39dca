"""Render the findings of an audit as one HTML page; the page itself is `templates/leaks.html`."""

from dataclasses import dataclass
from functools import cache

import jinja2
from markupsafe import Markup

from peercorpus.audit.leak_audit import BALANCED_FACTOR, THRESHOLD, Audit, Finding, Value
from peercorpus.audit.predictors import FOLDS, SHUFFLES, FeatureKind
from peercorpus.corpus.html_pages import page_templates

_MAX_VALUES = 5
"""How many values of a feature its row lists, the most frequent first."""
_MAX_ALIKE = 5
"""How many features of the same papers a row names; `leaks.json` names more."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One feature, as a row of the table.

    Attributes:
        values: Its most frequent values, the most frequent first.
        bar_percent: Width of the bar under the gain: the share of the largest possible gain over the majority.
    """

    finding: Finding
    values: list[Value]
    bar_percent: str

    @property
    def names_first_value(self) -> bool:
        """Whether the feature's name is followed by the best threshold of a number."""
        return self.finding.feature.kind is FeatureKind.NUMBER

    @property
    def names_values(self) -> bool:
        """Whether each value has its own line."""
        return self.finding.feature.kind is FeatureKind.CATEGORY


def _make_row(finding: Finding, majority: float) -> _Row:
    by_size = sorted(finding.values, key=lambda value: (-(value.accepted + value.rejected), value.name))
    share = max(0.0, finding.gain) / (1 - majority)
    return _Row(finding, by_size[:_MAX_VALUES], f"{100 * share:.0f}")


def _format_percent(number: float, of: float = 1, digits: int = 1) -> Markup:
    return Markup("{:.{}f}&nbsp;%").format(100 * number / of, digits)


@cache
def _load_templates() -> jinja2.Environment:
    templates = page_templates("peercorpus.audit")
    templates.filters |= {"percent": _format_percent, "points": lambda share: f"{100 * share:+.1f}"}
    return templates


def audit_page(audit: Audit, verdict: str) -> str:
    """Return the page as HTML, with `verdict` below its title."""
    return (
        _load_templates()
        .get_template("leaks.html")
        .render(
            audit=audit,
            verdict=verdict,
            rows=[_make_row(finding, audit.majority) for finding in audit.findings],
            max_alike=_MAX_ALIKE,
            balanced_factor=BALANCED_FACTOR,
            threshold=THRESHOLD,
            folds=FOLDS,
            shuffles=SHUFFLES,
        )
    )
