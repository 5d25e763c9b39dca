"""The sentences of a report compare nothing that cannot be compared, and agree with their numbers in grammar."""

from pathlib import Path

import pytest

from invented_sources import Given, paper, review
from peercorpus.cli.report import report_written
from peercorpus.report import corpus_statistics, review_statistics
from peercorpus.report.write_report import ReportFiles


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
        ([("kites", 1, 0)], "The most frequent keyword is “kites” (1 paper)."),
        (
            [("kites", 2, 0), ("sky", 0, 2), ("wind", 0, 1)],
            "The most frequent keywords are “kites” and “sky” (2 papers each).",
        ),
        ([("kites", 2, 2), ("wind", 0, 3)], "The most frequent keyword is “kites” (4 papers)."),
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


@pytest.mark.parametrize(("others", "says"), [(1, "1 paper has only other"), (2, "2 papers have only other")])
def test_papers_with_other_keywords_are_counted_in_words(others: int, says: str) -> None:
    counts = [(f"k{n}", 2, 0) for n in range(10)] + [(f"l{n}", 1, 0) for n in range(others)]
    assert corpus_statistics.keywords(Given(papers=keyword_papers(*counts))).says.endswith(f"{says} keywords.")


def test_a_conference_has_the_most_papers_only_if_another_has_fewer() -> None:
    def says(*conferences: str) -> str:
        papers = [paper(str(place), conference) for place, conference in enumerate(conferences)]
        return corpus_statistics.papers_and_reviews(Given(papers=papers)).says

    assert says("icml") == "1 paper of 1 conference has 0 reviews, 0.0 a paper. Without any public review: 1."
    assert "most" not in says("icml", "iclr")
    assert "; icml has the most papers (2)." in says("icml", "iclr", "icml")


def test_equal_medians_are_neither_the_highest_nor_the_lowest() -> None:
    def says(one: int, other: int) -> str:
        reviews = [review("a", 5, one), review("b", 5, other)]
        papers = [paper("a", "icml"), paper("b", "iclr")]
        return review_statistics.score_violins(Given(papers=papers, reviews=reviews)).says

    assert says(6, 6).endswith("of the scale at each of 2 conferences.")
    assert "the highest" in says(6, 7)


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


def written(papers: int, every: int, figures: int = 15, empty: int = 2) -> str:
    files = ReportFiles(papers, every, figures, tuple((f"Figure {place}", "No text.") for place in range(empty)))
    return report_written(files, Path("out"), is_filtered=True).partition("\n")[0]


def test_empty_figures_are_not_counted_as_drawn() -> None:
    assert written(8, 8) == "Drew 15 figures of all 8 papers; 2 figures have nothing to draw:"
    assert written(3, 8, figures=1, empty=1) == "Drew 1 figure of 3 of 8 papers; 1 figure has nothing to draw:"
    assert written(1, 1, empty=0) == "Drew 15 figures of 1 paper."
