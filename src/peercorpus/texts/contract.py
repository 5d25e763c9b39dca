"""What every PDF engine must keep, for whoever writes one: `check_engine(MyEngine)`.

Each check takes what makes the engine (its class) and raises an AssertionError that says in a sentence what does not
hold. With pytest: `@pytest.mark.parametrize("check", CHECKS)`, then `check(MyEngine)`.
"""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import msgspec

from peercorpus.errors import UnreadablePdfError
from peercorpus.texts.added import why_unfit
from peercorpus.texts.contract_pdfs import BAD, PAPER, RULED, WORDS, typeset
from peercorpus.texts.engine import SEPARATOR, UNKNOWN, Converted, Engine, without_pages

Make = Callable[[], Engine]
"""Makes the engine, without arguments; a class that can be imported, as it is sent to another process."""


def _require(holds: object, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)


def check_name_and_version(make: Make) -> None:
    """The name is short and plain; name and version are those of the class, whatever instance."""
    one, other = make(), make()
    unfit = why_unfit(one.name, one.version)
    _require(unfit is None, str(unfit))
    same = (one.name, one.version) == (other.name, other.version)
    _require(same, "Two instances have different names or versions.")


def check_pages(make: Make) -> None:
    """There are as many pages as in the PDF, and the words of each are on it."""
    found = make().convert(typeset(PAPER))
    pages = found.markdown.split(SEPARATOR)
    _require(found.pages == len(PAPER), f"The PDF has {len(PAPER)} pages, the engine counts {found.pages}.")
    _require(len(pages) == found.pages, f"The Markdown splits into {len(pages)} pages, not {found.pages}.")
    for number, (page, words) in enumerate(zip(pages, WORDS, strict=True), 1):
        for word in words:
            _require(page.count(word) == 1, f"'{word}' stands {page.count(word)} times on page {number}, not once.")
    flat = without_pages(found.markdown)
    _require(SEPARATOR not in flat, "The text without pages still shows where pages end.")


def check_reading_order(make: Make) -> None:
    """Words come in the order in which a person reads them."""
    markdown = make().convert(typeset(PAPER)).markdown
    places = [markdown.find(word) for words in WORDS for word in words]
    _require(-1 not in places, "Words of the paper are missing.")
    _require(places == sorted(places), "Words of the paper are out of order.")


def check_no_page_holds_the_separator(make: Make) -> None:
    """A line of a page that looks like the mark between pages makes no new page."""
    found = make().convert(typeset(RULED))
    pages = found.markdown.split(SEPARATOR)
    _require(
        len(pages) == found.pages == len(RULED), f"A line '---' on a page made {len(pages)} pages of {len(RULED)}."
    )


def check_characters(make: Make) -> None:
    """The characters are those of the pages, separators not counted."""
    found = make().convert(typeset(PAPER))
    counted = sum(map(len, found.markdown.split(SEPARATOR)))
    _require(found.characters == counted, f"The pages have {counted} characters, the engine says {found.characters}.")


def check_clean_text(make: Make) -> None:
    """A clean PDF gives no control characters, and none that stand for an unknown letter."""
    found = make().convert(typeset(PAPER))
    strange = sorted(set(UNKNOWN.findall(found.markdown)))
    _require(not strange, f"A clean PDF gave {strange}.")


def check_headings(make: Make) -> None:
    """Every heading is on its page, in the order of the text; an engine that tells none keeps this."""
    found = make().convert(typeset(PAPER))
    pages, at = found.markdown.split(SEPARATOR), (1, 0)
    for heading in found.headings:
        _require(heading.level >= 1, f"The heading '{heading.title}' has level {heading.level}.")
        _require(1 <= heading.page <= found.pages, f"The heading '{heading.title}' is on page {heading.page}.")
        _require(heading.page >= at[0], f"The heading '{heading.title}' comes after one of a later page.")
        after = at[1] if heading.page == at[0] else 0
        place = pages[heading.page - 1].find(heading.title, after)
        _require(
            heading.title and place >= 0, f"'{heading.title}' is not on page {heading.page}, after the one before."
        )
        at = (heading.page, place + len(heading.title))


def check_quality(make: Make) -> None:
    """Measures lie in their ranges; pages recognised from their image are pages of the PDF."""
    found = make().convert(typeset(PAPER))
    ocr = list(found.ocr_pages)
    in_order = ocr == sorted(set(ocr)) and all(1 <= page <= found.pages for page in ocr)
    _require(in_order, f"The pages {ocr} recognised from their image are not pages of the PDF, each once, in order.")
    _require(all(found.figures), "An entry of the figures is empty.")
    _require(all(problem.strip() for problem in found.problems), "A problem says nothing.")
    quality = found.quality
    if quality is None:
        return
    _require(quality.unknown_characters == 0, f"A clean PDF has {quality.unknown_characters:.1%} unknown characters.")
    _require(quality.empty_pages == 0, f"A PDF without an empty page has {quality.empty_pages} of them.")
    inside = sum(map(len, found.figures))
    _require(quality.figure_characters == inside, f"The figures hold {inside} characters, the measure says otherwise.")
    _require(quality.formulas >= 0, "There are fewer formulas than none.")
    sure = quality.formula_sureness
    _require(sure is None or 0 <= sure <= 1, f"The formulas are {sure} sure, which is not in [0, 1].")
    _require(sure is None or quality.formulas, "There is a sureness of formulas and no formula.")


def check_bad_files(make: Make) -> None:
    """What cannot be read raises an UnreadablePdfError with a sentence, or gives no characters; then all goes on."""
    engine = make()
    for what, pdf in BAD.items():
        try:
            found = engine.convert(pdf)
        except UnreadablePdfError as error:
            _require(str(error).endswith(".") and "\n" not in str(error), f"Of {what} it does not speak in a sentence.")
        except Exception as error:
            raise AssertionError(f"On {what} it raised {type(error).__name__}, not UnreadablePdfError.") from error
        else:
            _require(found.characters == 0, f"It read {found.characters} characters in {what}.")
            _require(found.pages > 0, f"It counts no page in {what} and raised no UnreadablePdfError.")
    _require(engine.convert(typeset(PAPER)).pages == len(PAPER), "After files that cannot be read it reads no other.")


def check_determinism(make: Make) -> None:
    """The same file gives the same, again, after another file, and from another instance."""
    engine, pdf = make(), typeset(PAPER)
    first = engine.convert(pdf)
    _require(engine.convert(pdf) == first, "The same file read twice gave two different texts.")
    engine.convert(typeset(RULED))
    _require(engine.convert(pdf) == first, "Another file read between changed the text of a file.")
    _require(make().convert(pdf) == first, "Two instances read the same file differently.")


def check_storing(make: Make) -> None:
    """What was read can be written down and read again without a change."""
    found = make().convert(typeset(PAPER))
    stored = msgspec.json.decode(msgspec.json.encode(found), type=Converted)
    _require(stored == found, "What was read is not the same after it was written as JSON and read again.")


def _convert(make: Make, pdf: bytes) -> Converted:
    return make().convert(pdf)


def check_other_places(make: Make) -> None:
    """Another thread and another process read the same."""
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
    check_bad_files,
    check_determinism,
    check_storing,
    check_other_places,
)


def check_engine(make: Make) -> None:
    """Make sure that an engine keeps the contract.

    Raises:
        AssertionError: It does not; the sentence says how.
    """
    for check in CHECKS:
        check(make)
