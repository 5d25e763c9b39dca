"""The catalogue: what a venue's id says, and what OpenReview does not: deadlines and old lists, with sources."""
