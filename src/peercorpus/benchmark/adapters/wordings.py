"""The words that a model was trained with, found in the files of its authors: they are theirs and not ours to pass on.

A model works only with those very words. A text is known by its digest, so no other can be told by mistake, and a file
of Python is parsed for its strings and never run.
"""

import ast
import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from peercorpus.benchmark.adapters.format import Format
from peercorpus.errors import PeercorpusError

MOST_BYTES = 2_000_000
"""A larger file is not looked into."""


def _of_json(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _of_json(one)


def _of_python(text: str) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (
                f"{{{ast.unparse(part.value)}}}" if isinstance(part, ast.FormattedValue) else ast.literal_eval(part)
                for part in node.values
            )
            yield "".join(parts)


def _strings(path: Path) -> Iterator[str]:
    """Every text that a file holds: the strings of Python or JSON, else all of it."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return
        text = path.read_text(encoding="utf-8")
        yield from (text, text.removesuffix("\n"))
        if path.suffix == ".py":
            yield from _of_python(text)
        elif path.suffix == ".json":
            yield from _of_json(json.loads(text))
    except (OSError, ValueError, SyntaxError, RecursionError):
        return


def find_wordings(format: Format, place: Path) -> Mapping[str, str]:
    """The texts of a format, by what they are for.

    Args:
        format: Of the model.
        place: A file that holds them, or a folder that holds the files, such as a copy of the authors' repository.

    Raises:
        PeercorpusError: It is not there, or does not hold all of them.
    """
    if not place.exists():
        raise PeercorpusError(f"'{place}' is not there; get it from {format.home}.")
    names = {Path(one.file).name for one in format.wordings.values()}
    paths = [place] if place.is_file() else sorted(path for name in names for path in place.rglob(name))
    texts = [text for path in paths for text in _strings(path)]
    found = {hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(): text for text in texts}
    missing = sorted({one.file for one in format.wordings.values() if one.sha256 not in found})
    if missing:
        raise PeercorpusError(
            f"'{place}' does not hold the words that {format.models[0]} was trained with; they stand in"
            f" {' and '.join(missing)} of {format.home}: name a folder that holds these."
        )
    return {name: found[one.sha256] for name, one in format.wordings.items()}
