"""`peercorpus forms` shows every known form, how it is known, and how a workspace's reviews answer it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from commands import Run, assert_refused
from in_this_process import build_here
from peercorpus.forms.declared_forms import declared_forms
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace
from raw_forums import v2

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
    tail = "Submission" if note_id == "paper" else "Official_Review"
    return raw(RawKind.NOTE, note_id, "paper", v2(note_id, tail, "Reviewer_AbCd", content=content, **more))


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


def test_a_declared_form_is_shown(run: Run) -> None:
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


def test_a_stored_form_counts_its_fields(run: Run, corpus: Path) -> None:
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
def test_the_correct_name_is_suggested(run: Run, corpus: Path, asked: str, meant: str) -> None:
    assert_refused(run("forms", asked, "-w", corpus), f"'{meant}'")


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


def test_unknown_answers_are_named_too(run: Run, tmp_path: Path) -> None:
    review = note("r1", {"title": "Good", "review": "Kites.", "rating": "3: Marginally above acceptance threshold"})
    corpus = read_at("NIPS.cc/2018/Workshop/CDNNRIA", tmp_path / "corpus", review)
    assert counts_in(told(run, corpus)["form"]) == {"rating": 1}
    ((form,),) = (venue["forms"] for venue in json.loads(run("status", "-w", corpus, "--json").out)["venues"])
    assert form["unverified"] == {"rating": 1}


EMNLP = "EMNLP/2023/Conference"


def test_an_inferred_form_lacks_nothing(run: Run, tmp_path: Path) -> None:
    corpus = a_corpus(tmp_path / "corpus", *REVIEWS)
    assert figures_in(told(run, corpus)["form"]) == [3]
    lines = run("forms", V, "-w", corpus).out.splitlines()
    assert lines[0] == f"inferred:{V}"
    assert lines[-1].startswith("3 reviews ")
    assert [columns(line)[0].strip() for line in lines if line.endswith("3 (100%)")] == ["title", "rating"]
