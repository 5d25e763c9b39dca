"""The catalogue: what a venue's id says, and what OpenReview does not: deadlines, old lists, what the public sees."""
