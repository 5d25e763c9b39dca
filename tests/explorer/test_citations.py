"""Citations of turns in the explorer, and the same ones on a site, where a script makes them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from asked_releases import publish_release
from chromium import IN_CHROMIUM, watched
from explored import LIVELY, known_with_points
from invented_tables import ICLR, NOON, conversation, invented, paper, post, review, turn
from peercorpus.corpus.forums import Forum
from peercorpus.corpus.public_forums import PublicForum, keep_public
from peercorpus.explorer.citations import Citation, cite_post, cite_turn, is_plain, openreview_address
from peercorpus.explorer.paper_page import Spoken, read_dialogues
from peercorpus.explorer.site.release_papers import make_forum, read_rows
from peercorpus.explorer.site.render import paper_file
from peercorpus.explorer.site.write_site import write_site
from peercorpus.records.enums import PostKind, Role
from peercorpus.release.folder import open_release

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def _public(*posts: object, **of_paper: object) -> PublicForum:
    return keep_public(Forum(paper(LIVELY, **of_paper), [], list(posts), [], []))  # type: ignore[arg-type]


def test_reviewers_are_cited_by_address_and_signature() -> None:
    said = post("rEv1ew", LIVELY, kind=PostKind.REVIEW, role=Role.REVIEWER, signature="Reviewer_AbCd")
    forum = _public(said, title="Kites & 50 % wind", authors=("Ada Example", "Bo Ek"), venue="ICLR 2020 Poster")
    spoken = turn(Role.REVIEWER, "rEv1ew")
    citation = cite_turn(forum, spoken)
    address = f"https://openreview.net/forum?id={LIVELY}&noteId=rEv1ew"
    assert citation.address == address
    assert citation.text.startswith(f"Reviewer ({spoken.signature}). Review of “Kites & 50 % wind”. ICLR 2020 Poster. ")
    assert citation.text.endswith(f" {address}")
    assert citation.bibtex.splitlines() == [
        f"@misc{{{LIVELY}-rEv1ew,",
        r"  title = {{Review of “Kites \& 50 \% wind”}},",
        "  author = {{Anonymous reviewer}},",
        "  year = {2020},",
        "  howpublished = {OpenReview, ICLR 2020 Poster},",
        f"  url = {{{address}}},",
        f"  note = {{Review: Reviewer ({spoken.signature}), 2 January 2020; "
        r"reviewed paper: {Kites \& 50 \% wind}},",
        "}",
    ]


@pytest.mark.parametrize(
    ("role", "author"),
    [
        (Role.AUTHOR, "{Ada Example} and {Bo Ek}"),
        (Role.AREA_CHAIR, "{Anonymous area chair}"),
        (Role.PROGRAM_CHAIR, "{Programme chair}"),
        (Role.AI, "{AI}"),
    ],
)
def test_authors_are_cited_for_own_turns(role: Role, author: str) -> None:
    forum = _public(post("p", LIVELY, role=role), authors=("Ada Example", "Bo Ek"))
    assert f"  author = {{{author}}}," in cite_turn(forum, turn(role, "p")).bibtex.splitlines()


def test_citations_mask_addresses_and_stay_closed() -> None:
    said = post("p", LIVELY, role=Role.PUBLIC, signature="~Ada_Example1", created_at=NOON)
    forum = _public(said, title="By ada@example.org } } @misc{x, \\input{y}", authors=("Eve } and Mallory",))
    citation = cite_post(forum, said)
    whole = citation.text + citation.bibtex
    assert "ada@example.org" not in whole
    assert "Ada_Example1" not in whole
    for line in citation.bibtex.splitlines()[1:-1]:
        plain = re.sub(r"\\[{}]", "", line)
        assert plain.count("{") == plain.count("}")
    assert "\\input" not in citation.bibtex


def test_citations_are_short() -> None:
    long = "<b> & " * 100_000
    said = post("p", LIVELY, role=Role.REVIEWER, signature=long)
    citation = cite_post(_public(said, title=long, venue=long, authors=(long,)), said)
    assert len(citation.text) + len(citation.bibtex) < 10_000


@pytest.mark.parametrize(
    ("forum_id", "note_id", "expected"),
    [
        ("abc", "a b", "https://openreview.net/forum?id=abc"),
        ("abc", None, "https://openreview.net/forum?id=abc"),
        ("reviewbench:abc", "n", None),
        ("a&b=c", None, None),
    ],
)
def test_foreign_ids_have_no_address(forum_id: str, note_id: str | None, expected: str | None) -> None:
    assert openreview_address(forum_id, note_id) == expected


def test_every_turn_has_link_and_citation(client: TestClient) -> None:
    page = client.get(f"/paper/{LIVELY}").text
    turns = re.findall(r'<article class="turn [^"]*" id="([^"]+)" tabindex="-1">(.*?)</article>', page, re.DOTALL)
    assert len(turns) == 6
    for anchor, inner in turns:
        assert f'href="#{anchor}"' in inner
        assert 'class="cite"' in inner
        assert f"https://openreview.net/forum?id={LIVELY}&amp;noteId={LIVELY}-" in inner


def test_contents_link_to_existing_anchors(client: TestClient) -> None:
    page = client.get(f"/paper/{LIVELY}").text
    for name in ("Contents", "On this page"):
        contents = page.partition(f'aria-label="{name}"')[2].partition("</nav>")[0]
        places = re.findall(r'href="#([^"]+)"', contents)
        assert {"abstract", "scores", "conversations", "conversation-R1", "chair", "versions"} <= set(places)
        assert all(f'id="{place}"' in page for place in places)


ODD = "-Odd_09-"
TITLE = '\u03b1\u2013kites: 50% of {a_b} -- "see" #3, C:\\x, naïve <i>x</i> & ~^`'


def odd() -> list[object]:
    """A paper whose title, authors and ids are hard to write in LaTeX, or to read from a page."""
    r1, reply, late = f"{ODD}-r1-", f"{ODD}-a1", f"{ODD}-late"
    talk = conversation(
        ODD,
        "R1",
        (
            turn(Role.REVIEWER, r1),
            turn(Role.AUTHOR, reply),
            replace(turn(Role.REVIEWER, late), created_at=None),
            replace(turn(Role.AUTHOR, "gone"), post_ids=()),
        ),
    )
    return [
        paper(ODD, title=TITLE, venue="Kites & \u03b1 2020", authors=("Erdős, Jr.", "Ada Näme", "Ƶ ẏ"), year=2020),
        review(ODD, "R1"),
        post(r1, ODD, kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1", text="Weak."),
        post(reply, ODD, kind=PostKind.REBUTTAL, reply_to=r1, text="Strong."),
        replace(post(late, ODD, role=Role.REVIEWER, signature="R1", text="Fine."), created_at=None),
        talk,
    ]


@pytest.fixture(scope="module")
def cited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release and its site."""
    folder = tmp_path_factory.mktemp("cited")
    venues = known_with_points()
    venues[ICLR] = [*odd(), *venues[ICLR]]
    with invented(folder / "workspace", venues) as workspace:
        publish_release(workspace, folder / "release")
    write_site(open_release(folder / "release"), folder / "site")
    return folder


def expected(forum_id: str, folder: Path) -> list[Citation]:
    papers = map(make_forum, read_rows(open_release(folder / "release")))
    forum = next(one for one in papers if one.paper.forum_id == forum_id)
    found = []
    for item in (item for talk in read_dialogues(forum) for item in talk.items):
        if isinstance(item, Spoken):
            found.append(cite_turn(forum, item.turn))
        elif item.is_first:
            found.append(cite_post(forum, item.post))
    return found + [cite_post(forum, one) for one in (*forum.spoken(), *forum.others())]


@pytest.mark.parametrize("text", ["50 % of Erdős", "a\u2013b", "naïve"])
def test_texts_the_script_escapes(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize("text", ["\u03b1", "x₂", "→", "Ẽ", "a\u00a0b"])
def test_texts_the_script_cannot_escape(text: str) -> None:
    assert not is_plain(text)


class TestInChromium:
    pytestmark = IN_CHROMIUM

    @pytest.mark.parametrize("forum_id", [LIVELY, ODD])
    def test_script_cites_as_the_explorer(self, browser: "Browser", cited: Path, forum_id: str) -> None:
        page = browser.new_page()
        seen = watched(page)
        page.goto(f"{(cited / 'site').as_uri()}/{paper_file(forum_id)}")
        shown = [one.locator("pre").all_text_contents() for one in page.locator(".cite").all()]
        assert shown == [[one.text, one.bibtex] for one in expected(forum_id, cited)]
        assert len(shown) >= 4
        assert seen.errors == []
        page.close()

    def test_a_key_opens_a_citation_to_copy(self, browser: "Browser", cited: Path) -> None:
        page = browser.new_page()
        page.goto(f"{(cited / 'site').as_uri()}/{paper_file(LIVELY)}")
        page.keyboard.press("j")
        page.keyboard.press("c")
        opened = page.locator(".cite[open]")
        assert opened.count() == 1
        opened.get_by_role("button", name="Copy").first.click()
        opened.get_by_role("button", name="Copied").wait_for()
        page.close()
