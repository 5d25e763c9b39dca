"""No text of a release or of dialogues contains a person's address or profile; licences are unchanged."""

import json
import time
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from answered_points import with_points
from asked_releases import publish_release
from invented_tables import ICLR, NOON, a_forum, invented, paper, score, what_follows, with_figures
from peercorpus.records.ai_reviews import AiReview, SurveyAnswer
from peercorpus.records.documents import PaperText
from peercorpus.records.enums import Aspect, Role, SectionKind
from peercorpus.records.papers import Evidence
from peercorpus.records.reviews import Conversation, MetaReview, Post, Section
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.schemas import Papers
from peercorpus.release.shards import CONFIGS
from peercorpus.wording.untrusted_text import redact_people

ADDRESS, PROFILE = "ada@example.org", "~Ada_Example1"
SAID = f"Say {ADDRESS} and {PROFILE}."
BLOTTED = "Say [e-mail] and [profile]."
TEXTS: dict[str, dict[str, Any]] = {
    "Paper": {
        **dict.fromkeys(("title", "abstract", "tldr", "primary_area", "venue", "decision", "decision_comment"), SAID),
        **dict.fromkeys(("authors", "keywords"), (SAID,)),
        **dict.fromkeys(("conference", "track", "licence"), SAID),
        "extra": json.dumps({"contact": SAID}),
    },
    "Review": {
        "title": SAID,
        "scores": (score("rating", 6.0, SAID, Aspect.RECOMMENDATION),),
        "sections": (Section(SectionKind.SUMMARY, "summary", SAID), Section(SectionKind.OTHER, "tips", SAID)),
        "initial_sections": (Section(SectionKind.SUMMARY, "summary", f"First: {SAID}"),),
        "final_justification": SAID,
        "updated_fields": (SAID,),
        "extra": json.dumps({"checks": [SAID], "note": SAID}),
    },
    "Post": {"title": SAID, "text": SAID, "invitation": SAID, "extra": json.dumps({"contact": SAID})},
    "AiReview": {
        **dict.fromkeys(("title", "invitation", "licence"), SAID),
        "sections": (Section(SectionKind.OTHER, "ai_review", SAID),),
        "extra": json.dumps({"contact": SAID}),
    },
    "PaperVersion": {
        **dict.fromkeys(("title", "abstract"), SAID),
        "path": f"/pdf/{SAID}",
        "evidence": Evidence(NOON, SAID, SAID, SAID, None, (SAID,)),
    },
    "Change": dict.fromkeys(("section", "before", "after"), SAID),
    "PaperText": {"markdown": f"# {SAID}\n\n{{ada, bob}}@example.org"},
}
NO_TEXT = {"forum_id", "year", "venue_id", "paper_number", "num_reviews", "markdown_chars"}
"""Columns of `papers` without text by people."""


def forum_of_people() -> list[object]:
    found: list[object] = []
    for record in (*a_forum("f1"), *what_follows("f1")):
        changes = TEXTS.get(type(record).__name__, {})
        if isinstance(record, Conversation):
            said = {"text": SAID, "title": SAID, "titles": (SAID,), "final_justification": SAID}
            turns = tuple(
                replace(one, **said, signature="R1" if one.role is Role.REVIEWER else "Authors")  # type: ignore[arg-type]
                for one in record.turns
            )
            changes = {"turns": turns, "context": tuple(replace(one, concerning=(SAID,)) for one in record.context)}
        if isinstance(record, AiReview):
            answer = (SurveyAnswer("comments", SAID, None),)
            replies = (replace(reply, title=SAID, text=SAID, survey=answer) for reply in record.replies)
            changes = changes | {"replies": tuple(replies)}
        if isinstance(record, PaperText):
            changes = changes | {"headings": tuple(replace(heading, title=SAID) for heading in record.headings)}
        if isinstance(record, Post) and record.meta_review is not None:
            answers = MetaReview(SAID, SAID, None, (), (Section(SectionKind.OTHER, "why", SAID),))
            changes = changes | {"meta_review": answers}
        found.append(replace(record, **changes))  # type: ignore[type-var]
    return found


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    with invented(folder / "corpus", {ICLR: with_points(with_figures(forum_of_people()))}) as workspace:
        splits = SplitRequest(Profile.TEMPORAL, date(2000, 1, 1))
        publish_release(workspace, folder / "out", splits=splits, figures=True, points=True)
    for layout in ExportLayout:
        wanted = ExportRequest(format=layout, unanswered=None if layout is ExportLayout.JSONL else True)
        export_release(folder / "out", folder / layout, wanted)
    return folder


def row_of(folder: Path, config: str) -> dict[str, Any]:
    (path,) = (folder / "out" / "data" / config).iterdir()
    row, *_ = pq.read_table(path).to_pylist()
    found: dict[str, Any] = row
    return found


@pytest.mark.parametrize(
    ("part", "column"),
    [
        *(("turns", name) for name in ("title", "text", "titles", "final_justification")),
        *(("context", name) for name in ("title", "text", "concerning")),
    ],
)
def test_each_text_of_a_conversation_is_masked(exports: Path, part: str, column: str) -> None:
    for said in row_of(exports, "conversations")[part]:
        assert BLOTTED in json.dumps(said[column])


def test_no_column_contains_an_address(exports: Path) -> None:
    # Links contain no text by people, and tries only the decision of `papers`.
    for config in CONFIGS.keys() - {"links", "tries"}:
        (path,) = (exports / "out" / "data" / config).iterdir()
        said = json.dumps(pq.read_table(path).to_pylist(), default=str)
        assert BLOTTED in said
        assert not any(name in said for name in (ADDRESS, "bob", PROFILE))
        assert list(row_of(exports, config)) == CONFIGS[config].schema.names


@pytest.mark.parametrize(
    ("config", "column"),
    [
        *(("papers", name) for name in Papers.schema.names if name not in NO_TEXT),
        *(("papers_full", name) for name in ("reviews", "posts", "extra")),
        *(("reviews", name) for name in ("title", "sections", "initial_sections", "scores", "extra", "rebuttal")),
        *(("versions", name) for name in ("title", "abstract", "rule", "file_signs", "deadline_source", "invitation")),
        ("scores", "final_label"),
        *(("ai_reviews", name) for name in ("title", "sections", "extra", "replies")),
        *(("review_sft", name) for name in ("markdown", "title", "reviews")),
        *(("rebuttal", name) for name in ("markdown", "title", "conversations")),
    ],
)
def test_each_text_of_a_column_is_masked(exports: Path, config: str, column: str) -> None:
    assert BLOTTED in json.dumps(row_of(exports, config)[column], default=str)


def test_authors_can_be_left_unnamed(exports: Path, tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: [paper("f1", authors=("Ada Example",))]}) as workspace:
        publish_release(workspace, tmp_path / "out", no_authors=True)
    assert row_of(tmp_path, "papers")["authors"] == row_of(tmp_path, "papers_full")["authors"] == []
    assert all("authors" not in config.schema.names for config in CONFIGS.values() if config.is_task)
    assert row_of(exports, "papers")["authors"] == [BLOTTED]


def test_without_authors_no_derived_field_remains(tmp_path: Path) -> None:
    told = {
        "_bibtex": "author={Ada Example and Bo Ek}",
        "paperhash": "example|sorting",
        "by": "ADA EXAMPLE",
        "code": "c",
    }
    extra, records = json.dumps(told), list[object]()
    for record in a_forum("f1"):
        changes: dict[str, Any] = {"Paper": {"authors": ("Ada Example",), "extra": extra}, "Post": {"extra": extra}}
        records.append(replace(record, **changes.get(type(record).__name__, {})))  # type: ignore[type-var]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        publish_release(workspace, tmp_path / "out", no_authors=True)
    row = row_of(tmp_path, "papers_full")
    assert json.loads(row["extra"]) == {"code": "c"}
    assert [json.loads(post["extra"]) for post in row["posts"]] == [{"code": "c"}] * len(row["posts"])
    assert row["posts"]


@pytest.mark.parametrize("layout", ExportLayout)
def test_each_format_of_dialogues_is_masked(exports: Path, layout: ExportLayout) -> None:
    files = [*(exports / layout).glob("*_test.json*")]
    assert {path.name.partition("_")[0].lower() for path in files} >= {"rebuttal"}
    for said in (path.read_text() for path in files):
        assert BLOTTED in said
        assert not any(name in said for name in (ADDRESS, "bob", PROFILE))


@pytest.mark.parametrize(
    "written",
    [
        "{ada, bob}@kites.example",
        "\\{ada,bob\\}@kites.example",
        "(ada, bob)@kites.example",
        "[ada, bob] @ kites.example",
        "ada\\_b@kites.example",
        "<ada.b+c@mail.kites.example>",
        "mailto:ada@kites.example",
    ],
)
def test_email_addresses_are_found_however_papers_write_them(written: str) -> None:
    assert "ada" not in redact_people(f"We are {written}, all of us.")
    assert redact_people(f"We are {written}, all of us.").endswith(", all of us.")


@pytest.mark.parametrize("text", ["mAP@0.5", "Hits@10 (see f) @ k", "f(x)@y", "x\\_1 and @ada", "Recall@{1, 5}"])
def test_text_resembling_an_email_address_is_kept(text: str) -> None:
    assert redact_people(text) == text


def test_licences_are_given_where_stated_and_counted(tmp_path: Path) -> None:
    stated = [paper("f1", licence="CC BY 4.0"), paper("f2", licence="CC BY 4.0"), paper("f3")]
    with invented(tmp_path / "corpus", {ICLR: stated}) as workspace:
        publish_release(workspace, tmp_path / "out")
    (path,) = (tmp_path / "out" / "data" / "papers").iterdir()
    assert pq.read_table(path, columns=["licence"]).column("licence").to_pylist() == ["CC BY 4.0", "CC BY 4.0", None]
    card = (tmp_path / "out" / "README.md").read_text()
    assert "CC BY 4.0 (2), none stated (1)" in card


@pytest.mark.parametrize("unit", ["\\_", "{", "{a", "(a ", "[a ", "a.", "{ab} ", "a\\_b"])
def test_what_is_no_address_takes_linear_time(unit: str) -> None:
    text = "@ " + unit * (200_000 // len(unit))
    assert redact_in_time(text) == text


def redact_in_time(text: str) -> str:
    began = time.process_time()
    redacted = str(redact_people(text))
    assert time.process_time() - began < 2
    return redacted


@given(st.text(alphabet="a1.@{}[]()~_-\\ \n", max_size=60) | st.text(max_size=60))
@example("{ada@kites.example}@kites.example")
@example("ada@kites.example@kites.example")
@example("{" * 20 + "ada@kites.example" + "}@kites.example" * 20)
def test_masking_is_idempotent(text: str) -> None:
    once = redact_people(text)
    assert redact_people(once) == once


@pytest.mark.parametrize("unit", ["@kites.example", " @ kites.example", "}@kites.example"])
def test_nested_addresses_take_linear_time(unit: str) -> None:
    opening = "{" * 20_000 if unit.startswith("}") else ""
    blotted = redact_in_time(f"{opening}ada{unit * 20_000}")
    assert redact_people(blotted) == blotted
