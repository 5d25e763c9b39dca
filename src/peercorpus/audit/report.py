"""What an audit found as JSON, and both reports written to a folder."""

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from peercorpus.audit.measure import BALANCED_FACTOR, Audit, Finding
from peercorpus.audit.page import page
from peercorpus.audit.predictors import FOLDS, SHUFFLES
from peercorpus.errors import TableError

JSON_NAME, PAGE_NAME = "leaks.json", "leaks.html"
MOST_ALIKE = 50
DIGITS = 6
"""After the point; what is behind them tells of rounding alone."""


def _share(number: float) -> float:
    return round(number, DIGITS)


def verdict(audit: Audit) -> str:
    """What was found, in one sentence."""
    if not audit.leaks:
        return (
            f"No leak: no single feature tells the decision more than {100 * audit.threshold:g} points better than"
            " the majority and better than chance would."
        )
    best = audit.findings[0]
    features = "1 feature tells" if audit.leaks == 1 else f"{audit.leaks:,} features tell"
    return (
        f"Leak: {features} the decision; the best, {best.feature.title}, is right for"
        f" {100 * best.outcome.accuracy:.1f} % of the papers, where the majority is for {100 * audit.majority:.1f} %."
    )


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "feature": finding.feature.name,
        "kind": finding.feature.kind.value,
        "is_leak": finding.is_leak,
        "accuracy": _share(finding.outcome.accuracy),
        "gain": _share(finding.gain),
        "balanced_accuracy": _share(finding.outcome.balanced),
        "papers": [value._asdict() for value in finding.values],
        "same_papers": list(finding.alike[:MOST_ALIKE]),
        "same_papers_count": len(finding.alike),
        "examples": [shown._asdict() for shown in finding.examples],
    }


def as_json(audit: Audit) -> dict[str, Any]:
    """An audit as an object; the same rows give the same object, in whatever order they come."""
    source = audit.source
    return {
        "generator": "peercorpus audit leaks",
        "version": version("peercorpus"),
        "verdict": verdict(audit),
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
        "threshold": {"gain": audit.threshold, "balanced_gain": BALANCED_FACTOR * audit.threshold},
        "majority_accuracy": _share(audit.majority),
        "best_by_chance": {
            "accuracy": _share(audit.chance.accuracy),
            "balanced_accuracy": _share(audit.chance.balanced),
            "shuffles": SHUFFLES,
        },
        "folds": FOLDS,
        "features_tried": audit.tried,
        "not_tried": dict(audit.untried),
        "leaks": audit.leaks,
        "features": [_finding(finding) for finding in audit.findings],
    }


def json_text(audit: Audit) -> str:
    """An audit as JSON text."""
    return json.dumps(as_json(audit), indent=1, ensure_ascii=False) + "\n"


def check_folder(folder: Path) -> None:
    """See that reports can be written to a folder, before the work of an audit; nothing is made.

    Raises:
        TableError: A file stands there or above it, or it may not be written to.
    """
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise TableError(f"'{there}' is a file; name a folder for the reports with --out.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise TableError(f"'{there}' may not be written to; name another folder for the reports with --out.")


def write_reports(audit: Audit, folder: Path) -> None:
    """Write the JSON report and the page to a folder, each whole or not at all; earlier ones are replaced.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((JSON_NAME, json_text(audit)), (PAGE_NAME, page(audit, verdict(audit)))):
        partial = folder / f".{name}.partial"
        partial.write_bytes(text.encode("utf-8", "replace"))
        partial.replace(folder / name)
