"""How a record that declares a form is read: what it may say, and what is refused by file and name."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from peercorpus.forms.declared import ANSWERS, Evidence, as_review_form, read_forms


def _record(id: str = "a", **changes: Any) -> str:
    field = {"name": "rating", "type": "score"} | changes.pop("field", {})
    keys = {"id": id, "is_ordered": True, "evidence": ["C"], "sources": ["a test"]} | changes
    lines = [f"{key} = {_toml(value)}" for key, value in keys.items() if value is not None]
    return "\n".join(["[[form]]", *lines, f"field = [{_toml(field)}]", ""])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def _write(folder: Path, text: str) -> None:
    (folder / ANSWERS).write_text('[ten]\noffered = ["10: best", "1: worst"]\nlow = 1\nhigh = 10\n', encoding="utf-8")
    (folder / "made_up.toml").write_text(text, encoding="utf-8")


def test_a_year_stands_for_each_of_the_years(tmp_path: Path) -> None:
    _write(tmp_path, _record(venues=["A/{year}/*", "B"], years=[2030, 2031]))
    assert read_forms(tmp_path)[0].venue_ids == ("A/2030/*", "A/2031/*", "B")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_record(colour="red"), "made_up.toml: form 'a': Object contains unknown field `colour`"),
        (_record(field={"hue": 1}), "form 'a': Object contains unknown field `hue`"),
        (_record(field={"type": "number"}), "Invalid enum value 'number'"),
        (_record(field={"written": "in ink"}), "Invalid enum value 'in ink'"),
        (_record(evidence=["Z"]), "Invalid enum value 'Z'"),
        (_record(evidence=[]), "Expected `array` of length >= 1"),
        (_record(evidence=["C", "R"]), "evidence goes best first"),
        (_record(sources=None), "missing required field `sources`"),
        (_record(field={"answers": "eleven"}), "no answers are called 'eleven'"),
        (
            _record(field={"answers": {"offered": ["7: good", "1: bad"], "low": 1, "high": 6}}),
            "offers 1 to 7 on a scale from 1 to 6",
        ),
        (_record(field={"answers": {"offered": [1, 2]}}), "does not say both ends"),
        (_record(field={"answers": {"low": 1}}), "does not say both ends"),
        (_record(field={"answers": {}}), "offers nothing"),
        (_record(field={"answers": {"offered": ["1: a", "1: b"], "low": 1, "high": 1}}), "offers a number twice"),
        (_record(field={"answers": "ten", "written": "number label"}), "not written as 'number label'"),
        (
            _record(field={"answers": {"offered": ["3 good"], "low": 3, "high": 3}, "written": "number: label"}),
            "not written as",
        ),
        (_record(field={"name": "colour"}), "neither it nor the vocabulary says of what"),
        (_record(field={"name": "review", "type": "text", "aspect": "clarity"}), "'review' is no score"),
        (_record(field={"section": "summary"}), "'rating' is no text"),
        (_record(field={"name": "review", "type": "text", "answers": "ten"}), "is a text and offers answers"),
        (_record(venues=["V/{year}"]), "years and '{year}' go together"),
        (_record(venues=["V/-/Official_Review"]), "not the id of a group"),
        (_record(reply=[{"kind": "decision", "answers": {"verdict": ["Yes"]}}]), "none of its fields"),
        (_record(is_unrated=True), "asks for no overall rating and has 'rating'"),
        (_record("a", venues=["V"]) + _record("b", venues=["V"]), "form 'b': the venue 'V' is that of 'a' too"),
        (_record("a") + _record("a"), "the id 'a' is that of 'a' too"),
        ('[[form]]\nid = "a"\nis_ordered = true\nevidence = ["C"]\nsources = ["x"]\n', "does not say what is unknown"),
        ("[[venue]]\nid = 1\n", "made_up.toml: holds something else"),
        ("form = [", "made_up.toml: "),
    ],
)
def test_a_record_that_says_what_it_may_not_is_refused_by_file_and_name(
    text: str, message: str, tmp_path: Path
) -> None:
    _write(tmp_path, text)
    with pytest.raises(ValueError, match=re.escape(message)):
        read_forms(tmp_path)


def test_a_record_that_says_what_it_may_is_read(tmp_path: Path) -> None:
    _write(tmp_path, _record(field={"answers": "ten", "written": "number: label"}))
    (form,) = read_forms(tmp_path)
    assert form.fields[0].evidence is Evidence.CODE
    assert as_review_form(form).questions["rating"].labels == {10.0: "10: best", 1.0: "1: worst"}


def test_an_answer_in_words_is_offered_beside_numbers(tmp_path: Path) -> None:
    offered = {"offered": ["2: yes", "1: no", "Not applicable"], "low": 1, "high": 2}
    _write(tmp_path, _record(field={"answers": offered, "written": "number"}))
    (form,) = read_forms(tmp_path)
    assert as_review_form(form).questions["rating"].answers == ("2", "1", "Not applicable")
