"""Figures as images in questions of the benchmark, and the same questions without them."""
