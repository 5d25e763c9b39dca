"""Read the signs of a search: phrases in quotes, names of fields, excluded words, and a final *."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from peercorpus.explorer.querying.passages import Sought
from peercorpus.explorer.querying.searched_fields import SearchedFields, fold, split_words
from peercorpus.records.suggestions import suggest_name

LEAST_PREFIX = 3
"""Letters before a final *, at least: fewer begin too many words."""
_SIGNS = re.compile(r'["():^~\[\]{}\\]|(?:^|\s)\*(?:\s|$)|(?:^|\s)[-+]|(?:^|\s)(?:AND|OR|NOT|IN)(?:\s|$)')
"""Signs of tantivy's query language."""
_FINAL_COLON = re.compile(r":(?=\s|$)")
_QUOTED = re.compile(r'("[^"]*"?)')
_FIELD = re.compile(r"(?:(?<=[\s(+-])|^)(\w+):(?=\S|$)", re.ASCII)
_VENUE_ID = re.compile(r'(?<=\bvenue:)[^\s"()]++')
_PSEUDONYM = re.compile(r'(?<=\breviewer:)[^\s"()]++')
_AUTHOR = re.compile(r'(?<=\bauthors:)[^\s"()]++')
_STARRED = re.compile(r'(?<![^\s():"])[^\s():"*]*+\*[^\s():"]*')
_TOKEN = re.compile(
    r'(?P<out>-|NOT\s+)?(?:(?P<field>\w+):)?(?:"(?P<phrase>[^"]*)"(?P<after>[~*]?)\S*|(?P<word>[^\s"()]+))'
)
_MAX_SOUGHT = 32
_CONNECTIVES = frozenset(("AND", "OR", "NOT", "IN"))


def has_signs(words: str) -> bool:
    """Return whether words are in tantivy's query language, so that they are taken literally.

    >>> has_signs("wind kites*"), has_signs("wind -kites"), has_signs("title:kites")
    (False, True, True)
    """
    return _SIGNS.search(words) is not None


def tidy(words: str, fields: SearchedFields) -> tuple[str, list[str]]:
    """Return words without parts that the index cannot search for, and a sentence for each part removed.

    >>> tidy("author:gomez a*", SearchedFields({"title": 1.0, "authors": 1.0}))[0]
    'gomez a'
    """
    hints: list[str] = []

    def check_field(found: re.Match[str]) -> str:
        return _check_field(found[1], fields, hints)

    def check_star(found: re.Match[str]) -> str:
        starred = found[0]
        if starred.strip("[]{}") in ("*", "-*", "+*"):
            return starred
        beginning = starred.rstrip("*").lstrip("+-")
        if "*" in beginning or not split_words(beginning):
            hints.append(f"'{starred}' was searched for without *, which can only end a word, as in 'optimi*'.")
        elif len(split_words(beginning)[-1]) < LEAST_PREFIX:
            hints.append(
                f"'{starred}' was searched for without *, which needs at least {LEAST_PREFIX} letters before it."
            )
        elif is_literal:
            hints.append(
                f"'{starred}' was searched for without *, which cannot be combined with fields, brackets, quotes or"
                " other signs."
            )
        else:
            return f"{beginning}*"
        return starred.replace("*", " ")

    parts = _QUOTED.split(_FINAL_COLON.sub("", words))
    parts[::2] = [_VENUE_ID.sub(lambda found: _join_id(found[0]), _FIELD.sub(check_field, part)) for part in parts[::2]]
    parts[::2] = [_PSEUDONYM.sub(lambda found: "".join(split_words(found[0])), part) for part in parts[::2]]
    parts[::2] = [_AUTHOR.sub(lambda found: fold(found[0]), part) for part in parts[::2]]
    parts[1::2] = [_tidy_phrase(before, phrase) for before, phrase in zip(parts[::2], parts[1::2], strict=False)]
    is_literal = has_signs("".join(parts))
    parts[::2] = [_STARRED.sub(check_star, part) for part in parts[::2]]
    return " ".join("".join(parts).split()), hints


def _tidy_phrase(before: str, phrase: str) -> str:
    """Return a phrase in quotes as the index has it in the field that is named before it."""
    if before.endswith("authors:"):
        return fold(phrase).replace(",", " ")
    return '"' + _join_id(phrase.strip('"')) + '"' if before.endswith("venue:") else phrase


def _join_id(written: str) -> str:
    """Return the id of a venue as `venue_names` writes it; another name as it is."""
    return "".join(split_words(written)) if "/" in written[1:] else written


def _check_field(name: str, fields: SearchedFields, hints: list[str]) -> str:
    """Return what is searched for in place of a name and its colon."""
    for known in (name, name.lower()):
        if known in fields.typable or known in fields.further:
            return f"{known}:"
    if name.isdecimal():
        return f"{name} "
    hints.append(f"There is no field '{name}:'; {_suggest_field(name, fields)} All fields were searched.")
    return ""


def _suggest_field(name: str, fields: SearchedFields) -> str:
    """Return the end of a sentence on an unknown field: the nearest one that may be typed, or those of texts."""
    is_near = get_close_matches(name.lower(), fields.typable, n=1)
    return suggest_name(name, fields.typable if is_near else (*fields.weights, *fields.named))


def list_sought(words: str) -> list[Sought]:
    """Return the words and phrases to mark in passages for a search with signs, without those that it excludes.

    >>> [(each.parts, each.field) for each in list_sought('"state of the art" -kites title:wind OR (rain)')]
    [(('state', 'of', 'the', 'art'), None), (('wind',), 'title'), (('rain',), None)]
    """
    return list(_read_sought(words))[:_MAX_SOUGHT]


def _read_sought(words: str) -> Iterator[Sought]:
    number = 0
    for token in _TOKEN.finditer(words):
        if token["out"] or token["word"] in _CONNECTIVES:
            continue
        for sought in _read_token(token, number):
            yield sought
            number = sought.number + 1


def _read_token(token: re.Match[str], number: int) -> Sequence[Sought]:
    parts = split_words(token["phrase"] if token["phrase"] is not None else token["word"])
    if not parts:
        return ()
    if token["after"] == "~":  # Its words may stand apart.
        return [Sought((part,), number + place, field=token["field"]) for place, part in enumerate(parts)]
    return [Sought(parts, number, is_prefix=token["after"] == "*", field=token["field"])]
