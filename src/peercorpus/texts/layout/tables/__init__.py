"""Find tables on a page and write them as Markdown."""
