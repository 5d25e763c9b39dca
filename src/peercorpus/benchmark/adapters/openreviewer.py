"""Llama-OpenReviewer-8B: one review in the form that it is given, here ICLR's of 2025, as in its authors' demo."""

import re
from collections.abc import Mapping

from peercorpus.benchmark.adapters.formatted import RATING, Answered, Formatted
from peercorpus.benchmark.adapters.sections import split_sections
from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored

ABOVE, BELOW = 6, 5
"""The words of ICLR's form: 6 is "marginally above", 5 "marginally below the acceptance threshold"."""
FORM = (
    "summary",
    "soundness",
    "presentation",
    "contribution",
    "strengths",
    "weaknesses",
    "questions",
    "flag_for_ethics_review",
    "details_of_ethics_concerns",
    "rating",
    "confidence",
)
"""Its fields, in their order."""


class OpenReviewer(Formatted):
    """It is trained to write any form of ICLR and NeurIPS 2022 to 2025; a case does not hold the words of its form."""

    file = "openreviewer"
    named = "openreviewer"

    def system(self, words: Mapping[str, str]) -> str:
        """The instruction with the form in it, each field as a heading with its description."""
        form = "\n".join(f"## {name.replace('_', ' ').title()}\n{words[name]}\n" for name in FORM)
        return words["system"].replace("{review_fields}", form)

    def user(self, paper: str) -> str:
        """The paper behind one sentence, in which it was trained to find it."""
        return f"Review the following paper:\n\n{paper}\n"

    def divide(self, completion: str) -> Answered:
        """One reviewer, who recommends and does not decide."""
        heading = rf"^##[ \t]+({self.format.sections})[ \t]*:?[ \t]*$"
        sections = split_sections(completion, re.compile(heading, re.MULTILINE | re.IGNORECASE))
        if not sections:
            raise UnreadableAnswerError(Unscored.NO_FORMAT)
        ends_in = sections[-1][0]
        return Answered((sections,), sections, sections, None if ends_in == self.format.last else ends_in)

    def verdict(self, answered: Answered) -> bool:
        """On which side of the threshold its rating stands, by the words of the form; between the two is no answer."""
        rating = self.mean(answered, RATING, self.format.scores[RATING])
        if BELOW < rating < ABOVE:
            raise UnreadableAnswerError(Unscored.NO_DECISION, f"{rating:g}")
        return rating >= ABOVE
