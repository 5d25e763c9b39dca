"""Algorithms keep steps, numbers and indentation, whatever package typeset them, with or without rules.

The PDFs in `algorithms` are what pdfTeX (TeX Live 2022) makes of the sources beside them.
"""

import re
from pathlib import Path

import pytest

from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

ALGORITHMS = Path(__file__).parent / "algorithms"
FORMULA = re.compile(r"\$[^$]+\$(?: ?= ?)?")

NUMBERED = """\
Data: graph $, source $
 1 foreach $ do
 2    $;
 3 end
 4 while $ do
 5    take $ with the least $ from $;
 6    if $ then
 7       stop;
 8    else
 9       $;  // relax
10    end
11 end
12 return $"""
BOXED = """\
Data: numbers $
$;
for $ to $ do
   $;
end
return $"""
UNDECORATED = """\
$
for $ to $ do
  $
  if $ then
    break
  end if
end for
return $"""
SORT = """\
Insertion-Sort$
1 for $ to $.length
2     key $
3     // Insert $ into the sorted sequence $.
4     $
5     while $ and $ key
6          $
7          $
8     $key"""
HEAP = """\
Max-Heapify$
 1 $Left$
 2 $Right$
 3 if $.heap-size and $
 4     largest $
 5 else largest $
 6 if $.heap-size and $[largest]
 7     largest $
 8 if largest $
 9     exchange $[largest]
10     Max-Heapify($, largest)"""


def read_listings(name: str) -> tuple[list[str], str]:
    """Return the fenced blocks, each formula as a dollar sign, and the text without them."""
    markdown = PdfiumLayout().convert((ALGORITHMS / f"{name}.pdf").read_bytes()).markdown
    prose, fenced = markdown.split("```")[::2], markdown.split("```")[1::2]
    return [FORMULA.sub("$", block).strip("\n") for block in fenced], "\n".join(prose)


@pytest.mark.parametrize(
    ("name", "listings"), [("algorithm2e", [NUMBERED, BOXED, UNDECORATED]), ("clrs", [SORT, HEAP])]
)
def test_an_algorithm_keeps_its_steps(name: str, listings: list[str]) -> None:
    assert read_listings(name)[0] == listings


def test_a_list_of_sentences_that_begin_like_steps_is_prose() -> None:
    assert "1. for each of the papers we count the reviews;\n" in read_listings("algorithm2e")[1]
