"""The app `bench` with all its commands, which are in two modules."""

from peercorpus.cli import benchmark_re2
from peercorpus.cli.benchmark import bench

__all__ = ["bench", "benchmark_re2"]
