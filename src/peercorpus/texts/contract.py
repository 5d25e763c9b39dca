"""Check that a PDF engine fulfils the contract of `peercorpus.texts.engine.Engine`.

`check_engine` runs all checks on small generated PDFs, so it needs no files.
"""

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from io import BytesIO
from types import MappingProxyType

import msgspec
import pikepdf

from peercorpus.errors import UnreadablePdfError
from peercorpus.texts.engine import SEPARATOR, UNKNOWN, Converted, Engine, without_pages
from peercorpus.texts.plugin_engines import explain_invalid_name

Page = Sequence[tuple[str, str, int]]
"""Lines of a page: font (`F` roman, `B` bold), text, and size in points."""

WORDS = (
    ("amaranth", "bergamot", "celandine", "damson"),
    ("elderberry", "fenugreek", "galangal", "hawthorn"),
    ("juniper", "kohlrabi", "lovage", "marjoram"),
)
"""Words that occur once on each page, in reading order."""


def _write_sentences(*words: str) -> list[tuple[str, str, int]]:
    return [("F", f"We weigh the {word} and find that it is as heavy as it was before.", 10) for word in words]


PAPER: tuple[Page, ...] = (
    (("B", "On the weight of herbs", 17), ("B", "1 Introduction", 12), *_write_sentences(*WORDS[0])),
    (("B", "2 Method", 12), *_write_sentences(*WORDS[1])),
    (("B", "3 Results", 12), *_write_sentences(*WORDS[2])),
)
GAP = ("F", "", 20)
RULED: tuple[Page, ...] = (
    (*_write_sentences("nettle"), GAP, ("F", "---", 10), GAP, *_write_sentences("oregano")),
    (*_write_sentences("purslane"),),
)
"""Two pages; a line on the first looks like the separator between pages."""


def _write_content(page: Page) -> bytes:
    operators = [b"BT 72 720 Td"]
    for font, text, size in page:
        gap = size + 8 if font == "B" else size + 3
        operators.append(b"/%s %d Tf (%s) Tj 0 -%d Td" % (font.encode(), size, text.encode("latin-1"), gap))
    return b" ".join([*operators, b"ET"])


def write_pdf(contents: Sequence[bytes], encryption: pikepdf.Encryption | None = None) -> bytes:
    """Return a PDF with one page per content stream; `/F` is Helvetica, `/B` the same in bold."""
    fonts = pikepdf.Dictionary()
    for key, name in (("/F", "/Helvetica"), ("/B", "/Helvetica-Bold")):
        entries = {"/Type": "/Font", "/Subtype": "/Type1", "/Encoding": "/WinAnsiEncoding", "/BaseFont": name}
        fonts[key] = pikepdf.Dictionary({entry: pikepdf.Name(value) for entry, value in entries.items()})
    with pikepdf.new() as pdf, BytesIO() as file:
        for content in contents:
            page = pdf.add_blank_page(page_size=(612, 792))
            page.Contents = pdf.make_stream(content)
            page.Resources = pikepdf.Dictionary(Font=fonts)
        pdf.save(file, deterministic_id=encryption is None, encryption=encryption or False)
        return file.getvalue()


def typeset(pages: Sequence[Page], encryption: pikepdf.Encryption | None = None) -> bytes:
    """Return pages of lines as a PDF."""
    return write_pdf([_write_content(page) for page in pages], encryption)


BAD: Mapping[str, bytes] = MappingProxyType(
    {
        "an empty file": b"",
        "a web page": b"<!DOCTYPE html><title>Just a moment...</title>",
        "noise": bytes(range(256)) * 20,
        "a header and nothing else": b"%PDF-1.7\n",
        "an encrypted PDF": typeset(PAPER, pikepdf.Encryption(owner="owner", user="not told")),
        "a PDF without pages": write_pdf([]),
        "a page with a grey square and no text": write_pdf([b"0.5 g 100 100 300 300 re f"]),
    }
)
"""Files without readable text, by description."""

Make = Callable[[], Engine]
"""Creates an engine without arguments: an importable class, because it is sent to another process."""


def _require(holds: object, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)


def check_name_and_version(make: Make) -> None:
    """Check that the name is lower-case words, the version short, and both the same for every instance."""
    first, second = make(), make()
    unfit = explain_invalid_name(first.name, first.version)
    _require(unfit is None, str(unfit))
    are_same = (first.name, first.version) == (second.name, second.version)
    _require(are_same, "Two instances have different names or versions.")


def check_pages(make: Make) -> None:
    """Check that the Markdown has the pages of the PDF, each with its words."""
    converted = make().convert(typeset(PAPER))
    pages = converted.markdown.split(SEPARATOR)
    _require(converted.pages == len(PAPER), f"The PDF has {len(PAPER)} pages, the engine counts {converted.pages}.")
    _require(len(pages) == converted.pages, f"The Markdown splits into {len(pages)} pages, not {converted.pages}.")
    for number, (page, words) in enumerate(zip(pages, WORDS, strict=True), 1):
        for word in words:
            _require(page.count(word) == 1, f"'{word}' occurs {page.count(word)} times on page {number}, not once.")
    flat = without_pages(converted.markdown)
    _require(SEPARATOR not in flat, "The text without pages still shows where pages end.")


def check_reading_order(make: Make) -> None:
    """Check that words are in reading order."""
    markdown = make().convert(typeset(PAPER)).markdown
    offsets = [markdown.find(word) for words in WORDS for word in words]
    _require(-1 not in offsets, "Words of the paper are missing.")
    _require(offsets == sorted(offsets), "Words of the paper are out of order.")


def check_no_page_holds_the_separator(make: Make) -> None:
    """Check that a line on a page that looks like the page separator does not start a new page."""
    converted = make().convert(typeset(RULED))
    pages = converted.markdown.split(SEPARATOR)
    _require(
        len(pages) == converted.pages == len(RULED), f"A line '---' on a page made {len(pages)} pages of {len(RULED)}."
    )


def check_characters(make: Make) -> None:
    """Check that the number of characters excludes page separators."""
    converted = make().convert(typeset(PAPER))
    counted = sum(map(len, converted.markdown.split(SEPARATOR)))
    _require(
        converted.characters == counted,
        f"The pages have {counted} characters, the engine states {converted.characters}.",
    )


def check_clean_text(make: Make) -> None:
    """Check that a clean PDF gives no control characters and no unknown letters."""
    converted = make().convert(typeset(PAPER))
    strange = sorted(set(UNKNOWN.findall(converted.markdown)))
    _require(not strange, f"A clean PDF yielded {strange}.")


def check_headings(make: Make) -> None:
    """Check that every heading is on its page, in the order of the text; an engine may report none."""
    converted = make().convert(typeset(PAPER))
    pages = converted.markdown.split(SEPARATOR)
    end_of_last = (1, 0)
    for heading in converted.headings:
        _require(heading.level >= 1, f"The heading '{heading.title}' has level {heading.level}.")
        _require(1 <= heading.page <= converted.pages, f"The heading '{heading.title}' is on page {heading.page}.")
        _require(heading.page >= end_of_last[0], f"The heading '{heading.title}' comes after one of a later page.")
        after = end_of_last[1] if heading.page == end_of_last[0] else 0
        offset = pages[heading.page - 1].find(heading.title, after)
        _require(
            heading.title and offset >= 0, f"'{heading.title}' is not on page {heading.page}, after the one before."
        )
        end_of_last = (heading.page, offset + len(heading.title))


def check_quality(make: Make) -> None:
    """Check that measures are within their ranges, and that recognised pages are pages of the PDF."""
    converted = make().convert(typeset(PAPER))
    ocr = list(converted.ocr_pages)
    in_order = ocr == sorted(set(ocr)) and all(1 <= page <= converted.pages for page in ocr)
    _require(in_order, f"The pages {ocr} recognised from their image are not pages of the PDF, each once, in order.")
    _require(all(converted.figures), "An entry of the figures is empty.")
    _require(all(problem.strip() for problem in converted.problems), "A problem is blank.")
    quality = converted.quality
    if quality is None:
        return
    _require(quality.unknown_characters == 0, f"A clean PDF has {quality.unknown_characters:.1%} unknown characters.")
    _require(quality.empty_pages == 0, f"A PDF without an empty page has {quality.empty_pages} of them.")
    inside = sum(map(len, converted.figures))
    _require(quality.figure_characters == inside, f"The figures have {inside} characters, but the measure differs.")
    _require(quality.formulas >= 0, "The number of formulas is negative.")
    sure = quality.formula_sureness
    _require(sure is None or 0 <= sure <= 1, f"The sureness of formulas is {sure}, which is not in [0, 1].")
    _require(sure is None or quality.formulas, "There is a sureness of formulas, but no formula.")


def check_blocks(make: Make) -> None:
    """Check that the blocks, if there are any, are the whole Markdown in its order; an engine may report none."""
    for pages in (PAPER, RULED):
        converted = make().convert(typeset(pages))
        at = 0
        for number, block in enumerate(converted.blocks or ()):
            _require(block.block_id == number, f"Block {number} has the id {block.block_id}.")
            _require(at <= block.start <= block.end, f"Block {number} begins before the end of the previous one.")
            between = converted.markdown[at : block.start].replace(SEPARATOR, "")
            _require(not between.strip("\n"), f"'{between}' before block {number} is in no block.")
            on_pages = all(1 <= box.page <= converted.pages for box in block.boxes)
            _require(on_pages, f"Block {number} is on a page that the PDF does not have.")
            at = block.end
        is_whole = converted.blocks is None or not converted.markdown[at:].replace(SEPARATOR, "").strip("\n")
        _require(is_whole, "The end of the text is in no block.")


def check_bad_files(make: Make) -> None:
    """Check that unreadable files raise UnreadablePdfError or yield no text, and that later files can be read."""
    engine = make()
    for what, pdf in BAD.items():
        try:
            converted = engine.convert(pdf)
        except UnreadablePdfError as error:
            _require(str(error).endswith(".") and "\n" not in str(error), f"The error for {what} is not a sentence.")
        except Exception as error:
            raise AssertionError(f"On {what} it raised {type(error).__name__}, not UnreadablePdfError.") from error
        else:
            _require(converted.characters == 0, f"It read {converted.characters} characters in {what}.")
            _require(converted.pages > 0, f"It counted no page in {what}, but raised no UnreadablePdfError.")
    _require(engine.convert(typeset(PAPER)).pages == len(PAPER), "After unreadable files, it cannot read others.")


def check_determinism(make: Make) -> None:
    """Check that a file yields the same result again, after another file, and with another instance."""
    engine = make()
    pdf = typeset(PAPER)
    first = engine.convert(pdf)
    _require(engine.convert(pdf) == first, "Reading the same file twice yielded two different texts.")
    engine.convert(typeset(RULED))
    _require(engine.convert(pdf) == first, "Reading another file in between changed the text of a file.")
    _require(make().convert(pdf) == first, "Two instances read the same file differently.")


def check_storing(make: Make) -> None:
    """Check that a result can be written as JSON and read again unchanged."""
    converted = make().convert(typeset(PAPER))
    stored = msgspec.json.decode(msgspec.json.encode(converted), type=Converted)
    _require(stored == converted, "A result changed when it was written as JSON and read again.")


def _convert(make: Make, pdf: bytes) -> Converted:
    return make().convert(pdf)


def check_other_places(make: Make) -> None:
    """Check that another thread and another process yield the same result."""
    pdf = typeset(PAPER)
    here = make().convert(pdf)
    with ThreadPoolExecutor(1) as thread:
        _require(thread.submit(_convert, make, pdf).result() == here, "Another thread reads the same file differently.")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        there = process.submit(_convert, make, pdf).result()
    _require(there == here, "Another process reads the same file differently.")


CHECKS: tuple[Callable[[Make], None], ...] = (
    check_name_and_version,
    check_pages,
    check_reading_order,
    check_no_page_holds_the_separator,
    check_characters,
    check_clean_text,
    check_headings,
    check_quality,
    check_blocks,
    check_bad_files,
    check_determinism,
    check_storing,
    check_other_places,
)


def check_engine(make: Make) -> None:
    """Check that an engine fulfils the contract; engines of other packages can call this in their tests."""
    for check in CHECKS:
        check(make)
