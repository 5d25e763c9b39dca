"""Measures points against 150 labelled ones in recorded threads, with this project's own labels.

`points_read.tsv` and `answers_read.tsv` have the location of each text, its SHA-256 and its labels; the texts are
read from the recorded data beside this checkout. docs/points.md says how the points were drawn and labelled.
"""

import csv
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import peercorpus
from peercorpus.execution.requests import BuildRequest
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.metrics.intervals.papers import wilson_interval
from peercorpus.pipeline.build import build
from peercorpus.records.points import CRITICAL_KINDS, Point, PointAnswer, PointAspect, PointKind
from peercorpus.records.reviews import Post, Review
from peercorpus.workspace.workspace import open_workspace

DATA = Path(__file__).parents[2] / "shared" / "data"
POINTS, ANSWERS = Path(__file__).with_name("points_read.tsv"), Path(__file__).with_name("answers_read.tsv")
THREADS = (
    "raw-v2-research-arcade",
    "raw-api-notebook",
    "raw-v1-nnkennard",
    "raw-v1-erikbird",
    "forum-prints-peersum",
)
"""Folders of recorded forums with their discussions."""
REVIEWS = "raw-v1-content-iclr2019-2020"
EXCERPTS = "transcribed-excerpts"
SPANS = ("whole", "several", "part")
BANDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)
ENOUGH = 0.5
"""Share of two spans together that they have in common, from which on they count as the same."""

Span = tuple[int, int]


@dataclass(frozen=True)
class ReadPoint:
    """A labelled point.

    Attributes:
        start: Offset of its first character in the field's text.
        end: Offset after its last character.
        sha256: Digest of its text.
        span: One of `SPANS`: one point, more than one, or less.
        aspect: None where it is about none of ours, or about several alike.
        is_answered: Whether the authors answer it; None where no reply is recorded.
    """

    forum_id: str
    review_id: str
    field: str
    start: int
    end: int
    sha256: str
    span: str
    kind: PointKind
    aspect: PointAspect | None
    is_answered: bool | None

    @property
    def is_critical(self) -> bool:
        """Whether authors may be expected to answer it."""
        return self.kind in CRITICAL_KINDS


@dataclass(frozen=True)
class ReadAnswer:
    """An answer to a point, and whether the annotator judged it right.

    Attributes:
        of: Field and span of the point.
        place: Span of the passage in the post's text.
        sha256: Digest of the passage.
    """

    review_id: str
    field: str
    of: Span
    post_id: str
    place: Span
    sha256: str
    is_right: bool


@dataclass(frozen=True)
class Recorded:
    """The recorded data of the labelled reviews, and the points found in them.

    Attributes:
        fields: Text of each field by review and field.
        posts: Text of each post.
        points: Points by review and field, in order.
    """

    fields: dict[tuple[str, str], str]
    posts: dict[str, str]
    points: dict[tuple[str, str], list[Point]]


@dataclass(frozen=True)
class Judged:
    """A point that was read beside the point found that most of it lies in, and how the answers given were judged.

    Attributes:
        is_same: Whether both have the same span.
        answers: Of each answer that the point found has, whether it is right; None if nobody judged it.
    """

    read: ReadPoint
    found: Point
    is_same: bool
    answers: tuple[bool | None, ...]


def read_points() -> list[ReadPoint]:
    """The labelled points."""
    return [
        ReadPoint(
            *(row["forum_id"], row["review_id"], row["field"], int(row["start"]), int(row["end"]), row["sha256"]),
            span=row["span"],
            kind=PointKind(row["kind"]),
            aspect=PointAspect(row["aspect"]) if row["aspect"] else None,
            is_answered={"yes": True, "no": False, "": None}[row["answered"]],
        )
        for row in _rows(POINTS)
    ]


def read_answers() -> list[ReadAnswer]:
    """The judged answers: all that the reviews' points had when they were labelled."""
    return [
        ReadAnswer(
            *(row["review_id"], row["field"], (int(row["start"]), int(row["end"])), row["post_id"]),
            place=(int(row["answer_start"]), int(row["answer_end"])),
            sha256=row["sha256"],
            is_right={"yes": True, "no": False}[row["right"]],
        )
        for row in _rows(ANSWERS)
    ]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [*csv.DictReader(lines, delimiter="\t")]


def read_recorded(scratch: Path, forum_ids: frozenset[str]) -> Recorded:
    """Import the recorded forums, with what is recorded of other forums named, build them, and read what is needed."""
    dumps = scratch / "dumps"
    dumps.mkdir(parents=True)
    for path in sorted((DATA / REVIEWS).glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            chosen = [line for line in lines if json.loads(line)["forum"] in forum_ids]
        # The name tells the venue of reviews that are recorded without one.
        (dumps / path.name.removesuffix(".gz")).write_text("".join(chosen), encoding="utf-8")
    for path in sorted((DATA / EXCERPTS).glob("*_excerpt.md")):
        notes = [*_transcribe(path.name.split("_")[1], path.read_text(encoding="utf-8"))]
        (dumps / f"{path.stem}.json").write_text(json.dumps({"notes": notes}), encoding="utf-8")
    with open_workspace(scratch / "corpus", create=True) as workspace:
        for dump in (*(DATA / name for name in THREADS), *sorted(dumps.iterdir())):
            import_dumps(workspace, [dump])  # One at a time: whether readers are named differs from dump to dump.
        build(workspace, options=BuildRequest(points=True, workers=1))
    corpus = peercorpus.open(scratch / "corpus")
    points: dict[tuple[str, str], list[Point]] = {}
    for point in corpus.records(Point):
        points.setdefault((point.review_id, point.field), []).append(point)
    return Recorded(
        fields={
            (review.review_id, section.field): section.text
            for review in corpus.records(Review)
            for section in review.first_sections
        },
        posts={post.post_id: post.text for post in corpus.records(Post)},
        points=points,
    )


def _transcribe(forum_id: str, text: str) -> Iterator[dict[str, Any]]:
    """Yield the submission and the reviews of a transcribed excerpt as notes of API 2."""
    reviews = re.findall(r"\n### (\S+)/(Submission\d+)/(Reviewer_\w+) .*?\n(.*?)\n---\n", text, re.DOTALL)
    venue_id, submission = reviews[0][:2]
    title = text.partition("\n")[0].removeprefix("# ")
    note = {"forum": forum_id, "domain": venue_id, "readers": ["everyone"]}
    yield {
        **note,
        "id": forum_id,
        "invitations": [f"{venue_id}/-/Submission"],
        "signatures": [f"{venue_id}/{submission}/Authors"],
        "number": int(submission.removeprefix("Submission")),
        "content": {"title": {"value": title}},
    }
    for _, _, reviewer, body in reviews:
        parts = re.split(r"^\*\*(\w+):\*\*$", body, flags=re.MULTILINE)[1:]
        fields = {name: answer.strip() for name, answer in zip(parts[::2], parts[1::2], strict=True)}
        if "summary" in fields:  # Others are comments.
            yield {
                **note,
                "id": f"{forum_id}-{reviewer}",
                "replyto": forum_id,
                "invitations": [f"{venue_id}/{submission}/-/Official_Review"],
                "signatures": [f"{venue_id}/{submission}/{reviewer}"],
                "content": {
                    name: {"value": int(answer) if answer.isdigit() else answer} for name, answer in fields.items()
                },
            }


def is_as_read(text: str | None, span: Span, sha256: str) -> bool:
    """Whether the text of a span is the one that was labelled."""
    return text is not None and hashlib.sha256(text[slice(*span)].encode()).hexdigest() == sha256


def share_in_common(one: Span, other: Span) -> float:
    """Share of the characters of two spans that are in both."""
    both = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return both / (one[1] - one[0] + other[1] - other[0] - both)


def judge(read: ReadPoint, found: Sequence[Point], answers: Sequence[ReadAnswer]) -> Judged:
    """Join a point that was read to one of the points found in its field."""
    span = (read.start, read.end)
    point = max(found, key=lambda one: min(one.end, span[1]) - max(one.start, span[0]))
    return Judged(
        read,
        point,
        is_same=(point.start, point.end) == span,
        answers=tuple(judge_answer(point, answer, answers) for answer in point.answers),
    )


def judge_answer(point: Point, answer: PointAnswer, judged: Sequence[ReadAnswer]) -> bool | None:
    """Whether an answer is right, by what was said of the same passage at the same point; None if nobody judged it."""
    for one in judged:
        if (
            (one.review_id, one.field, one.post_id) == (point.review_id, point.field, answer.post_id)
            and share_in_common(one.of, (point.start, point.end)) >= ENOUGH
            and share_in_common(one.place, (answer.start, answer.end)) >= ENOUGH
        ):
            return one.is_right
    return None


def measure_points_read(scratch: Path) -> None:
    """Print all tables of the points that were read."""
    read, answers = read_points(), read_answers()
    recorded = read_recorded(scratch / "points-read", frozenset(one.forum_id for one in read))
    kept = [
        one
        for one in read
        if is_as_read(recorded.fields.get((one.review_id, one.field)), (one.start, one.end), one.sha256)
    ]
    held = [one for one in answers if is_as_read(recorded.posts.get(one.post_id), one.place, one.sha256)]
    print(f"\n{len(kept)} of {len(read)} points and {len(held)} of {len(answers)} answers stand as they were read.")
    judged = [judge(one, recorded.points[one.review_id, one.field], held) for one in kept]
    measure_spans(judged)
    measure_labels("kind", [(one.read.kind, one.found.kind) for one in judged])
    _say_sides(judged)
    measure_labels("aspect", [(one.read.aspect, one.found.aspect) for one in judged])
    measure_answered(judged)
    found = [point for points in recorded.points.values() for point in points]
    reviews = {one.review_id for one in held}
    measure_confidence(
        [
            (answer.confidence, judge_answer(point, answer, held))
            for point in found
            if point.review_id in reviews
            for answer in point.answers
        ],
        sum(one.is_right for one in held),
    )


def measure_spans(judged: Sequence[Judged]) -> None:
    """Print how many spans are one point, more or less; spans that the program no longer finds are ignored."""
    same = [one.read.span for one in judged if one.is_same]
    print(f"\n| span ({len(same)} of {len(judged)} are still made) | points | share |\n|---|---:|---:|")
    for span in SPANS:
        print(f"| {span} | {same.count(span)} | {share(same.count(span), len(same))} |")


def measure_labels(name: str, pairs: Sequence[tuple[str | None, str | None]]) -> None:
    """Print precision, recall and F1 of each label, of pairs of the reader's and the program's."""
    print(f"\n| {name} | read | told | precision | recall | F1 |\n|---|---:|---:|---:|---:|---:|")
    read, told = Counter(one for one, _ in pairs if one), Counter(one for _, one in pairs if one)
    both = Counter(one for one, other in pairs if one and one == other)
    for label in sorted(read | told):
        right, wanted, said = both[label], read[label], told[label]
        print(f"| {label} | {_cells(right, wanted, said)} |")
    print(f"| all | {_cells(both.total(), read.total(), told.total())} |")
    print(f"\n{name} as read, none included: {share(sum(one == other for one, other in pairs), len(pairs))}.")


def _cells(right: int, wanted: int, said: int) -> str:
    f1 = 2 * right / (wanted + said)
    return f"{wanted} | {said} | {share(right, said)} | {share(right, wanted)} | {f1:.2f}"


def _say_sides(judged: Sequence[Judged]) -> None:
    right = sum(one.read.is_critical and one.found.is_critical for one in judged)
    told, wanted = sum(one.found.is_critical for one in judged), sum(one.read.is_critical for one in judged)
    print(f"\nAsks for an answer: precision {share(right, told)}, recall {share(right, wanted)}.")


def measure_answered(judged: Sequence[Judged]) -> None:
    """Print precision and recall of whether a point is answered, where the authors replied."""
    replied = [one for one in judged if one.read.is_answered is not None]
    rules: dict[str, Callable[[Judged], bool]] = {
        "with any answer": lambda one: bool(one.answers),
        "with a right answer": lambda one: True in one.answers,
    }
    print("\n| answered | points | read | told | precision | recall |\n|---|---:|---:|---:|---:|---:|")
    for which, some in (("all", replied), ("asking for an answer", [one for one in replied if one.read.is_critical])):
        wanted = [one for one in some if one.read.is_answered]
        for name, is_told in rules.items():
            told = [one for one in some if is_told(one)]
            right = sum(bool(one.read.is_answered) for one in told)
            counts = f"{len(some)} | {len(wanted)} | {len(told)}"
            print(f"| {which}, {name} | {counts} | {share(right, len(told))} | {share(right, len(wanted))} |")


def measure_confidence(answers: Sequence[tuple[float, bool | None]], known: int) -> None:
    """Print how many answers of each confidence are right.

    Args:
        answers: Confidence of each, and whether it is right; None if nobody judged it.
        known: Right ones among those that were judged, whether they are still given or not.
    """
    print("\n| confidence | answers | judged | right |\n|---|---:|---:|---:|")
    for low, high in [*pairwise(BANDS), (BANDS[0], BANDS[-1])]:
        inside = [is_right for confidence, is_right in answers if low <= confidence < high]
        said = [is_right for is_right in inside if is_right is not None]
        print(f"| {low:g} to {min(high, 1):g} | {len(inside)} | {len(said)} | {share(sum(said), len(said))} |")
    given = sum(is_right is True for _, is_right in answers)
    print(f"\nOf {known} answers that were called right {given} are still given.")


def share(part: int, whole: int) -> str:
    """A share with its 95 % interval (Wilson's), or a dash if it is of nothing."""
    bounds = wilson_interval(part, whole)
    return f"{part / whole:.2f} ({bounds[0]:.2f}–{bounds[1]:.2f})" if bounds else "–"  # noqa: RUF001
