"""Simulate OpenReview on loopback with invented venues, for the demo and the tests."""
