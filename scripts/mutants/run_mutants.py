"""Plant faults that give silently wrong data, one at a time, and check that the quick tests notice each.

    run_mutants.py                 plant every fault of mutants.toml; exit with 1 if more than two survive
    run_mutants.py NAME …          only these
    run_mutants.py --whole NAME …  run the whole quick lane against each, not only the tests named in mutants.toml

Each fault is applied to a copy of `src`; the checkout is never changed. The tests that mutants.toml names for a fault
run first without it and must all pass, then with it, and at least one must fail. They are all in the quick lane, so
`make test` notices what they notice.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MUTANTS = Path(__file__).with_name("mutants.toml")
MAY_SURVIVE = 2
"""Most mutants that may survive; one that no test can distinguish from the code must not be listed."""
TIMEOUT_S = 900.0
"""Time for the tests of one mutant; a mutant that makes them run longer counts as noticed."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted fault.

    Attributes:
        file: Path below the root.
        old: Text of the file, found exactly once.
        new: Text that replaces it.
        wrong: What goes silently wrong for a user.
        tests: Ids of tests that notice it.
    """

    name: str
    file: str
    old: str
    new: str
    wrong: str
    tests: tuple[str, ...]


class StaleMutantError(Exception):
    """The text that a mutant replaces does not occur in its file exactly once."""


def read_mutants(path: Path) -> list[Mutant]:
    """Parse mutants.toml."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**(entry | {"tests": tuple(entry["tests"])})) for entry in entries]


def apply(mutant: Mutant, text: str) -> str:
    """Return the text with the fault planted.

    Raises:
        StaleMutantError: The old text is missing, or occurs more than once.
    """
    count = text.count(mutant.old)
    if count != 1:
        raise StaleMutantError(f"{mutant.name}: expected {mutant.old!r} once in {mutant.file}, found it {count} times.")
    return text.replace(mutant.old, mutant.new)


def run_tests(source: Path, tests: Sequence[str]) -> bool:
    """Run tests of the quick lane against a copy of `src`, and return whether all passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return False
    if ended.returncode not in {0, 1}:
        raise SystemExit(f"pytest ended with code {ended.returncode}:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}")
    return ended.returncode == 0


def is_noticed(mutant: Mutant, source: Path, *, is_whole: bool) -> bool:
    """Plant a fault in the copy, run its tests, and take the fault out again."""
    path = source.parent / mutant.file
    original = path.read_text(encoding="utf-8")
    path.write_text(apply(mutant, original), encoding="utf-8")
    try:
        return not run_tests(source, ["-n", "2", "--dist", "loadfile"] if is_whole else mutant.tests)
    finally:
        path.write_text(original, encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Plant the faults and print which survive; return 1 if more than `MAY_SURVIVE` do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="mutants to plant; all by default")
    parser.add_argument("--whole", action="store_true", help="run the whole quick lane against each")
    options = parser.parse_args(arguments)
    mutants = [mutant for mutant in read_mutants(MUTANTS) if not options.names or mutant.name in options.names]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        tests = sorted({test for mutant in mutants for test in mutant.tests})
        if not run_tests(source, tests):
            print("The named tests fail without any mutant; fix them first.")
            return 1
        survivors = []
        for number, mutant in enumerate(mutants, start=1):
            noticed = is_noticed(mutant, source, is_whole=options.whole)
            print(f"{number}/{len(mutants)} {'killed' if noticed else 'LIVES'} {mutant.name}", flush=True)
            if not noticed:
                survivors.append(mutant)
    for mutant in survivors:
        print(f"{mutant.file}: {mutant.wrong} No test noticed.")
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants are noticed by the quick tests.")
    return int(len(survivors) > MAY_SURVIVE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
