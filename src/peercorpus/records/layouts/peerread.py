"""Read PeerRead: `reviews/<id>.json` with title, reviews and `accepted`, and `parsed_pdfs/<id>.pdf.json` with sections.

Source: allenai/PeerRead, `data/<venue>/<train|dev|test>/`, as published; ICLR 2017, ACL 2017, CoNLL 2016 and arXiv.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from peercorpus.records.enums import PostKind, Role, Status
from peercorpus.records.layouts.stated import Row, StatedPaper, StatedPost, StatedReview, as_text, is_stated

REVIEW = "review"
PARSED = "parsed_pdf"
SCORES = (
    *("RECOMMENDATION", "RECOMMENDATION_UNOFFICIAL", "REVIEWER_CONFIDENCE", "SUBSTANCE", "CLARITY", "IMPACT"),
    *("APPROPRIATENESS", "ORIGINALITY", "SOUNDNESS_CORRECTNESS", "MEANINGFUL_COMPARISON", "REPLICABILITY"),
)
SPEAKER = "OTHER_KEYS"
FINAL_DECISION = "final decision"
"""In the title of the chairs' post of ICLR 2017."""


def is_peerread(members: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is PeerRead's file of reviews."""
    reviews = members.get("reviews")
    named = {"conference", "accepted", "histories", "abstract", "SCORE"} & members.keys()
    return (
        isinstance(reviews, list) and "title" in members and bool(named) and not {"forum", "content"} & members.keys()
    )


def read_peerread(parts: Row) -> StatedPaper:
    """Return the paper of one file of reviews; posts without a recommendation are no reviews."""
    found = parts[REVIEW]
    entries = [entry for entry in found.get("reviews") or () if isinstance(entry, dict)]
    reviews = [entry for entry in entries if _is_review(entry)]
    posts = [_read_post(entry) for entry in entries if not _is_review(entry) and as_text(entry.get("comments"))]
    accepted = found.get("accepted")
    status = {True: Status.ACCEPTED, False: Status.REJECTED}[accepted] if isinstance(accepted, bool) else None
    decided = (post.text for post in posts if post.kind is PostKind.DECISION)
    read = {"reviews", "title", "abstract", "accepted", "authors", "SCORE"}
    return StatedPaper(
        title=as_text(found.get("title")),
        abstract=as_text(found.get("abstract")),
        authors=_read_authors(found.get("authors")),
        status=status,
        decision_comment=next(decided, None),
        text=read_sections(parts),
        reviews=tuple(_read_review(entry) for entry in reviews),
        posts=tuple(posts),
        extra={name: value for name, value in found.items() if name not in read and value not in (None, "", [])},
    )


def read_sections(parts: Row) -> str | None:
    """Return the text of the parsed PDF as Markdown: its sections in order; None where there is none."""
    metadata = (parts.get(PARSED) or {}).get("metadata") or {}
    texts = list(_read_passages(metadata))
    return "\n\n".join(texts) if len(texts) > bool(metadata.get("title")) else None


def _read_passages(metadata: Row) -> Iterator[str]:
    if title := as_text(metadata.get("title")):
        yield f"# {title}"
    if abstract := as_text(metadata.get("abstractText")):
        yield f"## Abstract\n\n{abstract}"
    for section in metadata.get("sections") or ():
        heading, text = as_text(section.get("heading")), as_text(section.get("text"))
        if heading or text:
            yield "\n\n".join(part for part in (heading and f"## {heading}", text) if part)


def _is_review(entry: Row) -> bool:
    """Return whether a post is a review: it has a recommendation, or scores and a text at venues without one."""
    if entry.get("IS_META_REVIEW") or not as_text(entry.get("comments")):
        return False
    if not is_stated(entry.get("RECOMMENDATION")) and entry.get("DATE"):
        return False  # Of ICLR 2017, whose questions before the review carry the reviewer's other scores.
    return any(is_stated(entry.get(name)) for name in SCORES)


def _read_review(entry: Row) -> StatedReview:
    answers = {name: entry[name] for name in (*SCORES, "TITLE", "comments") if is_stated(entry.get(name))}
    speaker = as_text(entry.get(SPEAKER)) or ""
    is_named = "AnonReviewer" in speaker
    read = {*answers, "IS_META_REVIEW", *((SPEAKER,) if is_named else ())}
    return StatedReview(
        answers,
        reviewer=speaker.split()[-1] if is_named else None,
        scores=frozenset(SCORES),
        extra={name: value for name, value in entry.items() if name not in read and is_stated(value)},
    )


def _read_post(entry: Row) -> StatedPost:
    speaker, title = as_text(entry.get(SPEAKER)) or "", as_text(entry.get("TITLE"))
    role = Role.UNKNOWN
    kind = PostKind.META_REVIEW if entry.get("IS_META_REVIEW") else PostKind.COMMENT
    if title and FINAL_DECISION in title.casefold():
        kind, role = PostKind.DECISION, Role.PROGRAM_CHAIR
    elif "AnonReviewer" in speaker:
        role = Role.REVIEWER
    elif speaker == "(anonymous)":
        role = Role.PUBLIC
    signature = speaker.split()[-1] if role is Role.REVIEWER else ""
    return StatedPost(kind, role, signature, title, str(entry["comments"]))


def _read_authors(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    return (
        tuple(name.strip() for name in value if isinstance(name, str) and name.strip())
        if isinstance(value, list)
        else ()
    )
