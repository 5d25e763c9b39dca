"""The whole record of a paper as JSON, of what may be shown alone, and with nobody's address in it."""

from collections.abc import Sequence

import msgspec

from peercorpus.explorer.public_forums import PublicForum
from peercorpus.file_records import Change, Link
from peercorpus.openreview.objects import blot_people
from peercorpus.publish.record_rows import Row, as_row, blotted_json


def whole_json(forum: PublicForum, links: Sequence[Link], changes: Sequence[Change]) -> bytes:
    """The records as the tables have them, by the names of `WholeRecord`."""
    record = {
        "paper": _row(forum.paper),
        "reviews": [_row(one) for one in forum.reviews],
        "posts": [_row(one) for one in forum.posts],
        "versions": [_row(one) for one in forum.versions],
        "conversations": [_row(one) for one in forum.conversations],
        "links": [_row(one) for one in links],
        "changes": [_row(one) for one in changes],
    }
    return msgspec.json.format(msgspec.json.encode(record), indent=1)


def _row(record: object) -> Row:
    row = as_row(record)
    if "extra" in row:
        row["extra"] = blotted_json(row["extra"])
    blotted: Row = blot_people(row)
    return blotted
