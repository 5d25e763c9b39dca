"""The commands `show`, `move`, `reminders` and `check`."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from peercorpus.cli.console import ProgressLines, WorkspaceFolder, say
from peercorpus.errors import ExitCode, PeercorpusError

if TYPE_CHECKING:
    from peercorpus.corpus.forums import PaperRecord
    from peercorpus.workspace.workspace import Workspace

Ids = Annotated[tuple[str, ...], Parameter(show_default=False, negative=())]


def show(
    forum_id: Annotated[str, Parameter(name="FORUM_ID")],
    /,
    workspace: WorkspaceFolder,
    *,
    brief: Annotated[bool, Parameter(negative=())] = False,
    json_: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> None:
    """Show one paper: versions, other submissions of the same work, scores, conversations, and rows set aside.

    What not everyone may read, or is deleted or taken down, is not shown; rows set aside are named.

    Parameters
    ----------
    forum_id
        The paper's id on OpenReview, or the URL of its forum, its PDF or a post in its forum.
    brief
        Show only the beginning of each text.
    json_
        Print one JSON object with whole texts.
    """
    from peercorpus.cli.text.show import record_to_json, show_record
    from peercorpus.corpus.forums import read_whole_record
    from peercorpus.openreview.page_urls import read_forum_id
    from peercorpus.workspace.workspace import open_workspace

    if brief and json_:
        raise PeercorpusError("--json prints whole texts; leave out --brief.")
    wanted = read_forum_id(forum_id)
    with open_workspace(workspace, write=False) as opened:
        record = _keep_public(opened, read_whole_record(opened.tables, wanted))
    say(record_to_json(record) if json_ else show_record(record, is_brief=brief))


def _keep_public(opened: "Workspace", record: "PaperRecord") -> "PaperRecord":
    """Return what everyone may read of a paper, and the rows set aside.

    Raises:
        PeercorpusError: The paper was taken down.
    """
    from peercorpus.corpus.forums import Forum, PaperRecord
    from peercorpus.corpus.public_forums import PublicFilter, keep_public
    from peercorpus.corpus.takedown import read_takedown

    takedown = read_takedown(opened)
    whole = Forum(record.paper, record.reviews, record.posts, record.versions, record.conversations, record.ai_reviews)
    kept = PublicFilter(takedown).sift(whole)
    if kept is None:
        raise PeercorpusError(f"'{record.paper.forum_id}' was taken down; 'peercorpus takedown --list' shows the list.")
    shown = keep_public(kept)
    links = [link for link in record.links if takedown.forums.isdisjoint({link.forum_id, link.earlier_id})]
    return PaperRecord(
        paper=shown.paper,
        reviews=list(shown.reviews),
        posts=list(shown.posts),
        versions=list(shown.versions),
        conversations=list(shown.conversations),
        set_aside=record.set_aside,
        links=links,
        ai_reviews=list(shown.ai_reviews),
    )


def move(workspace: WorkspaceFolder, *, to: str) -> None:
    """Move a workspace's PDFs and tables to an S3-compatible store, or back. All commands then work as before.

    If the move is interrupted, the same command continues it. The originals are deleted only after everything was
    copied and compared. Credentials are read from the environment only (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
    AWS_REGION, AWS_ENDPOINT_URL). A workspace that does not exist is created.

    Parameters
    ----------
    to
        Empty prefix s3://BUCKET/PREFIX to move to; or '.' for the workspace's own folder, which also undoes an
        unfinished move.
    """
    from peercorpus.cli.text import move as move_texts
    from peercorpus.workspace.move import move_workspace as run_move

    with ProgressLines() as lines:
        moved = run_move(workspace, to, lines.show)
    say(move_texts.moved(moved, workspace))


def check(
    workspace: WorkspaceFolder,
    *,
    repair: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Check that nothing in a workspace has changed since it was stored: objects in raw.db, PDFs, tables.

    Exit with 1 if something is damaged and was not repaired.

    Parameters
    ----------
    repair
        Set aside what is damaged; recover the intact part of a damaged raw.db into a new one. The next commands are
        printed: a harvest fetches again what OpenReview still has, a build makes the tables.
    """
    from peercorpus.cli.text import check as check_texts
    from peercorpus.pipeline.integrity import check_workspace
    from peercorpus.pipeline.integrity import repair as run_repair
    from peercorpus.workspace.workspace import open_workspace, repair_database

    recovery = repair_database(workspace) if repair else None
    if recovery is not None:
        say(check_texts.recovered(recovery, workspace))
    with open_workspace(workspace, write=repair) as opened, ProgressLines() as lines:
        integrity = check_workspace(opened, lines.show)
        repaired = run_repair(opened, integrity) if repair else None
    say(check_texts.found(integrity))
    if repaired is not None:
        say(check_texts.repaired(repaired, workspace))
    remaining = len(integrity.damages) - (len(repaired.set_aside) if repaired is not None else 0)
    return ExitCode.FOUND if remaining > 0 else ExitCode.DONE


def reminders(
    workspace: WorkspaceFolder,
    *,
    drop: Ids = (),
    keep: Ids = (),
    undo: Ids = (),
    why: str = "",
    as_json: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> None:
    """List the authors' posts that do little but urge reviewers to reply, and decide which to drop.

    By a rule, 'peercorpus build' leaves such posts out of conversations. Your decisions overrule it; they are in the
    workspace's reminders.tsv, which you can also edit or copy. Run 'peercorpus build' afterwards.

    Parameters
    ----------
    drop
        Id of a post that is a reminder, whatever the rule says. May be repeated, like the next two.
    keep
        Id of a post that is not a reminder, whatever the rule says.
    undo
        Id of a post whose decision is withdrawn.
    why
        A note on why, with --drop or --keep.
    as_json
        Print JSON, with the whole texts and the posts before and after each.
    """
    from peercorpus.cli.text import reminders as reminder_texts
    from peercorpus.conversations.reminder_review import decide, find_candidates
    from peercorpus.corpus.reminder_decisions import read_decisions
    from peercorpus.workspace.workspace import open_workspace

    if why and not drop and not keep:
        raise PeercorpusError("--why is a note on --drop or --keep; add one of them, or leave it out.")
    is_deciding = bool(drop or keep or undo)
    with open_workspace(workspace, write=is_deciding) as opened:
        if is_deciding:
            decide(opened, drop=drop, keep=keep, undo=undo, note=why)
        decisions = read_decisions(opened.folder)
        if is_deciding and not as_json:
            say(reminder_texts.decided(decisions, workspace))
            return
        candidates = list(find_candidates(opened, decisions))
    say(reminder_texts.to_json(candidates, decisions) if as_json else reminder_texts.listed(candidates, decisions))
