"""A model is not asked for what it cannot give, and this is counted; nothing else changes."""

import pytest

from asked_cases import CONFIDENCE, NOVELTY, OVERALL, RATING, SOUNDNESS, acceptance, reviewing, scoring
from naming import by_name
from peercorpus.benchmark.adapters.formatted import narrow
from peercorpus.benchmark.adapters.reviewer_models import load_adapter
from peercorpus.benchmark.cases import CaseCounts
from peercorpus.benchmark.options import parse_task_options
from peercorpus.errors import PeercorpusError


def test_only_scores_that_the_model_provides_are_requested() -> None:
    taken = CaseCounts()
    cases = [scoring(RATING, SOUNDNESS, CONFIDENCE), scoring(OVERALL, NOVELTY), scoring(SOUNDNESS)]
    assert narrow(load_adapter("sea-e"), cases, taken) == [scoring(RATING, SOUNDNESS), scoring(SOUNDNESS)]
    assert by_name(taken.left_out, "scores: ", "papers: ") == {"scores: ": 3, "papers: ": 1}


def test_other_tasks_are_asked_unchanged() -> None:
    taken = CaseCounts()
    for case in (acceptance(), reviewing(OVERALL)):
        assert narrow(load_adapter("sea-e"), [case], taken) == [case]
    assert not taken.left_out


def test_a_split_without_the_models_scores_is_refused() -> None:
    with pytest.raises(PeercorpusError, match=r"ECNU-SEA/SEA-E.*choose other venues"):
        narrow(load_adapter("sea-e"), [scoring(OVERALL)], CaseCounts())


def test_the_location_of_the_prompt_is_an_option() -> None:
    wanted = parse_task_options("release", {"adapter": "sea-e", "wordings": "SEA"})
    assert (wanted.adapter, str(wanted.wordings)) == ("sea-e", "SEA")
