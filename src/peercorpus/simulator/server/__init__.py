"""Serve both simulated APIs of OpenReview on loopback."""
