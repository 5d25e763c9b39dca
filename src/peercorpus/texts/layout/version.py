"""Name and version of the default engine, separate from its code, which takes long to import."""

from importlib.metadata import version

NAME = "pdfium-layout"
VERSION = 3
"""Version of the output, raised by hand whenever the same file yields a different text.

The cause may be a change in this package or in how PDFs are opened. Texts, content keys and the cache of a workspace
include the version, so raising it converts every PDF again. `tests/golden/outputs.json` records the output of this
version for recorded files, and a test compares it.
"""
ENGINE_VERSION = f"{VERSION}+pypdfium2-{version('pypdfium2')}"
"""Version recorded with each text."""
