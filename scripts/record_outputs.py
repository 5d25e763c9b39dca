"""Records what the declared versions of engines, stages and publishing make of recorded inputs, for a test to compare.

Usage: record_outputs.py [--real] [--overwrite]

Run it after a version was raised. It refuses to record another output under a version that is recorded already, unless
other inputs, data or packages explain it, and a version that makes what the one before it made: `--overwrite` says that
this is meant, as where a recorded input was replaced. `--real` records the PDFs of ../shared/data instead of those in
the repository.
"""

import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parents[1]
sys.path.insert(0, str(FOLDER / "tests" / "support"))

import recorded_outputs as outputs  # noqa: E402 -- it lies in the folder that was just named


def main(arguments: list[str]) -> int:
    """Record, and say what was not."""
    unknown = set(arguments) - {"--real", "--overwrite"}
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; {__doc__.partition('Usage: ')[2].splitlines()[0]}")
        return 2
    is_real = "--real" in arguments
    path = outputs.REAL if is_real else outputs.INVENTED
    with tempfile.TemporaryDirectory() as folder:
        found = outputs.real_outputs(outputs.PAIRS) if is_real else outputs.invented_outputs(Path(folder))
    recorded, refused = outputs.record(found, outputs.read_recorded(path), overwrite="--overwrite" in arguments)
    if refused:
        print("\n".join([*refused, "Nothing was recorded; --overwrite records it all the same."]))
        return 1
    outputs.write_recorded(path, recorded)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
