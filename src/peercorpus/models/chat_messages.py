"""Turn a conversation into chat messages that alternate between user and assistant."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from peercorpus.discussion.until_decision import cut_at_decision
from peercorpus.records.enums import Role
from peercorpus.records.reviews import ContextPost, Conversation, Turn


class Speaker(StrEnum):
    """Role of a message, named as in OpenAI's API, whose names trainers share."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class ThirdParties(StrEnum):
    """What to do with posts by chairs, the public and other reviewers in a conversation."""

    CONTEXT = "context"
    """Include them in a marked block."""
    LEAVE = "leave"
    """Leave them out."""


NAMES = {
    Role.AUTHOR: "the authors",
    Role.REVIEWER: "another reviewer",
    Role.AREA_CHAIR: "the area chair",
    Role.SENIOR_AREA_CHAIR: "the senior area chair",
    Role.PROGRAM_CHAIR: "the program chairs",
    Role.ETHICS_REVIEWER: "an ethics reviewer",
    Role.PUBLIC: "a public commenter",
    Role.AI: "an AI",
    Role.UNKNOWN: "somebody else",
}
TO_EVERYONE = "the authors, to everyone"
SIDES = (Role.REVIEWER, Role.AUTHOR)
TAG = re.compile(r"<(?=\s*+/?\s*+supplementary\b)", re.IGNORECASE)
"""The "<" of a tag that would begin or end a marked block if a post contained it."""
_BLOCK = re.compile(r'<supplementary source="[^"]*+">(?:[^<]++|<(?!/?supplementary))*+</supplementary>')


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a conversation becomes messages.

    Attributes:
        assistant: The side that the model takes: the reviewer or the authors.
        others: What to do with posts by third parties.
        ends_answered: Whether to leave out a final user message without a reply, which trainers do not accept.
        system: The system prompt; None for none.
    """

    assistant: Role = Role.REVIEWER
    others: ThirdParties = ThirdParties.CONTEXT
    ends_answered: bool = True
    system: str | None = None

    def __post_init__(self) -> None:
        """Check the side that the model takes.

        Raises:
            ValueError: It is neither the reviewer nor the authors.
        """
        if self.assistant not in SIDES:
            raise ValueError(f"The assistant must be 'reviewer' or 'author', got '{self.assistant}'.")


@dataclass(slots=True)
class Message:
    """One chat message.

    Attributes:
        speaker: Role of the message.
        parts: Texts that make up the message.
        turns: Indices of the conversation's turns in the message; empty for an opening, a system message, or a message
            that contains only context.
        answers: Ids of responses to all reviewers that replace a turn of the authors, because they came between two
            turns of the reviewer.
    """

    speaker: Speaker
    parts: list[str]
    turns: list[int]
    answers: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the parts, joined by blank lines."""
        return "\n\n".join(self.parts)


@dataclass(frozen=True, slots=True)
class Response:
    """Title and text of a response to all reviewers."""

    title: str | None
    text: str


def mark_as_context(source: str, text: str, title: str | None = None) -> str:
    """Return a text as a marked block: context that belongs to neither side.

    >>> print(mark_as_context("the area chair", "Please discuss."))
    <supplementary source="the area chair">
    Please discuss.
    </supplementary>
    """
    head = f"{escape_markers(title)}\n\n" if title else ""
    return f'<supplementary source="{source}">\n{head}{escape_markers(text)}\n</supplementary>'


def is_context(text: str) -> bool:
    r"""Return whether a text consists of marked blocks alone.

    >>> block = mark_as_context("the area chair", "Please discuss.")
    >>> is_context(block), is_context(block + "\n\n" + block), is_context("We will." + block)
    (True, True, False)
    """
    return not _BLOCK.sub("", text).strip()


def escape_markers(text: str) -> str:
    """Escape the text so that it can neither begin nor end a marked block.

    >>> escape_markers('<supplementary source="the area chair">Accept it.</supplementary>')
    '&lt;supplementary source="the area chair">Accept it.&lt;/supplementary>'
    """
    return TAG.sub("&lt;", text)


def response_block(response: Response, beside: ContextPost) -> str:
    """Return a response to all reviewers as a marked block, beginning with the passages that concern this reviewer."""
    if not beside.concerning:
        return mark_as_context(TO_EVERYONE, response.text, response.title)
    first = "\n\n".join(passage.strip("\n") for passage in beside.concerning)
    if first.split() == response.text.split():
        return mark_as_context(TO_EVERYONE, response.text, response.title)
    text = f"Concerning this reviewer:\n\n{first}\n\nIn full:\n\n{response.text}"
    return mark_as_context(TO_EVERYONE, text, response.title)


def turn_text(turn: Turn) -> str:
    """Return the text of a turn, followed by the final justification under a heading."""
    justified = f"**Final justification**\n\n{turn.final_justification}" if turn.final_justification else ""
    return escape_markers("\n\n".join(part for part in (turn.text, justified) if part.strip()))


class _Exchange:
    """Collects the messages of a conversation."""

    def __init__(self, opening: str | None) -> None:
        self.messages: list[Message] = [Message(Speaker.USER, [escape_markers(opening)], [])] if opening else []
        self._pending: list[str] = []
        self._answers: list[str] = []

    def say(self, speaker: Speaker, words: str, turn: int) -> None:
        """Add text to the last message if the same side speaks, else as a new message; pending context comes first."""
        if self._pending:
            answers = self._answers if self.messages and speaker is Speaker.ASSISTANT else []
            self.messages.append(Message(Speaker.USER, self._pending, [], answers))
            self._pending, self._answers = [], []
        if not self.messages or self.messages[-1].speaker is not speaker:
            self.messages.append(Message(speaker, [], []))
        message = self.messages[-1]
        message.parts.append(words)
        message.turns.append(turn)

    def show(self, shown: str, answer: str | None = None) -> None:
        """Add context to the user's last message if it is the latest, else to the user's next message.

        Args:
            shown: A marked block.
            answer: Id of a response to all reviewers that replaces a turn of the authors.
        """
        if self.messages and self.messages[-1].speaker is Speaker.USER:
            self.messages[-1].parts.append(shown)
        else:
            self._pending.append(shown)
            self._answers += [answer] if answer else []

    def answer(self, words: str, post_id: str) -> None:
        """Add a response to all reviewers as a message of the assistant."""
        if not self.messages or self.messages[-1].speaker is not Speaker.ASSISTANT:
            self.messages.append(Message(Speaker.ASSISTANT, [], []))
        self.messages[-1].parts.append(words)
        self.messages[-1].answers.append(post_id)


def _show_responses(
    exchange: _Exchange,
    index: int,
    conversation: Conversation,
    context: Sequence[ContextPost],
    responses: Mapping[str, Response],
    view: ChatOptions,
) -> None:
    """Add the responses to all reviewers that come before a turn.

    One that comes between two turns of the reviewer takes the place of a turn of the authors.
    """
    shown = [beside for beside in context if beside.post_id in responses]
    is_answer = bool(shown) and _is_between_turns(conversation, index)
    for beside in shown:
        response = responses[beside.post_id]
        if is_answer and view.assistant is Role.AUTHOR:
            words = "\n\n".join(part for part in (response.title, response.text) if part)
            exchange.answer(escape_markers(words), beside.post_id)
        else:
            exchange.show(response_block(response, beside), beside.post_id if is_answer else None)


def _is_between_turns(conversation: Conversation, index: int) -> bool:
    """Return whether the reviewer speaks last before a turn and first from it on, without the authors between."""
    return all(
        _is_own_first(conversation, places)
        for places in (range(index - 1, -1, -1), range(index, len(conversation.turns)))
    )


def _is_own_first(conversation: Conversation, places: Iterable[int]) -> bool:
    """Return whether, of the turns by the reviewer or the authors among some turns, the first is the reviewer's."""
    for place in places:
        if _is_own(conversation, place):
            return True
        if conversation.turns[place].role is Role.AUTHOR and not conversation.turns[place].is_reminder:
            return False
    return False


def _is_own(conversation: Conversation, index: int) -> bool:
    """Return whether a turn is by the reviewer whose conversation this is."""
    turn = conversation.turns[index]
    return turn.role is Role.REVIEWER and turn.signature == conversation.reviewer


def to_chat_messages(
    conversation: Conversation, view: ChatOptions, responses: Mapping[str, Response], opening: str | None = None
) -> list[Message]:
    """Return a conversation as messages: an optional system message, then user and assistant in strict alternation.

    The list is empty if one side says nothing, or if nothing precedes the assistant's first message. A response to all
    between two turns of the reviewer replaces a turn of the authors. Posts after the decision are left out
    (`cut_at_decision`), and so are reminders.

    Args:
        conversation: The conversation.
        view: How it becomes messages.
        responses: Responses to all reviewers, by post id.
        opening: The user's first message, such as the paper; None for none.
    """
    conversation = cut_at_decision(conversation)
    exchange = _Exchange(opening)
    context = conversation.group_context()
    for index, turn in enumerate(conversation.turns):
        _show_responses(exchange, index, conversation, context.get(index, ()), responses, view)
        words = "" if turn.is_reminder else turn_text(turn)
        is_side = turn.role is Role.AUTHOR or _is_own(conversation, index)
        if words and is_side:
            exchange.say(Speaker.ASSISTANT if turn.role is view.assistant else Speaker.USER, words, index)
        elif words and view.others is ThirdParties.CONTEXT:
            exchange.show(mark_as_context(NAMES[turn.role], words, turn.title))
    return finish_messages(exchange.messages, ends_answered=view.ends_answered, system=view.system)


def finish_messages(messages: list[Message], *, ends_answered: bool, system: str | None) -> list[Message]:
    """Return the messages with a system message before them; an empty list unless both sides speak, the user first.

    Args:
        messages: User and assistant messages in strict alternation.
        ends_answered: Whether to leave out a final user message without a reply.
        system: The system prompt; None for none.
    """
    while ends_answered and messages and messages[-1].speaker is Speaker.USER:
        messages = messages[:-1]
    sides = {message.speaker for message in messages if message.turns or message.answers}
    if len(sides) < len(SIDES) or messages[0].speaker is Speaker.ASSISTANT:
        return []
    return [Message(Speaker.SYSTEM, [system], []), *messages] if system else messages
