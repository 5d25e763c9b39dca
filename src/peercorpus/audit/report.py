"""Write the findings as JSON and as one HTML page."""

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from peercorpus.audit.leak_audit import BALANCED_FACTOR, THRESHOLD, Audit, Finding
from peercorpus.audit.page import audit_page
from peercorpus.audit.predictors import FOLDS, SHUFFLES
from peercorpus.errors import TableError
from peercorpus.workspace.object_store import write_whole

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
