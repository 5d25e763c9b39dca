"""Define the frames that statistics are computed from, and restrict them to chosen papers.

`CorpusSource` is the interface; `corpus_sources` implements it for a workspace and for a release, and `FilteredSource`
for the papers that meet conditions. The functions at the end turn stored rows into these frames.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from functools import cached_property
from itertools import tee
from types import MappingProxyType
from typing import Any

import polars as pl
import pyarrow as pa

from peercorpus.corpus.filters import FIELDS, Condition, check_words, matching
from peercorpus.corpus.text_choice import rank_text
from peercorpus.errors import PeercorpusError, TableError
from peercorpus.metrics.marked_share import marked_share
from peercorpus.models.token_counts import TokenCounter
from peercorpus.records.enums import BY_OTHERS, Aspect, ConversationKind, Grade, Phase, PostKind, Role, SectionKind
from peercorpus.release.table1 import DETAIL_ASPECTS
from peercorpus.venues.catalogue import VenueRow
from peercorpus.venues.rules import warn_of_pooling
from peercorpus.wording.counted_nouns import plural
from peercorpus.workspace.object_store import Location
from peercorpus.workspace.parquet import open_part

TIME = pl.Datetime("us", "UTC")
Schema = Mapping[str, Any]

PAPERS: Schema = {
    "forum_id": pl.String,
    "venue_id": pl.String,
    "conference": pl.String,
    "year": pl.Int64,
    "track": pl.String,
    "status": pl.String,
    "keywords": pl.List(pl.String),
    "primary_area": pl.String,
    "created_at": TIME,
    "grade": pl.String,
}
"""`primary_area` is null or empty if the submission names none; `status` is null if the decision is not public, `grade`
is null if no PDF is known."""
REVIEWS: Schema = {
    "review_id": pl.String,
    "forum_id": pl.String,
    "rater": pl.String,
    "rating_initial": pl.Float64,
    "rating_final": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "higher_is_better": pl.Boolean,
    "confidence": pl.Float64,
    "unified": pl.Float64,
    "aspect_scores": pl.Int64,
}
"""`rating_initial` and `rating_final` are the overall recommendation as first given and the current one, on the scale
from `low` to `high`; null if not known, as is `higher_is_better`. `rater` is who gave them: equal within a paper only
for one person. `confidence` is the current one, or the first if only
that is known. `unified` is the current recommendation, or the first, on Re²'s scale of 1 to 10, placed by the wording
of the form, or else as Re² itself states it. `aspect_scores` counts the scores for soundness, clarity and the like."""
RATING = pl.coalesce("rating_final", "rating_initial")
"""The recommendation of a review if it does not matter when it was given, as `scores.chosen_score` chooses it."""
REVIEW_TIMES: Schema = {"review_id": pl.String, "forum_id": pl.String, "created_at": TIME, "due_at": TIME}
"""Times when a review was posted and due; null if not known."""
PAPER_TOKENS: Schema = {"forum_id": pl.String, "tokens": pl.Int64, "grade": pl.String}
"""Tokens of the best text, chosen as for a release; papers without a text have no row."""
REVIEW_TOKENS: Schema = {"review_id": pl.String, "forum_id": pl.String, "tokens": pl.Int64}
TALKS: Schema = {"conversation_id": pl.String, "forum_id": pl.String, "responses": pl.Int64}
"""`responses` counts the authors' responses to all reviewers that belong to the conversation."""
TURNS: Schema = {
    "conversation_id": pl.String,
    "forum_id": pl.String,
    "place": pl.Int64,
    "role": pl.String,
    "created_at": TIME,
    "is_posted": pl.Boolean,
}
"""`place` is the position within the conversation, from 0; a turn that only changes scores is not posted."""
META_REVIEWS: Schema = {"forum_id": pl.String}
"""Papers with a meta-review, or a comment with their decision."""
FILES: Schema = {"forum_id": pl.String, "pdfs": pl.Int64, "pdfs_here": pl.Int64}
"""Number of PDFs known of a paper, and number of those that were fetched."""
TEXTS: Schema = {"forum_id": pl.String, "created_at": TIME, "text": pl.String}
"""Current texts; the text of a review is its sections, joined by blank lines."""
MARKED: Schema = {"forum_id": pl.String, "created_at": TIME, "marked": pl.Float64}
"""The marked share of each text (`metrics.marked_share`); null for a short text."""
POINTS: Schema = {
    "review_id": pl.String,
    "forum_id": pl.String,
    "kind": pl.String,
    "aspect": pl.String,
    "answered": pl.Boolean,
    "confidence": pl.Float64,
    "days": pl.Float64,
    "points": pl.Int64,
}
"""Points that ask for an answer; equal points of a review share a row, with their number in `points`. `aspect` is
null if it is not known, and `answered` if a published record has the authors' words without their posts. `confidence`
is the highest of the answers, null if none has one; `days` is the time from the review to the first answer, null if a
time is not known."""
SET_ASIDE: Schema = {
    "forum_id": pl.String,
    "venue_id": pl.String,
    "stage": pl.String,
    "reason": pl.String,
    "rows": pl.Int64,
}


class TextKind(StrEnum):
    """Kinds of texts that are counted separately; the values name them in tables."""

    REVIEWS = "reviews"
    REPLIES = "authors' replies"
    META_REVIEWS = "meta-reviews"


def concat_frames(parts: Iterable[pl.DataFrame], schema: Schema) -> pl.DataFrame:
    """Concatenate frames vertically, cast to exactly these columns."""
    typed = [pl.col(name).cast(kind) for name, kind in schema.items()]
    return pl.concat([pl.DataFrame(schema=dict(schema)), *(part.select(typed) for part in parts)])


class CorpusSource(ABC):
    """A corpus as the frames that statistics read; each frame is read on first use.

    Attributes:
        name: The name of the corpus on the page.
        tokens: Definition of a token, as the end of a sentence.
        unit: Unit of lengths, in the plural.
        own_rows: Facts about venues that the user states, by venue id.
    """

    name: str
    tokens: str
    unit: str
    own_rows: Mapping[str, VenueRow | None] = MappingProxyType({})

    def warn_of_pooling(self, *, is_brief: bool = False) -> str:
        """Return a sentence if the papers are of venues whose rules differ, as `rules.warn_of_pooling`."""
        return warn_of_pooling(self.papers["venue_id"].unique().drop_nulls(), self.own_rows, is_brief=is_brief)

    @property
    @abstractmethod
    def papers(self) -> pl.DataFrame:
        """One row for each paper; see `PAPERS`."""

    @property
    @abstractmethod
    def reviews(self) -> pl.DataFrame:
        """One row for each public review; see `REVIEWS`."""

    @property
    @abstractmethod
    def review_times(self) -> pl.DataFrame:
        """One row for each public review; see `REVIEW_TIMES`."""

    @property
    @abstractmethod
    def paper_tokens(self) -> pl.DataFrame:
        """One row for each paper with a text; see `PAPER_TOKENS`."""

    @property
    @abstractmethod
    def review_tokens(self) -> pl.DataFrame:
        """One row for each public review; see `REVIEW_TOKENS`."""

    @property
    @abstractmethod
    def talks(self) -> pl.DataFrame:
        """One row for each public conversation; see `TALKS`."""

    @property
    @abstractmethod
    def turns(self) -> pl.DataFrame:
        """One row for each turn of these conversations; see `TURNS`."""

    @property
    @abstractmethod
    def meta_reviews(self) -> pl.DataFrame:
        """One row for each paper with a public meta-review; see `META_REVIEWS`."""

    @abstractmethod
    def texts(self, kind: TextKind) -> Iterator[pl.DataFrame]:
        """Yield the public texts of a kind in batches; see `TEXTS`."""

    def marked(self, kind: TextKind) -> Iterator[pl.DataFrame]:
        """Yield the marked share of each public text of a kind in batches; see `MARKED`."""
        return map(measure_marked, self.texts(kind))

    @property
    def point_venues(self) -> Sequence[str] | None:
        """The venues whose reviews are split into points; None if the source has no points."""
        return None

    def points(self) -> Iterator[pl.DataFrame]:
        """Yield the points of public reviews that ask for an answer, all points of a review at once; see `POINTS`."""
        return iter(())

    @property
    @abstractmethod
    def files(self) -> pl.DataFrame:
        """One row for each paper with a known PDF; see `FILES`."""

    @property
    @abstractmethod
    def set_aside(self) -> pl.DataFrame | None:
        """Number of rows set aside, see `SET_ASIDE`; None if the source does not record them."""

    @property
    @abstractmethod
    def listed(self) -> Mapping[str, bool | None] | None:
        """For each venue, whether its listings were read completely (None: it was imported); None if not recorded."""


_IS_ONE_PERSON = (pl.col("reviewer").str.len_chars() > 0) & ~pl.col("reviewer").str.ends_with("Reviewers")
"""A name such as `Reviewers` is that of a group, whose reviews are by several people."""
_HAS_SCALE = (pl.col("high") != pl.col("low")) & pl.col("low").is_not_null() & pl.col("high").is_not_null()
_DECIMALS = 6
"""Decimals of shares that conditions compare with bounds such as 0.15, which sums of binary fractions would miss."""


def units_of_ratings() -> dict[str, pl.Expr]:
    """Return the columns `initial` and `final` of reviews: recommendations on [0, 1], with 1 for the best answer."""
    units: dict[str, pl.Expr] = {}
    for name in ("initial", "final"):
        share = pl.when(_HAS_SCALE).then((pl.col(f"rating_{name}") - pl.col("low")) / (pl.col("high") - pl.col("low")))
        higher = pl.col("higher_is_better")
        units[name] = pl.when(higher).then(share).when(~higher).then(1 - share)
    return units


def one_per_rater(reviews: pl.DataFrame) -> pl.DataFrame:
    """Return the last review of each reviewer of each paper: two by the same person are one rater's."""
    rater = pl.coalesce("rater", "review_id")
    named = reviews.with_columns(_rater=rater)
    return named.unique(["forum_id", "_rater"], keep="last", maintain_order=True).drop("_rater")


def with_values(source: CorpusSource, names: set[str]) -> pl.DataFrame:
    """Return the papers with the columns among `names` that `filters.FIELDS` takes from other tables."""
    papers = source.papers
    if names & {"reviews", "rating", "confidence", "score_changed", "rating_unit", "spread_unit", "change_unit"}:
        is_changed = pl.col("rating_initial") != pl.col("rating_final")
        unit = pl.coalesce("final", "initial")
        with_units = source.reviews.with_columns(**units_of_ratings())
        raters = one_per_rater(with_units.filter(unit.is_not_null())).group_by("forum_id")
        spreads = raters.agg(spread_unit=pl.when(unit.count() > 1).then((unit.max() - unit.min()).round(_DECIMALS)))
        by_paper = with_units.group_by("forum_id").agg(
            reviews=pl.len(),
            rating=RATING.mean(),
            rating_unit=unit.mean().round(_DECIMALS),
            change_unit=(pl.col("final") - pl.col("initial")).mean().round(_DECIMALS),
            confidence=pl.col("confidence").mean(),
            score_changed=pl.when(is_changed.is_not_null().any()).then(is_changed.any()),
        )
        by_paper = by_paper.join(spreads, on="forum_id", how="left")
        papers = papers.join(by_paper, on="forum_id", how="left").with_columns(pl.col("reviews").fill_null(0))
    if "has_rebuttal" in names:
        answered = source.turns.filter(role=Role.AUTHOR.value).select("forum_id")
        to_all = source.talks.filter(pl.col("responses") > 0).select("forum_id")
        forum_ids = pl.concat([answered, to_all])["forum_id"].unique()
        papers = papers.with_columns(has_rebuttal=pl.col("forum_id").is_in(forum_ids.implode()))
    return papers


def _choose_frame(name: str) -> cached_property[pl.DataFrame]:
    """Return the property with the rows of a frame of the whole source that belong to the chosen papers."""

    def choose(source: "FilteredSource") -> pl.DataFrame:
        return source._choose(getattr(source._whole, name))

    return cached_property(choose)


class FilteredSource(CorpusSource):
    """The rows of a source that belong to papers meeting some conditions."""

    def __init__(self, whole: CorpusSource, conditions: Sequence[Condition]) -> None:
        self.name = whole.name
        self.tokens = whole.tokens
        self.unit = whole.unit
        self.own_rows = whole.own_rows
        self.conditions = tuple(conditions)
        self._whole = whole

    def require_papers(self) -> None:
        """Check that at least one paper is chosen.

        Raises:
            PeercorpusError: No paper meets the conditions, or a condition names a value that no paper has.
            TableError: The source has no paper at all.
        """
        if not self.every:
            raise TableError(f"'{self.name}' has no paper; harvest or import some, and run 'peercorpus build'.")
        check_words(self.conditions, self._valued)
        if self.papers.is_empty():
            conditions = ", ".join(map(str, self.conditions))
            raise PeercorpusError(f"None of the {plural(self.every, 'paper')} of '{self.name}' meets {conditions}.")

    @cached_property
    def _valued(self) -> pl.DataFrame:
        return with_values(self._whole, {FIELDS[condition.name].column for condition in self.conditions})

    @cached_property
    def _forums(self) -> pl.DataFrame:
        return self._valued.filter(matching(self.conditions)).select("forum_id")

    def _choose(self, rows: pl.DataFrame) -> pl.DataFrame:
        if not self.conditions:
            return rows
        return rows.join(self._forums, on="forum_id", how="semi", maintain_order="left")

    @property
    def every(self) -> int:
        """Number of papers of the whole source, chosen or not."""
        return self._whole.papers.height

    papers = _choose_frame("papers")
    reviews = _choose_frame("reviews")
    review_times = _choose_frame("review_times")
    paper_tokens = _choose_frame("paper_tokens")
    review_tokens = _choose_frame("review_tokens")
    talks = _choose_frame("talks")
    turns = _choose_frame("turns")
    meta_reviews = _choose_frame("meta_reviews")
    files = _choose_frame("files")

    def texts(self, kind: TextKind) -> Iterator[pl.DataFrame]:
        return map(self._choose, self._whole.texts(kind))

    def marked(self, kind: TextKind) -> Iterator[pl.DataFrame]:
        return map(self._choose, self._whole.marked(kind))

    @cached_property
    def point_venues(self) -> Sequence[str] | None:
        """See `CorpusSource`; only venues of the chosen papers."""
        split = self._whole.point_venues
        venue_ids = set(self.papers["venue_id"])
        return None if split is None else [venue_id for venue_id in split if venue_id in venue_ids]

    def points(self) -> Iterator[pl.DataFrame]:
        return map(self._choose, self._whole.points())

    @cached_property
    def set_aside(self) -> pl.DataFrame | None:
        """See `CorpusSource`; only rows that name a chosen paper."""
        rows = self._whole.set_aside
        return None if rows is None else self._choose(rows)

    @cached_property
    def listed(self) -> Mapping[str, bool | None] | None:
        """See `CorpusSource`; for the venues of the chosen papers."""
        listed = self._whole.listed
        venue_ids = set(self.papers["venue_id"])
        return None if listed is None else {venue: whole for venue, whole in listed.items() if venue in venue_ids}


BATCH_ROWS = 1_000
"""Rows in memory at once."""
TEXT_ROWS = 64
"""Texts of papers in memory at once."""
ITEM = "list.element"
OF_SCORES = [
    f"scores.{ITEM}.{name}"
    for name in (
        *("aspect", "field", "subject", "value", "low", "high", "higher_is_better", "phase", "source"),
        *("rank", "unified", "stated_unified"),
    )
]
OF_TURNS = [f"turns.{ITEM}.role", f"turns.{ITEM}.created_at", f"turns.{ITEM}.post_ids.{ITEM}"]
OF_CONTEXT = f"context.{ITEM}.post_id"
OF_SECTIONS = [f"sections.{ITEM}.{name}" for name in ("kind", "text")]
_IS_OWN = pl.col("kind") != SectionKind.MODEL_CHAT.value
"""Whether the reviewer wrote a passage: it is no chat with a model."""
PREFERRED = {Aspect.RECOMMENDATION: "rating", Aspect.CONFIDENCE: "confidence"}
"""If a form asks for an aspect twice, the score in the field of this name counts, otherwise the first one."""
_LATER_COLUMNS: Schema = {
    "higher_is_better": pl.Boolean,
    "subject": pl.String,
    "rank": pl.Int64,
    "unified": pl.Float64,
    "stated_unified": pl.Float64,
}
"""Members of a score that releases of earlier versions lack."""
GRADES = [grade.value for grade in Grade]
_OTHERS = [source.value for source in BY_OTHERS]


def read_columns(paths: Iterable[Location], columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[pl.DataFrame]:
    """Yield columns of Parquet files in batches of at most `rows`; a dotted name reads one leaf of a nested column."""
    for path in paths:
        with open_part(path) as file:
            for batch in file.iter_batches(rows, columns=list(columns)):
                yield from_batch(batch)


def from_batch(batch: pa.RecordBatch | pa.Table) -> pl.DataFrame:
    """Return an Arrow batch or table as a frame."""
    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _explode(rows: pl.DataFrame, column: str, keys: Sequence[str]) -> pl.DataFrame:
    """Return one row for each item of a list of structs, in order, with the columns `keys`."""
    filled = rows.select(*keys, column).filter(pl.col(column).list.len() > 0)
    return filled.explode(column).unnest(column)


def _select_score(name: str, phase: Phase) -> pl.Expr:
    return pl.col(name).filter(pl.col("phase") == phase.value).first()


def _select_current(name: str) -> pl.Expr:
    return pl.coalesce(_select_score(name, Phase.FINAL), _select_score(name, Phase.INITIAL))


def overall_scores(rows: pl.DataFrame) -> pl.DataFrame:
    """Return recommendation and confidence of each review, in the columns of `REVIEWS`.

    The rules are those of `scores.first_and_last`. Reviews have the columns `review_id`, `forum_id`, `reviewer` and
    `scores`.
    """
    scores = _explode(rows, "scores", ["review_id"]).with_row_index("place")
    for name, kind in _LATER_COLUMNS.items():
        if name not in scores.columns:  # A release of an earlier version.
            scores = scores.with_columns(pl.lit(None, dtype=kind).alias(name))
    scores = scores.with_columns(place10=pl.coalesce("unified", "stated_unified"))
    is_answered = pl.col("value").is_not_null() | pl.col("rank").is_not_null()
    aspects = scores.filter(is_answered & pl.col("aspect").is_in(DETAIL_ASPECTS))
    counts = aspects.group_by("review_id").agg(aspect_scores=pl.col("field").n_unique().cast(pl.Int64))
    rater = pl.when(_IS_ONE_PERSON).then("reviewer").otherwise("review_id")
    reviews = rows.select("review_id", "forum_id", rater=rater).join(
        counts, on="review_id", how="left", maintain_order="left"
    )
    reviews = reviews.with_columns(pl.col("aspect_scores").fill_null(0))
    for aspect, field in PREFERRED.items():
        is_named = [pl.col(name).str.to_lowercase().eq_missing(pl.lit(field)) for name in ("field", "subject")]
        of_aspect = scores.filter(aspect=aspect.value).with_columns(other=~(is_named[0] | is_named[1]))
        phases = (
            of_aspect.sort("other", "place")
            .group_by("review_id")
            .agg(
                first=_select_score("value", Phase.INITIAL),
                last=_select_score("value", Phase.FINAL),
                low=_select_current("low"),
                high=_select_current("high"),
                higher_is_better=_select_current("higher_is_better"),
                unified=_select_current("place10"),
                by=_select_score("source", Phase.FINAL),
            )
            # A first score beside a last one that someone else gave would look like a change by the reviewer.
            .with_columns(first=pl.when(~pl.col("by").is_in(_OTHERS).fill_null(False)).then("first"))
        )
        if aspect is Aspect.RECOMMENDATION:
            columns = phases.select(
                *("review_id", "low", "high", "higher_is_better", "unified"),
                rating_initial="first",
                rating_final="last",
            )
        else:
            columns = phases.select("review_id", confidence=pl.coalesce("last", "first"))
        reviews = reviews.join(columns, on="review_id", how="left", maintain_order="left")
    return reviews


def review_tokens(parts: Iterable[pl.DataFrame], tokens: TokenCounter) -> Iterator[pl.DataFrame]:
    """Count the tokens of all sections of each review, in the columns of `REVIEW_TOKENS`.

    Reviews have the columns `review_id`, `forum_id` and `sections`.
    """
    sent, kept = tee(parts)
    texts = (_explode(rows, "sections", ["review_id"]).filter(_IS_OWN) for rows in sent)
    for counted, rows in zip(tokens.counted(texts, "text"), kept, strict=True):
        sums = counted.group_by("review_id").agg(pl.col("tokens").sum())
        reviews = rows.select("review_id", "forum_id").join(sums, on="review_id", how="left", maintain_order="left")
        yield reviews.with_columns(pl.col("tokens").fill_null(0))


def review_texts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `TEXTS` from the `forum_id`, `created_at` and `sections` of reviews."""
    own = pl.element().filter(pl.element().struct.field("kind") != SectionKind.MODEL_CHAT.value)
    passages = pl.col("sections").list.eval(own.struct.field("text"))
    return rows.select("forum_id", "created_at", text=passages.list.join("\n\n"))


def measure_marked(texts: pl.DataFrame) -> pl.DataFrame:
    """Return texts with the column `text` replaced by `marked`, its marked share."""
    shares = [marked_share(text or "") for text in texts["text"]]
    return texts.drop("text").with_columns(marked=pl.Series(shares, dtype=pl.Float64))


def reply_texts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `TEXTS` of the authors' replies among posts with these columns, `kind` and `role`."""
    kinds = [PostKind.REBUTTAL.value, PostKind.COMMENT.value]
    is_reply = pl.col("kind").is_in(kinds) & (pl.col("role") == Role.AUTHOR.value)
    return rows.filter(is_reply).select(*TEXTS)


def with_reviewers(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of conversations with a reviewer; a release of an earlier version has no others."""
    return rows.filter(pl.col("kind") == ConversationKind.REVIEW.value) if "kind" in rows.columns else rows


def turn_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each turn, in the columns of `TURNS`, from `conversation_id`, `forum_id` and `turns`."""
    turns = _explode(with_reviewers(rows), "turns", ["conversation_id", "forum_id"])
    has_posts = pl.col("post_ids").list.len() > 0
    # The conversation of a published record names no posts.
    is_posted = has_posts | ~has_posts.any().over("conversation_id")
    return turns.with_columns(place=pl.int_range(pl.len()).over("conversation_id"), is_posted=is_posted)


def talks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `TALKS` from the `conversation_id`, `forum_id` and `context` of public conversations."""
    return with_reviewers(rows).select(
        "conversation_id", "forum_id", responses=pl.col("context").list.len().cast(pl.Int64)
    )


def best_grades(versions: pl.DataFrame) -> pl.DataFrame:
    """Return the best grade of each paper, from the columns `forum_id` and `grade` of its versions."""
    graded = versions.filter(pl.col("grade").is_not_null())
    ranked = graded.with_columns(rank=pl.col("grade").replace_strict(GRADES, range(len(GRADES)), return_dtype=pl.Int64))
    return ranked.sort("rank", maintain_order=True).unique("forum_id", keep="first").select("forum_id", "grade")


def best_texts(versions: pl.DataFrame, held: Set[str]) -> pl.DataFrame:
    """Return the file of each paper's best text, as `forum_id`, `sha256` and `grade`, as a release chooses it.

    Versions have `forum_id`, `sha256`, `grade`, `moment` and `created_at`; `held` are the files with a text.
    """
    best: dict[str, tuple[tuple[int, int, float], str, str | None]] = {}
    for forum_id, sha256, *known in versions.select("forum_id", "sha256", "grade", "moment", "created_at").iter_rows():
        rank = rank_text(*known)
        if sha256 in held and (forum_id not in best or rank < best[forum_id][0]):
            best[forum_id] = rank, sha256, known[0]
    rows = [(forum_id, sha256, grade) for forum_id, (_, sha256, grade) in best.items()]
    return pl.DataFrame(rows, dict.fromkeys(("forum_id", "sha256", "grade"), pl.String), orient="row")


def files(versions: pl.DataFrame) -> pl.DataFrame:
    """Count the PDFs of each paper, known and fetched, from the columns `forum_id`, `path` and `sha256`."""
    pdfs = versions.filter(pl.col("path").str.starts_with("/"))
    here = pl.col("sha256").is_not_null().sum().cast(pl.Int64)
    return pdfs.group_by("forum_id").agg(pdfs=pl.len().cast(pl.Int64), pdfs_here=here)
