"""Baselines that need no language model."""
