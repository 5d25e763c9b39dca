"""A case as the messages that a model gets, and the right answer in the form asked for; fine-tuning says the same."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from peercorpus import prompts
from peercorpus.benchmark.answers import Decision, write_decision, write_review, write_scores
from peercorpus.benchmark.cases import AskedScore, BenchTask, Case, CasePaper, Said
from peercorpus.benchmark.cutting import Budget, Shown, shorten
from peercorpus.dialogues import Speaker, plain
from peercorpus.errors import PeercorpusError
from peercorpus.publish.dialogues import opening_text

SYSTEM = {
    BenchTask.ACCEPTANCE: prompts.ACCEPTANCE,
    BenchTask.SCORES: prompts.SCORES,
    BenchTask.REVIEW: prompts.REVIEW,
    BenchTask.REBUTTAL: prompts.REVIEWER,
}
"""What the model is told first."""


def shown_paper(paper: CasePaper, budget: Budget, count: Callable[[str], int]) -> Shown:
    """A paper's title and text as far as the budget goes."""
    return shorten(plain(opening_text(paper.title, paper.markdown) or ""), budget.tokens, count)


def _asked(scores: Sequence[AskedScore]) -> str:
    return "\n".join(f"- {plain(one.field)}: {one.low:g} to {one.high:g}" for one in scores)


def _opening(case: Case, text: str) -> str:
    parts = [prompts.SUBMITTED_TO.format(venue=case.paper.venue), text]
    if case.scores and case.task is not BenchTask.REBUTTAL:
        parts.append(prompts.ASKED_SCORES.format(fields=_asked(case.scores)))
    return "\n\n".join(parts)


def right_answer(case: Case) -> str:
    """What a model would have to say, in the form asked for; of several reviews the first, with the mean scores.

    Raises:
        PeercorpusError: The case has none: one that the model leads itself.
    """
    means = {one.field: one.mean for one in case.scores}
    if case.task is BenchTask.SCORES:
        return write_scores(means)
    if case.accepted is not None:
        return write_decision(Decision(case.accepted))
    if not case.references:
        raise PeercorpusError(f"The case '{case.case_id}' has no one right answer.")
    return write_review(case.references[0], means) if case.task is BenchTask.REVIEW else case.references[0]


def _example(case: Case) -> list[Said]:
    """Another paper, told by title and abstract, and the right answer."""
    paper = plain(opening_text(case.paper.title, case.paper.abstract) or "")
    question = f"{prompts.EXAMPLE}\n\n{_opening(case, paper)}"
    return [Said(Speaker.USER, question), Said(Speaker.ASSISTANT, right_answer(case))]


def messages(case: Case, text: str, examples: Sequence[Case] = ()) -> list[Said]:
    """What a model is told and asked: system, examples, the paper, and what was said since.

    Args:
        case: The question.
        text: The paper as it is shown.
        examples: Other papers with their right answers, of the same task.
    """
    told = [Said(Speaker.SYSTEM, SYSTEM[case.task])]
    told += [one for example in examples for one in _example(example)]
    told.append(Said(Speaker.USER, _opening(case, text)))
    for said in case.history:
        if said.speaker is told[-1].speaker:
            told[-1] = Said(said.speaker, f"{told[-1].text}\n\n{said.text}")
        else:
            told.append(said)
    return told


@dataclass(frozen=True, slots=True)
class Asking:
    """How cases are asked.

    Attributes:
        few_shot: Examples of the train side before each question.
    """

    budget: Budget = field(default_factory=Budget)
    few_shot: int = 0

    def check(self, task: BenchTask) -> None:
        """See that a task can be asked so.

        Raises:
            PeercorpusError: It takes no examples.
        """
        if self.few_shot and task is BenchTask.REBUTTAL:
            raise PeercorpusError("The task 'rebuttal' takes no examples: each case holds a conversation already.")


def example_pool(cases: Iterable[Case], few: int) -> list[Case]:
    """The first few cases of each venue, without the papers' texts, which examples do not tell."""
    pool, held = [], Counter[str]()
    for case in cases:
        held[case.paper.venue_id] += 1
        if held[case.paper.venue_id] <= few:
            pool.append(replace(case, paper=replace(case.paper, markdown="")))
    return pool


def choose_examples(case: Case, pool: Sequence[Case], few: int) -> Iterator[Case]:
    """Examples for a case: of its venue first, then of its conference, then any; in the order of the pool.

    Never the paper itself, which is in the pool where the train side is asked about.
    """

    def distance(one: Case) -> int:
        same = (one.paper.venue_id == case.paper.venue_id, one.paper.conference == case.paper.conference)
        return 0 if same[0] else 1 if same[1] else 2

    others = (one for one in pool if one.paper.forum_id != case.paper.forum_id)
    yield from sorted(others, key=distance)[:few]
