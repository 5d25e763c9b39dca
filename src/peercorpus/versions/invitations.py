"""Which invitations can have changed a submission's PDF: `invitations.toml`, read once."""

import hashlib
import tomllib
from importlib.resources import files

_TEXT = files(__package__).joinpath("invitations.toml").read_text(encoding="utf-8")
_TAILS = tomllib.loads(_TEXT)
DIGEST = hashlib.sha256(_TEXT.encode()).hexdigest()
"""Stands for this knowledge in the keys of what is chosen with it."""
HARMLESS = frozenset(_TAILS["before_deadline"]) | frozenset(_TAILS["without_pdf"])
AMBIGUOUS = frozenset(_TAILS["ambiguous"])
