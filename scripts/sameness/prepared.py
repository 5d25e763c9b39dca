"""Makes the inputs that all later runs share: harvested or imported workspaces, without tables.

They are made once, by one version of the code, so that pseudonyms, times and ids are the same for every version
compared.
"""

import gzip
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from product import Product

DEMO_PAPERS = 72
"""`audit leaks` needs fifty papers with a decision; ten of every twelve that the simulator invents have one."""
MARK = "prepared.json"
DUMPS = ("raw-*", "forum-prints-peersum", "transcribed-excerpts")
"""Folders of the recorded data in which `peercorpus import` recognises something."""
LINES = ("raw-v1-content-iclr2019-2020", 100)
"""A folder of dumps with one review per line, all set aside for one reason, and how many lines of each file to keep."""
PAIRS = "pdf-initial-final"
RAW = "raw.db"
DAY_MS = 86_400_000
TAKEDOWN = ("takedown.txt", "takedown.salt")


def prepare(product: Product, folder: Path, data: Path) -> None:
    """Make the inputs in a folder that does not exist yet, or is empty."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"'{folder}' is not empty; name a new folder.")
    _prepare_demo(product, folder)
    skipped = "" if data.is_dir() else f"there is no folder of recorded data at '{data.name}'"
    if not skipped:
        _prepare_recorded(product, folder, data)
    (folder / MARK).write_text(json.dumps({"recorded_skipped": skipped}) + "\n", encoding="utf-8")


def _prepare_demo(product: Product, folder: Path) -> None:
    """Harvest the demo; keep the workspace without its tables, its release in others' formats, and a take-down list."""
    product.run(folder, ["demo", "--out", "made", "--papers", str(DEMO_PAPERS)], must_work=True)
    made = folder / "made"
    _keep_workspace(made / "corpus", folder / "demo")
    shutil.copytree(made / "release" / "data" / "papers", folder / "published" / "reviewbench")
    product.run(folder, ["export", "made/release", "--out", "published/re2", "--format", "re2"], must_work=True)
    with sqlite3.connect(folder / "demo" / RAW) as database:
        query = "SELECT object_id FROM objects WHERE kind = 'note' AND {} ORDER BY venue_id, object_id LIMIT 1 OFFSET 3"
        taken = [
            database.execute(query.format(which)).fetchone()[0]
            for which in ("object_id = forum_id", "object_id <> forum_id")
        ]
    database.close()
    product.run(folder, ["takedown", "--workspace", "made/corpus", "--", *taken], must_work=True)
    product.run(folder, ["publish", "--workspace", "made/corpus", "--out", "made/taken"], must_work=True)
    (folder / "takedown").mkdir()
    for name in TAKEDOWN:
        shutil.copy2(made / "corpus" / name, folder / "takedown" / name)
    shutil.rmtree(made)


def _keep_workspace(workspace: Path, kept: Path) -> None:
    """Copy what was received, with nothing left in SQLite's side files; each run makes the tables itself."""
    database = sqlite3.connect(workspace / RAW)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    kept.mkdir()
    shutil.copy2(workspace / RAW, kept / RAW)
    if (workspace / "files").is_dir():
        shutil.copytree(workspace / "files", kept / "files")


def _prepare_recorded(product: Product, folder: Path, data: Path) -> None:
    """Import the recorded dumps, and papers with both PDFs recorded."""
    dumps = folder / "dumps"
    for pattern in DUMPS:
        for found in sorted(data.glob(pattern)):
            shutil.copytree(found, dumps / found.name)
    for packed in sorted((dumps / LINES[0]).glob("*.jsonl.gz")):
        lines = gzip.decompress(packed.read_bytes()).splitlines(keepends=True)
        packed.chmod(0o644)
        packed.write_bytes(gzip.compress(b"".join(lines[: LINES[1]]), mtime=0))
    pairs = [found for found in sorted((data / PAIRS).iterdir()) if (found / "initial.pdf").is_file()]
    (dumps / PAIRS).mkdir()
    for pair in pairs:
        described = json.loads((pair / "metadata.json").read_text(encoding="utf-8"))
        text = json.dumps(list(_objects(described)), ensure_ascii=False, indent=1)
        (dumps / PAIRS / f"{described['identifier']}.json").write_text(text, encoding="utf-8")
    product.run(folder, ["import", "--workspace", "made", "--keep-going", "dumps"], must_work=True)
    _place_files(folder / "made", pairs)
    _keep_workspace(folder / "made", folder / "recorded")
    shutil.rmtree(folder / "made")


def _venue(described: Mapping[str, Any]) -> str:
    year = described["conference"].partition("_")[2]
    return f"ICLR.cc/{year}/Conference"


def _pdf_path(described: Mapping[str, Any], which: str) -> str:
    """Return an invented path in OpenReview's form."""
    return f"/pdf/{hashlib.sha1(described['urls'][which].encode(), usedforsecurity=False).hexdigest()}.pdf"


def _reference_id(described: Mapping[str, Any], which: str) -> str:
    return str(described["urls"][which].rpartition("=")[2])


def _objects(described: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield API v1's objects of a paper: the submission, its reviews, its decision and its two references.

    Reviews, decision and ids are recorded; the title, the paths and the times of everything but reviews are invented:
    the first PDF comes thirty days before the first review, the last thirty days after the last.
    """
    forum_id, venue = described["identifier"], _venue(described)
    times = [review["tcdate"] for review in described["reviews"]]
    first_ms, last_ms = min(times) - 30 * DAY_MS, max(times) + 30 * DAY_MS

    def note(note_id: str, invitation: str, at_ms: int, **more: object) -> dict[str, Any]:
        base = {"id": note_id, "forum": forum_id, "replyto": forum_id, "readers": ["everyone"], "signatures": [venue]}
        return base | {"invitation": f"{venue}/-/{invitation}", "tcdate": at_ms, "tmdate": at_ms} | more

    content = {"title": f"The recorded paper {forum_id}", "abstract": "Not recorded.", "authors": ["Ada Example"]}
    final = content | {"pdf": _pdf_path(described, "final")}
    yield note(forum_id, "Blind_Submission", first_ms, replyto=None, tmdate=last_ms, content=final)
    for review in described["reviews"]:
        said = {"review": "\n".join(review["sentences"]), "rating": review["rating"]}
        signed = [f"{venue}/Paper1/{review['reviewer']}"]
        yield note(review["review_id"], "Paper1/Official_Review", review["tcdate"], signatures=signed, content=said)
    decision = {"decision": described["decision"]}
    yield note(f"{forum_id}-decision", "Paper1/Decision", last_ms - DAY_MS, content=decision)
    for which, at_ms in (("initial", first_ms), ("final", last_ms)):
        own_content = content | {"pdf": _pdf_path(described, which)}
        reference_id = _reference_id(described, which)
        yield note(reference_id, "Blind_Submission", at_ms, referent=forum_id, content=own_content)


def _place_files(workspace: Path, pairs: list[Path]) -> None:
    """Put the PDFs where a harvest puts them, and record which papers they belong to."""
    database = sqlite3.connect(workspace / RAW)
    for pair in pairs:
        described = json.loads((pair / "metadata.json").read_text(encoding="utf-8"))
        for which in ("initial", "final"):
            content = (pair / f"{which}.pdf").read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            placed = workspace / "files" / digest[:2] / f"{digest}.pdf"
            placed.parent.mkdir(parents=True, exist_ok=True)
            placed.write_bytes(content)
            known = (_pdf_path(described, which), _venue(described), described["identifier"], digest, len(content))
            owners = [_reference_id(described, which), *([described["identifier"]] if which == "final" else [])]
            rows = [(owner, *known) for owner in owners]
            database.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, NULL)", rows)
    database.commit()
    database.close()
