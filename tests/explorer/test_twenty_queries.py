"""Queries of every kind that people type, and what each brings: papers, venues, passages and hints."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from starlette.testclient import TestClient

from explored import explored
from invented_tables import ICLR, ICML, a_forum, ai_review, conversation, paper, post, review, text, turn, version
from peercorpus.explorer.querying.words import respell
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import Grade, PostKind, Role, SectionKind, Status
from peercorpus.records.reviews import Section

PAPER = re.compile(r'<h2><a href="/paper/([^"]+)">')
TAG = re.compile(r"<[^>]+>")
SNIPPET = re.compile(
    r'<p class="snippet">(?:<a class="field" href="([^"]*)">|<span class="field">)(.*?)</(?:a|span)>(.*?)</p>',
    re.DOTALL,
)
CORL = "CoRL.org/2024/Robot-Learning/Conference"
PAGES = PAGE_BREAK.join(["# Kites\n\nThe beginning.", "Further on a theremin plays.", "The end."])


def a_paper(forum_id: str, venue_id: str, criticism: str, answer: str, **fields: Any) -> list[object]:
    """A paper with one review and the authors' answer to it."""
    of_paper = replace(
        review(forum_id, venue_id=venue_id),
        sections=(Section(SectionKind.WEAKNESSES, "weaknesses", criticism),),
    )
    asked, answered = f"{forum_id}-R1", f"{forum_id}-answer"
    of_turns = (replace(turn(Role.REVIEWER, asked), text=criticism), replace(turn(Role.AUTHOR, answered), text=answer))
    return [
        paper(forum_id, venue_id, **({"authors": (), "keywords": (), "abstract": "Nothing."} | fields)),
        of_paper,
        post(asked, forum_id, venue_id, kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1", text=criticism),
        post(answered, forum_id, venue_id, text=answer),
        conversation(forum_id, "R1", of_turns, venue_id=venue_id),
    ]


def venues() -> dict[str, list[object]]:
    optimised = a_paper(
        *("Optim001", ICLR, "The state of the kite: a state of the art baseline is missing.", "We added a marimba."),
        title="Optimisation of kites",
        keywords=("self-supervised",),
    )
    american = a_paper(
        *("Ameri002", ICML, "The art is long. " * 40 + "Here the fiber snaps; an ocarina is heard.", "Thanks."),
        title="Optimizing colour transformers",
        authors=("Jürgen Gómez", "Denise Taylor"),
    )
    robots = a_paper(
        *("Robot003", CORL, "Fine.", "Thanks."),
        title="Grasping in the centre",
        authors=("Denize Peter",),
        status=Status.REJECTED,
    )
    read = [version("Robot003", "sha-read", Grade.EXACT, CORL), text("sha-read", PAGES, CORL)]
    return {ICLR: [*a_forum("Forum000"), ai_review("Forum000"), *optimised], ICML: american, CORL: [*robots, *read]}


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with explored(tmp_path_factory.mktemp("twenty") / "corpus", venues()) as client:
        yield client


def ask(client: TestClient, words: str, **more: str) -> str:
    answer = client.get(f"/papers?{urlencode({'q': words} | more)}")
    assert answer.status_code == 200
    return answer.text


def words_of(page: str) -> str:
    return " ".join(unescape(TAG.sub(" ", page)).split())


EVERY = {"Forum000", "Optim001", "Ameri002", "Robot003"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("grasping", {"Robot003"}, id="title word"),
        pytest.param("transformer", {"Ameri002"}, id="plural"),
        pytest.param("self supervised", {"Optim001"}, id="hyphen"),
        pytest.param("optimization", {"Optim001", "Ameri002"}, id="American spelling"),
        pytest.param("optimise", {"Optim001", "Ameri002"}, id="British spelling"),
        pytest.param("color", {"Ameri002"}, id="colour"),
        pytest.param("center", {"Robot003"}, id="centre"),
        pytest.param("fibre", {"Ameri002"}, id="fiber in a review"),
        pytest.param("taylor", {"Ameri002"}, id="author"),
        pytest.param("denise", {"Ameri002"}, id="an author is not spelt in another way"),
        pytest.param("gomez", {"Ameri002"}, id="accents"),
        pytest.param("CoRL", {"Robot003"}, id="venue short name"),
        pytest.param("icml 2023", {"Ameri002"}, id="venue and year"),
        pytest.param("ICML2023", {"Ameri002"}, id="venue and year in one"),
        pytest.param("icml 2024", {"Ameri002", "Robot003"}, id="a venue in a year that it has not"),
        pytest.param(CORL.lower(), {"Robot003"}, id="venue id"),
        pytest.param("optimisation iclr", {"Optim001"}, id="word and venue"),
        pytest.param("robot", set(), id="a part of a venue's name is none"),
        pytest.param("conference", set(), id="nor is what all venues have"),
        pytest.param('"state of the art"', {"Optim001"}, id="phrase with stop words"),
        pytest.param('"of the state"', set(), id="phrase in another order"),
        pytest.param("kites marimba", {"Optim001"}, id="two words in different fields"),
        pytest.param("ocarina", {"Ameri002"}, id="only in a review"),
        pytest.param("marimba", {"Optim001"}, id="only in an answer"),
        pytest.param("theremin", {"Robot003"}, id="only in the text"),
        pytest.param("optimi*", {"Optim001", "Ameri002"}, id="prefix"),
        pytest.param("gom* transf*", {"Ameri002"}, id="prefix of a name without its accent"),
        pytest.param("title:kites", {"Optim001"}, id="field title"),
        pytest.param("authors:gomez", {"Ameri002"}, id="field authors"),
        pytest.param("venue:corl", {"Robot003"}, id="field venue"),
        pytest.param(f"venue:{CORL}", {"Robot003"}, id="field venue with an id"),
        pytest.param("keywords:supervised", {"Optim001"}, id="field keywords"),
        pytest.param("status:rejected", {"Robot003"}, id="field status"),
        pytest.param("", EVERY, id="empty"),
        pytest.param("marimba zzyzx", {"Optim001"}, id="a missed word"),
        pytest.param("zzyzx", set(), id="no hit"),
        pytest.param("\"';--<script>alert(1)</script> ${7*7} \x00 ((", set(), id="hostile"),
    ],
)
def test_a_query_finds_its_papers(asking: TestClient, words: str, expected: set[str]) -> None:
    page = ask(asking, words)
    assert set(PAPER.findall(page)) == expected
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("Optim001", "/paper/Optim001"),
        ("optim001", "/paper/Optim001"),
        ("https://openreview.net/forum?id=Robot003", "/paper/Robot003"),
        ("https://openreview.net/forum?id=robot003", "/paper/Robot003"),
        (
            "openreview.net/forum?id=Optim001&noteId=OPTIM001-ANSWER",
            "/paper/Optim001#conversation-R1-turn-Optim001-answer",
        ),
        ("Forum000-ai", "/paper/Forum000#post-Forum000-ai"),
    ],
)
def test_an_id_opens_its_page_in_any_letter_case(asking: TestClient, words: str, place: str) -> None:
    answer = asking.get(f"/papers?q={quote(words)}")
    assert (answer.status_code, answer.headers["location"]) == (303, place)
    path, _, anchor = place.partition("#")
    assert not anchor or f'id="{anchor}"' in asking.get(path).text


def test_the_ids_of_an_ai_review_and_of_its_answers_open_their_places(asking: TestClient) -> None:
    for note_id in ("Forum000-ai", "Forum000-ai-answer"):
        place = f"/paper/Forum000#post-{note_id}"
        assert asking.get(f"/papers?q={note_id}").headers["location"] == place
        assert f'id="post-{note_id}"' in asking.get("/paper/Forum000").text


def test_a_word_found_in_texts_is_not_taken_for_an_id_in_another_letter_case(asking: TestClient) -> None:
    assert asking.get("/papers?q=KITES").status_code == 200


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("corl", [CORL]),
        ("grasping CoRL 2024", [CORL]),
        ("CoRL 2023", []),
        ("iclr icml", [ICML, ICLR]),
        ("iclr icml 2023", [ICML]),
        ("kites", []),
        ("", []),
    ],
)
def test_a_venue_in_the_query_is_linked_above_the_results(asking: TestClient, words: str, named: list[str]) -> None:
    line = re.findall(r'<p class="named">(.*?)</p>', ask(asking, words))
    links = re.findall(r'<a href="/venue/([^"]+)">([^<]+)</a>', line[0]) if line else []
    assert links == [(quote(venue_id, safe=""), venue_id) for venue_id in named]


@pytest.mark.parametrize(
    ("words", "field", "marked", "place"),
    [
        ("ocarina", "In a review", ["ocarina"], "/paper/Ameri002#conversation-R1-turn-Ameri002-R1"),
        ("marimba", "In an answer", ["marimba"], "/paper/Optim001#conversation-R1-turn-Optim001-answer"),
        ('"state of the art"', "In a review", ["state of the art"], "/paper/Optim001#conversation-R1-turn-Optim001-R1"),
        ("fibre", "In a review", ["fiber"], "/paper/Ameri002#conversation-R1-turn-Ameri002-R1"),
        ("ocar*", "In a review", ["ocarina"], "/paper/Ameri002#conversation-R1-turn-Ameri002-R1"),
        ("theremin", "In the paper's text", ["theremin"], "/text/Robot003#page-2"),
        ("grasping theremin", "In the paper's text", ["theremin"], "/text/Robot003#page-2"),
        ("gomez", "Authors", ["Gómez"], ""),
    ],
)
def test_a_hit_shows_its_passage_with_the_words_highlighted_and_links_to_it(
    asking: TestClient, words: str, field: str, marked: list[str], place: str
) -> None:
    shown = SNIPPET.findall(ask(asking, words))
    assert [unescape(name) for _, name, _ in shown] == [field]
    ((link, _, passage),) = shown
    assert re.findall(r"<mark>(.*?)</mark>", passage) == marked
    if "?at=" in link:
        answer = asking.get(unescape(link))
        assert answer.status_code == 303
        link = answer.headers["location"]
    assert link == place
    path, _, anchor = place.partition("#")
    assert not place or f'id="{anchor}"' in asking.get(path).text


def test_a_missing_post_leads_to_the_top_of_the_page(asking: TestClient) -> None:
    assert asking.get("/paper/Optim001?at=nowhere").headers["location"] == "/paper/Optim001"


@pytest.mark.parametrize(
    ("words", "hint", "expected"),
    [
        ("author:gomez", "There is no field 'author:'; did you mean 'authors'?", {"Ameri002"}),
        ("https://arxiv.org marimba", "There is no field 'https:'", {"Optim001"}),
        ("op*", "needs at least 3 letters before it", set()),
        ("*misation", "can only end a word", set()),
        ("title:optimi*", "cannot be combined with fields", set()),
    ],
)
def test_what_cannot_be_searched_for_is_named(asking: TestClient, words: str, hint: str, expected: set[str]) -> None:
    page = ask(asking, words)
    assert hint in words_of(page)
    assert set(PAPER.findall(page)) == expected
    assert "needs at least" not in words_of(ask(asking, "kites"))


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("optimisation", "optimization"),
        ("generalizes", "generalises"),
        ("analyse", "analyze"),
        ("behavioural", "behavioral"),
        ("neighbor", "neighbour"),
        ("favourite", "favorite"),
        ("centre", "center"),
        ("centred", "centered"),
        ("fibers", "fibres"),
        ("theatre", "theater"),
    ],
)
def test_british_and_american_spellings_map_to_each_other(word: str, other: str) -> None:
    assert (respell(word), respell(other)) == (other, word)


@pytest.mark.parametrize(
    "word",
    [
        *("size", "prise", "prize", "wise", "rise", "seize", "maize", "analyses", "analysis", "basis", "crisis"),
        *("four", "for", "tour", "hour", "your", "pour", "sour", "flour", "tor", "error", "sensor", "vector", "actor"),
        *("enter", "entre", "outer", "letter", "water", "filter", "acre", "here", "computer", "cluster", "tire"),
    ],
)
def test_a_word_is_never_respelt_as_a_different_word(word: str) -> None:
    assert respell(word) is None
