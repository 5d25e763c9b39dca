"""Query the public tables of a corpus in SQL, read-only and within limits."""
