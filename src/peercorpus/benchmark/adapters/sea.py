"""SEA-E: one review in nine sections under bold names, with its decision."""

import re
from collections.abc import Mapping

from peercorpus.benchmark.adapters.formatted import Answered, Formatted
from peercorpus.benchmark.adapters.sections import split_sections
from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored


class SeaE(Formatted):
    """The review is its prose; the reasons of the decision are left out, as no reviewer is asked for any."""

    file = "sea-e"
    named = "sea-e"

    def system(self, words: Mapping[str, str]) -> str:
        """The instruction as it is."""
        return words["system"]

    def divide(self, completion: str) -> Answered:
        """One reviewer, who also decides."""
        heading = rf"^[ \t]*(?:#+[ \t]*)?\*\*[ \t]*({self.format.sections})[ \t]*:?[ \t]*\*\*[ \t]*:?"
        sections = split_sections(completion, re.compile(heading, re.MULTILINE | re.IGNORECASE))
        if not sections:
            raise UnreadableAnswerError(Unscored.NO_FORMAT)
        ends_in = sections[-1][0]
        return Answered((sections,), sections, sections, None if ends_in == self.format.last else ends_in)
