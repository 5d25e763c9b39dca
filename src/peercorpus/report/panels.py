"""List the figures of a report, each with its statistic, its drawing and how to read it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from peercorpus.errors import PeercorpusError
from peercorpus.metrics.marked_share import Sample
from peercorpus.report import (
    corpus_statistics,
    count_figures,
    model_statistics,
    point_figures,
    point_statistics,
    re2_figures,
    review_statistics,
    reviewing_figures,
    score_figures,
)
from peercorpus.report.corpus_statistics import Statistic
from peercorpus.report.figure_style import add_heading
from peercorpus.report.source import CorpusSource

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure of the report.

    Attributes:
        name: Its name in commands and file names.
        part: The heading of its part of the page.
        needs_points: Whether it is included only if the corpus has points.
        limit: Restricts the numbers to those that the figure has room for.
    """

    name: str
    part: str
    title: str
    statistic: Callable[[CorpusSource], Statistic]
    drawn: Callable[[Statistic], "Figure"]
    read: str
    needs_points: bool = False
    limit: Callable[[Statistic], Statistic] = count_figures.keep_all

    def draw(self, statistic: Statistic) -> "Figure":
        """Draw the figure of a statistic, or the reason why there is nothing to draw."""
        drawn = self.limited(statistic)
        figure = count_figures.empty(drawn) if drawn.why else self.drawn(drawn)
        beyond = statistic.n - drawn.n
        more = f"; {beyond:,} more only in the table" if beyond else ""
        return add_heading(figure, self.title, drawn.shown + more)

    def limited(self, statistic: Statistic) -> Statistic:
        """Return the numbers shown in the figure; its `n` counts only those."""
        return statistic if statistic.why else self.limit(statistic)


_CORPUS = "The corpus"
_SCORES = "Scores"
_TALK = "The discussion"
_POINTS = "Points of reviews and their answers"
_REVIEWING = "The reviewing, by area"
_HELD = "What the corpus contains and lacks"
_MODEL_WRITTEN = "model_written"
_AREAS = f"The {reviewing_figures.AREAS} areas with the most papers; the table lists all."
_SHADED = "A stronger colour means a larger number."

_OWN = {
    panel.name: panel
    for panel in (
        Panel(
            name="papers_and_reviews",
            part=_CORPUS,
            title="Papers and reviews by conference",
            statistic=corpus_statistics.papers_and_reviews,
            drawn=count_figures.draw_papers_and_reviews,
            limit=partial(count_figures.keep_first, rows=corpus_statistics.TOP, counts="papers"),
            read="The ten conferences with the most papers; the table lists all.",
        ),
        Panel(
            name="keywords",
            part=_CORPUS,
            title="The ten most frequent keywords",
            statistic=corpus_statistics.keywords,
            drawn=count_figures.draw_keywords,
            read="Left: papers with the keyword. Right: the share of them that was accepted.",
        ),
        Panel(
            name="paper_length",
            part=_CORPUS,
            title="Length of papers",
            statistic=corpus_statistics.paper_length,
            drawn=count_figures.draw_histogram,
            read="Dot and line at the top: the median and the middle half. A hatched bar counts all longer ones.",
        ),
        Panel(
            name="review_length",
            part=_CORPUS,
            title="Length of reviews",
            statistic=corpus_statistics.review_length,
            drawn=count_figures.draw_histogram,
            read="Dot and line at the top: the median and the middle half. A hatched bar counts all longer ones.",
        ),
        Panel(
            name="score_violins",
            part=_SCORES,
            title="Recommendations by conference",
            statistic=review_statistics.score_violins,
            drawn=score_figures.draw_score_violins,
            read="Shape: density. Box: the middle half, with the median (line) and the mean (diamond).",
        ),
        Panel(
            name="score_changes",
            part=_SCORES,
            title="Changes of the score after the rebuttal, and acceptance",
            statistic=review_statistics.score_changes,
            drawn=score_figures.draw_score_changes,
            read="Left: reviews, by the change of their recommendation in per cent of the form's scale. Right: of"
            " papers with that mean change, the share accepted, with its 95 % interval.",
        ),
        Panel(
            name="reviewer_agreement",
            part=_SCORES,
            title="How far reviewers of one paper agree",
            statistic=review_statistics.agreement,
            drawn=score_figures.draw_agreement,
            limit=score_figures.keep_largest_populations,
            read="Left: hollow dot before, full dot after the discussion, diamond all scores. Right: box from quartile"
            " to quartile, with the median (line), the mean (diamond) and Tukey's whiskers. At most"
            f" {score_figures.POPULATIONS} rows; the table lists all.",
        ),
        Panel(
            name="rebuttals",
            part=_TALK,
            title="Rebuttals by conference and year",
            statistic=corpus_statistics.rebuttals,
            drawn=count_figures.draw_rebuttals,
            limit=partial(count_figures.keep_last_years, conferences=corpus_statistics.TOP),
            read=f"Conversations in which the authors answered. {_SHADED} Empty: no paper of that year. Ten conferences"
            f" and the last {count_figures.YEARS} years at most; the table lists all.",
        ),
        Panel(
            name="turns",
            part=_TALK,
            title="Turns of a conversation",
            statistic=review_statistics.turns,
            drawn=count_figures.draw_turns,
            read="Each conversation is with one reviewer; the review is its first turn.",
        ),
        Panel(
            name="response_delays",
            part=_TALK,
            title="How long an answer takes",
            statistic=review_statistics.delays,
            drawn=score_figures.draw_delays,
            read="Box: the middle half of the answers, with the median; line: from the 10th to the 90th percentile. The"
            " axis is logarithmic; answers within six minutes are at its left end.",
        ),
        Panel(
            name=_MODEL_WRITTEN,
            part=_TALK,
            title="How many texts look written by a model",
            statistic=model_statistics.model_written,
            drawn=score_figures.draw_model_written,
            limit=score_figures.keep_populations,
            read="Point: the lower bound, or the estimate where texts of a model are given; line: its 95 % interval."
            " Hollow: texts written before 2022, the control, which must lie near 0. At most"
            f" {score_figures.POPULATIONS} rows; the table lists all, with what was left out.",
        ),
        Panel(
            name="points_answered",
            part=_POINTS,
            title="Which points have an answer",
            statistic=point_statistics.points_answered,
            drawn=point_figures.draw_points_answered,
            read="Bar: the share of points with an answer of any confidence; hatched: those without one of"
            f" {point_statistics.SURE} or more. The ten conferences with the most papers; the table lists all.",
            needs_points=True,
        ),
        Panel(
            name="answers_and_scores",
            part=_POINTS,
            title="Which aspects, if answered, go with a raised score",
            statistic=point_statistics.answers_and_scores,
            drawn=point_figures.draw_answers_and_scores,
            read="Full dot: reviews with an answered point of the aspect; hollow dot: reviews with such a point and no"
            " answer to it. Right: the difference. A review has several aspects, so it is in several rows.",
            needs_points=True,
        ),
        Panel(
            name="point_delays",
            part=_POINTS,
            title="How long the answer to a point takes",
            statistic=point_statistics.point_delays,
            drawn=point_figures.draw_point_delays,
            read="Box: the middle half of the points, with the median, which stands on the left; line: from the 10th to"
            " the 90th percentile. The axis is logarithmic; answers within a tenth of a day are at its left end. Ten"
            " conferences at most, those with the most papers; the table lists all.",
            needs_points=True,
        ),
        Panel(
            name="review_load",
            part=_REVIEWING,
            title="Reviews of a paper, by area",
            statistic=reviewing_figures.review_load,
            drawn=reviewing_figures.draw_review_load,
            read=f"Bar: the mean; line: from the fewest to the most. {_AREAS}",
        ),
        Panel(
            name="late_reviews",
            part=_REVIEWING,
            title="Reviews after the due date, by area",
            statistic=reviewing_figures.late_reviews,
            drawn=reviewing_figures.draw_late_reviews,
            read=f"The share of the reviews whose due date is known. {_AREAS}",
        ),
        Panel(
            name="responses_by_area",
            part=_REVIEWING,
            title="Who responds, by area",
            statistic=reviewing_figures.responses_by_area,
            drawn=reviewing_figures.draw_responses_by_area,
            read=f"Shares of the conversations with a reviewer. {_AREAS}",
        ),
        Panel(
            name="grades",
            part=_HELD,
            title="How certain it is which PDF the reviewers read",
            statistic=corpus_statistics.grades,
            drawn=count_figures.draw_grades,
            read="Shares of the papers of each status, best grade first.",
        ),
        Panel(
            name="completeness",
            part=_HELD,
            title="How complete each venue is",
            statistic=corpus_statistics.completeness,
            drawn=count_figures.draw_completeness,
            limit=partial(count_figures.keep_first, rows=count_figures.VENUES, counts="papers"),
            read=f"{_SHADED} A dash: there is nothing to count, or it is not known. The"
            f" {count_figures.VENUES} largest venues; the table lists all.",
        ),
        Panel(
            name="set_aside",
            part=_HELD,
            title="What was set aside, and why",
            statistic=corpus_statistics.set_aside,
            drawn=count_figures.draw_set_aside,
            limit=partial(count_figures.keep_first, rows=count_figures.REASONS, counts="rows"),
            read=f"Rows by stage and reason; the {count_figures.REASONS} most frequent, the table lists all.",
        ),
    )
}
PANELS = {name: panel for name, panel in _OWN.items() if not panel.needs_points}
"""The figures of our own profile by name, in the order of the report."""
POINT_PANELS = {name: panel for name, panel in _OWN.items() if panel.needs_points}
"""The additional figures if the corpus has points."""

_FIG2 = "Fig. 2: statistics of the dataset"
_FIG3 = "Fig. 3: details of the violin plot"
_DETAILS = "fig3_violin_details"
_RE2_CONFERENCES = 45
"""Maximum number of conferences in a figure of Re²'s profile: Re² has 45 venues."""

RE2_PANELS = {
    panel.name: panel
    for panel in (
        replace(PANELS["paper_length"], name="fig2a_paper_length", part=_FIG2, title="(a) Length of papers"),
        replace(PANELS["review_length"], name="fig2b_review_length", part=_FIG2, title="(b) Length of reviews"),
        replace(
            PANELS["papers_and_reviews"],
            name="fig2c_papers_and_reviews",
            part=_FIG2,
            title="(c) Papers and reviews of each conference",
            limit=partial(count_figures.keep_first, rows=_RE2_CONFERENCES, counts="papers"),
            read=f"The {_RE2_CONFERENCES} conferences with the most papers; the table lists all.",
        ),
        replace(
            PANELS["rebuttals"],
            name="fig2d_rebuttals",
            part=_FIG2,
            title="(d) Rebuttals of each conference and year",
            limit=partial(count_figures.keep_last_years, conferences=_RE2_CONFERENCES),
            read=f"Conversations in which the authors answered. {_SHADED} Empty: no paper of that year. At most"
            f" {_RE2_CONFERENCES} conferences and the last {count_figures.YEARS} years; the table lists all.",
        ),
        replace(
            PANELS["keywords"],
            name="fig2e_keywords",
            part=_FIG2,
            title="(e) The ten most frequent keywords: submissions and share accepted",
        ),
        Panel(
            name="fig2f_scores",
            part=_FIG2,
            title="(f) Review scores of the ten conferences with the most papers",
            statistic=re2_figures.score_violins,
            drawn=re2_figures.draw_violins,
            read="Contour: density of the scores; its tails extend beyond the data, where there are no scores. Box:"
            " from Q1 to Q3, with the median in bold.",
        ),
        Panel(
            name=_DETAILS,
            part=_FIG3,
            title="What each part of a violin is",
            statistic=re2_figures.violin_details,
            drawn=re2_figures.draw_violin_details,
            read="Whiskers, quartiles, interquartile range (IQR), median and tails, with their values; the contour is"
            " as wide as the scores are dense. Each violin has its own measure of width.",
        ),
    )
}
"""The figures of Re²'s profile: Fig. 2 a to f and Fig. 3 of arXiv:2505.07920."""


class FigureProfile(StrEnum):
    """A set of figures that forms a report."""

    PEERCORPUS = "peercorpus"
    """Our own."""
    RE2 = "re2"
    """Those of the Re² paper."""


PROFILES = {FigureProfile.PEERCORPUS: _OWN, FigureProfile.RE2: RE2_PANELS}


def find_panel(name: str) -> Panel:
    """Return the panel with a name, of any profile.

    Raises:
        PeercorpusError: There is no such panel.
    """
    panels = _OWN | RE2_PANELS
    if name not in panels:
        raise PeercorpusError(f"There is no figure '{name}'; use one of: {', '.join(panels)}.")
    return panels[name]


def select_panels(
    names: Iterable[str] = (),
    profile: FigureProfile = FigureProfile.PEERCORPUS,
    model: Sample | None = None,
) -> list[Panel]:
    """Return the panels with these names in the order of their profiles, or all of one profile if no name is given.

    `model` has reviews by a model, for the figure of texts that look written by one.

    Raises:
        PeercorpusError: There is no such panel, or a model's reviews are given for a report without the figure that
            uses them.
    """
    chosen = {find_panel(name).name for name in names} or PROFILES[profile].keys()
    if model and _MODEL_WRITTEN not in chosen:
        raise PeercorpusError(
            f"Only the figure '{_MODEL_WRITTEN}' uses a model's texts; draw that one, or leave out --model-texts."
        )
    settings: dict[str, Callable[[CorpusSource], Statistic]] = {}
    if model:
        settings[_MODEL_WRITTEN] = partial(model_statistics.model_written, model=model)
    panels = [panel for name, panel in (_OWN | RE2_PANELS).items() if name in chosen]
    return [replace(panel, statistic=settings.get(panel.name, panel.statistic)) for panel in panels]
