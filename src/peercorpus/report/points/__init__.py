"""Statistics of points, the single criticisms of reviews: which were answered, when, and how the score changed."""
