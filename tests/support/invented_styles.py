"""One invented paper, in imitations of styles without a real sample.

The sources in `styles/` are imitations, made from memory of how such papers look; they are not the styles themselves.
"""

import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typst

from invented_pdfs import by_hand, put

FOLDER = Path(__file__).parent / "styles"
STYLES = ("tmlr", "corl", "colm", "uai", "midl")
PAPER: dict[str, Any] = json.loads((FOLDER / "paper.json").read_text())


@cache
def styled(style: str, *, is_anonymous: bool) -> bytes:
    """Return the PDF of the paper in one style, as submitted or as published; always the same bytes."""
    inputs = {"anonymous": "yes" if is_anonymous else "no"}
    with TemporaryDirectory() as name:
        folder = shutil.copytree(FOLDER, Path(name) / "styles")
        put(folder, "drawing", _drawing())
        source = folder / f"{style}.typ"
        return bytes(typst.compile(source, ignore_system_fonts=True, sys_inputs=inputs, timestamp=0))


def _drawing() -> bytes:
    """Return the figure as a separate PDF, as papers include them."""
    (labels,) = (one["figure"] for one in PAPER["sections"] if "figure" in one)
    content = " ".join(
        f"{5 + 80 * at} 10 70 30 re S BT /F 10 Tf {10 + 80 * at} 21 Td ({label}) Tj ET"
        for at, label in enumerate(labels)
    )
    return by_hand([content.encode()]).replace(b"[0 0 600 800]", b"[0 0 330 050]")
