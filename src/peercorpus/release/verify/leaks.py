"""Check that a release has nothing taken down, no personal addresses, and only accepted texts in its tasks.

Discussions before a meta-review must not contain posts from after the decision.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from peercorpus.corpus.takedown import Takedown
from peercorpus.corpus.text_choice import is_grade_accepted
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.release.exports.meta_reviews import list_posts
from peercorpus.release.folder import Release, Shard
from peercorpus.release.shards import EVERY_CONFIG
from peercorpus.release.splits import Split, Task
from peercorpus.release.task_tables import CONFIG
from peercorpus.release.verify.files import Check
from peercorpus.wording.untrusted_text import redact_people

_NEVER_INITIAL = (Grade.UNSTATED, Grade.UNAVAILABLE)
"""Grades of versions that do not count as initial."""
PAPERS = frozenset({"papers", "papers_full"})
"""Configurations whose texts have the grade stated in `papers_full`."""
TASKS = frozenset(CONFIG.values())
"""Configurations whose texts must be accepted by the release as those the reviewers read."""
POSTED = {"posts": "post_id", "reviews": "review_id"}
"""Configurations with times of posting, and their column of ids."""
Row = dict[str, Any]


def texts_in(value: Any) -> list[tuple[str, str]]:  # noqa: ANN401 -- any value of a row
    r"""Return every text of a row with the name of its column; JSON inside a text is decoded first.

    >>> texts_in({"a": ["x", 1], "reviews_json": '[{"b": "\\ny"}]'})
    [('a', 'x'), ('b', '\ny')]
    """
    texts: list[tuple[str, str]] = []
    _collect(value, "", texts)
    return texts


def _collect(value: Any, column: str, texts: list[tuple[str, str]]) -> None:  # noqa: ANN401 -- any value of a row
    """Append the texts in a value of a column; with millions of texts, nested generators would be too slow."""
    if isinstance(value, str):
        decoded = _decode_json(value) if column.endswith("_json") or column == "extra" else None
        if decoded is None:
            texts.append((column, value))
        else:
            _collect(decoded, "", texts)
    elif isinstance(value, dict):
        for name, inner in value.items():
            _collect(inner, name, texts)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, column, texts)


def _decode_json(text: str) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the object or list that a text encodes as JSON; None if it encodes neither."""
    try:
        decoded = json.loads(text)
    except ValueError:
        return None
    return decoded if isinstance(decoded, dict | list) else None


def row_id(shard: Shard, row: Row) -> str:
    """Return the id of a row."""
    config = EVERY_CONFIG.get(shard.config)
    return str(row.get(config.key[0] if config else "forum_id"))


def _digest(markdown: str) -> bytes:
    return hashlib.blake2b(markdown.encode(), digest_size=16).digest()


class TakenDown:
    """Check that nothing that was taken down is in the release."""

    def __init__(self, takedown: Takedown | None) -> None:
        self.check = Check("takedown", "row")
        if takedown is None:
            self.check.left_out.append("no workspace was given, whose takedown.txt would be compared; add --workspace")
            takedown = Takedown()
        self._gone = takedown.named

    def see(self, shard: Shard, row: Row, texts: list[tuple[str, str]]) -> None:
        """Check one row; it counts as checked only if the take-down list is known."""
        self.check.looked_at += not self.check.left_out
        leaking_column = next((column for column, text in texts if text in self._gone), None)
        if leaking_column is not None:
            self.check.rows += 1
            self.check.breach(shard.name, row_id(shard, row), f"has in '{leaking_column}' an id that was taken down")

    def look_at_splits(self, release: Release) -> None:
        """Check the files that list papers by split."""
        for path in release.split_files():
            text = path.read_bytes()
            name = path.relative_to(release.folder).as_posix()
            for listed_id in sorted(listed_id for listed_id in self._gone if json.dumps(listed_id).encode() in text):
                self.check.breach(name, listed_id, "was taken down")


class Leaks:
    """Check for personal addresses and profiles, unaccepted texts in tasks, and texts in two splits.

    Configurations other than tasks may contain any text, as long as its stated grade is not too good.
    """

    def __init__(self, splits: Mapping[str, Split], worst_grade: Grade, *, are_stated: bool = False) -> None:
        """Use these splits; if a published dataset states them, texts in two splits are only counted."""
        self._are_stated = are_stated
        self._apart_as_stated = 0
        self.check = Check("leaks", "text")
        self._splits = splits
        self._worst_grade = worst_grade
        self._texts: dict[bytes, tuple[str, Split]] = {}
        self._grades: dict[str, str | None] | None = None
        self._papers: dict[str, dict[str, bytes]] = {}
        self._tasks: dict[str, dict[str, bytes]] = {}
        self._versions: dict[str, dict[bytes, set[str | None]]] = {}
        self._late_posts = set[str]()
        self._discussed: dict[str, str] = {}

    def see(self, shard: Shard, row: Row, texts: list[tuple[str, str]]) -> None:
        """Check one row."""
        self.check.looked_at += len(texts)
        for column, text in texts:
            if ("@" in text or "~" in text) and redact_people(text) != text:
                self.check.breach(shard.name, row_id(shard, row), f"names a person's address or profile in '{column}'")
        if shard.config == "papers_full":
            self._grades = self._grades or {}
            self._grades[str(row.get("forum_id"))] = row.get("grade")
        if shard.config in POSTED and row.get("posted_after_decision") is True:
            self._late_posts.add(row[POSTED[shard.config]])
        if shard.config == CONFIG[Task.META_REVIEW]:
            self._discussed |= dict.fromkeys(list_posts(row), shard.name)
        if row.get("markdown"):
            self._see_text(shard, str(row.get("forum_id")), row, _digest(row["markdown"]))

    def _see_text(self, shard: Shard, forum_id: str, row: Row, digest: bytes) -> None:
        grade = row.get("grade")
        if shard.config == "texts":
            self._versions.setdefault(forum_id, {}).setdefault(digest, set()).add(grade)
            impossible = {None, *_NEVER_INITIAL} if row.get("is_initial") else PUBLISHABLE_GRADES
            if grade in impossible:
                self.check.breach(shard.name, row_id(shard, row), "has a grade that contradicts 'is_initial'")
        elif shard.config in PAPERS:
            self._papers.setdefault(forum_id, {})[shard.name] = digest
        elif shard.config in TASKS:
            self._tasks.setdefault(forum_id, {})[shard.name] = digest
            if not is_grade_accepted(grade, self._worst_grade):
                self._breach_task(shard.name, forum_id)
        self._look_at_splits(shard, forum_id, digest)

    def _breach_task(self, name: str, forum_id: str) -> None:
        self.check.breach(name, forum_id, f"has a text whose grade is not '{self._worst_grade}' or better")

    def _look_at_splits(self, shard: Shard, forum_id: str, digest: bytes) -> None:
        split = self._splits.get(forum_id)
        if split is None:
            return
        other, its_split = self._texts.setdefault(digest, (forum_id, split))
        if its_split is not split and self._are_stated:
            self._apart_as_stated += 1
        elif its_split is not split:
            self.check.breach(shard.name, forum_id, f"has the text of '{other}': one is in {split}, one in {its_split}")

    def end(self) -> Check:
        """Return the result, once every row was seen."""
        if self._grades is None:
            self.check.left_out.append("grades of texts: the release has no 'papers_full'")
        for forum_id, by_file in self._papers.items():
            for name, digest in by_file.items():
                self._look_at_paper(name, forum_id, digest)
        for forum_id, by_file in self._tasks.items():
            for name, digest in by_file.items():
                self._look_at_task(name, forum_id, digest)
        for post_id in sorted(self._discussed.keys() & self._late_posts):
            self.check.breach(self._discussed[post_id], post_id, "was posted after the decision")
        if self._apart_as_stated:
            texts = f"{self._apart_as_stated:,} texts in two splits"
            self.check.left_out.append(f"{texts}, as a published dataset states them")
        if not self._splits:
            self.check.left_out.append("texts in two splits: the release names no splits")
        return self.check

    def _look_at_paper(self, name: str, forum_id: str, digest: bytes) -> None:
        """Check that `papers_full` and `texts` agree on the grade of a text."""
        grades = self._versions.get(forum_id, {}).get(digest)
        if self._grades is not None and grades is not None and self._grades.get(forum_id) not in grades:
            self.check.breach(name, forum_id, "has a text whose grade in 'texts' is another than in 'papers_full'")

    def _look_at_task(self, name: str, forum_id: str, digest: bytes) -> None:
        """Check that a text in a task has an accepted grade in `papers_full` and `texts`."""
        if self._grades is not None and not is_grade_accepted(self._grades.get(forum_id), self._worst_grade):
            self._breach_task(name, forum_id)
        grades = self._versions.get(forum_id, {}).get(digest)
        if grades is not None and not any(is_grade_accepted(grade, self._worst_grade) for grade in grades):
            self.check.breach(name, forum_id, "has the text of a version that the tasks do not accept")
