"""How sure a share is, of things that do not depend on each other."""

import math


def wilson(part: float, whole: int) -> tuple[float, float] | None:
    """The 95 % interval of a share (Wilson 1927, without continuity correction); None of nothing.

    Args:
        part: How many of the whole. Things may count in part: no values on [0, 1] vary more than ones and noughts of
            the same mean, so the interval is then rather too wide than too narrow.
        whole: How many there are.

    >>> [round(bound, 3) for bound in wilson(8, 10)]
    [0.49, 0.943]
    """
    if not whole:
        return None
    z, share = 1.959963984540054, part / whole
    middle = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z / (1 + z * z / whole) * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    return max(0.0, middle - half), min(1.0, middle + half)
