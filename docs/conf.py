"""Sphinx makes the site of these pages; `make site-docs` runs it, and any warning is an error."""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parent
REPOSITORY = os.environ.get("PEERCORPUS_REPOSITORY", "")
"""Address of a folder of the repository on the web, such as https://example.org/peercorpus/blob/main, if it has one."""

project = "peercorpus"
project_copyright = "the peercorpus contributors; Apache-2.0"
extensions = ["myst_parser"]
exclude_patterns = ["register"]
myst_heading_anchors = 4
smartquotes_action = "qe"  # Quotes and ellipses alone: two hyphens begin an option and are no dash.
html_theme = "furo"
html_title = "peercorpus"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def link_outwards(text: str, folder: Path) -> str:
    """Turn links that leave docs/ into links to the repository, or into words if it has no address."""

    def linked(match: re.Match[str]) -> str:
        words, target = match.groups()
        file = (folder / target.partition("#")[0]).resolve()
        if file.is_relative_to(DOCS) or not file.exists():
            return match[0]  # A page, or a broken link, which Sphinx reports.
        inside = file.relative_to(DOCS.parent).as_posix()
        return f"[{words}]({REPOSITORY.rstrip('/')}/{inside})" if REPOSITORY else words

    return re.sub(r"\[([^\]]+)\]\((\.\./[^)\s]+)\)", linked, text)


def without_absent(text: str) -> str:
    """Leave out of tables of contents what no page matches; a page that none of them names is an error for Sphinx."""
    return re.sub(
        r"^[\w/*-]+\n", lambda entry: entry[0] if any(DOCS.glob(f"{entry[0].strip()}.md")) else "", text, flags=re.M
    )


def prepare(_app: Sphinx, page: str, source: list[str]) -> None:
    """Change the text of a page before it is parsed."""
    text = link_outwards(source[0], (DOCS / page).parent)
    source[0] = without_absent(text) if page == "index" else text


def setup(app: Sphinx) -> None:
    """Connect what is not a setting."""
    app.connect("source-read", prepare)
