"""What the members of a fixed vocabulary mean, in the words that stand below each in `kinds.py`."""

import ast
import inspect
from enum import StrEnum
from functools import cache
from itertools import pairwise


@cache
def meanings(vocabulary: type[StrEnum]) -> dict[str, str]:
    """What each member means, by its value; empty where its name is all there is to say.

    >>> from peercorpus.kinds import Status
    >>> meanings(Status)["rejected"]
    'Rejected after review.'
    """
    (found,) = ast.parse(inspect.getsource(vocabulary)).body
    body = found.body if isinstance(found, ast.ClassDef) else []
    said: dict[str, str] = {}
    for statement, following in pairwise([*body, ast.Pass()]):
        if isinstance(statement, ast.Assign):
            below = following.value if isinstance(following, ast.Expr) else None
            words = ast.literal_eval(below) if isinstance(below, ast.Constant) else ""
            said[ast.literal_eval(statement.value)] = " ".join(words.split())
    return said
