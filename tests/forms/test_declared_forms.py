"""Declared forms: a record for every venue that needs one, without unfounded claims, and real reviews fit it."""

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
import pytest

from peercorpus.errors import VenuesFileError
from peercorpus.forms import vocabulary
from peercorpus.forms.declared_forms import (
    ANSWERS,
    AnswerFormat,
    DeclaredForm,
    Evidence,
    as_review_form,
    declared_form,
    declared_forms,
    read_forms,
    read_own_form,
)
from peercorpus.forms.form import read_score
from peercorpus.forms.reviews import read_fields
from peercorpus.records.enums import Aspect, FieldType, PostKind
from peercorpus.venues.catalogue import rows
from peercorpus.venues.own_venues import OwnVenue, read_own_venues
from peercorpus.venues.venue_id import conference_of, year_of

DATA = Path(__file__).parents[3] / "shared" / "data"
FORMS = {form.id: form for form in declared_forms()}


def _years(venue_id: str, *years: int) -> list[str]:
    return [venue_id.format(year) for year in years]


REVIEWED = [
    *_years("ICLR.cc/{}/conference", 2013, 2014, 2017),
    "ICLR.cc/2017/workshop",
    *_years("ICLR.cc/{}/Conference", 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2025, 2026),
    "ICLR.cc/2018/Workshop",
    *_years("NeurIPS.cc/{}/Conference", 2021, 2022, 2023, 2024, 2025),
    "NeurIPS.cc/2021/Track/Datasets_and_Benchmarks/Round1",
    "NeurIPS.cc/2021/Track/Datasets_and_Benchmarks/Round2",
    *_years("NeurIPS.cc/{}/Track/Datasets_and_Benchmarks", 2022, 2023),
    *_years("NeurIPS.cc/{}/Datasets_and_Benchmarks_Track", 2024, 2025),
    *_years("ICML.cc/{}/Conference", 2023, 2025),
    "ICML.cc/2025/Position_Paper_Track",
    "TMLR",
    "DMLR",
    "MELBA",
    "EMNLP/2023/Conference",
    "aclweb.org/ACL/ARR/2021/September",
    "aclweb.org/ACL/ARR/2022/January",
    "aclweb.org/ACL/ARR/2023/August",
    "aclweb.org/ACL/ARR/2026/May",
    *_years("robot-learning.org/CoRL/{}/Conference", 2021, 2022, 2023, 2024, 2025),
    *_years("colmweb.org/COLM/{}/Conference", 2024, 2025),
    "acmmm.org/ACMMM/2024/Conference",
    *_years("ACM.org/TheWebConf/{}/Conference", 2024, 2025),
    "algorithmiclearningtheory.org/ALT/2025/Conference",
    "auai.org/UAI/2018",
    *_years("auai.org/UAI/{}/Conference", 2022, 2023, 2024),
    "MIDL.amsterdam/2018/Conference",
    "MIDL.io/2019/Conference",
    "thecvf.com/ECCV/2020/Conference",
    "NIPS.cc/2017/Workshop/Anything",
    "NIPS.cc/2018/Workshop/CDNNRIA",
    "NIPS.cc/2018/Workshop/MLITS",
    "NIPS.cc/2018/Workshop/Spatiotemporal",
    "NeurIPS.cc/2019/Workshop/Anything",
    "ICLR.cc/2019/Workshop/LLD",
    "ICML.cc/2017/WHI",
    "NeurIPS.cc/2019/Reproducibility_Challenge",
    "ML_Reproducibility_Challenge/2020",
]
UNKNOWN = [
    "ICML.cc/2024/Conference",
    "aistats.org/AISTATS/2025/Conference",
    "3DV/2025/Conference",
    "AAAI.org/2025/Conference",
    "KDD.org/2024/Research_Track_August",
    "aclweb.org/ACL/2022/Conference",
    "aclweb.org/NAACL/2022/Conference",
    *_years("auai.org/UAI/{}/Conference", 2019, 2020, 2021),
    "logconference.io/LOG/2022/Conference",
    "automl.cc/AutoML/2022/Conference",
    "CPAL.cc/2024/Conference",
]
"""Venues whose form no source names; what is known of their other replies is kept."""


@pytest.mark.parametrize("venue_id", REVIEWED)
def test_every_known_form_has_a_record(venue_id: str) -> None:
    found = declared_form(venue_id)
    assert found is not None
    assert found.fields
    assert as_review_form(found).form_id == f"declared:{found.id}"


@pytest.mark.parametrize("venue_id", UNKNOWN)
def test_an_unknown_form_reads_no_review(venue_id: str) -> None:
    assert declared_form(venue_id) is None
    (record,) = [form for form in FORMS.values() if venue_id in form.venue_ids]
    assert record.unknown


def test_without_record_there_is_no_form() -> None:
    assert declared_form("Example.cc/2030/Workshop/New") is None
    assert declared_form("ICLR.cc/2025/Workshop/ICBINB") is None
    assert not FORMS["default-v1"].venues
    assert not FORMS["default-v2"].venues


def test_the_records_are_complete_and_state_their_sources() -> None:
    table = {form.id: (len(form.fields), "".join(form.evidence)) for form in FORMS.values()}
    assert len(table) == 66
    assert sum(size for size, _ in table.values()) == 418
    assert sum(1 for size, _ in table.values() if not size) == 11
    assert sum(form.is_verified for form in FORMS.values()) == 28
    assert table["iclr-2019"] == (4, "RrC")
    assert table["iclr-2025"] == (13, "RD")
    assert table["icml-2026"] == (13, "C")
    assert table["emnlp-2023"] == (11, "r")
    assert table["arr-v2"] == (25, "C")
    assert table["uai-2022"] == (2, "K")


def test_weak_facts_are_marked() -> None:
    assert not FORMS["tmlr"].is_verified
    assert set(FORMS["tmlr"].unverified_fields) == {field.name for field in FORMS["tmlr"].fields}
    neurips = FORMS["neurips-2021"]
    assert neurips.is_verified
    assert "confidence" not in neurips.unverified_fields
    assert {"summary", "time_spent_reviewing", "rating"} <= set(neurips.unverified_fields)
    assert not FORMS["iclr-2020"].unverified_fields


@pytest.mark.parametrize(
    ("form_id", "name", "numbers"),
    [
        ("iclr-2019", "rating", range(1, 11)),
        ("iclr-2020", "rating", (1, 3, 6, 8)),
        ("iclr-2022", "recommendation", (1, 3, 5, 6, 8, 10)),
        ("iclr-2024", "rating", (1, 3, 5, 6, 8, 10)),
        ("iclr-2026", "rating", (0, 2, 4, 6, 8, 10)),
        ("neurips-2023", "rating", range(1, 11)),
        ("neurips-2025", "rating", range(1, 7)),
        ("cdnnria-2018", "rating", range(1, 6)),
        ("whi-2017", "rating", range(1, 8)),
        ("eccv-2020", "preliminary_rating", range(1, 7)),
        ("arr-v2", "overall_assessment", (1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5)),
        ("dmlr", "recommendation", range(1, 5)),
    ],
)
def test_a_scale_offers_its_numbers_and_no_other(form_id: str, name: str, numbers: Any) -> None:
    assert sorted(as_review_form(FORMS[form_id]).questions[name].labels) == list(numbers)


@pytest.mark.parametrize(
    ("form_id", "name", "answer", "read"),
    [
        ("iclr-2024", "rating", "7: good", (Aspect.RECOMMENDATION, None, "7: good", 1.0, 10.0)),
        ("iclr-2024", "soundness", "3 good", (Aspect.SOUNDNESS, 3.0, "3 good", 1.0, 4.0)),
        ("iclr-2025", "soundness", 3, (Aspect.SOUNDNESS, 3.0, "3: good", 1.0, 4.0)),
        (
            "iclr-2022",
            "empirical_novelty_and_significance",
            "Not applicable",
            (Aspect.NOVELTY, None, "Not applicable", 1.0, 4.0),
        ),
        ("corl-2021", "recommendation", "Weak Accept", (Aspect.RECOMMENDATION, None, "Weak Accept", None, None)),
        ("emnlp-2023", "Reproducibility", "N/A", (Aspect.REPRODUCIBILITY, None, "N/A", 1.0, 5.0)),
        ("emnlp-2023", "Excitement", "3: Ambivalent", (Aspect.EXCITEMENT, 3.0, "3: Ambivalent", 1.0, 5.0)),
        ("icml-2025", "overall_recommendation", 6, (Aspect.RECOMMENDATION, None, "6", 1.0, 5.0)),
        ("neurips-2022-datasets", "rating", "7: Good", (Aspect.RECOMMENDATION, 7.0, "7: Good", None, None)),
        ("uai-2022", "Q6 Overall score", "6: Accept", (Aspect.RECOMMENDATION, 6.0, "6: Accept", None, None)),
    ],
)
def test_answers_are_read_on_declared_scales(form_id: str, name: str, answer: Any, read: Any) -> None:
    (score,) = read_fields({name: answer}, as_review_form(FORMS[form_id])).scores
    assert (score.aspect, score.value, score.label, score.low, score.high) == read


@pytest.mark.parametrize(
    ("form_id", "name"),
    [
        ("neurips-2023-datasets", "clarity"),
        ("neurips-2023-datasets", "correctness"),
        ("icml-2025", "claims_and_evidence"),
        ("dmlr", "claims_and_evidence"),
        ("spatiotemporal-2018", "evaluation"),
    ],
)
def test_the_form_decides_score_or_text(form_id: str, name: str) -> None:
    reading = read_fields({name: "Yes"}, as_review_form(FORMS[form_id]))
    assert [section.field for section in reading.sections] == [name]


@pytest.mark.parametrize("form_id", ["emnlp-2023", "thewebconf", "tmlr", "iclr-2013"])
def test_a_form_without_an_overall_rating_has_none(form_id: str) -> None:
    form = as_review_form(FORMS[form_id])
    assert FORMS[form_id].is_unrated
    assert Aspect.RECOMMENDATION not in {form.aspect(name) for name in form.questions}


def test_an_unknown_rating_is_not_unrated() -> None:
    assert not FORMS["corl-2025"].is_unrated
    assert not FORMS["melba"].is_unrated


def test_aspects_in_records_never_contradict_the_vocabulary() -> None:
    for form in FORMS.values():
        for field in form.fields:
            name = field.name.lower()
            assert field.aspect in {None, vocabulary.ASPECTS.get(name, field.aspect)}, (form.id, name)
            assert field.section in {None, vocabulary.SECTIONS.get(name, field.section)}, (form.id, name)


@pytest.mark.parametrize("form_id", ["corl-2021", "corl-2022", "corl-2023"])
def test_corls_scores_have_known_aspects(form_id: str) -> None:
    form = as_review_form(FORMS[form_id])
    names = ("technical_quality", "clarity_of_presentation", "potential_impact", "robotics_focus")
    assert [form.aspect(name) for name in names if name in form.questions] == [
        Aspect.SOUNDNESS,
        Aspect.CLARITY,
        Aspect.OTHER,
        Aspect.OTHER,
    ]


def test_an_own_record_precedes_a_pattern() -> None:
    found = declared_form("NIPS.cc/2018/Workshop/CDNNRIA"), declared_form("NIPS.cc/2018/Workshop/Other")
    assert [form and form.id for form in found] == ["cdnnria-2018", "workshops-2017-2019"]
    assert declared_form("NIPS.cc/2018/Workshop/Other/Track") is None


@pytest.mark.parametrize(
    ("venue_id", "form_id"),
    [
        ("ICLR.cc/2017/workshop", "iclr-2017-workshop"),
        ("ICLR.cc/2018/Workshop", "iclr-2018-workshop"),
        ("ICLR.cc/2019/Workshop/Anything", "workshops-2017-2019"),
        ("ICLR.cc/2020/Workshop/Anything", None),
        ("ICLR.cc/2016/workshop", None),
        ("ICLR.cc/2018/conference", None),
        ("ICLR.cc/2027/Conference", None),
        ("ICLR.cc/2024/TinyPapers", None),
        ("NeurIPS.cc/2021/Track/Datasets_and_Benchmarks", None),
        ("NeurIPS.cc/2022/Track/Datasets_and_Benchmarks", "neurips-2022-datasets"),
        ("NeurIPS.cc/2022/Datasets_and_Benchmarks_Track", None),
        ("NeurIPS.cc/2024/Competition_Track", None),
        ("NeurIPS.cc/2026/Conference", None),
        ("ICML.cc/2019/Workshop/Anything", "workshops-2017-2019"),
        ("ICML.cc/2026/Position_Paper_Track", None),
        ("MIDL.io/2018/Conference", None),
        ("MIDL.amsterdam/2018/Abstract", "workshops-5"),
        ("aclweb.org/ACL/ARR/2022/January", "arr-v1"),
        ("aclweb.org/ACL/ARR/2023/August", "arr-v2"),
        ("aclweb.org/ACL/ARR/2027/January", None),
        ("aclweb.org/ACL/ARR/2023/August/Ethics", None),
        ("auai.org/UAI/2018/Conference", None),
        ("TMLR/2024", None),
    ],
)
def test_a_venue_has_its_own_form(venue_id: str, form_id: str | None) -> None:
    found = declared_form(venue_id)
    assert (found and found.id) == form_id


def test_no_venue_has_another_form() -> None:
    for row in rows():
        found = declared_form(row.id)
        served = found.venue_ids if found else ()
        matching = [venue_id for venue_id in served if fnmatchcase(row.id, venue_id)]
        assert found is None or {(conference_of(one), year_of(one)) for one in matching} == {(row.family, row.year)}


def _unwrapped(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: held["value"] if isinstance(held, dict) else held for name, held in content.items()}


def _notes(found: Any) -> Iterator[dict[str, Any]]:
    if isinstance(found, dict):
        if isinstance(found.get("content"), dict):
            yield found
        found = list(found.values())
    for entry in found if isinstance(found, list) else []:
        yield from _notes(entry)


def _venue_of_review(note: Mapping[str, Any]) -> str | None:
    invitations = [name for name in (note.get("invitations") or [note.get("invitation") or ""]) if "/Edit" not in name]
    before, _, after = (invitations or [""])[0].partition("/-/")
    if vocabulary.post_kind(after.rpartition("/")[2]) is not PostKind.REVIEW:
        return None
    return re.sub(r"/(Paper|Submission)\d+$", "", before)


def _recorded() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every recorded review, as received: its file, its venue and its fields."""
    for path in sorted(DATA.glob("raw-v1-content-*/*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield path.name, f"ICLR.cc/{path.name[4:8]}/Conference", json.loads(line)["content"]
    for path in sorted([*DATA.glob("raw-*/iclr*.json*"), *DATA.glob("raw-*/example_output.json")]):
        if path.suffix != ".gz":
            for note in _notes(_parsed(path)):
                if venue_id := _venue_of_review(note):
                    yield path.name, venue_id, _unwrapped(note["content"])
    for path in sorted(DATA.glob("transcribed-excerpts/*_excerpt.md")):
        yield from ((path.name, *review) for review in _transcribed(path.read_text(encoding="utf-8")))


def _parsed(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in (text.splitlines() if path.suffix == ".jsonl" else [text])]


def _transcribed(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    found = re.findall(r"\n### (\S+)/Submission\d+/Reviewer_\w+ .*?\n(.*?)\n---\n", text, re.DOTALL)
    for venue_id, review in found:
        parts = re.split(r"^\*\*(\w+):\*\*$", review, flags=re.MULTILINE)[1:]
        fields = {name: answer.strip() for name, answer in zip(parts[::2], parts[1::2], strict=True)}
        if "summary" in fields:
            yield venue_id, {name: int(answer) if answer.isdigit() else answer for name, answer in fields.items()}


def _misfits(form: DeclaredForm, fields: Mapping[str, Any]) -> Iterator[str]:
    """Fields of a review that its form does not have, and answers that it does not offer."""
    review_form, known = as_review_form(form), {field.name: field for field in form.fields}
    for name, answer in fields.items():
        field = known.get(name)
        if field is None and name.lower() not in vocabulary.ADMINISTRATIVE:
            yield f"{name} is no field"
        if field is None or field.type is not FieldType.SCORE:
            continue
        offered = review_form.questions[name].answers
        if isinstance(answer, int | float) != (field.written is AnswerFormat.NUMBER):
            yield f"{name} is not written {answer!r}"
        if offered and str(answer) not in offered:
            yield f"{name} does not offer {answer!r}"
        if str(answer) not in offered and read_score(answer, name, review_form).value is None:
            yield f"{name} does not reach {answer!r}"


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data")
def test_every_recorded_review_fits_its_declared_form() -> None:
    count: dict[str, int] = {}
    misfits: set[tuple[str, str]] = set()
    for file, venue_id, fields in _recorded():
        form = declared_form(venue_id)
        assert form is not None, venue_id
        count[form.id] = count.get(form.id, 0) + 1
        misfits |= {(file, misfit) for misfit in _misfits(form, fields)}
    assert not misfits
    assert count["iclr-2019"] >= 4764
    assert count["iclr-2020"] >= 7693
    assert {"iclr-2018", "iclr-2022", "iclr-2025", "iclr-2026", "cdnnria-2018", "neurips-2025", "icml-2025"} <= set(
        count
    )


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
        (_record(field={"answers": {"offered": ["7: good", "1: bad"], "low": 1, "high": 6}}), "1 to 7"),
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
def test_an_invalid_record_is_refused(text: str, message: str, tmp_path: Path) -> None:
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


def test_a_users_form_takes_the_rows_sources() -> None:
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
def test_an_unreadable_users_form_is_refused(old: str, new: str, key: str, expected: str) -> None:
    assert old in OWN
    with pytest.raises(VenuesFileError) as refused:
        own_form(OWN.replace(old, new, 1))
    told = str(refused.value)
    assert told.startswith("'venues.toml', venue 'Harbour.org/2031/Conference'")
    assert [part for part in (key, expected) if part not in told] == []


def test_the_pages_example_has_a_form() -> None:
    [example] = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    [own] = read_own_venues(example.encode(), "venues.toml").values()
    form = read_own_form(own, "venues.toml")
    assert form is not None
    assert [field.name for field in form.fields] == ["praise", "mark"]
    assert own.full_deadline is not None
    assert own.statuses
    keys = {field.encode_name for field in msgspec.structs.fields(OwnVenue)} - {"id", "source"}
    assert [key for key in keys if f"`{key}`" not in PAGE.read_text(encoding="utf-8")] == []
