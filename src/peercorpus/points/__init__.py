"""Stage: write the points of every review, each with its answers, the reviewer's reaction, and the changes."""
