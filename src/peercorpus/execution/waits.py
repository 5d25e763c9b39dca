"""How long something may take unless the user names another time; each is our choice."""

RATE_LIMIT_WAIT_S = 7200.0
"""Longest single wait for OpenReview's rate limit, in seconds: its limits are by the hour."""
PDF_TIMEOUT_S = 60.0
"""Time limit for a single PDF, in seconds."""
STATEMENT_TIMEOUT_S = 60.0
"""Seconds after which an SQL statement is stopped whose whole result is asked for."""
