"""Show and search the points of reviews: single criticisms with their answers, reactions and changes."""
