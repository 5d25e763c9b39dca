"""Texts that commands print at their end: what was done, what was left out and why, and where the result is."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.cli.text.formatting import conversation_lines, duration, plural, size
from peercorpus.cli.text.losses import lost
from peercorpus.finetune.other_trainers import STARTED, Trainer
from peercorpus.finetune.run_folder import ADAPTER, DATA, LESSONS, RunFile, TrainingResult
from peercorpus.records.untrusted_text import escape_controls
from peercorpus.release.splits import Split
from peercorpus.workspace.placement import HERE
from peercorpus.workspace.raw_store import RawKind

if TYPE_CHECKING:
    from peercorpus.cli.demo import DemoResult
    from peercorpus.corpus.takedown import Takedown
    from peercorpus.harvest.harvest import HarvestSummary
    from peercorpus.harvest.import_dumps import ImportCounts, ImportSummary
    from peercorpus.harvest.import_pdfs import PdfImport
    from peercorpus.harvest.plan import PlannedStep, VenuePlan
    from peercorpus.pipeline.build import StepResult
    from peercorpus.pipeline.losses import SourceLoss
    from peercorpus.release.counts import PublishSummary
    from peercorpus.release.exports.layouts import Exported
    from peercorpus.release.exports.workspace_export import WorkspaceExport
    from peercorpus.texts.folder import FolderSummary
    from peercorpus.workspace.move import MoveResult
    from peercorpus.workspace.object_store import Location


def built(steps: Sequence["StepResult"], losses: Sequence["SourceLoss"] = ()) -> str:
    """Return the sources that are mostly set aside, if any, then how many steps a build ran, and how long they took."""
    return "\n".join([*lost(losses, is_built=True), _steps_run(steps)])


def _steps_run(steps: Sequence["StepResult"]) -> str:
    ran = [step for step in steps if not step.was_finished]
    if not ran:
        return f"Nothing to do: all {len(steps)} steps are up to date."
    seconds = sum(step.seconds for step in ran)
    return f"{plural(len(ran), 'step')} run in {duration(seconds)}, {len(steps) - len(ran)} already up to date."


def unheld(venue_id: str, held: Sequence[str]) -> str:
    """Return that `venues.toml` has a row of a venue that the workspace does not hold, with the nearest that it does.

    >>> unheld("Bay.org/2031", ["Bays.org/2031"])
    "venues.toml has a row of 'Bay.org/2031', of which the workspace holds nothing; did you mean 'Bays.org/2031'?"
    """
    close = get_close_matches(venue_id, held, n=1, cutoff=0.8)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    return f"venues.toml has a row of '{escape_controls(venue_id)}', of which the workspace holds nothing{hint}"


def _taken(kind: RawKind, counts: "ImportCounts") -> str:
    noun = "published record" if kind is RawKind.PUBLISHED else kind.value
    return f"{plural(counts.total, noun)} ({counts.new:,} new)"


def imported(summary: "ImportSummary", losses: Sequence["SourceLoss"] = ()) -> str:
    """Return the files that will mostly be set aside, if any, then what each file held, and what was left out and why.

    The last line counts what was stored; it says so if nothing of it can be used.
    """
    lines = lost(losses, is_built=False)
    for file in summary.files:
        imports = [_taken(kind, counts) for kind, counts in file.taken.items()]
        lines.append(f"{file.name}: {', '.join(imports) or 'nothing imported'}")
        if file.unnamed and file.venue_id:
            lines.append(f"  venue, where the notes of a forum name none: {file.venue_id}")
        lines.extend(f"  left out: {number:,}, {reason}" for reason, number in file.left_out.items())
        if file.problem and not file.left_out:
            lines.append(f"  left out: {file.problem}")
    sums = ((kind, summary.taken(kind)) for kind in RawKind)
    totals = [_taken(kind, total) for kind, total in sums if total.total]
    if is_useless(summary, losses):
        return "\n".join([*lines, f"Stored, but of no use as it is: {', '.join(totals) or 'nothing'}."])
    return "\n".join([*lines, f"Imported in total: {', '.join(totals) or 'nothing'}."])


def is_useless(summary: "ImportSummary", losses: Sequence["SourceLoss"]) -> bool:
    """Return whether all that an import stored will be set aside."""
    useless = {loss.source for loss in losses if loss.total == loss.records}
    return bool(useless) and all(file.name in useless for file in summary.files if file.taken)


def imported_pdfs(found: "PdfImport") -> str:
    """Return how many PDFs were taken and as what, and a sentence on each that was not."""
    counts = (
        f"{found.tied:,} tied to a known version, {found.own:,} as versions of their own, {found.known:,} held already"
    )
    return "\n".join([*map(_printable, found.aside), f"Imported {plural(found.taken, 'PDF')}: {counts}."])


def _printable(sentence: str) -> str:
    return f"  left out: {escape_controls(sentence, 400)}"


def demo_summary(result: "DemoResult") -> str:
    """Return what a demo made: one conversation, the counts, and where everything is."""
    contents = ", ".join(
        [
            plural(result.papers, "paper"),
            plural(result.reviews, "review"),
            plural(result.conversations, "conversation"),
        ]
    )
    places = f"The corpus is in {result.workspace}, the dataset in {result.release}."
    return f"\n{conversation_lines(result.example)}\n\nMade {contents}.\n{places}"


def harvested(summary: "HarvestSummary") -> str:
    """Return what the workspace has of a venue after a harvest, and what the harvest brought."""
    contents = [
        plural(summary.submissions, "submission"),
        f"{summary.replies:,} replies",
        plural(summary.edits, "edit"),
        plural(summary.files, "file"),
    ]
    reasons = ", ".join(f"{reason}: {number:,}" for reason, number in summary.files_not_had.items())
    missing = f", not available: {plural(sum(summary.files_not_had.values()), 'file')} ({reasons})" if reasons else ""
    brought = [f"{summary.came:,} new or changed"] if summary.came else []
    brought += [f"{plural(summary.files_came, 'file')} fetched"] if summary.files_came else []
    came = ", ".join(brought) or "nothing new"
    asked = f"{plural(summary.requests, 'request')}, {came}"
    line = f"{summary.venue_id} (API v{summary.api}): {', '.join(contents)}{missing}; {asked}."
    return "\n".join([line, *(f"  {remark}" for remark in summary.remarks)])


def planned(plans: Sequence["VenuePlan"]) -> str:
    """Return the requests, waiting time and size of each step of a planned harvest, and in total."""
    lines: list[str] = []
    for plan in plans:
        lines.append(f"{plan.venue_id} (API v{plan.api})")
        lines.extend(_planned_step(step) for step in plan.steps)
    steps = [step for plan in plans for step in plan.steps]
    rough = "at least " if any(step.is_rough for step in steps) else ""
    requests = sum(step.requests for step in steps)
    size_bytes = sum(step.size_bytes for step in steps)
    waits = duration(sum(step.seconds for step in steps))
    lines.append(
        f"In total {rough}{plural(requests, 'request')}, {waits} of waiting for the rate limit,"
        f" about {size(size_bytes)}. Nothing was fetched; leave out --plan to begin."
    )
    if rough:
        lines.append("Earlier versions and their files are not included: plan again once the submissions are listed.")
    if not all(step.is_announced for step in steps):
        lines.append("For limits that OpenReview has not announced yet, those seen in 2026 are assumed.")
    return "\n".join(lines)


def _planned_step(step: "PlannedStep") -> str:
    unit = {"listing": "submission", "versions": "note", "files": "file"}[step.what]
    rough = "at least " if step.is_rough else ""
    limit, window_s = step.allowed
    source = "announced" if step.is_announced else "not announced yet"
    wait = f"waits {duration(step.seconds)}" if step.seconds >= 1 else "no waiting"
    megabytes = f", about {size(step.size_bytes)}" if step.size_bytes else ""
    asked = f"{rough}{plural(step.requests, 'request')} for {rough}{plural(step.things, unit)}"
    return f"  {step.what:<9} {asked}{megabytes}: {wait} ({limit:,} in {duration(window_s)}, {source})"


def how_to_load(release: Path, *, conversations: bool = True) -> str:
    """Return the lines of Python that load a release."""
    folder = json.dumps(str(release), ensure_ascii=False)
    lines = [
        "Load it in Python (pip install datasets):",
        "  from datasets import load_dataset",
        f'  papers = load_dataset({folder}, "papers")',
        f'  conversations = load_dataset({folder}, "conversations")',
    ]
    return "\n".join(lines if conversations else lines[:-1])


def published(summary: "PublishSummary", out: Path) -> str:
    """Return what a release contains, what was taken down, the splits, and how to load it."""
    counts = (
        f"{plural(summary.papers, 'paper')} ({summary.with_text:,} with the reviewed text),"
        f" {plural(summary.reviews, 'review')} and {plural(summary.conversations, 'conversation')}"
    )
    rows = Counter[str]()
    for split in summary.splits:
        rows[split.config] += split.rows
    listed = f"  rows: {', '.join(f'{config} {count:,}' for config, count in rows.items())}\n"
    left_out = f"  left out: taken down {_records(summary.taken_down)}\n" if summary.taken_down else ""
    used = [
        f"  {task}: {', '.join(f'{sides[side]:,} {side}' for side in reversed(Split))}"
        for task, sides in summary.used.items()
    ]
    splits = "\n".join(["Papers by task and split:", *used, ""]) if used else ""
    loading = how_to_load(out, conversations=summary.conversations > 0)
    return f"{counts} are in {out}.\n{listed}{left_out}{splits}{loading}"


def _records(counts: Mapping[str, int]) -> str:
    """Return counts by kind, such as "1 paper, 2 reviews"; the kinds are given in the plural."""
    return ", ".join(plural(count, kind.removesuffix("s")) for kind, count in counts.items() if count) or "nothing"


def taken_down(takedown: "Takedown", counts: Mapping[str, int]) -> str:
    """Return what each id of the takedown list removes, and what the next release leaves out because of all of them."""
    lines = [
        f"{entry.listed}: {_records({'papers': len(entry.forums), 'posts': len(entry.posts)})}"
        if entry.forums or entry.posts
        else f"{entry.listed}: nothing in the tables has this id; it stays listed."
        for entry in takedown.ids
    ]
    return "\n".join([*lines, f"The next release leaves out: {_records(counts)}."])


def workspace_exported(written: "WorkspaceExport", out: Path) -> str:
    """Return how many dialogues of a workspace were written, and what is not among them."""
    tokens = "" if written.tokens is None else f", {written.tokens:,} tokens"
    number, messages = plural(written.dialogues, "dialogue"), plural(written.messages, "message")
    lines = [f"{number} with {messages}{tokens} are in {out}."]
    lines += [f"  left out {number:,}: {reason}" for reason, number in sorted(written.left_out.items())]
    lines += [f"  {written.cut:,} with a cut paper"] if written.cut else []
    lines += _after_decision(written.after_decision)
    lines += [f"  left out: taken down {_records(written.taken_down)}"] if written.taken_down.total() else []
    return "\n".join(lines)


def _after_decision(turns: int) -> list[str]:
    """Return what is said of turns that were posted after the decision; empty if there are none."""
    return [f"  left out: {plural(turns, 'turn')} posted after the decision"] if turns else []


def exported(export: "Exported", out: Path) -> str:
    """Return what each file of an export contains, and what was left out and why."""
    lines = [f"The {export.wanted.layout} files are in {out}; its README.md says how to open them."]
    for file in export.files:
        rows, papers = plural(file.samples.rows, "row"), plural(file.samples.papers, "paper")
        tokens = "" if file.samples.tokens is None else f", {file.samples.tokens:,} tokens"
        lines.append(
            f"{file.name}: {rows} of {papers}{tokens}" if file.samples.rows else f"{file.name}: not written, no rows"
        )
        lines += [f"  left out {number:,}: {reason}" for reason, number in sorted(file.samples.left_out.items())]
        lines += [f"  {file.samples.cut:,} with a cut paper"] if file.samples.cut else []
        lines += [f"  {file.samples.unanswered:,} end before an unanswered message"] if file.samples.unanswered else []
        lines += _after_decision(file.samples.after_decision)
    return "\n".join(lines)


def entitled(titles: int, unanswered: int) -> str:
    """Return how many titles a model wrote."""
    kept = f"; {plural(unanswered, 'turn')} without an answer kept the title of the posts" if unanswered else ""
    return f"{plural(titles, 'title')} by the model{kept}."


def moved(result: "MoveResult", workspace: Path) -> str:
    """Return where files and tables are now."""
    destination = str(workspace) if result.place == HERE else result.place
    return (
        f"{plural(result.files, 'file')} and the tables, {size(result.size_bytes)} in total, are at {destination};"
        f" {result.copied:,} parts were copied."
    )


def real_venue(program: str) -> str:
    """Return the commands for a real venue."""
    return (
        "For a real venue, with an OpenReview account:\n"
        f"  {program} login\n"
        f"  {program} harvest ICLR.cc/2024/Conference --workspace corpus --limit 20\n"
        f"  {program} build --workspace corpus\n"
        f"  {program} publish --workspace corpus --out release"
    )


_SHOWN_FILES = 20
"""Files named in the text; the JSON next to each has the same information."""


def _file_lines(files: Sequence[tuple["Location", str]]) -> list[str]:
    lines = [
        f"  {escape_controls(str(source), 500)}: {escape_controls(detail, 200)}"
        for source, detail in files[:_SHOWN_FILES]
    ]
    return lines if len(files) <= _SHOWN_FILES else [*lines, f"  and {plural(len(files) - _SHOWN_FILES, 'other')}"]


def converted(summary: "FolderSummary", out: "Location") -> str:
    """Return how many PDFs were converted, which could not be and why, and where the texts are."""
    lines = []
    if summary.converted:
        pace = f"{plural(summary.pages, 'page')} in {duration(summary.seconds)}"
        if summary.seconds > 0:
            pace += f", {summary.pages / summary.seconds:.1f} pages/s"
        lines.append(f"{plural(summary.converted, 'PDF')} became Markdown: {pace}.")
    if summary.already:
        lines.append(f"{plural(summary.already, 'PDF')} had become Markdown before.")
    if summary.repeated:
        lines.append(f"{plural(summary.repeated, 'PDF')} given twice, with the same content and name.")
    if summary.renamed:
        lines.append(
            f"{plural(len(summary.renamed), 'PDF')} written under another name, as theirs is taken or not allowed:"
        )
        lines += _file_lines([(source, name) for source, name in summary.renamed])
    if summary.failures:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(summary.failed.items()))
        lines.append(f"{plural(len(summary.failures), 'PDF')} did not become text ({reasons}):")
        lines += _file_lines(summary.failures)
    return "\n".join([*lines, f"The texts and their quality reports are in '{escape_controls(str(out), 500)}'."])


def lessons(run: RunFile) -> str:
    """Return how many training examples there are, what was left out and why, and that no test paper is among them."""
    train, validation = (
        f"{plural(run.lessons[side], 'example')} from {plural(run.papers[side], 'paper')}"
        for side in ("train", "validation")
    )
    lines = [f"Training: {train}. Validation: {validation}."]
    lines += [f"  left out, {reason}: {count:,}" for reason, count in run.left_out["train"].items()]
    held_out, links = run.fitness["held_out"], run.fitness["links"]
    link_check = (
        "the release has no links: no paper was found that was submitted twice, or none was looked for"
        if links is None
        else f"none of {links:,} links between papers crosses the sides"
    )
    lines.append(f"None of them is among the {held_out:,} papers to test and validate on, and {link_check}.")
    return "\n".join(lines)


def tuned(folder: Path, trained: TrainingResult) -> str:
    """Return the result of a training run: the loss, and where the adapter is."""
    loss = (
        "No validation loss was measured"
        if trained.first is None or trained.last is None
        else f"Loss on the validation side: {trained.first:.4f} before, {trained.last:.4f} after"
    )
    return (
        f"{loss}, in {plural(trained.steps, 'step')}.\nThe adapter is {folder / ADAPTER}; its training examples are"
        f" listed in {folder / DATA / LESSONS}.\nTest it: peercorpus bench --release RELEASE --model {folder / ADAPTER}"
    )


def handed_over(folder: Path, trainer: Trainer) -> str:
    """Return where the files for another trainer are, and the command that starts it."""
    return (
        f"The training examples and settings are in {folder}, with a list of settings that are not carried over;"
        f" start there: {STARTED[trainer]}"
    )


def merged(folder: Path) -> str:
    """Return where the model with the merged adapter is."""
    return f"The merged model is {folder}."


def not_listed(listed: str) -> str:
    """Return that an id was not on the takedown list."""
    return f"{listed}: was not listed."
