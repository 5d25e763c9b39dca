"""Queries of the explorer: words, ids, spelling, facets, and what is like a paper or a point."""
