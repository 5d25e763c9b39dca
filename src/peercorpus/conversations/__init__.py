"""Build one conversation per reviewer from the posts of each paper."""
