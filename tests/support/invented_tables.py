"""A workspace with invented papers, reviews, posts, versions, texts and conversations, modelled on real ones."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from peercorpus.records.ai_reviews import AiReply, AiReview, SurveyAnswer
from peercorpus.records.documents import Change, Figure, PaperText, TextHeading
from peercorpus.records.enums import (
    AiCertainty,
    Aspect,
    ChangeKind,
    FigureKind,
    Grade,
    LinkKind,
    Phase,
    PostKind,
    Role,
    ScoreSource,
    SectionKind,
    Status,
    VersionMoment,
)
from peercorpus.records.papers import Evidence, Link, Paper, PaperVersion
from peercorpus.records.reviews import ContextPost, Conversation, MetaReview, Post, Review, Section, Turn
from peercorpus.records.scores import Score
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace, open_workspace

ICLR, ICML, TMLR = "ICLR.cc/2020/Conference", "ICML.cc/2023/Conference", "TMLR"
NOON = datetime(2020, 1, 2, 12, tzinfo=UTC)
TABLES_BUILT = tuple(name for name in TABLES if name != "set-aside")


def paper(forum_id: str, venue_id: str = ICLR, **other: Any) -> Paper:
    values: dict[str, Any] = {
        "forum_id": forum_id,
        "venue_id": venue_id,
        "conference": venue_id.split(".")[0].lower(),
        "year": None if venue_id == TMLR else int(venue_id.split("/")[1]),
        "track": "main",
        "number": 7,
        "title": f"On {forum_id}",
        "abstract": "We invent.",
        "authors": (),
        "keywords": ("invention", "test"),
        "tldr": None,
        "primary_area": None,
        "venue": "ICLR 2020 Poster",
        "status": Status.ACCEPTED,
        "decision": "Accept (Poster)",
        "decided_at": NOON,
        "decision_comment": "All agree.",
        "licence": None,
        "created_at": NOON,
        "modified_at": NOON,
        "extra": "{}",
    }
    return Paper(**(values | other))


def score(field: str, value: float | None, label: str, aspect: Aspect, phase: Phase = Phase.FINAL) -> Score:
    return Score(aspect, field, value, 1, 10, label, phase, ScoreSource.NOTE, higher_is_better=True)


def review(forum_id: str, reviewer: str = "R1", venue_id: str = ICLR, **other: Any) -> Review:
    values: dict[str, Any] = {
        "review_id": f"{forum_id}-{reviewer}",
        "forum_id": forum_id,
        "venue_id": venue_id,
        "form_id": f"{venue_id}/-/Official_Review",
        "reviewer": reviewer,
        "created_at": NOON,
        "modified_at": NOON,
        "title": None,
        "scores": (
            score("rating", 6.0, "6: Weak Accept", Aspect.RECOMMENDATION),
            score("confidence", 4.0, "4", Aspect.CONFIDENCE),
            score("soundness", None, "Not applicable", Aspect.SOUNDNESS),
        ),
        "sections": (Section(SectionKind.SUMMARY, "summary", "They invent."),),
        "final_justification": None,
        "revised": None,
        "readers_public": True,
        "deleted": False,
        "extra": '{"code_of_conduct": "Yes"}',
    }
    return Review(**(values | other))


def post(post_id: str, forum_id: str, venue_id: str = ICLR, **other: Any) -> Post:
    values: dict[str, Any] = {
        "post_id": post_id,
        "forum_id": forum_id,
        "venue_id": venue_id,
        "reply_to": None,
        "kind": PostKind.COMMENT,
        "role": Role.AUTHOR,
        "invitation": f"{venue_id}/-/Official_Comment",
        "signature": "Authors",
        "created_at": NOON,
        "modified_at": NOON,
        "title": None,
        "text": f"Words of {post_id}.",
        "readers_public": True,
        "deleted": False,
        "extra": "{}",
    }
    return Post(**(values | other))


def ai_review(forum_id: str, venue_id: str = ICLR) -> AiReview:
    """An AI review of a paper, the authors' answer to it, and their survey response that only the venue reads."""
    reply = AiReply(
        post_id=f"{forum_id}-ai-answer",
        reply_to=f"{forum_id}-ai",
        kind=PostKind.COMMENT,
        role=Role.AUTHOR,
        invitation=f"{venue_id}/Submission1/-/Official_Comment",
        signature="Authors",
        created_at=NOON,
        modified_at=NOON,
        title="To the AI",
        text="We added seeds.",
        readers_public=True,
        deleted=False,
        extra="{}",
    )
    survey = replace(
        reply,
        post_id=f"{forum_id}-ai-survey",
        kind=PostKind.SURVEY,
        title=None,
        text="",
        survey=(
            SurveyAnswer(
                "false_claims", "One minor", 3, ("At least one serious", "Several minor", "One minor", "None")
            ),
        ),
    )
    return AiReview(
        ai_review_id=f"{forum_id}-ai",
        forum_id=forum_id,
        venue_id=venue_id,
        form_id=None,
        kind=PostKind.AI_REVIEW,
        certainty=AiCertainty.CERTAIN,
        role=Role.AI,
        invitation=f"{venue_id}/Submission1/-/AI_Review",
        signature="AI_Reviewer",
        created_at=NOON,
        modified_at=NOON,
        title=None,
        scores=(),
        sections=(Section(SectionKind.OTHER, "ai_review", "The claims hold, says the AI."),),
        readers_public=True,
        deleted=False,
        licence="CC BY 4.0",
        extra="{}",
        replies=(reply, survey, replace(survey, post_id=f"{forum_id}-ai-closed", readers_public=False)),
    )


def version(forum_id: str, sha256: str | None, grade: Grade | None, venue_id: str = ICLR) -> PaperVersion:
    evidence = Evidence(NOON, "the call", "on or before", None)
    is_initial = grade is not None
    return PaperVersion(
        forum_id, venue_id, f"edit-{sha256}", NOON, NOON, "/pdf/a.pdf", sha256, is_initial, grade, evidence
    )


def text(sha256: str, markdown: str, venue_id: str = ICLR) -> PaperText:
    return PaperText(sha256, venue_id, "pdfium-text", "1", markdown, 1, float(len(markdown)), ())


def link(forum_id: str, venue_id: str, earlier_id: str, earlier_venue_id: str = ICLR, **other: Any) -> Link:
    values: dict[str, Any] = {
        "forum_id": forum_id,
        "venue_id": venue_id,
        "earlier_id": earlier_id,
        "earlier_venue_id": earlier_venue_id,
        "kind": LinkKind.RESUBMISSION,
        "days": 120.0,
        "title_similarity": 0.5,
        "abstract_similarity": 1.0,
        "text_similarity": None,
        "rule": "they say the same",
    }
    return Link(**(values | other))


def turn(role: Role, *post_ids: str) -> Turn:
    words = "\n\n".join(f"Words of {post_id}." for post_id in post_ids)
    return Turn(role, role.value, None, words, NOON, post_ids)


def conversation(
    forum_id: str, reviewer: str, turns: Iterable[Turn], context: tuple[str, ...] = (), venue_id: str = ICLR
) -> Conversation:
    names = {Role.REVIEWER: reviewer, Role.AUTHOR: "Authors"}
    spoken = tuple(replace(one, signature=names.get(one.role, one.signature)) for one in turns)
    responses = tuple(ContextPost(post_id, before_turn=1) for post_id in context)
    return Conversation(f"{forum_id}/{reviewer}", forum_id, venue_id, reviewer, spoken, responses)


def a_forum(forum_id: str, venue_id: str = ICLR, markdown: str | None = None) -> list[object]:
    """A paper with one review, the authors' answer, one response to all, and its own text of the best grade."""
    one, two, three = (f"{forum_id}-{name}" for name in ("R1", "answer", "to-all"))
    review_post = post(one, forum_id, venue_id, kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1")
    turns = (turn(Role.REVIEWER, one), turn(Role.AUTHOR, two))
    return [
        paper(forum_id, venue_id),
        review(forum_id, "R1", venue_id),
        review_post,
        post(two, forum_id, venue_id, reply_to=one),
        post(three, forum_id, venue_id),
        version(forum_id, f"sha-{forum_id}", Grade.EXACT, venue_id),
        text(f"sha-{forum_id}", f"# Text of {forum_id}" if markdown is None else markdown, venue_id),
        conversation(forum_id, "R1", turns, (three,), venue_id),
    ]


def what_follows(forum_id: str, venue_id: str = ICLR) -> list[object]:
    """A meta-review of a paper, its camera-ready version with a text, what changed until then, and an AI's review."""
    why = (Section(SectionKind.OTHER, "justification", "It falls."),)
    answers = MetaReview("recommendation", "Reject", Status.REJECTED, (), why)
    late = f"late-{forum_id}"
    chair = {"kind": PostKind.META_REVIEW, "role": Role.AREA_CHAIR, "signature": "Area_Chair_X"}
    return [
        post(f"{forum_id}-meta", forum_id, venue_id, meta_review=answers, posted_after_decision=False, **chair),
        replace(version(forum_id, late, None, venue_id), moment=VersionMoment.CAMERA_READY),
        replace(text(late, f"# Late text of {forum_id}", venue_id), headings=(TextHeading(1, "Late", 1),)),
        Change(forum_id, venue_id, f"sha-{forum_id}", late, 1, 1, ChangeKind.ADDED, "Late", "", "They soar."),
        ai_review(forum_id, venue_id),
    ]


def draw_pixel() -> bytes:
    """A WebP image of eight white pixels a side."""
    file = BytesIO()
    Image.new("RGB", (8, 8), "white").save(file, "WEBP", lossless=True)
    return file.getvalue()


def with_figures(records: Iterable[object]) -> list[object]:
    """Records, and one figure of the PDF of each version among them."""
    kept = list(records)
    files = {one.sha256: one for one in kept if isinstance(one, PaperVersion) and one.sha256 is not None}
    pixel = draw_pixel()
    box = (0.0, 0.0, 72.0, 72.0)
    figures = [
        Figure(
            *(sha256, one.forum_id, one.venue_id, 1, FigureKind.FIGURE, "Figure 1", "Figure 1: Kites.", 1, *box),
            image=pixel,
            image_format="webp",
            width_px=8,
            height_px=8,
            problem=None,
            made_with="invented",
        )
        for sha256, one in files.items()
    ]
    return [*kept, *figures]


def fill(workspace: Workspace, venue_id: str, records: Iterable[object]) -> None:
    with workspace.tables.replacing(TABLES_BUILT, venue_id, "invent", "a" * 64) as replacement:
        for record in records:
            replacement.add(record)


def keep(workspace: Workspace) -> None:
    """Add a note, without which a new workspace is removed when it is closed."""
    workspace.raw.add([RawObject(RawKind.NOTE, "f1", 2, ICLR, "f1", "f1", 1, 1, "invented", b"{}")])


def two_conferences(folder: Path) -> Path:
    """A workspace of nine papers at each of two conferences, with a note so that it is not removed as empty."""
    venues = {
        ICLR: [record for n in range(9) for record in a_forum(f"f{n}")],
        ICML: [record for n in range(9) for record in a_forum(f"m{n}", ICML)],
    }
    with invented(folder, venues) as workspace:
        keep(workspace)
    return folder


@contextmanager
def invented(folder: Path, venues: Mapping[str, Iterable[object]]) -> Iterator[Workspace]:
    with open_workspace(folder, create=True) as workspace:
        for venue_id, records in venues.items():
            fill(workspace, venue_id, records)
        yield workspace
