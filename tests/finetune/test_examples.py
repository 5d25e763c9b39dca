"""What is learnt: the benchmark's own prompts, then people's answers."""

from pathlib import Path

import pytest

from invented_bench import bench_release, meta_release
from invented_releases import a_release, review, score, talk, task_paper
from naming import by_name
from peercorpus.benchmark.cases import BenchTask, CaseCounts, CaseSelection, read_cases
from peercorpus.benchmark.messages import messages, right_answer
from peercorpus.finetune.examples import TrainingExample, TrainingTask
from peercorpus.finetune.selection import SelectionRule, prepare_selection
from peercorpus.models.chat_messages import Speaker
from peercorpus.release.folder import Release, open_release
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split

PAPER = "The paper as shown."
SCALE = {"low": 1.0, "high": 10.0}


def examples(release: Release, task: BenchTask, taken: CaseCounts | None = None) -> list[TrainingExample]:
    return list(prepare_selection(release, SelectionRule()).examples(task, Split.TRAIN, taken or CaseCounts()))


def of_papers(tmp_path: Path, task: BenchTask, *papers: Row) -> tuple[list[TrainingExample], CaseCounts]:
    taken = CaseCounts()
    return examples(open_release(a_release(tmp_path / "release", {"train": papers})), task, taken), taken


@pytest.mark.parametrize("task", BenchTask)
def test_training_prompts_are_those_of_the_benchmark(tmp_path: Path, task: BenchTask) -> None:
    release = open_release(meta_release(tmp_path))
    asked = {
        case.case_id: messages(case, PAPER)
        for case in read_cases(release, task, CaseSelection(Split.TRAIN), CaseCounts())
    }
    learnt = examples(release, task)
    assert len(asked) >= 12
    answered = set()
    for example in learnt:
        told = example.messages(PAPER)
        assert told[-1].speaker is Speaker.ASSISTANT
        for place, said in enumerate(told):
            if said.speaker is Speaker.ASSISTANT:
                answered |= {name for name, question in asked.items() if question == told[:place]}
    assert answered == set(asked)


def test_trained_decisions_and_scores_are_the_benchmarks_right_answers(tmp_path: Path) -> None:
    release = open_release(bench_release(tmp_path / "release"))
    for task in (BenchTask.ACCEPTANCE, BenchTask.SCORES):
        right = [right_answer(case) for case in read_cases(release, task, CaseSelection(Split.TRAIN), CaseCounts())]
        assert [example.messages(PAPER)[-1].text for example in examples(release, task)] == right


def test_each_review_is_trained_on_with_its_reviewers_own_initial_scores(tmp_path: Path) -> None:
    raised = [
        score("rating", "8", aspect="recommendation", value=8.0, **SCALE),
        score("rating", "3", aspect="recommendation", value=3.0, phase="initial", **SCALE),
        score("soundness", "good", value=3.0, low=1.0, high=4.0),
    ]
    other = [
        score("rating", "5", aspect="recommendation", value=5.0, low=1.0, high=6.0),
        score("soundness", "?", value=None, low=1.0, high=4.0),
    ]
    reviews = [review("a", scores=raised), review("b", scores=other, text="Words of b.")]
    learnt, _ = of_papers(tmp_path, BenchTask.REVIEW, task_paper("p", reviews=reviews))
    assert [example.example_id for example in learnt] == ["a", "b"]
    # For b nothing is known on the requested scale.
    assert [example.messages(PAPER)[-1].text for example in learnt] == [
        "## Summary\n\nWords of a.\n\nrating: 3\nsoundness: 3",
        "Words of b.",
    ]
    assert [(example.reviewer, example.record_ids) for example in learnt] == [
        ("Reviewer_a", ("a",)),
        ("Reviewer_b", ("b",)),
    ]


def test_empty_reviews_and_reviews_with_later_additions_are_not_trained_on(tmp_path: Path) -> None:
    reviews = [review("a"), review("b", text=" "), review("c", holds_update=True)]
    learnt, taken = of_papers(tmp_path, BenchTask.REVIEW, task_paper("p", reviews=reviews))
    assert [example.example_id for example in learnt] == ["a"]
    assert by_name(taken.left_out, "without text", "later additions") == {"without text": 1, "later additions": 1}


def test_reviews_posted_or_changed_after_the_decision_are_not_trained_on(tmp_path: Path) -> None:
    late = review("b", posted_after_decision=True, at_decision="posted_after")
    touched = review("c", at_decision="changed_unseen", may_be_later=True)
    learnt, taken = of_papers(tmp_path, BenchTask.REVIEW, task_paper("p", reviews=[review("a"), late, touched]))
    assert [example.example_id for example in learnt] == ["a"]
    assert by_name(taken.left_out, "posted after", "changed after") == {"posted after": 1, "changed after": 1}


def test_a_conversation_ends_with_the_reviewer_before_any_later_addition(tmp_path: Path) -> None:
    said = "Review.", "Answer.", "Doubt.", "More.", "UPDATE: fine.", "Thanks."
    later = talk("p", *said, holds_update=[False] * 4 + [True, False])
    learnt, _ = of_papers(tmp_path, BenchTask.REBUTTAL, task_paper("p", conversations=[later]))
    (example,) = learnt
    assert [one.text for one in example.case.history] == ["Review.", "Answer.", "Doubt."]
    assert example.record_ids == ("p-0", "p-1", "p-2")
    assert example.words == 1


def test_a_conversation_without_a_reply_to_the_authors_is_counted(tmp_path: Path) -> None:
    talks = [
        talk("p", "Review.", "Answer."),
        talk("p", "Review.", "Answer.", "Late.", holds_update=[True, False, False]),
    ]
    learnt, taken = of_papers(tmp_path, BenchTask.REBUTTAL, task_paper("p", conversations=talks))
    assert learnt == []
    assert by_name(taken.left_out, "conversations: ") == {"conversations: ": 2}


def test_mixed_contains_all_tasks() -> None:
    assert TrainingTask.MIXED.tasks == tuple(BenchTask)
    assert TrainingTask.REVIEW.tasks == (BenchTask.REVIEW,)


def test_turns_after_the_decision_are_counted(tmp_path: Path) -> None:
    talks = [talk("p", "Review.", "Answer.", "Doubt.", after_decision=2)]
    learnt, taken = of_papers(tmp_path, BenchTask.REBUTTAL, task_paper("p", conversations=talks))
    assert (len(learnt), taken.left_out) == (1, {"turns: posted after the decision": 2})
