"""The year of a paper: the venue's, else the decision's, else the submission's; and it is a whole number everywhere."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from invented_tables import TMLR, paper
from peercorpus.records.arrow_schema import arrow_schema
from peercorpus.records.enums import YearSource
from peercorpus.records.papers import Paper, forget_year_of_decision, read_year
from peercorpus.release.columns import DEFAULT_OF_REVIEWBENCH
from peercorpus.release.shards import CONFIGS, EVERY_CONFIG

EARLY, LATE = datetime(2021, 12, 31, tzinfo=UTC), datetime(2022, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ((2020, LATE, EARLY), (2020, YearSource.VENUE)),
        ((None, LATE, EARLY), (2022, YearSource.DECISION)),
        ((None, None, EARLY), (2021, YearSource.SUBMISSION)),
        ((None, None, None), (None, None)),
    ],
)
def test_a_year_has_its_source(known: tuple[int | None, datetime | None, datetime | None], expected: object) -> None:
    assert read_year(*known) == expected


def test_a_hidden_decision_gives_no_year() -> None:
    decided = paper("f", TMLR, year=2022, year_from=YearSource.DECISION, created_at=EARLY)
    hidden = forget_year_of_decision(decided)
    assert (hidden.year, hidden.year_from) == (2021, YearSource.SUBMISSION)


def test_a_year_has_one_type() -> None:
    published = [config.schema.field("year").type for config in CONFIGS.values()]
    assert EVERY_CONFIG[DEFAULT_OF_REVIEWBENCH].schema.field("year").type == pa.int32()  # As its card prints it.
    assert {arrow_schema(Paper).field("year").type, *published} == {pa.int64()}
