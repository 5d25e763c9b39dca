"""Split reviews into single points, and find what answers each, what the reviewer said then, and what changed."""
