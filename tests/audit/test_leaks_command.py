"""`peercorpus audit leaks`: what it prints and writes, its exit code, and a planted leak from end to end."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

import peercorpus
from asked_releases import publish_release
from audited_papers import is_accepted, papers, publish_accepted, write_lines
from commands import Run, assert_refused
from in_this_process import build_here
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import open_workspace

VENUES = ["Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"]
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m"


class Page(HTMLParser):
    """Collects the addresses that a page makes a browser load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


@pytest.fixture
def leaking(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "leaking.jsonl", papers(change=publish_accepted))


@pytest.mark.slow
def test_a_leak_is_printed_and_ends_with_1(run: Run, leaking: Path) -> None:
    ended = run("audit", "leaks", leaking)
    lines = ended.out.splitlines()
    assert ended.code == 1
    assert lines[0] == "leaking.jsonl: 120 papers read, 50 accepted and 70 rejected audited."
    assert lines[-1].startswith("Leak: ")
    assert re.search(r"^      such as f\d{4} \(rejected\): .*Anonymous authors", ended.out, re.M)
    assert re.search(r"^! first page says .anonymous author. +100\.0 % +\+41\.7 +100\.0 % +0 +70$", ended.out, re.M)
    assert max(map(len, lines[:-1])) <= 100


@pytest.mark.slow
def test_no_leak_ends_with_0(run: Run, tmp_path: Path) -> None:
    ended = run("audit", "leaks", write_lines(tmp_path / "fine.jsonl", papers()))
    assert ended.code == 0
    assert ended.out.splitlines()[-1].startswith("No leak: ")
    assert "! " not in ended.out
    assert "such as" not in ended.out


def test_an_invalid_report_folder_is_refused_before_the_work(run: Run, leaking: Path) -> None:
    for out in (leaking, leaking / "reports" / "deeper"):
        assert_refused(run("audit", "leaks", leaking, "--out", out), f"'{leaking}'")
    assert run("audit", "leaks", leaking.parent / "none.csv", "--out", leaking.parent / "new").code == 2
    assert not (leaking.parent / "new").exists()


@pytest.mark.slow
def test_both_reports_are_written_and_json_is_printed(run: Run, leaking: Path, tmp_path: Path) -> None:
    ended = run("audit", "leaks", leaking, "--out", tmp_path / "new" / "reports", "--json")
    found = json.loads(ended.out)
    assert json.loads((tmp_path / "new" / "reports" / "leaks.json").read_text()) == found
    assert sorted(path.name for path in (tmp_path / "new" / "reports").iterdir()) == ["leaks.html", "leaks.json"]
    assert (found["is_leak"], found["rows"]["audited"]) == (True, 120)
    assert found["features"][0]["gain"] == pytest.approx(50 / 120, abs=1e-6)
    assert len(found["features"][0]["examples"]) == 3


@pytest.mark.slow
@pytest.mark.fault("input", "markup in ids, sources and texts, in the audit's page", "it is text there")
def test_markup_from_papers_is_always_plain_text(run: Run, tmp_path: Path) -> None:
    records = papers()
    for record in records:
        record["forum_id"] += MARKUP
        record["source"] = MARKUP + str(is_accepted(record))
        if is_accepted(record):
            record["text"] = f"published as {MARKUP} a b c {record['text']} says {MARKUP}"
    path = write_lines(tmp_path / "a&<b>.jsonl", records)
    ended = run("audit", "leaks", path, "--out", tmp_path)
    text = (tmp_path / "leaks.html").read_text()
    page = Page(text)
    assert ended.code == 1
    assert page.tags.isdisjoint({"script", "img", "link", "iframe", "object", "b"})
    assert not {name for name in page.attributes if name.startswith("on") or name in {"src", "href"}}
    assert "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'" in text
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "http" not in text.replace("http-equiv", "")
    assert "\x1b" not in text + ended.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "'nowhere'"),
        (["few.jsonl"], "'few.jsonl' has 20 papers"),
        (["leaking.jsonl", "--text", "prose"], "--text prose"),
        (["leaking.jsonl", "--text", "decision"], "--text and --decision"),
        (["binary.parquet"], "'binary.parquet'"),
        ([], "-w FOLDER"),
    ],
)
@pytest.mark.usefixtures("leaking")
def test_what_cannot_be_audited_is_refused_with_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "few.jsonl", papers(20, 10))
    (tmp_path / "binary.parquet").write_bytes(bytes(range(256)))
    ended = run("audit", "leaks", *arguments, "--out", tmp_path / "reports")
    last = ended.err.splitlines(keepends=True)[-1]
    assert_refused(type(ended)(ended.code, ended.out, last), sentence)
    assert not (tmp_path / "reports").exists()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of 100 simulated papers in `corpus`, and its release in `release`."""
    folder = tmp_path_factory.mktemp("audit")
    with (
        serve_simulator(build_world(papers=100, venues=VENUES)) as service,
        Client(service.base_url_v1, service.base_url_v2) as client,
        open_workspace(folder / "corpus", create=True) as workspace,
    ):
        harvest(workspace, client, VENUES)
        build_here(workspace)
        publish_release(workspace, folder / "release")
    return folder


@pytest.mark.slow
def test_our_release_and_its_workspace_have_no_leak(run: Run, corpus: Path) -> None:
    release, workspace = (run("audit", "leaks", corpus / name) for name in ("release", "corpus"))
    assert (release.code, workspace.code) == (0, 0)
    counts = [one.out.split("read, ")[1].splitlines()[0] for one in (release, workspace)]
    assert counts[0] == counts[1]
    assert all("no leak" in one.out.casefold() and "! " not in one.out for one in (release, workspace))
    refused = run("audit", "leaks", corpus / "corpus", "--text", "markdown")
    assert_refused(refused, "--text")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["leaks", "grades"])
def test_a_workspace_that_is_not_built_is_refused(run: Run, corpus: Path, tmp_path: Path, command: str) -> None:
    shutil.copyfile(corpus / "corpus" / "raw.db", tmp_path / "raw.db")
    assert_refused(run("audit", command, tmp_path), "peercorpus build")


@pytest.mark.slow
def test_replacing_accepted_papers_by_camera_ready_versions_is_found_as_a_leak(
    run: Run, corpus: Path, tmp_path: Path
) -> None:
    opened = peercorpus.open(corpus / "corpus")
    versions = opened.versions().collect().join(opened.texts().select("sha256", "markdown").collect(), on="sha256")
    current = versions.sort("created_at").group_by("forum_id", maintain_order=True).last()
    statuses = opened.papers().select("forum_id", "status").collect()
    found = statuses.join(current.select("forum_id", "markdown"), on="forum_id", how="left")
    path = write_lines(tmp_path / "current.jsonl", found.to_dicts())
    ended = run("audit", "leaks", path, "--json")
    assert ended.code == 1
    first = json.loads(ended.out)["features"][0]
    assert first["feature"] == "first page says \u201canonymous author\u201d"
    assert first["accuracy"] > 0.9
    assert "first page says \u201cdouble-blind review\u201d" in first["same_papers"]
