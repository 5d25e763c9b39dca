"""An OpenReview on loopback, with invented venues, that any client can harvest; runs the demo and the tests."""
