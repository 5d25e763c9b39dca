"""Objects and lists are split at their own commas, however they are written."""

import tracemalloc

import pytest

from peercorpus.openreview import response_body
from peercorpus.openreview.response_body import MEGABYTE, check_json, split_items


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


def test_usual_format_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(response_body, "_split_at_commas")
    replies = b",".join(b'{"id":"r%d","content":{"text":{"value":"[{,"}}}' % number for number in range(1_000))
    assert split_items(b'{"id":"a","details":{"replies":[%s]}}' % replies) == [
        b'"id":"a"',
        b'"details":{"replies":[%s]}' % replies,
    ]


@pytest.mark.parametrize("before", [MEGABYTE - 1, MEGABYTE - 2, MEGABYTE - 3, MEGABYTE, 2 * MEGABYTE - 2])
def test_characters_across_pieces_are_read(before: int) -> None:
    text = b'"%s\xf0\x9f\x98\x80%s"' % (b"a" * (before - 1), b"b" * MEGABYTE)
    assert check_json(text) == text


@pytest.mark.parametrize("place", [0, MEGABYTE - 2, MEGABYTE, 2 * MEGABYTE + 7])
@pytest.mark.parametrize("wrong", [b"\xff", b"\xf0\x9f\x98", b"\xed\xa0\x80"])
def test_byte_outside_utf8_is_named(place: int, wrong: bytes) -> None:
    with pytest.raises(ValueError, match=rf"^it is not UTF-8 text \(byte {place + 1}\)$"):
        check_json(b'"%s%s"' % (b"a" * place, wrong))


def test_checking_takes_bounded_memory() -> None:
    text = b'"%s"' % ("\N{GRINNING FACE}" * 4 * MEGABYTE).encode()
    tracemalloc.start()
    try:
        check_json(text)
        assert tracemalloc.get_traced_memory()[1] < len(text) / 2
    finally:
        tracemalloc.stop()
