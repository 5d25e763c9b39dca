"""Statistics of the reviewing itself, by subject area: load, lateness and responses."""
