"""What tests of the benchmark share."""

from bench_places import bench_data, inspect_places, quietly

__all__ = ["bench_data", "inspect_places", "quietly"]
