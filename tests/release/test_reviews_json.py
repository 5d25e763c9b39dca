"""Reviews and papers in ReviewBench's format: every field of its card, and nothing that may not be published."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from asked_releases import publish_release
from commands import Run, assert_refused
from in_this_process import build_here
from invented_tables import ICLR, TMLR, a_forum, invented, paper, review, score
from peercorpus.corpus.takedown import LIST
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.records.enums import Aspect, Phase, SectionKind
from peercorpus.records.reviews import Section
from peercorpus.release.request import ReleaseLayout
from peercorpus.release.reviews_json import FIELDS, review_entry
from peercorpus.release.rows import review_row
from peercorpus.workspace.workspace import open_workspace
from published_records import reviewbench_review, reviewbench_row, write_parquet

CARD = """
review_id reviewer rating confidence rebuttal
summary questions limitations strengths weaknesses
soundness presentation contribution
quality clarity significance originality
strengths_and_weaknesses
was_revised final_justification
claims_and_evidence theoretical_claims experimental_designs_or_analyses relation_to_broader_scientific_literature
essential_references_not_discussed
paper_topic_and_main_contributions reasons_to_accept reasons_to_reject excitement reproducibility ethical_concerns
summary_of_paper summary_of_recommendation technical_quality clarity_of_presentation potential_impact robotics_focus
extra_scores extra_text
"""
"""The table "Decoding reviews_json" of ReviewBench's card, row by row."""


def entry(*scores: Any, sections: tuple[Section, ...] = (), extra: str = "{}", **more: Any) -> dict[str, Any]:
    """Return the entry of a review with these answers, and its members that are neither empty nor None."""
    record = review("f1", scores=scores, sections=sections, extra=extra, **more)
    return review_entry(record, review_row(record, "We thank you."))


def filled(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value not in (None, "", {})}


def section(field: str, text: str) -> Section:
    return Section(SectionKind.OTHER, field, text)


def test_every_entry_has_the_cards_fields() -> None:
    bare = entry(reviewer="", review_id="")
    assert list(bare) == [*CARD.split(), "extra_other"]
    assert list(entry(score("novelty", 3, "3", Aspect.NOVELTY), title="Good")) == list(bare)
    assert filled(bare) == {"rebuttal": "We thank you."}
    assert {type(value) for value in bare.values()} == {str, type(None), dict}


def test_answers_are_in_documented_or_extra_fields() -> None:
    record = review("f1", title="Good", final_justification="I stay.")
    found = review_entry(record, review_row(record, "We thank you."))
    assert filled(found) == {
        "review_id": "f1-R1",
        "reviewer": "R1",
        "rating": 6,
        "confidence": 4,
        "rebuttal": "We thank you.",
        "summary": "They invent.",
        "final_justification": "I stay.",
        "extra_text": {
            "title": "Good",
            "rating_label": "6: Weak Accept",
            "soundness_label": "Not applicable",
            "code_of_conduct": "Yes",
        },
    }


def test_the_recommendation_named_rating_is_used() -> None:
    twice = [score("overall_score", 5, "5", Aspect.RECOMMENDATION), score("rating", 6, "6", Aspect.RECOMMENDATION)]
    found = entry(*twice)
    assert (found["rating"], found["extra_scores"]) == (6, {"overall_score": 5})
    first = score("preliminary_rating", 2, "2", Aspect.RECOMMENDATION, Phase.INITIAL)
    found = entry(first, score("final_rating", 5, "5", Aspect.RECOMMENDATION))
    assert (found["rating"], found["extra_scores"]) == (5, {"preliminary_rating": 2, "final_rating": 5})
    assert entry(first)["rating"] == 2


def test_an_initial_text_is_beside_the_current_one() -> None:
    found = entry(
        sections=(section("Summary", "New."), section("tips", "c")),
        initial_sections=(section("Summary", "Old."), section("tips", "b")),
        updated_fields=("tips",),
    )
    assert found["summary"] == "New."
    assert found["extra_text"] == {"tips": "c", "summary_initial": "Old.", "tips_initial": "b"}
    assert found["extra_other"] == {"updated_fields": ("tips",)}


def test_no_column_mixes_texts_and_numbers() -> None:
    found = entry(
        score("limitations", 2, "2", Aspect.OTHER),
        score("claims_and_evidence", None, "Yes", Aspect.OTHER),
        sections=(section("clarity", "Well written."),),
        extra='{"ethical_concerns": ["None"], "is_expert": true}',
    )
    assert (found["limitations"], found["clarity"], found["ethical_concerns"]) == ("", None, "")
    assert found["claims_and_evidence"] == "Yes"
    assert found["extra_scores"] == {"limitations": 2}
    assert found["extra_text"] == {"clarity": "Well written."}
    assert found["extra_other"] == {"ethical_concerns": ["None"], "is_expert": True}


@pytest.mark.parametrize("name", ["review_id", "reviewer", "rebuttal", "final_justification"])
def test_no_answer_overwrites_a_field(name: str) -> None:
    found = entry(sections=(section(name, "I am one."),))
    assert found["extra_text"] == {name: "I am one."}
    assert found[name] in {"f1-R1", "R1", "We thank you.", ""}


def test_two_answers_of_one_name_are_both_kept() -> None:
    texts = (section("summary", "One."), section("Summary", "Two."), section("tips", "a"), section("tips", "b"))
    found = entry(score("rating", 8, "8: top", Aspect.RECOMMENDATION), sections=(*texts, section("rating_label", "x")))
    assert found["summary"] == "One."
    assert found["extra_text"] == {
        "rating_label": "8: top",
        "Summary": "Two.",
        "tips": "a",
        "form_tips": "b",
        "form_rating_label": "x",
    }


D_AND_B = "NeurIPS.cc/2021/Track/Datasets_and_Benchmarks/Round1"
EMNLP = "EMNLP/2023/Conference"
MEMBERS = [*FIELDS, "extra_scores", "extra_text"]


def read_rows(release: Path) -> dict[str, dict[str, Any]]:
    rows = [row for path in sorted(release.glob("data/*.parquet")) for row in pq.read_table(path).to_pylist()]
    return {row["forum_id"]: row for row in rows}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layout")
    nothing = {"title": None, "abstract": None, "venue": None, "decision": None, "decision_comment": None}
    venues: dict[str, list[object]] = {
        ICLR: a_forum("f1"),
        TMLR: [
            paper("f2", TMLR, number=None, year=2024),
            paper("f3", TMLR, **nothing, decided_at=None, created_at=None, keywords=()),
        ],
        D_AND_B: [paper("f4", D_AND_B, conference="neurips", year=2021, track="Track/Datasets_and_Benchmarks/Round1")],
        EMNLP: [paper("f5", EMNLP, conference="emnlp", year=2023, venue="EMNLP 2023 Findings")],
    }
    with invented(folder / "corpus", venues) as workspace:
        publish_release(workspace, folder / "out", layout=ReleaseLayout.REVIEWBENCH)
    return folder / "out"


def test_harvested_papers_have_the_cards_columns(release: Path) -> None:
    rows = read_rows(release)
    assert [(row["conference"], row["year"], row["track"]) for row in rows.values()] == [
        ("emnlp", 2023, "findings"),
        ("iclr", 2020, "main"),
        ("neurips", 2021, "datasets_and_benchmarks"),
        ("tmlr", 2024, "main"),
        ("tmlr", None, "main"),
    ]
    assert sorted(path.name for path in (release / "data").iterdir()) == [
        f"{split}-00000-of-00001.parquet" for split in ("emnlp", "iclr", "neurips", "tmlr")
    ]


def test_reviews_have_the_cards_members_in_order(release: Path) -> None:
    (review,) = json.loads(read_rows(release)["f1"]["reviews_json"])
    assert list(review) == MEMBERS
    assert isinstance(review["extra_scores"], dict)
    assert review["extra_text"]["code_of_conduct"] == "Yes"


def test_verify_reads_it_and_products_refuse_it(release: Path, run: Run) -> None:
    assert run("verify", release).code == 0
    assert "Nothing differs." in run("diff", release, release).out
    assert_refused(run("export", release, "--out", release.parent / "x", "--format", "jsonl"), "no task configurations")
    for command in ("report", "table1"):
        out = ("--out", release.parent / "x") if command == "report" else ()
        assert_refused(run(command, "--workspace", release, *out), "layout 'reviewbench'", "workspace")
    assert not (release.parent / "x").exists()


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """A workspace with one paper of ReviewBench that names people and has two reviews by one reviewer."""
    reviews = [
        reviewbench_review(summary="Write to ada@kites.example.", extra_text={"to": "bo@kites.example"}),
        reviewbench_review(review_id="r2", rebuttal="Thank you, r2."),
        reviewbench_review(review_id="r2", summary="The same id again.", rebuttal=""),
    ]
    row = reviewbench_row(reviews=reviews, authors=["Ada Example", "", None], track="findings", year=2022)
    write_parquet(tmp_path / "in" / "a.parquet", [row])
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        import_dumps(workspace, [tmp_path / "in"])
        build_here(workspace)
    return tmp_path / "corpus"


def publish_row(workspace: Path, *, no_authors: bool = False) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    out = workspace.parent / "out"
    with open_workspace(workspace) as opened:
        publish_release(opened, out, layout=ReleaseLayout.REVIEWBENCH, no_authors=no_authors)
    (row,) = read_rows(out).values()
    return row, json.loads(row["reviews_json"])


@pytest.mark.slow
def test_a_record_keeps_its_masked_text(imported: Path) -> None:
    row, reviews = publish_row(imported)
    assert (row["track"], row["year"], row["authors"]) == ("findings", 2022, ["Ada Example", "", None])
    assert reviews[0]["summary"] == "Write to [e-mail]."
    assert reviews[0]["extra_text"] == {"to": "[e-mail]"}
    assert [review["review_id"] for review in reviews] == ["r1", "r2", "r2"]
    assert [review["rebuttal"] for review in reviews] == ["We thank the reviewer.", "Thank you, r2.", ""]


def test_the_layout_has_nothing_taken_down(imported: Path) -> None:
    (imported / LIST).write_text("r1\nr2/rebuttal\n")
    row, reviews = publish_row(imported)
    assert [(review["review_id"], review["rebuttal"]) for review in reviews] == [("r2", ""), ("r2", "")]
    assert row["num_reviews"] == 2
    assert "ada" not in row["reviews_json"]


def test_without_authors_no_name_is_published(imported: Path) -> None:
    row, _ = publish_row(imported, no_authors=True)
    assert row["authors"] == []
    assert "Ada Example" not in json.dumps(row, ensure_ascii=False)
