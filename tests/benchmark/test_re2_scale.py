"""Cases on Re²'s scale: one number per paper, the mean of the known unified ratings."""

from pathlib import Path

from invented_bench import bench_paper, bench_release
from invented_releases import score
from naming import by_name
from peercorpus.benchmark.cases import BenchTask, Case, CaseCounts, CaseSelection, read_cases
from peercorpus.release.folder import open_release
from peercorpus.release.record_rows import Row


def rating(value: float, **more: object) -> Row:
    return score("rating", f"{value:g}", aspect="recommendation", value=value, low=1.0, high=5.0, **more)


SCORES = {
    16: ([rating(3, unified=6.0)], [rating(4, unified=7.0, stated_unified=8.0)]),
    17: ([rating(3, unified=6.0), rating(2, unified=4.0, phase="initial")], [rating(3)]),
    18: ([rating(3)], [score("soundness", "3", value=3.0, low=1.0, high=4.0)]),
}


def placed(number: int) -> Row:
    paper = bench_paper(number)
    for review, scores in zip(paper["reviews"], SCORES.get(number, ()), strict=False):
        review["scores"] = scores
    return paper


def cases_of(folder: Path) -> tuple[dict[str, Case], CaseCounts]:
    counts = CaseCounts()
    cases = read_cases(open_release(folder), BenchTask.SCORES, CaseSelection(unified=True), counts)
    return {case.paper.forum_id: case for case in cases}, counts


def test_re2s_value_takes_precedence(
    tmp_path: Path,
) -> None:
    cases, counts = cases_of(bench_release(tmp_path / "release", placed))
    assert {name: case.scores[0].values for name, case in cases.items()} == {"p16": (6, 8), "p17": (4,)}
    assert {(case.case_id, case.scores[0].low, case.scores[0].high) for case in cases.values()} == {
        ("p16/unified", 1, 10),
        ("p17/unified", 1, 10),
    }
    # Papers 18 to 23 have no rating on the scale, nor has one reviewer of paper 17.
    assert by_name(counts.left_out, "papers: ", "reviews: ") == {"papers: ": 6, "reviews: ": 1}
