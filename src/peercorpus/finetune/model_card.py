"""Write the model card of an adapter: its training data and the training."""

import re
import shutil
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from peercorpus.errors import PeercorpusError
from peercorpus.finetune.run_folder import (
    ADAPTER,
    DATA,
    EXAMPLES,
    LENGTHS,
    RunFile,
    TrainingResult,
    load_run,
    load_trained,
)
from peercorpus.models import prompts
from peercorpus.release.card.citation import adapter_bibtex
from peercorpus.release.card.markdown import escape, markdown_table, to_yaml

CARD = "README.md"
RECIPE = "recipe.json"
ON_THE_HUB = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
CHOSEN = ("venue", "year", "grade", "min_words", "min_confidence")
"""Options that choose the training examples."""
SPLITS = {"train": "to learn from", "validation": "to validate on"}


def _is_folder(model: str) -> bool:
    return Path(model).is_dir() or ON_THE_HUB.fullmatch(model) is None


def base_name(model: str) -> str:
    """Return the name of a base model: its name on the Hub, or its folder's name without the path.

    >>> base_name("meta-llama/Llama-3.1-8B-Instruct"), base_name("/home/me/llama")
    ('meta-llama/Llama-3.1-8B-Instruct', 'llama')
    """
    return Path(model).name if _is_folder(model) else model


def _render_front_matter(run: RunFile) -> str:
    model = run.asked.request.model
    fields = {
        # A folder's name could be the same as that of a model on the Hub.
        **({} if _is_folder(model) else {"base_model": model, "base_model_relation": "adapter"}),
        "library_name": "peft",
        "pipeline_tag": "text-generation",
        "language": ["en"],
        "license": "other",
        "license_name": "per-record",
        "license_link": "README.md",
        "tags": ["lora", "peer-review", "openreview", "peercorpus", run.asked.request.task],
    }
    return f"---\n{to_yaml(fields)}---\n\n"


def _format_venues(folder: Path) -> str:
    examples: Counter[tuple[str, str]] = Counter()
    papers: dict[tuple[str, str], set[str]] = {}
    with (folder / DATA / EXAMPLES).open("rb") as listed:
        for line in listed:
            example = msgspec.json.decode(line)
            if (example.get("split") or example["side"]) == "train":  # Earlier versions call the split `side`.
                key = example["venue_id"], example["task"]
                examples[key] += 1
                papers.setdefault(key, set()).add(example["forum_id"])
    rows = [(escape(venue), task, count, len(papers[venue, task])) for (venue, task), count in sorted(examples.items())]
    return markdown_table(("venue", "task", "examples", "papers"), rows, text_columns=2)


def _format_setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ([], (), {}):
        return "-"
    if isinstance(value, Mapping):
        return "; ".join(f"{escape(str(name))}: {_format_setting(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(escape(str(item)) for item in value)
    return f"{value:g}" if isinstance(value, float) else escape(str(value))


def _format_settings(settings: Mapping[str, Any]) -> str:
    return markdown_table(
        ("setting", "value"),
        [(f"`{name}`", _format_setting(value)) for name, value in settings.items()],
        text_columns=2,
    )


def _format_left_out(run: RunFile) -> str:
    rows = [
        (SPLITS[split], escape(reason), count)
        for split, counts in run.left_out.items()
        for reason, count in counts.items()
    ]
    return markdown_table(("split", "left out", "number"), rows, text_columns=2) if rows else "Nothing was left out."


def _describe_fitness(run: RunFile) -> str:
    """Describe the check that no held-out paper was trained on, and its limits."""
    held_out = run.fitness["held_out"]
    links = run.fitness["links"]
    links_text = (
        "The release has no links between submissions of one work: either none were found or the search was not"
        " run, so linked papers are unknown, and a paper that was submitted twice may be in both the training"
        " and the test data."
        if links is None
        else f"None of {links:,} pairs of submissions of one work is in two splits."
    )
    return (
        f"A release in which a training paper is also held out is refused: none of the {held_out:,} test and"
        f" validation papers (splits of the profile `{run.fitness['profile']}`) is used for training. {links_text}"
    )


def _describe_loss(trained: TrainingResult) -> str:
    if trained.first is None or trained.last is None:
        return f"After {trained.steps:,} steps; there are no validation examples, so its loss is unknown."
    rows = [("before the first step", f"{trained.first:.4f}"), ("after the last step", f"{trained.last:.4f}")]
    if trained.kept is not None and trained.kept_loss is not None:
        rows.append((f"after step {trained.kept:,}, from which this adapter is taken", f"{trained.kept_loss:.4f}"))
    table = markdown_table(("", "loss on the validation split"), rows)
    return f"Steps: {trained.steps:,}.\n\n{table}"


def _format_licences(run: RunFile) -> str:
    stated = sorted((name, count) for name, count in run.licences.items() if name)
    unknown = run.papers["train"] - sum(run.licences.values())
    rows = [*((escape(name), count) for name, count in stated), ("none stated", run.licences.get("", 0))]
    rows += [("unknown, as the release does not list the paper", unknown)] if unknown else []
    return markdown_table(("licence", "papers"), rows)


def _render_card(folder: Path, run: RunFile, trained: TrainingResult) -> str:
    asked = run.asked
    request = asked.request
    base = base_name(request.model)
    version = f"{prompts.VERSION}, " if asked.prompts == prompts.DIGEST else ""
    where = "a model in a folder" if _is_folder(request.model) else "a model on the Hugging Face Hub"
    body = Template(files("peercorpus.finetune").joinpath("card.md").read_text("utf-8")).substitute(
        base=escape(base),
        subject=request.task,
        what=f"A LoRA adapter for {escape(base)}, {where}, trained on the public peer-review record of OpenReview.",
        version=asked.version,
        prompts=f"{version}digest `{asked.prompts}`",
        release=asked.release,
        examples=markdown_table(
            ("split", "examples", "papers"),
            [(SPLITS[split], count, run.papers.get(split, 0)) for split, count in run.examples.items()],
        ),
        venues=_format_venues(folder),
        chosen=_format_settings({name: getattr(request, name) for name in CHOSEN}),
        left_out=_format_left_out(run),
        lengths=(folder / DATA / LENGTHS).read_text("utf-8").strip(),
        fitness=_describe_fitness(run),
        recipe=_format_settings(msgspec.to_builtins(asked.recipe)),
        loss=_describe_loss(trained),
        licences=_format_licences(run),
        citation=adapter_bibtex(base, request.task, asked.version, asked.release),
    )
    return _render_front_matter(run) + body


def write_model_card(folder: Path) -> Path:
    """Write the card of a run's adapter, and beside it the list of examples and the recipe.

    Args:
        folder: Folder of a trained run.

    Raises:
        PeercorpusError: The run does not exist, is not trained, or cannot be read.
    """
    run = load_run(folder)
    trained = load_trained(folder)
    adapter = folder / ADAPTER
    recipe = msgspec.json.encode(run.asked.recipe)
    try:
        text = _render_card(folder, run, trained)
        shutil.copyfile(folder / DATA / EXAMPLES, adapter / EXAMPLES)
        (adapter / RECIPE).write_bytes(msgspec.json.format(recipe, indent=1))
        (adapter / CARD).write_text(text, "utf-8")
    except (OSError, msgspec.DecodeError) as error:
        raise PeercorpusError(f"The card in '{adapter}' cannot be written: {error}.") from None
    return adapter / CARD
