"""Score the typeset papers with the default engine; for a single style, show the formulas that differ from the source.

Usage: score_typeset.py [--record] [STYLE]. `--record` records which scores fall short of the targets, for the test that
checks the engine against them.
"""

import argparse
import json

from formula_tokens import normalise
from invented_paper import Truth
from read_typeset import KEPT, read_scores, read_truths, read_typeset
from typeset_scores import MEASURES, ReadFormula, find_shortfalls, match_formulas

SHORTFALLS = KEPT / "shortfalls.json"


def show_formulas(formulas: list[ReadFormula], truth: Truth) -> None:
    """Print each display formula that differs from the source, or has a different number."""
    for wanted, read, like in match_formulas(formulas, truth):
        if read is None:
            print(f"lost, wanted {wanted['numbers']}\n   {wanted['latex']}")
            continue
        pair = normalise(wanted["latex"]), normalise(read.latex)
        if list(read.numbers) != wanted["numbers"] or pair[0] != pair[1]:
            print(f"alike {like:.2f}, sureness {read.sureness}, number {read.numbers}, wanted {wanted['numbers']}")
        if pair[0] != pair[1]:
            print(f"   wanted {' '.join(pair[0])}\n   read   {' '.join(pair[1])}")


def main() -> None:
    """Print one row of scores per style."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("style", nargs="?")
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args()
    truths = read_truths()
    if asked.style:
        show_formulas(read_typeset(asked.style)[1], truths[asked.style])
    names = [asked.style] if asked.style else list(truths)
    rows = {name: read_scores(name, truths[name]) for name in names}
    print(f"{'':10}" + " ".join(f"{measure:>7}" for measure in MEASURES))
    for name, row in rows.items():
        cells = ("      -" if (value := row[measure]) is None else f"{value:7.3f}" for measure in MEASURES)
        print(f"{name:10}" + " ".join(cells))
    if asked.record:
        recorded = {name: find_shortfalls(row) for name, row in rows.items()}
        SHORTFALLS.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
