"""Stage: write the points of every review, with what answers each, what the reviewer said then, and what changed."""
