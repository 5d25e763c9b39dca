"""Read the text of a paper from a published record, whatever its dataset or layout."""

import msgspec

from peercorpus.records.layouts.recognise import READERS, read_stated
from peercorpus.records.published_datasets import Dataset, Re2Text, ReviewBenchRow, non_empty, parse_dataset


def read_text(record_id: str, body: bytes) -> str | None:
    """Return the paper's text in a published record; None if it has none.

    Raises:
        msgspec.DecodeError: The record does not have the structure of its dataset.
    """
    dataset = parse_dataset(record_id)
    if dataset in READERS:
        return read_stated(dataset, body).text
    if dataset is Dataset.REVIEWBENCH:
        return non_empty(msgspec.json.decode(body, type=ReviewBenchRow).markdown)
    return non_empty(msgspec.json.decode(body, type=Re2Text).markdown)
