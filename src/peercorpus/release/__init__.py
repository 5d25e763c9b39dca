"""Publish a dataset that `datasets.load_dataset` opens; verify, compare, export and upload it."""
