"""Invent the venues, papers and threads of the simulated OpenReview."""
