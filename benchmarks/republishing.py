"""Measures import, build and publish of rows in ReviewBench's shape, beside `datasets` copying the same files."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from apart import run_apart
from peercorpus.release.schemas import ReviewBench
from publishing import CHARACTERS, PAPERS, Words

SPLITS: dict[str, tuple[int, tuple[str, ...]]] = {
    "neurips": (18_453, tuple(f"NeurIPS.cc/{year}/Conference" for year in range(2021, 2026))),
    "iclr": (22_532, tuple(f"ICLR.cc/{year}/Conference" for year in range(2020, 2027))),
    "icml": (3_257, ("ICML.cc/2025/Conference",)),
    "tmlr": (3_748, ("TMLR",)),
    "emnlp": (2_009, ("EMNLP/2023/Conference",)),
    "corl": (813, tuple(f"robot-learning.org/CoRL/{year}/Conference" for year in range(2021, 2025))),
    "colm": (717, tuple(f"colmweb.org/COLM/{year}/Conference" for year in (2024, 2025))),
}
"""Rows and venues of each split (ReviewBench's card at 7d1b399)."""
REVIEWS = 4
GROUP_ROWS = 100
PROSE = ("summary", "strengths", "weaknesses", "questions")
ABSENT = ("limitations", "claims_and_evidence", "reasons_to_accept", "reasons_to_reject", "summary_of_paper", "quality")


def _review(forum_id: str, number: int, words: Words) -> dict[str, Any]:
    return {
        "review_id": f"{forum_id}r{number}",
        "reviewer": f"Reviewer_{number}",
        "rating": f"{number + 4}: some words",
        "confidence": 4,
        "rebuttal": words.take(1_500),
        **{name: words.take(700) for name in PROSE},
        "soundness": "3 good",
        **dict.fromkeys(ABSENT, ""),
        "was_revised": None,
        "extra_scores": {},
        "extra_text": {"code_of_conduct": "Yes"},
    }


def _row(conference: str, number: int, venue_id: str, words: Words) -> dict[str, Any]:
    forum_id = f"{conference}{number:06}"
    markdown = "\n\n---\n\n".join(words.take(CHARACTERS // 10) for _ in range(10))
    return {
        "forum_id": forum_id,
        "conference": conference,
        "year": next((int(part) for part in venue_id.split("/") if part.isdigit()), 2025),
        "track": "main",
        "venue_id": venue_id,
        "paper_number": number,
        "title": words.new(10),
        "abstract": words.new(190),
        "authors": ["Ada Example", "Bo Ek"],
        "keywords": ["word"],
        "tldr": "",
        "primary_area": "",
        "venue": f"{conference} poster",
        "decision": "Accept (poster)",
        "decision_comment": words.take(500),
        "author_rebuttal": "",
        "num_reviews": REVIEWS,
        "reviews_json": json.dumps([_review(forum_id, one, words) for one in range(REVIEWS)]),
        "markdown": markdown,
        "markdown_chars": len(markdown),
    }


def fill(folder: Path, papers: int) -> None:
    """Write that many rows in ReviewBench's mix, one file per split."""
    words = Words()
    (folder / "data").mkdir(parents=True)
    for conference, (rows, venues) in SPLITS.items():
        count = max(1, rows * papers // PAPERS)
        path = folder / "data" / f"{conference}-00000-of-00001.parquet"
        with pq.ParquetWriter(path, ReviewBench.schema, compression="snappy") as writer:
            for start in range(0, count, GROUP_ROWS):
                numbers = range(start, min(start + GROUP_ROWS, count))
                group = [_row(conference, number, venues[number * len(venues) // count], words) for number in numbers]
                writer.write_table(pa.Table.from_pylist(group, schema=ReviewBench.schema))


def copy_with_datasets(folder: Path, out: Path) -> None:
    """Read the same files with `datasets` and write them again."""
    import datasets

    files = {conference: str(folder / "data" / f"{conference}-*.parquet") for conference in SPLITS}
    loaded = datasets.load_dataset("parquet", data_files=files, cache_dir=str(out / "cache"))
    for split, rows in loaded.items():
        rows.to_parquet(out / f"{split}.parquet")


def _in_a_process(*arguments: str) -> tuple[float, float, float]:
    """Minutes, minutes of processor time, and peak megabytes of its largest process."""
    took = run_apart([sys.executable, *arguments])
    return took.seconds / 60, took.cpu_s / 60, took.peak_mb


def _compare(folder: Path, out: Path) -> tuple[int, int]:
    """Rows that differ, and all rows."""
    differing = rows = 0
    for path in sorted((folder / "data").glob("*.parquet")):
        came_back = _read(sorted((out / "data").glob(f"{path.name.partition('-')[0]}-*.parquet")))
        before = {row["forum_id"]: hash(_encode(row)) for row in _read([path])}
        after = {row["forum_id"]: hash(_encode(row)) for row in came_back}
        rows += len(before)
        differing += sum(before.get(key) != after.get(key) for key in before.keys() | after.keys())
    return differing, rows


def _read(paths: list[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(32):
                yield from batch.to_pylist()


def _encode(row: dict[str, Any]) -> str:
    return json.dumps(row | {"reviews_json": json.loads(row["reviews_json"])}, ensure_ascii=False)


def measure_republishing(scratch: Path, papers: int = PAPERS) -> None:
    """Minutes and peak memory of each part, and the number of rows that changed."""
    folder, corpus, release, other = (scratch / name for name in ("rows", "corpus", "release", "other"))
    _in_a_process(__file__, "fill", str(folder), str(papers))
    command, workspace = ("-m", "peercorpus"), ("--workspace", str(corpus))
    layout = ("--layout", "reviewbench", "--out", str(release))
    print(f"\n{papers:,} rows of {CHARACTERS:,} characters, {REVIEWS} reviews each\n")
    print("| part | minutes | minutes CPU | peak MB |\n|---|---:|---:|---:|", flush=True)
    for name, arguments in {
        "`peercorpus import`": (*command, "import", str(folder), *workspace),
        "`peercorpus build`": (*command, "build", *workspace),
        "`peercorpus publish --layout reviewbench`": (*command, "publish", *workspace, *layout),
        "`datasets.load_dataset(…)`, `to_parquet`": (__file__, "copy", str(folder), str(other)),
    }.items():
        minutes, processor, peak = _in_a_process(*arguments)
        print(f"| {name} | {minutes:.1f} | {processor:.1f} | {peak:,.0f} |", flush=True)
    differing, rows = _compare(folder, release)
    print(f"\n{differing:,} of {rows:,} rows came back other than they were.")


if __name__ == "__main__":
    what, where, then = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if what == "fill":
        fill(where, int(then))
    elif what == "copy":
        Path(then).mkdir(parents=True)
        copy_with_datasets(where, Path(then))
    else:
        measure_republishing(where, int(then))
