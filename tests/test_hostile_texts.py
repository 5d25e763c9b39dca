"""Untrusted text takes time in proportion to its length, in every expression and every reader of such text."""

import ast
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import product
from typing import Any

import pytest

import hostile_texts
from hostile_texts import GENERIC, Found, Hostile, find_calls, find_growth, find_patterns, hostile_to, uses
from invented_blocks import entry, structured
from invented_posts import AUTHORS, post
from peercorpus.audit import features
from peercorpus.audit.papers import AuditedPaper
from peercorpus.benchmark import answers
from peercorpus.benchmark.adapters import reviewer_models
from peercorpus.benchmark.adapters.formatted import find_headings, read_recommendation, read_section_number
from peercorpus.benchmark.adapters.model_format import OwnScore
from peercorpus.benchmark.answers import is_refusal
from peercorpus.benchmark.cases import AskedScore
from peercorpus.benchmark.solvers import read_decision_leniently
from peercorpus.conversations.context import addressed_passages
from peercorpus.conversations.reminders import find_objections, is_reminder
from peercorpus.corpus import filters
from peercorpus.corpus.takedown import _AUTHOR_ID
from peercorpus.criticism.answers import measure_coverage
from peercorpus.discussion import letters
from peercorpus.discussion.addressees import ReviewerNames
from peercorpus.discussion.multipart import read_part, read_part_of_post
from peercorpus.errors import PeercorpusError
from peercorpus.explorer.rendering import Prose
from peercorpus.forms import decisions, directions, scales, score_changes, score_claims, vocabulary
from peercorpus.importers.reader import FORUM_URL
from peercorpus.latex.document import write_latex
from peercorpus.links import similarity
from peercorpus.links.body_text import read_body_lines
from peercorpus.links.sections import read_text_sections
from peercorpus.links.similarity import plain_words
from peercorpus.links.version_diff import find_differences
from peercorpus.metrics.marked_share import list_passages
from peercorpus.metrics.review_points import count_points
from peercorpus.models.chat_messages import escape_markers
from peercorpus.records.enums import Aspect
from peercorpus.release.by_model.annotator import read_answers, read_kinds, show
from peercorpus.release.by_model.turn_titles import read_title
from peercorpus.release.text_rows import _pattern, names_author
from peercorpus.texts.engine import without_pages
from peercorpus.texts.engines.vision import without_fence
from peercorpus.texts.external_package import join_markdown_pages
from peercorpus.texts.layout.formulas.detection import FORMULA_TAIL, MAX_PROSE_CHARACTERS
from peercorpus.texts.page_quality import words
from peercorpus.venues import ai_reviews
from peercorpus.venues.committees import find_role
from peercorpus.venues.venue_names import venue_named
from peercorpus.versions.version_signs import numbered_places
from peercorpus.wording.untrusted_text import escape_controls, redact_people, replace_controls

Read = Callable[[str], object]
NUMBERED = ReviewerNames(["AnonReviewer1", "AnonReviewer2"])
LETTERED = ReviewerNames(["Reviewer_A1bC", "Reviewer_B2cD"])
ASKED = [AskedScore(Aspect.RECOMMENDATION, "rating: overall", 1, 10, (6.0,))]
OWN = OwnScore(Aspect.RECOMMENDATION, 1, 10)

STATED: dict[str, Callable[[], object]] = {
    "benchmark.adapters.formatted:find_headings": lambda: find_headings("", "Rating|Soundness", 3).pattern,
    "benchmark.adapters.formatted:read_section_number": lambda: re.compile(r"^(?:rating|score)\s*:\s*"),
    "openreview.response_body:find_first_item": lambda: re.compile(
        rb'\s*{(?:\s*"count"\s*:\s*[0-9]+\s*,)?\s*"notes"\s*:\s*\[\s*'
    ),
    "audit.features:show_context": lambda: re.compile(features.BETWEEN.join(("published", "as")), re.IGNORECASE),
    "benchmark.adapters.reviewer_models:find_block": lambda: re.compile(r"\\boxed_review\{"),
    "corpus.figures:find_caption_block": lambda: re.compile(r"[\W_]*(?:(?:extended data) )?fig\W*1(?!\w|\.\d)", re.I),
    "latex.blocks:_Reader._read_code": lambda: re.compile(r" {0,3}`{3,}[ \t]*"),
    "models.chat_templates:_make_marks_pattern": lambda: re.compile(r"<\|im_start\|>|<s>"),
    "release.writing:name_track": lambda: re.compile(r"datasets.{0,3}benchmarks"),
    "release.text_rows:names_author": lambda: re.compile(_pattern(["ada", "example"])),
    "report.page:inline_svg": lambda: re.compile(r'(fill|stroke)="#000000"'),
    "venues.ai_reviews:_compile": lambda: ai_reviews._compile(("{paper}/AI_Reviewer",)),
}
"""Expressions that are built only by a call."""


def _letter(text: str) -> None:
    for is_title in (True, False):
        letters.find_letter(text, is_title=is_title)
        letters.addresses_ethics(f"ethic {text}", is_title=is_title)
        letters.addresses_public(f"public {text}", is_title=is_title)
    letters.find_letter(f"AC {text}", is_title=True)
    letters.is_confidential(text)


def _address(text: str) -> None:
    for names in (NUMBERED, LETTERED):
        names.address(post("p", 1, AUTHORS, title=text, text=text))


def _pass(read: Read, text: str) -> None:
    """Read a text that may not be valid, in which case an error is raised."""
    with suppress(PeercorpusError, answers.UnreadableAnswerError, ValueError):
        read(text)


THROUGH: dict[str, Read] = {
    "conversations.reminders:HARMLESS": lambda text: (is_reminder(None, text), find_objections(None, f"{text}?")),
    "forms.score_claims:ARROWED": lambda text: list(score_claims.read_claims(f"{text} 5 -> 8")),
    "forms.score_claims:CLAUSE": lambda text: list(score_claims.read_claims(f"{text} to 8 from 5")),
    "forms.score_claims:_BARE": lambda text: list(score_claims.read_claims(f"{text} from 5 to 8")),
    "release.by_model.turn_titles:_TITLE_MARKS": read_title,
    "versions.version_signs:NUMBER": numbered_places,
    "texts.layout.formulas.detection:FORMULA_TAIL": lambda text: FORMULA_TAIL.search(
        text, max(0, len(text) - MAX_PROSE_CHARACTERS)
    ),
    "venues.ai_reviews:_compile": lambda text: ai_reviews.signs_for_ai([f"V/{text}"], "V"),
    "venues.committees:_ROLES": find_role.__wrapped__,
    **dict.fromkeys([f"discussion.multipart:{name}" for name in ("MARKERS", "NO_PART", "_CONTINUED")], read_part),
    **dict.fromkeys(
        [
            f"discussion.addressees:{name}"
            for name in ("ADDRESS", "EXPLICIT", "GREETING_END", "THANKS", "UNKNOWN_REVIEWER")
        ],
        _address,
    ),
    **dict.fromkeys(
        [f"discussion.letters:{name}" for name in ["TITLE", "GREETING", "_BARE", "_IS_CHAIR", "_ONLY_TO", "_LETTER"]]
        + [f"discussion.letters:{name}" for name in ["_CONFIDENTIAL", "_ETHICS", "_PUBLIC"]],
        _letter,
    ),
}
"""Expressions that meet only text shortened or rewritten by a reader: they are tested through the reader."""
ENTRY = entry("A. Author and B. Other. Herbs, 2001.", "1")
OURS = {
    "report.page:inline_svg": "drawings that the report itself made",
    "forms.declared_forms:_say_key": "a sentence of msgspec on a file of the package",
    "venues.own_venues:_AT": "a sentence of msgspec on a file of the user",
    "venues.own_venues:_keys": "a sentence of msgspec on a file of the user",
}
"""Expressions that never meet untrusted text."""

READERS: dict[str, Read] = {
    "names of reviewers": NUMBERED.named,
    "ids of reviewers": lambda text: LETTERED.named(f"A1bC {text}"),
    "definitions of names": lambda text: ReviewerNames(["Reviewer_A1bC"], [f"A1bC {text}"]),
    "addressees": _address,
    "letters": _letter,
    "parts": read_part,
    "parts of a post": lambda text: read_part_of_post(post("p", 1, AUTHORS, text=text)),
    "reminders": partial(is_reminder, None),
    "objections": lambda text: find_objections("please", text),
    "passages": lambda text: addressed_passages(text, NUMBERED),
    "claims of scores": lambda text: (list(score_claims.read_claims(text)), list(score_claims.read_later_claims(text))),
    "updates": score_changes.holds_update,
    "numbers of answers": lambda text: (scales.read_number(text, {3.0: "3: good"}, 10), scales.label_number(text)),
    "labels": lambda text: (scales.is_labelled_number(text), scales.option_words(text), scales.is_accepting(text)),
    "descriptions": lambda text: directions.described_direction(text, of_amount=True),
    "levels": lambda text: directions.find_level(text, of_amount=True),
    "decisions": decisions.status_of_decision,
    "pending decisions": decisions.is_pending,
    "venue strings": lambda text: (venue_named(text), vocabulary.status_of_venue(text)),
    "names of venues with a year": lambda text: venue_named(f"A {text}2022"),
    "roles": find_role.__wrapped__,
    "addresses of people": redact_people,
    "refusals of models": is_refusal,
    "decisions of models, read leniently": lambda text: _pass(read_decision_leniently, text),
    "controls": lambda text: (escape_controls(text, len(text)), replace_controls(text)),
    "marks of context": escape_markers,
    "objects of models": lambda text: _pass(answers.read_object, text),
    "fenced objects of models": lambda text: _pass(answers.read_decision, f"```{text}```"),
    "reviews of models": lambda text: _pass(lambda given: answers.read_review_answer(given, ASKED), f"Well.\n{text}"),
    "scores of models": lambda text: _pass(lambda given: read_section_number(given, "rating", OWN), text),
    "decisions of models": lambda text: _pass(read_recommendation, text),
    "blocks of models": lambda text: _pass(lambda given: reviewer_models.find_block(given, "review"), text),
    "titles of models": read_title,
    "points of models": lambda text: (show(text), read_kinds(f"P1: {text}", 9), read_answers(f"P1: {text}", 9, 9)),
    "conditions": lambda text: _pass(filters.parse, text),
    "ids of authors": _AUTHOR_ID.fullmatch,
    "links to forums": FORUM_URL.search,
    "LaTeX": write_latex,
    "Markdown of a page": lambda text: Prose(str)(text),
    "Markdown of engines": lambda text: join_markdown_pages([text]),
    "pages of engines": lambda text: (without_pages(text), without_fence(text)),
    "words of a page": words,
    "lines of a body": read_body_lines,
    "sections": read_text_sections,
    "differences": lambda text: find_differences(text, f"{text}."),
    "plain words": plain_words,
    "pairs and runs of words": lambda text: (similarity.find_word_pairs(text), similarity.find_word_runs(text)),
    "heads": lambda text: similarity.normalise_head(text, text, (text,)),
    "points of reviews": lambda text: count_points(text, [text, f"{text}."]),
    "points that a text takes up": lambda text: measure_coverage(text, f"{text}."),
    "passages of words": lambda text: list(list_passages(text)),
    "names of authors": lambda text: names_author(text, ["Ada Example"]),
    "facts": lambda text: features.read_facts(AuditedPaper(b"i", "f", accepted=True, text=text, traits={})),
    "mentions": lambda text: structured(text, ENTRY).mentions,
    "bibliographies": lambda text: structured(entry(text), entry(text, "1")).bibliography,
    "entries that are cited": lambda text: structured("See [1] and Author (2001).", entry(text, "1"), ENTRY).mentions,
    "phrases": lambda text: (features.edges(text), features.phrases_of(text), features.show_context(text, "as a")),
}


@cache
def all_patterns() -> tuple[list[Found], list[str]]:
    return find_patterns(STATED)


@pytest.mark.slow
def test_every_regular_expression_of_the_package_is_found_and_every_exception_still_applies() -> None:
    found, missing = all_patterns()
    assert missing == []
    assert {*STATED, *THROUGH, *OURS} <= {one.place for one in found} | {*STATED}
    assert len(found) > 400


def complain(found: Found, sizes: list[int], floor_s: float, tried: set[tuple[Read, Hostile]]) -> list[str]:
    """Return an expression's slow texts, and those with which its reader was not yet tested."""
    through = THROUGH.get(found.place)
    is_bytes = isinstance(found.pattern.pattern, bytes)
    complaints = []
    for read, text in product([through] if through else list(uses(found)), hostile_to(found.pattern)):
        if (read, text) in tried:
            continue
        tried.add((read, text))
        call = partial(make_call, read, text, is_bytes)
        growth = find_growth(call, sizes, floor_s, is_expression=through is None)
        if growth:
            complaints.append(f"{found.place}: {growth} with {text}")
            break
    return complaints


def make_call(read: Callable[[Any], object], text: Hostile, is_bytes: bool, size: int) -> Callable[[], object]:
    given = text.of_length(size)
    return partial(read, given.encode() if is_bytes else given)


def complain_of_patterns(sizes: list[int], floor_s: float) -> list[str]:
    found, _ = all_patterns()
    tried: set[tuple[Read, Hostile]] = set()
    return [complaint for one in found if one.place not in OURS for complaint in complain(one, sizes, floor_s, tried)]


def complain_of_reader(
    name: str, sizes: list[int], floor_s: float, around: Sequence[tuple[str, str]] = (("a", ""),), limit_s: float = 5
) -> list[str]:
    singles = [Hostile(begin, text, end) for (begin, end), text in product(around, GENERIC)]
    complaints = []
    for text in singles:
        growth = find_growth(partial(make_call, READERS[name], text, False), sizes, floor_s, limit_s)
        if growth:
            complaints.append(f"{name}: {growth} with {text}")
    return complaints


SLOW = [2_000, 20_000]
PLANTED = [2_000, 6_000]
"""The square of the second takes tens of milliseconds, which also a clock that ticks a hundred times a second shows."""

LONGEST = [50_000, 200_000]
COSTLY = frozenset(
    {"LaTeX", "differences", "claims of scores", "sections", "levels", "lines of a body", "controls", "labels"}
    | {"decisions", "definitions of names", "passages", "descriptions"}
)
"""Readers that take seconds for the longest texts: `benchmarks/lengthening.py` tests all."""


@pytest.mark.slow(40)
def test_regular_expressions_take_linear_time() -> None:
    assert complain_of_patterns(SLOW, 0.02) == []


@pytest.mark.slow(20)
@pytest.mark.fault(
    "input",
    "one text of 20,000 characters that repeats what a reader of texts looks for, for each reader",
    "nothing: it is read in time in proportion to its length",
    times=54,
)
@pytest.mark.parametrize("name", READERS)
def test_a_parser_takes_linear_time_for_long_texts(name: str) -> None:
    assert complain_of_reader(name, SLOW, 0.05, [("", "\x00"), ("a", "")]) == []


@pytest.mark.slow(53)
@pytest.mark.fault(
    "input",
    "one text of 200,000 characters that repeats what a reader of texts looks for",
    "nothing: it is read in time in proportion to its length",
    times=42,
)
@pytest.mark.parametrize("name", sorted(READERS.keys() - COSTLY))
def test_a_parser_takes_linear_time_for_the_longest_texts(name: str) -> None:
    assert complain_of_reader(name, LONGEST, 0.05) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s*(?:,\s*and|,|;)\s*(?:reviewers?|r)?[\s_#\-*]*(\d{1,2}|\w{4})", "match"),
        (r"<(?=\s*/?\s*supplementary\b)", "sub"),
        (r"\s*\n\s*\n\s*", "sub"),
        (r"(#{1,6})[ \t]+(\S.*?)[ \t]*#*$", "match"),
        (r"~\S+?\d+", "fullmatch"),
        (r"!\[[^\]]*\]\([^)\n]*\)", "sub"),
        (r"([^\W\d_]+)-?$", "search"),
    ],
)
def test_a_quadratic_regular_expression_is_found(pattern: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Further comparisons only keep a linear one from being taken for quadratic.
    monkeypatch.setattr(hostile_texts, "ATTEMPTS", 1)
    assert complain(Found("planted", re.compile(pattern), frozenset({method})), PLANTED, 0.005, set())


def test_an_unnamed_regular_expression_is_reported_as_missing() -> None:
    call = ast.parse("def read(words):\n    return re.search(words, 'a')\n")
    assert [place for place, _, _ in find_calls(call)] == ["read"]
