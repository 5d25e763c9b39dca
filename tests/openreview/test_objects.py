"""Who may read a note, an edit or a field: in doubt not everyone."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from peercorpus.openreview.objects import Edit, Note, decode_leniently, everyone_may_read, read_edit, read_note

GROUPS = st.sampled_from(["everyone", "(guest)", "Everyone", "everyone ", "V/Program_Chairs", "~Ada_Example1", ""])
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.sampled_from(["everyone", "not everyone", {}, {"everyone": 1}])
)
NAMES = st.one_of(st.lists(GROUPS, max_size=4), st.lists(st.one_of(GROUPS, ODD), max_size=3), ODD)
ABSENT = "absent"
GIVEN = st.one_of(st.just(ABSENT), NAMES)


def members(readers: object, nonreaders: object) -> dict[str, Any]:
    named = {"readers": readers, "nonreaders": nonreaders}
    return {name: value for name, value in named.items() if value != ABSENT}


def is_plainly_open(readers: object, nonreaders: object) -> bool:
    """The rule once more: both are lists of names, of which the second may be missing, and only the first lets in."""
    lists = [readers, [] if nonreaders in (ABSENT, None) else nonreaders]
    if not all(isinstance(names, list) and all(type(name) is str for name in names) for names in lists):
        return False
    allowed, refused = lists
    return "everyone" in allowed and not {"everyone", "(guest)"}.intersection(refused)  # type: ignore[operator, arg-type]


@given(GIVEN, GIVEN)
def test_unclear_readers_are_never_public(readers: object, nonreaders: object) -> None:
    stated = members(readers, nonreaders)
    right = is_plainly_open(readers, nonreaders)
    assert everyone_may_read(stated.get("readers"), stated.get("nonreaders")) is right
    body = json.dumps({"id": "n", "content": {"review": {"value": "Clear."}}} | stated).encode()
    assert decode_leniently(Note, body).is_public is right
    assert decode_leniently(Edit, json.dumps({"id": "e", "note": {}} | stated).encode()).is_public is right


@given(GIVEN, GIVEN, st.booleans())
def test_unclear_readers_hide_a_field(readers: object, nonreaders: object, is_v1: bool) -> None:
    answer = {"value": "For the chairs."} | members(readers, nonreaders)
    more = {"invitation": "V/-/Official_Review"} if is_v1 else {"invitations": ["V/-/Official_Review"]}
    note = read_note(json.dumps({"id": "n", "readers": ["everyone"], "content": {"secret": answer}} | more).encode())
    allowed = ["everyone"] if readers == ABSENT else readers
    assert ("secret" in note.fields) is is_plainly_open(allowed, nonreaders)


def test_readers_left_out_are_not_everyone() -> None:
    assert not read_note(b'{"id":"n"}').is_public
    assert not read_note(b'{"id":"n","readers":null}').is_public
    assert not read_note(b'{"id":"n","readers":[]}').is_public
    assert not read_note(b'{"id":"n","readers":["everyone"],"nonreaders":["everyone"]}').is_public
    assert not read_edit(b'{"id":"e","note":{"readers":["everyone"]}}').is_public
    assert read_note(b'{"id":"n","readers":["everyone"],"nonreaders":["V/Submission1/Authors"]}').is_public
