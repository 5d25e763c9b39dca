"""Every figure of the report, in order: its name, its statistic, how it is drawn, and how to read it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from peercorpus.errors import PeercorpusError
from peercorpus.report import counts, discussion, drawing, drawing_scores, holdings, lengths, scores
from peercorpus.report.source import Source
from peercorpus.report.statistic import Statistic
from peercorpus.report.style import numbered

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure.

    Attributes:
        part: The heading it stands under on the page.
        read: How to read the figure.
    """

    name: str
    part: str
    title: str
    statistic: Callable[[Source], Statistic]
    drawn: Callable[[Statistic], "Figure"]
    read: str

    def draw(self, statistic: Statistic) -> "Figure":
        """The figure of a statistic, or why there is none."""
        figure = drawing.empty(statistic) if statistic.why else self.drawn(statistic)
        return numbered(figure, statistic.shown)


CORPUS, SCORES, TALK, HELD = "The corpus", "Scores", "The discussion", "What is held, and what is not"
SHADED = "The stronger the colour of a cell, the more."

PANELS = {
    panel.name: panel
    for panel in (
        Panel(
            "papers_and_reviews",
            CORPUS,
            "Papers and reviews by conference",
            counts.papers_and_reviews,
            drawing.papers_and_reviews,
            "The ten conferences with the most papers; the table has all.",
        ),
        Panel(
            "keywords",
            CORPUS,
            "The ten most frequent keywords",
            counts.keywords,
            drawing.keywords,
            "Left: papers with the keyword. Right: the share of them that was accepted.",
        ),
        Panel(
            "paper_length",
            CORPUS,
            "Length of papers",
            lengths.paper_length,
            drawing.histogram,
            "Dot and line on top: the median, and the middle half. A hatched bar holds all longer ones.",
        ),
        Panel(
            "review_length",
            CORPUS,
            "Length of reviews",
            lengths.review_length,
            drawing.histogram,
            "Dot and line on top: the median, and the middle half. A hatched bar holds all longer ones.",
        ),
        Panel(
            "score_violins",
            SCORES,
            "Recommendations by conference",
            scores.score_violins,
            drawing_scores.score_violins,
            "Shape: density. Box: the middle half, with the median (line) and the mean (diamond).",
        ),
        Panel(
            "score_changes",
            SCORES,
            "What reviewers changed after the rebuttal, and what became of it",
            scores.score_changes,
            drawing_scores.score_changes,
            "Left: reviews, by the change in shares of the scale. Right: of papers with that mean change, the share"
            " accepted, with its 95 % interval.",
        ),
        Panel(
            "reviewer_agreement",
            SCORES,
            "How far reviewers of one paper agree",
            scores.agreement,
            drawing_scores.agreement,
            "Left: hollow dot before, full dot after the discussion, diamond all scores. Right: box from quartile to"
            " quartile, with the median (line), the mean (diamond) and Tukey's whiskers.",
        ),
        Panel(
            "rebuttals",
            TALK,
            "Rebuttals by conference and year",
            counts.rebuttals,
            drawing.rebuttals,
            f"Conversations in which the authors answered. {SHADED} Empty: no paper of that year. Ten conferences and"
            f" the last {drawing.YEARS} years at most; the table has all.",
        ),
        Panel(
            "turns",
            TALK,
            "Turns of a conversation",
            discussion.turns,
            drawing.turns,
            "Each conversation is with one reviewer; the review is its first turn.",
        ),
        Panel(
            "response_delays",
            TALK,
            "How long an answer takes",
            discussion.delays,
            drawing_scores.delays,
            "Box: the middle half of the answers, with the median; line: from the 10th to the 90th hundredth. The axis"
            " is in orders of magnitude; answers within six minutes stand at its left end.",
        ),
        Panel(
            "grades",
            HELD,
            "How sure it is which PDF the reviewers read",
            holdings.grades,
            drawing.grades,
            "Shares of the papers of each status, best grade first.",
        ),
        Panel(
            "completeness",
            HELD,
            "How complete each venue is",
            holdings.completeness,
            drawing.completeness,
            f"{SHADED} A dash: there is nothing to have a share of, or it is not known. The"
            f" {drawing.VENUES} largest venues; the table has all.",
        ),
        Panel(
            "set_aside",
            HELD,
            "What was set aside, and why",
            holdings.set_aside,
            drawing.set_aside,
            f"Rows by stage and reason; the {drawing.REASONS} most frequent, the table has all.",
        ),
    )
}
"""By their names."""


def panel_of(name: str) -> Panel:
    """The panel of a name.

    Raises:
        PeercorpusError: There is none.
    """
    if name not in PANELS:
        raise PeercorpusError(f"There is no figure '{name}'; it is one of: {', '.join(PANELS)}.")
    return PANELS[name]
