"""Texts of `site`."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from peercorpus.cli.text.formatting import size
from peercorpus.explorer.site.extras import Extra, name_extra
from peercorpus.explorer.site.write_site import SiteSummary
from peercorpus.records.counted_nouns import plural


def extras_added(sizes: Mapping[Extra, int], wanted: Collection[Extra]) -> Iterator[str]:
    """Yield how large the extras are that are added.

    Args:
        sizes: Size of each extra that the release has, in bytes, before the site is written.
        wanted: Those that are added.
    """
    for extra in wanted:
        if extra in sizes and extra is Extra.TEXTS:
            yield f"The texts take at least {size(sizes[extra])}, and more if they have many formulas."
        elif extra in sizes:
            yield f"The {name_extra(extra)} take about {size(sizes[extra])}."
        else:
            yield "The release contains no texts, so none are added."


def extras_offered(sizes: Mapping[Extra, int], wanted: Collection[Extra]) -> Iterator[str]:
    """Yield what else the release has for a site; nothing if it has no more."""
    left = {extra: bytes_ for extra, bytes_ in sizes.items() if extra not in wanted}
    if left:
        named = [f"{name_extra(extra)} (--{extra}, about {size(bytes_)})" for extra, bytes_ in left.items()]
        yield f"The release also has {_join(named)}."


def _join(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> _join(["a"]), _join(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def site_written(summary: SiteSummary, out: Path) -> str:
    """Return what was written, and how to look at it."""
    sizes = {"search": summary.index_bytes, "texts": summary.text_bytes, "changes": summary.change_bytes}
    parts = ", ".join(f"{name} {size(part)}" for name, part in sizes.items() if part)
    points = f" The pages of papers show {plural(summary.points, 'point')} of reviews." if summary.points else ""
    return "\n".join(
        [
            f"Wrote {plural(summary.papers, 'paper')} of {plural(summary.venues, 'venue')} in"
            f" {plural(summary.files, 'file')}, {size(summary.size_bytes)} ({parts}).{points}",
            f"Open {out / 'index.html'} in a browser, or serve the folder:",
            f"  python -m http.server --directory {shlex.quote(str(out))}",
        ]
    )
