"""CycleReviewer: four reviewers one after another, a meta-review and a decision."""

import re
from collections.abc import Mapping

from peercorpus.benchmark.adapters.format import OwnScore
from peercorpus.benchmark.adapters.formatted import Answered, Formatted
from peercorpus.benchmark.adapters.sections import split_sections
from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored

BETWEEN = re.compile(r"^(?:\*{5,}|##[ \t]+Reviewer\b[^\n]*)[ \t]*$", re.MULTILINE)
"""What separates reviewers: the 8B model writes a line of asterisks, the larger ones a heading."""
OF_CHAIR = ("meta review", "paper decision")


class CycleReviewer(Formatted):
    """Scores are the reviewers' mean; the review is the first reviewer's, as a reference is one reviewer's too."""

    file = "cyclereviewer"
    named = "cyclereviewer"

    def system(self, words: Mapping[str, str]) -> str:
        """The instruction as it is, its indentation included."""
        return words["system"]

    def mean(self, answered: Answered, name: str, own: OwnScore) -> float:
        """What all reviewers give on average, which is known only once the chair has begun."""
        if not answered.decided:
            raise UnreadableAnswerError(Unscored.CUT_OFF, name)
        return super().mean(answered, name, own)

    def divide(self, completion: str) -> Answered:
        """The reviewers, and from the meta-review on the chair."""
        heading = re.compile(rf"^###?[ \t]+({self.format.sections})[ \t]*:?[ \t]*$", re.MULTILINE | re.IGNORECASE)
        parts = [sections for part in BETWEEN.split(completion) if (sections := split_sections(part, heading))]
        if not parts:
            raise UnreadableAnswerError(Unscored.NO_FORMAT)
        reviewers, chair = [], list[tuple[str, str]]()
        for part in parts:
            of_chair = next((place for place, (name, _) in enumerate(part) if name in OF_CHAIR or chair), len(part))
            reviewers.extend([part[:of_chair]] if of_chair else [])
            chair.extend(part[of_chair:])
        ends_in = parts[-1][-1][0]
        review = reviewers[0] if reviewers else ()
        return Answered(tuple(reviewers), review, chair, None if ends_in == self.format.last else ends_in)
