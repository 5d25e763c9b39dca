"""A model's contribution to the points is measured with the same truth and the same questions as for a release."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from model_endpoint import Reply, completion, serving
from peercorpus.models.endpoint import MODEL_KEY_VARIABLE, AskedModel, ModelSettings
from peercorpus.release.by_model.annotator import Annotator

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
REVIEW = ("It lacks a study of wind.", "Kites were flown at noon and their strings were blue.")
"""A criticism by its words, and one whose kind no rule knows."""
REBUTTAL = (("Zephyrs matter little here.", 0), ("Strings are now red.", 1))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any]]:
    """The modules of the benchmark."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import pointing  # type: ignore[import-not-found, unused-ignore]
    import pointing_by_model  # type: ignore[import-not-found, unused-ignore]

    yield pointing, pointing_by_model
    for name in ("pointing", "pointing_by_model"):
        sys.modules.pop(name)


def labelled(pointing: Any) -> Any:
    """A pair of the counted half: both sentences of the review are criticised, and each has one answer."""
    review = [
        {
            "text": text,
            "suffix": "\n\n",
            "review_action": "arg_evaluative",
            "polarity": "pol_negative",
            "fine_review_action": "none",
            "aspect": "asp_clarity",
        }
        for text in REVIEW
    ]
    rebuttal = [
        {"text": text, "suffix": "\n\n", "alignment": ["context_sentences", [about]]} for text, about in REBUTTAL
    ]
    texts = ["".join(f"{one['text']}\n\n" for one in sentences) for sentences in (review, rebuttal)]
    names = (str(number) for number in range(99))
    pairs = (pointing.LabelledPair(name, *texts, review, rebuttal) for name in names)
    return next(pair for pair in pairs if pair.is_counted)


KINDS = "P1: weakness, clarity\nP2: weakness, clarity"
RULES = ["| rules | 1.000 | 0.500 | 0.667 | 0.667 |", "| rules | 0.500 | 1.000 | 0.500 | 0 | 0.000 |"]


@pytest.mark.parametrize(
    ("kinds", "answers", "printed"),
    [
        (
            KINDS,
            "P1: S1",
            [
                "kite-1 told 1 kinds, 2 aspects\nand the answers to 1 points; 0 questions had no usable answer.",
                "| rules and model | 1.000 | 1.000 | 1.000 | 1.000 |",
                "Answers that the model told: 1; right: 1.000.",
                "| rules and model | 1.000 | 1.000 | 1.000 | 2 | 1.000 |",
            ],
        ),
        (
            "P1: weakness, novelty\nP2: strength, none",
            "P1: S2",
            [
                "| rules and model | 0.500 | 0.500 | 0.500 | 0.500 |",
                "Answers that the model told: 1; right: 0.000.",
                "| rules and model | 0.500 | 1.000 | 0.500 | 1 | 0.000 |",
            ],
        ),
        (
            "I will not say.",
            "P1: S9",
            [
                "told 0 kinds, 0 aspects\nand the answers to 0 points; 2 questions had no usable answer.",
                "| rules and model | 1.000 | 0.500 | 0.667 | 0.667 |",
                "Answers that the model told: 0; right: 0.000.",
                "| rules and model | 0.500 | 1.000 | 0.500 | 0 | 0.000 |",
            ],
        ),
    ],
    ids=["right", "wrong", "nothing usable"],
)
def test_the_gain_over_the_rules_is_counted(
    measured: tuple[Any, Any],
    capsys: pytest.CaptureFixture[str],
    kinds: str,
    answers: str,
    printed: list[str],
) -> None:
    pointing, by_model = measured

    def tell(body: dict[str, Any]) -> Reply:
        is_of_answers = "which sentences answer" in body["messages"][0]["content"]
        return completion(answers if is_of_answers else kinds)

    with serving(rule=tell) as stand:
        settings = ModelSettings(stand.url, "kite-1", MODEL_KEY_VARIABLE, attempts=1)
        with closing(AskedModel.of(settings, None, "run", 9)) as model:
            annotator = Annotator(model)
            by_model.print_gain(by_model.ask_model([labelled(pointing)], annotator), annotator)
    said = capsys.readouterr().out
    assert [line for line in [*RULES, *printed] if line not in said] == []
