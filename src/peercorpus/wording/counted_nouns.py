"""Counts with their nouns in the singular or plural, as every sentence and table prints them."""


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> plural(1, "paper"), plural(1200, "paper"), plural(2, "reply"), plural(0, "survey"), plural(2, "breach")
    ('1 paper', '1,200 papers', '2 replies', '0 surveys', '2 breaches')
    """
    return f"{number:,} {noun if number == 1 else in_plural(noun)}"


def verb(number: int, singular: str, of_several: str) -> str:
    """Return the form of a verb that a count calls for.

    >>> verb(1, "is", "are"), verb(2, "has", "have"), verb(0, "was", "were")
    ('is', 'have', 'were')
    """
    return singular if number == 1 else of_several


def in_plural(noun: str) -> str:
    """Return the plural of a noun; of several words, the last changes.

    >>> in_plural("paper"), in_plural("desk rejection"), in_plural("reply"), in_plural("breach")
    ('papers', 'desk rejections', 'replies', 'breaches')
    """
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("ch", "sh", "s", "x")) else f"{noun}s"
