"""`peercorpus forms` shows every known form, how it is known, and how a workspace's reviews answer it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from commands import Run, assert_refused
from in_this_process import build_here
from peercorpus.cli.text.forms import scale
from peercorpus.forms.declared_forms import declared_forms
from peercorpus.forms.form import Question
from peercorpus.forms.venue_forms import close_name
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

V = "Invented.cc/2024/Conference"
INVITATION = f"{V}/-/Official_Review"
ESCAPE = "\x1b[31m"
OPTIONS = ["1: reject", "3: not yet", "6: accept"]
ASKED: dict[str, dict[str, Any]] = {
    "title": {"order": 1, "value": {"param": {"type": "string"}}},
    "summary": {"order": 2, "value": {"param": {"type": "string", "optional": True}}},
    "rating": {"order": 3, "value": {"param": {"type": "string", "enum": OPTIONS}}},
    "flags": {"order": 4, "value": {"param": {"type": "string[]", "items": [{"value": "None"}, {"value": "Some"}]}}},
}


def raw(kind: RawKind, object_id: str, forum_id: str, body: dict[str, Any]) -> RawObject:
    return RawObject(kind, object_id, 2, V, forum_id, object_id, 1, 1, "test", json.dumps(body).encode())


def note(note_id: str, content: dict[str, Any], **more: Any) -> RawObject:
    body = {
        "id": note_id,
        "forum": "paper",
        "replyto": None if note_id == "paper" else "paper",
        "invitations": [f"{V}/-/Submission" if note_id == "paper" else f"{V}/Submission1/-/Official_Review"],
        "signatures": [f"{V}/Submission1/Reviewer_AbCd"],
        "readers": ["everyone"],
        "content": {name: {"value": value} for name, value in content.items()},
    }
    return raw(RawKind.NOTE, note_id, "paper", body | more)


def invitation(content: dict[str, Any]) -> RawObject:
    return raw(RawKind.INVITATION, INVITATION, "", {"id": INVITATION, "edit": {"note": {"content": content}}})


REVIEWS = [
    note("r1", {"title": "Good", "summary": "Kites.", "rating": "6: accept", "flags": ["None"]}),
    note("r2", {"title": "Fair", "summary": "", "rating": "3: not yet", f"mood{ESCAPE}": "gloomy", "ages": [1, 2]}),
    note("r3", {"title": "Poor", "rating": "5: hm", "ages": [3]}),
    note("r4", {"title": "Hidden", "rating": "1: reject", "secret": "x"}, readers=[V]),
    note("r5", {"title": "Deleted", "rating": "1: reject", "secret": "x"}, ddate=2),
]


def a_corpus(folder: Path, *objects: RawObject) -> Path:
    with open_workspace(folder, create=True) as workspace:
        workspace.raw.add([note("paper", {"title": "On Kites"}), *objects])
        build_here(workspace)
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venue whose reviews answer its form in part; tests only read it."""
    return a_corpus(tmp_path_factory.mktemp("forms") / "corpus", invitation(ASKED), *REVIEWS)


def figures_in(line: str) -> list[int]:
    """Return the numbers in a line, in order."""
    return [int(one) for one in re.findall(r"\d+", line)]


def counts_in(line: str) -> dict[str, int]:
    """Return the fields that a line names, each with the number of reviews it is counted in."""
    return {name: int(count) for name, count in re.findall(r"'([^']*)' \((\d+)\)", line)}


def columns(line: str) -> list[str]:
    return [cell for cell in line.strip().split("  ") if cell]


def test_every_declared_form_has_a_line_that_fits_into_100_columns(run: Run) -> None:
    ended = run("forms")
    lines = ended.out.splitlines()
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, lines)) <= 100
    listed = [columns(line)[0] for line in lines[1 : lines.index("")] if not line.startswith(" ")]
    assert listed == [form.id for form in declared_forms()]
    assert f"\n{len(listed)} forms.\n" in ended.out


def test_every_venue_of_a_form_is_listed_below_it(run: Run) -> None:
    lines = run("forms").out.splitlines()
    shown: dict[str, list[str]] = {}
    for line in lines[1 : lines.index("")]:
        if line.startswith("    "):
            shown[list(shown)[-1]] += [one for one in line.strip().split(", ") if one]
        else:
            shown[columns(line)[0]] = []
    served = {form_id: tuple(one.removesuffix(",") for one in venue_ids) for form_id, venue_ids in shown.items()}
    assert served == {form.id: form.venue_ids for form in declared_forms()}


def test_a_line_states_the_source_of_a_form_and_its_recommendation_field(run: Run) -> None:
    lines = [[cell.strip() for cell in columns(line)] for line in run("forms").out.splitlines()]
    assert ["iclr-2020", "declared", "R C", "7", "1, 3, 6, 8"] in lines
    assert ["emnlp-2023", "declared", "r", "11", "none"] in lines
    assert ["corl-2025", "declared", "r", "1", "-"] in lines
    assert ["aaai", "declared", "C", "-", "-"] in lines


def test_a_declared_form_is_shown_by_venue_page_or_id_with_its_sources(run: Run) -> None:
    shown = run("forms", "ICLR.cc/2020/Conference").out
    assert shown == run("forms", "https://openreview.net/group?id=ICLR.cc/2020/Conference").out
    assert shown == run("forms", "iclr-2020").out == run("forms", "declared:iclr-2020").out
    lines = shown.splitlines()
    assert lines[0] == "declared:iclr-2020"
    assert any(line.startswith("  source    Pseudomanifold/iclr-analysis") for line in lines)
    assert "caution" not in shown
    assert "filled" not in shown
    [rating] = [[cell.strip() for cell in columns(line)] for line in lines if line.startswith("rating")]
    assert rating == ["rating", "score", "1, 3, 6, 8", "recommendation", "-", "R"]


@pytest.mark.parametrize("name", ["ICLR.cc/2013/conference", "aclweb.org/ACL/ARR/2024/June"])
def test_a_form_never_seen_in_reviews_is_marked(run: Run, name: str) -> None:
    shown = run("forms", name).out
    assert "caution" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_an_unknown_form_is_marked(run: Run) -> None:
    ended = run("forms", "AAAI.org/2025/Conference")
    assert ended.code == 0
    assert ended.out.startswith("declared:aaai\n")
    assert "filled" not in ended.out
    assert json.loads(run("forms", "AAAI.org/2025/Conference", "--json").out)[0]["fields"] == []


def test_with_a_workspace_the_list_has_its_venues_forms_too(run: Run, corpus: Path) -> None:
    lines = run("forms", "--workspace", corpus).out.splitlines()
    assert [cell.strip() for cell in columns(lines[1])] == [INVITATION, "invitation", "-", "4", "1, 3, 6"]
    assert lines[2].startswith("corl-2021 ")
    assert any(line.startswith("iclr-2020 ") for line in lines)


def test_a_stored_form_shows_how_often_fields_were_filled_and_unexpected_fields(run: Run, corpus: Path) -> None:
    ended = run("forms", V, "--workspace", corpus)
    lines = ended.out.splitlines()
    assert (ended.code, lines[0]) == (0, INVITATION)
    table = [[cell.strip() for cell in columns(line)] for line in lines[lines.index("") + 1 :]]
    assert table[:5] == [
        ["field", "type", "answers", "about", "optional", "filled"],
        ["title", "text", "-", "title", "no", "3 (100%)"],
        ["summary", "text", "-", "summary", "yes", "1 (33%)"],
        ["rating", "score", "1, 3, 6", "recommendation", "no", "3 (100%)"],
        ["flags", "list", "2 answers", "-", "no", "1 (33%)"],
    ]
    read, not_in_the_form, not_offered = lines[-3:]
    assert read.startswith("3 reviews ")
    assert counts_in(not_in_the_form) == {"ages": 2, r"mood\x1b[31m": 1}
    assert counts_in(not_offered) == {"rating": 1}


def test_before_a_build_the_form_is_shown_and_nothing_is_counted(run: Run, tmp_path: Path) -> None:
    with open_workspace(tmp_path / "raw", create=True) as workspace:
        workspace.raw.add([note("paper", {"title": "On Kites"}), invitation(ASKED), *REVIEWS])
    ended = run("forms", V, "-w", tmp_path / "raw")
    assert ended.code == 0
    assert ended.out.splitlines()[-1].startswith("0 reviews ")
    assert "%" not in ended.out


def test_json_has_every_answer(run: Run, corpus: Path) -> None:
    (found,) = json.loads(run("forms", V, "--workspace", corpus, "--json").out)
    assert (found["form_id"], found["from"], found["venue_ids"]) == (INVITATION, "invitation", [V])
    [rating] = [field for field in found["fields"] if field["name"] == "rating"]
    assert (rating["type"], rating["about"], rating["is_optional"]) == ("score", "recommendation", False)
    assert rating["numbers"] == [
        {"value": float(label[0]), "label": label} for label in ("1: reject", "3: not yet", "6: accept")
    ]
    assert found["census"]["unknown"] == {"ages": 2, f"mood{ESCAPE}": 1}
    assert (found["census"]["reviews"], found["census"]["drifting"]) == (3, 2)
    everything = json.loads(run("forms", "--json").out)
    assert [form["form_id"] for form in everything] == [f"declared:{form.id}" for form in declared_forms()]
    assert all(form["sources"] and form["evidence"] and form["census"] is None for form in everything)


def test_a_venue_without_a_known_form_is_refused_in_one_sentence(run: Run, corpus: Path) -> None:
    assert_refused(run("forms", "Nowhere.cc/2030"), "'Nowhere.cc/2030'")
    assert_refused(run("forms", "Nowhere.cc/2030", "-w", corpus), "'Nowhere.cc/2030'")
    assert_refused(run("forms", " "), "' '")
    assert_refused(run("forms", V, "-w", corpus / "nothing"), f"'{corpus / 'nothing'}'")
    assert run("forms", "ICLR.cc/2020/Conference", "-w", corpus).out == run("forms", "iclr-2020").out


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("ICLR.cc/2022/conference", "ICLR.cc/2022/Conference"),
        ("https://openreview.net/group?id=iclr.cc/2017/Conference", "ICLR.cc/2017/conference"),
        ("NeurIPS.cc/2022/Track/Dataset_and_Benchmarks", "NeurIPS.cc/2022/Track/Datasets_and_Benchmarks"),
        ("nips.cc/2018/workshops/Kites", "NIPS.cc/2018/Workshop/Kites"),
        ("declared:ICLR-2020", "iclr-2020"),
        (V.lower(), V),
    ],
)
def test_a_nearly_correct_name_gets_the_correct_one_as_a_suggestion(
    run: Run, corpus: Path, asked: str, meant: str
) -> None:
    assert_refused(run("forms", asked, "-w", corpus), f"'{meant}'")


def test_a_form_is_found_by_its_id_and_by_the_short_name_of_its_venue(run: Run) -> None:
    assert run("forms", "Tmlr").out == run("forms", "TMLR").out != ""
    assert run("forms", "iclr-2020").out.startswith("declared:iclr-2020")
    assert run("forms", "ICLR 2020").out == run("forms", "ICLR.cc/2020/Conference").out


def test_a_venue_of_another_year_is_not_suggested(run: Run) -> None:
    err = run("forms", "ICLR.cc/2030/Conference").err
    assert "'ICLR.cc/2030/Conference'" in err
    assert err.count("ICLR") == 1
    assert close_name("ICLR.cc/2030/Conference") is close_name("kites") is None


def told(run: Run, corpus: Path) -> dict[str, str]:
    """Return the lines of `peercorpus status`, by their labels."""
    return {line[2:22].strip(): line[23:] for line in run("status", "-w", corpus, "--all").out.splitlines()}


def test_status_names_received_fields_that_the_form_lacks(run: Run, corpus: Path) -> None:
    not_in_the_form, not_offered = told(run, corpus)["form"].split("; ")
    assert not_in_the_form.startswith("2 reviews ")
    assert counts_in(not_in_the_form) == {"ages": 2, r"mood\x1b[31m": 1}
    assert counts_in(not_offered) == {"rating": 1}
    (venue,) = json.loads(run("status", "-w", corpus, "--json").out)["venues"]
    assert [form["unoffered"] for form in venue["forms"]] == [{"rating": 1}]
    assert venue["forms"][0]["unknown"] == {"ages": 2, f"mood{ESCAPE}": 1}


def moved(venue_id: str, *objects: RawObject) -> list[RawObject]:
    """Return the same notes at another venue."""
    bodies = (found.body.replace(V.encode(), venue_id.encode()) for found in objects)
    return [found._replace(venue_id=venue_id, body=body) for found, body in zip(objects, bodies, strict=True)]


def read_at(venue_id: str, folder: Path, *objects: RawObject) -> Path:
    """Build a corpus of one paper and these notes, at another venue."""
    with open_workspace(folder, create=True) as workspace:
        workspace.raw.add(moved(venue_id, note("paper", {"title": "On Kites"}), *objects))
        build_here(workspace)
    return folder


def test_status_names_forms_never_seen_in_real_reviews(run: Run, tmp_path: Path) -> None:
    venue_id, review = "ICLR.cc/2013/conference", note("r1", {"title": "Good", "review": "Kites.", "tint": "blue"})
    corpus = read_at(venue_id, tmp_path / "corpus", review)
    doubt, not_in_the_form = told(run, corpus)["form"].split("; ")
    assert "'declared:iclr-2013'" in doubt
    assert not_in_the_form.startswith("1 review ")
    assert counts_in(not_in_the_form) == {"tint": 1}
    ((form,),) = (venue["forms"] for venue in json.loads(run("status", "-w", corpus, "--json").out)["venues"])
    assert (form["is_verified"], form["unknown"]) == (False, {"tint": 1})
    head, *_, read, last = run("forms", venue_id, "-w", corpus).out.splitlines()
    assert head == "declared:iclr-2013"
    # For a form that was never seen, it is not stated field by field.
    assert (read.split()[0], counts_in(last)) == ("1", {"tint": 1})


@pytest.mark.slow
def test_status_names_the_answered_fields_that_are_known_from_code_or_memory_only(run: Run, tmp_path: Path) -> None:
    reviews = [
        note("r1", {"summary": "Kites.", "main_review": "Good.", "confidence": "3: You are fairly confident"}),
        note("r2", {"summary": "Kites.", "main_review": ""}),
    ]
    corpus = read_at("NeurIPS.cc/2021/Conference", tmp_path / "corpus", *reviews)
    assert counts_in(told(run, corpus)["form"]) == {"summary": 2, "main_review": 1}
    shown = run("forms", "NeurIPS.cc/2021/Conference", "-w", corpus).out
    assert {"summary": 2, "main_review": 1} in map(counts_in, shown.splitlines())
    ((form,),) = (venue["forms"] for venue in json.loads(run("status", "-w", corpus, "--json").out)["venues"])
    assert (form["from"], form["is_verified"]) == ("declared", True)
    assert form["unverified"] == {"summary": 2, "main_review": 1}


def test_a_known_field_with_unknown_answers_is_named_too(run: Run, tmp_path: Path) -> None:
    review = note("r1", {"title": "Good", "review": "Kites.", "rating": "3: Marginally above acceptance threshold"})
    corpus = read_at("NIPS.cc/2018/Workshop/CDNNRIA", tmp_path / "corpus", review)
    assert counts_in(told(run, corpus)["form"]) == {"rating": 1}
    ((form,),) = (venue["forms"] for venue in json.loads(run("status", "-w", corpus, "--json").out)["venues"])
    assert form["unverified"] == {"rating": 1}


@pytest.mark.slow
def test_status_does_not_flag_fields_that_were_seen(run: Run, tmp_path: Path) -> None:
    review = note("r1", {"title": "Good", "review": "Kites.", "rating": "6: Marginally above acceptance threshold"})
    assert "form" not in told(run, read_at("ICLR.cc/2019/Conference", tmp_path / "corpus", review))


EMNLP = "EMNLP/2023/Conference"
EXCITED = {"Reasons_to_accept": "Kites.", "Excitement": "3: Ambivalent: It has merits."}
NOT_APPLICABLE = {"Reproducibility": "N/A: Doesn't apply, since the paper does not include empirical results."}


def test_a_review_on_a_form_without_a_rating_does_not_count_as_unrated(run: Run, tmp_path: Path) -> None:
    corpus = read_at(
        EMNLP, tmp_path / "corpus", note("r1", EXCITED), note("r2", EXCITED | {"Reasons_to_accept": "Strings."})
    )
    assert figures_in(told(run, corpus)["reviews"]) == [2, 2]
    (venue,) = json.loads(run("status", "-w", corpus, "--json").out)["venues"]
    assert [(form["asks_rating"], form["without_rating"]) for form in venue["forms"]] == [(False, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("score", "asks_rating"),
    [("scope", False), ("Q6 Overall", True), ("rating", True)],
)
def test_whether_an_invitation_asks_for_a_rating_is_stated_only_if_known(
    run: Run, tmp_path: Path, score: str, asks_rating: bool | None
) -> None:
    asked = {name: ASKED[name] for name in ("title", "summary")} | {score: ASKED["rating"]}
    corpus = a_corpus(tmp_path / "corpus", invitation(asked), note("r1", {"title": "Good", "summary": "Kites."}))
    said = told(run, corpus)["reviews"]
    assert figures_in(said) == [1, 1]
    assert ("their form" in said) is (asks_rating is False)
    (venue,) = json.loads(run("status", "-w", corpus, "--json").out)["venues"]
    assert [(form["asks_rating"], form["without_rating"]) for form in venue["forms"]] == [(asks_rating, 1)]


def test_a_form_with_an_unknown_rating_field_is_not_called_a_form_without_a_rating(run: Run, tmp_path: Path) -> None:
    corpus = read_at("robot-learning.org/CoRL/2025/Conference", tmp_path / "corpus", note("r1", {"confidence": "3"}))
    said = told(run, corpus)["reviews"]
    assert figures_in(said) == [1, 1]
    assert "their form" not in said


def test_a_verbal_answer_offered_by_the_form_does_not_count_as_missing(run: Run, tmp_path: Path) -> None:
    odd = [note("r2", {"Reproducibility": "Unclear"}), note("r3", {"Reproducibility": "N/A"})]
    corpus = read_at(EMNLP, tmp_path / "corpus", note("r1", EXCITED | NOT_APPLICABLE), *odd)
    assert counts_in(told(run, corpus)["form"]) == {"Reproducibility": 1}
    (venue,) = json.loads(run("status", "-w", corpus, "--json").out)["venues"]
    assert [form["unoffered"] for form in venue["forms"]] == [{"Reproducibility": 1}]


@pytest.mark.parametrize(
    ("options", "answer", "is_offered"),
    [
        (["1: poor", "2: good", "Not applicable"], "Not applicable", True),
        (["1: poor", "2: good", "Not applicable"], ["Not applicable"], True),
        (["1: poor", "2: good", "N/A: Doesn't apply"], "N/A: Doesn't apply", True),
        (["1: poor", "2: good"], "Not applicable", False),
        ([{"value": 1, "description": "1: poor"}, {"value": 2, "description": "2: good"}], 2, True),
        ([{"value": 1, "description": "1: poor"}, {"value": 2, "description": "2: good"}], 3, False),
        ([{"value": "2", "description": "good"}, {"value": "1", "description": "bad"}, {"value": "NA"}], "NA", True),
    ],
)
def test_what_a_scale_offers_beside_its_numbers_is_offered(
    run: Run, tmp_path: Path, options: list[Any], answer: Any, is_offered: bool
) -> None:
    asked = {"title": ASKED["title"], "scope": {"order": 2, "value": {"param": {"type": "string", "enum": options}}}}
    corpus = a_corpus(tmp_path / "corpus", invitation(asked), note("r1", {"title": "Good", "scope": answer}))
    (found,) = json.loads(run("forms", V, "-w", corpus, "--json").out)
    assert found["census"]["unoffered"] == ({} if is_offered else {"scope": 1})


def test_a_field_differing_only_in_case_is_the_forms_own(run: Run, tmp_path: Path) -> None:
    answered = {"Reasons_To_Accept": "Kites.", "excitement": "9: Kites"}
    corpus = read_at(EMNLP, tmp_path / "corpus", note("r1", answered))
    assert counts_in(told(run, corpus)["form"]) == {"Excitement": 1}
    (found,) = json.loads(run("forms", EMNLP, "-w", corpus, "--json").out)
    assert found["census"]["filled"] == {"Reasons_to_accept": 1, "Excitement": 1}
    assert (found["census"]["unoffered"], found["census"]["unknown"]) == ({"Excitement": 1}, {})


def test_an_inferred_form_lacks_nothing(run: Run, tmp_path: Path) -> None:
    corpus = a_corpus(tmp_path / "corpus", *REVIEWS)
    assert figures_in(told(run, corpus)["form"]) == [3]
    lines = run("forms", V, "-w", corpus).out.splitlines()
    assert lines[0] == f"inferred:{V}"
    assert lines[-1].startswith("3 reviews ")
    assert [columns(line)[0].strip() for line in lines if line.endswith("3 (100%)")] == ["title", "rating"]


def test_status_does_not_mention_a_form_with_every_field(run: Run, tmp_path: Path) -> None:
    corpus = a_corpus(tmp_path / "corpus", invitation(ASKED), *REVIEWS[:1])
    assert "form" not in told(run, corpus)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Question("a", 1), "-"),
        (Question("a", 1, bounds=(1.0, 10.0)), "1 to 10"),
        (Question("a", 1, {float(number): "" for number in range(1, 5)}), "1 to 4"),
        (Question("a", 1, {float(number): "" for number in range(0, 11, 2)}), "0 to 10 by 2"),
        (Question("a", 1, {number / 2: "" for number in range(2, 11)}), "1 to 5 by 0.5"),
        (Question("a", 1, {1.0: "", 3.0: "", 6.0: "", 8.0: ""}), "1, 3, 6, 8"),
        (Question("a", 1, {1.0: "", 2.0: ""}), "1, 2"),
        (Question("a", 1, answers=("Yes",)), "1 answer"),
    ],
)
def test_a_scale_is_shown_with_its_gaps(question: Question, said: str) -> None:
    assert scale(question) == said
