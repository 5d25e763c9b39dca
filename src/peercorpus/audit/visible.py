"""Texts from outside as they may be shown: no control characters, and not too long."""


def visible(text: str, most: int | None = None) -> str:
    r"""A text whose control characters and the like are written as escapes, cut to a length where one is given.

    >>> visible("\x1b[31mred\u202e"), visible("ab" * 40, most=6)
    ('\\x1b[31mred\\u202e', 'ababab…')
    """
    escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:most])
    return escaped if most is None or (len(escaped) <= most and len(text) <= most) else f"{escaped[:most]}…"
