"""The judge as a scorer, with scripted graders: what is retried, what stays unscored, and what each number states."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageUser, Model, get_model

from naming import Naming
from peercorpus.benchmark.judge.scorer import judge
from peercorpus.benchmark.outcomes import Scored, Verdict, read_record
from peercorpus.errors import PeercorpusError
from peercorpus.models import prompts
from scripted_judges import by_length, flat, judge_by, judge_saying, output, run_quietly, texts

FIVE = ("quality", "constructiveness", "accuracy", "completeness", "clarity")
GOLD = {"references": ["They fly well.", "It falls."], "title": "On kites", "abstract": "We fly."}
WRITTEN = {"p1/R1": "One two three.", "p1/R2": "One.", "p2/R1": "One two three four five six seven."}


def run(tmp_path: Path, grader: Model | None, answers: dict[str, str] | None = None, **more: Any) -> EvalLog:
    """Judge these answers, by sample."""
    metadata: dict[str, Any] = GOLD | more.pop("metadata", {})
    second = more.pop("second", None)
    answers = answers or {"p1": "A fine text."}
    samples = [
        Sample(input=[ChatMessageUser(content=text)], id=name, metadata=metadata) for name, text in answers.items()
    ]
    roles = {name: model for name, model in (("grader", grader), ("grader2", second)) if model is not None}
    task = Task(dataset=samples, scorer=judge(**more), name="judged")
    return run_quietly(task, echo(), tmp_path, model_roles=roles)


def echo() -> Model:
    """Return a model that echoes its question; '-' gets an empty answer."""

    def answer(messages: Any, *_: Any) -> Any:
        return output(messages[-1].text.replace("-", ""))

    return get_model("mockllm/echo", custom_outputs=answer, memoize=False)


def numbers(log: EvalLog) -> dict[str, float]:
    assert log.status == "success", log.error
    assert log.results
    return {name: one.value for name, one in log.results.scores[0].metrics.items()}


def score_of(log: EvalLog, sample: int = 0) -> Any:
    assert log.samples
    scores = log.samples[sample].scores
    assert scores
    return scores["judge"]


class TestAsking:
    @pytest.mark.slow
    def test_two_malformed_answers_are_followed_by_a_valid_one(self, tmp_path: Path) -> None:
        log = run(tmp_path, judge_saying("8 of 10", flat(11), flat(8)))
        score = score_of(log)
        assert score.value == dict.fromkeys(FIVE, 8)
        assert score.metadata["attempts"] == 3
        assert read_record(Scored.JUDGE, score.metadata) == Verdict(8, 8, 8, 8, 8)
        assert score.metadata["wrong"] == [Naming("JSON"), Naming("'quality'", "1 to 10")]
        assert numbers(log)["overall"] == 8

    @pytest.mark.slow
    def test_the_judge_is_told_what_was_wrong(self, tmp_path: Path) -> None:
        seen: list[Any] = []
        said = iter([flat(11), "", flat(8)])
        run(tmp_path, judge_by(lambda _: next(said), seen))
        first, second, third = ([(one.role, one.text) for one in messages] for messages, _ in seen)
        assert first == second[:2] == third[:2]
        assert second[2:] == [("assistant", flat(11)), ("user", second[3][1])]
        assert second[3][1] == Naming("'quality'", "1 to 10")
        assert third[-1][1] == Naming("empty", "JSON")
        assert all(config.temperature == 0 for _, config in seen)

    @pytest.mark.slow
    def test_only_malformed_answers_are_unscored(self, tmp_path: Path) -> None:
        log = run(tmp_path, judge_by(lambda _: '{"quality": "high"}'), attempts=2)
        score = score_of(log)
        assert score.value != score.value  # NaN, as `inspect_ai` marks missing scores
        assert (score.reason, score.metadata["attempts"]) == ("grader_failed", 2)
        assert score.explanation == "no_number: no number for 'quality'"
        assert log.results
        assert log.results.scores[0].unscored_samples == 1
        assert not [value for value in numbers(log).values() if value == value]

    @pytest.mark.slow
    def test_one_unreadable_answer_does_not_affect_the_others(self, tmp_path: Path) -> None:
        log = run(tmp_path, judge_saying(flat(4), "no", flat(9)), WRITTEN, attempts=1)
        assert (numbers(log)["overall"], numbers(log)["n"], numbers(log)["papers"]) == (6.5, 2, 2)
        assert log.results
        assert log.results.scores[0].unscored_samples == 1


class TestWhatIsJudged:
    @pytest.mark.slow
    def test_the_text_that_the_task_parsed_comes_first(self, tmp_path: Path) -> None:
        seen: list[Any] = []
        log = run(tmp_path, judge_by(lambda _: flat(5), seen), metadata={"read": {"text": "Read words."}})
        assert texts(seen[0][0][1].text) == {
            "PAPER": "On kites\n\nWe fly.",
            "HUMAN-1": "They fly well.",
            "HUMAN-2": "It falls.",
            "CANDIDATE": "Read words.",
        }
        assert score_of(log).metadata["words"] == 2

    @pytest.mark.slow
    def test_the_judge_sees_what_a_turn_replies_to(self, tmp_path: Path) -> None:
        seen: list[Any] = []
        run(tmp_path, judge_by(lambda _: flat(5), seen), {"p1/R1/2": "We fixed it."}, metadata={"task": "rebuttal"})
        assert texts(seen[0][0][1].text)["ANSWERED"] == "We fixed it."

    @pytest.mark.slow
    def test_an_unread_answer_is_not_judged(self, tmp_path: Path) -> None:
        log = run(tmp_path, judge_saying(), metadata={"read": {"unscored": "empty", "detail": "empty"}})
        assert score_of(log).reason == "empty"

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("answer", "metadata", "reason"), [("-", {}, "no_response"), ("Words.", {"references": [" "]}, "no_references")]
    )
    def test_an_empty_text_is_not_sent_to_the_judge(
        self, tmp_path: Path, answer: str, metadata: dict[str, Any], reason: str
    ) -> None:
        log = run(tmp_path, judge_saying(), {"p1": answer}, metadata=metadata)
        assert score_of(log).reason == reason

    @pytest.mark.slow
    def test_a_model_judges_itself_only_on_request(self, tmp_path: Path) -> None:
        log = run(tmp_path, None)
        assert log.status == "error"
        assert log.error
        assert "--model-role grader=" in log.error.message

    @pytest.mark.parametrize("wrong", [{"attempts": 0}, {"repeats": 0}])
    def test_the_judge_is_asked_at_least_once(self, wrong: dict[str, int]) -> None:
        with pytest.raises(PeercorpusError, match="1 or more"):
            judge(**wrong)


class TestNumbers:
    @pytest.mark.slow
    def test_means_equal_those_by_hand(self, tmp_path: Path) -> None:
        log = run(tmp_path, judge_saying(flat(2), flat(4), flat(9)), WRITTEN)
        found = numbers(log)
        assert (found["quality"], found["overall"], found["n"], found["papers"]) == (5, 5, 3, 2)
        # Two papers are too few: the interval is the whole scale.
        assert (found["overall_low"], found["overall_high"]) == (1, 10)

    @pytest.mark.slow
    def test_one_paper_has_no_interval(self, tmp_path: Path) -> None:
        found = numbers(run(tmp_path, judge_saying(flat(2))))
        assert "overall" in found
        assert "overall_low" not in found

    @pytest.mark.slow
    def test_a_preference_for_length_is_visible(self, tmp_path: Path) -> None:
        assert numbers(run(tmp_path, judge_by(by_length(2)), WRITTEN))["length_spearman"] == pytest.approx(1)

    @pytest.mark.slow
    def test_a_constant_judge_has_no_correlation_with_length(self, tmp_path: Path) -> None:
        assert "length_spearman" not in numbers(run(tmp_path, judge_by(lambda _: flat(5)), WRITTEN))

    @pytest.mark.slow
    def test_every_number_has_its_signature(self, tmp_path: Path) -> None:
        log = run(tmp_path, judge_by(by_length(2)), WRITTEN, repeats=2, second=judge_by(by_length(3)))
        assert log.results
        said = {one.params["signature"] for one in log.results.scores[0].metrics.values()}
        assert len(said) == 4
        assert all(f"prompt:{prompts.VERSION}-{prompts.DIGEST}|peercorpus:" in one for one in said)

    @pytest.mark.slow
    def test_the_log_records_the_judge_and_its_prompt(self, tmp_path: Path) -> None:
        metadata = score_of(run(tmp_path, judge_saying(flat(2)))).metadata
        assert metadata["grader"].startswith("mockllm/judge")
        assert (metadata["prompt_version"], metadata["prompt_digest"]) == (prompts.VERSION, prompts.DIGEST)


class TestBelieving:
    @pytest.mark.slow
    def test_repeats_have_separate_seeds_and_no_cache(self, tmp_path: Path) -> None:
        seen: list[Any] = []
        log = run(tmp_path, judge_by(lambda _: flat(7), seen), repeats=3)
        assert sorted(config.seed or 0 for _, config in seen) == [0, 1, 2]
        assert [config.cache for _, config in seen if config.seed] == [False, False]
        assert score_of(log).metadata["repeats"] == [dict.fromkeys(FIVE, 7)] * 3

    @pytest.mark.slow
    def test_agreement_of_repeats_equals_values_computed_by_hand(self, tmp_path: Path) -> None:
        answers = {"p1": "One.", "p2": "Two."}
        said: dict[str, list[str]] = {"One.": [flat(4), flat(6)], "Two.": [flat(8), flat(8)]}
        log = run(tmp_path, judge_by(lambda told: said[told["CANDIDATE"]].pop()), answers, repeats=2)
        found = numbers(log)
        assert (found["repeat_equal_overall"], found["repeat_difference_overall"]) == (0.5, 1)
        assert (found["repeat_answers"], found["repeat_unread"]) == (4, 0)

    @pytest.mark.slow
    def test_a_second_grader_is_compared(self, tmp_path: Path) -> None:
        log = run(tmp_path, judge_by(by_length(2)), WRITTEN, second=judge_by(lambda _: flat(1)))
        found = numbers(log)
        assert found["second_texts"] == 3
        assert found["second_difference_overall"] == pytest.approx(1 - found["overall"])
        assert "second_spearman_overall" not in found

    @pytest.mark.slow
    def test_a_second_grader_that_cannot_be_read_is_counted(self, tmp_path: Path) -> None:
        found = numbers(run(tmp_path, judge_by(lambda _: flat(5)), WRITTEN, second=judge_by(lambda _: "five")))
        assert (found["second_texts"], found["second_unread"], found["overall"]) == (0, 3, 5)
