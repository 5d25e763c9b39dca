"""What the explorer refuses, and what hostile texts become."""

import html
import re
import signal
import socket
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from starlette.testclient import TestClient

from commands import Run, assert_refused
from explored import ATTACKS, LIVELY, MILLION, explored, hostile, known
from invented_tables import ICLR, paper
from peercorpus.explorer.rendering import Prose
from peercorpus.installation import advise_install
from peercorpus.records.untrusted_text import redact_people

PLAIN = Prose(redact_people)
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
DOCUMENT = {
    "html",
    "head",
    "body",
    "meta",
    "title",
    "link",
    "script",
    "main",
    "header",
    "footer",
    "nav",
    "form",
    "dialog",
}


class Tags(HTMLParser):
    """Collects every tag of a page, with anything it could execute or load."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in {"iframe", "object", "embed", "img", "style", "base", "foreignobject"}:
            self.bad.append(tag)
        for name, value in attrs:
            told = (value or "").lower().strip()
            loads = name in {"src", "href", "action", "xlink:href"}
            is_own = told.startswith(("/", "#", "http://", "https://", "data:,", "?")) and not told.startswith("//")
            if name.startswith("on") or name == "style" or (loads and not is_own):
                self.bad.append(f"{tag} {name}={told[:60]}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)


def tags_of(page: str) -> Tags:
    read = Tags()
    read.feed(page)
    return read


def hostile_pages() -> list[str]:
    """Return the address of every page that shows a text of the hostile corpus."""
    pages = [
        "/",
        "/venues",
        "/?q=click",
        "/?q=script",
        "/?q=pwned",
        "/points?kind=all",
        "/points?q=pwned",
        "/points?q=click&kind=all",
        "/export.csv",
        "/?where=" + quote("keyword=" + ATTACKS[0]),
    ]
    for venue_id, records in hostile().items():
        pages.append("/venue/" + quote(venue_id, safe=""))
        forum_id = quote(records[0].forum_id, safe="")  # type: ignore[attr-defined]
        pages += [f"/{kind}/{forum_id}" for kind in ("paper", "text", "changes", "record")]
    return pages


@pytest.mark.slow
@pytest.mark.fault(
    "input",
    "scripts, markup and control characters in every text, on each page of the explorer",
    "they are shown as text",
    times=45,
)
@pytest.mark.parametrize("page", hostile_pages())
def test_hostile_texts_break_no_page_and_add_no_tag(hostile_client: TestClient, page: str) -> None:
    answer = hostile_client.get(page)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == POLICY
    if not answer.headers["content-type"].startswith("text/html"):
        assert answer.headers["x-content-type-options"] == "nosniff"
        return
    assert "\0" not in answer.text
    assert "\u202e" not in answer.text
    read = tags_of(answer.text)
    assert read.bad == []
    assert read.tags.count("script") == 1
    assert [read.tags.count(name) for name in ("html", "head", "body", "main")] == [1, 1, 1, 1]
    assert read.tags.count("title") == 1


@pytest.mark.slow
def test_a_hostile_query_is_shown_as_text(hostile_client: TestClient) -> None:
    for attack in ATTACKS:
        for page in ("/?q={0}&where={0}", "/points?q={0}&kind={0}&venue={0}&year={0}", "/points?q={0}&{0}"):
            read = tags_of(hostile_client.get(page.format(quote(attack))).text)
            assert read.bad == []
            assert read.tags.count("script") == 1


@pytest.mark.fault(
    "input", "Markdown or HTML of a post that would execute in a browser", "it is shown as text", times=6
)
@pytest.mark.parametrize("attack", ATTACKS)
def test_rendered_prose_contains_nothing_executable(attack: str) -> None:
    drawn = PLAIN(attack)
    assert tags_of(drawn).bad == []
    assert "<script" not in drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"),
        ("[a](JaVaScRiPt&#58;alert(1))", "<p>[a](JaVaScRiPt:alert(1))</p>"),
        ("[a](data:text/html,x)", "<p>[a](data:text/html,x)</p>"),
        ("[a](mailto:x)", "<p>[a](mailto:x)</p>"),
        ("[a](//evil.example)", "<p>[a](//evil.example)</p>"),
        ("[a](https://b.example)", '<p><a href="https://b.example" rel="noopener noreferrer nofollow">a</a></p>'),
        ("it costs $5 and $10", "<p>it costs $5 and $10</p>"),
        ("# Top", "<h4>Top</h4>"),
        ("# why_not_higher", "<h4>why not higher</h4>"),
        ("# a _b_ c_d", "<h4>a <em>b</em> c_d</h4>"),
    ],
)
def test_rendered_prose_is_the_expected_html(text: str, drawn: str) -> None:
    assert PLAIN(text).strip() == drawn


def test_formulas_that_cannot_be_read_stay_as_they_were_written() -> None:
    for tex in ("{" * 3000, r"\frac", r"\sqrt{" * 900, r"\text{<b>x</b>}", r"\def\a{\a\a}\a"):
        assert '<code class="tex">' in PLAIN(f"${tex}$"), tex[:20]


def test_an_extremely_long_text_is_shown_whole_as_plain_text() -> None:
    assert len(MILLION) > 40_000
    drawn = Prose(redact_people)(MILLION)
    assert drawn.startswith('<div class="plain">')
    assert drawn.count("&lt;b&gt;") == MILLION.count("<b>")
    assert "<b>" not in drawn


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.7", ""])
def test_requests_for_other_host_names_are_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "kites" not in answer.text.lower()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_no_request_can_write(client: TestClient, method: str) -> None:
    answer = client.request(method, "/")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "page", ["/", f"/paper/{LIVELY}", "/nowhere", "/static/keys.js", f"/record/{LIVELY}", "/export.csv"]
)
def test_every_answer_has_the_headers(client: TestClient, page: str) -> None:
    headers = client.get(page).headers
    assert headers["content-security-policy"] == POLICY
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


def test_no_page_has_an_inline_script_or_style(client: TestClient) -> None:
    for page in ("/", f"/paper/{LIVELY}", f"/text/{LIVELY}", "/points", "/venues", "/about"):
        told = client.get(page).text
        assert re.findall(r"<script[^>]*>(.+?)</script>", told, re.DOTALL) == []
        assert " style=" not in told
        assert set(re.findall(r'(?:src|href)="((?:https?:)?//[^"]*)"', told)) == set()


@pytest.mark.slow
def test_a_changed_takedown_list_stops_all_pages(tmp_path: Path) -> None:
    with explored(tmp_path / "corpus", known()) as opened:
        assert opened.get(f"/paper/{LIVELY}").status_code == 200
        (tmp_path / "corpus" / "takedown.txt").write_text(f"{LIVELY}\n")
        answer = opened.get(f"/paper/{LIVELY}")
        assert answer.status_code == 503
        assert answer.headers["content-type"].startswith("text/plain")
    assert LIVELY not in answer.text


def test_a_port_in_use_is_reported_in_one_sentence(known_folder: Path, client: TestClient, run: Run) -> None:
    assert client.get("/").status_code == 200
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert_refused(run("explore", "-w", known_folder, "--port", port, "--no-browser"), port, "--port 0")


@pytest.mark.slow
@pytest.mark.parametrize(("host", "is_warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_a_server_prints_its_address_and_warns_if_others_can_reach_it(
    known_folder: Path, client: TestClient, host: str, *, is_warned: bool
) -> None:
    assert client.get("/").status_code == 200
    command = [sys.executable, "-m", "peercorpus", "explore", "-w", str(known_folder)]
    options = ["--host", host, "--port", "0", "--no-browser"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        found = re.search(r"http://\S+:(\d+)/", said)
        assert found, said
        with urlopen(f"http://127.0.0.1:{found[1]}/about") as answer:
            assert b"About this corpus" in answer.read()
        server.send_signal(signal.SIGINT)
        _, told = server.communicate(timeout=30)
    assert ("WARNING" in told) is is_warned
    assert "Traceback" not in told


@pytest.mark.slow
def test_without_its_packages_the_message_says_what_to_install(known_folder: Path) -> None:
    code = "import sys; sys.modules['tantivy'] = None; from peercorpus.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "explore", "-w", str(known_folder)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert "'tantivy'" in ended.stderr
    assert advise_install("web") in ended.stderr


@pytest.mark.slow
def test_an_address_as_keyword_is_masked_in_its_link_which_finds_the_paper(tmp_path: Path) -> None:
    for keyword in ("ada@example.org", "~Ada_Example1"):
        records: list[object] = [paper("f1", keywords=("kites", keyword)), paper("f2")]
        with explored(tmp_path / keyword, {ICLR: records}) as opened:
            page = opened.get("/paper/f1").text
            assert keyword not in page
            assert quote(keyword) not in page
            assert quote(keyword, safe="") not in page
            links = [html.unescape(link) for link in re.findall(r'href="(/papers\?where=[^"]+)"', page)]
            assert len(links) == 2
            for link in links:
                found = opened.get(link).text
                assert "/paper/f1" in found
                assert "/paper/f2" not in found


def test_the_number_of_a_formula_is_shown_as_it_is_without_a_link() -> None:
    drawn = str(PLAIN("$$\nx\n$$ (<b>2)"))
    assert "(&lt;b&gt;2)" in drawn
    assert "<a" not in drawn
    assert "<math" in drawn


def test_bullets_of_plus_and_minus_keep_their_signs_where_a_reviewer_uses_both() -> None:
    assert (
        str(PLAIN("+ Timely.\n\n- Rare."))
        == '<ul class="plus">\n<li>Timely.</li>\n</ul>\n<ul class="minus">\n<li>Rare.</li>\n</ul>\n'
    )
    assert "class" not in PLAIN("- One.\n- Two.\n\n* Three.")
