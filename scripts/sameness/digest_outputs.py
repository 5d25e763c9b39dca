"""Digests everything that peercorpus makes from the same inputs, so that two versions of the code can be compared.

    digest_outputs.py prepare INPUTS               make the inputs once
    digest_outputs.py run INPUTS --json A.json     build, publish, export, report from a copy of them
    digest_outputs.py compare A.json B.json        name what differs; exit with 1 if anything does

Everything is driven through the command line of the source that `--source` names (a folder `src` of any checkout), and
through files on disk: no module of peercorpus is imported here, so that modules may move.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from canonical import IGNORED, Canon, Entry, Section, sha256
from prepared import MARK, prepare
from product import Product
from steps import CHAINS, Chain

ROOT = Path(__file__).resolve().parents[2]
AT_A_TIME = 3
"""Chains of commands that run concurrently."""


def _run_chain(product: Product, work: Path, inputs: Path, name: str) -> Chain:
    folder = work / name
    folder.mkdir()
    chain = Chain(product, folder, Canon(name))
    CHAINS[name](chain, inputs)
    return chain


def run_all(product: Product, inputs: Path, work: Path, only: Sequence[str]) -> tuple[list[Chain], str]:
    """Return the chains that were run, all or those named, and why the recorded data was skipped, or ''."""
    skipped = str(json.loads((inputs / MARK).read_text(encoding="utf-8"))["recorded_skipped"])
    names = [name for name in only or CHAINS if not (skipped and name == "recorded")]
    product.prepare()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(lambda name: _run_chain(product, work, inputs, name), names)), skipped


def print_digests(entries: Mapping[str, Entry]) -> None:
    """Print a line for each digest, a total for each section, and what is ignored."""
    for section in Section:
        chosen = {name: entry for name, entry in sorted(entries.items()) if entry.section is section}
        print(f"== {section} ==")
        for name, entry in chosen.items():
            print(f"{entry.sha256}  {name}" + (f"  {entry.shown}" if entry.shown else ""))
        total = sha256("\n".join(f"{entry.sha256}  {name}" for name, entry in chosen.items()))
        print(f"{total}  total of {len(chosen)}, {section}\n")
    print("== ignored ==")
    for what, why in IGNORED:
        print(f"{what}: {why}")


def _differing(before: Mapping[str, Any], after: Mapping[str, Any], section: Section) -> Iterable[str]:
    """Yield a line for each name of a section whose digests differ."""
    first, second = (
        {name: entry for name, entry in found.items() if entry["section"] == section} for found in (before, after)
    )
    yield from (f"only before: {name}" for name in sorted(first.keys() - second.keys()))
    yield from (f"only after: {name}" for name in sorted(second.keys() - first.keys()))
    for name in sorted(first.keys() & second.keys()):
        old, new = first[name], second[name]
        if old["sha256"] != new["sha256"]:
            then, now = old.get("columns", {}), new.get("columns", {})
            columns = [column for column in {**then, **now} if then.get(column) != now.get(column)]
            yield f"differs: {name}" + (f" (columns {', '.join(columns)})" if columns else "")


def compare(before: Path, after: Path, ignoring: Sequence[str]) -> int:
    """Print what differs between two files of digests; return 1 if anything compared does."""
    first, second = (json.loads(path.read_text(encoding="utf-8"))["digests"] for path in (before, after))
    code = 0
    for section in Section:
        differing = list(_differing(first, second, section))
        counts = section is not Section.VERSIONS and section not in ignoring
        print(f"== {section}: {len(differing)} differ" + ("" if counts else " (not compared)"))
        print("".join(f"{line}\n" for line in differing), end="")
        code |= int(counts and bool(differing))
    return code


def _run(arguments: argparse.Namespace) -> int:
    started = time.perf_counter()
    kept = arguments.keep
    with nullcontext(str(kept)) if kept else tempfile.TemporaryDirectory(prefix="sameness-") as place:
        work = Path(place).resolve()
        work.mkdir(parents=True, exist_ok=True)
        product = Product(arguments.source.resolve(), work / "product")
        chains, skipped = run_all(product, arguments.inputs.resolve(), work, arguments.only)
    entries = {name: entry for chain in chains for name, entry in chain.canon.entries.items()}
    print_digests(entries)
    _report(chains, skipped, time.perf_counter() - started)
    if arguments.json:
        said = {
            "skipped": skipped,
            "ignored": dict(IGNORED),
            "digests": {name: entry.as_json() for name, entry in sorted(entries.items())},
        }
        arguments.json.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def _report(chains: Sequence[Chain], skipped: str, seconds: float) -> None:
    """Print to standard error what was skipped, what exited with a code other than 0, and what took longest."""
    lines = [f"recorded data skipped: {skipped}"] if skipped else []
    lines += [f"exit code of {failure}" for chain in chains for failure in chain.failed]
    took = sorted(((took, name) for chain in chains for name, took in chain.seconds.items()), reverse=True)
    lines += [f"{slow:.1f} s  {name}" for slow, name in took[:8]]
    print("\n".join([*lines, f"{seconds:.0f} s in all"]), file=sys.stderr)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making, running = commands.add_parser("prepare"), commands.add_parser("run")
    for command in (making, running):
        command.add_argument("inputs", type=Path, help="the folder of the prepared inputs")
        command.add_argument("--source", type=Path, default=ROOT / "src", help="the source to run")
    making.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the recorded data")
    running.add_argument("--json", type=Path, help="a file for the digests")
    running.add_argument("--keep", type=Path, help="a new folder in which to keep all outputs")
    running.add_argument("--only", action="append", default=[], choices=[*CHAINS], help="run only these")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--ignoring", action="append", default=[], choices=["words"], help="may differ too")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare, run or compare."""
    parsed = _parsed(arguments)
    if parsed.command == "compare":
        return compare(parsed.before, parsed.after, parsed.ignoring)
    if parsed.command == "run":
        return _run(parsed)
    with tempfile.TemporaryDirectory(prefix="sameness-") as scratch:
        product = Product(parsed.source.resolve(), Path(scratch))
        product.prepare()
        prepare(product, parsed.inputs.resolve(), parsed.data.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
