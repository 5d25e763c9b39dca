"""Read the layout of a paper from glyph positions and write it as Markdown."""
