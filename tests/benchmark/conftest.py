"""Fixtures of the benchmark's tests."""

from bench_places import bench_data, inspect_places, quietly

__all__ = ["bench_data", "inspect_places", "quietly"]
