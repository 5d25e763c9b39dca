"""A text without Markdown syntax is shown as the Markdown parser would show it, without being parsed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.explorer.rendering import _draw_tokens, _parse_markdown, _render_paragraphs

NEAR = st.text(alphabet="abZ d.e,;:?!%/()'\"=+-\n 10_*#<&$|~é\t", max_size=40)


@given(NEAR)
def test_unparsed_paragraphs_equal_the_parsers_output(text: str) -> None:
    plain = _render_paragraphs(text)
    assert plain is None or plain == _draw_tokens(_parse_markdown(text, 4))


@pytest.mark.parametrize(
    "text", ["One line.", "Two lines\nof one.", "Two.\n\n\nParagraphs: a - b (c), 1/2 = 50%!", 'A "b" it\'s']
)
def test_plain_paragraphs_are_not_parsed(text: str) -> None:
    assert _render_paragraphs(text) == _draw_tokens(_parse_markdown(text, 4))


@pytest.mark.parametrize(
    "text", ["", "1. One", "- one", "*a*", "a_b_", "a <b>", "a & b", "$x$", "a  \nb", " a", "a |b", "é"]
)
def test_anything_else_is_parsed(text: str) -> None:
    assert _render_paragraphs(text) is None
