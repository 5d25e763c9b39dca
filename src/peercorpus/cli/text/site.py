"""Texts of `site`."""

import shlex
from pathlib import Path

from peercorpus.cli.text.formatting import size
from peercorpus.explorer.site.write_site import SiteSummary
from peercorpus.records.counted_nouns import plural


def site_written(summary: SiteSummary, out: Path) -> str:
    """Return what was written, and how to look at it."""
    return "\n".join(
        [
            f"Wrote {plural(summary.papers, 'paper')} of {plural(summary.venues, 'venue')} in"
            f" {plural(summary.files, 'file')}, {size(summary.size_bytes)}; {size(summary.index_bytes)} of that are the"
            " search.",
            f"Open {out / 'index.html'} in a browser, or serve the folder:",
            f"  python -m http.server --directory {shlex.quote(str(out))}",
        ]
    )
