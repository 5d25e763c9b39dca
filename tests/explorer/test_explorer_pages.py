"""The pages of the explorer: what they find, what they show, and what they never show."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from commands import Run
from explored import GONE, LIVELY, PAPER, QUIET, SILENT, explored, words_of
from invented_tables import (
    ICLR,
    ICML,
    NOON,
    TMLR,
    a_forum,
    ai_review,
    conversation,
    invented,
    link,
    paper,
    post,
    review,
    score,
    text,
    turn,
    version,
)
from peercorpus.corpus.forums import Forum
from peercorpus.corpus.public_forums import keep_public
from peercorpus.explorer.pages import load_templates
from peercorpus.explorer.paper_page import score_table
from peercorpus.explorer.selection import read_selection
from peercorpus.records.enums import Aspect, AtDecision, Grade, Phase, PostKind, Role, Status
from peercorpus.records.scores import Score
from peercorpus.workspace.raw_store import RawKind, RawObject


def found(client: TestClient, query: str) -> list[str]:
    answer = client.get(f"/papers?{query}")
    assert answer.status_code == 200
    return PAPER.findall(answer.text)


def test_most_discussed_papers_come_first(client: TestClient) -> None:
    assert found(client, "") == [LIVELY, QUIET, SILENT]
    assert 'aria-current="true">Most discussed</a>' in client.get("/papers").text
    assert 'aria-current="true">Relevance</a>' in client.get("/papers?q=kites").text


def test_home_answers_queries_as_the_list(client: TestClient) -> None:
    assert client.get("/?q=kites&sort=oldest").text == client.get("/papers?q=kites&sort=oldest").text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=wind", [LIVELY]),
        ("q=answers:tether", [LIVELY]),
        ('q="first+try"', [QUIET]),
        ("q=kites+-wind", [QUIET]),
        ("q=kites+windsock", [LIVELY]),
        ("q=balloons", [QUIET]),
        ("status=rejected", [QUIET]),
        ("venue=iclr.cc/2020/Conference", [LIVELY]),
        ("where=year!%3D2023", [LIVELY]),
        ("more=status%3Drejected%3B+status%3Dwithdrawn", [SILENT, QUIET]),
        ("rating_from=4", [LIVELY]),
        ("where=change_share%3E%3D0", [LIVELY, QUIET]),
        ("where=spread_share%3E%3D0", []),
        ("rating_from=3&rating_to=3", [QUIET]),
        ("grade=exact", [LIVELY]),
        ("has_rebuttal=no", [SILENT, QUIET]),
        ("score_changed=no", [QUIET]),
        ("where=keyword%3Dkites", [LIVELY]),
        ("where=reviews%3E%3D1", [LIVELY, QUIET]),
        ("q=kites&status=rejected&has_rebuttal=no", [QUIET]),
    ],
)
def test_words_and_filters_find(client: TestClient, query: str, expected: list[str]) -> None:
    assert sorted(found(client, query)) == sorted(expected)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("newest", [LIVELY, SILENT, QUIET]),
        ("oldest", [QUIET, LIVELY, SILENT]),
        ("rating", [LIVELY, QUIET, SILENT]),
        ("rating-low", [QUIET, LIVELY, SILENT]),
        ("raised", [LIVELY, QUIET, SILENT]),
        ("turns", [LIVELY, QUIET, SILENT]),
    ],
)
def test_unknown_values_are_sorted_last(client: TestClient, sort: str, expected: list[str]) -> None:
    assert found(client, f"sort={sort}") == expected


def test_a_permalink_gives_the_same_selection() -> None:
    asked = read_selection("q=a+b&more=keyword%3Da;+year!=2020&where=keyword%3Db;c&status=accepted&year=2024&page=3")
    assert [str(one) for one in asked.conditions] == [
        *("keyword=a", "year!=2020", "keyword=b;c", "status=accepted", "year=2024")
    ]
    assert read_selection(asked.query_string()) == asked


def test_beyond_the_last_page(client: TestClient) -> None:
    for query, last in (("page=999999", "/papers"), ("q=kites&page=9", "/papers?q=kites")):
        page = client.get(f"/papers?{query}").text
        assert PAPER.findall(page) == []
        assert "There is no page" in page
        assert "the search has 1 page." in page
        assert f'<a href="{last}">Show it</a>' in page
        assert "No paper meets all of this" not in page
    assert "There is no page" not in client.get("/papers?q=zzyzx").text


def test_conditions_and_empty_results_in_words(client: TestClient) -> None:
    page = client.get("/papers?status=rejected&has_rebuttal=no&where=rating_share%3E%3D0.25&where=year!=1999").text
    chips = re.findall(r'<li><a href="[^"]*" title="([^"]*)">([^<]*) <span aria-hidden', page)
    assert [(unescape(raw), unescape(said)) for raw, said in chips] == [
        ("status=rejected", "Decision: Rejected"),
        ("has_rebuttal=no", "Authors answered: no"),
        ("rating_share>=0.25", "Mean rating on its scale ≥ 25 %"),
        ("year!=1999", "Year: not 1999"),
    ]
    assert 'class="sorts"' in client.get("/papers?q=kites").text
    nothing = client.get("/papers?q=zzyzx").text
    assert "look through the venues" in nothing
    assert 'class="sorts"' not in nothing
    assert "Remove a condition, or search for fewer words." in client.get("/papers?q=zzyzx&status=rejected").text
    assert "Remove a condition." in client.get("/papers?status=rejected&has_rebuttal=yes").text


def test_long_answers_stand_below_the_table() -> None:
    read_many = "I have read many papers in this area."
    scores = tuple(
        score(name, value, label, Aspect.OTHER, Phase.FINAL)
        for name, value, label in (
            ("rating", 6.0, "6: fine"),
            ("experience", None, read_many),
            ("audience", None, "Yes"),
        )
    )
    table = score_table([review(LIVELY, "R1", scores=scores), review(LIVELY, "R2", scores=scores[:1])])
    assert [name for name, _ in table.columns] == ["rating", "audience"]
    assert [(reviewer, [cell and cell.after for cell in row]) for reviewer, row in table.rows] == [
        ("R1", ["6", "Yes"]),
        ("R2", ["6", None]),
    ]
    ((name, answers),) = table.worded
    assert (name, [(reviewer, cell.after) for reviewer, cell in answers]) == (
        "experience",
        [("R1", read_many)],
    )


@pytest.mark.parametrize(
    "query",
    ["q=%00", "q=%22%22%22((", "q=title:[a+TO", "q=%ff%fe", "q=forum_id:x", "q=a:b:c", "q=*", "page=99999999999999"],
)
def test_no_query_breaks_the_page(client: TestClient, query: str) -> None:
    assert client.get(f"/?{query}").status_code == 200


@pytest.mark.parametrize("words", ["title:*", "forum_id:*", "kites+reviews:(*)", "-title:*"])
def test_a_bare_field_filters_nothing(client: TestClient, words: str) -> None:
    page = client.get(f"/?q={words}")
    assert page.status_code == 200
    assert 'role="alert"' in page.text
    every = client.get("/export.jsonl").text.splitlines()
    assert sorted(client.get(f"/export.jsonl?q={words}").text.splitlines()) == sorted(every)


def test_invalid_parameters_show_no_paper(client: TestClient) -> None:
    page = words_of(client.get("/?where=colour%3Dred&status=loved&q=kites").text)
    assert "'colour'" in page
    assert "'loved'" in page
    for query in ("where=colour%3Dred", "where=foo", "statsu=accepted", "sort=newst"):
        assert '<strong id="total">0</strong>' in client.get(f"/?{query}").text
        assert client.get(f"/export.jsonl?{query}").status_code == 400
    assert 'role="alert"' in client.get("/?q=colour:red").text
    assert 'role="alert"' not in client.get("/?q=kites").text


def test_a_conversation_is_in_order(client: TestClient) -> None:
    page = words_of(client.get(f"/paper/{LIVELY}").text)
    told = page[page.index("Conversations R1") :]
    places = [
        told.index(words) for words in (f"Words of {LIVELY}-R1", "windsock", f"{LIVELY}-answer", "Now convinced.")
    ]
    assert places == sorted(places)


def test_score_changes_in_table_and_turn(client: TestClient) -> None:
    page = client.get(f"/paper/{LIVELY}").text
    table = page[page.index('<table class="scores">') : page.index("</table>")]
    assert "5 → changed to 6" in words_of(table)
    turn = page[page.index("Now convinced.") :]
    assert "rating 5 → changed to 6" in words_of(turn[: turn.index("</article>")])


def test_what_a_papers_page_shows(client: TestClient) -> None:
    page = words_of(client.get(f"/paper/{LIVELY}").text)
    for words in (
        "The chair is content.",
        "Decision 2 January 2020 Accept (Poster) It flies.",
        "Decision: Accept (Poster)",
        "A passer-by waves.",
        "Exact. An edit on or before the deadline brought this file",
        "deadline 2 January 2020, from the call",
        "2 passages changed or moved between the initial and the last version",
        "Kites, a first try Resubmission · ICML.cc/2023/Conference · earlier by 30 days · equal abstracts",
    ):
        assert words in page, words
    assert "later by 30 days" in words_of(client.get(f"/paper/{QUIET}").text)


@pytest.mark.parametrize(
    ("not_shown", "deleted", "said"),
    [
        (0, 0, "no gap"),
        (None, 0, "Nothing shows whether replies are hidden."),
        (1, 0, "At least 1 reply was posted and never shown to us"),
        (3, 2, "At least 3 replies were posted and never shown to us: hidden, or deleted earlier. 2 replies were seen"),
        (0, 1, "1 reply was seen and deleted since, or is no longer shown."),
    ],
)
def test_page_states_unseen_replies(not_shown: int | None, deleted: int, said: str) -> None:
    shown = paper("f1", replies_not_shown=not_shown, replies_deleted=deleted)
    macro = load_templates().get_template("parts.html").module.unseen(shown)  # type: ignore[attr-defined]
    assert said in str(macro)


def test_anchors_are_unique(client: TestClient) -> None:
    page = client.get(f"/paper/{LIVELY}").text
    assert 'id="conversation-R1"' in page
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))


def test_formulas_are_mathml_or_source(client: TestClient) -> None:
    page = client.get(f"/text/{LIVELY}").text
    assert "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>" in page
    assert '<math display="block">' in page
    assert r'<code class="tex">\undefined{x}</code>' in page
    assert 'id="page-2"' in page


def test_changes_before_and_after_by_section(client: TestClient) -> None:
    page = client.get(f"/changes/{LIVELY}").text
    assert "<h2>2 Method</h2>" in page
    assert "<del>weak </del>" in page
    assert "<ins>firm </ins>" in page


def test_a_moved_passage_names_its_heading(client: TestClient) -> None:
    page = client.get(f"/changes/{LIVELY}").text
    moved = page.partition('<div class="diff moved"')[2]
    assert "Last, under “5 Limits”" in moved
    assert moved.count("Kites need wind.") == 2
    assert "Not in the" not in moved


def test_no_page_shows_hidden_records(client: TestClient) -> None:
    pages = [f"/{kind}/{LIVELY}" for kind in ("paper", "text", "changes", "record")]
    for page in (*pages, "/", "/?q=balloons", "/export.jsonl", "/venues", "/venue/ICLR.cc%2F2020%2FConference"):
        told = client.get(page).text
        assert "secret" not in told, page
        assert "deleted word" not in told, page
        assert GONE not in told, page
    for kind in ("paper", "text", "changes", "record"):
        assert client.get(f"/{kind}/{GONE}").status_code == 404


def test_a_private_decision_is_not_shown() -> None:
    hidden = post("d", "f", kind=PostKind.DECISION, text="Reject. All agree.", readers_public=False)
    told = keep_public(Forum(paper("f", status=Status.REJECTED, decision="Reject"), [], [hidden], [], []))
    assert (told.paper.status, told.paper.decision, told.paper.decision_comment) == (Status.UNKNOWN, None, None)
    open_one = post("e", "f", kind=PostKind.META_REVIEW, text="Fine.")
    told = keep_public(Forum(paper("f", decision="Reject"), [], [hidden, open_one], [], []))
    assert (told.paper.decision, told.paper.decision_comment) == ("Reject", None)
    said = paper("f", decision="Reject", decision_comment="All agree.")
    told = keep_public(Forum(said, [], [hidden, open_one], [], []))
    assert (told.paper.status, told.paper.decision, told.paper.decision_comment) == (said.status, "Reject", None)


def test_venue_counts_exclude_takedowns(client: TestClient) -> None:
    assert "Papers 1 Reviews 1 Conversations 1" in words_of(client.get("/venue/ICLR.cc%2F2020%2FConference").text)


def test_email_addresses_are_masked(client: TestClient) -> None:
    for page in (f"/paper/{LIVELY}", f"/record/{LIVELY}", "/?q=fly", "/export.csv"):
        told = client.get(page).text
        assert "ada@example.org" not in told
        assert "e-mail" in told
    assert found(client, "q=ada") == []


def test_the_record_is_public_json(client: TestClient) -> None:
    answer = client.get(f"/record/{LIVELY}")
    assert answer.headers["content-type"] == "application/json"
    record = json.loads(answer.text)
    assert [len(record[name]) for name in ("reviews", "posts", "versions", "conversations", "links", "changes")] == [
        *(1, 7, 2, 1, 1, 2)
    ]


@pytest.mark.parametrize(
    "page", ["/paper/none", "/venue/none", "/text/Silent03", "/nowhere", "/static/../pages.py", "/export.xlsx"]
)
def test_missing_pages_say_so(client: TestClient, page: str) -> None:
    answer = client.get(page)
    assert answer.status_code == 404
    assert "Not found" in answer.text
    assert "Traceback" not in answer.text


def test_differing_records_and_stated_splits(client: TestClient) -> None:
    page = words_of(client.get(f"/paper/{LIVELY}").text)
    assert "title Kites in strong wind reviewbench:Lively01 Kites in a gale re2-reviews:Lively01" in page
    assert "review: test; another of its files states train" in page
    # R9 has no review here, as it may have been taken down.
    assert "R9" not in client.get(f"/record/{LIVELY}").text + page
    assert "Published datasets" not in words_of(client.get(f"/paper/{QUIET}").text)


AFTER = NOON + timedelta(days=2)
CONTENTS = re.compile(r'<nav class="contents".*?</nav>', re.DOTALL)


def page_of(folder: Path, **of_review: Any) -> str:
    """Return the words on the page of a paper with one review and a late turn of its reviewer."""
    late = replace(turn(Role.REVIEWER, "late"), created_at=AFTER, posted_after_decision=True)
    records = [
        *a_forum("f1")[:1],
        review("f1", **of_review),
        post("f1-R1", "f1", kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1"),
        post("late", "f1", role=Role.REVIEWER, signature="R1", created_at=AFTER),
        post("aside", "f1", role=Role.PUBLIC, signature="public_1", created_at=AFTER, posted_after_decision=True),
        conversation("f1", "R1", (turn(Role.REVIEWER, "f1-R1"), late)),
    ]
    with explored(folder, {ICLR: records}) as client:
        return words_of(CONTENTS.sub("", client.get("/paper/f1").text))


def rating(value: float | None, phase: Phase, **more: Any) -> Score:
    return replace(score("rating", value, f"{value}", Aspect.RECOMMENDATION, phase), **more)


def test_turns_after_the_decision_say_so(tmp_path: Path) -> None:
    page = page_of(tmp_path / "corpus")
    assert re.search(r"2 January 2020 Words of f1-R1\.", page)
    assert re.search(r"4 January 2020 after the decision Words of late\.", page)
    assert re.search(r"4 January 2020 after the decision Words of aside\.", page)


@pytest.mark.parametrize(
    ("state", "scores", "said"),
    [
        (AtDecision.UNCHANGED, {Phase.AT_DECISION: 6.0, Phase.FINAL: 6.0}, None),
        (AtDecision.EDITS, {Phase.AT_DECISION: 4.0, Phase.FINAL: 6.0}, "R1 changed this review after the decision."),
        (AtDecision.CHANGED_UNSEEN, {Phase.FINAL: 6.0}, "R1 changed this review after the decision; its earlier"),
        (AtDecision.POSTED_AFTER, {Phase.FINAL: 6.0}, "R1 posted this review after the decision."),
    ],
)
def test_scores_changed_after_the_decision(
    tmp_path: Path, state: AtDecision, scores: dict[Phase, float], said: str | None
) -> None:
    given = tuple(rating(value, phase) for phase, value in scores.items())
    page = page_of(tmp_path / "corpus", scores=given, at_decision=state)
    assert ("after the decision" in page.partition("Conversations R1")[0]) is (said is not None)
    assert said is None or said in page
    assert ("6 4 at the decision" in page) is (state is AtDecision.EDITS)


def test_verbal_scores_top_their_conversation(tmp_path: Path) -> None:
    words = {"low": None, "high": None, "answers": ("Reject", "Accept"), "rank": 2, "label": "Accept"}
    given = (
        rating(None, Phase.INITIAL, **words | {"rank": 1, "label": "Reject"}),
        rating(None, Phase.FINAL, **words),
    )
    page = page_of(tmp_path / "corpus", scores=given)
    assert "2 turns rating Reject → Accept" in page
    assert "not known" not in page.partition("Versions")[0]


def test_unrecognised_status_is_verbatim(tmp_path: Path) -> None:
    with explored(
        tmp_path / "corpus", {ICLR: [paper("f1", status=Status.UNKNOWN, decision="Major revision")]}
    ) as client:
        page = words_of(client.get("/paper/f1").text)
        found = client.get("/?status=unknown").text
    assert "Unknown" in page
    assert "Decision: Major revision" in page
    assert "/paper/f1" in found


def test_a_possible_initial_text_is_not_later(tmp_path: Path) -> None:
    perhaps = replace(version("f1", "aa", Grade.UNAVAILABLE), is_initial=False)
    with explored(tmp_path / "corpus", {ICLR: [paper("f1"), perhaps, text("aa", "# Kites")]}) as client:
        page, read = (words_of(client.get(f"/{kind}/f1").text) for kind in ("paper", "text"))
    assert "Read the paper (not known to be what the reviewers read)" in page
    assert (
        "Not known to be the version the reviewers read: it may be a later one. Its version: version not known." in read
    )


AI_RECORDS = [*a_forum("f1"), ai_review("f1"), *a_forum("f2")]


@pytest.fixture(scope="module")
def with_ai(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with explored(tmp_path_factory.mktemp("shown") / "corpus", {ICLR: AI_RECORDS}) as opened:
        yield opened


def test_ai_reviews_have_their_own_section(with_ai: TestClient) -> None:
    words = words_of(with_ai.get("/paper/f1").text)
    head, _, rest = words.partition("AI reviews An AI wrote them")
    assert "The claims hold, says the AI." not in head
    assert re.search(r"AI AI_Reviewer AI review 2 January 2020 The claims hold, says the AI\.", rest)
    assert "To the AI We added seeds." in rest
    assert rest.count("false claims: One minor") == 1, "the survey that the venue keeps to itself is not shown"
    assert "AI review" not in words_of(with_ai.get("/paper/f2").text)


def test_ai_reviews_count_apart(with_ai: TestClient) -> None:
    assert "No paper" in words_of(with_ai.get("/", params={"q": "seeds"}).text)
    record = json.loads(with_ai.get("/record/f1").content)
    assert [one["ai_review_id"] for one in record["ai_reviews"]] == ["f1-ai"]
    assert [reply["post_id"] for reply in record["ai_reviews"][0]["replies"]] == ["f1-ai-answer", "f1-ai-survey"]
    people = {name: rows for name, rows in record.items() if name != "ai_reviews"}
    assert "f1-ai" not in json.dumps(people)


def test_show_lists_public_ai_reviews_last(tmp_path: Path, run: Run) -> None:
    with invented(tmp_path / "corpus", {ICLR: AI_RECORDS}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "f1", 1, ICLR, "f1", "f1", 1, 1, "t", b"{}")])
    shown = run("show", "f1", "-w", tmp_path / "corpus").out
    _, _, ours = shown.partition("AI review (certain), signed AI_Reviewer\n")
    assert "> ai AI_Reviewer, 2020-01-02 12:00\n" in ours
    assert "> author Authors, comment, 2020-01-02 12:00: To the AI\n    We added seeds.\n" in ours
    assert "* false_claims: 'One minor' (3 of 4, the best last)" in ours
    assert ours.count("survey, 2020-01-02 12:00") == 1, "the survey that the venue keeps to itself is not shown"


FIRST, SECOND, THIRD = "First001", "Second02", "Third003"


def tries() -> dict[str, list[object]]:
    """One work at three venues, with all submissions linked to each other."""
    later = [link(THIRD, TMLR, FIRST), link(THIRD, TMLR, SECOND, ICML)]
    return {
        ICLR: [paper(FIRST)],
        ICML: [paper(SECOND, ICML), link(SECOND, ICML, FIRST)],
        TMLR: [paper(THIRD, TMLR), *later],
    }


def test_no_page_links_to_a_taken_down_submission(tmp_path: Path) -> None:
    with explored(tmp_path / "corpus", tries(), (SECOND,)) as client:
        for shown, other in ((FIRST, THIRD), (THIRD, FIRST)):
            page, record = client.get(f"/paper/{shown}").text, client.get(f"/record/{shown}").text
            assert SECOND not in page + record, f"the page of {shown} links to a paper that is taken down"
            assert f'href="/paper/{other}"' in page
