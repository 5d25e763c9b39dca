"""Read Re²'s files, and write scores, reviews and places in its own fields (arXiv:2505.07920; Daoze/ReviewRebuttal).

Exports use it to write Re²'s files. Imports store, in addition to what they read, only values that would not be written
back unchanged (`list_lost`), so that the two directions cannot diverge.

Field names, the structure of scores, the string "null" for missing values, and the words for 5 and 7 and for the
confidences 1 and 3 are on Re²'s card; public code that reads the files shows that a missing rating is "null" too. The
other words of the two unified scales are inferred from published prompts for reviewing models and from OpenReview's
default review form, which print them beside the known ones. "null" for a missing confidence or aspect is inferred as
well.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor
from pathlib import Path, PurePath
from typing import Any
from zipfile import ZipFile

import msgspec

from peercorpus.importers.notes import NOT_JSON
from peercorpus.importers.reader import Answers, Id, Record
from peercorpus.openreview.response_body import check_json, compact, is_object, read_members
from peercorpus.records.datasets import Dataset
from peercorpus.records.enums import Aspect, ScoreSource
from peercorpus.records.scores import Score, choose_score
from peercorpus.wording.untrusted_text import show_path

MANUSCRIPT = "Initial_manuscript_md/Initial_manuscript.md"
"""Path of a paper's text in Re², below the paper's folder."""
PACKED = re.compile(rf"(?:.*/)?[^/]+/{re.escape(MANUSCRIPT)}")
LONGEST_TEXT_BYTES = 1 << 26
"""Largest manuscript that is read."""
YEAR = re.compile(r"(?:19|20)\d\d")
Fields = dict[str, Any]
TEXT = "review_content"
"""Field with the text of a review."""
MISSING = "null"
"""Value that Re² writes for a missing title or score."""
RATINGS = {
    1: "strong reject",
    2: "reject, significant issues present",
    3: "reject, not good enough",
    4: "possibly reject, but has redeeming facets",
    5: "marginally below the acceptance threshold",
    6: "marginally above the acceptance threshold",
    7: "accept, but needs minor improvements",
    8: "accept, good paper",
    9: "strong accept, excellent work",
    10: "strong accept, should be highlighted at the conference",
}
"""Words of the steps of the unified scale."""
CONFIDENCES = {
    1: "The reviewer's evaluation is an educated guess",
    2: (
        "The reviewer is willing to defend the evaluation, but it is quite likely that the reviewer did not understand"
        " central parts of the paper"
    ),
    3: "The reviewer is fairly confident that the evaluation is correct",
    4: "The reviewer is confident but not absolutely certain that the evaluation is correct",
    5: (
        "The reviewer is absolutely certain that the evaluation is correct and very familiar with the relevant"
        " literature"
    ),
}
"""Sentences of the unified confidence."""
SCORES = ("initial_score", "final_score")
"""Fields that are always objects, because code that reads Re² accesses their members."""


class Re2Scores(msgspec.Struct, frozen=True):
    r"""The scores that a reviewer gave at one time.

    Attributes:
        aspect_score: One aspect per line ("soundness: 3 good\npresentation: 4 excellent\n").
    """

    rating: str | float | None = None
    confidence: str | float | None = None
    aspect_score: str | None = None


class Re2Review(msgspec.Struct, frozen=True):
    """One review of Re²."""

    reviewer_id: str | None = None
    review_title: str | None = None
    review_content: str | None = None
    initial_score: Re2Scores | None = None
    final_score: Re2Scores | None = None


class Re2Paper(msgspec.Struct, frozen=True):
    """A record of `REVIEWS_*.json`.

    Attributes:
        conference_year_track: Where the paper was submitted ("NeurIPS 2022 Conference").
        reviews: Reviews as received; decoded as `Re2Review` later.
    """

    paper_id: Id
    conference_year_track: str | None = None
    reviews: list[Answers] = []
    metareview: str | None = None
    decision: str | None = None


class Re2Message(msgspec.Struct, frozen=True):
    """One message: of the reviewer (`assistant`) or the authors (`user`), or an instruction (`system`)."""

    role: str
    content: str | None = None


class Re2Rebuttal(msgspec.Struct, frozen=True):
    """A record of `REBUTTAL_*.json`.

    Attributes:
        messages: All messages; those before the reviewer's first one contain the instruction and the paper for a
            language model.
    """

    paper_id: Id
    messages: list[Re2Message]
    conference_year_track: str | None = None
    reviewer_id: str | None = None


class Re2Text(msgspec.Struct, frozen=True):
    """A manuscript of the folder `papers`; the import makes a record from each."""

    paper_id: Id
    path: str
    markdown: str
    conference_year_track: str | None = None


def read_element(element: bytes, place: str) -> Record:
    """Return the record in an element of a list; its problem says if it is none of Re²."""
    try:
        body = compact(check_json(element))
    except ValueError as error:
        return Record(Dataset.RE2_REVIEWS, f"{place}: {error}", problem=NOT_JSON)
    members = read_members(body) if is_object(body) else {}
    dataset = Dataset.RE2_REBUTTAL if "messages" in members else Dataset.RE2_REVIEWS
    is_record = "paper_id" in members and ("messages" in members or "reviews" in members)
    problem = None if is_record else "not a record of Re² (no paper_id with reviews or messages)"
    return Record(dataset, place, body, problem)


def read_archive(path: Path) -> Iterator[Record]:
    """Yield the manuscripts in a zip file."""
    with ZipFile(path) as archive:
        for member in archive.infolist():
            if PACKED.fullmatch(member.filename):
                # The size stated by the archive may be wrong.
                with archive.open(member) as packed:
                    yield _read_manuscript(PurePath("/", member.filename), packed.read(LONGEST_TEXT_BYTES + 1))


def read_manuscripts(paths: Iterable[Path]) -> Iterator[Record]:
    """Yield the manuscripts in files."""
    for path in paths:
        with path.open("rb") as file:
            yield _read_manuscript(path.absolute(), file.read(LONGEST_TEXT_BYTES + 1))


def _read_manuscript(path: PurePath, content: bytes) -> Record:
    venue, paper = (show_path(folder.name) for folder in (path.parents[2], path.parents[1]))
    place = f"{venue}/{paper}/{MANUSCRIPT}"
    if len(content) > LONGEST_TEXT_BYTES:
        return Record(Dataset.RE2_TEXT, place, problem=f"a manuscript longer than {LONGEST_TEXT_BYTES:,} bytes")
    try:
        text = Re2Text(paper, place, content.decode(), venue if YEAR.search(venue) else None)
    except UnicodeDecodeError:
        return Record(Dataset.RE2_TEXT, place, problem="a manuscript that is not UTF-8 text")
    return Record(Dataset.RE2_TEXT, place, msgspec.json.encode(text))


def write_answer(score: Score) -> str:
    """Return a reviewer's answer on one line: verbatim, or only the number of a score found in running text.

    >>> found = Score(Aspect.RECOMMENDATION, "rating", 5, 1, 10, "from 5 to 6", "initial", ScoreSource.TEXT)
    >>> write_answer(found)
    '5'
    """
    is_told = score.source is ScoreSource.TEXT and score.value is not None
    return f"{score.value:g}" if is_told else " ".join(score.label.split())


def write_scores(scores: Sequence[Score]) -> Fields:
    r"""Return the scores of one phase in Re²'s three fields; every other score is a line of `aspect_score`.

    >>> write_scores([Score(Aspect.SOUNDNESS, "soundness", 3, 1, 4, "3 good", "final", ScoreSource.NOTE)])
    {'rating': 'null', 'confidence': 'null', 'aspect_score': 'soundness: 3 good\n'}
    """
    rating, confidence = _pick_overall(scores)
    lines = [f"{score.field}: {write_answer(score)}\n" for score in scores if score not in (rating, confidence)]
    return {
        "rating": write_answer(rating) if rating else MISSING,
        "confidence": write_answer(confidence) if confidence else MISSING,
        "aspect_score": "".join(lines) or MISSING,
    }


def _pick_overall(scores: Sequence[Score]) -> tuple[Score | None, Score | None]:
    return choose_score(scores, Aspect.RECOMMENDATION, "rating"), choose_score(scores, Aspect.CONFIDENCE, "confidence")


def write_unified(scores: Sequence[Score]) -> Fields:
    """Return rating and confidence of one phase in Re²'s words; values given by Re² itself take precedence."""
    rating, confidence = _pick_overall(scores)
    step = _find_step(rating)
    words = MISSING if step is None else f"{step} {RATINGS[step]}"
    return {
        "rating": (rating and rating.stated_label) or words,
        "confidence": (confidence and confidence.stated_label) or _describe_confidence(confidence),
    }


def _find_step(rating: Score | None) -> int | None:
    """Return the nearest step of the unified scale, which stays on the same side of the threshold between 5 and 6."""
    return None if rating is None or rating.unified is None else floor(rating.unified + 0.5)


def _describe_confidence(confidence: Score | None) -> str:
    """Return the sentence for a confidence from 1 to 5; other scales have none."""
    if confidence is None or (confidence.low, confidence.high) != (min(CONFIDENCES), max(CONFIDENCES)):
        return MISSING
    return next((sentence for step, sentence in CONFIDENCES.items() if step == confidence.value), MISSING)


def write_unified_number(scores: Sequence[Score]) -> float | int | None:
    """Return the rating of one phase as a number on the unified scale: the one given by Re², or the nearest step."""
    rating, _ = _pick_overall(scores)
    if rating is None or rating.stated_unified is None:
        return _find_step(rating)
    stated = float(rating.stated_unified)
    return int(stated) if stated.is_integer() else stated


def write_review(
    reviewer: str, title: str | None, text: str | None, first: Sequence[Score], last: Sequence[Score]
) -> Fields:
    """Return a review in Re²'s fields, with its first and its last scores."""
    return {
        "reviewer_id": reviewer,
        "review_title": title or MISSING,
        TEXT: text or MISSING,
        "initial_score": write_scores(first),
        "final_score": write_scores(last),
        "initial_score_unified": write_unified(first),
        "final_score_unified": write_unified(last),
    }


def write_ratings(first: Iterable[Sequence[Score]], last: Iterable[Sequence[Score]]) -> Fields:
    """Return the unified ratings of all reviews of a paper, before and after the rebuttal."""
    return {
        "review_initial_ratings_unified": [write_unified_number(scores) for scores in first],
        "review_final_ratings_unified": [write_unified_number(scores) for scores in last],
    }


def list_lost(stated: Mapping[str, Any], written: Mapping[str, Any]) -> Fields:
    """Return the members of a record that would not be written back unchanged from what was read.

    >>> list_lost({"review_title": "", "reviewer_id": "R1", "track": 3}, {"review_title": "null", "reviewer_id": "R1"})
    {'review_title': '', 'track': 3}
    """
    return {name: value for name, value in stated.items() if name not in written or written[name] != value}


def restore(written: Fields, kept: Mapping[str, Any]) -> Fields:
    """Return fields with the values stored by `list_lost`; a score that the record lacks remains an object.

    >>> restore({"initial_score": {"rating": "null"}, "a": 1}, {"initial_score": None, "a": None})
    {'initial_score': {'rating': 'null'}, 'a': None}
    """
    return written | {name: value for name, value in kept.items() if value is not None or name not in SCORES}


def write_prompt(paper_id: str) -> str:
    """Return the name of a paper in a prompt of Re², whose text is in a separate file.

    >>> write_prompt("m97Cdr9IOZJ")
    '<<m97Cdr9IOZJ>>'
    """
    return f"<<{paper_id}>>"


def is_prompt(opening: Sequence[Re2Message], paper_id: str) -> bool:
    """Return whether the messages before the review are a prompt of Re²: an instruction, then one naming the paper."""
    roles = [message.role for message in opening]
    return roles == ["system", "user"] and write_prompt(paper_id) in (opening[-1].content or "")


_ENDING = re.compile(r"(?<=.)\.[A-Za-z]+$")


def name_place(venue_id: str) -> str:
    """Return a venue's conference, year and track as Re² writes them: the parts of its id, with underscores.

    Code that reads Re² shows "NeurIPS 2022 Conference", "ICLR 2023 TinyPapers", "UAI 2022 Conference", "LOG 2022
    Conference", "MIDL 2023 Short_Paper_Track" and "IEEE ICIST 2024 Conference": a host in capitals is the name of an
    organisation and is retained, any other is not.

    >>> name_place("ICLR.cc/2023/TinyPapers"), name_place("auai.org/UAI/2022/Conference")
    ('ICLR 2023 TinyPapers', 'UAI 2022 Conference')
    >>> name_place("IEEE.org/ICIST/2024/Conference"), name_place("published/Kites/2023/Conference"), name_place("TMLR")
    ('IEEE ICIST 2024 Conference', 'Kites 2023 Conference', 'TMLR')
    """
    host, *others = [part for part in venue_id.split("/") if part] or [venue_id]
    is_named = not others or others[0][:1].isdigit() or host[:1].isupper()
    return " ".join([*([_ENDING.sub("", host)] if is_named else []), *others])
