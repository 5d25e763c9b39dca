"""Texts as HTML: Markdown, formulas and hostile texts, and the fold of a long one."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explored import ATTACKS, MILLION, explored, tags_of
from invented_tables import ICLR, conversation, paper, post, review, turn
from peercorpus.explorer.rendering import (
    FOLDED_CHARACTERS,
    SHOWN_CHARACTERS,
    Prose,
    _draw_tokens,
    _parse_markdown,
    _render_paragraphs,
)
from peercorpus.records.enums import PostKind, Role
from peercorpus.wording.untrusted_text import redact_people

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


PLAIN = Prose(redact_people)
TAG = re.compile(r"<[^>]+>")
PARAGRAPH = "Kites need wind, and wind needs kites to be seen. " * 8
ITEMS = "\n".join(f"{number}. The tether of kite {number} is weak{' and long' * 20}." for number in range(1, 31))


def _folded(text: str) -> tuple[str, str]:
    folded = Prose(str).fold(text)
    return str(folded.shown), str(folded.rest)


def _words(html: str) -> list[str]:
    return unescape(TAG.sub(" ", html)).split()


def test_a_short_text_is_not_folded() -> None:
    assert _folded(f"{PARAGRAPH}\n\n{PARAGRAPH}")[1] == ""
    assert _folded("x " * (SHOWN_CHARACTERS // 2 + 400) + f"\n\n{'y ' * (FOLDED_CHARACTERS // 2 - 9)}")[1] == ""


def test_texts_fold_between_paragraphs() -> None:
    folded = Prose(str).fold("\n\n".join([PARAGRAPH] * 12))
    assert folded.shown.count("<p>") == 4
    assert folded.rest.count("<p>") == 8
    assert folded.words == 8 * len(PARAGRAPH.split())


def test_a_heading_stays_with_its_text() -> None:
    shown, rest = _folded("\n\n".join([*[PARAGRAPH] * 3, "# Weaknesses", *[PARAGRAPH] * 6]))
    assert "Weaknesses" in shown
    assert shown.rstrip().endswith("</p>")
    assert rest.startswith("<p>")


def test_lists_fold_and_keep_numbers() -> None:
    shown, rest = _folded(ITEMS)
    items = shown.count("<li>")
    assert 1 < items < 29
    assert rest.startswith(f'<ol start="{items + 1}">')
    assert items + rest.count("<li>") == 30
    assert shown.rstrip().endswith("</ol>")


@pytest.mark.slow
@given(st.lists(st.sampled_from([PARAGRAPH, ITEMS, "# Head", "- a\n- b", "> " + PARAGRAPH, "    code", "$$x$$"])))
def test_folding_loses_no_word(blocks: list[str]) -> None:
    text = "\n\n".join(blocks)
    shown, rest = _folded(text)
    assert _words(shown) + _words(rest) == _words(str(Prose(str)(text)))


def test_plain_texts_fold_at_lines() -> None:
    text = "\n".join([PARAGRAPH] * 200)
    shown, rest = _folded(text)
    assert rest
    assert _words(shown) + _words(rest) == text.split()


def test_long_reviews_fold_on_pages(tmp_path: Path) -> None:
    texts = {"R1": "\n\n".join([PARAGRAPH] * 12), "R2": "Short."}
    records: list[object] = [paper("f1")]
    for reviewer, text in texts.items():
        review_id = f"f1-{reviewer}"
        records += [
            review("f1", reviewer),
            post(review_id, "f1", kind=PostKind.REVIEW, role=Role.REVIEWER, signature=reviewer, text=text),
            conversation("f1", reviewer, (replace(turn(Role.REVIEWER, review_id), text=text),)),
        ]
    with explored(tmp_path / "long", {ICLR: records}) as client:
        page = client.get("/paper/f1").text
    first, second = (page.partition(f'id="conversation-{one}"')[2].partition("</section>")[0] for one in texts)
    assert f"Show the other {8 * len(PARAGRAPH.split())} words" in first
    assert 'class="fold"' not in second


@pytest.mark.fault(
    "input", "Markdown or HTML of a post that would execute in a browser", "it is shown as text", times=6
)
@pytest.mark.parametrize("attack", ATTACKS)
def test_rendered_prose_contains_nothing_executable(attack: str) -> None:
    drawn = PLAIN(attack)
    assert tags_of(drawn).bad == []
    assert "<script" not in drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"),
        ("[a](JaVaScRiPt&#58;alert(1))", "<p>[a](JaVaScRiPt:alert(1))</p>"),
        ("[a](data:text/html,x)", "<p>[a](data:text/html,x)</p>"),
        ("[a](mailto:x)", "<p>[a](mailto:x)</p>"),
        ("[a](//evil.example)", "<p>[a](//evil.example)</p>"),
        ("[a](https://b.example)", '<p><a href="https://b.example" rel="noopener noreferrer nofollow">a</a></p>'),
        ("it costs $5 and $10", "<p>it costs $5 and $10</p>"),
        ("# Top", "<h4>Top</h4>"),
        ("# why_not_higher", "<h4>why not higher</h4>"),
        ("# a _b_ c_d", "<h4>a <em>b</em> c_d</h4>"),
    ],
)
def test_rendered_prose_is_the_expected_html(text: str, drawn: str) -> None:
    assert PLAIN(text).strip() == drawn


def test_unreadable_formulas_stay_as_written() -> None:
    for tex in ("{" * 3000, r"\frac", r"\sqrt{" * 900, r"\text{<b>x</b>}", r"\def\a{\a\a}\a"):
        assert '<code class="tex">' in PLAIN(f"${tex}$"), tex[:20]


def test_a_megabyte_is_shown_plain() -> None:
    assert len(MILLION) > 40_000
    drawn = Prose(redact_people)(MILLION)
    assert drawn.startswith('<div class="plain">')
    assert drawn.count("&lt;b&gt;") == MILLION.count("<b>")
    assert "<b>" not in drawn


def test_formula_numbers_have_no_link() -> None:
    drawn = str(PLAIN("$$\nx\n$$ (<b>2)"))
    assert "(&lt;b&gt;2)" in drawn
    assert "<a" not in drawn
    assert "<math" in drawn


def test_plus_and_minus_bullets_keep_signs() -> None:
    assert (
        str(PLAIN("+ Timely.\n\n- Rare."))
        == '<ul class="plus">\n<li>Timely.</li>\n</ul>\n<ul class="minus">\n<li>Rare.</li>\n</ul>\n'
    )
    assert "class" not in PLAIN("- One.\n- Two.\n\n* Three.")
