"""A site of a release: files that link to each other, and contain only what may be shown."""

import base64
import errno
import fcntl
import hashlib
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from asked_releases import publish_release
from commands import run_command
from explored import GONE, LIVELY, QUIET, SILENT, known_with_points
from invented_points import WEAKNESSES
from invented_tables import invented, keep
from peercorpus.corpus.public_forums import public_forums
from peercorpus.corpus.takedown import read_takedown
from peercorpus.errors import PeercorpusError
from peercorpus.explorer.paper_row import paper_row
from peercorpus.explorer.site.assets import inline_scripts
from peercorpus.explorer.site.extras import Extra
from peercorpus.explorer.site.release_papers import PaperRows, make_forum, read_rows
from peercorpus.explorer.site.render import Job, file_stem, paper_file, render_papers, venue_file
from peercorpus.explorer.site.search_files import SearchIndex
from peercorpus.explorer.site.write_site import write_site
from peercorpus.release.folder import open_release
from peercorpus.release.request import ReleaseLayout
from peercorpus.workspace.workspace import open_workspace


class Links(HTMLParser):
    """Collects a page's references: links, files that it loads, and its own anchors."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.named: list[str] = []
        self.ids: set[str] = set()
        self.policies = 0
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.named += [str(values[name]) for name in ("href", "src") if values.get(name)]
        self.ids |= {str(values["id"])} if "id" in values else set()
        self.policies += tag == "meta" and str(values.get("http-equiv")).lower() == "content-security-policy"


def pages(site: Path) -> dict[str, Links]:
    return {path.relative_to(site).as_posix(): Links(path) for path in sorted(site.rglob("*.html"))}


def resolve(page: str, link: str) -> tuple[str, str]:
    """Return the path in the site and the anchor to which a relative link on a page points."""
    parts = urlsplit(link)
    if not parts.path:
        return page, unquote(parts.fragment)
    steps: list[str] = []
    for step in (PurePosixPath(page).parent / parts.path).parts:
        if step == "..":
            steps.pop()
        else:
            steps.append(step)
    return "/".join(steps), unquote(parts.fragment)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@given(st.lists(st.text(), min_size=2, max_size=2, unique=True))
def test_different_ids_have_different_files(ids: list[str]) -> None:
    first, second = map(file_stem, ids)
    assert first.casefold() != second.casefold()


@given(st.text(max_size=500))
def test_file_names_are_plain(record_id: str) -> None:
    assert re.fullmatch(r"p-[a-z0-9_~-]{0,240}", file_stem(record_id))


@pytest.mark.parametrize(
    ("left", "right"),
    [("aB", "ab"), ("aB", "a_b"), ("_a", "A"), ("~41", "A"), ("é", "É"), ("é", "e\u0301"), ("A" * 300, "a" * 300)],
)
def test_similar_ids_have_separate_files(left: str, right: str) -> None:
    assert paper_file(left).casefold() != paper_file(right).casefold()
    assert venue_file(left).casefold() != venue_file(right).casefold()


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["known_site", "hostile_static_site"])
def test_links_lead_to_files(corpus: str, request: pytest.FixtureRequest) -> None:
    site: Path = request.getfixturevalue(corpus)
    found = pages(site)
    dead = []
    for page, links in found.items():
        assert links.policies == 1
        for link in links.named:
            if link == "data:," or link.startswith(("http://", "https://")):
                continue
            assert not link.startswith("/"), (page, link)
            path, anchor = resolve(page, link)
            is_query = path == "index.html" and anchor.startswith("q=")
            if not (site / path).is_file() or (anchor and not is_query and anchor not in found[path].ids):
                dead.append((page, link))
    assert dead == []


def test_every_paper_can_be_reached(known_site: Path) -> None:
    found = pages(known_site)
    reached, left = set(), ["index.html"]
    while left:
        page = left.pop()
        if page in reached or page not in found:
            continue
        reached.add(page)
        left += [resolve(page, link)[0] for link in found[page].named if not link.startswith(("http", "data:"))]
    assert set(found) == reached
    assert {paper_file(forum_id) for forum_id in (LIVELY, QUIET, SILENT)} <= reached


def test_no_file_contains_hidden_records(known_site: Path) -> None:
    whole = b"\n".join(contents(known_site).values()).lower()
    for secret in (GONE.encode(), b"secret about", b"deleted word", b"ada@example.org"):
        assert secret.lower() not in whole
    assert b"windsock" in whole


def test_the_manifest_names_every_other_file(known_site: Path) -> None:
    files = json.loads((known_site / "site.json").read_text())["files"]
    assert {"site.json", *files} == set(contents(known_site))
    assert {".nojekyll", "README.md", "index.html"} <= set(files)
    assert "sdk: static" in (known_site / "README.md").read_text()


def test_a_second_run_writes_the_same_bytes(known_release: Path, known_site: Path, tmp_path: Path) -> None:
    copy = tmp_path / "site"
    shutil.copytree(known_site, copy)
    (copy / "index.html").write_text("changed")
    write_site(open_release(known_release), copy)
    assert contents(copy) == contents(known_site)


def test_a_folder_with_other_files_is_left_alone(known_release: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(PeercorpusError, match=r"thesis\.tex"):
        write_site(open_release(known_release), tmp_path / "out")
    assert list(contents(tmp_path)) == ["out/thesis.tex"]


def test_nothing_is_written_into_the_release(known_release: Path) -> None:
    with pytest.raises(PeercorpusError, match="never changed"):
        write_site(open_release(known_release), known_release / "site")


@pytest.mark.slow
def test_reviewbench_releases_are_refused(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known_with_points()) as workspace:
        publish_release(workspace, tmp_path / "release", layout=ReleaseLayout.REVIEWBENCH)
    with pytest.raises(PeercorpusError, match="layout 'peercorpus'"):
        write_site(open_release(tmp_path / "release"), tmp_path / "site")


@pytest.mark.slow
def test_releases_before_takedowns_are_refused(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", known_with_points()) as workspace:
        keep(workspace)
        publish_release(workspace, tmp_path / "corpus/releases/2026-11-20")
    shutil.copytree(tmp_path / "corpus/releases/2026-11-20", tmp_path / "elsewhere")
    (tmp_path / "corpus/takedown.txt").write_text(f"{GONE}\n")
    for release, more in (("corpus/releases/2026-11-20", ()), ("elsewhere", ("-w", str(tmp_path / "corpus")))):
        ended = run_command("site", str(tmp_path / release), "--out", str(tmp_path / "site"), *more)
        assert ended.code == 2
        assert "publish it again" in ended.err
        assert not (tmp_path / "site").exists()


def test_the_own_takedown_list_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("corpus", "another"):
        with invented(tmp_path / name, known_with_points()) as workspace:
            keep(workspace)
            publish_release(workspace, tmp_path / name / "releases/2026-11-20")
    (tmp_path / "corpus/takedown.txt").write_text(f"{GONE}\n")
    monkeypatch.setenv("PEERCORPUS_WORKSPACE", str(tmp_path / "another"))
    for more in ((), ("-w", str(tmp_path / "another"))):
        release = str(tmp_path / "corpus/releases/2026-11-20")
        ended = run_command("site", release, "--out", str(tmp_path / "site"), *more)
        assert ended.code == 2
        assert not (tmp_path / "site").exists()


@pytest.mark.slow
def test_the_command_reports_its_site(known_release: Path, tmp_path: Path) -> None:
    ended = run_command("site", str(known_release), "--out", str(tmp_path / "my site"), "--title", "Kites & <co>")
    assert ended.code == 0
    assert "3 papers of 3 venues" in ended.out
    assert f"--directory '{tmp_path / 'my site'}'" in ended.out
    assert "<h1>Kites &amp; &lt;co&gt;</h1>" in (tmp_path / "my site" / "index.html").read_text()


def test_release_and_workspace_summarise_alike(known_release: Path) -> None:
    released = {rows.paper["forum_id"]: rows for rows in read_rows(open_release(known_release))}
    with open_workspace(known_release.parent / "known", write=False) as workspace:
        forums = [
            forum
            for venue_id in workspace.tables.venues("1-papers")
            for forum in public_forums(workspace.tables, read_takedown(workspace), venue_id)
        ]
    assert {forum.paper.forum_id for forum in forums} == set(released)
    for forum in forums:
        rows = released[forum.paper.forum_id]
        held = frozenset(filter(None, [rows.paper["text_sha256"]]))
        assert paper_row(make_forum(rows), held) == paper_row(forum, held)


def test_only_named_scripts_run(known_site: Path) -> None:
    page = (known_site / "index.html").read_text()
    scripts = re.findall(r"<script[^>]*>(.+?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert scripts == list(inline_scripts().values())
    assert re.findall(r"'sha256-([^']+)'", page) == digests
    assert not any("</script" in script or "<!--" in script for script in scripts)
    assert page.index("<script") < page.index("rel=stylesheet")  # A script behind a style sheet waits for it.
    other = (known_site / paper_file(LIVELY)).read_text()
    assert "sha256-" not in other
    assert "unsafe" not in page + other


def test_texts_are_added_on_request(known_release: Path, known_site: Path, tmp_path: Path) -> None:
    assert not (known_site / "text").exists()
    assert "Read the paper" not in (known_site / paper_file(LIVELY)).read_text()
    ended = run_command("site", str(known_release), "--out", str(tmp_path / "site"), "--texts")
    assert ended.code == 0
    assert re.search(r"The texts take at least [\d.]+ k?B", ended.out)
    page = (tmp_path / "site" / paper_file(LIVELY, "text")).read_text()
    assert "<math" in page
    assert "Page two." in page
    found = pages(tmp_path / "site")
    assert set(found) - set(pages(known_site)) == {paper_file(LIVELY, "text")}
    leads = {resolve(paper_file(LIVELY), link)[0] for link in found[paper_file(LIVELY)].named}
    assert paper_file(LIVELY, "text") in leads
    assert paper_file(LIVELY) in {
        resolve(paper_file(LIVELY, "text"), link)[0] for link in found[paper_file(LIVELY, "text")].named
    }
    names = json.loads((tmp_path / "site" / "site.json").read_text())["files"]
    assert {"site.json", *names} == set(contents(tmp_path / "site"))


@pytest.mark.parametrize("named", ["owner/corpus", "hf:owner/corpus", "hf:owner/corpus@1a2b"])
def test_hub_datasets_are_downloaded_first(named: str, tmp_path: Path) -> None:
    ended = run_command("site", named, "--out", str(tmp_path / "site"))
    assert ended.code == 2
    assert "hf download owner/corpus --repo-type dataset" in ended.err


def test_a_workspace_has_to_be_published_first(known_release: Path, tmp_path: Path) -> None:
    ended = run_command("site", str(known_release.parent / "known"), "--out", str(tmp_path / "site"))
    assert ended.code == 2
    assert "is a workspace" in ended.err
    assert "peercorpus publish -w" in ended.err


def test_two_runs_do_not_write_the_same_folder(known_release: Path, tmp_path: Path) -> None:
    with (
        FileLock(tmp_path / ".site.lock", thread_local=False),
        pytest.raises(PeercorpusError, match="Another run is writing"),
    ):
        write_site(open_release(known_release), tmp_path / "site")
    assert not (tmp_path / "site").exists()
    write_site(open_release(known_release), tmp_path / "site")
    assert names_in(tmp_path) == [".site.lock", "site"]


def test_a_reused_lock_excludes(known_release: Path, tmp_path: Path) -> None:
    """Of three runs begun at once, the second has opened the file of the lock when the first ends."""
    write_site(open_release(known_release), tmp_path / "site")
    with (tmp_path / ".site.lock").open("rb+") as second:
        write_site(open_release(known_release), tmp_path / "site")
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(PeercorpusError, match="Another run is writing"):
            write_site(open_release(known_release), tmp_path / "site")


def test_leftovers_of_killed_runs_go(known_release: Path, known_site: Path, tmp_path: Path) -> None:
    left = tmp_path / ".site.partial/.index-abc"
    left.mkdir(parents=True)
    (left / "0").write_text("words of what was since taken down")
    write_site(open_release(known_release), tmp_path / "site")
    assert names_in(tmp_path) == [".site.lock", "site"]
    assert contents(tmp_path / "site") == contents(known_site)


def test_a_full_disk_leaves_the_earlier_site(
    known_release: Path, known_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(known_site, tmp_path / "site")

    def fill(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(SearchIndex, "write", fill)
    with pytest.raises(PeercorpusError, match=r"cannot be written to '.*site': No space left on device\. What was"):
        write_site(open_release(known_release), tmp_path / "site")
    assert names_in(tmp_path) == [".site.lock", "site"]
    assert contents(tmp_path / "site") == contents(known_site)


def test_points_and_changes_on_request(whole_release: Path, tmp_path: Path) -> None:
    plain = run_command("site", str(whole_release), "--out", str(tmp_path / "plain"))
    assert plain.code == 0
    assert "also has texts of papers (--texts, about" in plain.out
    assert re.search(r"points of reviews \(--points, about [\d.]+ k?B\) and changes between versions \(--ch", plain.out)
    assert "points" not in (tmp_path / "plain" / paper_file(LIVELY)).read_text()
    assert not (tmp_path / "plain" / "changes").exists()

    ended = run_command("site", str(whole_release), "--out", str(tmp_path / "site"), "--points", "--changes")
    assert ended.code == 0
    assert re.search(r"The points of reviews take about [\d.]+ k?B", ended.out)
    assert re.search(r"The changes between versions take about [\d.]+ k?B", ended.out)
    assert "The pages of papers show 3 points of reviews." in ended.out
    page = (tmp_path / "site" / paper_file(LIVELY)).read_text()
    assert "Read as 3 points: 2 ask for an answer, 1 has one" in page
    assert WEAKNESSES.text.splitlines()[0][3:] in page
    found = pages(tmp_path / "site")
    assert set(found) - set(pages(tmp_path / "plain")) == {paper_file(LIVELY, "changes")}
    led = {resolve(paper_file(LIVELY), link) for link in found[paper_file(LIVELY)].named}
    assert {(paper_file(LIVELY, "changes"), ""), (paper_file(LIVELY, "changes"), "change-1")} <= led
    assert ("about.html", "points") in led
    dead = [
        (name, link)
        for name, links in found.items()
        for link in links.named
        if not link.startswith(("http", "data:"))
        for path, anchor in [resolve(name, link)]
        if (path not in found and not (tmp_path / "site" / path).is_file())
        or (anchor and not anchor.startswith("q=") and anchor not in found[path].ids)
    ]
    assert dead == []
    assert all(links.policies == 1 for links in found.values())
    for secret in (GONE.encode(), b"secret about", b"deleted word"):
        assert secret not in b"".join(contents(tmp_path / "site").values())


def test_points_without_changes_name_none(whole_release: Path, tmp_path: Path) -> None:
    write_site(open_release(whole_release), tmp_path / "site", extras=[Extra.POINTS])
    page = (tmp_path / "site" / paper_file(LIVELY)).read_text()
    assert "Read as 3 points" in page
    assert "Changes of the paper" not in page


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (
            "points",
            r"no points of reviews, which 'peercorpus publish --points' adds; leave out --points\. It has texts",
        ),
        ("changes", r"no changes between versions; leave out --changes\. It has texts of papers \(--texts\)\."),
    ],
)
def test_missing_extras_are_refused(known_release: Path, tmp_path: Path, extra: str, said: str) -> None:
    ended = run_command("site", str(known_release), "--out", str(tmp_path / "site"), f"--{extra}")
    assert ended.code == 2
    assert re.search(said, ended.err)
    assert not (tmp_path / "site").exists()


def test_findings_of_models_are_marked(whole_release: Path) -> None:
    rows = next(one for one in read_rows(open_release(whole_release), list(Extra)) if one.paper["forum_id"] == LIVELY)
    points = [row | {"kind_source": "model"} for row in rows.beside["points"]]
    answers = [row | {"method": "model", "confidence": None} for row in rows.beside["answers"]]
    labelled = PaperRows(rows.paper, {**rows.beside, "points": points, "answers": answers}, rows.links)
    (rendered,) = render_papers(Job([labelled], {}))
    page = rendered.page.decode()
    assert "A language model named the kind." in page
    assert "not measured" in page
    assert "named by a language model" in page
