"""Stage: convert PDFs to Markdown, by any of several engines."""
