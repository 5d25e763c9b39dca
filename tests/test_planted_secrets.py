"""What not everyone may read is received and stored, and stands in no byte of anything that is made to be shown."""

import copy
import io
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pikepdf
import pyarrow.parquet as pq
import pytest
import zstandard
from starlette.testclient import TestClient

from commands import run_command, succeed
from explored import HOST
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.holdings import Holdings, World
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

V1, V2 = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
CHAIRS, EVERYONE = [f"{V2}/Program_Chairs"], ["everyone"]
LATER_MS = 1_700_600_000_000
WIDE = ("--grade", "unstated")
FOUND = 'href="/paper/'
LINK = re.compile(r'href="(/[^"#]*)"')

pytestmark = [
    pytest.mark.slow(30),
    # inspect_ai leaves streams open in the process that it runs in.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def secret(place: str) -> str:
    """The word planted in a place."""
    return "zqx" + place.replace(" ", "") + "qzx"


def first(holdings: Holdings, invitation: str) -> dict[str, Any]:
    """The first public note of an invitation, which may be changed."""
    notes: list[dict[str, Any]] = list(holdings.notes.values())
    return next(
        note
        for note in notes
        if note["readers"] == EVERYONE and invitation in str(note.get("invitations", note.get("invitation")))
    )


class Planting:
    """Plants a word of its own in each of many places of a simulated world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.places: list[str] = []
        self.taken_down: list[str] = []
        self.v2_root = first(world.v2, "/-/Submission")
        self.review = first(world.v2, f"{V2}/Submission1/-/Official_Review")
        self.v1_review = first(world.v1, "/-/Official_Review")

    def word(self, place: str) -> str:
        self.places.append(place)
        return secret(place)

    def reply(self, place: str, kind: str = "Official_Comment", **changes: Any) -> dict[str, Any]:
        """Add a reply of API 2 whose text is the word."""
        note = copy.deepcopy(self.review) | {"id": f"p{len(self.places):03}{'x' * 6}", "tcdate": LATER_MS}
        note["invitations"] = [f"{V2}/Submission1/-/{kind}"]
        field = "summary" if kind == "Official_Review" else "comment"
        answers = {"rating": {"value": 5}, "confidence": {"value": 3}} if kind == "Official_Review" else {}
        note["content"] = {field: {"value": f"Words {self.word(place)} here."}} | answers
        note |= changes
        self.world.v2.notes[note["id"]] = note
        return note

    def v1_reply(self, place: str, **changes: Any) -> None:
        note = copy.deepcopy(self.v1_review) | {"id": f"q{len(self.places):03}{'x' * 6}"}
        note["content"]["review"] = f"Words {self.word(place)} here."
        self.world.v1.notes[str(note["id"])] = note | changes

    def edit(self, place: str, **changes: Any) -> None:
        """Add an edit of a public review whose text was the word."""
        like = next(iter(self.world.v2.edits.values()))
        made: dict[str, Any] = copy.deepcopy(like) | {"id": f"e{len(self.places):03}{'x' * 6}"} | changes
        made["invitation"] = f"{V2}/Submission1/-/Official_Review"
        made["note"] = {"id": self.review["id"], "content": {"summary": {"value": f"Was {self.word(place)}."}}}
        self.world.v2.edits[str(made["id"])] = made


def plant(world: World) -> Planting:
    planting = Planting(world)
    plant_notes(planting)
    plant_fields(planting)
    plant_edits_and_groups(planting)
    plant_files(planting)
    return planting


def plant_notes(planting: Planting) -> None:
    reviewer = planting.review["signatures"]
    authors = [f"{V2}/Submission1/Authors"]
    planting.reply("review for the chairs", "Official_Review", readers=CHAIRS)
    planting.reply("review for its writer", "Official_Review", readers=reviewer)
    planting.reply("review without readers", "Official_Review", readers=None)
    del planting.reply("review that names no readers", "Official_Review")["readers"]
    planting.reply("review with readers that are no list", "Official_Review", readers="everyone else")
    planting.reply("review for nobody", "Official_Review", readers=[])
    planting.reply("review not for visitors", "Official_Review", nonreaders=["(guest)"])
    planting.reply("review with nonreaders that are no list", "Official_Review", nonreaders=V2)
    planting.reply("comment not for anybody", nonreaders=EVERYONE)
    planting.reply("comment for one account", readers=["~Ada_Example1"])
    planting.reply("comment for an address", readers=["ada@example.org"])
    planting.reply("comment for signed in people", readers=["(guest)", "~"])
    planting.reply("deleted comment", ddate=LATER_MS)
    planting.reply("deleted review", "Official_Review", ddate=LATER_MS)
    planting.reply("meta review for the chairs", "Meta_Review", readers=CHAIRS)
    planting.reply("decision for the chairs", "Decision", readers=CHAIRS)
    planting.reply("confidential comment", "Confidential_Comment", readers=CHAIRS)
    planting.reply("withdrawal for the chairs", "Withdrawal", readers=CHAIRS)
    planting.reply("ethics review for the chairs", "Ethics_Review", readers=CHAIRS)
    planting.reply("private words on an AI review", "AI_Review_Feedback", readers=CHAIRS)
    planting.reply("AI review for the chairs", "AI_Review", readers=CHAIRS)
    planting.reply("rebuttal for the reviewers", "Rebuttal", readers=reviewer, signatures=authors)
    planting.reply("reply below a hidden one", replyto="p001xxxxxx", readers=CHAIRS)
    planting.v1_reply("old review for the chairs", readers=[f"{V1}/Program_Chairs"])
    planting.v1_reply("old review not for visitors", nonreaders=["(guest)"])
    planting.v1_reply("old deleted review", ddate=LATER_MS)
    planting.taken_down.append(str(planting.reply("post taken down")["id"]))


def plant_fields(planting: Planting) -> None:
    content = planting.review["content"]
    content["note_to_chairs"] = {"value": planting.word("field for the chairs"), "readers": CHAIRS}
    content["note_to_nobody"] = {"value": planting.word("field for nobody"), "readers": []}
    content["note_unlike"] = {"value": planting.word("field not for visitors"), "nonreaders": EVERYONE}
    content["weaknesses"] = {"value": planting.word("known field for the chairs"), "readers": CHAIRS}
    root = planting.v2_root["content"]
    root["authorids"] = {"value": [f"{planting.word('address of an author')}@example.org"]}
    root["_bibtex"] = {"value": f"@misc{{{planting.word('field of the submission')}}}", "readers": CHAIRS}
    root["reviewer_nomination"] = {"value": planting.word("nominated reviewer"), "readers": CHAIRS}
    text = f" Mail {planting.word('address in a text')}@example.org or ask ~{planting.word('profile')}_Name1."
    content["summary"] = {"value": str(content["summary"]["value"]) + text}
    planting.review["details"] = {"replies": [{"content": {"comment": planting.word("details of a note")}}]}
    planting.review["tauthor"] = f"{planting.word('writer of a note')}@example.org"
    planting.review["writers"] = [*planting.review["writers"], f"~{planting.word('writers of a note')}_Name1"]


def plant_edits_and_groups(planting: Planting) -> None:
    planting.edit("edit for the chairs", readers=CHAIRS)
    planting.edit("edit not for visitors", readers=EVERYONE, nonreaders=EVERYONE)
    planting.edit("deleted edit", readers=EVERYONE, ddate=LATER_MS)
    planting.edit("edit without readers", readers=None)
    group = planting.world.v2.groups[V2]
    group["members"] = [f"~{planting.word('member of a group')}_Name1"]


def plant_files(planting: Planting) -> None:
    files = planting.world.v2.files
    files |= {path: partial(with_secrets, make) for path, make in files.items()}
    planting.places += ["author of a PDF", "attachment", "comment in a PDF", "metadata of a PDF"]


def with_secrets(make: Callable[[], bytes]) -> bytes:
    """A PDF with words that no page shows."""
    with pikepdf.open(io.BytesIO(make())) as opened:
        opened.docinfo["/Author"] = secret("author of a PDF")
        with opened.open_metadata(update_docinfo=False) as metadata:
            metadata["dc:creator"] = [secret("metadata of a PDF")]
        opened.attachments["notes.txt"] = secret("attachment").encode()
        comment = pikepdf.Dictionary(
            Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Text, Rect=[9, 9, 20, 20], Contents=secret("comment in a PDF")
        )
        opened.pages[0].Annots = opened.make_indirect(pikepdf.Array([opened.make_indirect(comment)]))
        opened.save(saved := io.BytesIO())
    return saved.getvalue()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Planting]:
    """A workspace with everything that a programme chair sees, and all that can be made of it beside it."""
    folder = tmp_path_factory.mktemp("planted")
    world = build_world(papers=3, venues=[V1, V2])
    planting = plant(world)
    corpus = folder / "corpus"
    (folder / "made").mkdir()
    with serve_simulator(world) as service, pytest.MonkeyPatch.context() as environment:
        environment.setenv("PEERCORPUS_URL_V1", service.base_url_v1)
        environment.setenv("PEERCORPUS_URL_V2", service.base_url_v2)
        environment.setenv("PEERCORPUS_USER", world.insider)
        environment.setenv("PEERCORPUS_PASSWORD", world.password)
        harvested = run_command("harvest", V1, V2, "-w", corpus, "--log", folder / "made" / "log.jsonl")
    assert harvested.code in {0, 1}, harvested.err
    add_what_no_account_sees(corpus, world)
    (corpus / "takedown.txt").write_text("".join(f"{one}\n" for one in planting.taken_down))
    succeed("build", corpus, "--points", "--log", folder / "made" / "log.jsonl")
    make_products(corpus, folder / "made")
    return folder, planting


def add_what_no_account_sees(corpus: Path, world: World) -> None:
    """Store every note and edit as if received from a dump, or from a service that forgets its rules."""
    with open_workspace(corpus) as workspace, workspace.raw.transaction():
        for api, holdings, venue_id in ((1, world.v1, V1), (2, world.v2, V2)):
            workspace.raw.add(raw_object(api, venue_id, RawKind.NOTE, note) for note in holdings.notes.values())
            kind = RawKind.EDIT if api == 2 else RawKind.REFERENCE
            workspace.raw.add(raw_object(api, venue_id, kind, edit) for edit in holdings.edits.values())


def raw_object(api: int, venue_id: str, kind: RawKind, content: dict[str, Any]) -> RawObject:
    about = content.get("note", {}).get("id") or content.get("referent") or content["id"]
    forum_id = content.get("forum") or content.get("note", {}).get("forum") or about
    body = json.dumps(content).encode()
    return RawObject(kind, content["id"], api, venue_id, forum_id, about, LATER_MS, 0, "test", body)


def make_products(corpus: Path, made: Path) -> None:
    release = made / "release"
    commands: list[tuple[str | Path, ...]] = [
        ("publish", corpus, "--out", release, "--splits", "temporal", "--test-after", "2018-01-01", "--points", *WIDE),
        ("publish", corpus, "--out", made / "reviewbench", "--layout", "reviewbench"),
        ("site", release, "--out", made / "site"),
        ("report", corpus, "--out", made / "report"),
        ("report", release, "--out", made / "report-of-release"),
        ("export", release, "--format", "trl", "--out", made / "trl"),
        ("table1", corpus),
        ("status", corpus, "--json"),
        ("audit", "grades", corpus),
        ("sql", "select * from reviews", "-w", corpus, "--format", "json"),
        ("bench", "--release", release, "--limit", "3", "--logs", made / "bench", *WIDE),
    ]
    for command in commands:
        ended = run_command(*command, "--log", made / "log.jsonl")
        (made / f"{command[0]}-{len(list(made.iterdir()))}.txt").write_text(ended.out + ended.err)
        assert ended.code in {0, 1}, ended.err
    with open_workspace(corpus, write=False) as workspace:
        forum_ids = [row[0] for venue in (V1, V2) for row in workspace.tables.rows("1-papers", venue, ["forum_id"])]
        for forum_id in forum_ids:
            (made / f"show-{forum_id}.txt").write_text(run_command("show", forum_id, "-w", corpus, "--json").out)
        app = make_app(open_explorer(workspace, show_nothing), "127.0.0.1")
        with TestClient(app, base_url=HOST) as client:
            (made / "explorer.html").write_text("\n".join(crawl(client)))


def crawl(client: TestClient) -> Iterator[str]:
    seen: set[str] = set()
    waiting = {"/"}
    while waiting and len(seen) < 300:
        page = waiting.pop()
        seen.add(page)
        yield client.get(page).text
        waiting |= {link for link in LINK.findall(client.get(page).text) if not link.startswith("/static")} - seen


def unpacked(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file in a folder, decompressed."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), text_of(path).lower()


def text_of(path: Path) -> str:
    if path.suffix == ".parquet":
        return json.dumps(pq.read_table(path).to_pylist(), default=str, ensure_ascii=False)
    content = path.read_bytes()
    if path.suffix == ".zst":
        content = zstandard.decompress(content, max_output_size=2**28)
    if path.suffix == ".eval":
        from inspect_ai.log import read_eval_log

        return read_eval_log(str(path)).model_dump_json()
    return content.decode("utf-8", "replace")


def stored(corpus: Path) -> str:
    """All bodies as received, and the texts of all PDFs' objects."""
    with closing(sqlite3.connect(corpus / "raw.db")) as database:
        bodies = [row[0] for row in database.execute("SELECT body FROM objects")]
    packed = zstandard.ZstdDecompressor()
    texts = [packed.decompress(body, max_output_size=2**26).decode() for body in bodies]
    for path in (corpus / "files").rglob("*.pdf"):
        with pikepdf.open(path) as opened:
            texts += [str(opened.docinfo.get("/Author", "")), str(opened.open_metadata())]
            texts += [file.get_file().read_bytes().decode() for file in opened.attachments.values()]
            texts += [str(one.get("/Contents", "")) for one in opened.pages[0].get("/Annots", [])]
    return "\n".join(texts)


def test_each_secret_was_received(planted: tuple[Path, Planting]) -> None:
    folder, planting = planted
    held = stored(folder / "corpus")
    assert len(planting.places) >= 40
    assert [place for place in planting.places if secret(place) not in held] == []


def test_no_secret_is_in_any_product(planted: tuple[Path, Planting]) -> None:
    folder, planting = planted
    secrets = {secret(place).lower(): place for place in planting.places}
    texts = dict(unpacked(folder / "made"))
    public = str(planting.v2_root["content"]["title"]["value"]).lower()
    shown = {name.partition("/")[0] for name, text in texts.items() if public in text}
    assert shown >= {"release", "reviewbench", "site", "explorer.html"}
    found = {(secrets[word], name) for name, text in texts.items() for word in re.findall(r"zqx[a-z]+qzx", text)}
    assert found == set()


def test_no_secret_is_found_by_searching(planted: tuple[Path, Planting]) -> None:
    folder, planting = planted
    with open_workspace(folder / "corpus", write=False) as workspace:
        app = make_app(open_explorer(workspace, show_nothing), "127.0.0.1")
        with TestClient(app, base_url=HOST) as client:
            assert FOUND in client.get("/papers", params={"q": "graph"}).text, "a public word is found"
            hits = [
                place for place in planting.places if FOUND in client.get("/papers", params={"q": secret(place)}).text
            ]
    assert hits == []
