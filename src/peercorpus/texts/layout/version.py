"""Name and version of the default engine, apart from its code, whose import takes long."""

from importlib.metadata import version

NAME = "pdfium-layout"
VERSION = 3
"""Version of the output, raised by hand whenever the same file yields another text.

That may be due to a change in this package or in how PDFs are opened. Texts, content keys and the cache of a
workspace include the version, so raising it converts every PDF again. `tests/golden/outputs.json` holds the output of
this version for recorded files; a test compares them.
"""
ENGINE_VERSION = f"{VERSION}+pypdfium2-{version('pypdfium2')}"
"""Version that is recorded with each text."""
