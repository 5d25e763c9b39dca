from invented_pdfs import by_hand, lines
from peercorpus.texts.engine import load_engine


def test_only_the_first_line_is_read() -> None:
    assert load_engine("title-line").convert(by_hand([lines("On kites"), lines("Wind")])).markdown == "On kites"
