"""The engine contract, and the default engine on good and bad files."""

from contextlib import suppress
from pathlib import Path

import pytest

from invented_pdfs import HOSTILE, HTML, PICTURE, by_hand, encrypted, lines, typeset
from peercorpus.errors import PdfFault, PeercorpusError, UnreadablePdfError
from peercorpus.pdf.document import clean_text
from peercorpus.texts.engine import SEPARATOR, EngineJob, convert_file, load_engine
from peercorpus.texts.engines.pdfium_text import PdfiumText

LIGHT = ("pdfium-layout", "pdfium-text")


@pytest.mark.parametrize("name", LIGHT)
def test_an_engine_has_the_name_it_is_registered_under_and_a_version(name: str) -> None:
    engine = load_engine(name)
    assert engine.name == name
    assert engine.version


@pytest.mark.parametrize("name", LIGHT)
def test_an_engine_reads_every_page_in_order_and_the_same_every_time(name: str) -> None:
    pdf = typeset("Alpha beta", "Gamma", "Delta")
    converted = load_engine(name).convert(pdf)
    pages = converted.markdown.split(SEPARATOR)
    assert [word in page for word, page in zip(("beta", "Gamma", "Delta"), pages, strict=True)] == [True] * 3
    assert converted.pages == 3
    assert converted.characters == sum(map(len, pages))
    assert load_engine(name).convert(pdf) == converted


@pytest.mark.parametrize("name", LIGHT)
@pytest.mark.parametrize("kind", HOSTILE)
def test_an_engine_reports_a_bad_file_as_unreadable_or_without_text(name: str, kind: str) -> None:
    with suppress(UnreadablePdfError):
        assert load_engine(name).convert(HOSTILE[kind]).characters == 0


def test_an_unknown_engine_is_named_with_those_that_exist() -> None:
    with pytest.raises(PeercorpusError, match=r"'magic'.* auto, docling, .*, pdfium-text, "):
        load_engine("magic")


def test_no_page_contains_the_page_mark() -> None:
    converted = PdfiumText().convert(by_hand([lines("One", "---", "Two"), lines("---"), lines("Three")]))
    first, second, third = converted.markdown.split(SEPARATOR)
    assert first.split() == ["One", r"\---", "Two"]
    assert (second, third) == (r"\---", "Three")


def test_an_empty_page_is_kept_and_named() -> None:
    converted = PdfiumText().convert(by_hand([lines("One"), PICTURE, lines("Three"), PICTURE]))
    assert converted.markdown.split(SEPARATOR) == ["One", "", "Three", ""]
    assert converted.problems == ("without text: page 2, 4",)


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("exam\ufffeple", "exam-\nple"),
        ("exam\x02ple", "exam-\nple"),
        ("soft\u00adhyphen", "soft-hyphen"),
        ("e\x0ecient, \x1cnal, \x0brst", "efficient, final, ffrst"),
        ("nul\x00 and \ud800 surrogate", "nul and  surrogate"),
        ("  kept\tinside \n", "kept\tinside"),
        ("∑ → β é", "∑ → β é"),
    ],
)
def test_text_is_plain_characters_and_line_feeds(given: str, clean: str) -> None:
    assert clean_text(given) == clean
    clean_text(given).encode()


@pytest.mark.parametrize(
    ("pdf", "fault", "reason"),
    [
        (b"", PdfFault.NOT_A_PDF, "empty"),
        (HTML, PdfFault.NOT_A_PDF, "not a PDF"),
        (b"%PDF-1.7\n", PdfFault.DAMAGED, "damaged"),
        (encrypted(by_hand([lines("Secret")])), PdfFault.ENCRYPTED, "password"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(pdf: bytes, fault: PdfFault, reason: str) -> None:
    with pytest.raises(UnreadablePdfError, match=reason) as raised:
        PdfiumText().convert(pdf)
    assert raised.value.fault is fault


def test_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadablePdfError, match="No such file"):
        convert_file(EngineJob("ab", tmp_path / "ab.pdf", "pdfium-text"))
