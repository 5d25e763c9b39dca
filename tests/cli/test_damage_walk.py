"""Every reading command on every damage to every table gives the documented refusal or the correct result.

All pairs would take five times as long: each damage to each table meets `check` and three readers in rotation, so that
each reader meets every table and every damage, though not each pair. `build` and `report` are not among the readers.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from asked_here import patch_queries
from commands import Ended, run_command
from in_this_process import build_here
from peercorpus import open as open_corpus
from peercorpus.errors import DamagedError, PeercorpusError
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.harvest.harvest import harvest
from peercorpus.mcp_server.tools import CorpusTools
from peercorpus.openreview.client import Client
from peercorpus.records.papers import Paper
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.sql.public_tables import open_public_tables
from peercorpus.workspace.table_reader import ON_DEMAND, TABLES
from peercorpus.workspace.workspace import open_workspace

pytestmark = pytest.mark.slow(37)

VENUE = "Borealis.cc/2024/Conference"
PAGES = ("paper", "text", "changes", "record")
FRAMES = (
    *("papers", "reviews", "ai_reviews", "posts", "versions", "texts", "conversations", "changes", "links"),
    "set_aside",
)


@dataclass(frozen=True)
class Corpus:
    """A built workspace, a release of it, and one of its papers."""

    folder: Path
    release: Path
    paper: str


Damage = Callable[[Path], None]
Reader = Callable[[Corpus, Path], Ended]


def first_part(table: Path) -> Path:
    return max(table.rglob("*.parquet"), key=lambda path: (path.stat().st_size, path))


def log(table: Path) -> list[Path]:
    return sorted((table / "_delta_log").glob("*.json"))


def overwrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def flip(content: bytes, at: float) -> bytes:
    place = int(len(content) * at)
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def cut(content: bytes) -> bytes:
    return content[:-30]


def to_zeros(content: bytes) -> bytes:
    return bytes(len(content))


DAMAGES: dict[str, Damage] = {
    "a part is cut": lambda table: overwrite(first_part(table), cut),
    "a part is zeros": lambda table: overwrite(first_part(table), to_zeros),
    "a bit of a page of a part": lambda table: overwrite(first_part(table), partial(flip, at=0.3)),
    "a bit of the footer of a part": lambda table: overwrite(first_part(table), partial(flip, at=0.9)),
    "a part is empty": lambda table: overwrite(first_part(table), lambda _: b""),
    "a part is gone": lambda table: first_part(table).unlink(),
    "the last commit is cut": lambda table: overwrite(log(table)[-1], cut),
    "the last commit is zeros": lambda table: overwrite(log(table)[-1], to_zeros),
    "the last commit is gone": lambda table: log(table)[-1].unlink(),
    "a bit of the last commit": lambda table: overwrite(log(table)[-1], partial(flip, at=0.5)),
    "the first commit is gone": lambda table: log(table)[0].unlink(),
    "the log is gone": lambda table: shutil.rmtree(table / "_delta_log"),
    "the table is gone": shutil.rmtree,
}


def command(*arguments: str) -> Reader:
    """Return a command, in which W stands for the workspace, R for its release, O for a new path, and P for a paper."""

    def read(corpus: Corpus, out: Path) -> Ended:
        names = {"W": str(corpus.folder), "R": str(corpus.release), "O": str(out), "P": corpus.paper}
        ended = run_command(*(names.get(argument, argument) for argument in arguments))
        return Ended(ended.code, ended.out.replace(str(out), "O"), ended.err.replace(str(out), "O"))

    return read


def in_python(read: Callable[[Corpus], object]) -> Reader:
    """A reader that is not a command: it raises one of our errors, which counts as a refusal."""

    def call(corpus: Corpus, _: Path) -> Ended:
        try:
            answer = read(corpus)
        except PeercorpusError as error:
            return Ended(int(error.exit_code), "", f"peercorpus: {error}\n")
        return Ended(0, str(answer), "")

    return call


def read_frames(corpus: Corpus) -> list[int]:
    opened = open_corpus(corpus.folder)
    frames = [getattr(opened, name)() for name in FRAMES]
    return [frame.collect().height for frame in frames]


def read_records(corpus: Corpus) -> list[object]:
    opened = open_corpus(corpus.folder)
    kinds: list[type[object]] = [kind for name, kind in TABLES.items() if name not in ON_DEMAND]
    return [record for kind in kinds for record in opened.records(kind)]


def ask_the_tools(corpus: Corpus) -> list[object]:
    with open_public_tables(corpus.folder, show_nothing) as tables:
        tools = CorpusTools(tables)
        of_paper = (tools.read_paper, tools.read_reviews, tools.read_posts, tools.read_text, tools.read_scores)
        return [tools.describe_corpus(), *(read(corpus.paper) for read in of_paper)]


def open_the_pages(corpus: Corpus) -> list[str]:
    with open_workspace(corpus.folder, write=False) as workspace:
        app = make_app(open_explorer(workspace, show_nothing), "127.0.0.1")
        with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
            answers = [client.get(f"/{page}/{corpus.paper}") for page in PAGES]
            answers += [client.get(page) for page in ("/", "/venues", f"/venue/{VENUE}")]
    for answer in answers:
        if answer.status_code == 500:
            assert "check --repair" in answer.text
            raise DamagedError("A page names the damage, and check --repair.")
    return [answer.text for answer in answers]


READERS: dict[str, Reader] = {
    "status": command("status", "--workspace", "W"),
    "show": command("show", "P", "--workspace", "W"),
    "records": in_python(read_records),
    "frames": in_python(read_frames),
    "pages": in_python(open_the_pages),
    "mcp": in_python(ask_the_tools),
    "publish": command("publish", "--workspace", "W", "--out", "O"),
    "statistics": in_python(lambda corpus: open_corpus(corpus.folder).statistics("score_violins")),
    "table1": command("table1", "--workspace", "W", "--json"),
    "takedown": command("takedown", "--workspace", "W", "--list"),
    "reminders": command("reminders", "--workspace", "W", "--json"),
    "forms": command("forms", VENUE, "--workspace", "W"),
    "verify": command("verify", "R", "--workspace", "W"),
    "audit": command("audit", "leaks", "W", "--json"),
}
"""Everything that reads tables."""

AT_A_TIME = 3
"""Return the readers for one damage to one table: each meets every table, and every damage."""


@pytest.fixture(scope="module", autouse=True)
def _asked_here() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch_queries(patch)
        yield


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A workspace of one venue with a release."""
    folder = tmp_path_factory.mktemp("walk") / "corpus"
    with (
        serve_simulator(build_world(papers=3, venues=[VENUE])) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        open_workspace(folder, create=True) as workspace,
    ):
        harvest(workspace, client, [VENUE])
        build_here(workspace)
        papers = sorted(paper.forum_id for paper in workspace.tables.read(Paper, VENUE))
    release = folder.with_name("release")
    assert run_command("publish", "--workspace", folder, "--out", release).code == 0
    return Corpus(folder, release, papers[0])


@pytest.fixture(scope="module")
def truth(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """Return the result of each reader on the undamaged workspace."""
    out = tmp_path_factory.mktemp("out")
    return {name: read(corpus, out / name) for name, read in READERS.items()}


def damaged(table: Path, keep: Path) -> Iterator[str]:
    """Inflict each possible damage on a table, and undo it."""
    shutil.copytree(table, keep)
    for name, damage in DAMAGES.items():
        if "part" not in name or any(table.rglob("*.parquet")):
            damage(table)
            yield name
            shutil.rmtree(table, ignore_errors=True)
            shutil.copytree(keep, table)


def is_honest(ended: Ended, truth: Ended, out: Path) -> bool:
    """Return whether a reader gave the same result as on undamaged tables, or one sentence that names the repair."""
    if (ended.code, ended.out) == (truth.code, truth.out) and (ended.code != 2 or ended.err == truth.err):
        return True
    sentence = ended.err.splitlines()[-1]
    is_sentence = sentence.startswith("peercorpus: ") and "Traceback" not in ended.err
    return ended.code == 2 and ended.out == "" and is_sentence and "check --repair" in sentence and not out.exists()


@pytest.mark.fault(
    "disk", "each table, by each of 13 damages: parts and commits cut, zeroed, changed by a bit, emptied, gone",
    "what is read is right, or one sentence names the table and the repair; `check` names it always", times=125
)  # fmt: skip
@pytest.mark.parametrize("name", sorted(TABLES.keys() - ON_DEMAND))
def test_no_damaged_table_is_read_silently(corpus: Corpus, truth: dict[str, Ended], tmp_path: Path, name: str) -> None:
    turn = sorted(TABLES).index(name)
    dishonest = []
    for number, damage in enumerate(damaged(corpus.folder / "tables" / name, tmp_path / "kept")):
        checked = run_command("check", "--workspace", corpus.folder)
        if checked.code != 1 or f"- table: {name}" not in checked.out:
            dishonest.append((damage, "check", checked))
        for step in range(AT_A_TIME):
            reader = [*READERS][(5 * turn + AT_A_TIME * number + step) % len(READERS)]
            out = tmp_path / f"{number} {reader}"
            ended = READERS[reader](corpus, out)
            if not is_honest(ended, truth[reader], out):
                dishonest.append((damage, reader, ended))
    assert dishonest == []
