"""Fetch venues from OpenReview into `raw.db`."""
