"""The commands `diff`, `verify`, `push` and `export`."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from peercorpus.cli.console import AtLeastOne, Named, OptionalWorkspace, ProgressLines, say
from peercorpus.cli.extras import require_extra
from peercorpus.cli.finetune import ALL_DATA, Data, selection_rule
from peercorpus.cli.options import HERE, open_executor
from peercorpus.errors import ExitCode, PeercorpusError
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.wording.counted_nouns import plural

if TYPE_CHECKING:
    from peercorpus.finetune.other_trainers import Trainer
    from peercorpus.release.exports.layouts import Exported
    from peercorpus.release.exports.samples import PromptOptions
    from peercorpus.release.folder import Release
    from peercorpus.release.verify.verify import Verification


ReleaseFolder = Annotated[Path, Named]


def diff(
    release_a: ReleaseFolder,
    release_b: ReleaseFolder,
    /,
    *,
    ids: bool = False,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """Compare two releases: rows added, changed and removed by venue, papers whose split changed, columns that differ.

    A row counts as changed if a column that both releases have differs. Removed rows that the later release counts
    as taken down are shown separately.

    Parameters
    ----------
    release_a
        Folder of the earlier release.
    release_b
        Folder of the later release.
    ids
        List the ids.
    json_
        Print one JSON object.
    """
    import json

    from peercorpus.cli.text import releases
    from peercorpus.release.diff import diff_to_dict, find_differences
    from peercorpus.release.folder import open_release

    earlier, later = open_release(release_a, is_whole=False), open_release(release_b, is_whole=False)
    with ProgressLines() as lines:
        differences = find_differences(earlier, later, lines.show)
    if json_:
        say(json.dumps(diff_to_dict(differences, with_ids=ids), indent=1, ensure_ascii=False))
    else:
        say(releases.differences_table(differences, with_ids=ids))


def verify(
    release: ReleaseFolder,
    /,
    *,
    workspace: OptionalWorkspace = None,
    json_: Annotated[bool, Parameter(name="--json")] = False,
) -> int:
    """Check a release against its own statements: checksums, columns, ids, splits, links, takedowns and leaks.

    Exit with 1 if a check fails. Each fault is printed with its file and id, at most ten of a kind. With --workspace,
    or if the release is in a workspace, it is also checked against the workspace's takedown.txt, and compared with
    the tables it was made from.

    Parameters
    ----------
    release
        Folder of the release.
    workspace
        Folder of the workspace to check against. Default: the one around the release, if there is one.
    json_
        Print one JSON object, with the first faults of each check.
    """
    from peercorpus.cli.text import releases
    from peercorpus.release.folder import open_release

    opened = open_release(release, is_whole=False)
    verification = _verify(opened, workspace)
    say(releases.verification_to_json(verification) if json_ else releases.verified(verification))
    return ExitCode.DONE if verification.holds else ExitCode.FOUND


def _verify(release: "Release", workspace: Path | None) -> "Verification":
    """Check a release, against the named workspace or the one that contains it."""
    from peercorpus.release.verify.verify import verify_release
    from peercorpus.workspace.workspace import find_workspace_around, open_workspace

    source = workspace or find_workspace_around(release.folder)
    with ExitStack() as stack:
        opened = None if source is None else stack.enter_context(open_workspace(source, write=False))
        lines = stack.enter_context(ProgressLines())
        return verify_release(release, opened, lines.show)


def push(
    release: ReleaseFolder,
    hub_id: Annotated[str, Parameter(help="Id of the dataset on the Hub: OWNER/NAME.")],
    /,
    *,
    yes: bool = False,
    private: bool = False,
    workspace: OptionalWorkspace = None,
) -> int:
    """Upload a release to the Hugging Face Hub in one commit. Without --yes, only print what would be uploaded.

    The release is verified first, against the takedown.txt of --workspace or of the workspace it is in. If a check
    fails, nothing is uploaded, and the command exits with 1. Files of an earlier release on the Hub are removed,
    other files are kept. The token is read from HF_TOKEN or from where 'hf auth login' stores it, the Hub's URL
    from HF_ENDPOINT. To resume an interrupted upload, run the same command again; files that the Hub already has
    are not sent twice.

    Parameters
    ----------
    release
        Folder of the release.
    yes
        Upload, and create the dataset if it does not exist.
    private
        Create the dataset as private.
    workspace
        Folder of the workspace to check against. Default: the one around the release, if there is one.
    """
    from peercorpus.cli.text import releases
    from peercorpus.release.folder import open_release
    from peercorpus.release.hub import check_hub_id, plan_upload, upload
    from peercorpus.release.published import remember_upload
    from peercorpus.workspace.workspace import find_workspace_around

    check_hub_id(hub_id)
    require_extra("hf", "huggingface_hub")
    opened = open_release(release, is_whole=False)
    verification = _verify(opened, workspace)
    if not verification.holds:
        say(releases.verified(verification))
        return ExitCode.FOUND
    plan = plan_upload(opened, hub_id)
    if yes:
        commit = upload(opened, plan, private=private, bars=sys.stderr.isatty())
        if source := workspace or find_workspace_around(release):
            remember_upload(source, opened, hub_id, commit)
        say(releases.uploaded(plan, commit))
    else:
        say(releases.planned_upload(plan, private=private))
    for check in verification.checks:
        if check.name == "takedown" and check.left_out:
            say(releases.unchecked(check))
    return ExitCode.DONE


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFlags:
    """How papers and conversations become messages.

    Parameters
    ----------
    paper
        How the user opens: with the text that the reviewers read (default), with title and abstract, or with nothing.
    system
        Start with a system prompt that states the model's role. Default: yes.
    max_characters
        Truncate longer papers at the end of a paragraph, in characters; reviews and conversations stay whole.
    assistant
        The side of a conversation that the model takes; the other side is the user.
    others
        What chairs, the public and other reviewers say: context in a marked block, or left out.
    unanswered
        Keep a final user message that has no reply. Default: only with --format re2, as Re² keeps it.
    by_point
        With --task rebuttal: single points of reviews, each with the authors' answers of at least this confidence, 0 to
        1, instead of whole exchanges. Needs a release published with --points.
    """

    paper: Literal["text", "abstract", "none"] | None = None
    system: Annotated[bool | None, Parameter(negative="--no-system")] = None
    max_characters: Annotated[int | None, AtLeastOne] = None
    assistant: Literal["reviewer", "author"] = "reviewer"
    others: Literal["context", "leave"] = "context"
    unanswered: bool | None = None
    by_point: float | None = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFlags:
    """The model whose training examples and settings are written instead of messages.

    Parameters
    ----------
    model
        llama-factory and axolotl: write the training examples of `peercorpus finetune` and a configuration for the
        trainer. A folder, or a name on the Hugging Face Hub.
    recipe
        With --model: TOML file with settings that differ from Re²'s; `python -m pydoc peercorpus.finetune.recipe` lists
        them.
    leave_out_long
        With --model: skip training examples whose answers do not fit into the context, instead of stopping.
    """

    model: Annotated[str | None, Parameter(show_default=False)] = None
    recipe: Annotated[Path | None, Named, Parameter(show_default=False)] = None
    leave_out_long: bool = False


DEFAULT_CHAT = ChatFlags()
NO_MODEL = ExampleFlags()


def export(
    release: ReleaseFolder,
    /,
    *,
    out: Annotated[Path, Named],
    layout: Annotated[ExportLayout, Parameter(name="--format")],
    task: Literal["review", "rebuttal", "meta_review", "acceptance", "scores", "mixed"] | None = None,
    chat: ChatFlags = DEFAULT_CHAT,
    examples: ExampleFlags = NO_MODEL,
    data: Annotated[Data, Parameter(name="*")] = ALL_DATA,
) -> int:
    """Write the train, validation and test rows of a release as files that a trainer can load directly.

    Exit with 1 if there is no row.

    Parameters
    ----------
    release
        Folder that `peercorpus publish` wrote.
    out
        Folder to write; an earlier export in it is replaced.
    layout
        jsonl: the rows unchanged; trl, llama-factory, axolotl: files for these trainers; re2: Re²'s files and fields.
        As Re² has only train and test, validation rows go to train.
    task
        review: a paper and its review; rebuttal: the exchange with a reviewer; meta_review: a paper with its reviews
        and their discussion, and its meta-review. Default: all three; Re²'s format has no meta_review. With --model a
        task is required, as in `peercorpus finetune`; mixed: all five.
    """
    from peercorpus.release.exports.export import export_release
    from peercorpus.release.exports.layouts import ExportRequest
    from peercorpus.release.splits import Task

    asked = ExampleTask(layout=layout, task=task, chat=chat)
    if examples.model is not None:
        _export_examples(release, out, asked, examples, data)
        return ExitCode.DONE
    _check_without_model(asked, examples, data)
    telling = _read_prompt_options(chat, layout)
    request = ExportRequest(layout=layout, tasks=(Task(task),) if task else (), telling=telling)
    with ProgressLines() as lines:
        exported = export_release(release, out, request, lines.show)
    say(describe_export(exported, out))
    return ExitCode.DONE if any(file.samples.rows for file in exported.files) else ExitCode.FOUND


@dataclass(frozen=True, slots=True)
class ExampleTask:
    """The options of an export for a model that exports without a model take too."""

    layout: ExportLayout
    task: str | None
    chat: ChatFlags

    def check(self) -> None:
        """Check that the options go with --model.

        Raises:
            PeercorpusError: An option excludes --model, or is missing; the message says what to change.
        """
        if self.layout not in {ExportLayout.LLAMA_FACTORY, ExportLayout.AXOLOTL}:
            raise PeercorpusError(f"--model is for --format llama-factory or axolotl, not '{self.layout}'.")
        if self.task is None:
            raise PeercorpusError("--model needs a task: name one with --task, or --task mixed for all five.")
        if self.chat != DEFAULT_CHAT:
            raise PeercorpusError(
                "With --model the benchmark's prompts are used: leave out --paper, --system, --max-characters,"
                " --assistant, --others, --unanswered and --by-point, and set lengths by"
                " --recipe."
            )


def _check_without_model(asked: ExampleTask, examples: ExampleFlags, data: Data) -> None:
    if (examples, data) != (NO_MODEL, ALL_DATA):
        raise PeercorpusError(
            "--recipe, --leave-out-long, and the options that choose examples (such as --venue, --year and --min-words)"
            " need --model, which goes with --format llama-factory or axolotl; leave them out."
        )
    task = asked.task
    if task not in {None, "review", "rebuttal", "meta_review"}:
        raise PeercorpusError(
            f"--task {task} can only be exported for a model; add --model, or name review, rebuttal or meta_review."
        )
    if asked.layout is ExportLayout.JSONL and asked.chat != DEFAULT_CHAT:
        raise PeercorpusError(
            "--format jsonl writes the rows of a release as they are: leave out --paper, --system, --max-characters,"
            " --assistant, --others, --unanswered and --by-point, or name another format."
        )


def _export_examples(release: Path, out: Path, asked: ExampleTask, examples: ExampleFlags, data: Data) -> None:
    from peercorpus.finetune.examples import TrainingTask
    from peercorpus.finetune.other_trainers import Trainer, write_for
    from peercorpus.finetune.recipe import read_recipe
    from peercorpus.finetune.run import RunOptions

    asked.check()
    require_extra("models", "transformers")
    trainer = Trainer(asked.layout)
    options = RunOptions(
        release=release,
        subject=TrainingTask(str(asked.task)),
        model=str(examples.model),
        out=out,
        recipe=read_recipe(examples.recipe),
        chosen=selection_rule(data),
        leaves_out_long=examples.leave_out_long,
    )
    with ProgressLines() as lines:
        write_for(options, trainer, say, lines.show, open_executor(HERE))
    say(handed_over(out, trainer))


def _read_prompt_options(chat: ChatFlags, layout: ExportLayout) -> "PromptOptions":
    from peercorpus.models.chat_messages import ChatOptions, ThirdParties
    from peercorpus.records.enums import Role
    from peercorpus.release.exports.samples import Opening, PromptOptions

    return PromptOptions(
        Opening(chat.paper or "text"),
        with_system=chat.system is not False,
        most_characters=chat.max_characters,
        chat=ChatOptions(
            Role(chat.assistant),
            ThirdParties(chat.others),
            ends_answered=layout is not ExportLayout.RE2 if chat.unanswered is None else not chat.unanswered,
        ),
        by_point=chat.by_point,
    )


def describe_export(export: "Exported", out: Path) -> str:
    """Return what each file of an export contains, and what was left out and why."""
    lines = [f"The {export.wanted.layout} files are in {out}; its README.md says how to open them."]
    for file in export.files:
        rows, papers = plural(file.samples.rows, "row"), plural(file.samples.papers, "paper")
        lines.append(f"{file.name}: {rows} of {papers}" if file.samples.rows else f"{file.name}: not written, no rows")
        lines += [f"  left out {number:,}: {reason}" for reason, number in sorted(file.samples.left_out.items())]
        lines += [f"  {file.samples.cut:,} with a cut paper"] if file.samples.cut else []
        lines += [f"  {file.samples.unanswered:,} end before an unanswered message"] if file.samples.unanswered else []
        late = plural(file.samples.after_decision, "turn")
        lines += [f"  left out: {late} posted after the decision"] if file.samples.after_decision else []
    return "\n".join(lines)


def handed_over(folder: Path, trainer: "Trainer") -> str:
    """Return where the files for another trainer are, and the command that starts it."""
    from peercorpus.finetune.other_trainers import STARTED

    return (
        f"The training examples and settings are in {folder}, with a list of settings that are not carried over;"
        f" start there: {STARTED[trainer]}"
    )
