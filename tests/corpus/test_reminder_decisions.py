"""`reminders.tsv`: what its lines mean, what is refused, and what editing it leaves unchanged."""

from datetime import date
from pathlib import Path

import pytest

from peercorpus.corpus.reminder_decisions import (
    LIST,
    Decision,
    Verdict,
    read_decisions,
    write_decisions,
)
from peercorpus.errors import PeercorpusError

DAY = date(2026, 11, 23)


def test_a_line_has_decision_date_note(tmp_path: Path) -> None:
    lines = ["# mine", "", "a1\treminder\t2026-11-23\tonly thanks", "b/2:c\tkeep", "b/2:c\tkeep\t\tagain\r"]
    (tmp_path / LIST).write_text("\n".join(lines), encoding="utf-8-sig")
    assert list(read_decisions(tmp_path).values()) == [
        Decision("a1", Verdict.REMINDER, DAY, "only thanks"),
        Decision("b/2:c", Verdict.KEEP, None, "again"),
    ]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("a1", "Line 1 .* it has 1 fields"),
        ("# x\na1\treminder\t\t\tmore", "Line 2 .* it has 5 fields"),
        ("two words\tkeep", "Line 1 .* does not begin with the id"),
        ("a1\tdrop", "'drop' is not a decision"),
        ("a1\tkeep\tsoon", "'soon' is not a day"),
        ("a1\tkeep\nb\tkeep\na1\treminder", "Lines 1 and 3 .* contradict each other: 'a1' is 'keep' and 'reminder'"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, content: str, named: str) -> None:
    (tmp_path / LIST).write_text(content)
    for act in (lambda: read_decisions(tmp_path), lambda: write_decisions(tmp_path, [Decision("c", Verdict.KEEP)])):
        with pytest.raises(PeercorpusError, match=named):
            act()
    assert (tmp_path / LIST).read_text() == content


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / LIST).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PeercorpusError, match="UTF-8"):
        read_decisions(tmp_path)


def test_a_new_decision_keeps_comments(tmp_path: Path) -> None:
    (tmp_path / LIST).write_text("# mine\na1\tkeep\nb1\tkeep\tsomething\n".replace("something", "2026-01-02"))
    write_decisions(tmp_path, [Decision("a1", Verdict.REMINDER, DAY, "two\tfields\nand lines")], undone=["b1"])
    assert (tmp_path / LIST).read_text() == "# mine\na1\treminder\t2026-11-23\ttwo fields and lines\n"
    assert [path.name for path in tmp_path.iterdir()] == [LIST]


def test_a_new_file_explains_its_columns(tmp_path: Path) -> None:
    write_decisions(tmp_path, [Decision("a1", Verdict.KEEP)])
    first, second = (tmp_path / LIST).read_text().splitlines()
    assert first.split("\t") == ["# post", "decision (reminder, keep)", "date", "note"]
    assert second == "a1\tkeep"
