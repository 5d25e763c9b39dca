"""The request for a release: what it shall contain."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Literal

from peercorpus.corpus.text_choice import TextChoice, TextRule
from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.execution.requests import require_positive
from peercorpus.records.enums import Grade, WorstGrade


class ReleaseLayout(StrEnum):
    """The set of configurations of a release."""

    PEERCORPUS = "peercorpus"
    """The configurations of `CONFIGS`."""
    REVIEWBENCH = "reviewbench"
    """The only configuration of ReviewBench."""


class Profile(StrEnum):
    """Rule by which papers are drawn."""

    RE2 = "re2"
    """Test and validation of Re²'s sizes, stratified by venue and status."""
    TEMPORAL = "temporal"
    """Test: every paper submitted after a day; validation as in `re2`, of the others."""
    STATED = "stated"
    """The splits that a published dataset states, such as Re²'s own; papers without one are in no split."""


SPLITS = "splits"
"""Folder of a release with the files that state its splits."""


@dataclass(frozen=True, slots=True)
class SplitRequest:
    """A request for train, validation and test splits of a release.

    Attributes:
        test_after: The day after which `temporal` tests; None for other profiles.
        earlier: The release whose splits are kept; None keeps those of the workspace.
        is_new: Whether papers may change the splits assigned by releases of the workspace.

    Raises:
        PeercorpusError: `temporal` without a day, or another profile with one.
    """

    profile: Profile
    test_after: date | None = None
    earlier: Path | None = None
    is_new: bool = False

    def __post_init__(self) -> None:
        if (self.profile is Profile.TEMPORAL) is (self.test_after is None):
            raise PeercorpusError(
                f"The splits '{self.profile}' need a date, after which submitted papers are for testing; give it with"
                " --test-after."
                if self.test_after is None
                else f"The splits '{self.profile}' use no date, got --test-after {self.test_after}; leave it out, or"
                " use --splits temporal."
            )

    def path(self, release: Path) -> Path:
        """Return the path of its file in a release."""
        return release / SPLITS / f"{self.profile}.json"


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """What a release shall contain: the options of `peercorpus publish`, and keyword arguments of `publish` in Python.

    Attributes:
        titles: posts: a turn of several posts gets the title they share; model: a language model writes the title.
        model_url: URL of the model's endpoint, up to '/v1'. Its key is read from PEERCORPUS_MODEL_KEY.
        model: Name of the model at the endpoint.
        max_questions: Maximum number of questions to the model in one run. Answers are stored and used again. Default:
            1,000.
        splits: Train, validation and test. re2: test sets of Re²'s sizes, stratified by venue and status; temporal:
            test on papers submitted after --test-after; stated: as a published dataset such as Re² states them; none:
            no splits and no configurations for tasks. Default: re2; with --layout reviewbench, none.
        test_after: With --splits temporal: test on papers submitted after this UTC date, such as 2024-10-01.
        splits_from: Folder of a release, such as another workspace's, whose papers keep their splits. Papers always
            keep those assigned by any release of this workspace, wherever it was written.
        new_splits: Let papers change the splits assigned by earlier releases; the card states how many do.
        no_authors: Leave out author names, and the texts and changes that name an author. The configurations for
            tasks never include them.
        texts: Texts of papers. initial: only what --grade accepts as the version the reviewers read; best: the best
            text available, with its grade; all: also the text of every version, in the configuration texts.
        grade: Worst grade of a text to accept in the configurations for tasks. The default and better ones are proven
            initial versions; the card lists all grades.
        latex: Fill the column latex of the configuration texts: each text as a LaTeX document. It doubles their size.
        blocks: Fill the columns blocks and mentions of the configuration texts: each text block by block, with places,
            cells and formulas, and what its sentences refer to. It adds half of their size.
        layout: peercorpus: all configurations; reviewbench: the one configuration of ReviewBench, with its twenty
            columns.
        figures: Include images of the figures and tables of the texts in 'papers', cut out by `peercorpus build
            --figures`.
        points: Include the points of reviews and their answers, found by `peercorpus build --points`. model: a language
            model labels what the rules left open. Without a value, as with rules, no model is used.

    Raises:
        ModelError: A model is named that nothing uses.
        PeercorpusError: A field excludes another, or is out of range; the grade is one that no text has.
    """

    titles: Literal["posts", "model"] = "posts"
    model_url: str | None = None
    model: str | None = None
    max_questions: int | None = None
    splits: Literal["re2", "temporal", "stated", "none"] | None = None
    test_after: date | None = None
    splits_from: Path | None = None
    new_splits: bool = False
    no_authors: bool = False
    texts: TextChoice = TextChoice.BEST
    grade: WorstGrade = "only_before_review"
    latex: bool = False
    blocks: bool = False
    layout: ReleaseLayout = ReleaseLayout.PEERCORPUS
    figures: bool = False
    points: bool | Literal["rules", "model"] = False

    def __post_init__(self) -> None:
        # One way to say each thing, so that equal requests are equal.
        if self.splits is None:
            object.__setattr__(self, "splits", "none" if self.layout is ReleaseLayout.REVIEWBENCH else "re2")
        if self.points == "rules":
            object.__setattr__(self, "points", True)
        if self.layout is ReleaseLayout.REVIEWBENCH:
            unfit = {
                "--titles": self.titles == "model",
                "--latex": self.latex,
                "--blocks": self.blocks,
                "--texts all": self.texts is TextChoice.ALL,
                "--figures": self.figures,
                "--points": bool(self.points),
                "--splits": self.splits != "none",
            }
            _refuse(unfit, "--layout reviewbench")
        if self.no_authors and self.figures:
            raise PeercorpusError("Images may show the names of authors; leave out --figures or --no-authors.")
        if not self.asks_model and (self.model_url, self.model, self.max_questions) != (None, None, None):
            raise ModelError(
                "--model, --model-url and --max-questions need --titles model or --points model; add one, or leave"
                " them out."
            )
        require_positive("--max-questions", self.max_questions)
        _ = self.text_rule, self.drawn  # Both check what they are made of.

    @property
    def asks_model(self) -> bool:
        """Whether a language model writes a part, so that the same request may give another release.

        >>> ReleaseRequest(points="model").asks_model, ReleaseRequest(points="rules").asks_model
        (True, False)
        """
        return "model" in {self.titles, self.points}

    @cached_property
    def text_rule(self) -> TextRule:
        """Which texts are published, and which of them tasks use."""
        return TextRule(self.texts, Grade(self.grade), self.latex, self.blocks)

    @cached_property
    def drawn(self) -> SplitRequest | None:
        """How papers are assigned to train, validation and test; None writes no configurations for tasks."""
        if self.splits not in {None, "none"}:
            return SplitRequest(Profile(self.splits), self.test_after, self.splits_from, self.new_splits)
        given = {
            "--test-after": self.test_after is not None,
            "--splits-from": self.splits_from is not None,
            "--new-splits": self.new_splits,
        }
        _refuse(given, "--splits none")
        return None


DEFAULT_REQUEST = ReleaseRequest()


def _refuse(unfit: dict[str, bool], other: str) -> None:
    """Raise an error for the first option that was given and cannot be used with another."""
    option = next((option for option, is_given in unfit.items() if is_given), None)
    if option is not None:
        raise PeercorpusError(f"{option} cannot be used with {other}; leave one of them out.")
