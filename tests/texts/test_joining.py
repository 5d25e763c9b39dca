"""Divided words are mended as the paper has them elsewhere; addresses stay whole."""

import pytest

from invented_lines import line
from peercorpus.texts.layout.joining import Joiner

PAPER = (
    "We use multi-agent systems with a learned representation.",
    "A baseline is a reference for a multi-agent system, and for graph networks.",
)


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("a repre", "sentation of", "a representation of"),
        ("an exper", "iment of", "an experiment of"),
        ("a multi", "agent system", "a multi-agent system"),
        ("a state", "of-the-art model", "a state-of-the-art model"),
        ("a gradient", "based method", "a gradient-based method"),
        ("the graph", "networks there", "the graph-networks there"),
        ("by Hinton", "Salakhutdinov", "by Hinton-Salakhutdinov"),
        ("see https://example.org/a", "b/c", "see https://example.org/a-b/c"),
        ("GPT", "2 is", "GPT-2 is"),
    ],
)
def test_a_word_cut_by_a_hyphen(before: str, after: str, joined: str) -> None:
    assert Joiner(line(text) for text in PAPER).join(before, after, is_cut=True) == joined


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("One line", "and the next.", "One line and the next."),
        ("a repre-", "sentation", "a representation"),
        ("a range 1-", "5 of", "a range 1- 5 of"),
        ("at https://example.org/", "some/path", "at https://example.org/some/path"),
        ("at https://example.org/some_", "path.html we", "at https://example.org/some_path.html we"),
        ("at https://example.org/page.", "The next", "at https://example.org/page. The next"),
        ("at https://example.org", "we show", "at https://example.org we show"),
        ("(https://example.org)", "a/b", "(https://example.org) a/b"),
        ("and/", "or", "and/or"),
    ],
)
def test_other_lines(before: str, after: str, joined: str) -> None:
    assert Joiner(line(text) for text in PAPER).join(before, after, is_cut=False) == joined


def test_the_halves_of_divided_words_are_no_words_of_the_paper() -> None:
    joiner = Joiner([line("a repre", is_cut=True), line("sentation of repre", is_cut=True), line("sentation")])
    assert joiner.join("repre", "sentation", is_cut=True) == "representation"
