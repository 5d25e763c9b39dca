"""Arrow schemas as Hugging Face `datasets` writes them: in the Parquet metadata as JSON, in the card as YAML."""

import json
from typing import Any

import pyarrow as pa


def feature(kind: pa.DataType) -> dict[str, Any]:
    """An Arrow type as the JSON of `datasets.Features`.

    >>> feature(pa.list_(pa.string()))
    {'feature': {'dtype': 'string', '_type': 'Value'}, '_type': 'List'}
    """
    if pa.types.is_struct(kind):
        return {field.name: feature(field.type) for field in kind}
    if pa.types.is_list(kind):
        return {"feature": feature(kind.value_type), "_type": "List"}
    return {"dtype": str(kind), "_type": "Value"}


def parquet_metadata(schema: pa.Schema) -> dict[str, str]:
    """The metadata from which `datasets` reads the features of a Parquet file."""
    features = {field.name: feature(field.type) for field in schema}
    return {"huggingface": json.dumps({"info": {"features": features}})}


def _described(kind: pa.DataType) -> dict[str, Any]:
    if pa.types.is_struct(kind):
        return {"struct": card_features(kind)}
    if pa.types.is_list(kind):
        item = _described(kind.value_type)
        return {"list": item.get("dtype") or item.get("struct") or item}
    return {"dtype": str(kind)}


def card_features(fields: pa.Schema | pa.StructType) -> list[dict[str, Any]]:
    """Columns as the `features` of `dataset_info` in a card."""
    return [{"name": field.name, **_described(field.type)} for field in fields]
