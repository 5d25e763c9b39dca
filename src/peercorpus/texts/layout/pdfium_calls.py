"""Functions of pdfium that take plain numbers, as quick to call from Python as they can be."""

import ctypes
from collections.abc import Callable
from typing import Any

import pypdfium2.raw as pdfium_c

NUMBER_TYPES = {"i": ctypes.c_int, "p": ctypes.c_void_p, "d": ctypes.c_double, "n": ctypes.c_size_t, "u": ctypes.c_uint}


def function(name: str, result: str, arguments: str) -> Callable[..., Any]:
    """A function of pdfium that takes plain numbers: for a pointer, ctypes checks longer than the call takes.

    Args:
        name: Of the function.
        result: Its type, by the letter that `NUMBER_TYPES` gives it.
        arguments: Theirs, a letter each.
    """
    kinds = [NUMBER_TYPES[one] for one in (result, *arguments)]
    address = ctypes.cast(getattr(pdfium_c, name), ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(*kinds)(address)
