"""Titles by a model: requested once, cached, and never made up if it gives none."""

from pathlib import Path
from typing import Any

import pytest

from model_endpoint import completion, refusal, serving
from peercorpus.errors import ModelError
from peercorpus.models.endpoint import MODEL_KEY_VARIABLE, AskedModel, ModelSettings
from peercorpus.release.by_model.turn_titles import Titler, read_title

TURN = {"post_ids": ("a", "b"), "titles": ("Answer (1/2)", "Answer (2/2)"), "title": "Answer", "text": "Kites fly."}
ONE = {**TURN, "post_ids": ("a",)}


def titler(url: str, answers: Path | None = None, max_questions: int = 9) -> Titler:
    settings = ModelSettings(url, "kite-1", MODEL_KEY_VARIABLE, attempts=1, first_wait_s=0.01, timeout_s=5)
    return Titler(AskedModel.of(settings, answers, "run", max_questions))


def entitled(asked: Titler, turn: dict[str, Any]) -> tuple[Any, Any]:
    found = asked.entitle(turn)
    return found["title"], found["title_model"]


def test_a_turn_has_one_title(tmp_path: Path) -> None:
    with serving(completion('"On kites"')) as stand:
        first = titler(stand.url, tmp_path / "answers.db")
        assert entitled(first, TURN) == ("On kites", "kite-1")
        assert entitled(first, ONE) == ("Answer", None)
        first.model.close()
        again = titler(stand.url, tmp_path / "answers.db")
        assert entitled(again, TURN) == ("On kites", "kite-1")
        assert (len(stand.bodies), again.given, again.unanswered) == (1, 1, 0)
        again.model.close()
    assert stand.bodies[0]["model"] == "kite-1"
    assert "- Answer (1/2)\n- Answer (2/2)" in stand.bodies[0]["messages"][0]["content"]


@pytest.mark.parametrize("reply", [completion("   \n"), completion("word " * 100), refusal(400)])
def test_without_an_answer_titles_are_of_posts(reply: Any) -> None:
    with serving(reply) as stand:
        asked = titler(stand.url)
        assert entitled(asked, TURN) == ("Answer", None)
        assert (asked.given, asked.unanswered) == (0, 1)
        asked.model.close()


def test_a_silent_endpoint_ends_the_run() -> None:
    with serving(refusal(500)) as stand:
        asked = titler(stand.url)
        assert [entitled(asked, {**TURN, "text": text}) for text in "ab"] == [("Answer", None)] * 2
        with pytest.raises(ModelError, match=r"\b3 times"):
            asked.entitle(TURN)
        asked.model.close()


def test_the_budget_is_respected() -> None:
    with serving(completion("On kites")) as stand:
        asked = titler(stand.url, max_questions=1)
        asked.entitle(TURN)
        with pytest.raises(ModelError, match="budget"):
            asked.entitle({**TURN, "text": "Another."})
        asked.model.close()


@pytest.mark.parametrize(
    ("said", "title"),
    [('Title: "On kites"', "On kites"), ("**On kites**\n\nBecause …", "On kites"), ("", None), ("x" * 201, None)],
)
def test_the_title_is_read_from_the_answer(said: str, title: str | None) -> None:
    assert read_title(said) == title
