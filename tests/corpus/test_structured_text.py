"""Number, year, DOI and addresses are read from entries of a reference list as printed."""

import pytest

from invented_blocks import entry, structured


@pytest.mark.parametrize(
    ("text", "number", "year", "doi", "urls"),
    [
        ("A. Author. Herbs. 2019.", "3", "2019", None, ()),
        ("A. Author (2020a). Herbs. 12:2001-2010.", None, "2020a", None, ()),
        ("A. Author. Herbs. arXiv:2005.14165, 2020.", None, "2020", None, ()),
        ("A. Author. Herbs. doi: 10.1000/xyz(1).", None, None, "10.1000/xyz(1)", ()),
        (
            "A. Author. Herbs. https://doi.org/10.1000/xyz. URL https://a.example/b\\_c).",
            None,
            None,
            "10.1000/xyz",
            ("https://doi.org/10.1000/xyz", "https://a.example/b_c"),
        ),
    ],
)
def test_an_entry_is_read(
    text: str, number: str | None, year: str | None, doi: str | None, urls: tuple[str, ...]
) -> None:
    (read,) = structured(entry(text, number)).bibliography
    assert (read.number, read.year, read.doi, read.urls) == (number, year, doi, urls)
