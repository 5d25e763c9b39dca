"""The card of a release: how to load it, what is in it, what to mind. All of it is made of the release itself.

Nothing from OpenReview goes into it but venue ids and the names of licences, and these escaped.
"""

import re
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from peercorpus.publish import card_tables
from peercorpus.publish.citing import CITED
from peercorpus.publish.columns import columns_of, escape, units
from peercorpus.publish.front_matter import front_matter
from peercorpus.publish.shards import CONFIGS, Config, Split
from peercorpus.publish.splits import Side
from peercorpus.publish.statements import state
from peercorpus.publish.tally import Tally

CARD = "card.md"
REVIEWS_JSON = "reviews_json.md"
"""Explains the one column that holds JSON, below the columns of its configuration."""


def _said(value: Any) -> str:  # noqa: ANN401 -- whatever a field of Croissant holds
    """A statement, or each of several behind a dash."""
    return value if isinstance(value, str) else "\n".join(f"- {one}" for one in value)


def _load(splits: Sequence[Split]) -> str:
    """What loads the first split of some configurations."""
    first = {split.config: split.name for split in reversed(splits)}
    first |= {split.config: split.name for split in splits if split.name == Side.TRAIN}
    wanted = [name for name in ("papers", "conversations", "review_sft") if name in first]
    return "\n".join(
        f'{name} = load_dataset("path/to/this/folder", "{name}", split="{first[name]}")' for name in wanted
    )


def _text(name: str) -> str:
    return files("peercorpus.publish").joinpath(name).read_text(encoding="utf-8")


def columns_section(config: Config) -> str:
    """The columns of a configuration below its heading."""
    parts = [f"### Columns of `{config.name}`", f"{config.says.capitalize()}.", columns_of(config)]
    if config is next(iter(CONFIGS.values())):
        parts.append(_text(REVIEWS_JSON).strip())
    return "\n\n".join(parts)


def _upstream(tally: Tally) -> str:
    """The entries of the published datasets of which records are held."""
    records = [name for name in CITED if any(venue.records[name] for venue in tally.venues)]
    if not records:
        return ""
    entries = "\n\n".join(f"```bibtex\n{CITED[name][2]}\n```" for name in records)
    return f"Records of published datasets are among what it was made of; cite them too.\n\n{entries}"


def write_card(folder: Path, tally: Tally, splits: Sequence[Split]) -> None:
    """Write `README.md` of a release."""
    said, configs = state(tally, escape), card_tables.held(splits)
    body = Template(_text(CARD)).substitute(
        {name: _said(value) for name, value in {**said.dataset, **said.rai}.items()},
        version=version("peercorpus"),
        load=_load(splits),
        timeframe=" to ".join(said.rai.get("dataCollectionTimeframe", ["a day that is not recorded"])),
        configurations=card_tables.configurations(splits),
        rows_by_split=card_tables.rows_by_split(splits),
        coverage=card_tables.coverage(tally),
        grades=card_tables.grades(tally),
        grade_meanings=card_tables.grade_meanings(),
        set_aside=card_tables.set_aside(tally),
        sides=card_tables.sides(tally),
        links=card_tables.links(tally),
        licences=card_tables.licences(tally),
        units=units(configs),
        upstream=_upstream(tally),
        columns="\n\n".join(map(columns_section, configs)),
    )
    text = re.sub(r"\n{3,}", "\n\n", f"{front_matter(splits)}\n{body}")
    (folder / "README.md").write_text(text, encoding="utf-8")
