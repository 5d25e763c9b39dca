"""Conditions that choose papers: read from text, and met or not."""

import polars as pl
import pytest

from peercorpus.errors import PeercorpusError
from peercorpus.where import FIELDS, Comparison, Condition, matching, parse, parse_all

PAPERS = pl.DataFrame(
    {
        "forum_id": ["a", "b", "c"],
        "venue_id": ["ICLR.cc/2024/Conference", "TMLR", "ICML.cc/2023/Conference"],
        "conference": ["iclr", "tmlr", "icml"],
        "year": [2024, None, 2023],
        "status": ["accepted", "rejected", None],
        "keywords": [["Large Models", " kites "], [], ["kites"]],
        "rating": [6.5, 3.0, None],
        "score_changed": [True, None, False],
    },
    schema_overrides={"year": pl.Int32},
)


def chosen(*texts: str) -> str:
    return "".join(PAPERS.filter(matching(parse_all(texts)))["forum_id"])


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), "abc"),
        (("venue=iclr.CC/2024/conference",), "a"),
        (("venue=TMLR", "venue=ICML.cc/2023/Conference"), "bc"),
        (("venue=TMLR", "year>=2000"), ""),
        (("year>=2023", "year<2024"), "c"),
        (("year!=2023",), "a"),
        (("conference!=iclr", "conference!=icml"), "b"),
        (("status!=accepted",), "b"),
        (("rating>3",), "a"),
        (("rating<=6.5",), "ab"),
        (("keyword=KITES",), "ac"),
        (("keyword!=large models",), "c"),
        (("score_changed=yes",), "a"),
        (("score_changed=no",), "c"),
    ],
)
def test_what_is_not_known_meets_no_condition(texts: tuple[str, ...], expected: str) -> None:
    assert chosen(*texts) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("year", "is no condition"),
        ("year>=", "is no condition"),
        ("", "is no condition"),
        ("=2023", "is no condition"),
        ("colour=red", "only by: venue, conference"),
        ("status=great", "it is one of: accepted, rejected"),
        ("grade=a", "it is one of: exact, exact_attachment"),
        ("venue>ICLR", "has no order"),
        ("rating>=good", "is no number"),
        ("rating>=nan", "is no number"),
        ("rating<inf", "is no number"),
        ("has_rebuttal=maybe", "has_rebuttal=yes"),
    ],
)
def test_a_condition_that_is_none_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(PeercorpusError, match=words) as raised:
        parse(text)
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text", ["year>=2023", "rating<6.123456789", "venue!=tmlr", "has_rebuttal=no", "keyword=a = b"]
)
def test_a_condition_is_read_as_it_is_written(text: str) -> None:
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)


def test_equal_conditions_are_one() -> None:
    assert parse_all(["year=2023", "YEAR = 2023.0"]) == (Condition("year", Comparison.IS, 2023.0),)


def test_every_field_says_what_it_is() -> None:
    assert all(field.says for field in FIELDS.values())
