"""`scripts/sameness` reports differences between two versions of the code, ignoring the versions themselves."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from canonical import Canon, Section

SCRIPT = Path(__file__).parents[1] / "scripts" / "sameness" / "digest_outputs.py"
TEXTS = [
    {"sha256": "aa", "engine": "plain", "engine_version": "0123456789ab", "markdown": "one"},
    {"sha256": "bb", "engine": "plain", "engine_version": "0123456789ab", "markdown": "two"},
]

Entry = dict[str, object]
Digests = dict[str, Entry]


def digested(rows: list[dict[str, str]], *, in_order: bool = False) -> tuple[str, dict[str, str]]:
    """The digest of rows, and of each of their columns."""
    canon = Canon("demo")
    canon.put_rows("texts", pl.DataFrame(rows), in_order=in_order)
    entry = canon.entries["demo/texts"]
    return entry.sha256, dict(entry.columns)


def changed(column: str, value: str) -> list[dict[str, str]]:
    """Return the rows with a different value in the last one."""
    return [TEXTS[0], TEXTS[1] | {column: value}]


def test_a_changed_value_changes_only_the_digests_of_the_rows_and_of_its_column() -> None:
    (before, columns), (after, now) = digested(TEXTS), digested(changed("markdown", "three"))
    assert before != after
    assert [name for name in columns if columns[name] != now[name]] == ["markdown"]


def test_code_versions_are_not_in_digests_of_rows() -> None:
    assert digested(TEXTS) == digested(changed("engine_version", "3"))


@pytest.mark.parametrize(("in_order", "is_same"), [(True, False), (False, True)])
def test_row_order_matters_in_files_but_not_in_tables(in_order: bool, is_same: bool) -> None:
    assert (digested(TEXTS, in_order=in_order) == digested(TEXTS[::-1], in_order=in_order)) is is_same


def test_versions_checksums_and_durations_in_texts_are_ignored(tmp_path: Path) -> None:
    digests = []
    for content, version, took in (("a", "0123456789ab", "in 3 s"), ("b", "ba9876543210", "in 14 s")):
        canon = Canon("demo")
        (tmp_path / "rows.jsonl").write_text(content)
        canon.know_sums(tmp_path)
        canon.know_versions([version], "version of the engine")
        total = hashlib.sha256(content.encode()).hexdigest()
        said = f"Read by plain {version} {took}; the file is {total}, in short {total[:12]}."
        canon.put_text("said", said, Section.WORDS)
        digests.append(canon.entries)
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("key", "file_name", "is_same"),
    [
        ("engine_version", "", True),
        ("seconds", "", True),
        ("peercorpus", "inputs.json", True),
        ("peercorpus", "", False),
        ("pages", "", False),
    ],
)
def test_only_versions_are_ignored_in_json(key: str, file_name: str, is_same: bool) -> None:
    digests = []
    for value in ("1", "2"):
        canon = Canon("demo")
        canon.put_json("status", json.dumps({"venues": [{key: value, "papers": 3}]}), file_name)
        digests.append(canon.entries)
    assert (digests[0] == digests[1]) is is_same


def compared(folder: Path, before: Digests, after: Digests, *more: str) -> tuple[int, list[str]]:
    """The exit code and the lines of a comparison."""
    paths = [folder / "before.json", folder / "after.json"]
    for path, digests in zip(paths, (before, after), strict=True):
        path.write_text(json.dumps({"digests": digests}))
    command = [sys.executable, str(SCRIPT), "compare", *map(str, paths), *more]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.stderr == ""
    return run.returncode, run.stdout.splitlines()


def entry(section: str, digest: str, **columns: str) -> Entry:
    """A digest as written in the file."""
    return {"section": section, "sha256": digest, "columns": columns}


def test_a_comparison_names_changes_additions_and_removals(tmp_path: Path) -> None:
    before = {"demo/texts": entry("data", "1", markdown="1", pages="1"), "demo/old": entry("data", "1")}
    after = {"demo/texts": entry("data", "2", markdown="2", pages="1"), "demo/new": entry("data", "1")}
    code, lines = compared(tmp_path, before, after)
    assert code == 1
    assert lines[0] == "== data: 3 differ"
    assert lines[1:4] == ["only before: demo/old", "only after: demo/new", "differs: demo/texts (columns markdown)"]


@pytest.mark.parametrize(
    ("section", "more", "code"),
    [
        ("data", (), 1),
        ("data", ("--ignoring", "words"), 1),
        ("words", (), 1),
        ("words", ("--ignoring", "words"), 0),
        ("versions", (), 0),
    ],
)
def test_data_and_wording_count_unless_wording_may_differ_and_versions_never_count(
    tmp_path: Path, section: str, more: tuple[str, ...], code: int
) -> None:
    found, lines = compared(tmp_path, {"it": entry(section, "1")}, {"it": entry(section, "2")}, *more)
    assert found == code
    assert "differs: it" in lines
