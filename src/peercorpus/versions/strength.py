"""How much one sign in a file tells of its version."""

from enum import StrEnum


class Strength(StrEnum):
    """How much one sign tells."""

    DECISIVE = "decisive"
    """It is enough by itself."""
    SUPPORTING = "supporting"
    """It counts only together with another kind."""
    HINT = "hint"
    """It counts only beside a supporting one."""
