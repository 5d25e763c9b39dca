"""What the pages call the values of the records."""

from datetime import datetime

from peercorpus.kinds import Grade, LinkKind, PostKind, Reason, Role, Status, VersionMoment
from peercorpus.report.statistic import percent

ROLES = {
    Role.AUTHOR: "Authors",
    Role.REVIEWER: "Reviewer",
    Role.AREA_CHAIR: "Area chair",
    Role.SENIOR_AREA_CHAIR: "Senior area chair",
    Role.PROGRAM_CHAIR: "Programme chair",
    Role.ETHICS_REVIEWER: "Ethics reviewer",
    Role.PUBLIC: "Public",
    Role.UNKNOWN: "Unknown role",
}
STATUSES = {
    Status.ACCEPTED: "Accepted",
    Status.REJECTED: "Rejected",
    Status.WITHDRAWN: "Withdrawn",
    Status.DESK_REJECTED: "Desk rejected",
    Status.UNDER_REVIEW: "Under review",
    Status.UNKNOWN: "Unknown",
}
GRADES = {
    Grade.EXACT: ("Exact", "An edit on or before the deadline brought this file, and it was fetched for that edit."),
    Grade.EXACT_ATTACHMENT: ("Exact, attachment", "The venue kept the submitted file as an attachment."),
    Grade.UNREVISED: ("Unrevised", "No invitation that can change the PDF edited the paper after the deadline."),
    Grade.UNREVISED_LIKELY: (
        "Probably unrevised",
        "Chairs edited the paper, which can change a PDF; nothing else did.",
    ),
    Grade.BEFORE_FIRST_REVIEW: (
        "Before the first review",
        "The latest PDF that can be seen from before the first review.",
    ),
    Grade.UNAVAILABLE: (
        "Not known",
        "Every PDF that can be seen may be later than the reviews, or its file is not here.",
    ),
}
MOMENTS = {
    VersionMoment.INITIAL: "Initial version",
    VersionMoment.BEFORE_DEADLINE: "Before the deadline",
    VersionMoment.BEFORE_REVIEWS: "Before the reviews",
    VersionMoment.DISCUSSION: "During the discussion",
    VersionMoment.CAMERA_READY: "Camera-ready",
    VersionMoment.CURRENT: "Current version",
}
LINKS = {
    LinkKind.RESUBMISSION: "Resubmission",
    LinkKind.WORKSHOP: "Workshop version",
    LinkKind.TWIN: "Listed twice",
    LinkKind.UNDATED: "Same work, order not known",
}
FIELDS = {
    "title": "Title",
    "abstract": "Abstract",
    "reviews": "In a review",
    "answers": "In an answer",
    "others": "In another post",
}


def kind_of_post(kind: PostKind) -> str:
    """A post's kind as a heading says it."""
    return kind.value.replace("_", " ").capitalize()


def reason_in_words(reason: Reason) -> str:
    """Why a row was set aside, as a table says it."""
    return reason.value.replace("_", " ")


def day(moment: datetime | None) -> str:
    """A day as people write it; "no date" where there is none.

    >>> day(datetime(2024, 5, 3)), day(None)
    ('3 May 2024', 'no date')
    """
    return f"{moment.day} {moment:%B %Y}" if moment else "no date"


def number(value: float | None) -> str:
    """A number as short as it can be told; "not known" where there is none.

    >>> number(6.0), number(4.666667), number(None)
    ('6', '4.67', 'not known')
    """
    return "not known" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def share(part: float, whole: float) -> str:
    """A share in per cent; "none" of nothing.

    >>> share(1, 3), share(999, 1000), share(0, 0)
    ('33 %', 'above 99 %', 'none')
    """
    return percent(part / whole) if whole else "none"
