"""Texts of `harvest`: what was fetched, or what fetching it would take."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import duration, size
from peercorpus.records.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.harvest.harvest import HarvestSummary
    from peercorpus.harvest.plan import PlannedStep, VenuePlan


def harvested(summary: "HarvestSummary") -> str:
    """Return what the workspace has of a venue after a harvest, and what the harvest brought."""
    contents = [
        plural(summary.submissions, "submission"),
        plural(summary.replies, "reply"),
        plural(summary.edits, "edit"),
        plural(summary.files, "file"),
    ]
    reasons = ", ".join(f"{reason}: {number:,}" for reason, number in summary.files_not_had.items())
    missing = f", not available: {plural(sum(summary.files_not_had.values()), 'file')} ({reasons})" if reasons else ""
    brought = [f"{summary.came:,} new or changed"] if summary.came else []
    brought += [f"{plural(summary.files_came, 'file')} fetched"] if summary.files_came else []
    came = ", ".join(brought) or "nothing new"
    asked = f"{plural(summary.requests, 'request')}, {came}"
    line = f"{summary.venue_id} (API v{summary.api}): {', '.join(contents)}{missing}; {asked}."
    return "\n".join([line, *(f"  {remark}" for remark in summary.remarks)])


def planned(plans: Sequence["VenuePlan"]) -> str:
    """Return the requests, waiting time and size of each step of a planned harvest, and in total."""
    lines: list[str] = []
    for plan in plans:
        lines.append(f"{plan.venue_id} (API v{plan.api})")
        lines.extend(_planned_step(step) for step in plan.steps)
    steps = [step for plan in plans for step in plan.steps]
    rough = "at least " if any(step.is_rough for step in steps) else ""
    requests = sum(step.requests for step in steps)
    size_bytes = sum(step.size_bytes for step in steps)
    waits = duration(sum(step.seconds for step in steps))
    lines.append(
        f"In total {rough}{plural(requests, 'request')}, {waits} of waiting for the rate limit,"
        f" about {size(size_bytes)}. Nothing was fetched; leave out --plan to begin."
    )
    if rough:
        lines.append("Earlier versions and their files are not included: plan again once the submissions are listed.")
    if not all(step.is_announced for step in steps):
        lines.append("For limits that OpenReview has not announced yet, those seen in 2026 are assumed.")
    return "\n".join(lines)


def _planned_step(step: "PlannedStep") -> str:
    unit = {"listing": "submission", "versions": "note", "files": "file"}[step.what]
    rough = "at least " if step.is_rough else ""
    limit, window_s = step.allowed
    source = "announced" if step.is_announced else "not announced yet"
    wait = f"waits {duration(step.seconds)}" if step.seconds >= 1 else "no waiting"
    megabytes = f", about {size(step.size_bytes)}" if step.size_bytes else ""
    asked = f"{rough}{plural(step.requests, 'request')} for {rough}{plural(step.things, unit)}"
    if step.fewest is not None and step.most is not None and step.fewest < step.most:
        asked += f" ({step.fewest:,} to {step.most:,}, by the length of their replies)"
    way = ", from the list of the venue's edits" if step.by_venue else ""
    way = f", one by one (OpenReview's list of the venue's edits: {step.refusal})" if step.refusal else way
    return f"  {step.what:<9} {asked}{way}{megabytes}: {wait} ({limit:,} in {duration(window_s)}, {source})"
