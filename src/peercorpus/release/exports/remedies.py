"""Find options that would turn conversations left out by an export into dialogues.

The counts show what each combination of `--grade` or `--paper` with `--assistant` would add, so that users need not
guess it from the reasons.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter

from peercorpus.corpus.forums import Forum
from peercorpus.corpus.text_choice import TextRule
from peercorpus.models.chat_messages import SIDES, Response, to_chat_messages
from peercorpus.records.enums import Grade, Role
from peercorpus.records.reviews import Conversation
from peercorpus.release.exports.samples import Opening, PromptOptions
from peercorpus.workspace.delta_tables import Tables
from peercorpus.workspace.parquet import open_part

_WORSE = (Grade.UNREVISED_LIKELY, Grade.BEFORE_FIRST_REVIEW, Grade.STATED, Grade.UNSTATED)
"""Grades that `--grade` can accept in addition to the proven ones, best first."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Options that would turn conversations that were left out into dialogues.

    Attributes:
        options: As typed, such as `--grade unstated --assistant author`.
        dialogues: Number of additional dialogues.
    """

    options: str
    dialogues: int


class Remedies:
    """Counts the dialogues that options would add to an export."""

    def __init__(self, tables: Tables, options: PromptOptions, rule: TextRule) -> None:
        """Count for an export with these options and this rule for texts."""
        self._tables = tables
        self._options = options
        self._rule = rule
        self._counts: Counter[str] = Counter()
        self._held: dict[str, frozenset[str]] = {}

    def consider(
        self, forum: Forum, conversation: Conversation, responses: Mapping[str, Response], opening: str | None
    ) -> None:
        """Count a public conversation that was left out.

        Args:
            forum: Its forum.
            conversation: The conversation.
            responses: The public responses of the forum.
            opening: The export's opening for it; None if the paper has none.
        """
        is_open = opening is not None or self._options.opening is Opening.NONE
        sides = [one for one in SIDES if self._makes_dialogue(conversation, responses, one, is_open=is_open)]
        for opens in [""] if is_open else self._find_openings(forum):
            for side in sides:
                changed = "" if side is self._options.chat.assistant else f"--assistant {side.value}"
                self._counts[" ".join(filter(None, (opens, changed)))] += 1

    def _makes_dialogue(
        self, conversation: Conversation, responses: Mapping[str, Response], side: Role, *, is_open: bool
    ) -> bool:
        chat = replace(self._options.chat, assistant=side)
        opening = None if is_open and self._options.opening is Opening.NONE else "A paper."
        return bool(to_chat_messages(conversation, chat, responses, opening))

    def _find_openings(self, forum: Forum) -> Iterator[str]:
        """Yield the options that give a paper without an accepted text an opening."""
        if self._options.opening is not Opening.TEXT:
            return
        held = self._find_texts(forum.paper.venue_id)
        grades = [one.grade.rank for one in forum.versions if one.grade is not None and one.sha256 in held]
        for grade in _WORSE:
            if grade.rank > self._rule.worst_grade.rank and any(rank <= grade.rank for rank in grades):
                yield f"--grade {grade.value}"
        if forum.paper.title or forum.paper.abstract:
            yield "--paper abstract"

    def _find_texts(self, venue_id: str) -> frozenset[str]:
        if venue_id not in self._held:
            digests: set[str] = set()
            for path in self._tables.paths("5-texts", venue_id):
                with open_part(path) as file:
                    for batch in file.iter_batches(columns=["sha256"]):
                        digests.update(batch.column(0).to_pylist())
            self._held = {venue_id: frozenset(digests)}
        return self._held[venue_id]

    @property
    def found(self) -> tuple[Remedy, ...]:
        """The options that would add most dialogues, changing one option and then more if these add more."""
        best: list[Remedy] = []
        for size in sorted({len(options.split()) for options in self._counts}):
            of_size = {options: number for options, number in self._counts.items() if len(options.split()) == size}
            options, dialogues = max(of_size.items(), key=itemgetter(1))
            if not best or dialogues > best[-1].dialogues:
                best.append(Remedy(options, dialogues))
        return tuple(best)
