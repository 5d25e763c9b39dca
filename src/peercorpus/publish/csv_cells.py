"""Texts of others as cells of a CSV file that a spreadsheet shows and does not run."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would run; the list is OWASP's of CSV injection."""


def as_cell(text: str) -> str:
    """A text as a cell; one that a spreadsheet would run as a formula gets a "'" before it.

    >>> as_cell("=1+1"), as_cell("a = b")
    ("'=1+1", 'a = b')
    """
    return f"'{text}" if text.startswith(FORMULA) else text
