"""Compute the share of a population's texts that look written by a model: a lower bound or an estimate, with a control.

The estimator is that of `metrics.marked_share`. Texts are only added up: this module returns only numbers of
populations with at least `FEWEST_TEXTS` texts.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from peercorpus.errors import PeercorpusError
from peercorpus.metrics.intervals.bootstrap import Interval
from peercorpus.metrics.marked_share import (
    FEWEST_PAPERS,
    FEWEST_TEXTS,
    PASSAGE_WORDS,
    Sample,
    SampleCounter,
    estimate_share,
    is_distinct,
    marker_words,
)
from peercorpus.report.corpus_statistics import Statistic, largest, nothing
from peercorpus.report.source import CorpusSource, TextKind
from peercorpus.wording.counted_nouns import plural

CONTROL_UNTIL = datetime(2022, 1, 1, tzinfo=UTC)
"""Earlier texts were written by people: the first chatbot that can write reviews opened in November 2022."""
BEFORE = f"before {CONTROL_UNTIL.year}"
AFTER = f"from {CONTROL_UNTIL.year} on"
_SMALL = f"in a population of fewer than {FEWEST_TEXTS} texts or {FEWEST_PAPERS} papers"
_ALONE = (
    f"too few texts {BEFORE} of the same conference and kind for a comparison and a control: twice {FEWEST_TEXTS}"
    f" texts of {FEWEST_PAPERS} papers are needed"
)
_SHORT = f"fewer than {PASSAGE_WORDS} words"
_NO_YEAR = "the venue names no year"
_HOW = (
    f"Texts are cut into passages of {PASSAGE_WORDS} words; the marked share of a text is the share of its passages"
    f" with one of {len(marker_words())} words that chatbots overuse, as published (marker_words.toml). At least:"
    " (marked share − reference) / (1 − reference); the reference is the marked share of texts of the same conference"
    f" and kind {BEFORE}, by their date, or by the venue's year if they have none. Share, if texts of a model are"
    " given: (marked share − reference) / (the model's − reference). Intervals are 95 %, by bootstrap over papers, not"
    " over texts or sentences. Control: the texts of each earlier year are compared with those of the other earlier"
    " years; with a single year, half the papers are compared with the other half. Limits: this does not distinguish"
    " a model that wrote the text from a grammar checker, from an assistant that reworded it, from people who adopted"
    " such words, or from new topics or a new form; it misses models that avoid the words, and implies nothing about"
    " any single text or person."
)
_SCHEMA: Mapping[str, Any] = {
    "of": pl.String,
    "conference": pl.String,
    "year": pl.Int64,
    "written": pl.String,
    "papers": pl.Int64,
    "texts": pl.Int64,
    "marked": pl.Float64,
    "reference_texts": pl.Int64,
    "reference_marked": pl.Float64,
    "at_least": pl.Float64,
    "at_least_low": pl.Float64,
    "at_least_high": pl.Float64,
    "share": pl.Float64,
    "share_low": pl.Float64,
    "share_high": pl.Float64,
    "left_out": pl.String,
}
"""`left_out` is the reason why a population has no number, else null; rows of earlier texts are the control."""


class _Population(NamedTuple):
    kind: TextKind
    conference: str
    year: int
    is_control: bool


def read_model_texts(path: Path) -> Sample:
    """Count a model's texts: a folder of .txt and .md files, or JSON Lines with the key `text`.

    Raises:
        PeercorpusError: The path is neither, a line is not such an object, or there are too few texts long enough.
    """
    counter = SampleCounter()
    for place, text in enumerate(_read_texts(path)):
        counter.add(str(place), text)
    sample = counter.sample()
    if sample.size < FEWEST_PAPERS:
        raise PeercorpusError(
            f"'{path}' contains {sample.size} texts of {PASSAGE_WORDS} words or more; an estimate needs at least"
            f" {FEWEST_PAPERS} texts of a model."
        )
    return sample


def _read_texts(path: Path) -> Iterator[str]:
    if path.is_dir():
        for file in sorted(path.iterdir()):
            if file.suffix in {".txt", ".md"}:
                yield file.read_text(encoding="utf-8", errors="replace")
        return
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PeercorpusError(
            f"The model's texts '{path}' cannot be read ({error.strerror}); name a folder of .txt or .md files, or a"
            " file of JSON Lines."
        ) from None
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise PeercorpusError(
                f"Line {number} of '{path}' is not a JSON object with a string 'text'; correct the line."
            )
        yield row["text"]


def _count_texts(source: CorpusSource) -> tuple[dict[_Population, SampleCounter], int]:
    """Return every population, and the number of texts without a year."""
    papers = {row[0]: row[1:] for row in source.papers.select("forum_id", "conference", "year").iter_rows()}
    populations: dict[_Population, SampleCounter] = defaultdict(SampleCounter)
    without_year = 0
    for kind in TextKind:
        for rows in source.marked(kind):
            for forum_id, created_at, share in rows.iter_rows():
                conference, year = papers.get(forum_id, (None, None))
                if conference is None or year is None:
                    without_year += 1
                    continue
                is_control = created_at < CONTROL_UNTIL if created_at else year < CONTROL_UNTIL.year
                populations[_Population(kind, conference, year, is_control)].add_share(forum_id, share)
    return populations, without_year


def _choose_samples(one: _Population, samples: Mapping[_Population, Sample]) -> tuple[Sample, Sample]:
    """Return the sample of a population and the sample it is compared with, which have no text in common."""
    others = [
        sample
        for other, sample in samples.items()
        if other.is_control and other[:2] == one[:2] and (not one.is_control or other.year != one.year)
    ]
    reference = reduce(add, others, Sample((), ()))
    if one.is_control and not reference.is_large:
        return samples[one].halves()
    return samples[one], reference


def _is_measurable(one: _Population, samples: Mapping[_Population, Sample]) -> bool:
    return samples[one].is_large and all(sample.is_large for sample in _choose_samples(one, samples))


def _has_control(one: _Population, samples: Mapping[_Population, Sample]) -> bool:
    """Return whether the table has a control, texts of people from the same conference and of the same kind."""
    return any(other.is_control and other[:2] == one[:2] and _is_measurable(other, samples) for other in samples)


def _columns(name: str, interval: Interval) -> dict[str, object]:
    return {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}


def _make_row(one: _Population, samples: Mapping[_Population, Sample], model: Sample | None) -> dict[str, object]:
    observed, reference = _choose_samples(one, samples)
    row: dict[str, object] = {"of": one.kind.value, "conference": one.conference, "year": one.year}
    row |= {"written": BEFORE if one.is_control else AFTER}
    if not samples[one].is_large:
        return row | {"papers": samples[one].papers, "texts": samples[one].size, "left_out": _SMALL}
    if not (_is_measurable(one, samples) and _has_control(one, samples)):
        return row | {"papers": samples[one].papers, "texts": samples[one].size, "left_out": _ALONE}
    row |= {"papers": observed.papers, "texts": observed.size, "marked": observed.marked_share}
    row |= {"reference_texts": reference.size, "reference_marked": reference.marked_share}
    row |= _columns("at_least", estimate_share(observed, reference))
    if model and one.kind is TextKind.REVIEWS and is_distinct(model, reference):
        row |= _columns("share", estimate_share(observed, reference, model))
    return row


def model_written(source: CorpusSource, model: Sample | None = None) -> Statistic:
    """Bound or estimate the share of texts written by a model, by kind, conference and year.

    Without `model`, reviews written by one, there are only lower bounds.
    """
    counters, without_year = _count_texts(source)
    samples = {one: counter.sample() for one, counter in counters.items()}
    order = largest(source.papers)
    ranked = sorted(samples, key=lambda one: ([*TextKind].index(one.kind), order.index(one.conference), *one[2:]))
    table = pl.DataFrame([_make_row(one, samples, model) for one in ranked if samples[one].size], schema=dict(_SCHEMA))
    missing = Counter({_SHORT: sum(counter.short for counter in counters.values()), _NO_YEAR: without_year})
    by_reason = table.drop_nulls("left_out").group_by("left_out", maintain_order=True).agg(pl.col("texts").sum())
    missing.update(dict(by_reason.iter_rows()))
    shown = table.filter(pl.col("left_out").is_null())
    if shown.is_empty():
        return nothing(table, "text", _explain_nothing(samples), _HOW, missing)
    n = int(shown["texts"].sum())
    return Statistic(table=table, n=n, of="text", says=_describe(shown, model), how=_HOW, unknown=missing)


def _explain_nothing(samples: Mapping[_Population, Sample]) -> str:
    if not any(one.is_control and sample.size for one, sample in samples.items()):
        return f"No text of this selection was written {BEFORE}, so there is no reference."
    return (
        f"No conference of this selection has twice {FEWEST_TEXTS} texts of {FEWEST_PAPERS} papers {BEFORE}: half as"
        " the reference, and half as the control."
    )


def _points(value: float) -> str:
    """Format a share in per cent with one decimal.

    >>> _points(0.1234), _points(-0.0001)
    ('12.3 %', '0.0 %')
    """
    return f"{100 * value:.1f} %".replace("-0.0 %", "0.0 %")


def _describe(shown: pl.DataFrame, model: Sample | None) -> str:
    estimated = shown.drop_nulls("share").height > 0
    name = "share" if estimated else "at_least"
    later, control = (shown.filter(written=when).drop_nulls(name) for when in (AFTER, BEFORE))
    parts = []
    if later.height:
        top = later.sort(f"{name}_low", descending=True, maintain_order=True).row(0, named=True)
        above = later.filter(pl.col(f"{name}_low") > 0).height
        interval = f"{_points(top[f'{name}_low'])} to {_points(top[f'{name}_high'])}"
        parts.append(
            f"The {'estimate' if estimated else 'lower bound'} lies above 0 with its whole interval in {above:,} of"
            f" {plural(later.height, 'population')} {AFTER}; it is highest in {top['of']} of {top['conference']}"
            f" {top['year']}: {_points(top[name])} ({interval})."
        )
    if control.height:
        low, high = (_points(float(str(end))) for end in (control[name].min(), control[name].max()))
        parts.append(
            f"Control, which must be near 0: {low} to {high} in {plural(control.height, 'population')} {BEFORE}."
        )
    if model and not estimated:
        parts.append(
            "The model's texts contain the words hardly more often than people's, so nothing is estimated from them."
        )
    return " ".join(parts)
