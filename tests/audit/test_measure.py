"""The audit finds what was planted and nothing else, whatever the order of the rows."""

import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest

from audited_papers import Record, is_accepted, papers, prose, publish_accepted, source_of
from naming import Naming, by_name
from peercorpus.audit import leak_audit
from peercorpus.audit.leak_audit import Audit, Finding, audit
from peercorpus.audit.papers import AuditSource, RowCounts, SourceRecord, read_papers
from peercorpus.audit.predictors import FeatureKind
from peercorpus.audit.report import audit_to_dict, audit_verdict
from peercorpus.errors import TableError
from peercorpus.execution.progress import Progress


def names(found: Audit) -> list[str]:
    """Return every feature reported, with those that split the papers in the same way."""
    return [name for finding in found.findings for name in (finding.feature.name, *finding.alike)]


def best(found: Audit, kind: FeatureKind) -> Finding:
    return next(finding for finding in found.findings if finding.feature.kind is kind)


@pytest.mark.slow
def test_a_corpus_where_nothing_reveals_the_decision_has_no_leak() -> None:
    found = audit(source_of(papers()))
    assert (found.leaks, found.accepted, found.rejected) == (0, 50, 70)
    assert found.majority == pytest.approx(70 / 120)
    assert audit_verdict(found).startswith("No leak: ")
    assert found.findings


@pytest.mark.slow
def test_camera_ready_texts_of_accepted_papers_are_found() -> None:
    found = audit(source_of(papers(change=publish_accepted)))
    assert found.leaks > 0
    first = found.findings[0]
    assert (first.outcome.accuracy, first.is_leak) == (1.0, True)
    assert first.gain == pytest.approx(50 / 120)
    told = set(names(found))
    assert "first page says \u201canonymous author\u201d" in told
    assert "not: first page says \u201cpublished as a conference paper\u201d" in told
    assert "not: published as a" in told
    assert audit_verdict(found).startswith("Leak: ")
    assert [(value.accepted, value.rejected) for value in first.values] == [(0, 70)]
    assert len(first.examples) == 3
    assert all("anonymous author" in shown.context.lower() for shown in first.examples)


def plant_pages(record: Record) -> None:
    record["text"] += "\n\n---\n\nmore" * (9 if is_accepted(record) else 7)


def plant_names(record: Record) -> None:
    names = "".join(f"Ada{number} Example{number}\n" for number in range(6)) if is_accepted(record) else ""
    record["text"] = f"On Kites\n{names}Abstract\n{record['text']}"


def plant_links(record: Record) -> None:
    record["text"] += " See https://github.com/kites/line." if is_accepted(record) else " See the appendix."


def plant_gaps(record: Record) -> None:
    record["text"] = record["text"] if is_accepted(record) else None


def plant_line_numbers(record: Record) -> None:
    if not is_accepted(record):
        words = record["text"].split()
        record["text"] = "\n".join(f"{number:03} {word}" for number, word in enumerate(words))


def plant_addresses(record: Record) -> None:
    if is_accepted(record):
        record["text"] = f"On Kites\n{{ada,bob}}@kites.example\nAbstract\n{record['text']}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plant", "feature"),
    [
        (plant_pages, "page count"),
        (plant_links, "says \u201cgithub.com\u201d"),
        (plant_gaps, "missing text"),
        (plant_line_numbers, "line numbers"),
        (plant_addresses, "e-mail address on the first page"),
        (plant_names, "words before the abstract"),
    ],
)
def test_each_kind_of_leak_is_found(plant: object, feature: str) -> None:
    found = audit(source_of(papers(change=plant)))  # type: ignore[arg-type]
    assert {feature, f"not: {feature}"} & set(names(found))
    assert found.findings[0].outcome.accuracy == 1.0
    assert "kites.example" not in str(audit_to_dict(found))


@pytest.mark.slow
def test_the_source_of_a_text_is_tried_as_a_feature_unless_it_is_unique_to_each_paper() -> None:
    records = papers()
    for number, record in enumerate(records):
        record["route"] = ("arxiv" if number % 2 else "acm") if is_accepted(record) else "openreview"
    found = best(audit(source_of(records, "route")), FeatureKind.CATEGORY)
    assert (found.feature.name, found.outcome.accuracy) == ("route", 1.0)
    assert sorted(found.values) == [("acm", 25, 0), ("arxiv", 25, 0), ("openreview", 0, 70)]
    assert {(shown.accepted, shown.context) for shown in found.examples} == {(False, "openreview")}
    for number, record in enumerate(records):
        record["route"] = str(number)
    assert by_name(audit(source_of(records, "route")).untried, "more than 50") == {"more than 50": 1}


@pytest.mark.slow
def test_a_leak_in_a_corpus_with_rare_decisions_is_found_by_balanced_accuracy() -> None:
    found = audit(source_of(papers(400, 385, publish_accepted)))
    assert found.findings[0].gain < 0.05
    assert found.findings[0].outcome.balanced == 1.0
    assert found.leaks > 0


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "leaks"), [(0.3, True), (0.45, False)])
def test_only_a_gain_above_the_threshold_is_a_leak(
    threshold: float, leaks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leak_audit, "THRESHOLD", threshold)
    found = audit(source_of(papers(change=plant_links)))
    assert (found.leaks > 0) is leaks


@pytest.mark.slow
def test_even_without_a_threshold_chance_is_not_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leak_audit, "THRESHOLD", 0.0)
    assert audit(source_of(papers())).leaks == 0


@pytest.mark.slow
def test_the_same_rows_in_another_order_give_the_same_report() -> None:
    records = papers(change=publish_accepted)
    records += [{"decision": "Reject", "text": prose(random.Random(number))} for number in range(5)]
    expected = audit_to_dict(audit(source_of(records)))
    for seed in (1, 2):
        random.Random(seed).shuffle(records)
        assert audit_to_dict(audit(source_of(records))) == expected


@pytest.mark.slow
def test_a_paper_with_a_row_per_review_counts_as_one_and_is_in_one_fold() -> None:
    chance = random.Random(2)
    records: list[Record] = []
    for number in range(60):
        paper = {"text": prose(chance, 400), "decision": "Accept" if number < 25 else "Reject"}
        records += [{"forum_id": f"review-{number}-{review}", **paper} for review in range(4)]
    chance.shuffle(records)
    found = audit(rows_named(records))
    assert (found.accepted, found.rejected, found.leaks) == (25, 35, 0)
    assert by_name(found.set_aside, "same content") == {"same content": 180}
    assert {shown.record_id[-2:] for one in found.findings for shown in one.examples} == {"-0"}
    assert audit_to_dict(audit(rows_named(records[::-1]))) == audit_to_dict(found)


def rows_named(records: list[Record]) -> AuditSource:
    """Return a source whose ids are those of rows."""
    source = source_of(records)
    return replace(source, entries=lambda: (one._replace(names_paper=False) for one in source.entries()))


@pytest.mark.slow
@pytest.mark.parametrize("text", [None, "", "Text withheld."])
def test_rows_without_id_and_text_count_as_separate_papers(text: str | None) -> None:
    records = [{"text": one["text"] if is_accepted(one) else text, "decision": one["decision"]} for one in papers()]
    found = audit(source_of(records))
    assert (found.accepted, found.rejected, found.set_aside) == (50, 70, {})
    assert found.findings[0].outcome.accuracy == 1.0
    assert audit_to_dict(audit(source_of(records[::-1]))) == audit_to_dict(found)


@pytest.mark.slow
def test_examples_of_the_predicted_decision_come_first() -> None:
    def plant(record: Record) -> None:
        if is_accepted(record) or record["forum_id"] < "f0060":
            record["text"] = f"{record['text']} published words"

    found = audit(source_of(papers(change=plant)))
    finding = next(one for one in found.findings if "published words" in (one.feature.name, *one.alike))
    assert [shown.accepted for shown in finding.examples] == [True] * 3


@pytest.mark.slow
def test_every_row_is_counted() -> None:
    odd: list[Record] = [
        {"forum_id": "a", "text": "x", "decision": None},
        {"forum_id": "b", "text": "x", "decision": "Withdrawn"},
        {"forum_id": "c", "text": ["x"], "decision": "Reject"},
        papers()[0],
    ]
    found = audit(source_of([*papers(), *odd]))
    kinds = ("no decision", "neither accepted", "one string", "same content")
    assert by_name(found.set_aside, *kinds) == dict.fromkeys(kinds, 1)
    assert found.read == found.accepted + found.rejected + sum(found.set_aside.values())


@pytest.mark.parametrize(
    ("count", "accepted", "sentence"),
    [
        (0, 0, r"\b0 papers"),
        (49, 20, r"\b49 papers.*'decision'.* 50\b"),
        (60, 60, r"\b60 accepted and 0 rejected.* 10\b"),
        (60, 9, r"\b9 accepted and 51 rejected"),
    ],
)
def test_too_few_papers_are_reported(count: int, accepted: int, sentence: str) -> None:
    with pytest.raises(TableError, match=sentence):
        audit(source_of(papers(count, accepted)))


def test_a_corpus_that_changes_while_it_is_read_is_refused() -> None:
    reads = iter(range(9))

    def entries() -> Iterator[SourceRecord]:
        last = next(reads)
        for record in papers():
            yield SourceRecord(record["forum_id"], f"{record['text']} {last}", record["decision"], {})

    with pytest.raises(TableError, match="audit again"):
        audit(replace(source_of([]), entries=entries))


def test_identical_texts_are_not_a_leak() -> None:
    found = audit(source_of([record | {"text": "the same"} for record in papers()]))
    assert (found.leaks, found.findings) == (0, ())


@pytest.mark.parametrize("text", [None, ""])
def test_without_texts_the_report_does_not_claim_absence_of_leaks(text: str | None) -> None:
    with pytest.raises(TableError, match="'kites' has a text"):
        audit(source_of([record | {"text": text} for record in papers()]))


@pytest.mark.slow
def test_progress_ends_with_all_rows() -> None:
    told: list[Progress] = []
    audit(source_of(papers()), show=told.append)
    assert [one.what for one in told if one.done == one.total] == [
        Naming("phrases"),
        Naming("examples"),
    ]


@pytest.mark.slow
def test_memory_is_bounded_by_a_batch() -> None:
    def entries() -> Iterator[SourceRecord]:
        for number in range(150):
            text = f"{prose(random.Random(number))} " + "kites and more " * 99 + "k" * 600_000
            yield SourceRecord(str(number), text, number % 2, {})

    source = AuditSource("kites", "text", "decision", entries)
    audit(replace(source, entries=lambda: iter([SourceRecord(str(n), str(n), n % 2, {}) for n in range(60)])))
    tracemalloc.start()
    assert audit(source).read == 150
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The texts take 90 MB; two tables of 16 MiB count phrases, and one of 4 MiB selects them.
    assert peak < 60e6


def test_a_row_without_an_id_is_named_by_its_content() -> None:
    (row,) = read_papers(source_of([{"text": "x", "decision": "Reject"}]), RowCounts())
    (again,) = read_papers(source_of([{"text": "x", "decision": "Reject"}]), RowCounts())
    assert row.record_id == again.record_id == f"row-{row.key.hex()[:12]}"
