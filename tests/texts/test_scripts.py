"""Chinese lines join without a space; Arabic and English words are in reading order, whichever contains the other.

The PDFs in `scripts` were made by XeTeX (TeX Live 2022) from the sources beside them.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.pdf.writing_direction import reorder_text
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

SCRIPTS = Path(__file__).parent / "scripts"
_COMMAND = re.compile(r"\\\w+(?:\{(?P<inner>[^}]*)\})?|[{}$]")


def source_paragraphs(name: str) -> list[str]:
    """The paragraphs of a source, as plain text."""
    body = (SCRIPTS / f"{name}.tex").read_text(encoding="utf-8").split("\\begin{document}")[1]
    lines = (line for line in body.split("\\end{document}")[0].splitlines() if not line.startswith("\\"))
    return [plain for line in lines if (plain := _COMMAND.sub(lambda found: found["inner"] or "", line).strip())]


def read_paragraphs(name: str) -> str:
    markdown = PdfiumLayout().convert((SCRIPTS / f"{name}.pdf").read_bytes()).markdown
    return markdown.replace("$", "").replace("*", "")


@pytest.mark.parametrize("name", ["arabic", "chinese", "mixed"])
def test_paragraphs_in_other_scripts_are_read_as_they_were_written(name: str) -> None:
    written = source_paragraphs(name)
    assert len(written) >= 1
    read = read_paragraphs(name)
    assert [paragraph for paragraph in written if re.sub(r" +", " ", paragraph) not in read] == []


ARABIC = ("مراجعة", "الأقران", "العلمي", "كيف")
ENGLISH = ("peer", "review", "of", "papers")


def reverse_stretches(words: list[str], kind: tuple[str, ...]) -> list[str]:
    """Return the words with each run of one kind reversed, as Unicode's bidirectional algorithm places them."""
    placed: list[str] = []
    stretch: list[str] = []
    for word in words:
        if word in kind:
            stretch.insert(0, word)
        else:
            placed += [*stretch, word]
            stretch = []
    return placed + stretch


@given(st.lists(st.sampled_from(ARABIC + ENGLISH), min_size=1, max_size=9), st.booleans())
def test_words_of_both_directions_are_in_reading_order(words: list[str], is_rightward: bool) -> None:
    from_left = reverse_stretches(words, ARABIC) if is_rightward else reverse_stretches(words, ENGLISH)[::-1]
    was_rightward = sum(word in ARABIC for word in words) < sum(word in ENGLISH for word in words)
    given_by_pdfium = " ".join(from_left if was_rightward else from_left[::-1])
    assert reorder_text(given_by_pdfium, was_rightward=was_rightward, is_rightward=is_rightward) == " ".join(words)
