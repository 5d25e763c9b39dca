"""Audit whether a single feature of a text gives the decision away."""
