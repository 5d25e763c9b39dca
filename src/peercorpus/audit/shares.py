"""Shares of papers with intervals, and the difference between two of them."""

from dataclasses import dataclass
from math import sqrt

Z = 1.959963984540054
"""Quantile of the normal distribution for a two-sided interval of 95 %."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many papers.

    Attributes:
        count: Papers of which something is true.
        of: Papers looked at.
    """

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """On [0, 1]; None where no paper was looked at.

        >>> Share(1, 4).value, Share(0, 0).value
        (0.25, None)
        """
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % score interval, on [0, 1]; None where no paper was looked at.

        Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference. Journal of the
        American Statistical Association 22 (1927), pp. 209-212.

        >>> [round(end, 4) for end in Share(81, 263).interval]
        [0.2553, 0.3662]
        """
        if not self.of:
            return None
        share, square = self.count / self.of, Z * Z
        middle = share + square / (2 * self.of)
        half = Z * sqrt(share * (1 - share) / self.of + square / (4 * self.of * self.of))
        scale = 1 + square / self.of
        return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first share less the second."""

    first: Share
    second: Share

    @property
    def value(self) -> float | None:
        """On [-1, 1]; None where one of the shares is of no paper."""
        first, second = self.first.value, self.second.value
        return None if first is None or second is None else first - second

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval, on [-1, 1]; None where one of the shares is of no paper.

        Source: R. G. Newcombe, Interval estimation for the difference between independent proportions: comparison of
        eleven methods. Statistics in Medicine 17 (1998), pp. 873-890, method 10 and its table II.

        >>> [round(end, 4) for end in Difference(Share(56, 70), Share(48, 80)).interval]
        [0.0524, 0.3339]
        """
        value, one, other = self.value, self.first.interval, self.second.interval
        if value is None or one is None or other is None:
            return None
        first, second = self.first.value or 0.0, self.second.value or 0.0
        low = sqrt((first - one[0]) ** 2 + (other[1] - second) ** 2)
        high = sqrt((one[1] - first) ** 2 + (second - other[0]) ** 2)
        return value - low, value + high

    @property
    def leans(self) -> int:
        """1 where the first share is greater and the interval leaves no doubt, -1 where it is smaller, else 0."""
        interval = self.interval
        if interval is None:
            return 0
        return int(interval[0] > 0) - int(interval[1] < 0)
