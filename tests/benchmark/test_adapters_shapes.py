"""However a reviewing model writes its headings, and wherever its answer ends, everything present is read."""

import itertools
import json

import pytest

from asked_cases import RATING, SOUNDNESS, acceptance, reviewing, scoring
from peercorpus.benchmark.adapters.reviewer_models import load_adapter
from peercorpus.benchmark.answers import UnreadableAnswerError, read_decision, read_review_answer
from peercorpus.benchmark.cases import AskedScore

HEADINGS = {
    "two": "## {}",
    "three": "### {}",
    "one": "# {}",
    "bold": "**{}**",
    "bold with a colon": "**{}:**",
    "a colon behind bold": "**{}**:",
    "both": "## **{}**",
    "closed": "## {} ##",
}
VALUES = {"next line": "{heading}\n{value}", "blank line": "{heading}\n\n{value}", "same line": "{heading}: {value}"}
SHAPES = [
    pytest.param(heading, value, id=f"{name}, {place}")
    for (name, heading), (place, value) in itertools.product(HEADINGS.items(), VALUES.items())
    if not (place == "same line" and name in {"bold with a colon", "a colon behind bold"})
]
PARTS = {"Summary": "We sort pebbles.", "Strengths": "It works.", "Weaknesses": "Few.", "Questions": "Why?"}
NUMBERS = {"Soundness": "3 good", "Rating": "6"}
LAST = {"sea-e": "Paper Decision", "openreviewer": "Confidence", "deepreviewer-fast": "Decision"}


def written(heading: str, value: str, parts: dict[str, str]) -> str:
    return "\n\n".join(value.format(heading=heading.format(name), value=text) for name, text in parts.items())


def scores_of(name: str, text: str, *asked: AskedScore, **more: bool) -> dict[str, float]:
    scores: dict[str, float] = json.loads(load_adapter(name).read(scoring(*asked), text, **more))
    return scores


class TestHeadings:
    @pytest.mark.parametrize(("heading", "value"), SHAPES)
    @pytest.mark.parametrize("name", LAST)
    def test_a_review_is_read_in_every_shape(self, name: str, heading: str, value: str) -> None:
        ending = {LAST[name]: "4" if name == "openreviewer" else "Accept"}
        text = written(heading, value, PARTS | NUMBERS | ending)
        text = text if name != "deepreviewer-fast" else f"\\boxed_review{{\n{text}\n}}"
        assert scores_of(name, text, RATING, SOUNDNESS) == {"rating": 6, "soundness": 3}
        assert read_decision(load_adapter(name).read(acceptance(), text)).accept
        review = read_review_answer(load_adapter(name).read(reviewing(RATING), text), (RATING,))
        assert review.scores == {"rating": 6}
        assert all(words in review.text for words in PARTS.values())
        assert "Soundness" not in review.text

    @pytest.mark.parametrize(("heading", "value"), SHAPES)
    def test_simulated_reviewers_are_read_in_every_shape(self, heading: str, value: str) -> None:
        reviewers = [
            f"{heading.format(f'Reviewer {number}')}\n\n{written(heading, value, PARTS | {'Rating': str(number + 3)})}"
            for number in (1, 2)
        ]
        text = "\n\n".join(["\\boxed_simreviewers{", *reviewers, "}"])
        assert scores_of("deepreviewer", text, RATING) == {"rating": 4.5}

    @pytest.mark.parametrize(("heading", "value"), SHAPES)
    def test_cycle_reviewers_are_read_in_every_shape(self, heading: str, value: str) -> None:
        reviewers = [written(heading, value, PARTS | {"Rating": rating}) for rating in ("6", "5")]
        chair = written(heading, value, {"Meta Review": "Pebbles.", "Paper Decision": "Reject"})
        text = "\n\n**********\n\n".join([*reviewers, chair])
        assert scores_of("cyclereviewer", text, RATING) == {"rating": 5.5}
        assert not read_decision(load_adapter("cyclereviewer").read(acceptance(), text)).accept

    def test_a_heading_within_the_prose_is_part_of_it(self) -> None:
        parts = PARTS | {"Weaknesses": "Few.\n\n### Strengths\n\nNone of these."} | NUMBERS | {"Confidence": "4"}
        text = written("## {}", VALUES["next line"], parts)
        review = read_review_answer(load_adapter("openreviewer").read(reviewing(), text), ())
        assert "### Strengths\n\nNone of these." in review.text


class TestEnds:
    @pytest.mark.parametrize("name", ["sea-e", "openreviewer"])
    def test_an_answer_that_ends_after_the_rating_has_one(self, name: str) -> None:
        text = written("## {}", VALUES["next line"], PARTS | NUMBERS)
        assert scores_of(name, text, RATING) == {"rating": 6}
        # If the model was stopped, a number may be incomplete: 1 may be half of 10.
        with pytest.raises(UnreadableAnswerError, match="rating"):
            scores_of(name, text, RATING, is_complete=False)

    def test_a_rating_at_the_end_decides(self) -> None:
        text = written("## {}", VALUES["next line"], PARTS | NUMBERS)
        assert read_decision(load_adapter("openreviewer").read(acceptance(), text)).accept

    def test_reviewers_without_a_chair_have_a_mean(self) -> None:
        text = "\n\n**********\n\n".join(
            written("## {}", VALUES["next line"], PARTS | {"Rating": rating}) for rating in ("6", "5")
        )
        assert scores_of("cyclereviewer", text, RATING) == {"rating": 5.5}
        with pytest.raises(UnreadableAnswerError):
            scores_of("cyclereviewer", text, RATING, is_complete=False)

    @pytest.mark.parametrize("without", [0, 1, 2])
    def test_a_simulated_reviewer_without_a_rating_does_not_count(self, without: int) -> None:
        reviewers = []
        for number in range(3):
            rating = {} if number == without else {"Rating": str(number + 3)}
            reviewers.append(f"## Reviewer {number + 1}\n\n{written('### {}', VALUES['next line'], PARTS | rating)}")
        text = "\n\n".join(["\\boxed_simreviewers{", *reviewers, "}"])
        given = [number + 3 for number in range(3) if number != without]
        assert scores_of("deepreviewer", text, RATING) == {"rating": sum(given) / 2}
