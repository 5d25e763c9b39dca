"""The card of an adapter: what it learnt from and what not, how it was tuned, and what came of it.

Of the data nothing goes into it but venue ids and the names of licences, and these escaped; no path of a machine does.
"""

import re
import shutil
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from peercorpus import prompts
from peercorpus.errors import PeercorpusError
from peercorpus.finetune.recipe import Recipe
from peercorpus.finetune.run_files import (
    ADAPTER,
    BEFORE_AFTER,
    DATA,
    LENGTHS,
    LESSONS,
    RunFile,
    Trained,
    run_of,
    trained_of,
)
from peercorpus.publish.citing import entry_of_adapter
from peercorpus.publish.columns import escape, table
from peercorpus.publish.front_matter import to_yaml

CARD, RECIPE = "README.md", "recipe.json"
ON_THE_HUB = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
SIDES = {"train": "to learn from", "validation": "to validate on"}


def _is_folder(model: str) -> bool:
    return Path(model).is_dir() or ON_THE_HUB.fullmatch(model) is None


def base_name(model: str) -> str:
    """What a base model is called: its name on the Hub, or its folder's name without the way to it.

    >>> base_name("meta-llama/Llama-3.1-8B-Instruct"), base_name("/home/me/llama")
    ('meta-llama/Llama-3.1-8B-Instruct', 'llama')
    """
    return Path(model).name if _is_folder(model) else model


def _front_matter(run: RunFile) -> str:
    model = run.asked.model
    fields = {
        # A folder's name could be that of somebody's model on the Hub.
        **({} if _is_folder(model) else {"base_model": model, "base_model_relation": "adapter"}),
        "library_name": "peft",
        "pipeline_tag": "text-generation",
        "language": ["en"],
        "license": "other",
        "license_name": "per-record",
        "license_link": "README.md",
        "tags": ["lora", "peer-review", "openreview", "peercorpus", run.asked.subject],
    }
    return f"---\n{to_yaml(fields)}---\n\n"


def _told(run: RunFile) -> str:
    rows = [(SIDES[side], count, run.papers.get(side, 0)) for side, count in run.lessons.items()]
    return table(("side", "lessons, weights counted in", "papers"), rows)


def _venues(folder: Path) -> str:
    """Lessons to learn from by venue, as often as they are told."""
    lessons: Counter[tuple[str, str]] = Counter()
    papers: dict[tuple[str, str], set[str]] = {}
    with (folder / DATA / LESSONS).open("rb") as listed:
        for line in listed:
            one = msgspec.json.decode(line)
            if one["side"] == "train":
                key = one["venue_id"], one["task"]
                lessons[key] += one["times"]
                papers.setdefault(key, set()).add(one["forum_id"])
    rows = [(escape(venue), task, count, len(papers[venue, task])) for (venue, task), count in sorted(lessons.items())]
    return table(("venue", "task", "lessons", "papers"), rows, text_columns=2)


def _shown(value: object) -> str:
    """A setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ([], (), {}):
        return "-"
    if isinstance(value, Mapping):
        return "; ".join(f"{escape(str(name))}: {_shown(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(escape(str(one)) for one in value)
    return f"{value:g}" if isinstance(value, float) else escape(str(value))


def _settings(told: Mapping[str, Any]) -> str:
    return table(("setting", "value"), [(f"`{name}`", _shown(value)) for name, value in told.items()], text_columns=2)


def _left_out(run: RunFile) -> str:
    rows = [
        (SIDES[side], escape(reason), count) for side, found in run.left_out.items() for reason, count in found.items()
    ]
    return table(("side", "left out", "number"), rows, text_columns=2) if rows else "Nothing was left out."


def _fitness(run: RunFile) -> str:
    """That nothing held out was learnt from, as far as that is known."""
    held_out, links = run.fitness["held_out"], run.fitness["links"]
    known = (
        "The release has no links between submissions of one work: none were found, or none were looked for, so that"
        " linked papers are not known and a paper that was submitted twice may be learnt from and tested on."
        if links is None
        else f"None of {links:,} pairs of submissions of one work is parted by the sides."
    )
    return (
        f"A release in which a paper to learn from is also held out is refused: none of the {held_out:,} papers to test"
        f" and validate on (sides of the profile `{run.fitness['profile']}`) is learnt from. {known}"
    )


def _loss(trained: Trained) -> str:
    if trained.first is None or trained.last is None:
        return f"After {trained.steps:,} steps; no lesson was held to it, so its loss is not known."
    rows = [("before the first step", f"{trained.first:.4f}"), ("after the last step", f"{trained.last:.4f}")]
    said = table(("", "loss on the validation side"), rows)
    return f"Steps: {trained.steps:,}.\n\n{said}"


def _licences(run: RunFile) -> str:
    stated = sorted((name, count) for name, count in run.licences.items() if name)
    unknown = run.papers["train"] - sum(run.licences.values())
    rows = [*((escape(name), count) for name, count in stated), ("none stated", run.licences.get("", 0))]
    rows += [("not known, as the release does not list the paper", unknown)] if unknown else []
    return table(("licence", "papers"), rows)


def _without_paths(recipe: Mapping[str, Any]) -> dict[str, Any]:
    launch = recipe.get("accelerate")
    return {**recipe, "accelerate": None if launch is None else Path(launch).name}


def _text(folder: Path, run: RunFile, trained: Trained) -> str:
    tested = folder / BEFORE_AFTER
    tables = tested.read_text("utf-8") if tested.exists() else None
    asked, base = run.asked, base_name(run.asked.model)
    version = f"{prompts.VERSION}, " if asked.prompts == prompts.DIGEST else ""
    where = "a model in a folder" if _is_folder(asked.model) else "a model on the Hugging Face Hub"
    body = Template(files("peercorpus.finetune").joinpath("card.md").read_text("utf-8")).substitute(
        base=escape(base),
        subject=asked.subject,
        what=f"What LoRA trained of {escape(base)}, {where}, on the public peer-review record of OpenReview.",
        version=asked.version,
        prompts=f"{version}digest `{asked.prompts}`",
        release=asked.release,
        lessons=_told(run),
        venues=_venues(folder),
        chosen=_settings(asked.chosen),
        left_out=_left_out(run),
        lengths=(folder / DATA / LENGTHS).read_text("utf-8").strip(),
        fitness=_fitness(run),
        recipe=_settings(_without_paths(asked.recipe)),
        loss=_loss(trained),
        # The benchmark names the tokenizer by its path.
        tables=tables.strip().replace(asked.model, base) if tables else "It has not been tested with the benchmark.",
        licences=_licences(run),
        citation=entry_of_adapter(base, asked.subject, asked.version, asked.release),
    )
    return _front_matter(run) + body


def write_card(folder: Path) -> Path:
    """Write the card of a run's adapter, and beside it the list of lessons and the recipe.

    Args:
        folder: Of the run, which is trained; what the benchmark said of it goes in.

    Raises:
        PeercorpusError: The run is not there, not trained, or cannot be read.
    """
    run, trained, adapter = run_of(folder), trained_of(folder), folder / ADAPTER
    recipe = msgspec.json.encode(msgspec.convert(_without_paths(run.asked.recipe), Recipe))
    try:
        text = _text(folder, run, trained)
        shutil.copyfile(folder / DATA / LESSONS, adapter / LESSONS)
        (adapter / RECIPE).write_bytes(msgspec.json.format(recipe, indent=1))
        (adapter / CARD).write_text(text, "utf-8")
    except (OSError, msgspec.DecodeError) as error:
        raise PeercorpusError(f"The card in '{adapter}' cannot be written: {error}.") from None
    return adapter / CARD
