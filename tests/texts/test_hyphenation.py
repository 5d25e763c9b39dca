"""Divided words are joined as written elsewhere in the paper; addresses stay whole."""

import pytest

from invented_lines import line
from peercorpus.texts.layout.hyphenation import Dehyphenator

PAPER = (
    "We use multi-agent systems with a learned representation.",
    "PaperShelf is a shelf.",
    "A baseline is a reference for a multi-agent system, and for graph networks.",
)


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("a repre", "sentation of", "a representation of"),
        ("a state", "of-the-art model", "a state-of-the-art model"),
        ("a multi", "agent system", "a multi-agent system"),
        ("a gradient", "based method", "a gradient-based method"),
        ("the graph", "networks there", "the graph-networks there"),
        ("by Hinton", "Salakhutdinov", "by Hinton-Salakhutdinov"),
        ("see https://example.org/a", "b/c", "see https://example.org/a-b/c"),
        ("GPT", "2 is", "GPT-2 is"),
        ("un", "like them", "unlike them"),
        ("state-of", "the-art models", "state-of-the-art models"),
        ("an RL", "based agent", "an RL-based agent"),
        ("on soft", "ware that", "on software that"),
        ("a soft", "margin loss", "a soft-margin loss"),
        ("on Paper", "Shelf we", "on PaperShelf we"),
        ("the pre", "and post-processing", "the pre- and post-processing"),
    ],
)
def test_hyphenated_words_are_joined(before: str, after: str, joined: str) -> None:
    assert Dehyphenator(line(text) for text in PAPER).join(before, after, is_cut=True) == joined


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("One line", "and the next.", "One line and the next."),
        ("a repre-", "sentation", "a representation"),
        ("a range 1-", "5 of", "a range 1-5 of"),
        ("at 4e-", "4 of", "at 4e-4 of"),
        ("is $(a, b)$-", "RDP for", "is $(a, b)$-RDP for"),
        ("of Llama3-", "Instruct", "of Llama3-Instruct"),
        ("two- or more", "and", "two- or more and"),
        ("a pre-", "and a postfix", "a pre- and a postfix"),
        ("a value of -", "5 is", "a value of - 5 is"),
        ("pages 12\u2013", "15.", "pages 12\u201315."),
        ("a word \u2013", "as said", "a word \u2013 as said"),
        ("at https://example.org/", "some/path", "at https://example.org/some/path"),
        ("at https://example.org/some_", "path.html we", "at https://example.org/some_path.html we"),
        ("at https://example.org/page.", "The next", "at https://example.org/page. The next"),
        ("(https://example.org)", "a/b", "(https://example.org) a/b"),
        ("and/", "or", "and/or"),
        ("doi: 10.1", "234/5678.", "doi: 10.1234/5678."),
        ("doi: 10.1234/56", "78.", "doi: 10.1234/5678."),
        ("doi: 10.1234/v1/2023.conf", "-main.313. URL", "doi: 10.1234/v1/2023.conf-main.313. URL"),
        ("10.1234/journal.", "kites.1008. URL", "10.1234/journal.kites.1008. URL"),
        ("doi: 10.1234/56.", "URL https://example.org", "doi: 10.1234/56. URL https://example.org"),
        ("URL http", "s://example.org/retrieve", "URL https://example.org/retrieve"),
        (
            "http://example.org/abs/2310.07.",
            "arXiv:2310.07 [cs].",
            "http://example.org/abs/2310.07. arXiv:2310.07 [cs].",
        ),
        ("https://example.org/kites.", "however, we", "https://example.org/kites. however, we"),
        ("https://example.org/kites.", "html.", "https://example.org/kites.html."),
        ("before section 10.", "One line", "before section 10. One line"),
        ("评审人", "阅读论文", "评审人阅读论文"),
        ("使用。", "ICLR", "使用。ICLR"),
        ("ICLR", "使用", "ICLR 使用"),
        ("논문을", "읽고", "논문을 읽고"),
    ],
)
def test_other_lines_are_joined_with_a_space(before: str, after: str, joined: str) -> None:
    assert Dehyphenator(line(text) for text in PAPER).join(before, after, is_cut=False) == joined


@pytest.mark.parametrize(
    ("papers_own", "joined"),
    [
        ("A cloud formation is a formation of clouds.", "transformation"),
        ("The trans line is no formation.", "trans-formation"),
        ("A transformation is a formation. Trans is a name.", "transformation"),
        ("A trans-formation is a formation.", "trans-formation"),
        ("A trans-formation is a transformation. Each transformation counts.", "transformation"),
    ],
    ids=["a half is a word", "both halves are", "the whole is", "the compound is", "the whole is, and more often"],
)
def test_a_hyphen_stays_if_the_paper_has_the_compound(papers_own: str, joined: str) -> None:
    assert Dehyphenator([line(papers_own)]).join("a trans", "formation of", is_cut=True) == f"a {joined} of"
