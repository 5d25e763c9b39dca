"""Split the text of a review into points, and find passages of other texts that answer or repeat a point."""
