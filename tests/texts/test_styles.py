"""An invented paper in imitations of styles without a real sample: every block of it is known."""

from collections.abc import Iterator

import pytest

from invented_styles import PAPER, STYLES, styled
from peercorpus.texts.engine import SEPARATOR, Converted
from peercorpus.texts.layout.pdfium_layout import PdfiumLayout

CASES = [(style, is_anonymous) for style in STYLES for is_anonymous in (True, False)]
NAMES = [f"{style}-{'anonymous' if is_anonymous else 'final'}" for style, is_anonymous in CASES]
FORMULA = "$$"


@pytest.fixture(scope="module", params=CASES, ids=NAMES)
def case(request: pytest.FixtureRequest) -> tuple[str, bool, Converted]:
    style, is_anonymous = request.param
    return style, is_anonymous, PdfiumLayout().convert(styled(style, is_anonymous=is_anonymous))


def numbered(style: str) -> Iterator[tuple[int, str]]:
    """The headings of sections and appendices as the style numbers them, each with its level."""
    for part, is_appendix in (("sections", False), ("appendix", True)):
        numbers = [0, 0, 0]
        for one in PAPER[part]:
            if "title" not in one:
                continue
            level = one["level"]
            numbers = [*numbers[: level - 1], numbers[level - 1] + 1, 0, 0]
            first = chr(ord("A") + numbers[0] - 1) if is_appendix else str(numbers[0])
            number = ".".join([first, *map(str, numbers[1:level])])
            if style == "midl":
                number = f"{'Appendix ' if is_appendix and level == 1 else ''}{number}."
            yield level, f"{number} {one['title'].upper() if style == 'uai' and level < 3 else one['title']}"


def running(style: str, is_anonymous: bool) -> list[str]:
    """The blocks of the paper in the order in which they are read, from the abstract on."""
    headings = numbered(style)
    blocks = ["**Abstract:** " + PAPER["abstract"]] if style == "corl" else ["## Abstract", PAPER["abstract"]]
    if style in {"corl", "midl"}:
        blocks.append(f"**Keywords:** {PAPER['keywords']}")
    blocks += flow(PAPER["sections"], headings)
    if not is_anonymous:
        blocks += ["## Acknowledgments", PAPER["acknowledgments"]]
    labels = [f"[{number}] " if style == "corl" else "" for number in range(1, 20)]
    entries = [label + entry for label, entry in zip(labels, PAPER["references"], strict=False)]
    return [*blocks, "## References", *entries, *flow(PAPER["appendix"], headings)]


def flow(items: list[dict[str, str]], headings: Iterator[tuple[int, str]]) -> list[str]:
    blocks = []
    for one in items:
        if "title" in one:
            level, title = next(headings)
            blocks.append(f"{'#' * (level + 1)} {title}")
        elif "text" in one:
            blocks.append(one["text"].replace("{note}", "<sup>1</sup>"))
        elif "formula" in one:
            blocks.append(FORMULA)
        blocks += [f"- {item}" for item in one.get("items", ())]
        blocks += [f"{number}. {step}" for number, step in enumerate(one.get("steps", ()), 1)]
    return blocks


def apart(style: str) -> list[str]:
    """Content that occurs once, on whichever page it floats to: the table, captions and the footnote."""
    (table,) = (one for one in PAPER["sections"] if "table" in one)
    (figure,) = (one for one in PAPER["sections"] if "figure" in one)
    (note,) = (one["note"] for one in PAPER["sections"] if "note" in one)
    head, *rows = [f"| {' | '.join(row)} |" for row in table["table"]]
    return [
        "\n".join([head, "| --- | --- | --- | --- |", *rows]),
        f"Table 1: {table['caption']}",
        f"Figure 1: {figure['caption']}",
        f"1. {note}" if style == "midl" else f"<sup>1</sup>{note}",
    ]


def found(converted: Converted) -> list[str]:
    blocks = [block for page in converted.markdown.split(SEPARATOR) for block in page.strip().split("\n\n") if block]
    return [FORMULA if block.startswith(FORMULA) else block for block in blocks]


def test_every_block_occurs_once_in_order_and_nothing_else(case: tuple[str, bool, Converted]) -> None:
    """So no line number, header, footer or page number is left, and no paragraph or reference is split."""
    style, is_anonymous, converted = case
    blocks = found(converted)
    for one in apart(style):
        blocks.remove(one)
    expected = running(style, is_anonymous)
    assert blocks[-len(expected) :] == expected


def test_title_and_authors_precede_the_abstract(case: tuple[str, bool, Converted]) -> None:
    style, is_anonymous, converted = case
    title, *front = found(converted)[: -len(running(style, is_anonymous)) - len(apart(style))]
    assert title == f"# {PAPER['title']}"
    assert len(front) <= max(7, sum(map(len, PAPER["authors"])))
    said = " ".join(front)
    if is_anonymous:
        assert "nonymous" in said or "withheld" in said
    else:
        assert all(part in said for author in PAPER["authors"] for part in author)


def test_every_heading_has_its_level(case: tuple[str, bool, Converted]) -> None:
    style, is_anonymous, converted = case
    usual = {"Abstract", "Acknowledgments", "References"}
    headings = [(one.level, one.title) for one in converted.headings]
    assert [one for one in headings if one[1] not in usual] == list(numbered(style))
    left = [one for one in headings if one[1] in usual]
    assert left == [
        (1, name)
        for name in sorted(
            usual - ({"Abstract"} if style == "corl" else set()) - ({"Acknowledgments"} if is_anonymous else set())
        )
    ]


def test_words_in_a_figure_are_kept_separate(case: tuple[str, bool, Converted]) -> None:
    (labels,) = (one["figure"] for one in PAPER["sections"] if "figure" in one)
    assert case[2].figures == ("\n".join(labels),)
