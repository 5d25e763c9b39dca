"""How many texts look model-written, by population: with a control, and for no individual text."""

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from invented_sources import Given, paper
from naming import by_name
from peercorpus.errors import PeercorpusError
from peercorpus.metrics.marked_share import FEWEST_PAPERS, FEWEST_TEXTS, Sample
from peercorpus.report.corpus_statistics import Statistic
from peercorpus.report.model_statistics import model_written, read_model_texts
from peercorpus.report.panels import PANELS, FigureProfile, select_panels
from peercorpus.report.source import TextKind
from planted_shares import GREAT_RATIO, model_sample, passage, written

RATIO = GREAT_RATIO
Rows = list[dict[str, Any]]


class Corpus:
    """Papers and texts of conferences, with planted shares."""

    def __init__(self) -> None:
        self.papers: Rows = []
        self.texts: dict[TextKind, Rows] = {kind: [] for kind in TextKind}
        self._chance = Random(5)

    def add(
        self,
        conference: str,
        year: int | None,
        share: float,
        papers: int = 80,
        kind: TextKind = TextKind.REVIEWS,
        date: datetime | None = None,
    ) -> None:
        """Texts of one kind, of separate papers."""
        prefix = f"{conference}{year}{kind}"
        self.papers += [paper(f"{prefix}p{number:05}", conference, year) for number in range(papers)]
        self.texts[kind] += [
            {"forum_id": prefix + forum_id, "text": text, "created_at": date}
            for forum_id, text in written(self._chance, papers, share, RATIO)
        ]

    def source(self) -> Given:
        return Given(papers=self.papers, texts=self.texts)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    made = Corpus()
    made.add("iclr", 2019, 0.0)
    made.add("iclr", 2020, 0.0)
    made.add("iclr", 2024, 0.3)
    made.add("iclr", 2025, 0.0)
    made.add("iclr", 2018, 0.0, papers=10)
    made.add("neurips", 2021, 0.0, papers=160)
    made.add("neurips", 2023, 0.1, kind=TextKind.REPLIES)
    made.add("icml", 2025, 0.3)
    made.add("tmlr", None, 0.3, papers=2)
    made.texts[TextKind.REVIEWS] += [
        {"forum_id": "iclr2024reviewsp00000", "text": "Delves into it.", "created_at": None}
    ]
    return made


@pytest.fixture(scope="module")
def bounded(corpus: Corpus) -> Statistic:
    return model_written(corpus.source())


def row_of(made: Statistic, conference: str, year: int) -> dict[str, Any]:
    (row,) = made.table.filter(conference=conference, year=year).rows(named=True)
    return row


def test_without_model_texts_a_lower_bound(bounded: Statistic) -> None:
    planted = row_of(bounded, "iclr", 2024)
    assert 0.15 < planted["at_least_low"] < planted["at_least"] < planted["at_least_high"] <= 0.33
    assert (planted["share"], planted["written"]) == (None, "from 2022 on")
    bare = row_of(bounded, "iclr", 2025)
    assert bare["at_least_low"] <= 0 <= bare["at_least_high"]
    assert "iclr 2024" in bounded.says


def test_earlier_years_are_controls_for_each_other(bounded: Statistic) -> None:
    for year in (2019, 2020):
        control = row_of(bounded, "iclr", year)
        assert control["written"] == "before 2022"
        assert control["at_least_low"] <= 0 <= control["at_least_high"]
        assert abs(control["at_least"]) < 0.03
    others = row_of(bounded, "iclr", 2019)["reference_texts"], row_of(bounded, "iclr", 2020)["texts"]
    assert others[0] > others[1], "of 2018 too, which is too small to be a population"


def test_a_single_control_year_is_halved(bounded: Statistic) -> None:
    control = row_of(bounded, "neurips", 2021)
    assert control["papers"] == 80
    assert control["texts"] + control["reference_texts"] > 450
    assert control["at_least_low"] <= 0 <= control["at_least_high"]


def test_model_texts_give_an_estimate(corpus: Corpus) -> None:
    made = model_written(corpus.source(), model_sample(Random(1), 200, RATIO))
    planted = row_of(made, "iclr", 2024)
    assert planted["share_low"] <= 0.3 <= planted["share_high"]
    control = row_of(made, "iclr", 2019)
    assert control["share_low"] <= 0 <= control["share_high"]
    assert (
        made.table.filter(pl.col("of") != "reviews")["share"].null_count()
        == made.table.filter(pl.col("of") != "reviews").height
    )


def test_human_like_model_texts_give_none(corpus: Corpus) -> None:
    made = model_written(corpus.source(), model_sample(Random(1), 200, 1.0))
    assert made.table["share"].null_count() == made.table.height
    assert row_of(made, "iclr", 2024)["at_least"] is not None
    assert "nothing is estimated" in made.says


def test_excluded_groups_have_reasons_alone(bounded: Statistic) -> None:
    left = {(row["conference"], row["year"]): row for row in bounded.table.drop_nulls("left_out").rows(named=True)}
    assert set(left) == {("iclr", 2018), ("icml", 2025), ("neurips", 2023)}
    assert str(FEWEST_TEXTS) in left["iclr", 2018]["left_out"]
    assert "before 2022" in left["icml", 2025]["left_out"]
    numbers = [name for name in bounded.table.columns if name.startswith(("at_least", "share", "marked", "reference"))]
    assert all(row[name] is None for row in left.values() for name in numbers)
    # Reasons are in the order of the table, so that the same corpus gives the same figure.
    reasons = bounded.table["left_out"].drop_nulls().unique(maintain_order=True).to_list()
    assert list(bounded.unknown)[-len(reasons) :] == reasons


def test_nothing_is_shown_without_its_control() -> None:
    made = Corpus()
    made.add("iclr", 2024, 0.3)
    made.add("iclr", 2019, 0.0)
    statistic = model_written(made.source())
    assert statistic.table.is_empty()
    assert "twice" in statistic.why
    assert [reason for reason in statistic.unknown if "control" in reason]
    made.add("iclr", 2020, 0.0)
    assert model_written(made.source()).table["left_out"].null_count() == 3


def test_every_text_is_counted_or_has_a_reason(corpus: Corpus, bounded: Statistic) -> None:
    texts = sum(len(rows) for rows in corpus.texts.values())
    halved = row_of(bounded, "neurips", 2021)["reference_texts"]
    assert bounded.n + halved + sum(bounded.unknown.values()) == texts
    assert by_name(bounded.unknown, "words", "year", "population", "conference")["words"] == 1


def test_a_texts_date_precedes_its_venues_year() -> None:
    made = Corpus()
    made.add("iclr", 2022, 0.0, date=datetime(2021, 11, 1, tzinfo=UTC), papers=160)
    made.add("iclr", 2021, 0.0, date=datetime(2022, 1, 1, tzinfo=UTC))
    rows = model_written(made.source()).table.select("year", "written").rows()
    assert rows == [(2021, "from 2022 on"), (2022, "before 2022")]


@pytest.mark.parametrize("papers", [0, 80])
def test_without_earlier_texts_the_figure_is_empty(papers: int) -> None:
    made = Corpus()
    made.add("iclr", 2024, 0.3, papers=papers)
    statistic = model_written(made.source())
    assert statistic.table.is_empty()
    assert "before 2022" in statistic.why


def test_no_row_describes_one_text_or_person(bounded: Statistic) -> None:
    assert set(bounded.table.columns) & {"forum_id", "review_id", "reviewer", "signature", "text"} == set()
    shown = bounded.table.filter(pl.col("left_out").is_null())
    assert shown["texts"].min() >= FEWEST_TEXTS  # type: ignore[operator]
    assert shown["papers"].min() >= FEWEST_PAPERS  # type: ignore[operator]


def test_the_legend_explains_control_and_kinds(bounded: Statistic) -> None:
    from peercorpus.report.figure_style import BLUE, styled

    with styled():
        figure = PANELS["model_written"].draw(bounded)
    (legend,) = figure.legends
    said = {
        text.get_text(): line.get_markerfacecolor() for text, line in zip(legend.texts, legend.get_lines(), strict=True)
    }
    assert list(said) == ["reviews", "before 2022: the control, near 0"]
    assert said["reviews"] == BLUE
    assert figure.axes[0].get_xlabel() == "share of texts written by a model, at least"


def lines(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows))
    return path


def test_model_texts_are_files_or_lines(tmp_path: Path) -> None:
    texts = [passage(["delves"] * (place % 2)) for place in range(60)]
    as_lines = lines(tmp_path / "model.jsonl", *(json.dumps({"text": text}) for text in texts), "")
    folder = tmp_path / "folder"
    folder.mkdir()
    for place, text in enumerate(texts):
        (folder / f"{place}.{'md' if place % 3 else 'txt'}").write_text(text)
    (folder / "notes.pdf").write_bytes(b"%PDF")
    for found in (read_model_texts(as_lines), read_model_texts(folder)):
        assert (found.size, found.papers, found.marked_share) == (60, 60, 0.5)


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        (['{"text": "a"}', "", "no"], "Line 3"),
        (["[" * 100_000], "Line 1"),
        (['{"text": "too short"}'], "at least 50"),
    ],
)
def test_unreadable_input_is_reported_in_one_sentence(tmp_path: Path, rows: list[str], named: str) -> None:
    with pytest.raises(PeercorpusError, match=named):
        read_model_texts(lines(tmp_path / "model.jsonl", *rows))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PeercorpusError, match=r"none\.jsonl"):
        read_model_texts(tmp_path / "none.jsonl")


def test_model_texts_need_their_figure() -> None:
    sample = Sample((1,), (1.0,))
    assert len(select_panels(["model_written"], model=sample)) == 1
    for chosen in (partial(select_panels, ["keywords"]), partial(select_panels, profile=FigureProfile.RE2)):
        with pytest.raises(PeercorpusError, match="model_written"):
            chosen(model=sample)
