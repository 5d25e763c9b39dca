"""A release as the benchmark reads it: other names for what `opened` has."""

from peercorpus.publish.opened import Release as ReleaseRows
from peercorpus.publish.opened import open_release as open_rows

__all__ = ["ReleaseRows", "open_rows"]
