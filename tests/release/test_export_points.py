"""Exports of single criticisms: the authors' answers, on the paper's split, never anything after the decision."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answered_points import ANSWER, BLAME, a_discussion
from asked_releases import publish_release
from commands import Run
from invented_tables import ICLR, a_forum, invented
from model_endpoint import completion, serving
from peercorpus.errors import PeercorpusError
from peercorpus.models.chat_messages import ChatOptions, ThirdParties
from peercorpus.models.endpoint import MODEL_KEY_VARIABLE, AskedModel, ModelSettings
from peercorpus.records.enums import Role
from peercorpus.records.papers import Paper
from peercorpus.records.points import Point
from peercorpus.records.reviews import Post
from peercorpus.release.by_model.annotator import Annotator
from peercorpus.release.exports.export import ANSWERED_LATE, UNANSWERED, UNSURE, export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.exports.samples import Opening, PromptOptions
from peercorpus.release.folder import open_release
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.release.splits import Split, Task

BY_POINT = PromptOptions(by_point=0.9)
PAPERS = [f"p{number:02}" for number in range(12)]


def corpus() -> Iterator[object]:
    """Twelve papers with a criticism each: p03 answered after the decision, p04 unanswered, p05 less certain."""
    for forum_id in PAPERS:
        for record in a_discussion(forum_id) if forum_id != "p06" else a_forum(forum_id):
            if isinstance(record, Post) and record.post_id == "p03-answer":
                yield replace(record, posted_after_decision=True)
            elif isinstance(record, Point) and forum_id == "p04":
                yield replace(record, answers=())
            elif isinstance(record, Point) and forum_id == "p05":
                yield replace(record, answers=tuple(replace(one, confidence=0.4) for one in record.answers))
            else:
                yield record


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("points")
    with invented(folder / "corpus", {ICLR: corpus()}) as workspace:
        publish_release(workspace, folder / "out", splits=SplitRequest(Profile.RE2), points=True)
        publish_release(workspace, folder / "plain", splits=SplitRequest(Profile.RE2))
    return folder / "out"


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows of all splits by paper, each of which has one."""
    found = {}
    for path in sorted(folder.glob("rebuttal_*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            assert row["forum_id"] not in found
            found[row["forum_id"]] = row | {"split": path.stem.removeprefix("rebuttal_")}
    return found


def test_a_sample_is_a_point_and_its_answer_in_the_split_of_its_paper(release: Path, tmp_path: Path) -> None:
    exported = export_release(release, tmp_path / "out", ExportRequest(ExportLayout.TRL, (), BY_POINT))
    found = rows(tmp_path / "out")
    assert found.keys() == {*PAPERS} - {"p03", "p04", "p05", "p06"}
    published = open_release(release)
    for forum_id, row in found.items():
        assert forum_id in {one["forum_id"] for one in published.rows("rebuttal", row["split"], ["forum_id"])}
        system, asked, said = row["messages"]
        assert system["role"] == "system"
        assert asked["content"].endswith(BLAME.replace("ada@example.org", "[e-mail]"))
        assert f"Text of {forum_id}" in asked["content"]
        assert said == {"role": "assistant", "content": ANSWER}
        assert (row["kind"], row["aspect"], row["confidence"]) == ("weakness", "experiments", [0.97])
    left_out = sum((file.samples.left_out for file in exported.files), start=type(exported.files[0].samples.left_out)())
    assert left_out == {ANSWERED_LATE: 1, UNANSWERED: 1, UNSURE: 1}
    assert {file.task for file in exported.files} == {Task.REBUTTAL}
    assert {file.split for file in exported.written} == {Split(row["split"]) for row in found.values()}
    assert "one point of a review" in (tmp_path / "out" / "README.md").read_text()


def test_without_a_paper_the_point_is_alone_and_less_certain_answers_can_be_included(
    release: Path, tmp_path: Path
) -> None:
    telling = PromptOptions(Opening.NONE, with_system=False, by_point=0.0)
    export_release(release, tmp_path / "out", ExportRequest(ExportLayout.LLAMA_FACTORY, (Task.REBUTTAL,), telling))
    found = rows(tmp_path / "out")
    assert "p05" in found
    assert "p03" not in found
    assert found["p01"]["conversations"][0]["value"].startswith("No wind is measured")


CORL = "robot-learning.org/2022/Conference"
"""Its split comes before that of ICLR, and its venue after it."""


REBUILT = PromptOptions(chat=ChatOptions(others=ThirdParties.LEAVE, ends_answered=False))


@pytest.mark.slow
@pytest.mark.parametrize("layout", [ExportLayout.TRL, ExportLayout.RE2])
@pytest.mark.parametrize("telling", [BY_POINT, REBUILT])
def test_papers_of_every_conference_are_written_whatever_the_order_of_splits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: ExportLayout, telling: PromptOptions
) -> None:
    monkeypatch.setattr("peercorpus.release.venue_groups.LARGE_VENUE", 1)
    of_corl = [record for number in range(9) for record in a_discussion(f"q{number}", CORL)]
    of_corl = [replace(one, conference="corl", year=2022) if isinstance(one, Paper) else one for one in of_corl]
    of_iclr = [record for forum_id in PAPERS for record in a_discussion(forum_id)]
    with invented(tmp_path / "corpus", {ICLR: of_iclr, CORL: of_corl}) as workspace:
        publish_release(workspace, tmp_path / "release", splits=SplitRequest(Profile.RE2), points=True)
    release = open_release(tmp_path / "release")
    chosen = PromptOptions(chat=ChatOptions(ends_answered=False)) if layout is ExportLayout.RE2 else telling
    exported = export_release(release.folder, tmp_path / "out", ExportRequest(layout, (Task.REBUTTAL,), chosen))
    papers = sum(release.count("rebuttal", split) for split in Split)
    assert papers > 15
    assert sum(file.samples.papers for file in exported.files) == papers


@pytest.mark.parametrize(
    ("layout", "tasks", "telling", "says"),
    [
        (ExportLayout.JSONL, (), BY_POINT, "leave out --task"),
        (ExportLayout.RE2, (), BY_POINT, "--by-point, or name another format"),
        (ExportLayout.TRL, (Task.REVIEW,), BY_POINT, "or name rebuttal"),
        (ExportLayout.TRL, (), replace(BY_POINT, chat=ChatOptions(Role.AUTHOR)), "--assistant"),
        (ExportLayout.TRL, (), replace(BY_POINT, by_point=1.5), "a share from 0 to 1, got 1.5"),
        (ExportLayout.TRL, (), replace(BY_POINT, by_point=float("nan")), "a share from 0 to 1, got nan"),
    ],
)
def test_incompatible_options_are_refused(
    release: Path, tmp_path: Path, layout: ExportLayout, tasks: tuple[Task, ...], telling: PromptOptions, says: str
) -> None:
    with pytest.raises(PeercorpusError, match=says):
        export_release(release, tmp_path / "out", ExportRequest(layout, tasks, telling))


def test_a_release_without_points_and_a_workspace_are_refused_with_advice(
    release: Path, tmp_path: Path, run: Run
) -> None:
    told = ("--format", "trl", "--by-point", 0.9)
    plain = run("export", release.with_name("plain"), "--out", tmp_path / "out", *told)
    assert (plain.code, "publish it with --points" in plain.err) == (2, True)
    assert not (tmp_path / "out").exists()
    done = run("export", release, "--out", tmp_path / "out", *told)
    assert done.code == 0
    assert rows(tmp_path / "out")


@pytest.mark.slow
def test_an_answer_labelled_by_a_model_is_no_sample_as_it_has_no_confidence(tmp_path: Path) -> None:
    with invented(tmp_path / "corpus", {ICLR: corpus()}) as workspace, serving(completion("P1: S1")) as stand:
        settings = ModelSettings(stand.url, "kite-1", MODEL_KEY_VARIABLE)
        with closing(AskedModel.of(settings, None, "run", 99)) as model:
            publish_release(
                *(workspace, tmp_path / "release"),
                splits=SplitRequest(Profile.RE2),
                points=True,
                annotator=Annotator(model),
            )
    asked = ExportRequest(ExportLayout.TRL, (), PromptOptions(by_point=0.0))
    exported = export_release(tmp_path / "release", tmp_path / "out", asked)
    assert rows(tmp_path / "out").keys() == {*PAPERS} - {"p03", "p04", "p06"}
    assert sum(file.samples.left_out[UNSURE] for file in exported.files) == 1
