"""Record the form of a ReviewBench row's values, so that an export can reproduce the row exactly.

Papers and reviews contain the meaning of a row. Its shape contains its form: which members it has, in which order, and
every value that the records do not contain in the same form (an absent text that is `""` or None, a rating that is a
number or a label). A text in a record is named in the shape, not repeated, so that what is taken down or masked later
disappears from both.
"""

import json
from collections.abc import Mapping
from typing import Any

from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Review
from peercorpus.records.untrusted_text import redact_people

SHAPE = "reviewbench_json"
"""Key of a shape, as JSON, in the `extra` of papers and reviews."""
EXTRA_SCORES, EXTRA_TEXT, EXTRA_OTHER = "extra_scores", "extra_text", "extra_other"
EXTRA_FIELDS = (EXTRA_SCORES, EXTRA_TEXT, EXTRA_OTHER)
"""Members in which ReviewBench, and releases of peercorpus, store answers that have no separate member."""
_HELD = "$"
"""Only member of an object that refers to a text stored elsewhere; an original object with this member is wrapped."""


def put_away(value: Any, held: Mapping[str, str], name: str = "") -> Any:  # noqa: ANN401 -- any JSON value
    """Return a JSON value in which every text that is stored under the name of its member is replaced by that name.

    >>> put_away({"summary": "It flies.", "title": ""}, {"summary": "It flies."})
    {'summary': {'$': 'summary'}, 'title': ''}
    """
    if isinstance(value, dict):
        inner = {key: put_away(member, held, key) for key, member in value.items()}
        return {_HELD: inner} if _HELD in inner else inner
    if isinstance(value, list):
        return [put_away(item, held) for item in value]
    return {_HELD: name} if value and isinstance(value, str) and held.get(name) == value else value


def take_out(value: Any, held: Mapping[str, str]) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value from which `put_away` made this one; a text that is no longer stored is empty.

    >>> take_out(put_away({"$": 1, "summary": "It flies."}, {"summary": "It flies."}), {})
    {'$': 1, 'summary': ''}
    """
    if isinstance(value, list):
        return [take_out(item, held) for item in value]
    if not isinstance(value, dict):
        return value
    stood = value.get(_HELD)
    if isinstance(stood, str):
        return held.get(stood, "")
    return {key: take_out(member, held) for key, member in (value if stood is None else stood).items()}


def write_shape(shape: Mapping[str, Any]) -> str:
    """Return a shape as JSON whose members keep their order, with e-mail addresses and profile ids masked."""
    return json.dumps(redact_people(shape), ensure_ascii=False, separators=(",", ":"))


def read_shape(extra: str) -> dict[str, Any] | None:
    """Return the shape in the `extra` of a paper or review; None if it is not from ReviewBench."""
    if SHAPE not in extra:
        return None
    text = json.loads(extra).get(SHAPE)
    return None if text is None else json.loads(text)


def drop_shape(extra: str) -> str:
    """Return `extra` without a shape, which adds nothing to other columns."""
    if SHAPE not in extra:
        return extra
    return json.dumps({name: value for name, value in json.loads(extra).items() if name != SHAPE}, ensure_ascii=False)


def texts_of_review(review: Review, rebuttal: str | None) -> dict[str, str]:
    """Return every text in a review, by ReviewBench's name for it; `rebuttal` is the response to the review."""
    extra = {name: value for name, value in json.loads(review.extra or "{}").items() if isinstance(value, str)}
    extra.pop(SHAPE, None)
    single = {
        "review_id": review.review_id,
        "reviewer": review.reviewer,
        "title": review.title,
        "final_justification": review.final_justification,
        "rebuttal": rebuttal,
    }
    return (
        extra
        | {f"{section.field}_initial": section.text for section in review.initial_sections}
        | {section.field: section.text for section in review.sections}
        | {name: text for name, text in single.items() if text}
    )


def columns_of_paper(paper: Paper) -> dict[str, Any]:
    """Return the ReviewBench columns contained in a paper's own record; unknown values are empty."""
    return {
        "forum_id": paper.forum_id,
        "conference": paper.conference,
        "year": paper.year,
        "track": paper.track,
        "venue_id": paper.venue_id,
        "paper_number": paper.number,
        "title": paper.title or "",
        "abstract": paper.abstract or "",
        "authors": list(paper.authors),
        "keywords": list(paper.keywords),
        "tldr": paper.tldr or "",
        "primary_area": paper.primary_area or "",
        "venue": paper.venue or "",
        "decision": paper.decision or "",
        "decision_comment": paper.decision_comment or "",
    }
