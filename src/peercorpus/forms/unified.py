"""Re²'s unified scale: overall recommendations of any form as places on one scale of ten, and back.

Re² (Daoze/ReviewRebuttal) gives beside each rating one of ten labels. Its card shows two of them (5 and 7); that the
others are those which published prompts for reviewing models print beside the same two is inferred. The card keeps the
number, and so calls the accepting "5: Borderline accept" of NeurIPS 2022 "marginally below the acceptance threshold".
Here the words of a form say on which side of the threshold an answer lies:

- A form whose rejecting answers lie in 1 to 5 and whose accepting ones lie in 6 to 10 is on the unified scale already:
  ICLR but for 2026, NeurIPS 2021, the default form.
- Any other form is stretched, each side for itself: its worst answer is 1, its last rejecting one 5, its first
  accepting one 6, its best 10, and those between keep their distances.
- A form one of whose answers has no word of either side, or whose sides overlap, has no place here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

WORST, LAST_REJECTING, FIRST_ACCEPTING, BEST = 1.0, 5.0, 6.0, 10.0
LABELS = {
    1: "strong reject",
    2: "reject, significant issues present",
    3: "reject, not good enough",
    4: "possibly reject, but has redeeming facets",
    5: "marginally below the acceptance threshold",
    6: "marginally above the acceptance threshold",
    7: "accept, but needs minor improvements",
    8: "accept, good paper",
    9: "strong accept, excellent work",
    10: "strong accept, should be highlighted at the conference",
}
"""What the whole numbers are called; a place between two of them has no name."""
VERDICT = re.compile(
    r"(?P<reject>reject|below|not good enough|trivial|wrong|resubmit)|(?P<accept>accept|above|award|seminal|top \d+%)",
    re.IGNORECASE,
)
"""The first of these words decides: "Borderline accept: … reasons to accept outweigh reasons to reject"."""


@dataclass(frozen=True, slots=True)
class UnifiedScale:
    """Where each answer of a form lies on the unified scale; no two lie on one place, so that each can be had back."""

    places: Mapping[float, float]

    def unify(self, value: float) -> float | None:
        """The place of an answer in [1, 10]; None where the form does not offer it."""
        return self.places.get(value)

    def restore(self, place: float) -> float | None:
        """The answer at a place; None where the form has none there."""
        return next((value for value, there in self.places.items() if there == place), None)


def is_accepting(label: str) -> bool | None:
    """Whether an answer speaks for acceptance; None where it does not say.

    >>> is_accepting("5: Borderline accept"), is_accepting("5: Marginally below acceptance threshold")
    (True, False)
    """
    verdict = VERDICT.search(label)
    return None if verdict is None else verdict["accept"] is not None


def unified_scale(labels: Mapping[float, str]) -> UnifiedScale | None:
    """The unified scale of a form's overall recommendation; None where it has none.

    Args:
        labels: What each offered number is called.
    """
    sides = {value: is_accepting(label) for value, label in labels.items()}
    rejecting = sorted(value for value, accepts in sides.items() if accepts is False)
    accepting = sorted(value for value, accepts in sides.items() if accepts)
    if None in sides.values() or not rejecting or not accepting or rejecting[-1] > accepting[0]:
        return None
    in_range = rejecting[0] >= WORST and accepting[-1] <= BEST
    if in_range and rejecting[-1] <= LAST_REJECTING and accepting[0] >= FIRST_ACCEPTING:
        return UnifiedScale({value: value for value in (*rejecting, *accepting)})
    if min(len(rejecting), len(accepting)) < 2:
        return None
    below = {value: _stretched(value, rejecting, WORST, LAST_REJECTING) for value in rejecting}
    above = {value: _stretched(value, accepting, FIRST_ACCEPTING, BEST) for value in accepting}
    return UnifiedScale(below | above)


def _stretched(value: float, side: list[float], low: float, high: float) -> float:
    return low + (value - side[0]) / (side[-1] - side[0]) * (high - low)
