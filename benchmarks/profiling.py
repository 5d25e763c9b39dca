"""Profiles the processor time and memory of a peercorpus command by stage, with py-spy or memray.

`python benchmarks/profiling.py OUT COMMAND...` runs `peercorpus COMMAND...` under py-spy (`pip install py-spy`; it may
ask for root), keeps all stacks in OUT, one a line with its number of samples, and tells the largest costs by stage.
`OUT build WORKSPACE` builds in one process, so that what workers do is seen as well. `OUT --memory COMMAND...` runs it
under memray (`pip install memray`) instead, keeps what was held at the peak in OUT, and tells by whom.
"""

import lzma
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from peercorpus.pipeline.build import build
from peercorpus.workspace.workspace import open_workspace
from watching import PROGRAM

SAMPLES_A_SECOND = 100
SHOWN = 6
STAGES = {
    "peercorpus/versions/inspect.py": "inspect_files",
    "peercorpus/forms/normalise.py": "normalise",
    "peercorpus/versions/read.py": "choose_versions",
    "peercorpus/texts/convert.py": "read_texts",
    "peercorpus/conversations/build.py": "build_conversations",
    "peercorpus/links/compare.py": "compare_versions",
    "peercorpus/links/relate.py": "link_papers",
}
"""File of a stage's `run` → the stage."""
OTHER = "rest"
BUILD = "build"
PACKAGE, LIBRARIES = "peercorpus", "imports, and threads of libraries"


def record(path: Path, command: Sequence[str]) -> None:
    """Run a command, and keep its stacks."""
    if shutil.which("py-spy") is None:
        raise SystemExit("py-spy is not here; install it: pip install py-spy.")
    watching = ["py-spy", "record", "--format", "raw", "--rate", str(SAMPLES_A_SECOND)]
    program = [sys.executable, __file__] if command[0] == BUILD else PROGRAM
    subprocess.run([*watching, "--output", str(path), "--", *program, *command], check=True)


def tell_memory(path: Path, command: Sequence[str]) -> None:
    """Run a command, record its memory at the peak, and print which of our functions allocated it."""
    import memray

    program = [__file__] if command[0] == BUILD else [*PROGRAM[1:]]
    watching = [sys.executable, "-m", "memray", "run", "--quiet", "--force", "--aggregate", "--output", str(path)]
    # Arrow's own pool takes addresses by the gigabyte, whatever it fills of them.
    subprocess.run(
        [*watching, *program, *command], check=True, env=os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    )
    held: Counter[str] = Counter()
    for record in memray.FileReader(path).get_high_watermark_allocation_records(merge_threads=True):
        if record.allocator == memray.AllocatorType.MMAP:
            continue
        own = [f"{name} ({file})" for name, file, _ in record.stack_trace() if f"/{PACKAGE}/" in file]
        what = own[0].replace(own[0].partition("(")[2].partition(f"{PACKAGE}/")[0], "") if own else LIBRARIES
        held[what] += record.size
    print("| MB at the peak | share | what |\n|--:|--:|---|")
    for name, size in held.most_common(SHOWN):
        print(f"| {size / 1e6:,.0f} | {size / held.total():.0%} | {name} |")


def build_here(corpus: str) -> None:
    """Build a workspace, with all work on files in this process."""

    def here(function: Callable[[Any], Any], items: Iterable[Any], **_: object) -> Iterator[tuple[Any, Any]]:
        return ((item, function(item)) for item in items)

    with open_workspace(Path(corpus)) as workspace:
        build(workspace, spread=here)


def _own(frame: str) -> bool:
    return f"({PACKAGE}/" in frame


def _stage(frames: Sequence[str]) -> str:
    for frame in frames:
        name, _, place = frame.partition(" (")
        file = place.partition(":")[0]
        if file in STAGES and name in {"run", "read_texts", "inspect_files", "compare_versions", "link_papers"}:
            return STAGES[file]
    return OTHER


def costs(lines: Iterable[str]) -> dict[str, Counter[str]]:
    """Samples by stage, and in it by the last function of ours that was at work: what it called is its own cost."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        stack, _, number = line.rpartition(" ")
        frames = stack.split(";")
        own = [frame for frame in frames if _own(frame)]
        name = own[-1].rpartition(":")[0] + ")" if own else "Python itself, and imports"
        found[_stage(frames)][name] += int(number)
    return found


def tell(found: dict[str, Counter[str]]) -> None:
    """Print the largest costs of each stage."""
    print("| stage | s | share | what |\n|---|--:|--:|---|")
    for stage, by_name in sorted(found.items(), key=lambda item: -item[1].total()):
        for name, number in by_name.most_common(SHOWN):
            share = number / by_name.total()
            print(f"| {stage} | {number / SAMPLES_A_SECOND:,.1f} | {share:.0%} | {name} |")


def main(out: str, *command: str) -> None:
    """Record, if there is a command, and tell."""
    path = Path(out)
    if command[:1] == ("--memory",):
        tell_memory(path, command[1:])
        return
    if command:
        record(path, command)
    content = path.read_bytes()
    text = (lzma.decompress(content) if path.suffix == ".xz" else content).decode()
    tell(costs(text.splitlines()))


if __name__ == "__main__":
    if sys.argv[1] == BUILD:
        build_here(sys.argv[2])
    else:
        main(*sys.argv[1:])
