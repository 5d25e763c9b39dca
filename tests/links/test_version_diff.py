"""The changes between two texts of a paper are reported passage by passage, and nothing else is."""

import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peercorpus.links import version_diff
from peercorpus.links.sections import read_text_sections
from peercorpus.links.sentence_matches import match, match_similar
from peercorpus.links.sentences import sentence_key
from peercorpus.links.version_diff import TextComparison, TextDifference, find_differences
from peercorpus.records.documents import PAGE_BREAK
from peercorpus.records.enums import ChangeKind

ADDED, REMOVED, CHANGED, MOVED = ChangeKind
PAPER = """\
Counting Clouds
Anonymous authors
Abstract
We count clouds above three towns. Our count is exact.
1 Introduction
Clouds have been counted since 1802. Nobody agrees on their number. We settle the question.
2 Method
A camera looks up. Each picture is cut into ten thousand squares of equal size. We add up the white ones.
3 Results
The towns have 17 clouds. This is more than was thought.
References
[1] L. Howard. On the Modifications of Clouds. 1803."""
MARKDOWN = """\
# Counting Clouds

## Abstract

We count clouds above three towns. Our count is exact.

## 2 Method

A camera looks up. Each picture is cut into ten thousand squares of equal size. We add up the white ones.

## 3 Results

The towns have 17 clouds on most days. This is more than was thought.

## References

[1] L. Howard. On the Modifications of Clouds. 1803."""
EQUATIONS = MARKDOWN.replace(
    "white ones.",
    "white ones.\n\n$$a + b$$ (1)\n\n$$a - b \\tag{2}$$\n\n$$c$$ (2a)\n\nThis was counted by nobody before.",
).replace("17 clouds", "17 clouds of 2 kinds")


def told(comparison: TextComparison) -> list[tuple[ChangeKind, str | None, str, str]]:
    return [(one.kind, one.section, one.before, one.after) for one in comparison.passages]


def after(*replacements: tuple[str, str]) -> str:
    """The paper with some words replaced."""
    text = PAPER
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text


def test_an_added_sentence_is_reported_with_its_section() -> None:
    later = after(("Our count is exact.", "Our count is exact. All code is free."))
    assert told(find_differences(PAPER, later)) == [(ADDED, "Abstract", "", "All code is free.")]


def test_few_common_words_are_no_rewording() -> None:
    later = after(("A camera looks up.", "Balloons carry two sensors."))
    assert told(find_differences(PAPER, later)) == [
        (REMOVED, "2 Method", "A camera looks up.", ""),
        (ADDED, "2 Method", "", "Balloons carry two sensors."),
    ]


def test_a_moved_section_is_unchanged() -> None:
    method = PAPER[PAPER.index("2 Method") : PAPER.index("3 Results")]
    later = PAPER.replace(method, "").replace("3 Results", "2 Results")
    later = later.replace("References", method.replace("2 Method", "3 Method") + "References")
    assert find_differences(PAPER, later).passages == ()


def test_a_moved_sentence_is_reported_with_both_headings() -> None:
    sentence = "Each picture is cut into ten thousand squares of equal size."
    later = after((f" {sentence}", ""), ("than was thought.", f"than was thought. {sentence}"))
    moved = TextDifference(MOVED, "2 Method", sentence, sentence, "3 Results")
    assert find_differences(PAPER, later) == TextComparison((moved,), 12, 12, 12)


def test_changed_sentences_are_not_equal_ones() -> None:
    later = after(("We add up", "We then add up"), ("A camera looks up.", ""), ("than was thought.", "than thought."))
    found = find_differences(PAPER, later)
    assert (found.before, found.after, found.equal) == (12, 11, 9)


PROOFS = """\
4 Proof of Theorem 1
Proof. The sky is finite, so that its clouds are. This completes the proof.
5 Proof of Theorem 2
Proof. A cloud casts one shadow at a time, at noon. This completes the proof."""
NEW_PROOF = """\
4 Proof of Theorem 1
Proof. Every town lies under some part of the sky. This completes the proof."""


def test_renumbered_sections_are_recognised_by_their_sentences() -> None:
    numbered = PROOFS.replace("2", "3").replace("5 ", "6 ").replace("1", "2").replace("4 ", "5 ")
    earlier, later = (after(("References", f"{proofs}\nReferences")) for proofs in (PROOFS, f"{NEW_PROOF}\n{numbered}"))
    ((kind, section, _, new),) = told(find_differences(earlier, later))
    assert (kind, section) == (ADDED, "4 Proof of Theorem 1")
    assert new == NEW_PROOF.partition("\n")[2]


def test_a_copy_is_added_or_removed() -> None:
    sentence = "Our count is exact."
    later = after(("than was thought.", f"than was thought. {sentence}"))
    assert told(find_differences(PAPER, later)) == [(ADDED, "3 Results", "", sentence)]
    assert told(find_differences(later, PAPER)) == [(REMOVED, "3 Results", sentence, "")]


def test_sentences_that_stand_twice_do_not_move() -> None:
    sentence = "Our count is exact and was repeated."
    first, second = (after((place, f"{place} {sentence}"), ("1802.", f"1802. {sentence}")) for place in PLACES)
    assert told(find_differences(first, second)) == []


PLACES = ("than was thought.", "white ones.")


@pytest.mark.parametrize(
    "drifting",
    [
        "Figure 2: A sky above three towns.",
        "**Table 1:** All 17 clouds by town.",
        "<sup>3</sup> A town is a place with a tower.",
        "| North | 4 |\n| South | 9 |",
    ],
)
def test_what_drifts_with_the_page_does_not_move(drifting: str) -> None:
    first, second = (MARKDOWN.replace(place, f"{place}\n\n{drifting}") for place in PLACES)
    assert find_differences(first, second).passages == ()


CITING = after(("since 1802.", "since 1802 [1]."), ("We add up", "By Eq. (3) we add up"))


NUMBERED_ALIKE = (
    *(("see Figure 3", "see Figure 4"), ("see Fig. 3(a)", "see Fig. 4(a)"), ("by Theorem A.1", "by Theorem B.3")),
    *(("see Tables 1, 2 and 3", "see Tables 2, 3 and 4"), ("by lemmas 1 and 2", "by lemmas 2 and 3")),
    *(("in Section 4.2.1", "in Section 5.2.1"), ("in Appendix B", "in Appendix C"), ("in \u00a7 4.2", "in \u00a7 5.2")),
    *(("by Eqs. (2)-(4)", "by Eqs. (3)-(5)"), ("by Fig 4", "by Fig 5"), ("by the bound (1)", "by the bound (2)")),
    *(("By (1), this", "By (2), this"), ("by (1) and (2a)", "by (2) and (2a)"), ("by (??)", "by (2)")),
    *(("a tower <sup>1</sup>", "a tower <sup>3</sup>"), ("$f(1)$ by (1)", "$f(1)$ by (2)")),
)
NUMBERED_OTHERWISE = (
    *(("in Table 3 of 17 clouds", "in Table 3 of 19 clouds"), ("see Figure 3", "see Table 3")),
    *(("at level 3", "at level 4"), ("see Figure 3(a)", "see Figure 3(b)"), ("in 3 sections", "in 4 sections")),
    *(("$f(1)$", "$f(2)$"), ("by (7)", "by (8)"), ("f(1) clouds", "f(2) clouds")),
    ("7 m<sup>2</sup>", "7 m<sup>3</sup>"),
)


@pytest.mark.parametrize(
    ("pair", "kinds"),
    [*((pair, []) for pair in NUMBERED_ALIKE), *((pair, [CHANGED]) for pair in NUMBERED_OTHERWISE)],
)
def test_a_renumbered_reference_is_no_change(pair: tuple[str, str], kinds: list[ChangeKind]) -> None:
    earlier, later = (EQUATIONS.replace("by nobody before", says) for says in pair)
    assert [kind for kind, *_ in told(find_differences(earlier, later))] == kinds


CITING = after(("since 1802.", "since 1802 [1]."), ("We add up", "By Eq. (3) we add up"))


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ("since 1802 [1].", "since 1802 [4].", []),
        ("since 1802 [1].", "since 1802 (Howard, 1803).", []),
        ("Eq. (3)", "Eq. (4)", []),
        ("since 1802 [1].", "since 1802 [1, 2].", [CHANGED]),
        ("since 1802 [1].", "since 1802.", [CHANGED]),
        ("since 1802 [1].", "since 1802 [0].", [CHANGED]),
        ("since 1802 [1].", "since 1802 (Howard, 1803; Wu, 1804).", [CHANGED]),
        ("1802 [1]", "1803 [1]", [CHANGED]),
    ],
)
def test_the_number_of_cited_works_matters(old: str, new: str, kinds: list[ChangeKind]) -> None:
    earlier = CITING.replace("[1] L.", "[1] L. Howard.\n[2] L.")
    later = earlier.replace(old, new).replace("[1] L.", "[4] L." if "[4]" in new else "[1] L.")
    assert [kind for kind, *_ in told(find_differences(earlier, later))] == kinds


def test_bracketed_numbers_are_not_citations_without_numbered_references() -> None:
    earlier = CITING.replace("[1] L.", "L.")
    assert len(find_differences(earlier, earlier.replace("1802 [1]", "1802 [2]")).passages) == 1


def test_text_after_the_references_is_compared() -> None:
    earlier = f"{PAPER}\nA Further Pictures\nThe sky is shown here at dawn."
    later = f"{PAPER}\nA Further Pictures\nThe sky is shown here at dusk."
    ((kind, section, *_),) = told(find_differences(earlier, later))
    assert (kind, section) == (CHANGED, "A Further Pictures")


BODY = [f"This is sentence {word} of the paper, and it is long enough." for word in "abcdefghijklmnopqrstuvwxyz"]


def pages(lines: Sequence[str], header: str, size: int = 13) -> str:
    """Lines as pages with a running header and page numbers."""
    cut = [lines[start : start + size] for start in range(0, len(lines), size)]
    return PAGE_BREAK.join("\n".join([header, *page, str(number)]) for number, page in enumerate(cut, 1))


@pytest.mark.parametrize(
    "numbered",
    [
        [f"{number:03} {line}" for number, line in enumerate(BODY)],
        [f"{line} {number}" for number, line in enumerate(BODY, 1)],
        [*(f"{number:03}" for number in range(54)), *BODY],
        [f"{number} {line}" if number not in {7, 8} else line for number, line in enumerate(BODY, 1)],
    ],
    ids=["before each line", "behind each line", "in a block of their own", "two not seen"],
)
def test_page_furniture_is_no_change(numbered: list[str]) -> None:
    earlier = pages(numbered, "Under review as a conference paper at ICLR 2025", 27)
    later = pages(BODY, "Published as a conference paper at ICLR 2025")
    assert find_differences(earlier, later) == TextComparison((), 26, 26, 26)


def test_hyphenation_and_ligatures_are_not_changes() -> None:
    assert find_differences("We identi-\nfy the first\nfloor.", "We identify the \ufb01rst floor.").passages == ()


def test_passages_are_verbatim_without_page_furniture() -> None:
    earlier = f"Abstract\nWe do it with the\n7{PAGE_BREAK}Under review as a paper\ngreatest of all cares."
    ((kind, _, before, later),) = told(
        find_differences(earlier, "Abstract\nWe do it with the greatest of all worries.")
    )
    assert kind is CHANGED
    assert before == "We do it with the\ngreatest of all cares."
    assert later == "We do it with the greatest of all worries."


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("No headings at all.", [None]),
        (
            "# On X\n\n## Abstract\n\nWe do.\n\n## 1 Introduction\n\n**Bold**",
            [None, "Abstract", "1 Introduction"],
        ),
        ("# Steps per Episode\nFive.", [None]),
        ("## On X\nA.\n# Abstract\nB.", [None, "On X", "Abstract"]),
        ("# 1 Introduction\nA.\n2. Our Second Point\n**References**\nB.", [None, "1 Introduction"]),
        ("Introduction\nA.\n1.1 OUR AIM.\nB.", [None, "Introduction"]),
        ("1 INTRODUCTION\nA.\n1.1 OUR AIM.\nB.", [None, "1 INTRODUCTION", "1.1 OUR AIM."]),
        (
            "ABSTRACT\nA.\n1 INTRODUCTION\nB.\n1.1 OUR AIM\nC.\n4 TOO FAR\nD.",
            [None, "ABSTRACT", "1 INTRODUCTION", "1.1 OUR AIM"],
        ),
        ("1. Introduction\nA.\n2. Background on Clouds\nB.", [None, "1. Introduction", "2. Background on Clouds"]),
        ("Introduction\nA.\n1 We show that clouds are many and are counted.\nB.", [None, "Introduction"]),
        ("1 Introduction\nX.\nReferences\nA. Turing, B. Russell\nA Proof\nY.", [None, "1 Introduction", "A Proof"]),
        ("ACKNOWLEGMENTS\nThanks.", [None, "ACKNOWLEGMENTS"]),
    ],
)
def test_headings_are_distinguished_from_other_lines(text: str, headings: list[str | None]) -> None:
    assert [part.heading for part in read_text_sections(text)] == headings


WORDS = st.sampled_from([f"{a}{b}" for a in ("Cloud", "Rain", "Snow") for b in (" falls.", " stays here.", " melts.")])
ITEMS = st.lists(st.sampled_from("abcdefgh"), max_size=30)


@given(left=ITEMS, right=ITEMS)
def test_matched_sentences_are_equal_and_ordered(left: list[str], right: list[str]) -> None:
    pairs = match(left, right)
    assert all(left[i] == right[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))


@pytest.mark.slow
@given(left=ITEMS, right=ITEMS)
def test_unmatched_sentences_rebuild_the_text(left: list[str], right: list[str]) -> None:
    pairs = match(left, right)
    kept = dict(pairs)
    made = [(kept[i], item) for i, item in enumerate(left) if i in kept]
    taken = {j for _, j in pairs}
    made += [(j, item) for j, item in enumerate(right) if j not in taken]
    assert [item for _, item in sorted(made)] == right


@given(left=st.lists(WORDS, max_size=8), right=st.lists(WORDS, max_size=8))
def test_similar_sentences_are_paired_once(left: list[str], right: list[str]) -> None:
    pairs = match_similar(left, right)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)


SECTIONS = st.dictionaries(
    st.sampled_from(["Abstract", "Introduction", "Discussion", "Conclusion"]), st.lists(WORDS, max_size=8)
)


def sentences(text: str) -> Counter[str]:
    return Counter(one.key for part in read_text_sections(text) for one in part.sentences)


@settings(deadline=None)
@given(left=SECTIONS, right=SECTIONS)
def test_only_sentences_of_one_text_are_reported(left: dict[str, list[str]], right: dict[str, list[str]]) -> None:
    earlier, later = ("\n".join(f"{name}\n{' '.join(body)}" for name, body in one.items()) for one in (left, right))
    found = find_differences(earlier, later)
    before, now = sentences(earlier), sentences(later)
    told_gone = [sentences(one.before) for one in found.passages if one.kind in {REMOVED, CHANGED}]
    told_new = [sentences(one.after) for one in found.passages if one.kind in {ADDED, CHANGED}]
    assert before - now <= sum(told_gone, Counter())
    assert now - before <= sum(told_new, Counter())
    assert all(keys & (before - now) for keys in told_gone)
    assert all(keys & (now - before) for keys in told_new)
    for one in found.passages:
        assert one.before in earlier
        assert one.after in later
        assert (bool(one.before), bool(one.after)) == (one.kind is not ADDED, one.kind is not REMOVED)


@pytest.mark.slow
@settings(deadline=None)
@given(left=st.text(max_size=300), right=st.text(max_size=300))
def test_any_two_texts_can_be_compared(left: str, right: str) -> None:
    found = find_differences(left, right)
    assert all(
        sentence_key(one.before) in sentence_key(left) and sentence_key(one.after) in sentence_key(right)
        for one in found.passages
    )
    assert find_differences(left, left).passages == ()


MEGABYTE = 1_000_000
HOSTILE = {
    "empty": "",
    "blank": " \n\t\n " * 1000,
    "lines only": "\n" * MEGABYTE,
    "pages only": PAGE_BREAK * 100_000,
    "one word": "x" * MEGABYTE,
    "words without end": "word " * 200_000,
    "one sentence over and over": "We do. " * 120_000,
    "digits": "\n".join(str(number % 1000) for number in range(150_000)),
    "headings": "Funding\nWe do.\n" * 50_000,
    "markup": "<p onclick='x'>We &lt;do&gt; \\emph{it}. | a | b |\n# # #\n" * 10_000,
    "control characters": "\x00\x01We do.\u202e \ufffe\x1b[31mIt is.\x7f\n" * 20_000,
    "captions": "\n".join(f"Figure {number % 99}: the {number}\nshort\nA" for number in range(30_000)),
    "footnotes": "\n".join(f"{number % 99}Note that {number}" for number in range(50_000)),
    "sentences that differ": " ".join(f"We see {number % 997} or {number % 89} of them." for number in range(30_000)),
    "brackets": "." + ")" * MEGABYTE,
}


@pytest.mark.slow(40)
@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_compared_within_seconds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Reading takes half of the time: each text is read once for both comparisons.
    monkeypatch.setattr(version_diff, "read_text_sections", cache(read_text_sections))
    started = time.process_time()
    for left, right in ((PAPER, HOSTILE[name]), (HOSTILE[name], HOSTILE[name] + " We end.")):
        found = find_differences(left, right)
        assert all(bool(one.before) or bool(one.after) for one in found.passages)
    assert time.process_time() - started < 10
