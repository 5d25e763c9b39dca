"""An invented release of every configuration, complete and consistent, for a test to damage in one place."""

import json
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from invented_tables import ICLR
from peercorpus.release.card.markdown import OneLine, to_yaml
from peercorpus.release.folder import open_release, replace_folder
from peercorpus.release.request import Profile
from peercorpus.release.shards import EVERY_CONFIG
from peercorpus.release.split_file import RULES, Made, SplitFile
from peercorpus.release.splits import Split, Task
from peercorpus.release.verify.verify import verify_release
from peercorpus.workspace.object_store import file_digest

SPLITS = {"a": Split.TRAIN, "b": Split.TRAIN, "c": Split.VALIDATION, "d": Split.TEST}
Row = dict[str, Any]


def _rows() -> dict[tuple[str, str], list[Row]]:
    papers = [
        {"forum_id": name, "venue_id": ICLR, "title": f"On {name}", "grade": "exact", "markdown": f"# Text of {name}"}
        for name in SPLITS
    ]
    talks = [
        {"conversation_id": f"{name}/R1", "turns": [{"role": "reviewer", "post_ids": [f"{name}-R1"]}]}
        for name in SPLITS
    ]
    rows: dict[tuple[str, str], list[Row]] = {
        ("papers", "iclr"): [paper | {"reviews_json": '[{"summary": "They invent."}]'} for paper in papers],
        ("papers_full", "iclr"): papers,
        ("conversations", "iclr"): [talk | _place(name) for talk, name in zip(talks, SPLITS, strict=True)],
        ("reviews", "iclr"): [{"review_id": f"{name}-R1", "extra": "{}"} | _place(name) for name in SPLITS],
        ("versions", "iclr"): [{"edit_id": f"{name}-e", "sha256": f"sha-{name}"} | _place(name) for name in SPLITS],
        ("scores", "iclr"): [{"review_id": f"{name}-R1", "field": "rating"} | _place(name) for name in SPLITS],
        ("links", "iclr"): [{"forum_id": "b", "earlier_id": "a"}, {"forum_id": "a", "earlier_id": "elsewhere"}],
    }
    for task in ("review_sft", "rebuttal"):
        for paper in papers:
            rows.setdefault((task, SPLITS[paper["forum_id"]].value), []).append(dict(paper))
    return deepcopy(rows)


def _version(name: str, when: str) -> Row:
    return {"edit_id": f"{name}-e{when}", "sha256": f"sha-{name}{when}"} | _place(name)


def _text(name: str, edit_id: str) -> Row:
    if edit_id.endswith("-late"):
        return {"is_initial": False, "moment": "camera_ready", "markdown": f"# Late text of {name}"}
    return {"is_initial": True, "grade": "exact", "markdown": f"# Text of {name}"}


def add_posts_and_texts(plan: "Plan") -> None:
    """Give every paper a meta-review, a later version with its text, and a change until then."""
    versions = [_version(name, when) for name in SPLITS for when in ("", "-late")]
    plan.rows |= {
        ("posts", "iclr"): [{"post_id": f"{name}-meta"} | _place(name) for name in SPLITS],
        ("meta_reviews", "iclr"): [{"post_id": f"{name}-meta"} | _place(name) for name in SPLITS],
        ("versions", "iclr"): versions,
        ("texts", "iclr"): [version | _text(version["forum_id"], version["edit_id"]) for version in versions],
        ("changes", "iclr"): [
            {"number": 1, "left_sha256": f"sha-{name}", "right_sha256": f"sha-{name}-late"} | _place(name)
            for name in SPLITS
        ],
    }


def _place(name: str) -> Row:
    return {"forum_id": name, "venue_id": ICLR}


def _by_split() -> dict[Split, list[str]]:
    return {split: [name for name, its in SPLITS.items() if its is split] for split in reversed(Split)}


@dataclass
class Plan:
    """The content of the release.

    Attributes:
        rows: By configuration and split.
        counts: Row counts that the card states in addition to or instead of the real ones.
    """

    rows: dict[tuple[str, str], list[Row]] = field(default_factory=_rows)
    splits: dict[Split, list[str]] = field(default_factory=_by_split)
    tasks: dict[Task, dict[Split, list[str]]] = field(
        default_factory=lambda: {task: _by_split() for task in (Task.REBUTTAL, Task.REVIEW)}
    )
    has_splits: bool = True
    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def drop(self, config: str) -> None:
        """Leave a configuration out."""
        self.rows = {key: rows for key, rows in self.rows.items() if key[0] != config}

    def write(self, folder: Path) -> Path:
        """The release."""
        with replace_folder(folder) as partial:
            for (config, split), rows in self.rows.items():
                path = partial / "data" / config / f"{split}-00000-of-00001.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(_table(config, rows), path)
            if self.has_splits:
                self._write_splits(partial / "splits" / "re2.json")
            (partial / "README.md").write_text(f"---\n{to_yaml({'dataset_info': self._info()})}---\n\n# Card\n")
        return folder

    def _write_splits(self, path: Path) -> None:
        sizes = {task: {split: len(ids) for split, ids in by_split.items()} for task, by_split in self.tasks.items()}
        made = Made("1", "key", RULES[Profile.RE2], None)
        file = SplitFile(Profile.RE2, None, made, sizes, self.tasks, self.splits)
        path.parent.mkdir()
        path.write_bytes(msgspec.json.encode(file))

    def _info(self) -> list[Row]:
        counts = {key: len(rows) for key, rows in self.rows.items()} | self.counts
        return [
            {
                "config_name": config,
                "features": [{"name": "forum_id", "dtype": "string"}],
                "splits": [
                    OneLine(name=split, num_bytes=1, num_examples=count)
                    for (of, split), count in counts.items()
                    if of == config
                ],
                "dataset_size": 1,
            }
            for config in dict.fromkeys(config for config, _ in counts)
        ]


def _table(config: str, rows: list[Row]) -> pa.Table:
    schema = EVERY_CONFIG[config].schema
    return pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema)


@pytest.fixture
def plan() -> Plan:
    """A consistent release, before it is written."""
    return Plan()


def resign(folder: Path) -> None:
    """Update the manifest of a damaged release to the current files."""
    manifest = json.loads((folder / "release.json").read_text())
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    manifest["files"] = {name: file_digest(folder / name) for name in names if name != "release.json"}
    (folder / "release.json").write_text(json.dumps(manifest))


def found(release: Path) -> dict[str, list[tuple[str, str | None, str]]]:
    """Return the violations of each check that has any."""
    return {
        check.name: [(one.file, one.record_id, one.what) for one in check.breaches]
        for check in verify_release(open_release(release, is_whole=False)).checks
        if check.found
    }
