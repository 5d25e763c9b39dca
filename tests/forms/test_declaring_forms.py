"""How a record that declares a form is read: what it may contain, and what is refused, naming file and form."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from peercorpus.errors import VenuesFileError
from peercorpus.forms.declared_forms import (
    ANSWERS,
    DeclaredForm,
    Evidence,
    as_review_form,
    read_forms,
    read_own_form,
)
from peercorpus.venues.own_venues import OwnVenue, read_own_venues


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


def test_a_range_of_years_means_each_year(tmp_path: Path) -> None:
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
        (_record(evidence=["C", "R"]), "form 'a': evidence"),
        (_record(sources=None), "missing required field `sources`"),
        (_record(field={"answers": "eleven"}), "'eleven'"),
        (
            _record(field={"answers": {"offered": ["7: good", "1: bad"], "low": 1, "high": 6}}),
            "1 to 7",
        ),
        (_record(field={"answers": {"offered": [1, 2]}}), "both ends"),
        (_record(field={"answers": {"low": 1}}), "both ends"),
        (_record(field={"answers": {}}), "'rating' must offer"),
        (_record(field={"answers": {"offered": ["1: a", "1: b"], "low": 1, "high": 1}}), "twice"),
        (_record(field={"answers": "ten", "written": "number label"}), "'number label'"),
        (
            _record(field={"answers": {"offered": ["3 good"], "low": 3, "high": 3}, "written": "number: label"}),
            "'number: label'",
        ),
        (_record(field={"name": "colour"}), "'colour' is a score"),
        (_record(field={"name": "review", "type": "text", "aspect": "clarity"}), "'review'"),
        (_record(field={"section": "summary"}), "'rating'"),
        (_record(field={"name": "review", "type": "text", "answers": "ten"}), "'review' is a text"),
        (_record(venues=["V/{year}"]), "'{year}'"),
        (_record(venues=["V/-/Official_Review"]), "id of a group"),
        (_record(reply=[{"kind": "decision", "answers": {"verdict": ["Yes"]}}]), "'verdict'"),
        (_record(is_unrated=True), "overall rating"),
        (_record("a", venues=["V"]) + _record("b", venues=["V"]), "form 'b': the venue 'V'"),
        (_record("a") + _record("a"), "the id 'a'"),
        ('[[form]]\nid = "a"\nis_ordered = true\nevidence = ["C"]\nsources = ["x"]\n', "unknown"),
        ("[[venue]]\nid = 1\n", "made_up.toml: "),
        ("form = [", "made_up.toml: "),
    ],
)
def test_an_invalid_record_is_refused_by_file_and_name(text: str, message: str, tmp_path: Path) -> None:
    _write(tmp_path, text)
    with pytest.raises(ValueError, match=re.escape(message)):
        read_forms(tmp_path)


def test_a_valid_record_is_read(tmp_path: Path) -> None:
    _write(tmp_path, _record(field={"answers": "ten", "written": "number: label"}))
    (form,) = read_forms(tmp_path)
    assert form.fields[0].evidence is Evidence.CODE
    assert as_review_form(form).questions["rating"].labels == {10.0: "10: best", 1.0: "1: worst"}


def test_an_answer_in_words_is_offered_beside_numbers(tmp_path: Path) -> None:
    offered = {"offered": ["2: yes", "1: no", "Not applicable"], "low": 1, "high": 2}
    _write(tmp_path, _record(field={"answers": offered, "written": "number"}))
    (form,) = read_forms(tmp_path)
    assert as_review_form(form).questions["rating"].answers == ("2", "1", "Not applicable")


PAGE = Path(__file__).parents[2] / "docs" / "venues.md"
OWN = """
[[venue]]
id = "Harbour.org/2031/Conference"
source = "https://harbour.example"
[venue.form]
evidence = ["D"]
field = [{ name = "mark", type = "score", aspect = "recommendation", answers = "default_10" }]
"""


def own_form(text: str) -> DeclaredForm | None:
    [own] = read_own_venues(text.encode(), "venues.toml").values()
    return read_own_form(own, "venues.toml")


def test_a_users_form_takes_its_sources_from_the_row_and_may_name_answers_of_the_package() -> None:
    form = own_form(OWN)
    assert form is not None
    assert (form.venues, form.sources) == (("Harbour.org/2031/Conference",), ("https://harbour.example",))
    assert as_review_form(form).form_id == "declared:venues.toml:Harbour.org/2031/Conference"
    assert as_review_form(form).question("mark").offered == tuple(range(1, 11))
    assert own_form(OWN.partition("[venue.form]")[0]) is None


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ('"score"', '"number"', "form.field[0].type", "score"),
        ('"recommendation"', '"overall"', "form.field[0].aspect", "recommendation"),
        ('evidence = ["D"]', "", "form", "evidence"),
        ('evidence = ["D"]', 'evidence = ["Z"]', "form.evidence[0]", "R, r, D, C, K"),
        ('evidence = ["D"]', 'evidence = ["D"]\nvenues = ["V"]', "form.venues", "row"),
        ('"default_10"', '"default_11"', "form", "default_10"),
        ('"default_10"', "{ low = 1 }", "form", "'high'"),
        ("name =", "nmae =", "form.field[0]", "nmae"),
        ('[{ name = "mark"', '["mark", { name = "mark"', "form.field[0]", "object"),
        ("field = [", "field = 3 #", "form.field", "array"),
    ],
)
def test_a_users_form_that_cannot_be_read_is_refused_by_key(old: str, new: str, key: str, expected: str) -> None:
    assert old in OWN
    with pytest.raises(VenuesFileError) as refused:
        own_form(OWN.replace(old, new, 1))
    told = str(refused.value)
    assert told.startswith("'venues.toml', venue 'Harbour.org/2031/Conference'")
    assert [part for part in (key, expected) if part not in told] == []


def test_the_example_of_the_page_is_a_row_with_a_form() -> None:
    [example] = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    [own] = read_own_venues(example.encode(), "venues.toml").values()
    form = read_own_form(own, "venues.toml")
    assert form is not None
    assert [field.name for field in form.fields] == ["praise", "mark"]
    assert own.full_deadline is not None
    assert own.statuses
    keys = {field.encode_name for field in msgspec.structs.fields(OwnVenue)} - {"id", "source"}
    assert [key for key in keys if f"`{key}`" not in PAGE.read_text(encoding="utf-8")] == []
