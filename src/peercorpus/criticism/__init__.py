"""Read the text of a review as single points, and find what in another text answers a point or says the same."""
