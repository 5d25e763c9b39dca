"""What a model does not give is not asked of it, and is counted; nothing else changes."""

import pytest

from asked_cases import CONFIDENCE, NOVELTY, OVERALL, RATING, SOUNDNESS, acceptance, reviewing, scoring
from peercorpus.benchmark.adapters.narrowing import narrow
from peercorpus.benchmark.adapters.registry import load_adapter
from peercorpus.benchmark.cases import Taken
from peercorpus.benchmark.options import read_options
from peercorpus.errors import PeercorpusError


def test_scores_are_asked_as_far_as_the_model_gives_them() -> None:
    taken = Taken()
    cases = [scoring(RATING, SOUNDNESS, CONFIDENCE), scoring(OVERALL, NOVELTY), scoring(SOUNDNESS)]
    assert narrow(load_adapter("sea-e"), cases, taken) == [scoring(RATING, SOUNDNESS), scoring(SOUNDNESS)]
    assert taken.left_out == {
        "scores: of a kind or on a scale that the model does not give": 3,
        "papers: no score that the model gives": 1,
    }


def test_other_tasks_are_asked_as_they_are() -> None:
    taken = Taken()
    for case in (acceptance(), reviewing(OVERALL)):
        assert narrow(load_adapter("sea-e"), [case], taken) == [case]
    assert not taken.left_out


def test_a_side_without_any_score_of_the_model_is_refused() -> None:
    with pytest.raises(PeercorpusError, match="None of the papers has a score on a scale of ECNU-SEA/SEA-E"):
        narrow(load_adapter("sea-e"), [scoring(OVERALL)], Taken())


def test_the_place_of_the_words_is_an_option_and_examples_are_none() -> None:
    wanted = read_options("release", {"adapter": "sea-e", "wordings": "SEA"})
    assert (wanted.adapter, str(wanted.wordings)) == ("sea-e", "SEA")
    with pytest.raises(PeercorpusError, match="takes no examples"):
        read_options("release", {"adapter": "sea-e", "few_shot": 1})
