"""Find the signs of a version in a PDF's text, and weigh them.

`read_signs` finds signs by the patterns of `signs.toml`; `infer_version` weighs them, with the file's dates, to decide
whether the file is a submitted or a final version.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from importlib.resources import files
from itertools import pairwise

from peercorpus.execution.stage import digest_of_data
from peercorpus.records.documents import Inspection, VersionSign
from peercorpus.records.enums import FileSays, SignKind


class SignWeight(StrEnum):
    """Weight of one sign."""

    DECISIVE = "decisive"
    """Enough by itself."""
    SUPPORTING = "supporting"
    """Counts only together with another kind of sign."""
    HINT = "hint"
    """Counts only together with a supporting sign."""


FRONT_PAGES = 2
"""Number of pages searched for text that style files print on the first page or on all pages."""

QUOTE_CHARACTERS = 200
"""Longest quotation of a sign."""

_MAX_PAGE_CHARACTERS = 50_000
"""Characters searched per page; a full page of two columns has fewer than 8,000."""

_MIN_NUMBERED_LINES = 15
"""Consecutive numbers in the margin that count as line numbers; numbered lists and tables are shorter."""

UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Matches zero-width characters, and those that change the writing direction."""

NUMBER = {
    "alone": re.compile(r"(\d{1,4})$"),
    "before": re.compile(r"(\d{1,4}) \S"),
    "behind": re.compile(r".*\S (\d{1,4})$"),
}
REFERENCES = re.compile(r"^(?:\d{1,2}\.?\s+)?(?:References|Bibliography)\s*$", re.IGNORECASE | re.MULTILINE)
BEGINS = re.compile(r"^(?:\d{1,2}\.?\s+)?(?:Abstract\b|Introduction\s*$)", re.IGNORECASE | re.MULTILINE)
"""Matches the end of the authors' block."""

EMAIL = re.compile(r"[^\s@<>]{1,64}@[^\s@<>]{1,253}")
ADDRESS = re.compile(r"[\w.+%}-]{1,64}@(?!(?:domain|example|xxx)\.)[\w-]{1,63}\.\w{2}")
AFFILIATION = re.compile(
    r"\b(?:Universit\w{1,4}|Institut\w{0,2}|College|Laborator\w{1,3}|Department of|School of|Labs|Inc\.)(?!\w)"
)
CORRESPONDENCE = re.compile(r"Corre\W{0,2}spon\W{0,2}dence to:?[^@]{0,200}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The version that a kind of sign indicates, its weight, and its patterns."""

    speaks_for: FileSays
    strength: SignWeight
    in_front: bool
    words: str | None
    patterns: tuple[re.Pattern[str], ...]


def _meaning(table: dict[str, object]) -> Meaning:
    patterns = table["patterns"]
    assert isinstance(patterns, list)
    return Meaning(
        speaks_for=FileSays(str(table["speaks_for"])),
        strength=SignWeight(str(table["strength"])),
        in_front=table["where"] == "front",
        words=str(table["words"]) if "words" in table else None,
        patterns=tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns),
    )


_SIGNS = tomllib.loads(files(__package__).joinpath("signs.toml").read_text(encoding="utf-8"))
MEANINGS = {SignKind(kind): _meaning(table) for kind, table in _SIGNS.items()}
DIGEST = digest_of_data(_SIGNS)
"""Digest of `signs.toml`, part of the content key of inspections."""


def _measure_longest_run(numbers: Iterable[int]) -> int:
    """Return the length of the longest run of consecutive numbers.

    >>> _measure_longest_run([7, 1, 2, 3, 9])
    3
    """
    longest = length = 1
    for before, after in pairwise(numbers):
        length = length + 1 if after == before + 1 else 1
        longest = max(longest, length)
    return longest


def numbered_places(text: str) -> tuple[str, ...]:
    """Return the places of line numbers on a page: "before" or "behind" each line, or "alone" on separate lines.

    pdfium returns numbers in the margin together with the line beside them, or all in one run.
    """
    lines = text.split("\n")
    matches = {place: [match for line in lines if (match := pattern.match(line))] for place, pattern in NUMBER.items()}
    return tuple(
        place
        for place in NUMBER
        if _measure_longest_run(int(match[1]) for match in matches[place]) >= _MIN_NUMBERED_LINES
    )


def _remove_numbers(text: str, places: Sequence[str]) -> str:
    if "before" in places:
        text = re.sub(r"(?m)^\d{1,4} (?=\S)", "", text)
    return re.sub(r"(?m)(?<=\S) \d{1,4}$", "", text) if "behind" in places else text


def _clean_lines(text: str) -> str:
    """Return the text of a page with single spaces, stripped lines and no invisible characters."""
    seen = UNSEEN.sub("", text[:_MAX_PAGE_CHARACTERS])
    return "\n".join(" ".join(line.split()) for line in seen.split("\n"))


def _find_authors(page: int, text: str) -> Iterator[tuple[int, VersionSign]]:
    """Yield a sign if authors are named, stating the kind of evidence but never the names."""
    end = BEGINS.search(text)
    block = text[: end.start()].partition("\n")[2] if end else ""
    if ADDRESS.search(block):
        yield 0, VersionSign(SignKind.NAMED_AUTHORS, page, "an e-mail address above the abstract")
    elif AFFILIATION.search(block):
        yield 0, VersionSign(SignKind.NAMED_AUTHORS, page, "an affiliation above the abstract")
    elif any(ADDRESS.search(text, mention.end() - 64, mention.end() + 64) for mention in CORRESPONDENCE.finditer(text)):
        yield 0, VersionSign(SignKind.NAMED_AUTHORS, page, "an e-mail address for correspondence")


def _find_on_page(page: int, text: str) -> Iterator[tuple[int, VersionSign]]:
    text = _clean_lines(text)
    is_front = page <= FRONT_PAGES
    places = numbered_places(text)
    if places and is_front:
        yield 0, VersionSign(SignKind.LINE_NUMBERS, page, "numbers of the lines in the margin")
    text = _remove_numbers(text, places)
    references = REFERENCES.search(text)
    front = text[: references.start()] if references else text
    if page == 1:
        yield from _find_authors(page, front)
    for kind, meaning in MEANINGS.items():
        if meaning.in_front and not is_front:
            continue
        for match in (pattern.search(front if meaning.in_front else text) for pattern in meaning.patterns):
            if match:
                quote = EMAIL.sub("[e-mail]", " ".join(match[0].split()))[:QUOTE_CHARACTERS]
                yield match.start(), VersionSign(kind, page, meaning.words or quote)


def read_signs(pages: Sequence[tuple[int, str]]) -> tuple[VersionSign, ...]:
    """Return the first sign of each kind in a file, in the order of the text.

    If the authors' block is anonymous, an address elsewhere on the page does not count as naming authors.
    """
    first: dict[SignKind, VersionSign] = {}
    for page, text in pages:
        for _, sign in sorted(_find_on_page(page, text), key=lambda entry: entry[0]):
            first.setdefault(sign.kind, sign)
    if SignKind.ANONYMOUS_AUTHORS in first:
        first.pop(SignKind.NAMED_AUTHORS, None)
    return tuple(first.values())


def ends_the_text(text: str) -> bool:
    """Return whether the references begin on a page; acknowledgements are right before or after them."""
    text = _clean_lines(text)
    return REFERENCES.search(_remove_numbers(text, numbered_places(text))) is not None


_DATE_TOLERANCE = timedelta(days=1)
"""Tolerance for a file's date after the deadline: clocks are wrong, and some dates have no zone."""

_OPPOSITE = {FileSays.SUBMITTED: FileSays.FINAL, FileSays.FINAL: FileSays.SUBMITTED}


@dataclass(frozen=True, slots=True)
class WeighedSign:
    """One sign with the version that it indicates and its weight."""

    kind: SignKind
    speaks_for: FileSays
    strength: SignWeight
    words: str


def _weigh(sign: VersionSign) -> WeighedSign:
    meaning = MEANINGS[sign.kind]
    page_words = f"page {sign.page}: " if sign.page is not None else ""
    return WeighedSign(
        kind=sign.kind, speaks_for=meaning.speaks_for, strength=meaning.strength, words=f"{page_words}{sign.words}"
    )


def _weigh_dates(inspection: Inspection, deadline: datetime) -> Iterator[WeighedSign]:
    for date, what in ((inspection.made_at, "made"), (inspection.changed_at, "last changed")):
        if date is None or (what == "last changed" and date == inspection.made_at):
            continue
        statement = f"the file says it was {what} on {date:%Y-%m-%d %H:%M} UTC"
        if date - deadline > _DATE_TOLERANCE:
            late = SignWeight.DECISIVE if what == "made" else SignWeight.HINT
            after = f"{statement}, {(date - deadline).days} days after the deadline"
            yield WeighedSign(kind=SignKind.MADE_AT, speaks_for=FileSays.FINAL, strength=late, words=after)
        elif what == "made":
            yield WeighedSign(
                kind=SignKind.MADE_AT,
                speaks_for=FileSays.SUBMITTED,
                strength=SignWeight.HINT,
                words=f"{statement}, not after the deadline",
            )


def _decide(voices: Sequence[WeighedSign]) -> FileSays:
    """Return the version indicated by all decisive signs, or else by two kinds of signs without contradiction.

    Without a decisive sign, at least one of them must be more than a hint.
    """
    decisive = [voice for voice in voices if voice.strength is SignWeight.DECISIVE]
    if any(voice.kind is SignKind.MADE_AT for voice in decisive):
        return FileSays.FINAL
    sides = {voice.speaks_for for voice in decisive or voices}
    if len(sides) != 1:
        return FileSays.NOTHING
    supported = any(voice.strength is not SignWeight.HINT for voice in voices)
    together = len({voice.kind for voice in voices}) > 1
    return sides.pop() if decisive or (supported and together) else FileSays.NOTHING


def infer_version(
    inspection: Inspection, deadline: datetime | None, *, names_are_open: bool = False
) -> tuple[FileSays, tuple[str, ...]]:
    """Return the version indicated by a file itself, and the signs; signs against it begin with "although".

    A file created more than a day after the deadline is a later version, whatever its layout: OpenReview serves the
    bytes it received, and in the recordings the last revisions of rejected papers have the layout of the first. Without
    a deadline, dates do not count, and a revision that is still anonymous counts as submitted. An early creation date
    is only a hint, because programs copy it into final versions; so is a late modification date, which stamping and
    archiving change. Otherwise decisive signs decide; if they contradict each other, the file indicates no version.
    Other signs count only in combination.

    Args:
        inspection: The findings in the file.
        deadline: Last moment at which a PDF could be the one that reviewers read; None if unknown.
        names_are_open: Whether submissions to the venue name their authors, in which case names are not a sign.
    """
    signs = (sign for sign in inspection.signs if not (names_are_open and sign.kind is SignKind.NAMED_AUTHORS))
    voices = [*map(_weigh, signs), *(_weigh_dates(inspection, deadline) if deadline else ())]
    says = _decide(voices)
    if says is FileSays.NOTHING:
        # Decisive signs contradict each other here.
        decisive = [voice for voice in voices if voice.strength is SignWeight.DECISIVE]
        return says, tuple(f"{voice.speaks_for}: {voice.words}" for voice in decisive or voices)
    deciding = [voice for voice in voices if voice.speaks_for is says]
    against = [voice for voice in voices if voice.speaks_for is _OPPOSITE[says]]
    return says, (*(voice.words for voice in deciding), *(f"although {voice.words}" for voice in against))
