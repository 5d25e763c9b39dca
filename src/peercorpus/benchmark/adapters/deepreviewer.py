r"""DeepReviewer: reviewers that it simulates in `\boxed_simreviewers{…}`, then its own review in `\boxed_review{…}`.

In its fast mode only the latter. Its best mode asks three questions first and goes on when somebody has searched the
literature for it; such an answer is read here, but nothing here asks for one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from peercorpus.benchmark.adapters.formatted import Answered, Formatted
from peercorpus.benchmark.adapters.sections import Sections, split_sections
from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored

REVIEWERS = 4
"""How many its authors have it simulate where nothing else is said."""
REVIEWER = re.compile(r"^##[ \t]+Reviewer[ \t]+([0-9]+)[ \t]*:?[ \t]*$", re.MULTILINE)
CLOSED = re.compile(r"^\}[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """What stands in a block.

    Attributes:
        inside: Up to its end.
        rest: Up to the next block or the end of the text, which is more where it does not end or ended too early.
        is_closed: Whether a brace ends it.
    """

    inside: str
    rest: str
    is_closed: bool


def find_block(text: str, name: str) -> Block | None:
    r"""What stands in `\boxed_<name>{…}`; None where there is no such block.

    The block ends with the last line before the next block, or the end, that is a brace and nothing else: braces of
    formulas and of code within it do not end it.

    Raises:
        UnreadableAnswerError: There are two.

    >>> find_block("So:\n\\boxed_review{\n## Rating:\n\n{6}\n}\nDone.", "review").inside
    '\n## Rating:\n\n{6}\n'
    """
    starts = list(re.finditer(rf"\\boxed_{name}\{{", text))
    if not starts:
        return None
    if len(starts) > 1:
        raise UnreadableAnswerError(Unscored.TWO_ANSWERS, f"boxed_{name}")
    rest = text[starts[0].end() :].split("\\boxed_", maxsplit=1)[0]
    closed = list(CLOSED.finditer(rest))
    return Block(rest[: closed[-1].start()] if closed else rest, rest, bool(closed))


class DeepReviewer(Formatted):
    """Scores are the mean of the simulated reviewers, or its own where it simulates none; the review is its own one."""

    file = "deepreviewer"
    named = "deepreviewer"

    def system(self, words: Mapping[str, str]) -> str:
        """The instruction of the standard mode."""
        return (words["standard"] + words["order"]).replace("{reviewer_num}", str(REVIEWERS))

    def _sections(self, text: str, level: str) -> Sections:
        heading = rf"^{level}[ \t]+({self.format.sections})[ \t]*:?[ \t]*$"
        return split_sections(text, re.compile(heading, re.MULTILINE | re.IGNORECASE))

    def _own_review(self, block: Block) -> Sections:
        """Its own review; a brace above its last section belongs to what it quotes."""
        sections = self._sections(block.inside, "##")
        return sections if sections and sections[-1][0] == self.format.last else self._sections(block.rest, "##")

    def divide(self, completion: str) -> Answered:
        """The simulated reviewers and the review of its own."""
        simulated, own = find_block(completion, "simreviewers"), find_block(completion, "review")
        if simulated is None and own is None:
            raise UnreadableAnswerError(Unscored.NO_FORMAT)
        if simulated is not None and not simulated.is_closed:
            raise UnreadableAnswerError(Unscored.CUT_OFF, "boxed_simreviewers")
        said = "" if simulated is None else simulated.inside
        reviewers = tuple(self._sections(one, "###") for _, one in split_sections(said, REVIEWER))
        review = () if own is None else self._own_review(own)
        ends_in = review[-1][0] if review else "review"
        return Answered(reviewers or (review,), review, review, None if ends_in == self.format.last else ends_in)


class FastDeepReviewer(DeepReviewer):
    """Its fast mode: the review at once."""

    named = "deepreviewer-fast"

    def system(self, words: Mapping[str, str]) -> str:
        """The instruction of the fast mode."""
        return words["fast"]
