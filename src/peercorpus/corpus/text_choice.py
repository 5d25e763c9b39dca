"""Choose which version's text represents a paper, and which texts are shown beside it.

A text is *accepted* if its grade is no worse than the requested one; by default this means that it is proven to be what
the reviewers read. Tasks contain accepted texts only; people may be shown any available text, if it is labelled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, VersionMoment
from peercorpus.records.papers import PaperVersion


class TextChoice(StrEnum):
    """Which texts of a paper's versions are published."""

    INITIAL = "initial"
    """Only a text accepted as what the reviewers read; beside it, texts proven to be from other versions."""
    BEST = "best"
    """The best available text, whatever its grade; beside it, the same texts as with `initial`."""
    ALL = "all"
    """The best available text; beside it, the text of every version."""


def is_publishable(version: PaperVersion) -> bool:
    """Return whether a version is proven to be the one the reviewers read, and its file was fetched."""
    return version.is_initial and version.grade in PUBLISHABLE_GRADES and version.sha256 is not None


_AFTER_REVIEWS = frozenset({VersionMoment.DISCUSSION, VersionMoment.CAMERA_READY})
"""Moments after the reviews: the reviewers never read a version from one of them."""


def choose_shown(versions: Sequence[PaperVersion]) -> list[PaperVersion]:
    """Return the versions of one paper that are proven to be, or not to be, the initial one, in their order.

    These are the version proven to be the one that the reviewers read, and every ungraded PDF proven not to be, because
    the initial version is proven or because it came after the first review. A version whose grade proves nothing is
    neither, and another upload of its file is not a different version.
    """
    is_proven = any(map(is_publishable, versions))
    return [
        version
        for version in _without_repeats(versions)
        if is_publishable(version)
        or (
            version.grade is None
            and not version.is_initial
            and version.is_pdf
            and (is_proven or version.moment in _AFTER_REVIEWS)
        )
    ]


def _without_repeats(versions: Sequence[PaperVersion]) -> list[PaperVersion]:
    """Return the versions with a file, without ungraded ones that repeat the file of a graded one."""
    graded_files = {version.sha256 for version in versions if version.grade is not None}
    return [
        version
        for version in versions
        if version.sha256 is not None and (version.grade is not None or version.sha256 not in graded_files)
    ]


_GRADES: list[Grade] = [grade for grade in Grade if grade is not Grade.UNAVAILABLE]
_BEFORE = (VersionMoment.BEFORE_REVIEWS, VersionMoment.BEFORE_DEADLINE)
_MOMENTS: tuple[str | None, ...] = (
    *(VersionMoment.INITIAL, *_BEFORE, VersionMoment.DISCUSSION, VersionMoment.CAMERA_READY),
    *(None, VersionMoment.CURRENT),
)
"""Moments of versions without a grade, those nearest to what the reviewers read first."""


def rank_text(grade: str | None, moment: str | None, created_at: datetime | None) -> tuple[int, int, float]:
    """Return the sort key of a version's text, best first: by grade, then by how close it is to the reviews.

    Among versions without a grade, those from before the reviews come first, latest first; then those from the
    discussion and the final version, earliest first; the current version comes last. `unavailable` counts as no grade.
    Equal keys keep the order of the versions.

    >>> rank_text("stated", None, None) < rank_text("unstated", None, None) < rank_text(None, "before_reviews", None)
    True
    >>> rank_text(None, "discussion", None) < rank_text(None, "camera_ready", None) < rank_text(None, "current", None)
    True
    """
    if grade is not None and grade in _GRADES:
        return _GRADES.index(Grade(grade)), 0, 0.0
    seconds = float("inf") if created_at is None else created_at.timestamp()
    is_before = moment in _BEFORE and created_at is not None
    return len(_GRADES), _MOMENTS.index(moment), -seconds if is_before else seconds


class HeldTexts(Protocol):
    """The available texts of files, by sha256."""

    def __contains__(self, sha256: object) -> bool:
        """Whether the text of a file is available."""
        ...

    def has_words(self, sha256: str) -> bool:
        """Return whether the text of a file has any words; that of a scan may have none."""
        ...


def is_grade_accepted(grade: str | None, worst_grade: Grade) -> bool:
    """Return whether a grade is at least as good as the worst one accepted; false for no grade and `unavailable`.

    >>> is_grade_accepted("exact", Grade.UNREVISED), is_grade_accepted("stated", Grade.UNREVISED)
    (True, False)
    """
    return grade is not None and grade in _GRADES and Grade(grade).rank <= worst_grade.rank


@dataclass(frozen=True, slots=True)
class TextRule:
    """Which texts of a paper are shown, and which of them count as what the reviewers read.

    Attributes:
        worst_grade: The worst grade accepted as what the reviewers read: tasks contain no other text.
        with_latex: Whether each text of the configuration `texts` is also given as LaTeX.
        with_blocks: Whether each text is also given block by block.

    Raises:
        PeercorpusError: The worst grade is `unavailable`, which no text has.
    """

    choice: TextChoice = TextChoice.BEST
    worst_grade: Grade = PUBLISHABLE_GRADES[-1]
    with_latex: bool = False
    with_blocks: bool = False

    def __post_init__(self) -> None:
        if self.worst_grade is Grade.UNAVAILABLE:
            raise PeercorpusError(
                "'unavailable' is the grade of papers without a known text; accept 'unstated' at worst."
            )

    def accepts(self, version: PaperVersion | None) -> bool:
        """Return whether a version counts as what the reviewers read."""
        return version is not None and is_grade_accepted(version.grade, self.worst_grade)

    def rank_versions(self, versions: Sequence[PaperVersion]) -> list[PaperVersion]:
        """Return the versions whose text may represent the paper, best first."""
        ranked = sorted(
            (version for version in versions if version.sha256 is not None),
            key=lambda version: rank_text(version.grade, version.moment, version.created_at),
        )
        return [version for version in ranked if self.choice is not TextChoice.INITIAL or self.accepts(version)]

    def choose_best(self, versions: Sequence[PaperVersion], texts: HeldTexts) -> PaperVersion | None:
        """Return the version whose text represents the paper; None if none is available.

        A text with words comes before an empty one of a better grade.
        """
        held = [version for version in self.rank_versions(versions) if version.sha256 in texts]
        return next((one for one in held if texts.has_words(str(one.sha256))), held[0] if held else None)

    def choose_beside(self, versions: Sequence[PaperVersion]) -> list[PaperVersion]:
        """Return the versions whose text is shown beside the paper's, in their order."""
        return _without_repeats(versions) if self.choice is TextChoice.ALL else choose_shown(versions)

    def choose_needed(self, versions: Sequence[PaperVersion]) -> list[PaperVersion]:
        """Return every version whose text may be shown."""
        return [*self.rank_versions(versions), *self.choose_beside(versions)]
