"""Datasets that others published: what their records are, and where they are fetched from."""
