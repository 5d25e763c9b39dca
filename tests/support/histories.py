"""Invented histories of one submission, for the tests of choosing a version."""

from datetime import UTC, datetime, timedelta

from peercorpus.versions.deadlines import Deadline
from peercorpus.versions.uploads import SubmissionPdfs, Upload

NOON = datetime(2024, 9, 27, 12, tzinfo=UTC)
DEADLINE = Deadline(NOON, "V/-/Submission (expdate)")
REVIEWED = NOON + timedelta(days=30)
DECIDED = NOON + timedelta(days=90)
UNREVISED = ("V/-/Submission", "V/-/Post_Submission")


def upload(
    name: str, at: datetime | None, *, settled: datetime | None = None, invitation: str = "V/Submission1/-/Revision"
) -> Upload:
    """A PDF uploaded at a given time; final then, unless it was posted again."""
    return Upload(f"edit-{name}", f"/pdf/{name}.pdf", at, settled or at, settled or at, invitation)


FIRST = upload("first", NOON - timedelta(days=2))
LAST_HOUR = upload("last-hour", NOON - timedelta(minutes=5))
ON_TIME = upload("on-time", NOON)
LATE = upload("late", NOON + timedelta(days=3))
REVISED = upload("revised", NOON + timedelta(days=45))
CAMERA_READY = upload("camera-ready", NOON + timedelta(days=100))
REPOSTED = upload("reposted", NOON - timedelta(hours=1), settled=NOON + timedelta(days=90))
CURRENT = Upload("paper", "/pdf/current.pdf", None, None, None, None, "On Kites", "Of strings.")
ATTACHED = Upload("paper/original_pdf", "/attachment/kept.pdf", None, None, None, None)
EVERY = (FIRST, ON_TIME, LAST_HOUR, LATE, REVISED, CAMERA_READY, REPOSTED, CURRENT, ATTACHED)
ALL_FILES = {one.path: "0" * 64 for one in EVERY}
BARE = SubmissionPdfs("paper", "V", (), (), None, None, (), DEADLINE, REVIEWED, ALL_FILES)
