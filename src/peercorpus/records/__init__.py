"""What a row of the corpus is: record types and pure functions over them, without disk or network.

`peercorpus.records` hands on the record types and the enums of their fields; the functions are in the modules.
"""

from peercorpus.records.ai_reviews import AiReply, AiReview, SurveyAnswer
from peercorpus.records.blocks import BibliographyEntry, Mention, PageBox, TableCell, TextBlock
from peercorpus.records.documents import Change, Inspection, PaperText, TextHeading, TextQuality, VersionSign
from peercorpus.records.enums import (
    Aspect,
    BlockKind,
    ChangeKind,
    FieldType,
    FileSays,
    Grade,
    LinkKind,
    MentionKind,
    Phase,
    PostKind,
    Reason,
    Role,
    ScoreSource,
    SectionKind,
    SignKind,
    Status,
    VersionMoment,
)
from peercorpus.records.papers import Conflict, Evidence, Link, Paper, PaperVersion, SetAside, StatedSide
from peercorpus.records.reviews import ContextPost, Conversation, MetaReview, Post, Review, Section, Turn
from peercorpus.records.scores import Score, ScoreChange

__all__ = [
    "AiReply",
    "AiReview",
    "Aspect",
    "BibliographyEntry",
    "BlockKind",
    "Change",
    "ChangeKind",
    "Conflict",
    "ContextPost",
    "Conversation",
    "Evidence",
    "FieldType",
    "FileSays",
    "Grade",
    "Inspection",
    "Link",
    "LinkKind",
    "Mention",
    "MentionKind",
    "MetaReview",
    "PageBox",
    "Paper",
    "PaperText",
    "PaperVersion",
    "Phase",
    "Post",
    "PostKind",
    "Reason",
    "Review",
    "Role",
    "Score",
    "ScoreChange",
    "ScoreSource",
    "Section",
    "SectionKind",
    "SetAside",
    "SignKind",
    "StatedSide",
    "Status",
    "SurveyAnswer",
    "TableCell",
    "TextBlock",
    "TextHeading",
    "TextQuality",
    "Turn",
    "VersionMoment",
    "VersionSign",
]
