"""Conditions that select papers: parsed from text, and met or not."""

import polars as pl
import pytest

from peercorpus.corpus.filters import matching, parse, parse_all
from peercorpus.errors import PeercorpusError

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
        (("status!=accepted",), "b"),
        (("rating>3",), "a"),
        (("keyword=KITES",), "ac"),
        (("keyword!=large models",), "c"),
        (("score_changed=yes",), "a"),
        (("score_changed=no",), "c"),
    ],
)
def test_an_unknown_value_meets_no_condition(texts: tuple[str, ...], expected: str) -> None:
    assert chosen(*texts) == expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("year", ("'year'", "year>=2023")),
        ("", ("''", "year>=2023")),
        ("colour=red", ("'colour'", "venue, conference")),
        ("status=great", ("'great'", "status", "accepted, rejected")),
        ("venue>ICLR", ("'venue>ICLR'", "'venue=ICLR'", "'venue!=ICLR'")),
        ("rating>=good", ("'good'", "rating>=3")),
        ("rating<inf", ("'inf'", "rating>=3")),
        ("has_rebuttal=maybe", ("'maybe'", "has_rebuttal=yes", "has_rebuttal=no")),
    ],
)
def test_an_invalid_condition_is_refused_in_one_sentence(text: str, named: tuple[str, ...]) -> None:
    with pytest.raises(PeercorpusError) as raised:
        parse(text)
    assert [part for part in named if part not in str(raised.value)] == []
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text", ["year>=2023", "rating<6.123456789", "venue!=tmlr", "has_rebuttal=no", "keyword=a = b"]
)
def test_a_condition_is_parsed_and_printed_alike(text: str) -> None:
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)
