from invented_pdfs import by_hand, lines
from peercorpus.texts.engine import load_engine


def test_no_line_ends_with_spaces() -> None:
    text = load_engine("tidy-text").convert(by_hand([lines("On kites  ", "Wind ")])).markdown
    assert all(line == line.rstrip() for line in text.splitlines())
