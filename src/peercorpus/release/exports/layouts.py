"""Describe an export, and write the files beside its rows: the trainer's settings and a README."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from peercorpus.release.card.markdown import escape, to_yaml
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.exports.samples import Samples
from peercorpus.release.folder import Release
from peercorpus.release.split_file import SplitFile
from peercorpus.release.splits import Split, Task


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One split of one task in an export.

    Attributes:
        name: Name of the file; without rows the file does not exist or, in Re²'s layout, is an empty list.
    """

    name: str
    task: Task
    split: Split
    samples: Samples


@dataclass(slots=True)
class Exported:
    """Contents of an export, and rows left out.

    Attributes:
        splits: The file of splits of the release; None if it has none.
    """

    release: Release
    request: ExportRequest
    splits: SplitFile | None
    files: list[ExportedFile] = field(default_factory=list)

    @property
    def written(self) -> list[ExportedFile]:
        """The files that have rows."""
        return [file for file in self.files if file.samples.rows]


HEAD = "# What an Axolotl configuration says of this data; paths are as seen from this folder.\n"
_COLUMNS = {"messages": "conversations"}
_TAGS = {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt"}


def _name_data(file: ExportedFile) -> str:
    """Return the name of a file's data in LLaMA-Factory's `dataset_info.json`."""
    return f"peercorpus_{file.task}_{file.split}"


def _describe_axolotl_data(file: ExportedFile) -> dict[str, Any]:
    return {
        "path": file.name,
        "ds_type": "json",
        "split": "train",
        "type": "chat_template",
        "field_messages": "messages",
        "message_property_mappings": {"role": "role", "content": "content"},
        "roles_to_train": ["assistant"],
        "message_field_training": "train",
        "train_on_eos": "turn",
    }


def _describe_axolotl(exported: Exported) -> dict[str, Any]:
    """Return the data sets of an Axolotl configuration: train and validation, not test."""
    used = {"datasets": Split.TRAIN, "test_datasets": Split.VALIDATION}
    data_sets = {
        name: [_describe_axolotl_data(file) for file in exported.written if file.split is split]
        for name, split in used.items()
    }
    return {name: data for name, data in data_sets.items() if data}


def _write_llama_factory(folder: Path, exported: Exported) -> None:
    columns = _COLUMNS | ({"system": "system"} if exported.request.has_system else {})
    entry = {"formatting": "sharegpt", "columns": columns, "tags": _TAGS}
    info = {_name_data(file): {"file_name": file.name, **entry} for file in exported.written}
    (folder / "dataset_info.json").write_text(json.dumps(info, indent=2) + "\n", encoding="utf-8")


def _write_axolotl(folder: Path, exported: Exported) -> None:
    (folder / "axolotl.yaml").write_text(HEAD + to_yaml(_describe_axolotl(exported)), encoding="utf-8")


FINDERS: Mapping[ExportLayout, Callable[[Path, Exported], None]] = {
    ExportLayout.LLAMA_FACTORY: _write_llama_factory,
    ExportLayout.AXOLOTL: _write_axolotl,
}
"""Functions that write the file with which a trainer finds its data, for trainers that need one."""


def _format_list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _list_left_out(exported: Exported) -> str:
    """Return the list of rows that are missing in the files, or only partly included."""
    lines = []
    for file in exported.files:
        samples = file.samples
        said = [f"{number:,} left out: {reason}" for reason, number in sorted(samples.left_out.items())]
        said += [f"{samples.cut:,} with the beginning of their paper (`paper_is_cut`)"] if samples.cut else []
        said += (
            [f"{samples.unanswered:,} end before the authors' last, unanswered message"] if samples.unanswered else []
        )
        late = samples.after_decision
        said += [f"{late:,} turns and responses to all were posted after the decision"] if late else []
        lines += [f"`{file.name}`: {sentence}" for sentence in said]
    return _format_list(lines) if lines else "No rows of these tasks were left out."


def _count_licences(exported: Exported) -> str:
    """Return papers by licence, those without one last; a paper in the files of several tasks counts several times."""
    counts: Counter[str | None] = Counter()
    for file in exported.files:
        counts += file.samples.licences
    stated = sorted((name, number) for name, number in counts.items() if name is not None)
    return _format_list([f"{escape(name)}: {number:,}" for name, number in stated] + [f"none stated: {counts[None]:,}"])


def _describe_splits(exported: Exported) -> str:
    splits = exported.splits
    if splits is None:
        return "The release has no file of its splits."
    day = f", with test papers after {splits.test_after} (UTC)" if splits.test_after else ""
    return f"They are those of `--splits {splits.profile}`{day}: {splits.made.rule}."


def _explain_use(exported: Exported) -> str:
    """Return the instructions for opening the files, with the names of those that exist."""
    files_by_split = {split: [file for file in exported.written if file.split is split] for split in Split}
    names = {split: ",".join(map(_name_data, split_files)) for split, split_files in files_by_split.items()}
    train = next(iter(files_by_split[Split.TRAIN] or exported.written or exported.files))
    text = Template(_read_text(f"{exported.request.format}.md")).substitute(
        train=train.name,
        validation=train.name.replace(f"_{train.split}.", f"_{Split.VALIDATION}."),
        train_names=names[Split.TRAIN],
        validation_names=names[Split.VALIDATION],
    )
    return text.strip()


def _read_text(name: str) -> str:
    return files("peercorpus.release").joinpath("exports", name).read_text(encoding="utf-8")


def _describe_exchange(request: ExportRequest) -> str:
    shows_paper = request.opening != "none"
    if request.by_point is not None:
        opening = "the paper and " if shows_paper else ""
        return (
            f"the user gives {opening}one point of a review; the assistant is\nthe authors and gives their passages"
            f" that answer it, of a confidence of {request.by_point:g} or more, and not known to follow the decision."
            " How points and answers are found, and how often rightly, is in docs/points.md of peercorpus."
        )
    assistant, user = ("authors", "reviewer") if request.assistant == "author" else ("reviewer", "authors")
    opening = "gives the paper and is" if shows_paper else "is"
    end = "the assistant has the last word" if request.chat.ends_answered else "the last message may have no answer"
    others = (
        "What others say is left out; responses to all reviewers are in a `<supplementary>` block."
        if request.others == "leave"
        else "What others say is in a `<supplementary>` block."
    )
    sides = f"the user {opening} the {user}, the assistant is the {assistant}; they alternate\nstrictly, and {end}."
    return f"{sides} {others}"


def write_companions(folder: Path, exported: Exported) -> None:
    """Write the files beside the rows: `README.md`, and the file with which the trainer finds its data."""
    layout = exported.request.format
    if layout in FINDERS:
        FINDERS[layout](folder, exported)
    rows = (f"| `{file.name}` | {file.samples.rows:,} | {file.samples.papers:,} |" for file in exported.files)
    readme = Template(_read_text("README.md")).substitute(
        layout=layout.value,
        version=version("peercorpus"),
        release_version=escape(exported.release.version),
        sha256=exported.release.sha256,
        files="\n".join(["| file | rows | papers |", "| --- | ---: | ---: |", *rows]),
        use=_explain_use(exported),
        left_out=_list_left_out(exported),
        splits=_describe_splits(exported),
        licences=_count_licences(exported),
        exchange=_describe_exchange(exported.request),
    )
    (folder / "README.md").write_text(readme, encoding="utf-8")
