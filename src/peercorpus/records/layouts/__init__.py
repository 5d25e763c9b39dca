"""Layouts in which others keep papers and reviews: recognised by their shape, one small reader each."""
