"""Determine the role of a signer, from the names of a venue's committees and of their anonymous members.

A venue's own group (API v2) states its names; those of most venues are in `committees.toml`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgspec

from peercorpus.execution.stage import digest_of_data
from peercorpus.openreview.objects import PAPER_GROUP, decode_leniently
from peercorpus.records.enums import Role

_DATA = tomllib.loads(files(__package__).joinpath("committees.toml").read_text(encoding="utf-8"))
DIGEST = digest_of_data(_DATA)
"""Digest of `committees.toml`, part of the content keys of the tables that depend on it."""
_ROLES = tuple((Role(role), re.compile("|".join(patterns))) for role, patterns in _DATA["roles"].items())
_MOST_CHARACTERS = 200
"""Longest name of a signer that is compared; a longer one is no name of a committee."""
_MEMBER = re.compile(r"(?P<committee>[A-Za-z]\w*?)_?(?:(?<=_)[0-9A-Za-z]{4}|\d{1,3})")
"""Matches the name of an anonymous member: a committee's name, then four random characters or a number."""

_OFFICE = re.compile("({})s?(?![a-z])".format("|".join(_DATA["offices"]["words"])))


class _Group(msgspec.Struct):
    content: dict[str, Any] | None = None


@lru_cache(1 << 14)
def find_role(name: str) -> Role:
    """Return the role of a signer, from the last element of a signature.

    >>> find_role("AnonReviewer3"), find_role("Senior_Area_Chairs"), find_role("~Ada_Example1")
    (<Role.REVIEWER: 'reviewer'>, <Role.SENIOR_AREA_CHAIR: 'senior_area_chair'>, <Role.PUBLIC: 'public'>)
    >>> find_role("Emergency_Reviewer_x1Yz"), find_role("Technical_Area_Chair_x1Yz")
    (<Role.REVIEWER: 'reviewer'>, <Role.AREA_CHAIR: 'area_chair'>)
    """
    if len(name) > _MOST_CHARACTERS:
        return Role.UNKNOWN
    return next((role for role, pattern in _ROLES if pattern.fullmatch(name)), Role.UNKNOWN)


def find_named_role(name: str, roles: Mapping[str, Role]) -> Role:
    """Return the role of the committee with this name, or of the one whose member it names, or `UNKNOWN`.

    >>> reviewers = {"Reviewer_": Role.REVIEWER}
    >>> find_named_role("Reviewer_x1Yz", reviewers), find_named_role("Reviewer_Coordinator_x1Yz", reviewers)
    (<Role.REVIEWER: 'reviewer'>, <Role.UNKNOWN: 'unknown'>)

    Args:
        name: The last element of a signature.
        roles: Role by the name of a committee, or by the beginning of its members' names, which ends with `_`.
    """
    if name in roles:
        return roles[name]
    beginning = name
    while beginning := beginning.rpartition("_")[0]:
        if (role := roles.get(f"{beginning}_")) is not None:
            return Role.UNKNOWN if holds_office(name.removeprefix(beginning)) else role
    return Role.UNKNOWN


def find_committee(signature: str) -> str | None:
    """Return the committee of an anonymous member in a paper's group, or None for any other signature.

    >>> find_committee("V/Submission3/Program_Committee_x1Yz"), find_committee("V/Submission3/Authors")
    ('Program_Committee', None)
    """
    member = _MEMBER.fullmatch(signature.rpartition("/")[2])
    return member["committee"] if member and PAPER_GROUP.search(signature) else None


def holds_office(committee: str) -> bool:
    """Return whether a committee leads, judges reviews or administers, so that its members are no reviewers.

    >>> holds_office("Steering_Chair"), holds_office("Reviewer_Coordinators"), holds_office("Kite_Juror")
    (True, True, False)
    """
    return _OFFICE.search(committee) is not None


def signs_for_several(signature: str) -> bool:
    """Return whether a signature is that of a whole committee (`Reviewers`), any of whose members may have written.

    >>> signs_for_several("V/Submission3/Reviewers"), signs_for_several("V/Submission3/Reviewer_x1Ys")
    (True, False)
    """
    return signature.endswith("s") and PAPER_GROUP.search(signature) is not None and find_committee(signature) is None


def read_names(content: Mapping[str, Any], *keys: str) -> tuple[str, ...]:
    """Return the names that a group's settings contain, alone or in a list, in the order of `keys`."""
    answers = [answer for key in keys if isinstance(answer := content.get(key), dict)]
    values = [value if isinstance(value := answer.get("value"), list) else [value] for answer in answers]
    return tuple(name for names in values for name in names if isinstance(name, str) and name)


def read_roles(content: Mapping[str, Any]) -> dict[str, Role]:
    """Return the roles that a venue's settings state, by names of committees and beginnings of members' names."""
    return dict(_list_roles(content))


def _list_roles(content: Mapping[str, Any]) -> Iterator[tuple[str, Role]]:
    for role, keys in _DATA["committees"].items():
        for name in read_names(content, *keys):
            yield name, Role(role)
            yield f"{name.removesuffix('s')}_", Role(role)
    for role, keys in _DATA["signers"].items():
        for name in read_names(content, *keys):
            yield name, Role(role)


@lru_cache(16)
def read_group(body: bytes) -> tuple[Mapping[str, Role], frozenset[str]]:
    """Return the roles, and the names of review invitations in lower case, that a venue's group as received states."""
    content = decode_leniently(_Group, body).content or {}
    reviews = read_names(content, *_DATA["reviews"]["names"])
    return read_roles(content), frozenset(name.lower() for name in reviews)
