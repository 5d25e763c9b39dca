"""Citations of turns on the pages of a site, which a script makes, are those of the explorer."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chromium import IN_CHROMIUM, watched
from explored import LIVELY, known_with_points
from invented_tables import ICLR, conversation, invented, paper, post, review, turn
from peercorpus.explorer.citations import Citation, cite_post, cite_turn, is_plain
from peercorpus.explorer.paper_page import Spoken, read_dialogues
from peercorpus.explorer.site.addresses import paper_file
from peercorpus.explorer.site.release_papers import make_paper, read_rows
from peercorpus.explorer.site.write_site import write_site
from peercorpus.records.enums import PostKind, Role
from peercorpus.release.folder import open_release
from peercorpus.release.publish import publish_release

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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
    papers = map(make_paper, read_rows(open_release(folder / "release")))
    forum = next(one.forum for one in papers if one.forum.paper.forum_id == forum_id)
    found = []
    for item in (item for talk in read_dialogues(forum) for item in talk.items):
        if isinstance(item, Spoken):
            found.append(cite_turn(forum, item.turn))
        elif item.is_first:
            found.append(cite_post(forum, item.post))
    return found + [cite_post(forum, one) for one in (*forum.spoken(), *forum.others())]


@pytest.mark.parametrize("text", ["50 % of Erdős", "a\u2013b", "naïve"])
def test_texts_that_the_script_escapes_by_itself(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize("text", ["\u03b1", "x₂", "→", "Ẽ", "a\u00a0b"])
def test_texts_that_need_more_than_the_script_knows(text: str) -> None:
    assert not is_plain(text)


class TestInChromium:
    pytestmark = IN_CHROMIUM

    @pytest.mark.parametrize("forum_id", [LIVELY, ODD])
    def test_the_script_cites_every_turn_as_the_explorer_does(
        self, browser: "Browser", cited: Path, forum_id: str
    ) -> None:
        page = browser.new_page()
        seen = watched(page)
        page.goto(f"{(cited / 'site').as_uri()}/{paper_file(forum_id)}")
        shown = [one.locator("pre").all_text_contents() for one in page.locator(".cite").all()]
        assert shown == [[one.text, one.bibtex] for one in expected(forum_id, cited)]
        assert len(shown) >= 4
        assert seen.errors == []
        page.close()

    def test_a_key_opens_the_citation_of_a_turn_and_its_button_copies_it(self, browser: "Browser", cited: Path) -> None:
        page = browser.new_page()
        page.goto(f"{(cited / 'site').as_uri()}/{paper_file(LIVELY)}")
        page.keyboard.press("j")
        page.keyboard.press("c")
        opened = page.locator(".cite[open]")
        assert opened.count() == 1
        opened.get_by_role("button", name="Copy").first.click()
        opened.get_by_role("button", name="Copied").wait_for()
        page.close()
