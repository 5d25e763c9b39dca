"""Which papers of a workspace are audited: none that is taken down."""

from pathlib import Path

import pytest

from invented_tables import ICLR, ICML, a_forum, invented, paper, text, version
from peercorpus.audit.inputs import workspace_source
from peercorpus.corpus.takedown import read_takedown
from peercorpus.records.enums import Grade

pytestmark = pytest.mark.slow


def test_a_paper_that_is_taken_down_is_not_audited_and_no_report_quotes_it(tmp_path: Path) -> None:
    twin = [paper("g1", ICML), version("g1", "sha-f2", Grade.EXACT, ICML), text("sha-f2", "# XYZZY", ICML)]
    venues = {ICLR: [*a_forum("f1"), *a_forum("f2", markdown="# XYZZY")], ICML: twin}
    with invented(tmp_path / "corpus", venues) as workspace:
        (workspace.folder / "takedown.txt").write_text("f2\n")
        taken = read_takedown(workspace)
        found = list(workspace_source(workspace, taken.forums, taken.files).entries())
        everything = list(workspace_source(workspace).entries())
    assert [(one.record_id, one.text) for one in everything if one.text == "# XYZZY"] != []
    assert sorted((str(one.record_id), one.text, one.why_not) for one in found) == [
        ("None", None, "taken down"),
        ("f1", "# Text of f1", None),
        ("g1", None, None),
    ]
