"""Measures the stages, the harvest and killed harvests, and writes a file for each to `benchmarks/results`."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import benching
import choosing
import conversing
import covering
import covering_pairs
import engines
import flooring
import harvesting
import inspecting
import killing_commands
import kills
import linking
import measuring
import pairing
import pointing
import pointing_by_model
import points_read
import publishing
import reading
import recording
import republishing
import tabling
import tuning
import typeset
from measured import RESULTS

MEASUREMENTS: dict[str, Callable[[Path], None]] = {
    "memory": tabling.measure_memory,
    "links-growth": linking.measure_growth,
    "links-rules": lambda _: linking.measure_rules(),
    "links-recorded": lambda _: linking.measure_recorded(),
    "reviews": reading.measure_reading,
    "files": inspecting.measure_files,
    "versions": choosing.measure_choosing,
    "conversations": conversing.measure_conversing,
    "points": lambda _: pointing.measure_points(),
    "point-match": lambda _: pairing.measure_pairing(),
    "points-read": points_read.measure_points_read,
    "engines": lambda _: engines.measure_engines(),
    "typeset": lambda _: typeset.measure_typeset(),
    "speed": lambda scratch: tabling.measure_speed(scratch / "speed"),
    "releases": publishing.measure_publishing,
    "republishing": republishing.measure_republishing,
    "floor": flooring.measure_floor,
    "coverage": covering.measure_coverage,
    "paired-coverage": covering_pairs.measure_paired_coverage,
    "metrics": measuring.measure_metrics,
    "bench": benching.measure_benching,
    "tuning-examples": tuning.measure_preparing,
    "tuning-speed": tuning.measure_tuning,
    "harvest-pace": lambda _: harvesting.measure_pace(),
    "harvest-requests": lambda _: harvesting.measure_requests(),
    "harvest-edits": lambda _: harvesting.measure_edits(),
    "harvest-budget": lambda _: harvesting.measure_budget(),
    "harvest-memory": lambda _: harvesting.measure_memory(),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements named, or all of them but the kills."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = ["harvest", "links", "tuning", *MEASUREMENTS, "kills", "kills-commands"]
    parser.add_argument(
        "what",
        nargs="?",
        choices=names,
        help="`harvest`, `links`, `points`, `tuning`: all of theirs; all but the kills if not named",
    )
    parser.add_argument("kills", nargs="?", type=int, default=100, help="how many; 100 if not said")
    parser.add_argument("--seed", type=int, default=0, help="of the instants of the kills")
    parser.add_argument("--papers", type=int, default=kills.PAPERS, help="harvested while it is killed")
    parser.add_argument("--kills-per-command", type=int, default=6, help="in a workspace, of `kills-commands`")
    parser.add_argument("--workspaces", type=int, help="of `kills-commands`: at most so many are killed")
    parser.add_argument("--result", type=Path, help="of `kills-commands`: the JSON file to write")
    parser.add_argument("--model-url", help="of `points`: measure what a model at this endpoint adds instead")
    parser.add_argument("--model", default="", help="its name there")
    parser.add_argument("--max-questions", type=int, default=2_000, help="that it is asked at most")
    parser.add_argument(
        "--answers", type=Path, help="a file that keeps what it answers, so that nothing is asked twice"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder in which the results are replaced")
    asked = parser.parse_args(arguments)
    if asked.what == "points" and asked.model_url:
        pointing_by_model.measure_model(asked.model_url, asked.model, asked.answers, asked.max_questions)
        return
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        chosen = {
            name: partial(measure, scratch)
            for name, measure in MEASUREMENTS.items()
            if asked.what in {None, name, name.partition("-")[0]}
        }
        if asked.what == "kills":
            chosen["kills"] = partial(kills.report, scratch, asked.kills, asked.seed, asked.papers)
        if asked.what == "kills-commands":
            chosen["kills-commands"] = partial(
                killing_commands.report,
                scratch,
                asked.kills,
                asked.seed,
                asked.papers,
                per_command=asked.kills_per_command,
                workspaces=asked.workspaces,
                result=asked.result,
            )
        unrecorded = [name for name, measure in chosen.items() if not _record(name, measure, asked.out)]
    if unrecorded:
        raise SystemExit(f"Not recorded: {', '.join(unrecorded)}.")


def _record(name: str, measure: Callable[[], None], folder: Path) -> bool:
    """Measure and record; False, with the reason on the standard error, where it cannot be recorded."""
    try:
        print(f"\nWritten: {recording.record(name, recording.watch(measure), folder)}", flush=True)
    except ValueError as error:
        print(error, file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    main()
