"""The commands `show`, `move`, `reminders` and `check`."""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from peercorpus.cli.console import ProgressLines, WorkspaceFolder, say
from peercorpus.cli.text.formatting import size
from peercorpus.errors import ExitCode, PeercorpusError
from peercorpus.wording.counted_nouns import plural, verb
from peercorpus.wording.untrusted_text import escape_controls
from peercorpus.workspace.object_store import HERE

if TYPE_CHECKING:
    from peercorpus.conversations.reminder_review import Candidate
    from peercorpus.corpus.forums import Forum
    from peercorpus.corpus.reminder_decisions import Decisions
    from peercorpus.pipeline.integrity import Damage, Integrity, Repair
    from peercorpus.records.reviews import Post
    from peercorpus.workspace.move import MoveResult
    from peercorpus.workspace.raw_recovery import Recovery
    from peercorpus.workspace.workspace import Workspace


Ids = Annotated[tuple[str, ...], Parameter(show_default=False)]


def show(
    forum_id: Annotated[str, Parameter(name="FORUM_ID")],
    /,
    workspace: WorkspaceFolder,
    *,
    brief: bool = False,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """Show one paper: versions, other submissions of the same work, scores, conversations, and rows set aside.

    What not everyone may read, or is deleted or taken down, is not shown, and addresses are masked; rows set aside are
    named.

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


def _keep_public(opened: "Workspace", record: "Forum") -> "Forum":
    """Return what everyone may read of a paper, and the rows set aside.

    Raises:
        PeercorpusError: The paper was taken down.
    """
    from peercorpus.corpus.public_forums import PublicFilter, keep_public
    from peercorpus.corpus.takedown import read_takedown

    kept = PublicFilter(read_takedown(opened)).sift(record)
    if kept is None:
        raise PeercorpusError(f"'{record.paper.forum_id}' was taken down; 'peercorpus takedown --list' shows the list.")
    return keep_public(kept)


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
    from peercorpus.workspace.move import move_workspace as run_move

    with ProgressLines() as lines:
        moved = run_move(workspace, to, lines.show)
    say(describe_move(moved, workspace))


def check(
    workspace: WorkspaceFolder,
    *,
    repair: bool = False,
) -> int:
    """Check that nothing in a workspace has changed since it was stored: objects in raw.db, PDFs, cached texts, tables.

    Exit with 1 if something is damaged and was not repaired.

    Parameters
    ----------
    repair
        Set aside what is damaged, recover the intact part of a damaged raw.db into a new one, and print the next
        commands.
    """
    from peercorpus.pipeline.integrity import check_workspace
    from peercorpus.pipeline.integrity import repair as run_repair
    from peercorpus.workspace.workspace import open_workspace, repair_database

    recovery = repair_database(workspace) if repair else None
    if recovery is not None:
        say(recovered(recovery, workspace))
    with open_workspace(workspace, write=repair) as opened, ProgressLines() as lines:
        integrity = check_workspace(opened, lines.show)
        repaired = run_repair(opened, integrity) if repair else None
    say(found(integrity))
    if repaired is not None:
        say(describe_repair(repaired, workspace))
    remaining = len(integrity.damages) - (len(repaired.set_aside) if repaired is not None else 0)
    return ExitCode.FOUND if remaining > 0 else ExitCode.DONE


def reminders(
    workspace: WorkspaceFolder,
    *,
    drop: Ids = (),
    keep: Ids = (),
    undo: Ids = (),
    why: str = "",
    as_json: Annotated[bool, Parameter(name="--json")] = False,
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
            say(decided(decisions, workspace))
            return
        candidates = list(find_candidates(opened, decisions))
    say(to_json(candidates, decisions) if as_json else listed(candidates, decisions))


KEY_LOST = "The key of the pseudonyms is lost: reviewers get different pseudonyms from those in earlier releases."
LISTED = 20
"""Most damages listed."""


def found(integrity: "Integrity") -> str:
    """Return what was checked, and what is damaged."""
    checked = (
        f"{plural(integrity.objects, 'object')}, {plural(integrity.files, 'PDF')},"
        f" {plural(integrity.texts, 'cached text')} and {plural(integrity.tables, 'part')} of tables checked"
    )
    if not integrity.damages:
        lines = [f"{checked}: all unchanged since they were stored."]
    else:
        count = len(integrity.damages)
        lines = [f"{checked}; damaged: {count:,}."]
        lines += [_name(damage) for damage in integrity.damages[:LISTED]]
        if count > LISTED:
            lines.append(f"… and {count - LISTED:,} more.")
        if any(damage.held.value == "database" for damage in integrity.damages):
            lines.append(
                "SQLite cannot read all of raw.db: restore a backup, or recover the intact part with 'peercorpus check"
                " --repair'."
            )
    if integrity.lost:
        lines.append(
            f"{plural(len(integrity.lost), 'object')} that a repair set aside"
            f" {verb(len(integrity.lost), 'has', 'have')} not been received again. A version that no later"
            " harvest or import has brought back is lost:"
        )
        lines += [f"- {each.kind} {each.object_id} of {each.venue_id}" for each in integrity.lost[:LISTED]]
    return "\n".join(lines)


def _name(damage: "Damage") -> str:
    of = f" of {damage.venue_id}" if damage.venue_id else ""
    return f"- {damage.held.value}: {damage.name}{of}: {damage.detail}"


def recovered(recovery: "Recovery", workspace: Path) -> str:
    """Return what was recovered from a damaged raw.db, what is lost, and the commands that bring it back."""
    lines = [
        f"raw.db was damaged. {plural(recovery.objects, 'object')} {verb(recovery.objects, 'is', 'are')} intact and in"
        f" the new one; at least {recovery.lost:,} {verb(recovery.lost, 'is', 'are')} not. The"
        f" damaged one is '{recovery.kept}'."
    ]
    if not recovery.has_key:
        lines.append(KEY_LOST)
    lines.append(
        f"Next: peercorpus harvest {' '.join(recovery.venue_ids)} --workspace {workspace} requests all lists and"
        " histories again; import your files again; then run 'peercorpus build'."
    )
    return "\n".join(lines)


def describe_repair(repair: "Repair", workspace: Path) -> str:
    """Return what was set aside, and the commands that bring it back."""
    if not repair.set_aside:
        return "Nothing was set aside."
    steps = []
    if repair.harvest:
        steps.append(f"peercorpus harvest {' '.join(repair.harvest)} --workspace {workspace}")
    steps += [f"import '{source}' again" for source in repair.imported]
    steps.append(f"peercorpus build --workspace {workspace} --retry")
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    lost = f"\n{KEY_LOST}" if repair.has_new_key else ""
    return f"{len(repair.set_aside):,} set aside or stored again.{lost} Next:\n{listed}"


def describe_move(result: "MoveResult", workspace: Path) -> str:
    """Return where files and tables are now."""
    destination = str(workspace) if result.place == HERE else result.place
    return (
        f"{plural(result.files, 'file')} and the tables, {size(result.size_bytes)} in total, are at {destination};"
        f" {plural(result.copied, 'part')} {verb(result.copied, 'was', 'were')} copied."
    )


_POST_CHARACTERS = 600
_BESIDE_CHARACTERS = 120
"""Longest excerpts of a post to decide on, and of those before and after it."""
RESULTS = {
    "taken": "the rule takes it for a reminder",
    "kept_for_its_place": "its words only urge, but somebody replies to it or the authors have not answered before",
    "kept_for_its_words": "the rule keeps it",
    "clearly_kept": "the rule keeps it",
}
"""What the rule makes of a post, in words."""


def listed(candidates: Sequence["Candidate"], decisions: "Decisions") -> str:
    """Return the posts to decide on, those that the rule takes first, and a last line with their numbers."""
    order = list(RESULTS)
    ranked = sorted(candidates, key=lambda one: (order.index(one.result), len(one.objections)))
    results = Counter(one.result.value for one in candidates)
    nearly = results["kept_for_its_place"] + results["kept_for_its_words"]
    taken = plural(results["taken"], "post")
    last = f"The rule takes {taken} for reminders and keeps {nearly:,} that nearly match it; {_count(decisions)}."
    unheld = [post_id for post_id in decisions if post_id not in {one.post.post_id for one in candidates}]
    lost = [f"No post of a conversation has this id, so its decision has no effect: {post_id}" for post_id in unheld]
    return "\n".join([*map(_describe, ranked), *lost, last])


def _count(decisions: "Decisions") -> str:
    verdicts = Counter(decision.verdict.value for decision in decisions.values())
    return f"decided by hand: {verdicts['reminder']:,} to leave out, {verdicts['keep']:,} to keep"


def _describe(candidate: "Candidate") -> str:
    post = candidate.post
    whose = f"conversation with {escape_controls(candidate.reviewer)}" if candidate.reviewer else "to several or others"
    lines = [
        f"{post.post_id}  (paper {post.forum_id}, {whose})",
        f"  rule: {RESULTS[candidate.result.value]}; score {len(candidate.objections)}",
        *(f"    {escape_controls(objection)}" for objection in candidate.objections),
    ]
    if candidate.decision is not None:
        decision = candidate.decision
        told = ", ".join(str(part) for part in (decision.day, escape_controls(decision.note)) if part)
        lines.append(f"  decided: {decision.verdict.value}{f' ({told})' if told else ''}")
    lines += [f"  before: {_quote(one, _BESIDE_CHARACTERS)}" for one in candidate.before]
    lines.append(f"  > {_quote(post, _POST_CHARACTERS)}")
    lines += [f"  after: {_quote(one, _BESIDE_CHARACTERS)}" for one in candidate.after]
    return "\n".join([*lines, ""])


def _quote(post: "Post", most: int) -> str:
    day = f"{post.created_at:%Y-%m-%d %H:%M} " if post.created_at else ""
    title = f"[{' '.join(post.title.split())}] " if post.title else ""
    words = f"{title}{' '.join(post.text.split())}" or "(no words)"
    return f"{day}{post.role.value.replace('_', ' ')}: {escape_controls(words, most)}"


def to_json(candidates: Sequence["Candidate"], decisions: "Decisions") -> str:
    """Return the posts to decide on, whole, and every decision as JSON."""
    told = [
        {
            "post_id": one.post_id,
            "decision": one.verdict.value,
            "decided_on": str(one.day or "") or None,
            "note": one.note,
        }
        for one in decisions.values()
    ]
    return json.dumps({"posts": [one.to_json() for one in candidates], "decisions": told}, indent=1, ensure_ascii=False)


def decided(decisions: "Decisions", workspace: Path) -> str:
    """Return how many decisions there are, and that they need a build."""
    where = shlex.quote(str(workspace))
    return f"{_count(decisions).capitalize()}. Run 'peercorpus build --workspace {where}' to apply it."
