"""Make training examples from a paper, and encode them as tokens with a loss mask."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from peercorpus.benchmark.answers import write_review
from peercorpus.benchmark.cases import (
    CASE_MAKERS,
    AskedScore,
    BenchTask,
    Case,
    CaseCounts,
    CaseMessage,
    asked_scores,
    count_later_turns,
    read_messages,
    readable_reviews,
)
from peercorpus.benchmark.messages import messages, right_answer
from peercorpus.errors import ModelError
from peercorpus.models.chat_messages import Speaker, escape_markers
from peercorpus.models.chat_templates import Chat, load_chat, read_context_length
from peercorpus.release.exports.meta_reviews import list_posts, recommends_acceptance, write_meta_review
from peercorpus.release.exports.samples import scores_before_decision
from peercorpus.release.record_rows import Row


def list_tasks(task: str) -> tuple[BenchTask, ...]:
    """Return the tasks of the benchmark that a model is trained on; all for `mixed`."""
    return tuple(BenchTask) if task == "mixed" else (BenchTask(task),)


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One training example.

    Attributes:
        example_id: Id, unique within its task: the forum's, the review's or the conversation's.
        case: The question; its history contains everything after the paper and ends with the assistant. The assistant's
            messages are learnt.
        reviewer: Author of the learnt text; None if it comes from all reviewers or from the chairs.
        record_ids: Ids of the posts from which it is made, besides the paper; for `scores`, the reviews.
        words: Number of words of the review in it; 0 without a review.
    """

    example_id: str
    case: Case
    reviewer: str | None
    record_ids: tuple[str, ...]
    words: int = 0

    @property
    def task(self) -> BenchTask:
        """The benchmark task."""
        return self.case.task

    def messages(self, paper: str) -> list[CaseMessage]:
        """Return all messages as the benchmark formats them, ending with the assistant.

        Args:
            paper: Title and text of the paper as shown.
        """
        return messages(self.case, paper)


def _add_answer(case: Case, answer: str) -> Case:
    return replace(case, history=(*case.history, CaseMessage(Speaker.ASSISTANT, answer)))


def _make_paper_examples(case: Case, row: Row, counts: CaseCounts) -> Iterator[TrainingExample]:
    of_reviews = case.task is BenchTask.SCORES
    record_ids = tuple(review["review_id"] for review in row["reviews"]) if of_reviews else ()
    for answered_case in CASE_MAKERS[case.task](case, row, counts):
        yield TrainingExample(
            example_id=answered_case.case_id,
            case=_add_answer(answered_case, right_answer(answered_case)),
            reviewer=None,
            record_ids=record_ids,
        )


def _select_own_scores(review: Row, asked: Sequence[AskedScore]) -> dict[str, float]:
    """Return one reviewer's scores for the requested fields on the same scale, as requested by the benchmark."""
    score_by_field = {score.key: score for score in scores_before_decision(review)}
    scores = {}
    for field in asked:
        score = score_by_field.get(field.field)
        if score is not None and score.value is not None and (score.low, score.high) == (field.low, field.high):
            scores[field.field] = score.value
    return scores


def _make_review_examples(case: Case, row: Row, counts: CaseCounts) -> Iterator[TrainingExample]:
    asked = asked_scores(row["reviews"], counts)
    for review in readable_reviews(row["reviews"], counts):
        text = escape_markers(review["text"].strip())
        answered = _add_answer(replace(case, scores=asked), write_review(text, _select_own_scores(review, asked)))
        yield TrainingExample(
            example_id=review["review_id"],
            case=answered,
            reviewer=review["reviewer"],
            record_ids=(review["review_id"],),
            words=len(text.split()),
        )


def _cut_at_update(talk: Row) -> list[CaseMessage]:
    """Return a conversation up to the reviewer's last message before the first message with later additions."""
    end = talk["holds_update"].index(True) if True in talk["holds_update"] else len(talk["messages"])
    turns = read_messages(talk["messages"][:end])
    while turns and turns[-1].speaker is Speaker.USER:
        turns.pop()
    return turns


def _make_conversation_examples(case: Case, row: Row, counts: CaseCounts) -> Iterator[TrainingExample]:
    for talk in row["conversations"]:
        count_later_turns(talk, counts)
        turns = _cut_at_update(talk)
        of_reviewer = [turn.text for turn in turns if turn.speaker is Speaker.ASSISTANT]
        if len(of_reviewer) < 2:
            counts.left_out["conversations: no reviewer answers the authors before something is added later"] += 1
            continue
        record_ids = tuple(post_id for posts in talk["post_ids"][: len(turns)] for post_id in posts)
        answered = replace(case, history=tuple(turns))
        yield TrainingExample(
            example_id=talk["conversation_id"],
            case=answered,
            reviewer=talk["reviewer"],
            record_ids=record_ids,
            words=len(of_reviewer[0].split()),
        )


def _make_meta_review_examples(case: Case, row: Row, counts: CaseCounts) -> Iterator[TrainingExample]:
    """Yield an example for each meta-review, with its recommendation if its form has one."""
    for asked in CASE_MAKERS[case.task](case, row, counts):
        for meta_review in row["meta_reviews"]:
            text = escape_markers(meta_review["text"].strip())
            answer = write_meta_review(text, recommends_acceptance(meta_review, row["status"]))
            yield TrainingExample(
                example_id=meta_review["post_id"],
                case=_add_answer(asked, answer),
                reviewer=None,
                record_ids=(meta_review["post_id"], *list_posts(row)),
            )


_MAKERS = {
    BenchTask.REVIEW: _make_review_examples,
    BenchTask.REBUTTAL: _make_conversation_examples,
    BenchTask.META_REVIEW: _make_meta_review_examples,
}


def make_examples(case: Case, row: Row, taken: CaseCounts) -> Iterator[TrainingExample]:
    """Yield the training examples of one paper.

    Args:
        case: The paper and the task.
        row: The release's row of the paper for this task.
        taken: Receives the counts of examples that are left out.
    """
    yield from _MAKERS.get(case.task, _make_paper_examples)(case, row, taken)


NOT_LEARNT = -100
"""Label of a token without loss; PyTorch's cross entropy ignores it by default."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A training example as tokens.

    Attributes:
        ids: Token ids.
        labels: For each token its id if it is learnt, otherwise `NOT_LEARNT`.
    """

    ids: list[int]
    labels: list[int]

    @property
    def learnt(self) -> int:
        """Number of tokens that are learnt."""
        return sum(label != NOT_LEARNT for label in self.labels)


@dataclass(frozen=True, slots=True)
class Encoder(Chat):
    """Tokenizer and chat template of the model to fine-tune.

    Attributes:
        window: Context window in tokens; None if the model's configuration does not state it.
    """

    window: int | None = None

    def apart(self, message: CaseMessage) -> CaseMessage:
        """Return the message with the model's special tokens in its text broken by a space."""
        return replace(message, text=self.parted(message.text))

    def turns(self, messages: Sequence[CaseMessage]) -> list[tuple[str, str]]:
        """Return, for each answer, the text before it and the answer with its end mark; joined, they are the whole.

        Raises:
            ModelError: The chat template does not render the start of a conversation as a prefix of the whole.
        """
        chat = [{"role": message.speaker.value, "content": self.apart(message).text} for message in messages]
        turns: list[tuple[str, str]] = []
        before = ""
        for index, message in enumerate(messages):
            if message.speaker is not Speaker.ASSISTANT:
                continue
            asked = self.render(chat[:index], True)
            answered = self.render(chat[: index + 1], False)
            if not (asked.startswith(before) and answered.startswith(asked)):
                raise ModelError(
                    f"The chat template of '{self.name}' does not render the start of a conversation as a prefix of the"
                    " whole, so training would not match the later prompts; name another model."
                )
            turns.append((asked[len(before) :], answered[len(asked) :]))
            before = answered
        return turns

    def encode(self, messages: Sequence[CaseMessage]) -> Encoded:
        """Encode messages as tokens; the assistant's messages with their end marks are learnt.

        The tokens before each answer are exactly those that the model receives when it is prompted for that answer.

        Raises:
            ModelError: The chat template does not render the start of a conversation as a prefix of the whole.
        """
        ids: list[int] = []
        labels: list[int] = []
        for asked, answered in self.turns(messages):
            asking = self.tokens(asked)
            answer = self.tokens(answered)
            ids += asking + answer
            labels += [NOT_LEARNT] * len(asking) + answer
        return Encoded(ids, labels)


def load_encoder(model: str) -> Encoder:
    """Return the encoder of a model.

    Args:
        model: A folder, or a name on the Hugging Face Hub.

    Raises:
        MissingExtraError: transformers is not installed.
        ModelError: The model does not exist or has no chat template.
    """
    chat = load_chat(model)
    if chat is None:
        raise ModelError(f"The tokenizer of '{model}' has no chat template; name a chat model.")
    return Encoder(
        name=chat.name,
        render=chat.render,
        tokens=chat.tokens,
        marks=chat.marks,
        digest=chat.digest,
        window=read_context_length(model),
    )
