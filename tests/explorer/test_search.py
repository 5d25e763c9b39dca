"""Queries of every kind that people type, and what each brings: papers, venues, passages, facets and hints."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import pytest
from starlette.testclient import TestClient

from explored import GONE, LIVELY, PAPER, QUIET, SILENT, ask, explored, found, words_of
from invented_points import split
from invented_tables import (
    ICLR,
    ICML,
    a_forum,
    ai_review,
    conversation,
    paper,
    post,
    review,
    score,
    text,
    turn,
    version,
)
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.querying.likeness import papers_like
from peercorpus.explorer.querying.words import _find_nearest, respell
from peercorpus.explorer.search import select_rows
from peercorpus.explorer.selection import Selection
from peercorpus.explorer.server import open_explorer
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import Aspect, Grade, Phase, PostKind, Role, SectionKind, Status
from peercorpus.records.reviews import Section
from peercorpus.workspace.workspace import open_workspace

FACET = re.compile(r"<section>\s*<h2>(.*?)</h2>(.*?)</section>", re.DOTALL)
VALUE = re.compile(r'<li>(?:<a href="/papers\?([^"]*)">|<span>)(.*?)</(?:a|span)> <span class="n">([\d,]+)<')


def a_paper(forum_id: str, venue_id: str = ICLR, **fields: Any) -> list[object]:
    """A paper with one review."""
    criticism = fields.pop("criticism", "1. The proofs are long.")
    rating = fields.pop("rating", 6.0)
    rated = score("rating", rating, f"{rating:g}", Aspect.RECOMMENDATION, Phase.FINAL)
    of_paper = review(
        forum_id,
        venue_id=venue_id,
        sections=(Section(SectionKind.WEAKNESSES, "weaknesses", criticism),),
        scores=(replace(rated, higher_is_better=True),),
    )
    return [paper(forum_id, venue_id, **({"authors": (), "keywords": ()} | fields)), of_paper, *split(of_paper)]


def spelt() -> dict[str, list[object]]:
    """Papers that spell the same in different ways, with authors and without, and with a text."""
    return {
        ICLR: [
            *a_paper("Hyphen01", title="Self-supervised vision", keywords=("Transformer",)),
            *a_paper("Joined02", title="Selfsupervised vision", keywords=("attention; graphs",)),
            *a_paper("Parted03", title="Self supervised vision", authors=("Jürgen Gómez", "Mary O'Neil")),
            *a_paper(
                "Texted04",
                title="A dull title",
                abstract="Nothing to see.",
                status=Status.REJECTED,
                rating=1.0,
            ),
            version("Texted04", "sha-texted", Grade.EXACT),
            text(
                "sha-texted",
                "# Text\n\nOnly here stands xylophone; mail bob@example.org. " + "word " * 20_000 + "farfetched",
            ),
            post("Hidden-note", "Texted04", text="A hidden marimba.", readers_public=False),
            post("Shown-note", "Texted04", role=Role.PUBLIC, signature="public_1", kind=PostKind.COMMENT, text="Hm."),
        ],
        ICML: [
            *a_paper("Vision05", ICML, title="Images and transformers", criticism="1. The baselines are missing."),
            *a_paper("Vision06", ICML, title="Images without any name", criticism="1. A baseline is missing here."),
        ],
    }


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    venues = {name: sorted(records, key=_forum_id) for name, records in spelt().items()}
    with explored(tmp_path_factory.mktemp("spelt") / "corpus", venues) as client:
        yield client


def _forum_id(record: object) -> str:
    return str(getattr(record, "forum_id", ""))


@pytest.mark.parametrize(
    ("alike", "expected"),
    [
        (("transformers", "transformer", "Transformer"), {"Hyphen01", "Vision05"}),
        (
            ("self-supervised", "self supervised", "selfsupervised", "Self-Supervised vision", "selfsupervised vision"),
            {"Hyphen01", "Joined02", "Parted03"},
        ),
        (("Gomez", "gómez", "Jurgen Gomez", "authors:gomez"), {"Parted03"}),
        (("O'Neil", "neil"), {"Parted03"}),
        (("xylophone", "xylophones", "text:xylophone"), {"Texted04"}),
        (("attention", "graph"), {"Joined02"}),
        (("baseline missing", "missing baselines"), {"Vision05", "Vision06"}),
        (("images transformers", "Images: transformers"), {"Vision05"}),
    ],
)
def test_spelling_variants_find_the_same_papers(asking: TestClient, alike: tuple[str, ...], expected: set[str]) -> None:
    assert {words: found(asking, words) for words in alike} == dict.fromkeys(alike, expected)


def test_texts_are_searched_without_addresses(asking: TestClient) -> None:
    assert "In the paper's text" in words_of(ask(asking, "xylophone"))
    for words in ("farfetched", "bob", "marimba"):
        assert found(asking, words) == set()


def test_any_words_where_none_has_all(
    asking: TestClient,
) -> None:
    page = ask(asking, "images zzyzx transformers")
    assert PAPER.findall(page) == ["Vision05", "Vision06", "Hyphen01"]
    assert "No paper has zzyzx ; these have other words" in words_of(page)
    assert "Without transformers" in words_of(page)
    page = ask(asking, "xylophone Gomez")
    assert set(PAPER.findall(page)) == {"Texted04", "Parted03"}
    assert "No paper has all these words" in words_of(page)
    within = ask(asking, "images xylophone", status="rejected")
    assert PAPER.findall(within) == ["Texted04"]
    assert "No paper with these conditions has images" in words_of(within)
    assert 'id="missed"' not in ask(asking, "images transformers")


def test_phrases_and_exclusions_stay_strict(asking: TestClient) -> None:
    assert found(asking, '"transformers and images"') == set()
    assert found(asking, "images -name zzyzx") == set()


def test_exports_have_the_papers_shown(asking: TestClient) -> None:
    for words in ("images zzyzx", "selfsupervised", "Vision06"):
        asked = urlencode({"q": words})
        exported = asking.get(f"/export.jsonl?{asked}").text
        expected = {"Vision06"} if words == "Vision06" else found(asking, words)
        assert set(re.findall(r'"forum_id":"(\w+)"', exported)) == expected


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("tran" + "formers", "transformers"),
        ("trasn" + "former", "transformer"),
        ("ransformers", "transformers"),
        ("bransformers", "transformers"),
        ("selfsuper" + "vsied vision", "selfsupervised vision"),
        ("images trransformers", "images transformers"),
    ],
)
def test_misspelt_words_suggest_the_nearest(asking: TestClient, typed: str, meant: str) -> None:
    page = ask(asking, typed)
    assert f"Did you mean {meant} ?" in words_of(page)
    (link,) = re.findall(r'Did you mean <a href="/papers\?([^"]*)"', page)
    assert dict(parse_qsl(unescape(link)))["q"] == meant
    assert PAPER.findall(asking.get(f"/?{unescape(link)}").text)


@pytest.mark.parametrize("words", ["-vision", "status:accepted", "*", "Gomez"])
def test_hits_are_attributed_to_texts(asking: TestClient, words: str) -> None:
    page = ask(asking, words)
    assert PAPER.findall(page)
    assert "In the paper's text" not in unescape(page)
    assert "In the paper's text" in unescape(ask(asking, "xylophone"))


def test_known_words_give_no_suggestion(asking: TestClient) -> None:
    for words in ("transformers", "images", "qqqqqqqq", "ima", "<b>", "x" * 300):
        assert "Did you mean" not in ask(asking, words)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (LIVELY, f"/paper/{LIVELY}"),
        (f"https://openreview.net/forum?id={LIVELY}", f"/paper/{LIVELY}"),
        (f"openreview.net/pdf?id={LIVELY}", f"/paper/{LIVELY}"),
        (f"http://www.openreview.net/forum?noteId={LIVELY}&id={LIVELY}", f"/paper/{LIVELY}"),
        (f"https://openreview.net/forum?id={QUIET}&referrer=%5Bx%5D#all", f"/paper/{QUIET}"),
        (f"https://openreview.net/forum?id={LIVELY}&noteId=no-such-note", f"/paper/{LIVELY}"),
        (f"https://openreview.net/forum?id={LIVELY}&noteId={LIVELY}-meta", f"/paper/{LIVELY}#post-{LIVELY}-meta"),
        (f"{LIVELY}-answer", f"/paper/{LIVELY}#conversation-R1-turn-{LIVELY}-answer"),
    ],
)
def test_ids_and_addresses_open_posts(client: TestClient, words: str, place: str) -> None:
    answer = client.get(f"/?q={quote(words)}")
    assert (answer.status_code, answer.headers["location"]) == (303, place)
    path, _, anchor = place.partition("#")
    assert f'id="{anchor}"' in client.get(path).text or not anchor


@pytest.mark.parametrize(
    "words",
    [
        f"https://openreview.net/forum?id={GONE}",
        "https://openreview.net/forum?id=nowhere",
        f"https://openreview.net/forum?id={LIVELY}-secret",
        "https://openreview.net/forum?id=%3Cscript%3E",
    ],
)
def test_hidden_addresses_find_nothing(client: TestClient, words: str) -> None:
    page = ask(client, words)
    assert PAPER.findall(page) == []
    assert "No paper that is shown has the id" in words_of(page)
    assert "<script>" not in page
    assert found(client, f"{LIVELY}-secret") == set()


def test_ids_with_conditions_are_searches(client: TestClient) -> None:
    assert PAPER.findall(ask(client, LIVELY, status="accepted")) == [LIVELY]
    assert PAPER.findall(ask(client, LIVELY, status="rejected")) == []


def facets(page: str) -> dict[str, dict[str, tuple[int, str]]]:
    read = {}
    for title, body in FACET.findall(page):
        values = VALUE.findall(body)
        read[title] = {label: (int(count), unescape(link)) for link, label, count in values}
    return read


def test_facets_count_what_links_find(asking: TestClient) -> None:
    shown = facets(ask(asking))
    counts = {title: {label: count for label, (count, _) in values.items()} for title, values in shown.items()}
    assert counts["Venue"] == {ICLR: 4, ICML: 2}
    assert counts["Year"] == {"2023": 2, "2020": 4}
    assert counts["Decision"] == {"Accepted": 5, "Rejected": 1}
    assert counts["Mean rating on its scale"] == {"Third quarter": 5, "Lowest quarter": 1}
    assert counts["Version the reviewers read"] == {"Exact": 1}
    for values in shown.values():
        for count, link in values.values():
            assert len(PAPER.findall(asking.get(f"/?{link}").text)) == count


def test_narrowed_facets_have_no_links(asking: TestClient) -> None:
    shown = facets(ask(asking, "vision", venue=ICLR))
    assert shown["Venue"] == {ICLR: (3, "")}
    assert {label: count for label, (count, _) in shown["Year"].items()} == {"2020": 3}
    assert "q=vision" in shown["Year"]["2020"][1]


def test_similar_papers_without_itself(client: TestClient, asking: TestClient) -> None:
    def alike(page: str) -> list[str]:
        _, _, rest = page.partition('<h2 id="alike">')
        return re.findall(r'<a href="/paper/([^"]+)">', rest.partition("</section>")[0])

    assert set(alike(asking.get("/paper/Hyphen01").text)) & {"Joined02", "Parted03"}
    assert "Hyphen01" in alike(asking.get("/paper/Parted03").text)
    for forum_id in (LIVELY, QUIET, SILENT):
        assert not {forum_id, GONE} & set(alike(client.get(f"/paper/{forum_id}").text))


def test_common_words_make_none_similar(demo_folder: Path) -> None:
    """The demo has twelve papers of twelve subjects; among so few, words of no subject are rare too."""
    with open_workspace(demo_folder / "corpus", write=False) as workspace:
        opened = open_explorer(workspace, show_nothing).index
        rows = list(select_rows(opened, Selection()))
        assert len(rows) == 12
        assert {row.title: papers_like(opened, row) for row in rows if papers_like(opened, row)} == {}


def test_a_criticism_links_to_similar_ones(asking: TestClient) -> None:
    page = asking.get("/points?q=baselines").text
    links = [unescape(link) for link in re.findall(r'href="(/points\?like=[^"]+)">Criticisms like this one', page)]
    assert len(links) == 2
    for link in links:
        like = asking.get(link).text
        assert "Criticisms like this one" in words_of(like)
        (other,) = re.findall(r'<h2><a href="/paper/(\w+)\?', like)
        assert f"/paper/{other}?" in like
        assert '<strong id="total">1</strong>' in like
    assert "No point that is shown has this id." in asking.get("/points?like=none").text
    assert found_points(asking, "q=baselines&like=none") == []


def found_points(client: TestClient, query: str) -> list[str]:
    return re.findall(r'<h2><a href="/paper/(\w+)\?', client.get(f"/points?{query}").text)


def test_points_by_any_word(asking: TestClient) -> None:
    page = asking.get("/points?q=missing+proofs").text
    assert "No point has all these words" in words_of(page)
    assert "Did you mean baseline ?" in words_of(asking.get("/points?q=baseine").text)


def test_only_shown_authors_are_found(asking: TestClient) -> None:
    assert "Jürgen Gómez" in asking.get("/paper/Parted03").text
    assert "Jürgen" in ask(asking, "authors:Gómez")
    blind = asking.get("/paper/Hyphen01").text
    assert 'class="authors"' not in blind
    assert found(asking, "anonymous") == found(asking, "authors:invent") == set()


def test_an_empty_paper_has_a_page(tmp_path: Path) -> None:
    blank = paper("Blank07", title=None, abstract=None, authors=(), keywords=())
    with explored(tmp_path / "corpus", {ICLR: [blank]}) as client:
        assert client.get("/paper/Blank07").status_code == 200


class CountedTerms:
    """A vocabulary, and how many of its words were given out."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._known = frozenset(words)
        self.given = 0

    def doc_freq(self, _: str, word: str) -> int:
        return int(word in self._known)

    def terms_with_prefix(self, _: str, prefix: str, limit: int | None = None) -> list[tuple[str, int]]:
        found = [(word, 1) for word in self._words if word.startswith(prefix)][:limit]
        self.given += len(found)
        return found


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("transfomrers", "transformers"),
        ("tarnsformesr", "transformers"),
        ("rtansfomers", "transformers"),
        ("optimal", None),
        ("trxxsfoxxers", None),
    ],
)
def test_suggestions_compare_few_words(typed: str, meant: str | None) -> None:
    crowd = ["tr" + "".join(letters) for letters in product("abcdefghij", repeat=4)]
    terms = CountedTerms([*crowd, "transformers"])
    opened: Any = SimpleNamespace(searcher=terms)
    assert _find_nearest(opened, typed, 0) == meant
    assert terms.given < 1_000


SNIPPET = re.compile(
    r'<p class="snippet">(?:<a class="field" href="([^"]*)">|<span class="field">)(.*?)</(?:a|span)>(.*?)</p>',
    re.DOTALL,
)
CORL = "CoRL.org/2024/Robot-Learning/Conference"
PAGES = PAGE_BREAK.join(["# Kites\n\nThe beginning.", "Further on a theremin plays.", "The end."])


def answered(forum_id: str, venue_id: str, criticism: str, answer: str, **fields: Any) -> list[object]:
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
    optimised = answered(
        *("Optim001", ICLR, "The state of the kite: a state of the art baseline is missing.", "We added a marimba."),
        title="Optimisation of kites",
        keywords=("self-supervised",),
    )
    american = answered(
        *("Ameri002", ICML, "The art is long. " * 40 + "Here the fiber snaps; an ocarina is heard.", "Thanks."),
        title="Optimizing colour transformers",
        authors=("Jürgen Gómez", "Denise Taylor"),
    )
    robots = answered(
        *("Robot003", CORL, "Fine.", "Thanks."),
        title="Grasping in the centre",
        authors=("Denize Peter",),
        status=Status.REJECTED,
    )
    read = [version("Robot003", "sha-read", Grade.EXACT, CORL), text("sha-read", PAGES, CORL)]
    return {ICLR: [*a_forum("Forum000"), ai_review("Forum000"), *optimised], ICML: american, CORL: [*robots, *read]}


@pytest.fixture(scope="module")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with explored(tmp_path_factory.mktemp("twenty") / "corpus", venues()) as client:
        yield client


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
def test_a_query_finds_its_papers(twenty: TestClient, words: str, expected: set[str]) -> None:
    page = ask(twenty, words)
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
        ("Forum000-ai-answer", "/paper/Forum000#post-Forum000-ai-answer"),
    ],
)
def test_ids_open_in_any_case(twenty: TestClient, words: str, place: str) -> None:
    answer = twenty.get(f"/papers?q={quote(words)}")
    assert (answer.status_code, answer.headers["location"]) == (303, place)
    path, _, anchor = place.partition("#")
    assert not anchor or f'id="{anchor}"' in twenty.get(path).text


def test_words_of_texts_are_no_ids(twenty: TestClient) -> None:
    assert twenty.get("/papers?q=KITES").status_code == 200


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
def test_named_venues_are_linked(twenty: TestClient, words: str, named: list[str]) -> None:
    line = re.findall(r'<p class="named">(.*?)</p>', ask(twenty, words))
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
def test_hits_show_and_link_passages(twenty: TestClient, words: str, field: str, marked: list[str], place: str) -> None:
    shown = SNIPPET.findall(ask(twenty, words))
    assert [unescape(name) for _, name, _ in shown] == [field]
    ((link, _, passage),) = shown
    assert re.findall(r"<mark>(.*?)</mark>", passage) == marked
    if "?at=" in link:
        answer = twenty.get(unescape(link))
        assert answer.status_code == 303
        link = answer.headers["location"]
    assert link == place
    path, _, anchor = place.partition("#")
    assert not place or f'id="{anchor}"' in twenty.get(path).text


def test_missing_posts_lead_to_the_top(twenty: TestClient) -> None:
    assert twenty.get("/paper/Optim001?at=nowhere").headers["location"] == "/paper/Optim001"


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
def test_unsearchable_parts_are_named(twenty: TestClient, words: str, hint: str, expected: set[str]) -> None:
    page = ask(twenty, words)
    assert hint in words_of(page)
    assert set(PAPER.findall(page)) == expected
    assert "needs at least" not in words_of(ask(twenty, "kites"))


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
def test_british_and_american_spellings(word: str, other: str) -> None:
    assert (respell(word), respell(other)) == (other, word)


@pytest.mark.parametrize(
    "word",
    [
        *("size", "prise", "prize", "wise", "rise", "seize", "maize", "analyses", "analysis", "basis", "crisis"),
        *("four", "for", "tour", "hour", "your", "pour", "sour", "flour", "tor", "error", "sensor", "vector", "actor"),
        *("enter", "entre", "outer", "letter", "water", "filter", "acre", "here", "computer", "cluster", "tire"),
    ],
)
def test_no_word_becomes_another(word: str) -> None:
    assert respell(word) is None
