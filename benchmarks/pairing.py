"""Measures matching of criticisms against labelled pairs of points, and how often reviewers agree.

`point_pairs.csv` names the pairs by ids and offsets in recorded reviews; their texts are in the recorded data.
"""

import csv
import gzip
import hashlib
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import log, sqrt
from pathlib import Path
from statistics import correlation, fmean

import pointing
from peercorpus.benchmark.baselines.people import GENERIC
from peercorpus.benchmark.leaderboard import compare_with_floors
from peercorpus.benchmark.measures import POINTS
from peercorpus.benchmark.outcomes import CaseOutcome
from peercorpus.criticism.answers import find_covered
from peercorpus.criticism.matching import LEAST_SCORE, Criticism, PointMatcher, read_criticism, read_criticisms
from peercorpus.metrics.review_points import count_points
from peercorpus.records.points import CRITICAL_KINDS

RECORDED = Path(__file__).parents[2] / "shared" / "data" / "raw-v1-content-iclr2019-2020"
PAIRS = Path(__file__).with_name("point_pairs.csv")
YEARS = (2019, 2020)
PAPERS = 300
"""Papers of each year whose reviewers are compared."""
RESAMPLES = 1000
BOUNDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 2.0)

Reviews = Mapping[str, Mapping[str, str]]
"""Forum → review → text, in the order recorded."""
Scores = Sequence[tuple["LabelledPair", float]]


@dataclass(frozen=True)
class LabelledPair:
    """Two critical points about one paper by two reviewers.

    Attributes:
        stands_for: Pairs of its stratum for each that was read.
        is_same: Whether one reader called them the same criticism.
    """

    forum_id: str
    texts: tuple[str, str]
    stands_for: float
    is_same: bool

    @property
    def is_counted(self) -> bool:
        """Whether it is in the test half, which was used for no choice."""
        return hashlib.sha256(self.forum_id.encode()).digest()[0] % 2 == 1

    @cached_property
    def points(self) -> tuple[Criticism, Criticism]:
        """Both as they are compared."""
        return read_criticism(self.texts[0]), read_criticism(self.texts[1])


def read_reviews(year: int) -> Reviews:
    """The recorded reviews of a year."""
    reviews: dict[str, dict[str, str]] = defaultdict(dict)
    with gzip.open(RECORDED / f"iclr{year}_review_content.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            text = row["content"].get("review") or ""
            if text.strip():
                reviews[row["forum"]][row["id"]] = text
    return reviews


def read_pairs(reviews: Reviews) -> Iterator[LabelledPair]:
    """The labelled pairs; a point whose text has changed since it was labelled is an error."""
    with PAIRS.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            of_paper = reviews[row["forum_id"]]
            first = of_paper[row["review_id"]][int(row["start"]) : int(row["end"])]
            second = of_paper[row["other_id"]][int(row["other_start"]) : int(row["other_end"])]
            for text, digest in ((first, row["sha256"]), (second, row["other_sha256"])):
                if hashlib.sha256(text.encode()).hexdigest()[:12] != digest:
                    raise ValueError(f"a point of {row['forum_id']} is not the one that was labelled")
            yield LabelledPair(row["forum_id"], (first, second), float(row["stands_for"]), row["same"] == "1")


def match(pair: LabelledPair, of_paper: Sequence[Criticism]) -> float:
    """Our score."""
    return PointMatcher(of_paper).score(*pair.points)


def tfidf(pair: LabelledPair, of_paper: Sequence[Criticism]) -> float:
    """Cosine of TF-IDF over the points of the paper."""

    def weigh(words: Iterable[str]) -> float:
        return sum(log((len(of_paper) + 1) / (1 + sum(word in one.words for one in of_paper))) ** 2 for word in words)

    one, other = (point.words for point in pair.points)
    return weigh(one & other) / sqrt((weigh(one) * weigh(other)) or 1)


def jaccard(pair: LabelledPair, _: Sequence[Criticism]) -> float:
    """Common words by all words."""
    one, other = (point.words for point in pair.points)
    return len(one & other) / max(len(one | other), 1)


@dataclass(frozen=True)
class Quality:
    """How well pairs from a score are the same criticism."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-12)


def judge(scores: Scores, least: float, *, weighs: bool = False) -> Quality:
    """Precision and recall of the pairs from a score; of all pairs of their papers if each stands for its stratum."""
    found = right = wanted = 0.0
    for pair, score in scores:
        weight = pair.stands_for if weighs else 1.0
        found += weight * (score >= least)
        wanted += weight * pair.is_same
        right += weight * (score >= least and pair.is_same)
    return Quality(right / max(found, 1e-12), right / max(wanted, 1e-12))


def choose(scores: Scores) -> float:
    """The score from which pairs have the highest F1."""
    return max(sorted({score for _, score in scores}), key=lambda least: judge(scores, least).f1)


def resample(scores: Scores, of: Callable[[Scores], float]) -> tuple[float, float]:
    """95 % interval of a number, forums being drawn."""
    by_forum: dict[str, list[tuple[LabelledPair, float]]] = defaultdict(list)
    for pair, score in scores:
        by_forum[pair.forum_id].append((pair, score))
    forums, draws = sorted(by_forum), random.Random(0)
    drawn = (draws.choices(forums, k=len(forums)) for _ in range(RESAMPLES))
    values = sorted(of([one for forum in chosen for one in by_forum[forum]]) for chosen in drawn)
    return values[RESAMPLES // 40], values[-RESAMPLES // 40 - 1]


def measure_matches(reviews: Reviews) -> None:
    """Print how often pairs that match are the same criticism, and by what score."""
    pairs = [*read_pairs(reviews)]
    points = {
        forum: [point for text in reviews[forum].values() for point in read_criticisms(text)]
        for forum in {pair.forum_id for pair in pairs}
    }
    for part in (False, True):
        of_part = [pair for pair in pairs if pair.is_counted is part]
        print(
            f"\n{'Counted' if part else 'Choices made on'}: {len(of_part)} pairs of"
            f" {len({pair.forum_id for pair in of_part})} papers, {sum(pair.is_same for pair in of_part)} the same;"
            f" they stand for {sum(pair.stands_for for pair in of_part):,.0f}."
        )
    print("\n| method | from | precision | recall | F1 | F1, other half |\n|---|---:|---:|---:|---:|---:|")
    for name, score in (("Jaccard", jaccard), ("TF-IDF", tfidf), ("points", match)):
        scored = [(pair, score(pair, points[pair.forum_id])) for pair in pairs]
        chosen, counted = ([one for one in scored if one[0].is_counted is part] for part in (False, True))
        best = choose(chosen)
        _print_quality(name if score is not match else "points, best", best, counted, chosen)
    _print_quality("points", LEAST_SCORE, counted, chosen)
    for name in ("precision", "recall", "f1"):
        low, high = resample(counted, partial(_judge_number, name))
        print(f"{name}, counted half: 95 % interval over papers {low:.2f} to {high:.2f}")
    for half, scores in (("counted", counted), ("other", chosen)):
        every = judge(scores, LEAST_SCORE, weighs=True)
        print(f"of all pairs, {half} half: precision {every.precision:.2f}, recall {every.recall:.2f}")
    _print_bins(chosen, counted)


def _judge_number(name: str, scores: Scores) -> float:
    return float(getattr(judge(scores, LEAST_SCORE), name))


def _print_quality(name: str, least: float, counted: Scores, chosen: Scores) -> None:
    ours, other = judge(counted, least), judge(chosen, least)
    print(f"| {name} | {least:.3f} | {ours.precision:.2f} | {ours.recall:.2f} | {ours.f1:.2f} | {other.f1:.2f} |")


def _print_bins(chosen: Scores, counted: Scores) -> None:
    print("\n| score | pairs | same | pairs, other half | same, other half |\n|---|---:|---:|---:|---:|")
    for low, high in pairwise(BOUNDS):
        cells = []
        for scores in (counted, chosen):
            inside = [pair.is_same for pair, score in scores if low <= score < high]
            cells.append(f"{len(inside)} | {sum(inside) / max(len(inside), 1):.2f}")
        print(f"| {low:g} to {high:g} | {' | '.join(cells)} |")


def compare_people(year: int, reviews: Reviews) -> list[CaseOutcome]:
    """Each reviewer of some papers against the others, beside one text for all and a review of another paper."""
    forums = sorted(reviews, key=lambda forum: hashlib.sha256(forum.encode()).digest())
    several = [forum for forum in forums if len(reviews[forum]) > 1][:PAPERS]
    others = [forum for forum in forums if forum not in {*several}]
    outcomes = []
    for place, forum in enumerate(several):
        texts = [*reviews[forum].values()]
        elsewhere = next(iter(reviews[others[place % len(others)]].values()))
        for index, text in enumerate(texts):
            rest = [*texts[:index], *texts[index + 1 :]]
            floors = {"generic": count_points(GENERIC, rest), "other-paper": count_points(elsewhere, rest)}
            outcomes.append(CaseOutcome(forum, forum, count_points(text, rest), venue=f"ICLR {year}", floors=floors))
    return outcomes


def measure_people(reviews: Mapping[int, Reviews]) -> None:
    """Print recall and precision of people's points against each other's, beside the floors."""
    outcomes = [outcome for year, of_year in reviews.items() for outcome in compare_people(year, of_year)]
    print("\n| measure | venue | papers | human | generic | another paper | gain over the best floor | wins | clear |")
    print("|---|---|--:|--:|--:|--:|--:|--:|---|")
    for measure in POINTS[:2]:
        concerned = [outcome for outcome in outcomes if measure.concerns(outcome)]
        for one in compare_with_floors(measure, concerned):
            floors = " | ".join(f"{one.floors[name]:.1f}" if name in one.floors else "-" for name in FLOORS)
            ends = "" if one.bounds is None else f" [{one.bounds[0]:+.1f}, {one.bounds[1]:+.1f}]"
            wins = "-" if one.wins is None else f"{one.wins:.0%}"
            print(
                f"| {one.measure} | {one.venue} | {one.papers} | {one.human:.1f} | {floors} | {one.gain:+.1f}{ends} |"
                f" {wins} | {'yes' if one.is_clear else 'no'} |"
            )


FLOORS = ("generic", "other-paper")


def measure_covered() -> None:
    """Print how well the points that a rebuttal takes up are found, by DISAPERE's labels, and both mean shares."""
    right = found = wanted = 0
    shares: tuple[list[float], list[float]] = ([], [])
    for pair in pointing.read_pairs():
        critical = {place for place, one in enumerate(pair.points) if one.point.kind in CRITICAL_KINDS}
        if pair.is_counted and critical:
            ours = critical & find_covered(pair.points, pair.rebuttal)
            theirs = critical & {pair.point_of[about] for _, about in pair.gold}
            right, found, wanted = right + len(ours & theirs), found + len(ours), wanted + len(theirs)
            for share, told in zip(shares, (ours, theirs), strict=True):
                share.append(len(told) / len(critical))
    print(f"\ntaken up, {len(shares[0])} rebuttals: precision {right / found:.2f}, recall {right / wanted:.2f}")
    print(
        f"mean share {fmean(shares[0]):.2f}, by labels {fmean(shares[1]):.2f}, correlation {correlation(*shares):.2f}"
    )


def measure_pace(reviews: Reviews) -> None:
    """Print papers a second of one process whose reviewers are all compared."""
    several = [[*texts.values()] for texts in reviews.values() if len(texts) > 1][:PAPERS]
    started = time.process_time()
    for texts in several:
        count_points(texts[0], texts[1:])
    print(f"\n{len(several) / (time.process_time() - started):,.0f} reviews a second of a core")


def measure_pairing() -> None:
    """Print the tables of docs/points.md and docs/benchmark.md on points that match."""
    reviews = {year: read_reviews(year) for year in YEARS}
    measure_matches({forum: texts for of_year in reviews.values() for forum, texts in of_year.items()})
    measure_people(reviews)
    measure_covered()
    measure_pace(reviews[YEARS[0]])
