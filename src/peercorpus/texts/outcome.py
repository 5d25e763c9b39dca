"""Whether a file became text, and if not, why; light enough for the processes that read files."""

from peercorpus.kinds import Reason
from peercorpus.pdf import REPAIRED
from peercorpus.per_file import why_failed
from peercorpus.spread import Failure
from peercorpus.texts.engine import UNREAD, Converted

DAMAGE = (REPAIRED, UNREAD)
"""How problems begin that tell of a damaged file."""


def why_no_text(result: Converted | Failure) -> tuple[Reason, str] | None:
    """Why there is no text of a file, and the sentence for it; None where there is one."""
    if isinstance(result, Failure):
        return why_failed(result)
    if result.characters == 0 and any(problem.startswith(DAMAGE) for problem in result.problems):
        return Reason.PDF_DAMAGED, f"The PDF is damaged: none of its {result.pages} pages gives text."
    if result.characters == 0:
        return Reason.PDF_WITHOUT_TEXT, f"None of its {result.pages} pages holds text; they may be images."
    return None
