"""Compute statistics of a corpus and draw them: figures, their numbers, and one HTML page."""
