"""The YAML at the head of a dataset card, as the Hugging Face Hub and `datasets` read it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from peercorpus.publish.features import card_features
from peercorpus.publish.shards import CONFIGS, Config, Split

DEFAULT = next(iter(CONFIGS))
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
"""Rows below which the Hub's size category holds."""


def to_yaml(value: Any, indent: str = "") -> str:  # noqa: ANN401 -- whatever YAML holds
    r"""Mappings, lists and scalars as YAML; every string is quoted, so that none is read as anything else.

    >>> to_yaml({"name": "no", "list": [{"a": 1, "b": []}, "x"]})
    'name: "no"\nlist:\n- a: 1\n  b: []\n- "x"\n'
    >>> to_yaml({"small": 1e-05})  # 1e-05 would be a string in YAML 1.1
    'small: 1.0e-05\n'
    """
    if isinstance(value, Mapping):
        return "".join(f"{indent}{key}:{_below(inner, indent)}" for key, inner in value.items())
    lines = (to_yaml(inner, indent + "  ") if _is_block(inner) else f"{indent}  {_scalar(inner)}\n" for inner in value)
    return "".join(f"{indent}- {line[len(indent) + 2 :]}" for line in lines)


def _is_block(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple) and bool(value)


def _scalar(value: object) -> str:
    said = json.dumps(value, ensure_ascii=False)
    return re.sub(r"^(-?\d+)e", r"\1.0e", said) if isinstance(value, float) else said


def _below(value: object, indent: str) -> str:
    if not _is_block(value):
        return f" {_scalar(value)}\n"
    return "\n" + to_yaml(value, indent + "  " if isinstance(value, Mapping) else indent)


def _size_category(rows: int) -> str:
    return next((name for limit, name in SIZES if rows < limit), "1M<n<10M")


def _config(config: Config, splits: Sequence[Split]) -> dict[str, Any]:
    files = [{"split": split.name, "path": f"data/{config.name}/{split.name}-*.parquet"} for split in splits]
    default = {"default": True} if config.name == DEFAULT else {}
    return {"config_name": config.name, **default, "data_files": files}


def _dataset_info(config: Config, splits: Sequence[Split]) -> dict[str, Any]:
    return {
        "config_name": config.name,
        "features": card_features(config.schema),
        "splits": [
            {"name": split.name, "num_bytes": split.memory_bytes, "num_examples": split.rows} for split in splits
        ],
        "download_size": sum(split.file_bytes for split in splits),
        "dataset_size": sum(split.memory_bytes for split in splits),
    }


def front_matter(splits: Sequence[Split]) -> str:
    """The block between the two lines of dashes, these included."""
    grouped = [(config, [split for split in splits if split.config == config.name]) for config in CONFIGS.values()]
    by_config = [(config, found) for config, found in grouped if found]
    papers = sum(split.rows for split in grouped[0][1])
    fields = {
        "pretty_name": "Peer reviews from OpenReview",
        "language": ["en"],
        "license": "other",
        "license_name": "per-record",
        "task_categories": ["text-generation", "text-classification", "summarization"],
        "tags": ["peer-review", "openreview", "rebuttal", "scholarly-documents", "peercorpus"],
        "size_categories": [_size_category(papers)],
        "configs": [_config(*pair) for pair in by_config],
        "dataset_info": [_dataset_info(*pair) for pair in by_config],
    }
    return f"---\n{to_yaml(fields)}---\n"
