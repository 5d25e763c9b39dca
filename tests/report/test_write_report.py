"""`peercorpus report` from the user's point of view: the page, the files, and what is refused."""

import csv
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import invented_tables as made
import peercorpus
from commands import Ended, Run, assert_refused, run_command
from in_this_process import InThisProcess
from invented_tables import ICLR, ICML, a_forum
from peercorpus.errors import MissingExtraError, ModelError, PeercorpusError
from peercorpus.execution.executor import Executor, Failure, FailureKind
from peercorpus.installation import advise_install
from peercorpus.models.token_counts import TokenBatch, Tokenizer, count_tokens
from peercorpus.report.panels import PANELS
from peercorpus.report.write_report import compute_statistic, write_report
from peercorpus.workspace.workspace import Workspace

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> --> $\\frac{1}{ ]]> \u202e\x1b[31m 会议 {0} %s"
"""Markup, the end of a comment, TeX, control characters, letters missing from the font, and placeholders."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Three papers of two conferences; tests must not change it."""
    folder = tmp_path_factory.mktemp("report") / "corpus"
    with made.invented(folder, {ICLR: [*a_forum("a"), *a_forum("b")], ICML: a_forum("m", ICML)}) as one:
        yield one


@pytest.fixture(scope="module")
def drawn(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """The whole report as written by the command, and the command's output."""
    out = tmp_path_factory.mktemp("drawn") / "out"
    return out, run_command("report", "--workspace", workspace.folder, "--out", out)


@pytest.mark.slow
def test_a_report_has_every_figure(drawn: tuple[Path, Ended]) -> None:
    out, ended = drawn
    assert ended.code == 0, ended.err
    first, *_, last = ended.out.splitlines()
    counts = re.findall(r"(\d+) figures", first)
    assert (len(counts), sum(map(int, counts))) == (2, len(PANELS))
    assert "3 papers" in first
    assert str(out / "report.html") in last
    figures = {f"{panel}.{kind}" for panel in PANELS for kind in ("pdf", "svg", "png", "csv")}
    assert {path.name for path in out.iterdir()} == figures | {"report.html", "numbers.json", "checksums.json"}
    assert f"'{PANELS['set_aside'].title}'" in ended.out
    numbers = json.loads((out / "numbers.json").read_text())
    assert list(numbers["figures"]) == list(PANELS)
    assert numbers["figures"]["papers_and_reviews"]["n"] == 3


def test_pooled_rules_are_stated(workspace: Workspace, drawn: tuple[Path, Ended], tmp_path: Path) -> None:
    out, _ = drawn
    numbers = json.loads((out / "numbers.json").read_text())
    assert f"what is published: public ({ICLR}), reviews private ({ICML})" in numbers["pooled"]
    assert all(
        one["how"].endswith("rules differ or may differ: what is published.") for one in numbers["figures"].values()
    )
    assert numbers["pooled"] in (out / "report.html").read_text()
    write_report(workspace.folder, tmp_path / "out", ["conference=icml"], figures=["papers_and_reviews"])
    alone = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert alone["pooled"] == ""
    assert "Pools" not in alone["figures"]["papers_and_reviews"]["how"]


@pytest.mark.slow
def test_only_named_figures_are_drawn(workspace: Workspace, tmp_path: Path) -> None:
    written = write_report(workspace.folder, tmp_path / "out", figures=["turns", "keywords"])
    assert written.figures == 2
    files = {f"{name}.{kind}" for name in ("turns", "keywords") for kind in ("pdf", "svg", "png", "csv")}
    assert {path.name for path in (tmp_path / "out").iterdir()} == files | {
        "report.html",
        "numbers.json",
        "checksums.json",
    }
    assert list(json.loads((tmp_path / "out" / "numbers.json").read_text())["figures"]) == ["keywords", "turns"]
    with pytest.raises(PeercorpusError, match=r"'violins'.*papers_and_reviews"):
        write_report(workspace.folder, tmp_path / "other", figures=["turns", "violins"])
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
@pytest.mark.fault("input", "a keyword that a spreadsheet would run as a formula, in the report", "it is text there")
def test_no_cell_is_run_as_a_formula(tmp_path: Path) -> None:
    records = [made.paper("a", keywords=('=HYPERLINK("x")', "plain"))]
    with made.invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        write_report(workspace.folder, tmp_path / "out", figures=["keywords"])
    rows = list(csv.DictReader((tmp_path / "out" / "keywords.csv").read_text().splitlines()))
    assert sorted(row["keyword"] for row in rows) == ['\'=hyperlink("x")', "plain"]


@pytest.mark.slow
def test_the_same_corpus_gives_the_same_bytes(workspace: Workspace, drawn: tuple[Path, Ended], tmp_path: Path) -> None:
    write_report(workspace.folder, tmp_path / "again")
    one, two = ({path.name: path.read_bytes() for path in out.iterdir()} for out in (drawn[0], tmp_path / "again"))
    assert [file for file in one if one[file] != two[file]] == []
    assert one.keys() == two.keys()


@pytest.mark.slow
def test_only_an_earlier_report_is_replaced(workspace: Workspace, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out"
    write_report(workspace.folder, out, figures=["turns"])
    (out / "turns.csv").write_text("changed")
    write_report(workspace.folder, out, figures=["turns"])
    assert (out / "turns.csv").read_text() != "changed"
    (out / "mine.txt").write_text("mine")
    assert_refused(run("report", "-w", workspace.folder, "--out", out), "'mine.txt'")
    assert (out / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--where", "year>=soon"), "'soon'"),
        (("--tokenizer", "no-such/folder/tokenizer.json"), "token"),
    ],
)
def test_bad_input_is_named_in_one_sentence(
    workspace: Workspace, tmp_path: Path, run: Run, options: tuple[str, ...], named: str
) -> None:
    ended = run("report", "-w", workspace.folder, "--out", tmp_path / "out", *options)
    assert_refused(ended, named)
    assert not (tmp_path / "out").exists()


def test_a_workspace_without_tables_is_refused(tmp_path: Path, run: Run) -> None:
    with made.invented(tmp_path / "corpus", {}) as empty:
        assert_refused(run("report", "-w", empty.folder, "--out", tmp_path / "out"), "peercorpus build")


class _Reader(HTMLParser):
    """Tags, attributes and visible text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    venue, folder = "ICLR.cc/2020/Conference", tmp_path_factory.mktemp("hostile")
    records = [
        made.paper("a", venue, conference=EVIL, track=EVIL, keywords=(EVIL, "=cmd|' /C calc'!A0")),
        *a_forum("a", venue)[1:],
    ]
    with made.invented(folder / f"corp<us> & {EVIL[:8]}".replace("/", ""), {venue: records}) as workspace:
        write_report(workspace.folder, folder / "out")
    return (folder / "out" / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.fault(
    "input", "markup, an escape sequence or a change of direction in a name, in the report", "it is text there"
)
def test_a_hostile_name_is_always_plain_text(hostile_page: str) -> None:
    read = _Reader(hostile_page)
    assert not {"script", "img", "iframe", "object", "link", "foreignobject"} & {tag.lower() for tag in read.tags}
    assert not [key for key, _ in read.attributes if key.startswith("on")]
    assert "<script>alert(1)</script>" in read.text
    assert "\u202e" not in hostile_page
    assert "\x1b" not in hostile_page
    assert "<!--" not in hostile_page


@pytest.mark.slow
def test_the_page_is_self_contained(hostile_page: str) -> None:
    read = _Reader(hostile_page)
    policies = [value for key, value in read.attributes if key == "content" and "default-src" in value]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"]
    assert not [value for key, value in read.attributes if key == "src"]
    targets = [value for key, value in read.attributes if key in {"href", "xlink:href"}]
    assert targets
    outside = [one for one in targets if not re.fullmatch(r"#[\w.-]+|\w+\.(pdf|svg|png|csv)", one)]
    assert outside == []
    assert not re.findall(r"url\((?!#)", hostile_page)


def test_lengths_are_in_tokens_of_the_named_tokenizer(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peercorpus.models.token_counts.load_tokenizer", lambda name: Tokenizer(name, "0", list))
    made_of = compute_statistic(workspace.folder, "paper_length", tokenizer="models/letters")
    assert made_of.facts["median"] == len("# Text of a")
    assert "'letters'" in made_of.how
    assert "'letters'" not in compute_statistic(workspace.folder, "paper_length").how


def test_figures_name_the_missing_extra(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    corpus = peercorpus.open(workspace.folder)
    assert isinstance(corpus.statistics("turns"), pl.DataFrame)
    with pytest.raises(MissingExtraError, match=re.escape(advise_install("report"))):
        corpus.figure("turns")


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """A tokenizer whose tokens are letters, so that no other way of counting gives the same numbers."""
    tokenizers = pytest.importorskip("tokenizers", reason="the extra 'tokens' is not installed")
    letters = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    letters.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"\w"), "removed", invert=True)
    letters.save(str(tmp_path / "letters.json"))
    return str(tmp_path / "letters.json")


def files_drawn(workspace: Workspace, out: Path, tokenizer: str, spread: Executor | None) -> dict[str, bytes]:
    """Every file of a report."""
    write_report(workspace.folder, out, (), tokenizer, spread=spread)
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


@pytest.mark.slow
@pytest.mark.usefixtures("svg_alone")
def test_tokens_are_the_same_everywhere(workspace: Workspace, tokenizer: str, tmp_path: Path, run: Run) -> None:
    here = files_drawn(workspace, tmp_path / "here", tokenizer, None)
    assert b"tokens of the tokenizer 'letters.json'" in here["numbers.json"]
    found = compute_statistic(workspace.folder, "paper_length", tokenizer=tokenizer)
    assert found.facts["median"] == len("Textofa")
    asked = ("report", "-w", workspace.folder, "--tokenizer", tokenizer, "--workers", "1")
    assert run(*asked, "--out", tmp_path / "there").code == 0
    assert {path.name: path.read_bytes() for path in sorted((tmp_path / "there").iterdir())} == here


@pytest.mark.slow
def test_uncounted_texts_leave_nothing(workspace: Workspace, tokenizer: str, tmp_path: Path) -> None:
    stopped = InThisProcess(failures=(Failure(FailureKind.TIMEOUT, "It was stopped."),))
    with pytest.raises(PeercorpusError, match="It was stopped"):
        files_drawn(workspace, tmp_path / "out", tokenizer, stopped)
    assert not (tmp_path / "out").exists()


def test_another_tokenizer_of_the_same_name_is_refused(tokenizer: str) -> None:
    with pytest.raises(ModelError, match=re.escape(tokenizer)):
        count_tokens(TokenBatch(("a",), tokenizer, "0" * 64))


def test_without_a_tokenizer_no_work_is_distributed(workspace: Workspace, tmp_path: Path, run: Run) -> None:
    ended = run("report", "-w", workspace.folder, "--out", tmp_path / "out", "--executor", "ray")
    assert_refused(ended, "--tokenizer")
