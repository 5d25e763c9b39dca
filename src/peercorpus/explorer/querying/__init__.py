"""Queries of the explorer: words, ids, spelling, facets, and papers or points like a given one."""
