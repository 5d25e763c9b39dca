"""Write the papers of a word as text: Golomb-Rice codes of the gaps between their numbers, in digits of six bits."""

import base64
from collections.abc import Iterator, Sequence

_BLOCK = 64
"""Gaps that share one parameter of the code."""
_MAX_PARAMETER = 15
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def encode_count(count: int) -> str:
    """Return a number in digits of five bits, the lowest first; all but the last are from the upper half.

    >>> encode_count(3), encode_count(100)
    ('D', 'kD')
    """
    digits = []
    while count >= 32:
        digits.append(_DIGITS[32 + count % 32])
        count //= 32
    return "".join(digits) + _DIGITS[count]


def encode_lists(lists: Sequence[Sequence[int]]) -> str:
    """Return lists of ascending numbers as text: the length of each, then the gaps of all as one run of bits.

    Each 64 gaps begin with the parameter of their code in four bits. A gap is as many ones as it has multiples of two
    to the power of the parameter, a zero, and the rest in as many bits as the parameter says.

    >>> encode_lists([[0, 1, 2], [], [40]])
    'DABAJo'
    """
    counts = "".join(encode_count(len(numbers)) for numbers in lists)
    bits = "".join(piece for numbers in lists for piece in _encode_gaps(numbers))
    whole = bits.ljust(-(-len(bits) // 24) * 24, "0")
    packed = int(whole or "0", 2).to_bytes(len(whole) // 8)
    return counts + base64.urlsafe_b64encode(packed).decode()[: -(-len(bits) // 6)]


def _encode_gaps(numbers: Sequence[int]) -> Iterator[str]:
    gaps = [after - before - 1 for before, after in zip([-1, *numbers], numbers, strict=False)]
    for start in range(0, len(gaps), _BLOCK):
        block = gaps[start : start + _BLOCK]
        parameter = _choose_parameter(block)
        yield f"{parameter:04b}"
        if parameter:
            low = (1 << parameter) - 1
            yield "".join([f"{'1' * (gap >> parameter)}0{gap & low:0{parameter}b}" for gap in block])
        else:
            yield "".join(["1" * gap + "0" for gap in block])


def _choose_parameter(gaps: Sequence[int]) -> int:
    """Return the parameter with which gaps take the fewest bits."""
    near = (sum(gaps) // len(gaps)).bit_length()
    choices = range(max(0, min(near - 2, _MAX_PARAMETER)), min(near, _MAX_PARAMETER) + 1)
    return min(choices, key=lambda parameter: parameter * len(gaps) + sum([gap >> parameter for gap in gaps]))
