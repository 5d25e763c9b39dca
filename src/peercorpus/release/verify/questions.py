"""Check that `eval.yaml` and its questions agree with the rest of the release."""

import hashlib

from peercorpus.errors import PeercorpusError
from peercorpus.release.eval_file import CONFIG, EVAL_FILE, make_question, render_eval_file
from peercorpus.release.folder import Release, Shard
from peercorpus.release.provenance import VERSION, read_inputs
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split, Task
from peercorpus.release.task_tables import CONFIG as CONFIG_OF
from peercorpus.release.verify.files import Check


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
