"""Fetch venues from OpenReview, or import dumps, into `raw.db`."""
