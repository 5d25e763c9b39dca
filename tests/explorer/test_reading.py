"""Reading the page of a paper: long texts are folded, and each turn can be cited by its address on OpenReview."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from explored import LIVELY, explored
from invented_tables import ICLR, NOON, conversation, paper, post, review, turn
from peercorpus.corpus.forums import Forum
from peercorpus.corpus.public_forums import PublicForum, keep_public
from peercorpus.explorer.citations import cite_post, cite_turn, openreview_address
from peercorpus.explorer.rendering import FOLDED_CHARACTERS, SHOWN_CHARACTERS, Prose
from peercorpus.records.enums import PostKind, Role

TAG = re.compile(r"<[^>]+>")
PARAGRAPH = "Kites need wind, and wind needs kites to be seen. " * 8
ITEMS = "\n".join(f"{number}. The tether of kite {number} is weak{' and long' * 20}." for number in range(1, 31))


def _folded(text: str) -> tuple[str, str]:
    folded = Prose(str).fold(text)
    return str(folded.shown), str(folded.rest)


def _words(html: str) -> list[str]:
    return unescape(TAG.sub(" ", html)).split()


def test_a_short_text_is_not_folded() -> None:
    assert _folded(f"{PARAGRAPH}\n\n{PARAGRAPH}")[1] == ""
    assert _folded("x " * (SHOWN_CHARACTERS // 2 + 400) + f"\n\n{'y ' * (FOLDED_CHARACTERS // 2 - 9)}")[1] == ""


def test_a_long_text_is_folded_between_paragraphs() -> None:
    folded = Prose(str).fold("\n\n".join([PARAGRAPH] * 12))
    assert folded.shown.count("<p>") == 4
    assert folded.rest.count("<p>") == 8
    assert folded.words == 8 * len(PARAGRAPH.split())


def test_a_heading_stays_with_its_text() -> None:
    shown, rest = _folded("\n\n".join([*[PARAGRAPH] * 3, "# Weaknesses", *[PARAGRAPH] * 6]))
    assert "Weaknesses" in shown
    assert shown.rstrip().endswith("</p>")
    assert rest.startswith("<p>")


def test_a_long_list_is_folded_between_items_and_keeps_its_numbering() -> None:
    shown, rest = _folded(ITEMS)
    items = shown.count("<li>")
    assert 1 < items < 29
    assert rest.startswith(f'<ol start="{items + 1}">')
    assert items + rest.count("<li>") == 30
    assert shown.rstrip().endswith("</ol>")


@pytest.mark.slow
@given(st.lists(st.sampled_from([PARAGRAPH, ITEMS, "# Head", "- a\n- b", "> " + PARAGRAPH, "    code", "$$x$$"])))
def test_folding_loses_no_word(blocks: list[str]) -> None:
    text = "\n\n".join(blocks)
    shown, rest = _folded(text)
    assert _words(shown) + _words(rest) == _words(str(Prose(str)(text)))


def test_a_long_text_that_is_not_markdown_is_folded_at_the_end_of_a_line() -> None:
    text = "\n".join([PARAGRAPH] * 200)
    shown, rest = _folded(text)
    assert rest
    assert _words(shown) + _words(rest) == text.split()


def _public(*posts: object, **of_paper: object) -> PublicForum:
    return keep_public(Forum(paper(LIVELY, **of_paper), [], list(posts), [], []))  # type: ignore[arg-type]


def test_a_reviewers_turn_is_cited_by_its_address_and_anonymous_signature() -> None:
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
def test_the_papers_authors_are_cited_only_for_their_own_turns(role: Role, author: str) -> None:
    forum = _public(post("p", LIVELY, role=role), authors=("Ada Example", "Bo Ek"))
    assert f"  author = {{{author}}}," in cite_turn(forum, turn(role, "p")).bibtex.splitlines()


def test_a_citation_masks_email_addresses_and_cannot_close_its_bibtex_entry() -> None:
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


def test_a_citation_is_short_however_long_its_texts_are() -> None:
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
def test_an_id_that_is_not_openreviews_gives_no_address(
    forum_id: str, note_id: str | None, expected: str | None
) -> None:
    assert openreview_address(forum_id, note_id) == expected


def test_every_turn_and_post_of_a_page_has_a_permalink_and_a_citation(client: TestClient) -> None:
    page = client.get(f"/paper/{LIVELY}").text
    turns = re.findall(r'<article class="turn [^"]*" id="([^"]+)" tabindex="-1">(.*?)</article>', page, re.DOTALL)
    assert len(turns) == 6
    for anchor, inner in turns:
        assert f'href="#{anchor}"' in inner
        assert 'class="cite"' in inner
        assert f"https://openreview.net/forum?id={LIVELY}&amp;noteId={LIVELY}-" in inner


def test_the_table_of_contents_links_to_existing_anchors(client: TestClient) -> None:
    page = client.get(f"/paper/{LIVELY}").text
    for name in ("Contents", "On this page"):
        contents = page.partition(f'aria-label="{name}"')[2].partition("</nav>")[0]
        places = re.findall(r'href="#([^"]+)"', contents)
        assert {"abstract", "scores", "conversations", "conversation-R1", "chair", "versions"} <= set(places)
        assert all(f'id="{place}"' in page for place in places)


def test_a_long_review_is_folded_on_the_page_and_a_short_one_is_not(tmp_path: Path) -> None:
    texts = {"R1": "\n\n".join([PARAGRAPH] * 12), "R2": "Short."}
    records: list[object] = [paper("f1")]
    for reviewer, text in texts.items():
        review_id = f"f1-{reviewer}"
        records += [
            review("f1", reviewer),
            post(review_id, "f1", kind=PostKind.REVIEW, role=Role.REVIEWER, signature=reviewer, text=text),
            conversation("f1", reviewer, (replace(turn(Role.REVIEWER, review_id), text=text),)),
        ]
    with explored(tmp_path / "long", {ICLR: records}) as client:
        page = client.get("/paper/f1").text
    first, second = (page.partition(f'id="conversation-{one}"')[2].partition("</section>")[0] for one in texts)
    assert f"Show the other {8 * len(PARAGRAPH.split())} words" in first
    assert 'class="fold"' not in second
