"""A site that is written again has nothing left of what was taken down, and no site is made of an older release."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answered_points import with_points
from asked_releases import publish_release
from commands import run_command
from invented_tables import ICLR, a_forum, invented, keep, link, version
from invented_tables import what_follows as follow
from peercorpus.explorer.site.extras import Extra
from peercorpus.explorer.site.write_site import write_site
from peercorpus.openreview.raw_rows import RawOrigin, build_note
from peercorpus.records.ai_reviews import AiReview
from peercorpus.records.enums import SectionKind
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Conversation, Post, Review, Section
from peercorpus.release.folder import open_release
from peercorpus.workspace.workspace import open_workspace

GONE, STAYS, EARLIER = "f2gone", "f1stays", "f0earlier"
AUTHOR = "~Ploverau_Example1"
WORDS: Mapping[str, str] = {
    GONE: "ploverpa",
    f"{GONE}-R1": "ploverre",
    f"{GONE}-answer": "ploveran",
    f"{GONE}-to-all": "ploverta",
    f"{GONE}-meta": "ploverme",
    f"{GONE}-ai": "ploverai",
    f"{GONE}-ai-answer": "ploveray",
}
"""A word that only the texts of one record have, by its id."""
REMOVED = {
    "paper": (GONE, set(WORDS)),
    "review": (f"{GONE}-R1", {f"{GONE}-R1"}),
    "answer": (f"{GONE}-answer", {f"{GONE}-answer"}),
    "response to all": (f"{GONE}-to-all", {f"{GONE}-to-all"}),
    "meta-review": (f"{GONE}-meta", {f"{GONE}-meta"}),
    "AI review": (f"{GONE}-ai", {f"{GONE}-ai", f"{GONE}-ai-answer"}),
    "reply to an AI": (f"{GONE}-ai-answer", {f"{GONE}-ai-answer"}),
    "author": (AUTHOR, set(WORDS)),
}
"""What is listed, and the records that it removes."""


def speak(record: Any) -> object:
    """A record with its word."""
    if isinstance(record, Paper):
        return replace(record, title=WORDS[GONE], abstract=WORDS[GONE], keywords=(WORDS[GONE],))
    if isinstance(record, Review):
        word = WORDS[record.review_id]
        return replace(record, title=word, sections=(Section(SectionKind.SUMMARY, "summary", word),))
    if isinstance(record, Post):
        return replace(record, text=WORDS[record.post_id]) if record.post_id in WORDS else record
    if isinstance(record, Conversation):
        turns = [replace(one, text=WORDS[one.post_ids[0]]) for one in record.turns]
        return replace(record, turns=tuple(turns))
    if isinstance(record, AiReview):
        replies = [replace(one, text=WORDS[one.post_id]) if one.post_id in WORDS else one for one in record.replies]
        sections = (Section(SectionKind.OTHER, "ai_review", WORDS[record.ai_review_id]),)
        return replace(record, sections=sections, replies=tuple(replies))
    return record


def fill(folder: Path) -> None:
    spoken = [speak(record) for record in [*a_forum(GONE), *follow(GONE)]]
    others = with_points([*a_forum(EARLIER), *a_forum(STAYS), *follow(STAYS)])
    note = {"id": GONE, "forum": GONE, "domain": ICLR, "content": {"authorids": {"value": [AUTHOR]}}}
    with invented(folder, {ICLR: [*others, *spoken, link(GONE, ICLR, EARLIER)]}) as workspace:
        keep(workspace)
        with workspace.raw.transaction():
            workspace.raw.add([build_note(json.dumps(note).encode(), RawOrigin("test", 0))])
            workspace.raw.place()


def publish(folder: Path, name: str) -> Path:
    with open_workspace(folder / "corpus") as workspace:
        publish_release(workspace, folder / name, points=True)
    return folder / name


def whole(site: Path) -> bytes:
    """Everything in a folder: the contents of its files, and their names."""
    found = [path.relative_to(site).as_posix().encode() + b"\n" + path.read_bytes() for path in site.rglob("*.*")]
    return b"\n".join(found).lower()


def ask(release: Path, out: Path) -> Any:
    """What the command answers."""
    return run_command("site", str(release), "--out", str(out), "-w", str(release.parent / "corpus"))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace and its release."""
    folder = tmp_path_factory.mktemp("taken")
    fill(folder / "corpus")
    publish(folder, "before")
    return folder


@pytest.mark.parametrize("kind", REMOVED)
def test_nothing_taken_down_stays(first: Path, kind: str) -> None:
    listed, gone = REMOVED[kind]
    site = first / "site"
    (first / "corpus/takedown.txt").write_text("")
    write_site(open_release(first / "before"), site, extras=list(Extra))
    held = whole(site)
    assert [record_id for record_id, word in WORDS.items() if word.encode() not in held] == []

    (first / "corpus/takedown.txt").write_text(f"{listed}\n")
    refused = ask(first / "before", site)
    assert refused.code == 2
    assert f"'{site}' was not changed" in refused.err
    assert whole(site) == held

    write_site(open_release(publish(first, "after")), site, extras=list(Extra))
    left = whole(site)
    assert {record_id for record_id, word in WORDS.items() if word.encode() not in left} == gone
    for record_id in gone - {GONE}:
        assert f'"{record_id.lower()}"'.encode() not in left
        assert f"post-{record_id.lower()}".encode() not in left.replace(f"{record_id.lower()}-".encode(), b"")
    if GONE in gone:
        assert GONE.encode() not in left
        assert b"2 papers" in (site / "index.html").read_bytes()
    assert AUTHOR.lower().encode() not in left
    assert [path.name for path in first.iterdir() if path.name.startswith(".")] == [".site.lock"]
    assert (first / ".site.lock").read_bytes() == b""


def test_listed_ids_count_without_records(first: Path, tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: a_forum(STAYS)}) as workspace:
        keep(workspace)
    (tmp_path / "corpus/takedown.txt").write_text(f"{GONE}-answer\n")
    refused = run_command(
        "site", str(first / "before"), "--out", str(tmp_path / "site"), "-w", str(tmp_path / "corpus")
    )
    assert refused.code == 2
    assert not (tmp_path / "site").exists()


def test_shared_files_count(tmp_path: Path) -> None:
    """The paper that is taken down was never in the release; another one has the same PDF."""
    twin = replace(version(STAYS, f"sha-{GONE}", None), edit_id="twin")
    with invented(tmp_path / "corpus", {ICLR: [*a_forum(STAYS), twin]}) as workspace:
        keep(workspace)
    publish(tmp_path, "before")
    with invented(tmp_path / "corpus", {ICLR: [*a_forum(STAYS), twin, *a_forum(GONE)]}) as workspace:
        keep(workspace)
    (tmp_path / "corpus/takedown.txt").write_text(f"{GONE}\n")
    assert ask(tmp_path / "before", tmp_path / "site").code == 2
    assert not (tmp_path / "site").exists()
    assert ask(publish(tmp_path, "after"), tmp_path / "site").code == 0
    assert f"sha-{GONE}".encode() not in whole(tmp_path / "site")
