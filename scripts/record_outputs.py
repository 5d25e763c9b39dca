"""Records what the declared versions of engines, stages and publishing make of recorded inputs, for a test to compare.

Usage: record_outputs.py [--real] [--overwrite]

Run it after raising a version. It refuses to record a different output under a version that is already recorded, unless
different inputs, data or packages explain it; and it refuses a new version whose output equals the previous one's.
`--overwrite` records all the same, for example after a recorded input was replaced. `--real` records the PDFs of
../shared/data instead of those in the repository.
"""

import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parents[1]
sys.path.insert(0, str(FOLDER / "tests" / "support"))

import recorded_outputs as outputs  # noqa: E402 -- in the folder just added to the path


def main(arguments: list[str]) -> int:
    """Record the outputs, and report those that were refused."""
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
