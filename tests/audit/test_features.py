"""The features of a paper: phrases without names, and fixed signs; and how an example is shown."""

import pytest

from audited_papers import source_of
from peercorpus.audit.features import (
    HEAD_CHARACTERS,
    PRESENCES,
    TAIL_CHARACTERS,
    PhraseCounter,
    author_block,
    has_line_numbers,
    make_example,
    phrases_of,
    read_facts,
    show_context,
)
from peercorpus.audit.papers import AuditedPaper, RowCounts, read_papers
from peercorpus.audit.predictors import Feature, FeatureKind

NAMED = "On Kites\nAda Example, Grace Sample\nada@kites.example\nAbstract\nWe fly kites as Example et al. do."


def row(text: str | None) -> AuditedPaper:
    (found,) = read_papers(source_of([{"forum_id": "f", "text": text, "decision": "Reject"}]), RowCounts())
    return found


def signs(text: str | None) -> set[str]:
    presences = read_facts(row(text)).presences
    return {name for place, name in enumerate(PRESENCES) if presences >> place & 1}


def tried(texts: list[str], fewest: int = 3) -> set[str]:
    counter = PhraseCounter()
    for text in texts:
        counter.add(text)
    chosen = counter.choose(len(texts), fewest)
    return {phrase for text in texts for phrase in chosen.of(text)}


def test_phrases_have_one_to_four_words() -> None:
    found = phrases_of("000 Under review\n001 as a paper at ICLR 2020 of 12")
    assert {"under", "review as", "under review as a", "iclr 2020 of"} <= found
    assert "under review as a paper" not in found
    assert not any(word in {"000", "001", "12"} for phrase in found for word in phrase.split())


def test_no_phrase_contains_possible_names_of_people() -> None:
    plain = ["we fly kites and published nothing"] * 6
    named = [f"Ada Example (ada{n}@kites.example) https://kites.example/ada github.com/ada we fly" for n in range(6)]
    found = tried([*plain, *named, *["Published as ours"] * 3])
    assert {"published", "kites", "published as"} <= found
    assert not {phrase for phrase in found if "ada" in phrase or "example" in phrase}


@pytest.mark.parametrize(
    "block",
    [
        "{ada, grace}@kites.example",
        "{ ada,\n grace } @kites.example",
        "ada @ kites.example, grace@\nkites.example",
        "(ada, grace)@kites.example",
        "Write to ada@kites.example or {ada.example, grace}@kites.example.",
    ],
)
def test_no_address_is_in_a_phrase(block: str) -> None:
    text = f"on kites we fly\n{block}\nthen published words"
    assert tried([text] * 5 + ["we know nothing"] * 5) >= {"on kites", "published words"}
    found = tried([text] * 5 + ["we know nothing"] * 5)
    shown = [show_context(text, phrase) for phrase in ("we fly", "published words", "kites")]
    for person in ("ada", "grace", "kites example"):
        assert not {phrase for phrase in found if person in phrase}
        assert not [context for context in shown if person in context.replace(".", " ")]


@pytest.mark.parametrize("place", range(-40, 5))
def test_truncated_email_addresses_are_in_no_phrase(place: int) -> None:
    people, block = {"ada", "grace", "alan", "kites"}, " {ada, grace, alan}@kites.example "
    begins = ("a" * (HEAD_CHARACTERS + place) + block).ljust(3 * HEAD_CHARACTERS, "b")
    ends = "a" * 2 * HEAD_CHARACTERS + block + "b" * (TAIL_CHARACTERS + place)
    assert phrases_of(begins).isdisjoint(people)
    assert phrases_of(ends).isdisjoint(people)


@pytest.mark.parametrize(
    "names",
    [
        *("Ada, Grace", "\u5f20\u4f1f", "\u00c9milie", "Ada\u2217 Example\u2020 Grace Sample", "ADA EXAMPLE"),
        *("O\u2019Example", "Jean-Luc Example", "A. B. Example", "Ada1,2", "Ada\nExample"),
    ],
)
def test_no_example_names_a_person(names: str) -> None:
    context = show_context(f"Published as a conference paper\n{names}\nAbstract We fly.", "published as")
    assert context.startswith("Published as a conference paper")
    assert context.endswith("Abstract We fly.")
    for name in ("ada", "example", "grace", "sample", "\u5f20", "milie", "jean", "luc"):
        assert name not in context.casefold()


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("On Kites\nAnonymous authors\nPaper under double-blind review\nAbstract\nx", "anonymous"),
        (NAMED, "named"),
        ("On Kites\n{ada,bob}@kites.example\nABSTRACT", "named"),
        ("On Kites\nAda Example\nUniversity of Winds\nAbstract", "named"),
        ("On Kites\nAbstract\nThe University of Winds flies kites.", "none"),
    ],
)
def test_the_author_block_is_recognised_before_the_abstract(text: str, block: str) -> None:
    assert author_block(text) == block


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("UNDER REVIEW AS a\nconference paper", "first page says \u201cunder review as\u201d"),
        ("Published as a\nconference  paper at X", "first page says \u201cpublished as a conference paper\u201d"),
        ("x " * 4000 + "Acknowledgements\nWe thank", "says \u201cacknowledgement\u201d"),
        (NAMED, "e-mail address on the first page"),
        ("\n".join(f"some words {number}" for number in range(200, 230)), "line numbers"),
        (None, "missing text"),
        (" \n ", "missing text"),
    ],
)
def test_fixed_signs_are_recognised(text: str | None, sign: str) -> None:
    assert sign in signs(text)
    assert sign not in signs("On Kites\nWe fly.")


@pytest.mark.parametrize(
    "text", ["1\n2\n3", "In 2019\nIn 2020", "a table\n" + "\n".join("5 5 5" for _ in range(40)), ""]
)
def test_other_numbers_are_not_line_numbers(text: str) -> None:
    assert not has_line_numbers(text)


@pytest.mark.parametrize("phrase", ["fly kites", "we fly", "abstract"])
def test_an_example_shows_the_surrounding_words_and_no_person(phrase: str) -> None:
    shown = make_example(Feature(phrase, FeatureKind.PHRASE, ()), row(NAMED))
    assert phrase in shown.context.lower()
    assert len(shown.context) <= 120
    assert "Ada" not in shown.context
    assert "Grace" not in shown.context
    assert "@" not in shown.context


@pytest.mark.parametrize("words", ["nothing of it", "", "(", "a\\"])
def test_missing_words_have_no_example(words: str) -> None:
    assert show_context("Some text", words) == ""


def test_the_id_of_a_paper_shows_no_email_address() -> None:
    record = row("x")._replace(record_id="ada@kites.example")
    assert make_example(Feature("x", FeatureKind.PHRASE, ()), record).record_id == "[e-mail]"
