"""Write the findings as JSON and as one HTML page."""

import json
import os
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from peercorpus.audit.leak_audit import BALANCED_FACTOR, THRESHOLD, Audit, Finding, Value
from peercorpus.audit.predictors import FOLDS, SHUFFLES, FeatureKind
from peercorpus.corpus.html_pages import page_templates
from peercorpus.errors import TableError
from peercorpus.workspace.object_store import write_whole

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


JSON_NAME, PAGE_NAME = "leaks.json", "leaks.html"
MOST_ALIKE = 50
DIGITS = 6
"""Decimal places of shares in the JSON report; further ones would only show rounding."""


def _round_share(number: float) -> float:
    return round(number, DIGITS)


def audit_verdict(audit: Audit) -> str:
    """Return the result of an audit in one sentence."""
    if not audit.leaks:
        return (
            f"No leak: no single feature predicts the decision more than {100 * THRESHOLD:g} points better than"
            " the majority and better than chance would."
        )
    best = audit.findings[0]
    features = "1 feature predicts" if audit.leaks == 1 else f"{audit.leaks:,} features predict"
    return (
        f"Leak: {features} the decision; the best, {best.feature.title}, is right for"
        f" {100 * best.outcome.accuracy:.1f} % of the papers, where the majority is for {100 * audit.majority:.1f} %."
    )


def _to_dict(finding: Finding) -> dict[str, Any]:
    return {
        "feature": finding.feature.name,
        "kind": finding.feature.kind.value,
        "is_leak": finding.is_leak,
        "accuracy": _round_share(finding.outcome.accuracy),
        "gain": _round_share(finding.gain),
        "balanced_accuracy": _round_share(finding.outcome.balanced),
        "papers": [value._asdict() for value in finding.values],
        "same_papers": list(finding.alike[:MOST_ALIKE]),
        "same_papers_count": len(finding.alike),
        "examples": [shown._asdict() for shown in finding.examples],
    }


def audit_to_dict(audit: Audit) -> dict[str, Any]:
    """Return an audit as a JSON object, which does not depend on the order of the rows."""
    source = audit.source
    return {
        "generator": "peercorpus audit leaks",
        "version": version("peercorpus"),
        "verdict": audit_verdict(audit),
        "is_leak": audit.leaks > 0,
        "source": {"name": source.name, "text": source.text, "decision": source.decision},
        "passed_over": list(source.passed_over),
        "rows": {
            "read": audit.read,
            "audited": audit.accepted + audit.rejected,
            "accepted": audit.accepted,
            "rejected": audit.rejected,
            "set_aside": dict(audit.set_aside),
        },
        "threshold": {"gain": THRESHOLD, "balanced_gain": BALANCED_FACTOR * THRESHOLD},
        "majority_accuracy": _round_share(audit.majority),
        "best_by_chance": {
            "accuracy": _round_share(audit.chance.accuracy),
            "balanced_accuracy": _round_share(audit.chance.balanced),
            "shuffles": SHUFFLES,
        },
        "folds": FOLDS,
        "features_tried": audit.tried,
        "not_tried": dict(audit.untried),
        "leaks": audit.leaks,
        "features": [_to_dict(finding) for finding in audit.findings],
    }


def audit_to_json(audit: Audit) -> str:
    """Return an audit as JSON text."""
    return json.dumps(audit_to_dict(audit), indent=1, ensure_ascii=False) + "\n"


def check_folder(folder: Path) -> None:
    """Check that reports can be written to a folder, before an audit begins; nothing is created.

    Raises:
        TableError: The path or a parent is a file, or the folder is not writable.
    """
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise TableError(f"'{there}' is a file; name a folder for the reports with --out.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise TableError(f"'{there}' is not writable; name another folder for the reports with --out.")


def write_reports(audit: Audit, folder: Path) -> None:
    """Write the JSON report and the page to a folder, replacing earlier ones; each is written whole or not at all.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((JSON_NAME, audit_to_json(audit)), (PAGE_NAME, audit_page(audit, audit_verdict(audit)))):
        write_whole(folder / name, text.encode("utf-8", "replace"))
