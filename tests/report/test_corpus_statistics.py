"""Each statistic against a small table whose numbers were worked out by hand."""

import math
import re
from typing import Any

import polars as pl
import pytest

from invented_sources import Given, paper, review, talk
from naming import Naming, by_name
from peercorpus.metrics.prediction import alpha
from peercorpus.report import corpus_statistics, review_statistics
from peercorpus.report.panels import PANELS


def rows(table: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return table.select(columns).rows()


def tokens(*values: int) -> list[dict[str, Any]]:
    return [{"forum_id": f"p{place}", "review_id": f"r{place}", "tokens": one} for place, one in enumerate(values)]


class TestLengths:
    def test_the_last_counted_bin_is_open(self) -> None:
        many = [*range(100), 5_000]
        made = corpus_statistics.paper_length(
            Given(papers=[paper(f"p{n}") for n in range(103)], paper_tokens=tokens(*many))
        )
        table = made.table
        assert (made.n, by_name(made.unknown, "text")) == (101, {"text": 2})
        assert table["papers"].sum() == 101
        assert table.row(0) == (0, 5, 5)
        assert table.row(-1) == (100, None, 1)
        assert made.facts["median"] == 50
        assert made.facts["greatest"] == 5_000


class TestCounts:
    def test_conferences_are_ordered_by_papers(self) -> None:
        papers = [paper("a", "icml"), paper("b", "iclr"), paper("c", "iclr")]
        made = corpus_statistics.papers_and_reviews(
            Given(papers=papers, reviews=[review("b", 1, 1), review("b", 1, 1, place=1)])
        )
        assert made.table.rows() == [("iclr", 2, 2, 1), ("icml", 1, 0, 1)]
        assert "2 reviews, 0.7 a paper" in made.says

    def test_a_rebuttal_needs_the_authors(self) -> None:
        papers = [paper("a"), paper("b"), paper("c", year=None), paper("d", "tmlr", None)]
        turns = [*talk("a/1", "rar"), *talk("a/2", "r"), *talk("b/1", "rca"), *talk("c/1", "ra")]
        made = corpus_statistics.rebuttals(Given({"a/1": 1, "a/2": 1}, papers=papers, turns=turns))
        assert rows(made.table, "conference", "year", "papers", "conversations", "rebuttals", "responses_to_all") == [
            ("iclr", 2024, 2, 3, 2, 1),
            ("iclr", None, 1, 1, 1, 0),
            ("tmlr", None, 1, 0, 0, 0),
        ]
        assert "75 % of 4 conversations" in made.says

    def test_a_keyword_counts_once_per_paper_ignoring_case(self) -> None:
        papers = [
            paper("a", keywords=["Large  Models", "large models", "kites"]),
            paper("b", keywords=[" LARGE MODELS"], status="rejected"),
            paper("c", keywords=["kites", ""], status="withdrawn"),
            paper("d", keywords=["kites"], status=None),
            paper("e", keywords=[]),
        ]
        made = corpus_statistics.keywords(Given(papers=papers))
        assert rows(made.table, "keyword", "submissions", "decided", "share_accepted") == [
            ("kites", 3, 1, 1.0),
            ("large models", 2, 2, 0.5),
        ]
        assert (made.n, made.unknown) == (4, {"no keywords": 1})


class TestScores:
    def test_a_conferences_box_has_its_quartiles(self) -> None:
        values = [1, 3, 5, 6, 11]
        reviews = [review("a", None, one, place=place) for place, one in enumerate([*values, None])]
        made = review_statistics.score_violins(Given(papers=[paper("a")], reviews=reviews))
        row = made.table.row(0, named=True)
        assert (made.n, sum(made.unknown.values())) == (5, 1)
        assert [round(row[name], 6) for name in review_statistics.BOX] == [0.42, 0.2, 0.4, 0.5, 0.0, 0.5]
        assert (row["least"], row["greatest"]) == (0.0, 1.0)

    def test_the_density_is_of_two_kernels(self) -> None:
        found = review_statistics.density(pl.Series("value", [0.4, 0.6]))
        assert found is not None
        width = math.sqrt(0.02) * 2 ** (-1 / 5)
        assert found[0] == pytest.approx(width)
        kernel = math.exp(-((0.1 / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
        assert found[1][50] == pytest.approx(kernel)
        assert review_statistics.density(pl.Series("value", [0.4, 0.4])) is None

    def test_a_score_without_scale_is_counted(self) -> None:
        reviews = [review("a", 5, 5), review("a", 5, 5, place=1, low=None), review("a", 5, 5, place=2, high=1.0)]
        made = review_statistics.score_violins(Given(papers=[paper("a")], reviews=reviews))
        assert (made.n, by_name(made.unknown, "scale")) == (1, {"scale": 2})

    def test_changes_are_shares_of_the_scale(self) -> None:
        papers = [paper("a"), paper("b", status="rejected"), paper("c", status="withdrawn"), paper("d")]
        reviews = [
            review("a", 5, 7),
            review("a", 5, 5, place=1),
            review("b", 6, 6),
            review("c", 6, 5),
            review("d", None, 6),
            review("d", 4, None, place=1),
        ]
        made = review_statistics.score_changes(Given(papers=papers, reviews=reviews))
        assert rows(made.table, "change", "reviews", "papers", "share_accepted") == [
            (Naming("lowered", "more than 15 %"), 0, 0, None),
            (Naming("lowered", "up to 15 %"), 1, 1, None),
            ("unchanged", 2, 1, 0.0),
            (Naming("raised", "up to 15 %"), 0, 1, 1.0),
            (Naming("raised", "15 to 30 %"), 1, 0, None),
            (Naming("raised", "more than 30 %"), 0, 0, None),
        ]
        assert by_name(made.unknown, "first score", "scale") == {"first score": 1, "scale": 1}
        assert re.findall(r"(\d+) % (raised|lowered|kept)", made.says) == [
            ("25", "raised"),
            ("25", "lowered"),
            ("50", "kept"),
        ]

    def test_agreement_compares_the_same_reviews(self) -> None:
        papers = [paper("a"), paper("b"), paper("c")]
        reviews = [review("a", 1, 3), review("a", 5, 3, place=1), review("b", 7, 7), review("b", 9, 7, place=1)]
        reviews += [review("a", None, 11, place=2), review("c", 5, 5)]
        made = review_statistics.agreement(Given(papers=papers, reviews=reviews))
        row = made.table.row(0, named=True)
        assert (row["papers"], row["scores"], row["papers_before_and_after"]) == (2, 5, 2)
        assert row["alpha_after"] == pytest.approx(1)
        assert row["alpha_before"] == alpha(pl.DataFrame({"unit": [0, 0, 1, 1], "value": [1, 5, 7, 9]}))
        three_and_two = pl.DataFrame({"unit": [0, 0, 0, 1, 1], "value": [3, 3, 11, 7, 7]})
        assert row["alpha"] == pytest.approx(alpha(three_and_two))
        assert row["spread_mean"] == pytest.approx(0.4)
        assert [count for why, count in made.unknown.items() if "only score" in why] == [1]

    def test_alpha_pools_neither_years_nor_scales(self) -> None:
        papers = [paper("a", year=2020), paper("b", year=2021), paper("c", year=2020)]
        reviews = [
            review("a", None, 3),
            review("a", None, 5, place=1),
            review("b", None, 9),
            review("b", None, 9, place=1),
        ]
        reviews += [review("c", None, value, place=place, high=5.0) for place, value in enumerate((1, 5))]
        made = review_statistics.agreement(Given(papers=papers, reviews=reviews))
        found = rows(made.table, "year", "high", "papers", "scores")
        assert found == [(2020, 5.0, 1, 2), (2020, 11.0, 1, 2), (2021, 11.0, 1, 2)]

    def test_two_reviews_by_one_reviewer_are_one_rater(self) -> None:
        reviews = [review("a", None, 1, rater="R1"), review("a", None, 3, place=1, rater="R1")]
        reviews += [review("b", None, 1, rater="R1"), review("b", None, 3, place=1, rater="R1")]
        reviews += [review("b", None, 3, place=2, rater="R2")]
        made = review_statistics.agreement(Given(papers=[paper("a"), paper("b")], reviews=reviews))
        assert rows(made.table, "papers", "scores", "spread_mean") == [(1, 2, 0.0)]
        assert by_name(made.unknown, "scale", "same reviewer", "only score") == {
            "scale": 0,
            "same reviewer": 2,
            "only score": 1,
        }


class TestDiscussion:
    def test_turns_are_counted_and_the_longest_are_grouped(self) -> None:
        turns = [*talk("a/1", "r"), *talk("a/2", "ra"), *talk("a/3", "rc"), *talk("a/4", "rararararara")]
        made = review_statistics.turns(Given(papers=[paper("a")], turns=turns))
        assert made.table.filter(pl.col("conversations") > 0).rows() == [(1, 1, 0), (2, 2, 1), (10, 1, 1)]
        assert made.table.height == 10
        assert "the authors answer in 50 %, and 25 % go on after that, with three turns or more" in made.says

    def test_a_mere_change_of_scores_answers_nobody(self) -> None:
        turns = talk("a/1", "rar", (0, 24, 30))
        turns[2]["is_posted"] = False
        made = review_statistics.delays(Given(papers=[paper("a")], turns=turns))
        assert made.n == 1

    def test_delays_are_between_consecutive_turns_with_known_times(self) -> None:
        turns = [
            *talk("a/1", "rar", (0, 24, 30)),
            *talk("a/2", "rca", (0, 5, 6)),
            *talk("a/3", "ra", (0, None)),
            *talk("b/1", "ra", (0, 48)),
            *talk("b/2", "ra", (0, -1)),
        ]
        made = review_statistics.delays(Given(papers=[paper("a"), paper("b", "icml")], turns=turns))
        found = rows(made.table, "who_answers", "conference", "answers", "median_h")
        assert found == [
            ("authors", None, 2, 36.0),
            ("authors", "iclr", 1, 24.0),
            ("authors", "icml", 1, 48.0),
            ("reviewers", None, 1, 6.0),
            ("reviewers", "iclr", 1, 6.0),
            ("reviewers", "icml", 0, None),
        ]
        assert (made.n, by_name(made.unknown, "missing", "before")) == (3, {"missing": 1, "before": 1})


class TestHoldings:
    def test_grades_are_counted_by_status(self) -> None:
        papers = [paper("a"), paper("b", grade="unavailable"), paper("c", status=None, grade=None)]
        made = corpus_statistics.grades(Given(papers=papers))
        assert made.table.rows() == [
            ("accepted", "exact", 1),
            ("accepted", "unavailable", 1),
            ("not public", "no PDF known", 1),
        ]
        assert "33 % of the papers, 50 % of the accepted ones" in made.says

    def test_rows_set_aside_are_summed(self) -> None:
        given = [
            {"forum_id": forum, "venue_id": "v", "stage": stage, "reason": reason, "rows": number}
            for forum, stage, reason, number in (
                ("a", "one", "no_pdf", 2),
                ("b", "one", "no_pdf", 3),
                (None, "two", "no_forum", 1),
            )
        ]
        made = corpus_statistics.set_aside(Given(set_aside=given))
        assert made.table.rows() == [("one", "no_pdf", 5), ("two", "no_forum", 1)]
        assert made.n == 6

    def test_completeness_counts_papers_without_anything(self) -> None:
        made = corpus_statistics.completeness(
            Given(
                papers=[paper("a"), paper("b")],
                reviews=[review("a", 5, 5), review("a", 5, None, place=1), review("a", None, None, place=2)],
                files=[{"forum_id": "a", "pdfs": 2, "pdfs_here": 1}],
                paper_tokens=[{"forum_id": "a", "tokens": 9}],
                listed={"iclr/2024": False},
            )
        )
        assert made.table.row(0, named=True) == {
            "venue_id": "iclr/2024",
            "papers": 2,
            "papers_reviewed": 1,
            "reviews": 3,
            "reviews_with_rating": 2,
            "pdfs": 2,
            "pdfs_here": 1,
            "papers_with_text": 1,
            "listed_to_the_end": False,
        }
        assert "1 venue " in made.says


@pytest.mark.parametrize("name", PANELS)
def test_an_empty_statistic_says_why(name: str) -> None:
    made = PANELS[name].statistic(Given())
    assert made.n == 0
    assert made.table.is_empty()
    assert made.why.endswith(".")


@pytest.mark.parametrize("name", PANELS)
def test_every_row_is_counted_or_unknown(name: str) -> None:
    """No statistic invents anything for a single bare paper."""
    made = PANELS[name].statistic(Given(papers=[paper("a", grade=None)]))
    assert made.n + sum(made.unknown.values()) in {0, 1}


def test_a_simultaneous_reply_has_a_delay_of_zero() -> None:
    turns = [*talk("a/1", "ra", (0, 0)), *talk("a/2", "ra", (0, 2)), *talk("a/3", "ra", (0, 4))]
    made = review_statistics.delays(Given(papers=[paper("a")], turns=turns))
    (row,) = made.table.filter(who_answers="authors", conference="iclr").iter_rows(named=True)
    assert (row["answers"], row["median_h"], row["lower_quartile_h"]) == (3, 2.0, 1.0)
    assert (made.n, by_name(made.unknown, "missing", "before")) == (3, {"missing": 0, "before": 0})


def keyword_papers(*counts: tuple[str, int, int]) -> list[dict[str, object]]:
    """Papers with one keyword each: for each keyword how many are accepted, and how many rejected."""
    return [
        paper(f"{keyword}{number}", keywords=[keyword], status="accepted" if number < accepted else "rejected")
        for keyword, accepted, rejected in counts
        for number in range(accepted + rejected)
    ]


NONE = "No keyword is more frequent than another: each of 2 keywords is in"


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([("kites", 1, 0), ("wind", 0, 1)], f"{NONE} 1 paper."),
        (
            [("kites", 2, 0), ("sky", 0, 2), ("wind", 0, 1)],
            "The most frequent keywords are “kites” and “sky” (2 papers each).",
        ),
        (
            [("kites", 4, 1), ("wind", 1, 4)],
            f"{NONE} 5 papers. Of those shown, papers on “kites” are accepted most often (80 % of 5), on “wind” least"
            " (20 % of 5).",
        ),
        ([("kites", 4, 1), ("wind", 4, 1)], f"{NONE} 5 papers."),
        (
            [(f"k{n}", 2, 0) for n in range(4)] + [("wind", 0, 1)],
            "The most frequent keywords are 4 that are in 2 papers each.",
        ),
    ],
)
def test_keywords_are_emphasised_only_if_they_differ(counts: list[tuple[str, int, int]], says: str) -> None:
    assert corpus_statistics.keywords(Given(papers=keyword_papers(*counts))).says == says


def test_a_share_of_few_papers_is_a_count() -> None:
    def says(papers: int) -> str:
        made = review_statistics.score_changes(
            Given(
                papers=[paper(str(place)) for place in range(papers)],
                reviews=[review(str(place), 5, 7) for place in range(papers)],
            )
        )
        return made.says

    assert says(3).endswith("Accepted of the decided papers: 3 of 3 where their mean rose.")
    assert says(5).endswith("Accepted of the decided papers: 100 % where their mean rose.")
