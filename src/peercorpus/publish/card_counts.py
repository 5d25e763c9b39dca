"""What the card of a release says of its rows, read from the `dataset_info` at its head."""

import json
import re
from collections.abc import Iterator

NAME = re.compile(r'(?:- config_name|  - name): (".*")')
ROWS = re.compile(r"    num_examples: (\d+)")


def read_counts(card: str) -> dict[tuple[str, str], int]:
    r"""Rows by configuration and split, as `front_matter` writes them; nothing where the card states none.

    >>> head = '---\ndataset_info:\n- config_name: "a"\n  splits:\n  - name: "b"\n    num_examples: 3\n---\n'
    >>> read_counts(head)
    {('a', 'b'): 3}
    """
    return dict(_counts(card))


def _counts(card: str) -> Iterator[tuple[tuple[str, str], int]]:
    head = card.removeprefix("---").partition("\n---\n")[0]
    info = head.partition("\ndataset_info:\n")[2]
    config = split = ""
    is_among_splits = False
    for line in info.splitlines():
        if not line.startswith(("- ", "  ")):
            return
        named = NAME.fullmatch(line)
        if named is not None and line.startswith("- "):
            config, is_among_splits = json.loads(named[1]), False
        elif re.fullmatch(r"  \w.*", line):
            is_among_splits = line == "  splits:"
        elif is_among_splits and named is not None:
            split = json.loads(named[1])
        elif is_among_splits and (rows := ROWS.fullmatch(line)):
            yield (config, split), int(rows[1])
