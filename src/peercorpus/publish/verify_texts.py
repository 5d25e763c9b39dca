"""Whether a release holds nothing it must not: what was taken down, addresses of people, texts of later versions."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from peercorpus.kinds import PUBLISHABLE_GRADES
from peercorpus.openreview.objects import blot_people
from peercorpus.publish.checks import Check
from peercorpus.publish.opened import KEYS, Release, Shard
from peercorpus.publish.splits import Side
from peercorpus.publish.takedown import Takedown

GRADES = {grade.value for grade in PUBLISHABLE_GRADES}
Row = dict[str, Any]


def texts_in(value: Any, column: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 -- whatever a row holds
    r"""Every text of a row with the name of its column; one that holds JSON is taken apart first.

    >>> list(texts_in({"a": ["x", 1], "reviews_json": '[{"b": "\\ny"}]'}))
    [('a', 'x'), ('b', '\ny')]
    """
    if isinstance(value, str):
        held = _json(value) if column.endswith("_json") or column == "extra" else None
        if held is None:
            yield column, value
        else:
            yield from texts_in(held)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from texts_in(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner, column)


def _json(text: str) -> Any:  # noqa: ANN401 -- whatever JSON holds
    """What stands in JSON; None where it is none, or holds no more than one value."""
    try:
        held = json.loads(text)
    except ValueError:
        return None
    return held if isinstance(held, dict | list) else None


def id_of(shard: Shard, row: Row) -> str:
    """What names a row."""
    return str(row.get(KEYS.get(shard.config, ("forum_id",))[0]))


class TakenDown:
    """Nothing that was taken down is anywhere."""

    def __init__(self, takedown: Takedown | None) -> None:
        self.check = Check("takedown", "row")
        if takedown is None:
            self.check.left_out.append("no workspace was named whose takedown.txt it could be held to")
            takedown = Takedown()
        listed = {one.listed for one in takedown.ids}
        self._gone = listed | takedown.forums | takedown.posts | takedown.files

    def see(self, shard: Shard, row: Row, texts: list[tuple[str, str]]) -> None:
        """Look at one row; at nothing where it is not known what was taken down."""
        self.check.looked_at += not self.check.left_out
        found = next((column for column, text in texts if text in self._gone), None)
        if found is not None:
            self.check.breach(shard.name, id_of(shard, row), f"holds in '{found}' an id that was taken down")

    def look_at_sides(self, release: Release) -> None:
        """Look at the files that name papers by side."""
        for path in release.split_files():
            text = path.read_bytes()
            name = path.relative_to(release.folder).as_posix()
            for one in sorted(one for one in self._gone if json.dumps(one).encode() in text):
                self.check.breach(name, one, "was taken down")


class Leaks:
    """Nobody's address or profile stands in a text; no text is of a later version; no tested text is trained on."""

    def __init__(self, sides: Mapping[str, Side]) -> None:
        self.check = Check("leaks", "text")
        self._sides = sides
        self._with_text: dict[str, str] = {}
        self._grades: dict[str, str | None] | None = None
        self._texts: dict[bytes, tuple[str, Side]] = {}

    def see(self, shard: Shard, row: Row, texts: list[tuple[str, str]]) -> None:
        """Look at one row."""
        self.check.looked_at += len(texts)
        for column, text in texts:
            if ("@" in text or "~" in text) and blot_people(text) != text:
                self.check.breach(shard.name, id_of(shard, row), f"names a person's address or profile in '{column}'")
        forum_id = str(row.get("forum_id"))
        if shard.config == "papers_full":
            self._grades = self._grades or {}
            self._grades[forum_id] = row.get("grade")
        if row.get("markdown"):
            self._with_text.setdefault(forum_id, shard.name)
            if "grade" in row and row["grade"] not in GRADES and shard.config != "papers_full":
                self.check.breach(shard.name, forum_id, "has a text without a grade that may be published")
            self._look_at_text(shard, forum_id, row["markdown"])

    def _look_at_text(self, shard: Shard, forum_id: str, markdown: str) -> None:
        side = self._sides.get(forum_id)
        if side is None:
            return
        digest = hashlib.blake2b(markdown.encode(), digest_size=16).digest()
        other, its_side = self._texts.setdefault(digest, (forum_id, side))
        if its_side is not side:
            self.check.breach(shard.name, forum_id, f"has the text of '{other}': one is in {side}, one in {its_side}")

    def end(self) -> Check:
        """What was found, once every row was seen."""
        if self._grades is None:
            self.check.left_out.append("grades of texts: the release has no 'papers_full'")
        else:
            for forum_id, name in self._with_text.items():
                if self._grades.get(forum_id) not in GRADES:
                    self.check.breach(name, forum_id, "has a text without a grade that may be published")
        if not self._sides:
            self.check.left_out.append("texts on two sides: the release names no sides")
        return self.check
