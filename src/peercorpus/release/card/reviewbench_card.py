"""Write the dataset card of a release in the layout `reviewbench`, with the head and the code of ReviewBench's own."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import pyarrow as pa

from peercorpus.release.card.dataset_card import cite_upstream, coverage, grade_meanings, grades_table, licences
from peercorpus.release.card.markdown import SIZES, columns_of, escape, markdown_table, to_yaml
from peercorpus.release.card.statements import state_release
from peercorpus.release.counts import ReleaseCounts
from peercorpus.release.shards import REVIEWBENCH, SplitShards

CARD = "reviewbench_card.md"
ORDER = ("neurips", "iclr", "icml", "tmlr", "emnlp", "corl", "colm")
"""Order of the splits in ReviewBench's card; other conferences follow by name."""


MEANINGS = {
    "conference": "the conference family in lower case; also the split",
    "track": "`main`, `datasets_and_benchmarks`, `findings`, else the words of the venue id in lower case",
}
"""Meanings of columns that differ from those of the same name in the default layout."""


@dataclass(slots=True)
class ReviewBenchCounts:
    """Counts of the rows of a release in the layout `reviewbench`.

    Attributes:
        papers: Papers by split, year and track.
        reviews: Reviews in all rows.
        with_text: Papers with a text.
        opening: Reviews of the first paper of each split.
    """

    papers: Counter[tuple[str, int | None, str]] = field(default_factory=Counter)
    reviews: int = 0
    with_text: int = 0
    opening: dict[str, int] = field(default_factory=dict)

    def count(self, split: str, row: Mapping[str, Any]) -> None:
        """Add one row."""
        self.opening.setdefault(split, row["num_reviews"] or 0)
        self.papers[split, row["year"], row["track"] or ""] += 1
        self.reviews += row["num_reviews"] or 0
        self.with_text += bool(row["markdown"])

    def add(self, others: "ReviewBenchCounts") -> None:
        """Add the counts of further papers."""
        self.opening = others.opening | self.opening
        self.papers.update(others.papers)
        self.reviews += others.reviews
        self.with_text += others.with_text


def _describe_type(kind: pa.DataType) -> dict[str, str]:
    return {"list": str(kind.value_type)} if pa.types.is_list(kind) else {"dtype": str(kind)}


def _order(split: SplitShards) -> tuple[int, str]:
    return ORDER.index(split.name) if split.name in ORDER else len(ORDER), split.name


def _write_head(splits: Sequence[SplitShards]) -> str:
    """Return the YAML head with the same members as ReviewBench's own."""
    papers = sum(split.rows for split in splits)
    fields = {
        "pretty_name": "Peer reviews from OpenReview in the layout of ReviewBench",
        "language": ["en"],
        "license": "other",
        "license_name": "per-record",
        "task_categories": ["text-generation", "text-classification", "summarization", "question-answering"],
        "tags": ["peer-review", "openreview", "scientific-papers", "peercorpus"],
        "size_categories": [next((name for limit, name in SIZES if papers < limit), "1M<n<10M")],
        "configs": [
            {
                "config_name": REVIEWBENCH.name,
                "data_files": [{"split": split.name, "path": f"data/{split.name}-*"} for split in splits],
            }
        ],
        "dataset_info": {
            "features": [{"name": field.name, **_describe_type(field.type)} for field in REVIEWBENCH.schema],
            "splits": [
                {"name": split.name, "num_bytes": split.memory_bytes, "num_examples": split.rows} for split in splits
            ],
            "download_size": sum(split.file_bytes for split in splits),
            "dataset_size": sum(split.memory_bytes for split in splits),
        },
    }
    return f"---\n{to_yaml(fields)}---\n"


def _tabulate_papers(counts: ReviewBenchCounts) -> str:
    rows = [
        (f"`{split}`", "not known" if year is None else str(year), escape(track), papers)
        for (split, year, track), papers in sorted(
            counts.papers.items(), key=lambda item: (item[0][0], item[0][1] or 0, item[0][2])
        )
    ]
    return markdown_table(("split", "year", "track", "papers"), rows, text_columns=3)


def write_reviewbench_card(
    folder: Path, tally: ReleaseCounts, splits: Sequence[SplitShards], counts: ReviewBenchCounts
) -> None:
    """Write `README.md` into a release in the layout `reviewbench`."""
    splits = sorted(splits, key=_order)
    template = files("peercorpus.release").joinpath(CARD).read_text(encoding="utf-8")
    body = Template(template).substitute(
        state_release(tally, escape).as_markdown(),
        version=version("peercorpus"),
        papers=f"{sum(split.rows for split in splits):,}",
        reviews=f"{counts.reviews:,}",
        with_text=f"{counts.with_text:,}",
        splits="\n".join(f"#     {split.name}: Dataset({split.rows} rows)" for split in splits),
        # The card's example code uses the first review of the first paper.
        shown=next((split.name for split in splits if counts.opening[split.name]), splits[0].name),
        papers_by_track=_tabulate_papers(counts),
        columns=columns_of(REVIEWBENCH, MEANINGS),
        coverage=coverage(tally),
        grades=grades_table(tally),
        grade_meanings=grade_meanings(tally),
        licences=licences(tally),
        upstream=cite_upstream(tally),
    )
    text = re.sub(r"\n{3,}", "\n\n", f"{_write_head(splits)}\n{body}")
    (folder / "README.md").write_text(text, encoding="utf-8")
