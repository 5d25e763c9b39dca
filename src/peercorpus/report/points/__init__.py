"""Statistics of points, the single criticisms of reviews: which were answered, when, and what became of the score."""
