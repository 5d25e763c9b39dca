"""What commands print of one paper with one review: no noun is in the plural after 1."""

import re
from pathlib import Path

import pytest

from commands import Run
from small_venues import fill

ONE_OF_MANY = re.compile(r"(?<![\w.,:/-])1 ([A-Za-z]+s)\b")
NO_PLURALS = {"across", "as", "has", "is", "plus", "this", "was", "its"}
"""Words that may follow 1, although they end in s."""

COMMANDS = (
    ("build", "corpus"),
    ("build", "corpus"),
    ("status", "corpus"),
    ("status", "corpus", "--all"),
    ("check", "corpus"),
    ("publish", "corpus", "--out", "release"),
    ("verify", "release"),
    ("diff", "release", "release"),
    ("table1", "-w", "release"),
    ("forms",),
    ("show", "paper0", "-w", "corpus"),
    ("pdfs", "corpus", "--to", "pdfs"),
    ("audit", "grades", "corpus"),
    ("recipe", "reviewbench"),
    ("recipe", "re2"),
)


def plurals(text: str) -> list[str]:
    return [found[0] for found in ONE_OF_MANY.finditer(text) if found[1] not in NO_PLURALS]


def test_no_command_prints_a_plural_after_the_number_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "corpus", 1)
    printed = {}
    for command in COMMANDS:
        ended = run(*command)
        assert ended.code in {0, 1}, f"{command}: {ended.err}"
        printed[command] = ended.out + ended.err
    assert {command: found for command, text in printed.items() if (found := plurals(text))} == {}
    assert "1 paper" in printed["publish", "corpus", "--out", "release"]
    cards = [path.read_text(encoding="utf-8") for path in (tmp_path / "release").glob("*.md")]
    assert [plurals(card) for card in cards] == [[] for _ in cards]
