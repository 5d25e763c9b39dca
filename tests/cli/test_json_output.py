"""The output of --json: one document with the documented keys, and the same exit codes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from commands import Run, assert_refused
from peercorpus.cli.text.json_keys import JSON_KEYS

DOCS = Path(__file__).parents[2] / "docs"


def keys_of(document: Any) -> set[str]:
    """Return the keys of a document as documented: those of a list's items if they are documented."""
    if isinstance(document, list):
        return {f"[].{key}" for item in document for key in item}
    return set(document)


@pytest.fixture(scope="module")
def forum_id(demo_folder: Path) -> str:
    import peercorpus

    return str(peercorpus.open(demo_folder / "corpus").papers().collect()["forum_id"][0])


LINES = {
    "status": "status W",
    "verify": "verify R",
    "diff": "diff R R",
    "show": "show ID -w W",
    "takedown": "takedown --list -w W",
    "venues": "venues ICLR2024",
    "audit grades": "audit grades W",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", LINES)
def test_a_document_has_the_documented_keys(run: Run, demo_folder: Path, forum_id: str, command: str) -> None:
    places = {"W": demo_folder / "corpus", "R": demo_folder / "release", "ID": forum_id}
    line = [places.get(word, word) for word in LINES[command].split()]
    ended, plain = run(*line, "--json", "-q"), run(*line)
    assert (ended.code, ended.err) == (plain.code, "")
    document = json.loads(ended.out)
    documented = JSON_KEYS[command]
    tops = {key.partition("[].")[0] for key in documented if not key.startswith("[].")} | {
        key for key in documented if key.startswith("[].")
    }
    assert keys_of(document) == tops
    for name in {key.partition("[].")[0] for key in documented if "[]." in key} - {""}:
        assert keys_of(document[name]) == {key.removeprefix(name) for key in documented if key.startswith(f"{name}[].")}
    page = (DOCS / "cli" / f"{command.split()[0]}.md").read_text(encoding="utf-8")
    assert [key for key in documented if f"| `{key}` |" not in page] == []


def test_the_keys_of_the_leak_audit_are_those_that_are_documented() -> None:
    source = (Path(__file__).parents[2] / "src/peercorpus/audit/report.py").read_text(encoding="utf-8")
    body = source.partition("def audit_to_dict")[2].partition("\n\n\n")[0]
    assert set(re.findall(r'^        "(\w+)": ', body, re.MULTILINE)) == set(JSON_KEYS["audit leaks"])


@pytest.mark.slow
def test_a_paper_is_shown_by_the_url_of_its_forum(run: Run, demo_folder: Path, forum_id: str) -> None:
    by_id = run("show", forum_id, "-w", demo_folder / "corpus")
    for url in (
        f"https://openreview.net/forum?id={forum_id}",
        f"https://openreview.net/forum?id={forum_id}&noteId=abc#discussion",
        f"openreview.net/pdf?id={forum_id}",
    ):
        assert run("show", url, "-w", demo_folder / "corpus") == by_id
    for url in ("https://openreview.net/forum", f"https://example.org/forum?id={forum_id}", "https://openreview.net/"):
        assert_refused(run("show", url, "-w", demo_folder / "corpus"), f"'{url}'", "forum?id=")
    assert_refused(run("show", forum_id, "-w", demo_folder / "corpus", "--json", "--brief"), "--brief")


@pytest.mark.slow
def test_a_shown_document_has_no_authors_and_only_public_records(run: Run, demo_folder: Path, forum_id: str) -> None:
    shown = json.loads(run("show", forum_id, "-w", demo_folder / "corpus", "--json").out)
    assert "authors" not in shown["paper"]
    rows = [*shown["reviews"], *shown["posts"], *shown["ai_reviews"]]
    assert rows
    assert all(row["readers_public"] and not row["deleted"] for row in rows)


@pytest.mark.slow
def test_json_of_a_failing_release_reports_it_with_the_same_exit_code(
    run: Run, demo_folder: Path, tmp_path: Path
) -> None:
    import shutil

    release = tmp_path / "release"
    shutil.copytree(demo_folder / "release", release)
    with (release / "README.md").open("a", encoding="utf-8") as card:
        card.write("changed")
    ended = run("verify", release, "--json")
    document = json.loads(ended.out)
    assert (ended.code, document["holds"]) == (1, False)
    assert {"README.md"} == {breach["file"] for check in document["checks"] for breach in check["first_faults"]}
    assert_refused(run("verify", tmp_path / "none", "--json"), "none")
