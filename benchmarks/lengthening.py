"""Measures how the time of every parser grows with hostile texts up to 200,000 characters, and with hostile forums.

`PYTHONPATH=tests:tests/support python benchmarks/lengthening.py [NAME...]`: all readers and forums, or those named.
Prints a line of JSON for each; `complaints` names the texts with which its time grew more than 2.3 times when the text
doubled.
"""

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from time import process_time

from hostile_texts import find_growth
from test_hostile_forums import FORUMS, make_call  # type: ignore[import-not-found]
from test_hostile_texts import (  # type: ignore[import-not-found]
    LONGEST,
    READERS,
    complain_of_patterns,
    complain_of_reader,
)

POSTS = [2_500, 5_000, 10_000]
FLOOR_S = 0.05
"""Processor seconds below which a time is not compared."""

LIMIT_S = 60
"""Processor seconds after which a reader counts as too slow, whatever its growth."""

PATTERNS = "expressions"


def complain_of_forum(name: str) -> list[str]:
    """Return where the time of a forum grows too fast with its posts."""
    growth = find_growth(partial(make_call, FORUMS[name]), POSTS, 0.5, LIMIT_S)
    return [growth] if growth else []


MEASUREMENTS: Mapping[str, Callable[[], list[str]]] = {
    PATTERNS: lambda: complain_of_patterns(LONGEST, FLOOR_S),
    **{f"text: {name}": partial(complain_of_reader, name, LONGEST, FLOOR_S, limit_s=LIMIT_S) for name in READERS},
    **{f"forum: {name}": partial(complain_of_forum, name) for name in FORUMS},
}


if __name__ == "__main__":
    names = sys.argv[1:] or list(MEASUREMENTS)
    longer = 0
    for name in names:
        began = process_time()
        complaints = MEASUREMENTS[name]()
        print(
            json.dumps({"name": name, "seconds": round(process_time() - began, 1), "complaints": complaints}),
            flush=True,
        )
        longer += bool(complaints)
    print(f"\n| readers and kinds of forums | that take longer |\n|---:|---:|\n| {len(names)} | {longer} |")
