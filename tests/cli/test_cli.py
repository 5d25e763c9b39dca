"""Whatever a user gets wrong: one sentence on stderr, exit code 2, and nothing half-written."""

import gzip
import hashlib
import json
import logging
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import stamina

from commands import Ended, Run, assert_refused
from peercorpus.simulator.server.requests import write_token
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.venues import EMPTY
from peercorpus.simulator.world.world import build_world

VENUE = "Borealis.cc/2024/Conference"
WORLD = build_world(papers=1, venues=[VENUE])
HEAVY = {"torch", "ray", "docling", "matplotlib", "inspect_ai", "trl", "openreview", "typst", "datasets"} | {
    "polars",
    "pyarrow",
    "deltalake",
    "httpx2",
    *("starlette", "uvicorn", "jinja2", "tantivy", "nh3", "latex2mathml"),
    *("sklearn", "sacrebleu", "rouge_score", "rapidfuzz", "nltk", "transformers", "sentence_transformers"),
}
NOTE = {
    "id": "a",
    "forum": "a",
    "invitation": "Invented.cc/2024/Conference/-/Submission",
    "readers": ["everyone"],
    "content": {"title": "On nothing"},
}


def run_apart(code: str, *arguments: str) -> Ended:
    """Run Python in a separate process, where a warning is an error."""
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PEERCORPUS_")}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def state(folder: Path) -> str:
    """Return the content of a workspace: every row of raw.db, and a digest of every other file."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and "raw.db" not in path.name):
        total.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    with closing(sqlite3.connect(folder / "raw.db")) as database:
        for statement in database.iterdump():
            total.update(statement.encode())
    return total.hexdigest()


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "note.json"
    path.write_text(json.dumps([NOTE]))
    return path


@pytest.fixture
def workspace(tmp_path: Path, dump: Path, run: Run) -> Path:
    """A workspace with one paper that was not built."""
    folder = tmp_path / "held"
    assert run("import", dump, "--workspace", folder).code == 0
    return folder


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serve_simulator(WORLD) as running:
        yield running


@pytest.fixture(scope="module")
def closed_service() -> Iterator[Service]:
    with serve_simulator(WORLD, sign_in_required=True) as running:
        yield running


def urls(service: Service) -> list[str]:
    return ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]


@pytest.mark.parametrize(
    ("venue_id", "named"),
    [
        ("Nowhere.cc/1999/Conference", "'Nowhere.cc/1999/Conference'"),
        ("borealis.cc/2024/conference", f"'{VENUE}'"),
        (EMPTY.venue_id, f"'{EMPTY.venue_id}'"),
    ],
    ids=["of no venue", "of a misspelt venue", "of an empty venue"],
)
def test_nothing_found_leaves_nothing(run: Run, service: Service, tmp_path: Path, venue_id: str, named: str) -> None:
    ended = run("harvest", venue_id, "--workspace", tmp_path / "new", *urls(service))
    said = ended.err.splitlines(keepends=True)
    # What was done before is reported: the empty list was requested.
    before = said[:-1] if venue_id == EMPTY.venue_id else []
    assert all(line.startswith(f"{venue_id}: ") for line in before)
    assert_refused(Ended(ended.code, ended.out, "".join(said[len(before) :])), named)
    assert list(tmp_path.iterdir()) == []


REFUSED = ("PEERCORPUS_TOKEN", "--token-file", "'peercorpus login'")
MALFORMED = ("token",)
NEEDED = ("'peercorpus login'", "PEERCORPUS_TOKEN")


@pytest.mark.parametrize(
    ("token", "named"),
    [
        ("s3cret.rubbish.t0ken", REFUSED),
        (write_token(WORLD, life_s=-1), REFUSED),
        ("s3cret tökén", MALFORMED),
        ("s3cret\ntoken", MALFORMED),
        (" ", MALFORMED),
        ("", NEEDED),
    ],
    ids=["rubbish", "expired", "not ASCII", "two lines", "blank", "none"],
)
def test_a_harvest_asks_for_a_token(
    run: Run,
    closed_service: Service,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    named: tuple[str, ...],
) -> None:
    monkeypatch.setenv("PEERCORPUS_TOKEN", token)
    ended = run("harvest", VENUE, "--workspace", tmp_path / "new", *urls(closed_service))
    last = ended.err.splitlines(keepends=True)[-1]
    assert_refused(Ended(ended.code, ended.out, last), *named)
    assert all(line.startswith(f"{VENUE}: ") for line in ended.err.splitlines()[:-1])
    assert not token.strip() or token not in ended.err
    assert "s3cret" not in ended.err
    assert list(tmp_path.iterdir()) == []


def test_no_token_is_stored(run: Run, closed_service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = write_token(WORLD)
    monkeypatch.setenv("PEERCORPUS_TOKEN", token)
    folder = tmp_path / "new"
    ended = run("harvest", VENUE, "--workspace", folder, "--no-files", *urls(closed_service))
    assert ended.code == 0
    assert f"{VENUE} (API v2): 1 submission, " in ended.out
    assert token not in ended.out + ended.err
    with closing(sqlite3.connect(folder / "raw.db")) as database:
        assert [statement for statement in database.iterdump() if token in statement] == []
        (source,) = database.execute("SELECT source FROM objects LIMIT 1").fetchone()
    assert source.startswith(closed_service.base_url_v2)


@pytest.fixture
def _root_logger_on_stdout(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Install a printing handler on the root logger, as Inspect does in every process that imports it."""
    capsys.readouterr()
    handler = logging.StreamHandler(sys.stdout)
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def _without_waits() -> Iterator[None]:
    """Keep the usual number of attempts, without the waits between them."""
    with stamina.set_testing(True, attempts=6):
        yield


@pytest.mark.usefixtures("_without_waits", "_root_logger_on_stdout")
def test_a_refusing_host_is_named_once(run: Run, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    ended = run("harvest", VENUE, "--workspace", tmp_path / "new", "--url-v1", address, "--url-v2", address)
    assert_refused(ended, "127.0.0.1", code=3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("cut.json", json.dumps([NOTE])[:-9].encode(), "/cut.json'"),
        ("cut.json.gz", gzip.compress(json.dumps([NOTE]).encode())[:-9], "/cut.json.gz'"),
        ("other.json", b'{"name": "a shopping list", "items": [1, 2]}', "/other.json'"),
        ("empty.json", b"", "/empty.json'"),
        ("bytes.json", b"\xff\xfe\x00\x01", "UTF-8"),
        ("missing.json", None, "missing.json'"),
    ],
)
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "held"])
def test_a_failing_import_stores_nothing(
    run: Run, tmp_path: Path, workspace: Path, name: str, content: bytes | None, named: str, is_new: bool
) -> None:
    path, folder = tmp_path / name, tmp_path / "new" if is_new else workspace
    if content is not None:
        path.write_bytes(content)
    before = state(workspace)
    assert_refused(run("import", path, "--workspace", folder), named)
    assert state(workspace) == before
    assert not (tmp_path / "new").exists()


HELD_OPEN = """
import sys
from pathlib import Path
from peercorpus.workspace.workspace import open_workspace
with open_workspace(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_run_is_refused(run: Run, workspace: Path, dump: Path) -> None:
    before = state(workspace)
    command = [sys.executable, "-c", HELD_OPEN, str(workspace)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        for arguments in (["build"], ["import", dump], ["harvest", VENUE]):
            ended = run(*arguments, "--workspace", workspace)
            assert_refused(ended, f"'{workspace}'", code=3)
        assert run("status", "--workspace", workspace).code == 0
        other.communicate(timeout=60)
    assert other.returncode == 0
    assert state(workspace) == before


@pytest.mark.parametrize(
    "command", [["build"], ["status"], ["publish", "--out", "release"]], ids=lambda one: str(one[0])
)
@pytest.mark.parametrize(("name", "why"), [("nowhere", "does not exist"), ("foreign", "raw.db"), ("note.json", "file")])
def test_another_folder_is_refused_and_untouched(
    run: Run, dump: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], name: str, why: str
) -> None:
    monkeypatch.chdir(dump.parent)
    Path("foreign").mkdir()
    (Path("foreign") / "thesis.tex").write_text("a text")
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    assert_refused(run(*command, "--workspace", name), f"'{name}'", why)
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before


def test_a_release_never_replaces_other_folders(run: Run, workspace: Path, tmp_path: Path) -> None:
    assert run("build", "--workspace", workspace).code == 0
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("a text")
    ended = run("publish", "--workspace", workspace, "--out", foreign)
    assert_refused(ended, f"'{foreign}'", "'thesis.tex'")
    assert [path.name for path in foreign.iterdir()] == ["thesis.tex"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["held", "note.json", "thesis"]
    ended = run("publish", "--venue", VENUE, "--workspace", workspace, "--out", tmp_path / "release")
    assert_refused(ended, f"'{VENUE}'")
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["frobnicate"], "'frobnicate'"),
        (["build", "--workspace", "new", "--frobnicate"], "--frobnicate"),
        (["build"], "-w FOLDER"),
        (["harvest", "--workspace", "new"], "VENUE_ID"),
        (["harvest", VENUE, "--workspace", "new", "--limit", "few"], '"few"'),
        (
            ["harvest", VENUE, "--workspace", "new", "--url-v1", "openreview"],
            "'openreview'",
        ),
        (["demo", "--papers", "2"], "--papers"),
    ],
)
def test_invalid_commands_are_refused_briefly(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run(*arguments), sentence)
    assert list(tmp_path.iterdir()) == []


LOADS = f"""
import atexit, sys

def tell(when):
    print(when, "loads:", *sorted({HEAVY!r} & set(sys.modules)))

import peercorpus
tell("the package")
import peercorpus.metrics.registry
tell("metrics")
from peercorpus.cli.main import main
atexit.register(tell, "help")
main(["--help"])
"""


def test_help_loads_nothing_heavy() -> None:
    ended = run_apart(LOADS)
    assert (ended.code, ended.err) == (0, "")
    package, metrics, *_, at_exit = ended.out.splitlines()
    assert [package, metrics, at_exit] == ["the package loads:", "metrics loads:", "help loads:"]
    for name in ("simulate", "harvest", "import", "build", "publish", "status", "demo"):
        assert f" {name} " in ended.out


READS = """
import sys
from peercorpus.texts.text_json import convert_timed
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout
print(*sorted({module.partition(".")[0] for module in sys.modules}))
"""
NOT_TO_READ = HEAVY | {"rich", "pygments", "markdown_it", "pikepdf", "filelock", "obstore", "PIL", "numpy", "openai"}


def test_a_worker_loads_no_command_line() -> None:
    modules = set(run_apart(READS).out.split())
    assert (NOT_TO_READ | {"cyclopts"}) & modules == set()
    assert "pypdfium2" in modules


def test_pdfs_are_imported_with_a_dump_or_alone(run: Run, tmp_path: Path) -> None:
    venue, folder, pdfs = "Invented.cc/2024/Conference", tmp_path / "corpus", tmp_path / "pdfs"
    note = {"id": "n1", "forum": "n1", "invitations": [f"{venue}/-/Submission"], "readers": ["everyone"]}
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps([note | {"domain": venue, "content": {"pdf": {"value": "/pdf/a.pdf"}}}]))
    pdfs.mkdir()
    (pdfs / "n1.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    (pdfs / "n2.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    ended = run("import", dump, "--pdfs", pdfs, "--workspace", folder)
    assert ended.code == 1
    assert "'n2.pdf'" in ended.out
    assert "1 assigned to a known version" in ended.out
    assert "1 left out" in ended.out
    assert "1 already in the workspace" in run("import", "--pdfs", pdfs, "--workspace", folder).out
    assert_refused(run("import", "--workspace", folder), "--pdfs")
    assert_refused(run("import", "--pdfs", tmp_path / "gone", "--workspace", folder), "gone")


@pytest.mark.fault("input", "control characters in the name of a file", "they are escaped")
def test_refusals_escape_control_characters(run: Run, tmp_path: Path) -> None:
    pdfs = tmp_path / "pdfs"
    pdfs.mkdir()
    (pdfs / "a\x1b[2J\u202e.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    refused = run("import", "--pdfs", pdfs, "--workspace", tmp_path / "corpus")
    assert_refused(refused, r"'a\x1b[2J\u202e.pdf'")
    assert refused.err.strip().isprintable()
