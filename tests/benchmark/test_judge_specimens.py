"""A judge's calibration texts: worse in the stated way, the same for a given seed, and never judged by themselves."""

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naming import by_name
from peercorpus.benchmark.cases import BenchTask, Case, CasePaper
from peercorpus.benchmark.judge.specimens import (
    GENERIC,
    Degradation,
    Specimen,
    degrade,
    padded,
    pair_questions,
    sample_papers,
    shuffled,
    truncated,
    verdict_questions,
)
from peercorpus.records.enums import Grade
from scripted_judges import texts

REVIEW = "## Summary\n\nThe kite flies. It is red! Is it new?\n\n- No tail.\n- No string."


def case(forum_id: str, *reviews: str, venue: str = "A") -> Case:
    paper = CasePaper(forum_id, venue, "iclr", 2020, f"On {forum_id}", "We fly.", Grade.EXACT, "The whole paper.")
    return Case(forum_id, BenchTask.REVIEW, paper, references=reviews)


CASES = [
    case("p1", "One is good. It flies.", "One is bad. It falls.", "One is red. It is new."),
    case("p2", "Two is good. It sails.", "Two is bad. It sinks."),
    case("p3", "Three is alone. It waits."),
    case("p4", "Four is good. It runs.", "Four is bad. It stops.", venue="B"),
]


def chosen(seed: int = 0, limit: int | None = None, left_out: Counter[str] | None = None) -> dict[str, Specimen]:
    taken = sample_papers(CASES, limit, seed, Counter() if left_out is None else left_out)
    return {one.forum_id: one for one in taken}


class TestDegrading:
    def test_shuffling_keeps_the_sentences_and_the_frame(self) -> None:
        made = shuffled(REVIEW, Random(1))
        assert made is not None
        assert made != REVIEW
        assert sorted(re.findall(r"\w+", made)) == sorted(re.findall(r"\w+", REVIEW))
        assert made.startswith("## Summary\n\n")
        assert re.sub(r"[^\n]", "", made) == re.sub(r"[^\n]", "", REVIEW)

    @given(st.text(), st.integers())
    def test_shuffling_changes_the_text_or_reports_that_it_cannot(self, text: str, seed: int) -> None:
        made = shuffled(text, Random(seed))
        assert made is None or (made != text and Counter(made) == Counter(text))

    @pytest.mark.parametrize("text", ["", "One sentence.", "Same. Same.", "## Heading\n\nOne sentence."])
    def test_a_single_sentence_cannot_be_shuffled(self, text: str) -> None:
        assert shuffled(text, Random(1)) is None

    def test_truncation_keeps_a_third_of_the_words(self) -> None:
        assert truncated("a b c d\n\ne f g h i") == "a b c"
        assert truncated("a b") is None

    @given(st.lists(st.sampled_from(["a", " b.", "\n\nc", "d\n", "\te!"]), min_size=3).map(" ".join))
    def test_truncation_keeps_the_beginning(self, text: str) -> None:
        made = truncated(text)
        assert made is not None
        assert text.startswith(made)
        assert len(made.split()) == len(text.split()) // 3

    def test_padding_doubles_the_words_and_changes_none(self) -> None:
        made = padded(REVIEW)
        more = made.removeprefix(f"{REVIEW}\n\n")
        assert made.startswith(REVIEW)
        assert len(more.split()) >= len(REVIEW.split()) > len(more.split()) - max(len(one.split()) for one in GENERIC)
        assert all(sentence.strip(" .") in " ".join(GENERIC) for sentence in more.split(". "))

    def test_specimens_that_cannot_be_made_are_missing(self) -> None:
        assert set(degrade("Bad.", [], Random(1))) == {Degradation.PADDED}


class TestChoosing:
    def test_the_gold_is_never_among_its_references(self) -> None:
        for one in chosen().values():
            assert one.gold not in one.others
            reviews = next(each.references for each in CASES if each.case_id == one.forum_id)
            assert sorted([one.gold, *one.others]) == sorted(reviews)

    def test_the_other_review_is_of_the_venue(self) -> None:
        found = chosen()
        assert found["p1"].worse[Degradation.FOREIGN].startswith(("Two", "Three"))
        assert found["p2"].worse[Degradation.FOREIGN].startswith(("One", "Three"))
        assert Degradation.FOREIGN not in found["p4"].worse

    def test_a_shared_review_is_not_another_papers(self) -> None:
        twins = [case("p1", "The same. Words.", "Other. Words."), case("p2", "The same. Words.")]
        (found,) = sample_papers(twins, None, 0, Counter())
        assert Degradation.FOREIGN not in found.worse

    def test_the_seed_determines_everything(self) -> None:
        assert chosen(3) == chosen(3)
        assert len({str(chosen(seed)) for seed in range(5)}) > 1

    def test_a_limit_takes_the_first_cases(self) -> None:
        every = list(chosen())
        assert list(chosen(limit=2)) == every[:2]

    def test_exclusions_are_counted(self) -> None:
        left_out = Counter[str]()
        chosen(limit=2, left_out=left_out)
        kinds = ("second review", "limit", *(name.value for name in Degradation))
        told = by_name(left_out, *kinds)
        assert (told["second review"], told["limit"]) == (1, 1)
        chosen(left_out=left_out)
        assert by_name(left_out, *kinds)["from_another_paper"] >= 1


class TestQuestions:
    def test_every_version_is_judged_by_the_same_references(self) -> None:
        one = chosen()["p1"]
        told = {name: texts(question.user) for name, question in verdict_questions(one).items()}
        assert list(told) == ["gold", "shuffled", "truncated", "from_another_paper", "padded"]
        for name, found in told.items():
            assert (found["HUMAN-1"], found["HUMAN-2"]) == one.others
            assert found["CANDIDATE"] == ({"gold": one.gold} | {k.value: v for k, v in one.worse.items()})[name]

    def test_each_pair_is_asked_in_both_orders(self) -> None:
        one = chosen()["p2"]
        told = {name: texts(question.user) for name, question in pair_questions(one).items()}
        assert len(told) == 2 * len(one.worse)
        first, second = told["shuffled/gold_first"], told["shuffled/gold_second"]
        assert first["CANDIDATE-A"] == second["CANDIDATE-B"] == one.gold
        assert first["CANDIDATE-B"] == second["CANDIDATE-A"] == one.worse[Degradation.SHUFFLED]
