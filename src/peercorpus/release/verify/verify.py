"""Run all checks of a release in one pass over its rows."""

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from peercorpus.corpus.takedown import read_takedown
from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.release.eval_file import CONFIG, EVAL_FILE, make_question, render_eval_file
from peercorpus.release.folder import Release, Shard
from peercorpus.release.provenance import INPUTS, VERSION, ChangedInput, find_moved, read_inputs, read_worst_grade
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split, Task
from peercorpus.release.task_tables import CONFIG as CONFIG_OF
from peercorpus.release.verify.files import Check, check_schema, check_sums
from peercorpus.release.verify.ids import Ids, SplitsAgree, check_links, read_id_rows
from peercorpus.release.verify.leaks import Leaks, TakenDown, texts_in
from peercorpus.workspace.workspace import Workspace


class Reference(NamedTuple):
    """Columns of one configuration whose combined values must occur in columns of another one."""

    config: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]


REFERENCES = (
    Reference("scores", ("review_id",), "reviews", ("review_id",)),
    Reference("meta_reviews", ("forum_id", "post_id"), "posts", ("forum_id", "post_id")),
    Reference("texts", ("forum_id", "edit_id", "sha256"), "versions", ("forum_id", "edit_id", "sha256")),
    Reference("changes", ("forum_id", "left_sha256"), "texts", ("forum_id", "sha256")),
    Reference("points", ("review_id",), "reviews", ("review_id",)),
    Reference("answers", ("point_id", "review_id"), "points", ("point_id", "review_id")),
    Reference("answers", ("forum_id", "post_id"), "posts", ("forum_id", "post_id")),
    Reference("changes", ("forum_id", "right_sha256"), "versions", ("forum_id", "sha256")),
)


class References:
    """Checks `REFERENCES`; for each value, a hash and one row are kept."""

    def __init__(self, check: Check) -> None:
        """Record breaches in a check of ids."""
        self._check = check
        self._wanted: dict[Reference, dict[int, tuple[str, str]]] = {reference: {} for reference in REFERENCES}
        self._held: dict[Reference, set[int]] = {reference: set() for reference in REFERENCES}

    def see(self, shard: Shard, row: Row) -> None:
        """Take one row."""
        for reference in REFERENCES:
            if reference.config == shard.config:
                key = tuple(row.get(column) for column in reference.columns)
                self._wanted[reference].setdefault(hash(key), (shard.name, "/".join(map(str, key))))
            if reference.target == shard.config:
                self._held[reference].add(hash(tuple(row.get(column) for column in reference.target_columns)))

    def end(self) -> None:
        """Record dangling references, once every row has been seen."""
        for reference, wanted in self._wanted.items():
            for key in sorted(wanted.keys() - self._held[reference], key=wanted.__getitem__):
                file, row_id = wanted[key]
                self._check.breach(file, row_id, f"is not in '{reference.target}'")


def _digest(row: Row) -> bytes:
    return hashlib.blake2b(f"{row.get('target')}\0{row.get('question')}".encode(), digest_size=16).digest()


class Questions:
    """Check that each question matches its paper in `review_sft`, and that no test paper lacks one.

    The wording of a question belongs to the version that published it, so a release of another version is not compared.
    """

    def __init__(self, release: Release) -> None:
        self.check = Check("questions", "question")
        self._release = release
        self._asked: dict[str, tuple[str, bytes]] = {}
        self._expected: dict[str, tuple[str, bytes]] = {}
        try:
            inputs = read_inputs(release.folder)
        except PeercorpusError:
            inputs = None
        self._is_compared = inputs is not None and inputs.publishing == VERSION

    def see(self, shard: Shard, row: Row) -> None:
        """Check one row."""
        if shard.config == CONFIG:
            self.check.looked_at += 1
            if shard.split != Split.TEST:
                self.check.breach(shard.name, row.get("forum_id"), "is a question about a paper that is not tested on")
            self._asked[str(row.get("forum_id"))] = shard.name, _digest(row)
        elif self._is_compared and shard.config == CONFIG_OF[Task.REVIEW] and shard.split == Split.TEST:
            question = make_question(row)
            if question is not None:
                self._expected[str(row.get("forum_id"))] = shard.name, _digest(question)

    def end(self) -> Check:
        """Return the result, once every row was seen."""
        if not self._asked and not self._expected:
            self.check.left_out.append("the release has no questions to test models on")
            return self.check
        if not self._is_compared:
            self.check.left_out.append("the words of questions: another version of peercorpus published the release")
            return self.check
        for forum_id, (name, digest) in self._asked.items():
            if self._expected.get(forum_id, ("", b""))[1] != digest:
                self.check.breach(name, forum_id, "is not what is asked about this paper of the test split")
        for forum_id, (name, _) in self._expected.items():
            if forum_id not in self._asked:
                self.check.breach(name, forum_id, f"has no question in '{CONFIG}'")
        self._check_file()
        return self.check

    def _check_file(self) -> None:
        path = self._release.folder / EVAL_FILE
        stated = path.read_bytes().decode(errors="replace") if EVAL_FILE in self._release.manifest.files else None
        expected = render_eval_file() if self._asked else None
        if stated != expected:
            self.check.breach(EVAL_FILE, None, "is not what this version writes for the questions of the release")


@dataclass(frozen=True, slots=True)
class Verification:
    """The results of all checks.

    Attributes:
        moved: Inputs of the workspace that differ from those of the release; None if that is not known.
        is_compared: Whether a workspace was given.
    """

    checks: list[Check]
    moved: list[ChangedInput] | None
    is_compared: bool

    @property
    def holds(self) -> bool:
        """Whether no check found a breach."""
        return not any(check.found for check in self.checks)


def verify_release(release: Release, workspace: Workspace | None = None, show: Show = show_nothing) -> Verification:
    """Check a release in all respects.

    Args:
        release: The release.
        workspace: Workspace whose `takedown.txt` and tables are compared with the release; None compares neither.
        show: Receives the number of files read.

    Raises:
        PeercorpusError: A line of `takedown.txt` is not a valid id.
    """
    sums = check_sums(release)
    release = release.of_what_is_there()
    schema = check_schema(release)
    ids, splits = Ids(release), SplitsAgree(release)
    references = References(ids.check)
    questions = Questions(release)
    taken_down = TakenDown(read_takedown(workspace) if workspace else None)
    leaks = Leaks(splits.used, _find_worst_grade(release), are_stated=splits.are_stated)
    taken_down.look_at_splits(release)
    shards = release.shards()
    meter = Meter(release.folder.name, "verifying files", show)
    for done, shard in enumerate(shards, 1):
        for row in read_id_rows(shard, ids.check):
            texts = texts_in(row)
            ids.see(shard, row)
            references.see(shard, row)
            splits.see(shard, row)
            taken_down.see(shard, row, texts)
            leaks.see(shard, row, texts)
            questions.see(shard, row)
        meter.report(done, len(shards))
    references.end()
    links = check_links(release, splits)
    checks = [sums, schema, ids.check, splits.end(), links, taken_down.check, leaks.end(), questions.end()]
    moved = _find_moved(release, workspace, sums) if workspace else None
    return Verification(checks, moved, workspace is not None)


def _find_worst_grade(release: Release) -> Grade:
    """Return the worst grade that the tasks accept; by the strictest rule if the release does not state it."""
    try:
        return read_worst_grade(release.folder)
    except PeercorpusError:
        return PUBLISHABLE_GRADES[-1]


def _find_moved(release: Release, workspace: Workspace, sums: Check) -> list[ChangedInput] | None:
    try:
        inputs = read_inputs(release.folder)
    except PeercorpusError:
        sums.breach(INPUTS, None, "cannot be read, so it was not compared with the workspace")
        return None
    return find_moved(inputs, workspace) if inputs else None
