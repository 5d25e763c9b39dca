"""What lies beside the rows of an export: its README, and the file by which a trainer finds its data."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from peercorpus.publish.columns import escape
from peercorpus.publish.export import Exported, Layout, Written
from peercorpus.publish.front_matter import to_yaml
from peercorpus.publish.splits import Side

HEAD = "# What an Axolotl configuration says of this data; paths are as seen from this folder.\n"
_COLUMNS = {"messages": "conversations"}
_TAGS = {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt"}


def _data_name(file: Written) -> str:
    """What LLaMA-Factory calls the data of a file."""
    return f"peercorpus_{file.task}_{file.side}"


def _dataset_info(exported: Exported) -> dict[str, Any]:
    columns = _COLUMNS | ({"system": "system"} if exported.wanted.telling.with_system else {})
    entry = {"formatting": "sharegpt", "columns": columns, "tags": _TAGS}
    return {_data_name(file): {"file_name": file.name, **entry} for file in exported.written}


def _axolotl_data(file: Written) -> dict[str, Any]:
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


def _axolotl(exported: Exported) -> dict[str, Any]:
    """The part of its configuration; the test side is not named, as it is no data of a training."""
    used = {"datasets": Side.TRAIN, "test_datasets": Side.VALIDATION}
    found = {
        name: [_axolotl_data(file) for file in exported.written if file.side is side] for name, side in used.items()
    }
    return {name: data for name, data in found.items() if data}


def _write_llama_factory(folder: Path, exported: Exported) -> None:
    (folder / "dataset_info.json").write_text(json.dumps(_dataset_info(exported), indent=2) + "\n", encoding="utf-8")


def _write_axolotl(folder: Path, exported: Exported) -> None:
    (folder / "axolotl.yaml").write_text(HEAD + to_yaml(_axolotl(exported)), encoding="utf-8")


FINDERS: Mapping[Layout, Callable[[Path, Exported], None]] = {
    Layout.LLAMA_FACTORY: _write_llama_factory,
    Layout.AXOLOTL: _write_axolotl,
}
"""What writes the file by which a trainer finds its data, where it needs one."""


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _files(exported: Exported) -> str:
    rows = (f"| `{file.name}` | {file.samples.rows:,} | {file.samples.papers:,} |" for file in exported.files)
    return "\n".join(["| file | rows | papers |", "| --- | ---: | ---: |", *rows])


def _left_out(exported: Exported) -> str:
    """What is not in the files, and what is not there as a whole."""
    said = []
    for file in exported.files:
        found = file.samples
        said += [f"`{file.name}`: {number:,} left out: {reason}" for reason, number in sorted(found.left_out.items())]
        said += (
            [f"`{file.name}`: {found.cut:,} with the beginning of their paper (`paper_is_cut`)"] if found.cut else []
        )
        said += (
            [f"`{file.name}`: {found.unanswered:,} end before what the authors said last, unanswered"]
            if found.unanswered
            else []
        )
    return _list(said) if said else "Nothing of these tasks was left out."


def _licences(exported: Exported) -> str:
    """Papers by licence, those without one last; a paper may be in the files of both tasks."""
    found: Counter[str | None] = Counter()
    for file in exported.files:
        found += file.samples.licences
    stated = sorted((name, number) for name, number in found.items() if name is not None)
    return _list([f"{escape(name)}: {number:,}" for name, number in stated] + [f"none stated: {found[None]:,}"])


def _sides(exported: Exported) -> str:
    sides = exported.sides
    if sides is None:
        return "The release has no file of its sides."
    day = f", tested on papers after {sides.test_after} (UTC)" if sides.test_after else ""
    return f"Profile `{sides.profile}`{day}: {sides.made.rule}."


def _use(exported: Exported) -> str:
    """How to open the files, by the names of those that are there."""
    held = {side: [file for file in exported.written if file.side is side] for side in Side}
    names = {side: ",".join(map(_data_name, found)) for side, found in held.items()}
    train = next(iter(held[Side.TRAIN] or exported.written or exported.files))
    text = Template(_text(f"{exported.wanted.layout}.md")).substitute(
        train=train.name,
        validation=train.name.replace(f"_{train.side}.", f"_{Side.VALIDATION}."),
        train_names=names[Side.TRAIN],
        validation_names=names[Side.VALIDATION],
    )
    return text.strip()


def _text(name: str) -> str:
    return files("peercorpus.publish").joinpath("exports", name).read_text(encoding="utf-8")


def write_companions(folder: Path, exported: Exported) -> None:
    """Write what lies beside the rows."""
    layout = exported.wanted.layout
    if layout in FINDERS:
        FINDERS[layout](folder, exported)
    readme = Template(_text("README.md")).substitute(
        layout=layout.value,
        version=version("peercorpus"),
        release_version=escape(exported.release.version),
        sha256=exported.release.sha256,
        files=_files(exported),
        use=_use(exported),
        left_out=_left_out(exported),
        sides=_sides(exported),
        licences=_licences(exported),
    )
    (folder / "README.md").write_text(readme, encoding="utf-8")
