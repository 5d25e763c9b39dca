"""Columns of `acceptance`, the configuration with the questions of `eval.yaml`."""

import pyarrow as pa

from peercorpus.release.schemas import GRADE, PLACE, TEXT, column

ACCEPTANCE = pa.schema(
    [
        *PLACE,
        GRADE,
        column("question", TEXT, "the paper as the reviewers read it, and what the benchmark asks about it"),
        column("target", TEXT, "`accept` or `reject`"),
    ]
)
