"""Texts of `recipe`: the scope and cost of a dataset, what each step did, and how the result compares."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import size
from peercorpus.harvest.pdfs import MOST_IN_ONE
from peercorpus.harvest.plan import FILES_AN_HOUR, NOTES_AN_HOUR
from peercorpus.recipes.recipe import Quantity, Recipe, RecipeName, ScopeVenue
from peercorpus.records.counted_nouns import plural, verb

if TYPE_CHECKING:
    from peercorpus.cli.recipe_cost import ScopeCost
    from peercorpus.recipes.conformance_files import ConformanceReport

COMMANDS = {
    RecipeName.REVIEWBENCH: (
        "peercorpus import hf:{repository} --workspace W",
        "peercorpus harvest --scope reviewbench --workspace W",
        "peercorpus build --workspace W",
        "peercorpus publish --workspace W --out W/recipe/release --splits none --layout reviewbench --grade stated",
    ),
    RecipeName.RE2: (
        "peercorpus import hf:{repository} --workspace W",
        "peercorpus harvest --scope re2 --workspace W",
        "peercorpus build --workspace W --figures",
        "peercorpus publish --workspace W --out W/recipe/release --splits stated --grade stated --figures",
        "peercorpus export W/recipe/release --format re2 --out W/recipe/re2",
        "peercorpus report --workspace W/recipe/release --out W/recipe/report --profile re2",
    ),
}
"""What a recipe runs, in order."""


def planned(recipe: Recipe, cost: "ScopeCost") -> str:
    """Return the scope of a recipe with its sources, what a harvest of it takes at least, and the commands."""
    lines = [f"{recipe.title} ({recipe.repository}): {recipe.stated_venues} {recipe.stated_unit}.", ""]
    lines += [_scope_line(venue, cost) for venue in recipe.venue]
    lines += [
        f"  {split}: {plural(rest.papers, 'paper')} more, as the card prints, at venues without a number above"
        for split, rest in cost.rest.items()
    ]
    if recipe.likely:
        lines += ["", "Likely, but not stated to be in it; harvest them by name:"]
        lines += [_scope_line(venue, cost) for venue in recipe.likely]
    if recipe.unnamed:
        lines += ["", f"Named: {len(recipe.venue)} of {recipe.stated_venues}; {recipe.unnamed} are named nowhere."]
    named = {venue.source for venue in (*recipe.venue, *recipe.likely)}
    lines += ["", recipe.remark.strip(), "", "Sources:"]
    lines += [f"  {name}: {text}" for name, text in recipe.sources.items() if name in named]
    lines += ["", *_cost_lines(recipe, cost), "", "With --workspace W it runs:"]
    lines += [f"  {command.format(repository=recipe.repository)}" for command in COMMANDS[recipe.name]]
    lines += ["", f"Next: peercorpus recipe {recipe.name} --workspace W --from hf:{recipe.repository}"]
    return "\n".join(lines)


def _scope_line(venue: ScopeVenue, cost: "ScopeCost") -> str:
    of_venue = cost.venues.get(venue.id or "")
    parts = [
        venue.id or venue.name,
        f"({venue.name})" if venue.name and venue.id else None,
        f"({venue.split}, {venue.track})" if venue.split else None,
        plural(of_venue.papers, "submission") if of_venue is not None else None,
        f"[{venue.source}]",
    ]
    return f"  {' '.join(part for part in parts if part)}"


def _cost_lines(recipe: Recipe, cost: "ScopeCost") -> list[str]:
    total, stated = cost.total, recipe.find_printed(Quantity.PAPERS)
    lines = [
        f"A harvest of the named venues takes at least {plural(total.note_requests, 'request')} for notes and edits and"
        f" {total.file_requests:,} for PDFs: about {plural(round(total.hours), 'hour')} at the limits seen in 2026"
        f" ({NOTES_AN_HOUR} and {FILES_AN_HOUR} an hour), and {size(total.size_bytes)}. For the numbers of today:"
        f" peercorpus harvest --scope {recipe.name} --plan --workspace W"
    ]
    if cost.unknown:
        lines.append(f"Not counted, as their number of papers is not known: {', '.join(cost.unknown)}.")
    if stated is not None:
        hours = stated / FILES_AN_HOUR
        if total.file_requests < total.papers:
            lines.append(
                f"PDFs need fewer requests than papers because API 2 sends current ones {MOST_IN_ONE} at a time."
            )
        lines.append(
            f"Earlier versions come one by one: one for each of {plural(stated, 'paper')} takes"
            f" {plural(round(hours), 'hour')} ({plural(round(hours / 24), 'day')}). Begin with the published files"
            " (--from)."
        )
    return lines


def compared(report: "ConformanceReport", page: Path) -> str:
    """Return how many rows of the card or paper the result has as printed, and where the report is."""
    return (
        f"{report.agreeing:,} of {plural(report.printed, 'row')} {verb(report.agreeing, 'is', 'are')} as"
        f" {report.recipe.title} prints; each difference with its reason: {shlex.quote(str(page))}"
    )
