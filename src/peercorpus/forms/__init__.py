"""Read raw notes as papers, reviews and posts, by the review form of each venue."""
