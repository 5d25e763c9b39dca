"""Passages of texts in Markdown, as hits of a search show them."""

import pytest

from peercorpus.explorer.querying.passages import PassageFinder, Sought
from peercorpus.explorer.querying.searched_fields import SearchedFields

FIELDS = SearchedFields({"reviews": 1.0})


def show(text: str, word: str = "kites", characters: int = 220) -> str:
    passage = PassageFinder([Sought((word,), 0)], FIELDS, characters).find(text, "reviews")
    assert passage is not None
    return "".join(f"[{piece}]" if is_mark else piece for piece, is_mark in passage.pieces)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("### Summary\nThe kites are stable.", "Summary\nThe [kites] are stable."),
        ("- Kites break.\n- Few seeds.", "[Kites] break.\n· Few seeds."),
        ("* Kites\n  + strings", "[Kites]\n· strings"),
        ("> Are the kites new?\nYes - they are.", "Are the [kites] new?\nYes - they are."),
        ("With #3 and 2 - 1 kites * 4 > 3", "With #3 and 2 - 1 [kites] * 4 > 3"),
        ("#kites", "#[kites]"),
        ("**W2.** The *old* kites are **bold**", "W2. The old [kites] are bold"),
        ("A* search of kites finds p* as x**2 or a * b", "A* search of [kites] finds p* as x**2 or a * b"),
        ("**Strengths** The kites are **new**.", "Strengths The [kites] are new."),
    ],
)
def test_passages_leave_out_block_signs(text: str, shown: str) -> None:
    assert show(text) == shown


def test_passages_within_lines_keep_signs() -> None:
    text = f"{'much wind ' * 20}- 3 kites\n# Wind {'and rain ' * 30}"
    assert "- 3 [kites]\nWind and rain" in show(text)
    assert show(f"{'far ' * 30}x - kites\n", characters=12).startswith("… - [kites]")
