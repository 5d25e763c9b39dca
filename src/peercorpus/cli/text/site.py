"""Texts of `site`."""

import shlex
from pathlib import Path

from peercorpus.cli.text.formatting import size
from peercorpus.explorer.site.write_site import SiteSummary
from peercorpus.records.counted_nouns import plural


def texts_added(size_bytes: int) -> str:
    """Return how large the texts are that pages are made of."""
    if not size_bytes:
        return "The release contains no texts, so none are added."
    return f"The texts take at least {size(size_bytes)}, and more if they have many formulas."


def site_written(summary: SiteSummary, out: Path) -> str:
    """Return what was written, and how to look at it."""
    texts = f" and {size(summary.text_bytes)} the texts" if summary.text_bytes else ""
    return "\n".join(
        [
            f"Wrote {plural(summary.papers, 'paper')} of {plural(summary.venues, 'venue')} in"
            f" {plural(summary.files, 'file')}, {size(summary.size_bytes)}; {size(summary.index_bytes)} of that are the"
            f" search{texts}.",
            f"Open {out / 'index.html'} in a browser, or serve the folder:",
            f"  python -m http.server --directory {shlex.quote(str(out))}",
        ]
    )
