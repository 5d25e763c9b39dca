"""Find the due date of a venue's reviews: the one stated by the user, else that of OpenReview's invitations."""

import msgspec
import polars as pl

from peercorpus.openreview.objects import decode_leniently
from peercorpus.records.reviews import Post, Review
from peercorpus.report.source import REVIEW_TIMES, TIME, concat_frames
from peercorpus.report.venue_counts import PublicRows, keep_public
from peercorpus.venues.own_venues import own_venue
from peercorpus.workspace.raw_store import RawKind, RawStore
from peercorpus.workspace.workspace import Workspace


class _Due(msgspec.Struct):
    """The due date of an invitation, in milliseconds since the epoch, UTC."""

    duedate: int | None = None


def read_review_times(workspace: Workspace, rows: PublicRows, venue_id: str) -> pl.DataFrame:
    """Return when each public review of a venue was posted and due, in the columns of `REVIEW_TIMES`.

    The `review_deadline` of the user's row takes precedence, then the due date of the paper's own invitation, which
    chairs may extend, then that of the venue's invitation with the review form.

    Raises:
        VenuesFileError: The user's file is not valid.
    """
    columns = ["review_id", "forum_id", "created_at", "form_id", "readers_public", "deleted"]
    reviews = concat_frames(
        map(keep_public, rows.read(Review, venue_id, columns)),
        {"review_id": pl.String, "forum_id": pl.String, "created_at": TIME, "form_id": pl.String},
    )
    own = own_venue(workspace, venue_id)
    if own is not None and own.review_deadline is not None:
        return reviews.with_columns(due_at=pl.lit(own.review_deadline.at, TIME)).select(*REVIEW_TIMES)
    posts = concat_frames(
        (
            batch.filter(pl.col("kind") == "review")
            for batch in rows.read(Post, venue_id, ["post_id", "forum_id", "invitation", "kind"])
        ),
        {"post_id": pl.String, "invitation": pl.String},
    )
    named = reviews.join(posts, left_on="review_id", right_on="post_id", how="left", maintain_order="left")
    due_dates = {name: _find_due(workspace.raw, name) for name in {*named["invitation"], *named["form_id"]} if name}
    due_ms = [
        due_dates.get(own_name) or due_dates.get(form_id)
        for own_name, form_id in named.select("invitation", "form_id").iter_rows()
    ]
    due_at = pl.Series(due_ms, dtype=pl.Int64).cast(pl.Datetime("ms", "UTC")).cast(TIME)
    return named.with_columns(due_at=due_at).select(*REVIEW_TIMES)


def _find_due(raw: RawStore, invitation_id: str) -> int | None:
    invitation = raw.find(RawKind.INVITATION, invitation_id)
    return decode_leniently(_Due, invitation.body).duedate if invitation else None
