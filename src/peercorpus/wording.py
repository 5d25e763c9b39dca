"""What the command line says: summaries and progress as plain text."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from peercorpus.demo import DemoResult
from peercorpus.harvest.dumps import ImportSummary, Taken
from peercorpus.harvest.plan import PlannedStep, VenuePlan
from peercorpus.harvest.run import HarvestSummary
from peercorpus.moving import Moved
from peercorpus.pipeline import Step
from peercorpus.placement import HERE
from peercorpus.progress import Progress
from peercorpus.publish.dialogues import Written
from peercorpus.publish.export import Exported
from peercorpus.publish.splits import Side
from peercorpus.publish.takedown import Takedown
from peercorpus.publish.tally import PublishSummary
from peercorpus.raw import Kind
from peercorpus.records import Conversation, Turn

LONGEST_EXAMPLE = 80
"""Characters of an id, a name or a title that are shown."""

EXCERPT_CHARACTERS = 240
"""How much of a turn is shown."""


def plural(number: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "paper"), plural(1200, "paper")
    ('1 paper', '1,200 papers')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def printable(text: str, most: int = LONGEST_EXAMPLE) -> str:
    r"""A text from outside as a terminal may show it: control characters and the like are written as escapes.

    >>> printable("\x1b[31mred\u202e"), printable("ab" * 40, most=6)
    ('\\x1b[31mred\\u202e', 'ababab…')
    """
    shown = text if len(text) <= most else f"{text[:most]}…"
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in shown)


def duration(seconds: float) -> str:
    """Seconds in the words of a person.

    >>> duration(4.2), duration(75), duration(7300)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def progress_line(progress: Progress) -> str:
    """How far a piece of work is, on one line; the time left where it is known and not over."""
    total = "" if progress.total is None else f" of {progress.total:,}"
    left = ""
    if progress.eta_s is not None and progress.done != progress.total:
        left = f", about {duration(progress.eta_s)} left"
    return f"{printable(progress.venue_id)}: {progress.what} {progress.done:,}{total}{left}"


def built(steps: Sequence[Step]) -> str:
    """What a build did."""
    ran = [step for step in steps if not step.was_finished]
    if not ran:
        return f"Nothing to do: all {len(steps)} steps are up to date."
    seconds = sum(step.seconds for step in ran)
    return f"{plural(len(ran), 'step')} run in {duration(seconds)}, {len(steps) - len(ran)} already up to date."


def _taken(kind: Kind, found: Taken) -> str:
    noun = "published record" if kind is Kind.PUBLISHED else kind.value
    return f"{plural(found.total, noun)} ({found.new:,} new)"


def imported(summary: ImportSummary) -> str:
    """What an import took, file by file, and what it did not, with the reasons."""
    lines = []
    for file in summary.files:
        taken = [_taken(kind, found) for kind, found in file.taken.items()]
        lines.append(f"{file.name}: {', '.join(taken) or 'nothing taken'}")
        lines.extend(f"  left out: {number:,}, {reason}" for reason, number in file.left_out.items())
        if file.problem and not file.left_out:
            lines.append(f"  left out: {file.problem}")
    sums = ((kind, summary.taken(kind)) for kind in Kind)
    totals = [_taken(kind, total) for kind, total in sums if total.total]
    return "\n".join([*lines, f"Taken in all: {', '.join(totals) or 'nothing'}."])


def excerpt(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARACTERS else line[:EXCERPT_CHARACTERS].rsplit(" ", 1)[0] + " …"


def conversation_lines(conversation: Conversation) -> str:
    """A conversation to look at: who speaks, and how each turn begins."""
    lines = [f"The conversation with {conversation.reviewer} of {conversation.forum_id} ({conversation.venue_id}):"]
    for turn in conversation.turns:
        posts = f", {len(turn.post_ids)} posts merged" if len(turn.post_ids) > 1 else ""
        when = f"{turn.created_at:%Y-%m-%d}" if turn.created_at else "no date"
        lines.append(f"  {turn.role.value} ({when}{posts}): {excerpt(turn.text or _unspoken(turn))}")
    return "\n".join(lines)


def _unspoken(turn: Turn) -> str:
    """What happened at a turn that has no post of its own."""
    changed = [f"{change.field} {_number(change.before)} → {_number(change.after)}" for change in turn.score_changes]
    return "; ".join([*changed, turn.final_justification or ""]).strip("; ")


def _number(score: float | None) -> str:
    return "?" if score is None else f"{score:g}"


def demo_summary(result: DemoResult) -> str:
    """What a demo made: the counts, one conversation, and where it lies."""
    made = ", ".join(
        [
            plural(result.papers, "paper"),
            plural(result.reviews, "review"),
            plural(result.conversations, "conversation"),
        ]
    )
    places = f"The corpus lies in {result.workspace}, the dataset in {result.release}."
    return f"\n{conversation_lines(result.example)}\n\nMade {made}.\n{places}"


def harvested(summary: HarvestSummary) -> str:
    """What is held of a venue after a harvest."""
    held = [
        plural(summary.submissions, "submission"),
        f"{summary.replies:,} replies",
        plural(summary.edits, "edit"),
        plural(summary.files, "file"),
    ]
    reasons = ", ".join(f"{reason}: {number:,}" for reason, number in summary.files_not_had.items())
    missing = f", not to be had: {plural(sum(summary.files_not_had.values()), 'file')} ({reasons})" if reasons else ""
    brought = [f"{summary.came:,} new or changed"] if summary.came else []
    brought += [f"{plural(summary.files_came, 'file')} fetched"] if summary.files_came else []
    came = ", ".join(brought) or "nothing new"
    asked = f"{plural(summary.requests, 'request')}, {came}"
    line = f"{summary.venue_id} (API v{summary.api}): {', '.join(held)}{missing}; {asked}."
    return "\n".join([line, *(f"  {remark}" for remark in summary.remarks)])


def planned(plans: Sequence[VenuePlan]) -> str:
    """What a harvest will ask for, step by step, and what OpenReview's budget makes of it."""
    lines: list[str] = []
    for plan in plans:
        lines.append(f"{plan.venue_id} (API v{plan.api})")
        lines.extend(_planned_step(step) for step in plan.steps)
    steps = [step for plan in plans for step in plan.steps]
    rough = "at least " if any(step.is_rough for step in steps) else ""
    requests, size = sum(step.requests for step in steps), sum(step.size_bytes for step in steps)
    waits = duration(sum(step.seconds for step in steps))
    lines.append(
        f"In all {rough}{plural(requests, 'request')}, {waits} of waiting for the budget,"
        f" about {_size(size)}. Nothing was fetched; leave out --plan to begin."
    )
    if rough:
        lines.append("Earlier versions and their files come on top: plan again once the submissions are listed.")
    if not all(step.is_announced for step in steps):
        lines.append("A budget that OpenReview has not announced here yet is the one others were given in 2026.")
    return "\n".join(lines)


def _planned_step(step: PlannedStep) -> str:
    unit = {"listing": "submission", "versions": "note", "files": "file"}[step.what]
    rough = "at least " if step.is_rough else ""
    limit, window_s = step.allowed
    source = "announced" if step.is_announced else "not announced yet"
    wait = f"waits {duration(step.seconds)}" if step.seconds >= 1 else "no waiting"
    size = f", about {_size(step.size_bytes)}" if step.size_bytes else ""
    asked = f"{rough}{plural(step.requests, 'request')} for {rough}{plural(step.things, unit)}"
    return f"  {step.what:<9} {asked}{size}: {wait} ({limit:,} in {duration(window_s)}, {source})"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.0f} MB" if size_bytes < 1e9 else f"{size_bytes / 1e9:,.1f} GB"


def how_to_load(release: Path, *, conversations: bool = True) -> str:
    """The lines of Python that load a release."""
    folder = json.dumps(str(release), ensure_ascii=False)
    lines = [
        "Load it in Python (pip install datasets):",
        "  from datasets import load_dataset",
        f'  papers = load_dataset({folder}, "papers")',
        f'  conversations = load_dataset({folder}, "conversations")',
    ]
    return "\n".join(lines if conversations else lines[:-1])


def published(summary: PublishSummary, out: Path) -> str:
    """What a release holds, and how to load it."""
    held = (
        f"{plural(summary.papers, 'paper')} ({summary.with_text:,} with the text that was reviewed),"
        f" {plural(summary.reviews, 'review')} and {plural(summary.conversations, 'conversation')}"
    )
    taken = f"  left out: taken down {_records(summary.taken_down)}\n" if summary.taken_down else ""
    used = [
        f"  {task}: {', '.join(f'{sides[side]:,} {side}' for side in reversed(Side))}"
        for task, sides in summary.used.items()
    ]
    drawn = "\n".join(["Papers to train and test on, by task:", *used, ""]) if used else ""
    return f"{held} are in {out}.\n{taken}{drawn}{how_to_load(out, conversations=summary.conversations > 0)}"


def _records(counts: Mapping[str, int]) -> str:
    """Counts by kind, each kind in the plural: "1 paper, 2 reviews"."""
    return ", ".join(plural(count, kind.removesuffix("s")) for kind, count in counts.items() if count) or "nothing"


def taken_down(takedown: Takedown, taken: Mapping[str, int]) -> str:
    """What each id of the list takes out, and what the next release will leave out for all of them."""
    lines = [
        f"{one.listed}: {_records({'papers': len(one.forums), 'posts': len(one.posts)})}"
        if one.forums or one.posts
        else f"{one.listed}: nothing in the tables has this id; it stays listed."
        for one in takedown.ids
    ]
    return "\n".join([*lines, f"The next release leaves out: {_records(taken)}."])


def dialogues(written: Written, out: Path) -> str:
    """How many dialogues were written, and what is not among them."""
    tokens = "" if written.tokens is None else f", {written.tokens:,} tokens"
    number, messages = plural(written.dialogues, "dialogue"), plural(written.messages, "message")
    lines = [f"{number} with {messages}{tokens} are in {out}."]
    lines += [f"  left out {number:,}: {reason}" for reason, number in sorted(written.left_out.items())]
    lines += [f"  left out: taken down {_records(written.taken_down)}"] if written.taken_down.total() else []
    return "\n".join(lines)


def exported(found: Exported, out: Path) -> str:
    """What an export holds, file by file, and what it does not."""
    lines = [f"The {found.wanted.layout} files are in {out}; its README.md says how to open them."]
    for file in found.files:
        rows, papers = plural(file.samples.rows, "row"), plural(file.samples.papers, "paper")
        lines.append(f"{file.name}: {rows} of {papers}" if file.samples.rows else f"{file.name}: not written, no rows")
        lines += [f"  left out {number:,}: {reason}" for reason, number in sorted(file.samples.left_out.items())]
        lines += [f"  {file.samples.cut:,} with a cut paper"] if file.samples.cut else []
        lines += [f"  {file.samples.unanswered:,} end before an unanswered message"] if file.samples.unanswered else []
    return "\n".join(lines)


def entitled(given: int, unanswered: int) -> str:
    """How many titles a model gave."""
    kept = f"; {plural(unanswered, 'turn')} kept the title of the posts, as it gave none" if unanswered else ""
    return f"{plural(given, 'title')} by the model{kept}."


def moved(found: Moved, workspace: Path) -> str:
    """Where files and tables lie now."""
    place = str(workspace) if found.place == HERE else found.place
    return (
        f"{plural(found.files, 'file')} and the tables, {_size(found.size_bytes)} in all, lie at {place};"
        f" {found.copied:,} parts were copied."
    )


def next_step(command: str, workspace: Path, rest: str = "") -> str:
    """The command to type next, ready to paste."""
    return f"Next: peercorpus {command} --workspace {shlex.quote(str(workspace))} {rest}".rstrip()


def real_venue(program: str) -> str:
    """What to type for a real venue."""
    return (
        "For a real venue, with an account of OpenReview:\n"
        f"  {program} login\n"
        f"  {program} harvest ICLR.cc/2024/Conference --workspace corpus --limit 20\n"
        f"  {program} build --workspace corpus\n"
        f"  {program} publish --workspace corpus --out release"
    )
