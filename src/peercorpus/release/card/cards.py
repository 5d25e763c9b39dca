"""Render the cards of a release: `README.md`, and `details.md` beside it, from templates over `ReleaseFacts`."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2

from peercorpus.release.card.citation import TITLE, release_bibtex, release_version
from peercorpus.release.card.facts import ReleaseFacts, held
from peercorpus.release.card.markdown import (
    columns_of,
    describe_columns,
    escape,
    front_matter,
    reviewbench_front_matter,
)
from peercorpus.release.columns import Config
from peercorpus.release.counts import ReleaseCounts, ReviewBenchCounts
from peercorpus.release.shards import CONFIGS, REVIEWBENCH, SplitShards
from peercorpus.wording.counted_nouns import plural

Show = Callable[[str], str]
"""Formats text from OpenReview for its destination: escaped for the card, unchanged but on one line for JSON."""
Statements = dict[str, Any]
CARD, DETAILS = "README.md", "details.md"
KEYWORDS = ["peer review", "OpenReview", "rebuttal", "scholarly documents", "peercorpus"]
ORDER = ("neurips", "iclr", "icml", "tmlr", "emnlp", "corl", "colm")
"""Order of the splits in ReviewBench's card; other conferences follow by name."""
MEANINGS = {
    "conference": "the conference family in lower case; also the split",
    "track": "`main`, `datasets_and_benchmarks`, `findings`, else the words of the venue id in lower case",
}
"""Meanings of columns that differ from those of the same name in the default layout."""
COLUMNS_SAY = (
    "A configuration lists those of these names that have this meaning in it. The type is in brackets, if it is not a"
    " string. The fields of a struct follow it as `struct.field`, or are listed once: a `list of score` has those of"
    " score, a `list of reviews` the columns of the configuration `reviews`."
)


def _list_bullets(said: str | Sequence[str]) -> str:
    return said if isinstance(said, str) else "\n".join(f"- {one}" for one in said)


def _fold(text: str) -> str:
    return " ".join(text.split())


@cache
def _load_templates(show: Show) -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("peercorpus.release.card"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "show": show,
        "names": lambda names: ", ".join(map(show, names)),
        "number": "{:,}".format,
        "share": lambda count, of: f"{count:,} of {of:,} ({count / of:.0%})",
        "plural": plural,
        "bullets": _list_bullets,
    }
    return templates


def state_release(facts: ReleaseFacts, show: Show = _fold) -> tuple[Statements, Statements]:
    """Return the properties of a release by their names in Croissant, and those of its RAI vocabulary."""
    text = _load_templates(show).get_template("statements.md").render(f=facts)
    said: Statements = {}
    for part in re.split(r"^@", text, flags=re.MULTILINE)[1:]:
        name, _, body = part.partition("\n")
        items = [_fold(item) for item in re.split(r"^- ", body, flags=re.MULTILINE)]
        said[name] = items[0] or items[1:]
    newest = facts.tally.harvested[1] if facts.tally.harvested else None
    dataset = {
        "name": TITLE,
        "description": said.pop("description"),
        "license": said.pop("license"),
        "citeAs": release_bibtex(newest, facts.papers, facts.reviews),
        "version": release_version(newest),
        **({"datePublished": facts.days[-1]} if newest else {}),
        "keywords": KEYWORDS,
        "inLanguage": "en",
        "isBasedOn": "https://openreview.net",
    }
    return dataset, {name: statement for name, statement in said.items() if statement}


def describe_configurations(configs: Sequence[Config]) -> str:
    """Return the sections with all columns: first those that several configurations have alike."""
    shared, others = describe_columns(configs)
    parts = ["## Columns of several configurations", COLUMNS_SAY, shared]
    for config in configs:
        parts += [f"## Columns of `{config.name}`", others[config.name]]
        if config is next(iter(CONFIGS.values())):
            parts.append(_load_templates(escape).get_template("reviews_json.md").render())
    return "\n\n".join(parts)


def _write(path: Path, template: str, head: str, facts: ReleaseFacts, **more: object) -> None:
    dataset, rai = state_release(facts, escape)
    body = (
        _load_templates(escape)
        .get_template(template)
        .render(f=facts, dataset=dataset, rai=rai, version=version("peercorpus"), **more)
    )
    path.write_text(head + re.sub(r"\n{3,}", "\n\n", body).strip() + "\n", encoding="utf-8")


def write_dataset_card(folder: Path, tally: ReleaseCounts, splits: Sequence[SplitShards]) -> None:
    """Write `README.md` into a release, and beside it `details.md`, with every column among them."""
    facts = ReleaseFacts(tally, splits)
    _write(folder / CARD, "card.md", f"{front_matter(splits)}\n", facts)
    _write(folder / DETAILS, "details.md", "", facts, columns=describe_configurations(held(splits)))


def _order(split: SplitShards) -> tuple[int, str]:
    return ORDER.index(split.name) if split.name in ORDER else len(ORDER), split.name


def write_reviewbench_card(
    folder: Path, tally: ReleaseCounts, splits: Sequence[SplitShards], counts: ReviewBenchCounts
) -> None:
    """Write `README.md` into a release in the layout `reviewbench`."""
    splits = sorted(splits, key=_order)
    by_track = sorted(counts.papers.items(), key=lambda item: (item[0][0], item[0][1] or 0, item[0][2]))
    _write(
        folder / CARD,
        "reviewbench.md",
        f"{reviewbench_front_matter(splits)}\n",
        ReleaseFacts(tally, splits),
        splits=splits,
        counts=counts,
        tracks=[(*place, papers) for place, papers in by_track],
        # The card's example code uses the first review of the first paper.
        shown=next((split.name for split in splits if counts.opening[split.name]), splits[0].name),
        columns=columns_of(REVIEWBENCH, MEANINGS),
    )
