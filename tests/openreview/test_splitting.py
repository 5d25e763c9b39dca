"""Objects and lists are split at their own commas, however they are written."""

import pytest

from peercorpus.openreview import response_body
from peercorpus.openreview.response_body import split_items


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (b'{"a":1,"b":[1,{"c":"},"}]}', [b'"a":1', b'"b":[1,{"c":"},"}]']),
        (b'{"a": 1 , "b":2}', [b'"a": 1', b'"b":2']),
        (b'{"a":1,"a":2}', [b'"a":1', b'"a":2']),
        (rb'{"\u0061":1,"b":2}', [rb'"\u0061":1', b'"b":2']),
        ('{"ä":"ö"}'.encode(), ['"ä":"ö"'.encode()]),
        (b'{"a":NaN,"b":2}', [b'"a":NaN', b'"b":2']),
        (b"{}", []),
        (b'{"a":1', None),
        (b'[1, {"a" : 2}]', [b"1", b'{"a" : 2}']),
    ],
)
def test_parts_are_split_verbatim(text: bytes, parts: list[bytes] | None) -> None:
    assert split_items(text) == parts


def test_an_object_in_openreviews_usual_format_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(response_body, "_split_at_commas")
    replies = b",".join(b'{"id":"r%d","content":{"text":{"value":"[{,"}}}' % number for number in range(1_000))
    assert split_items(b'{"id":"a","details":{"replies":[%s]}}' % replies) == [
        b'"id":"a"',
        b'"details":{"replies":[%s]}' % replies,
    ]
