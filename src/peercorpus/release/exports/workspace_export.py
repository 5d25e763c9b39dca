"""Export the conversations of a workspace as one file of training data, without publishing a release first.

A workspace has no train and test splits, so everything goes into one file. Posts that are not public or listed in
`takedown.txt` are left out, as in a release. Memory is bounded by one paper with its conversations.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from peercorpus.corpus.forums import Forum, VenueForums, is_public
from peercorpus.corpus.public_forums import PublicFilter
from peercorpus.corpus.takedown import read_takedown
from peercorpus.corpus.text_choice import TextChoice, TextRule
from peercorpus.corpus.texts import VenueTexts
from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Meter, Show, show_nothing
from peercorpus.models.chat_messages import Message, Response, to_chat_messages
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade
from peercorpus.records.reviews import Conversation
from peercorpus.records.until_decision import count_after_decision
from peercorpus.records.untrusted_text import redact_people
from peercorpus.release.exports.export import check_request, render_row
from peercorpus.release.exports.formats import ExportLayout, TrainingSample, write_rows
from peercorpus.release.exports.layouts import ExportRequest
from peercorpus.release.exports.re2 import read_paper, write_talk
from peercorpus.release.exports.remedies import Remedies, Remedy
from peercorpus.release.exports.samples import NO_EXCHANGE, NO_TEXT, Opening, PromptOptions, cut_opening, opening_text
from peercorpus.release.folder import own_folder
from peercorpus.release.record_rows import Row
from peercorpus.release.rows import build_rows, find_markdown
from peercorpus.release.splits import Task
from peercorpus.workspace.workspace import Workspace

NOT_PUBLIC = "not everyone may read all of it"


@dataclass(slots=True)
class WorkspaceExport:
    """Counts of rows written and left out.

    Attributes:
        left_out: Conversations that form no dialogue, by reason.
        cut: Dialogues whose paper is truncated.
        after_decision: Turns and responses to all that are left out because they were posted after the decision.
        tokens: Tokens of all messages; None if they were not counted.
        taken_down: Records left out because of the workspace's `takedown.txt`, by kind.
        remedies: Options that would turn conversations that were left out into dialogues, the smallest change first.
    """

    dialogues: int = 0
    messages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    after_decision: int = 0
    tokens: int | None = None
    taken_down: Counter[str] = field(default_factory=Counter)
    remedies: tuple[Remedy, ...] = ()


SUFFIXES = (".jsonl", ".ndjson", ".json", "")
"""Endings of the name of an exported file."""


@dataclass(frozen=True, slots=True)
class _Opening:
    """The user's first words in every dialogue about one paper.

    Attributes:
        text: None if no paper is to be shown, or if the paper has no such text.
        grade: Grade of the version whose text it is; None if it is the abstract or nothing.
    """

    text: str | None = None
    grade: Grade | None = None
    is_cut: bool = False


def _open_paper(forum: Forum, texts: VenueTexts, rule: TextRule, options: PromptOptions) -> _Opening:
    body = forum.paper.abstract
    grade: Grade | None = None
    if options.opening is Opening.TEXT:
        body, grade = find_markdown(forum, texts, rule)
    if options.opening is Opening.NONE or (options.opening is Opening.TEXT and not body):
        return _Opening()
    text = opening_text(forum.paper.title, body)
    if text is None:
        return _Opening()
    shown, is_cut = cut_opening(text, options.most_characters)
    return _Opening(shown, grade, is_cut)


def _make_samples(
    forum: Forum,
    texts: VenueTexts,
    rule: TextRule,
    options: PromptOptions,
    counts: WorkspaceExport,
    remedies: Remedies,
) -> Iterator[TrainingSample]:
    public = forum.public_post_ids
    responses = {post.post_id: Response(post.title, post.text) for post in forum.posts if post.post_id in public}
    opening = _open_paper(forum, texts, rule, options)
    for conversation in forum.conversations:
        if not conversation.is_with_reviewer:
            continue
        if not is_public(conversation, public):
            counts.left_out[NOT_PUBLIC] += 1
        elif opening.text is None and options.opening is not Opening.NONE:
            counts.left_out[NO_TEXT] += 1
            remedies.consider(forum, conversation, responses, None)
        elif messages := to_chat_messages(conversation, options.chat_with_system, responses, opening.text):
            counts.after_decision += count_after_decision(conversation)
            counts.cut += opening.is_cut
            about = _describe_dialogue(conversation, messages, options, opening.grade)
            shown = [replace(message, parts=redact_people(message.parts)) for message in messages]
            yield TrainingSample(shown, redact_people(about))
        else:
            counts.after_decision += count_after_decision(conversation)
            counts.left_out[NO_EXCHANGE] += 1
            remedies.consider(forum, conversation, responses, opening.text)


def _describe_dialogue(
    conversation: Conversation, messages: Sequence[Message], options: PromptOptions, grade: Grade | None
) -> Mapping[str, object]:
    turns = [[conversation.turns[turn] for turn in message.turns] for message in messages]
    return {
        "conversation_id": conversation.conversation_id,
        "forum_id": conversation.forum_id,
        "venue_id": conversation.venue_id,
        "reviewer": conversation.reviewer,
        "assistant": options.chat.assistant.value,
        "paper_grade": grade and grade.value,
        "holds_update": [any(turn.holds_update for turn in message_turns) for message_turns in turns],
        "post_ids": [
            [*message.answers, *(post_id for turn in message_turns for post_id in turn.post_ids)]
            for message, message_turns in zip(messages, turns, strict=True)
        ],
    }


def _make_re2_samples(
    forum: Forum,
    texts: VenueTexts,
    rule: TextRule,
    options: PromptOptions,
    counts: WorkspaceExport,
    _: Remedies,
) -> Iterator[TrainingSample]:
    """Yield the conversations of one paper in Re²'s form, made from the rows that a release would have."""
    rows = build_rows(forum, texts, (), rule)
    counts.left_out[NOT_PUBLIC] += rows.withheld["conversations"]
    paper = read_paper(rows.paper, rows.paper, rows.conversations)
    for talk in paper.talks:
        counts.after_decision += count_after_decision(msgspec.convert(talk, Conversation))
        sample = write_talk(paper, talk, rows.paper["licence"], options)
        if sample is None:
            counts.left_out[NO_EXCHANGE] += 1
        else:
            yield sample
    counts.left_out = +counts.left_out


@dataclass(frozen=True, slots=True)
class _Export:
    """An export of a workspace, while it is written.

    Attributes:
        rule: Which texts count as what the reviewers read.
        scratch: A folder for the texts of one venue at a time.
    """

    workspace: Workspace
    request: ExportRequest
    public_filter: PublicFilter
    rule: TextRule
    scratch: Path
    counts: WorkspaceExport
    remedies: Remedies
    show: Show

    def rows(self, venue_ids: Sequence[str]) -> Iterator[Row]:
        """Yield the rows of some venues, and count them."""
        for venue_id in venue_ids:
            yield from self._make_rows(venue_id)

    def _make_rows(self, venue_id: str) -> Iterator[Row]:
        tables = self.workspace.tables
        counts = self.counts
        meter = Meter(venue_id, "dialogues", self.show)
        total = tables.count("1-papers", venue_id)
        is_re2 = self.request.layout is ExportLayout.RE2
        make_samples = _make_re2_samples if is_re2 else _make_samples
        rule = self.rule
        with VenueTexts(tables, venue_id, self.scratch, rule.rank_versions, with_outlines=is_re2) as texts:
            for done, forum in enumerate(self.public_filter.through(VenueForums(tables, venue_id)), 1):
                for sample in make_samples(forum, texts, rule, self.request.telling, counts, self.remedies):
                    row, tokens = render_row(sample, self.request)
                    if tokens is not None:
                        counts.tokens = (counts.tokens or 0) + tokens
                    counts.dialogues += 1
                    counts.messages += len(sample.messages)
                    yield row
                meter.report(done, total)


def _check_name(out: Path) -> None:
    if out.suffix not in SUFFIXES:
        raise PeercorpusError(
            f"The name of '{out}' ends with '{out.suffix}', but JSON is written; name a file that ends with .jsonl (an"
            " object per line) or .json (an array)."
        )
    if out.is_dir():
        raise PeercorpusError(f"The file '{out}' cannot be written: it is a folder; name a file such as train.jsonl.")


@contextmanager
def _scratch_beside(out: Path) -> Iterator[Path]:
    """Yield an empty folder beside a file; it is removed at the end, like that of a killed export."""
    scratch = out.absolute().with_name(f".{out.name}.partial")
    with own_folder(scratch, out):
        yield scratch


def export_workspace(
    workspace: Workspace,
    out: Path,
    request: ExportRequest,
    venue_ids: Sequence[str],
    show: Show = show_nothing,
    *,
    worst_grade: Grade = PUBLISHABLE_GRADES[-1],
) -> WorkspaceExport:
    """Write the conversations of some venues to a file, which is complete at the end or unchanged.

    Without any conversation, nothing is written.

    Args:
        workspace: The workspace; its tables must be built.
        out: The file; its name must end with one of `SUFFIXES`: `.json` is one array, the others one object per line.
        request: The layout (any but `jsonl`), and the presentation of paper and conversations.
        venue_ids: Venues in the order of writing.
        show: Receives the number of papers done.
        worst_grade: The worst grade of a text that counts as what the reviewers read.

    Raises:
        PeercorpusError: The request needs a release, the file's name has another ending, the grade is `unavailable`,
            the file cannot be written or another run is writing it, or a line of `takedown.txt` is not an id.
    """
    needing = ["--format jsonl"] if request.layout is ExportLayout.JSONL else []
    needing += [f"--task {task}" for task in request.tasks if task is not Task.REBUTTAL]
    needing += ["--by-point"] if request.telling.by_point is not None else []
    if needing:
        raise PeercorpusError(
            f"{needing[0]} needs a release and '{workspace.folder}' is a workspace: run 'peercorpus publish' with"
            " --splits and export the release, or write the workspace's conversations with --format trl to a file that"
            " ends with .jsonl."
        )
    check_request(request)
    _check_name(out)
    rule = TextRule(TextChoice.INITIAL, worst_grade)
    counts = WorkspaceExport()
    public_filter = PublicFilter(read_takedown(workspace))
    try:
        with _scratch_beside(out) as scratch:
            partial = scratch / "partial"
            export = _Export(
                workspace=workspace,
                request=request,
                public_filter=public_filter,
                rule=rule,
                scratch=scratch,
                counts=counts,
                remedies=Remedies(workspace.tables, request.telling, rule),
                show=show,
            )
            write_rows(partial, export.rows(venue_ids), as_list=out.suffix == ".json")
            if counts.dialogues:
                partial.replace(out)
    except OSError as error:
        raise PeercorpusError(f"The file '{out}' cannot be written: {error.strerror}.") from None
    counts.taken_down = public_filter.taken
    counts.remedies = export.remedies.found
    return counts
