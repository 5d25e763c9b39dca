"""What the command line says of releases: what is new, what differs, what does not hold, what is uploaded."""

from pathlib import Path


def same_release(newest: Path) -> str:
    """That there was nothing new to keep."""
    return f"Nothing new: this would be '{newest}' again, byte for byte, which stays the newest release."
