"""The leak audit finds what was planted and nothing else; what its command prints and writes, and its exit code."""

import json
import random
import re
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import peercorpus
from asked_releases import publish_release
from audited_papers import Record, is_accepted, papers, prose, publish_accepted, source_of, write_lines
from commands import Run, assert_refused
from in_this_process import build_here
from naming import by_name
from peercorpus.audit import leak_audit
from peercorpus.audit.leak_audit import Audit, audit
from peercorpus.audit.papers import AuditSource, SourceRecord
from peercorpus.audit.report import audit_to_dict, audit_verdict
from peercorpus.errors import TableError
from peercorpus.harvest.harvest import harvest
from peercorpus.openreview.client import Client
from peercorpus.simulator.server.service import serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.workspace import open_workspace


def names(found: Audit) -> list[str]:
    """Return every feature reported, with those that split the papers in the same way."""
    return [name for finding in found.findings for name in (finding.feature.name, *finding.alike)]


@pytest.mark.slow
def test_a_fair_corpus_has_no_leak() -> None:
    found = audit(source_of(papers()))
    assert (found.leaks, found.accepted, found.rejected) == (0, 50, 70)
    assert found.majority == pytest.approx(70 / 120)
    assert audit_verdict(found).startswith("No leak: ")
    assert found.findings


@pytest.mark.slow
def test_camera_ready_texts_of_accepted_papers_are_found() -> None:
    found = audit(source_of(papers(change=publish_accepted)))
    assert found.leaks > 0
    first = found.findings[0]
    assert (first.outcome.accuracy, first.is_leak) == (1.0, True)
    assert first.gain == pytest.approx(50 / 120)
    told = set(names(found))
    assert "first page says \u201canonymous author\u201d" in told
    assert "not: first page says \u201cpublished as a conference paper\u201d" in told
    assert "not: published as a" in told
    assert audit_verdict(found).startswith("Leak: ")
    assert [(value.accepted, value.rejected) for value in first.values] == [(0, 70)]
    assert len(first.examples) == 3
    assert all("anonymous author" in shown.context.lower() for shown in first.examples)


def plant_pages(record: Record) -> None:
    record["text"] += "\n\n---\n\nmore" * (9 if is_accepted(record) else 7)


def plant_names(record: Record) -> None:
    names = "".join(f"Ada{number} Example{number}\n" for number in range(6)) if is_accepted(record) else ""
    record["text"] = f"On Kites\n{names}Abstract\n{record['text']}"


def plant_links(record: Record) -> None:
    record["text"] += " See https://github.com/kites/line." if is_accepted(record) else " See the appendix."


def plant_gaps(record: Record) -> None:
    record["text"] = record["text"] if is_accepted(record) else None


def plant_line_numbers(record: Record) -> None:
    if not is_accepted(record):
        words = record["text"].split()
        record["text"] = "\n".join(f"{number:03} {word}" for number, word in enumerate(words))


def plant_addresses(record: Record) -> None:
    if is_accepted(record):
        record["text"] = f"On Kites\n{{ada,bob}}@kites.example\nAbstract\n{record['text']}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plant", "feature"),
    [
        (plant_pages, "page count"),
        (plant_links, "says \u201cgithub.com\u201d"),
        (plant_gaps, "missing text"),
        (plant_line_numbers, "line numbers"),
        (plant_addresses, "e-mail address on the first page"),
        (plant_names, "words before the abstract"),
    ],
)
def test_each_kind_of_leak_is_found(plant: object, feature: str) -> None:
    found = audit(source_of(papers(change=plant)))  # type: ignore[arg-type]
    assert {feature, f"not: {feature}"} & set(names(found))
    assert found.findings[0].outcome.accuracy == 1.0
    assert "kites.example" not in str(audit_to_dict(found))


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "leaks"), [(0.3, True), (0.45, False)])
def test_only_a_large_gain_is_a_leak(threshold: float, leaks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leak_audit, "THRESHOLD", threshold)
    found = audit(source_of(papers(change=plant_links)))
    assert (found.leaks > 0) is leaks


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing() -> None:
    records = papers(change=publish_accepted)
    records += [{"decision": "Reject", "text": prose(random.Random(number))} for number in range(5)]
    expected = audit_to_dict(audit(source_of(records)))
    for seed in (1, 2):
        random.Random(seed).shuffle(records)
        assert audit_to_dict(audit(source_of(records))) == expected


@pytest.mark.slow
def test_a_paper_is_in_one_fold() -> None:
    chance = random.Random(2)
    records: list[Record] = []
    for number in range(60):
        paper = {"text": prose(chance, 400), "decision": "Accept" if number < 25 else "Reject"}
        records += [{"forum_id": f"review-{number}-{review}", **paper} for review in range(4)]
    chance.shuffle(records)
    found = audit(rows_named(records))
    assert (found.accepted, found.rejected, found.leaks) == (25, 35, 0)
    assert by_name(found.set_aside, "same content") == {"same content": 180}
    assert {shown.record_id[-2:] for one in found.findings for shown in one.examples} == {"-0"}
    assert audit_to_dict(audit(rows_named(records[::-1]))) == audit_to_dict(found)


def rows_named(records: list[Record]) -> AuditSource:
    """Return a source whose ids are those of rows."""
    source = source_of(records)
    return replace(source, entries=lambda: (one._replace(names_paper=False) for one in source.entries()))


@pytest.mark.slow
def test_every_row_is_counted() -> None:
    odd: list[Record] = [
        {"forum_id": "a", "text": "x", "decision": None},
        {"forum_id": "b", "text": "x", "decision": "Withdrawn"},
        {"forum_id": "c", "text": ["x"], "decision": "Reject"},
        papers()[0],
    ]
    found = audit(source_of([*papers(), *odd]))
    kinds = ("no decision", "neither accepted", "one string", "same content")
    assert by_name(found.set_aside, *kinds) == dict.fromkeys(kinds, 1)
    assert found.read == found.accepted + found.rejected + sum(found.set_aside.values())


@pytest.mark.parametrize(
    ("count", "accepted", "sentence"),
    [
        (0, 0, r"\b0 papers"),
        (49, 20, r"\b49 papers.*'decision'.* 50\b"),
        (60, 60, r"\b60 accepted and 0 rejected.* 10\b"),
        (60, 9, r"\b9 accepted and 51 rejected"),
    ],
)
def test_too_few_papers_are_reported(count: int, accepted: int, sentence: str) -> None:
    with pytest.raises(TableError, match=sentence):
        audit(source_of(papers(count, accepted)))


def test_a_changing_corpus_is_refused() -> None:
    reads = iter(range(9))

    def entries() -> Iterator[SourceRecord]:
        last = next(reads)
        for record in papers():
            yield SourceRecord(record["forum_id"], f"{record['text']} {last}", record["decision"], {})

    with pytest.raises(TableError, match="audit again"):
        audit(replace(source_of([]), entries=entries))


def test_identical_texts_are_not_a_leak() -> None:
    found = audit(source_of([record | {"text": "the same"} for record in papers()]))
    assert (found.leaks, found.findings) == (0, ())


@pytest.mark.parametrize("text", [None, ""])
def test_without_texts_nothing_is_claimed(text: str | None) -> None:
    with pytest.raises(TableError, match="'kites' has a text"):
        audit(source_of([record | {"text": text} for record in papers()]))


@pytest.mark.slow
def test_memory_is_bounded_by_a_batch() -> None:
    def entries() -> Iterator[SourceRecord]:
        for number in range(150):
            text = f"{prose(random.Random(number))} " + "kites and more " * 99 + "k" * 600_000
            yield SourceRecord(str(number), text, number % 2, {})

    source = AuditSource("kites", "text", "decision", entries)
    audit(replace(source, entries=lambda: iter([SourceRecord(str(n), str(n), n % 2, {}) for n in range(60)])))
    tracemalloc.start()
    assert audit(source).read == 150
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The texts take 90 MB; two tables of 16 MiB count phrases, and one of 4 MiB selects them.
    assert peak < 60e6


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


def test_an_invalid_report_folder_is_refused_before_the_work(run: Run, leaking: Path) -> None:
    for out in (leaking, leaking / "reports" / "deeper"):
        assert_refused(run("audit", "leaks", leaking, "--out", out), f"'{leaking}'")
    assert run("audit", "leaks", leaking.parent / "none.csv", "--out", leaking.parent / "new").code == 2
    assert not (leaking.parent / "new").exists()


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
def test_replaced_papers_are_found_as_a_leak(run: Run, corpus: Path, tmp_path: Path) -> None:
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
