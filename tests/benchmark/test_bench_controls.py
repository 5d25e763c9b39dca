"""Controls: the same questions with the title and abstract, or the title alone, in place of the paper."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessage, Model

from asked_cases import acceptance as asked_acceptance
from commands import Run, assert_refused
from invented_bench import ACCEPT, ACCEPTED, REJECT, bench_paper, bench_release, meta_release, quiet, scripted
from model_endpoint import completion, serving
from peercorpus.benchmark.arms import READING
from peercorpus.benchmark.cases import CONTROLS, REST, BenchTask, CasePaper, PaperPart
from peercorpus.benchmark.leaderboard import Board, make_boards
from peercorpus.benchmark.leaderboard_render import lay_out
from peercorpus.benchmark.logs import read_runs
from peercorpus.benchmark.messages import TokenBudget, messages, shown_paper
from peercorpus.benchmark.run import TASKS, Bench, BenchResult, run_tasks
from peercorpus.errors import PeercorpusError
from peercorpus.records.enums import Grade

pytestmark = [pytest.mark.usefixtures("quietly"), pytest.mark.slow(40)]
PART = "part "
"""Precedes the paper's number in each invented title."""


def number_of(asked: Sequence[ChatMessage]) -> int:
    return int(asked[-1].text.partition(PART)[2].split()[0])


def is_right(number: int) -> str:
    return ACCEPT if f"p{number:02}" in ACCEPTED else REJECT


def is_wrong(number: int) -> str:
    return REJECT if f"p{number:02}" in ACCEPTED else ACCEPT


def knows_titles(asked: Sequence[ChatMessage]) -> str:
    """Reads only the title, and knows the decision on each paper."""
    return is_right(number_of(asked))


def reads(asked: Sequence[ChatMessage]) -> str:
    """Answers correctly for a paper whose text it sees, and wrongly for any other."""
    is_shown = "## Introduction" in asked[-1].text
    return (is_right if is_shown else is_wrong)(number_of(asked))


def reads_abstracts(asked: Sequence[ChatMessage]) -> str:
    """Answers correctly as soon as more than a title is shown."""
    is_title = len(asked[-1].text.split(REST)[0].split()) < 20 and REST in asked[-1].text
    return (is_wrong if is_title else is_right)(number_of(asked))


def ask(model: Model | str | None, release: Path, logs: Path, *tasks: BenchTask, **options: Any) -> BenchResult:
    tasks = tasks or (BenchTask.ACCEPTANCE,)
    return run_tasks(Bench(tasks, release, logs, model, options, controls=True, with_baselines=False))


def accuracies(board: Board) -> dict[str, float]:
    """Return the accuracy of each arm."""
    return {row.name.partition(", ")[2]: row.cells[0].value for row in board.rows if row.cells[0]}


def gains(board: Board) -> dict[str, float]:
    """Return by how much the accuracy with the paper is higher, by contrast."""
    cells = ((difference.contrast.title, difference.cells[0]) for difference in board.differences)
    return {title: cell[0].value for title, cell in cells if cell is not None}


TO_ABSTRACT, TO_TITLE = (READING[part].title for part in CONTROLS)


@pytest.mark.parametrize(
    ("rule", "by_part", "by_contrast"),
    [
        (knows_titles, (100, 100, 100), (0, 0)),
        (reads, (100, 0, 0), (100, 100)),
        (reads_abstracts, (100, 100, 0), (0, 100)),
    ],
    ids=["the title alone", "the paper", "the abstract"],
)
def test_differences_between_arms_show_what_a_model_uses(
    rule: Any, by_part: tuple[int, ...], by_contrast: tuple[int, int], bench_data: Path, tmp_path: Path
) -> None:
    assert ask(scripted(rule, "m"), bench_data, tmp_path).is_whole
    (board,) = make_boards(read_runs(tmp_path)).boards
    assert accuracies(board) == dict(zip(("the paper", "title and abstract", "title alone"), by_part, strict=True))
    assert gains(board) == dict(zip((TO_ABSTRACT, TO_TITLE), by_contrast, strict=True))


@pytest.fixture(scope="module")
def asked_once(bench_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the logs of a model that reads the paper, and of the baselines."""
    logs = tmp_path_factory.mktemp("logs")
    with quiet():
        tasks = [BenchTask.ACCEPTANCE]
        run_tasks(Bench(tasks, bench_data, logs, scripted(reads, "reader"), controls=True))
    return logs


def test_tables_name_arms_and_differences(asked_once: Path) -> None:
    boards = make_boards(read_runs(asked_once))
    text = lay_out(boards).to_markdown()
    assert f"## acceptance: {TO_ABSTRACT}" in text
    assert f"## acceptance: {TO_TITLE}" in text
    assert READING[PaperPart.TITLE].means in text
    assert "| mockllm/reader, title alone | ours |" in text
    assert "majority (baseline)" in text
    assert "majority, " not in text
    assert "Baselines have seen whole papers" in text
    assert f"accuracy, {TO_TITLE}, papers: all" in lay_out(boards).to_csv()


def test_a_log_is_for_its_own_arm(asked_once: Path, bench_data: Path) -> None:
    headers = [read_eval_log(str(path), header_only=True).eval for path in asked_once.glob("*.eval")]
    of_model = [(header.metadata or {}, header) for header in headers if not (header.metadata or {})["baseline"]]
    shown = {about["paper"]["part"]: header for about, header in of_model}
    assert set(shown) == {"paper", "abstract", "title"}
    assert "shown:" not in str(shown["paper"].task_version)
    assert "|shown:title|words:" in str(shown["title"].task_version)
    questions = Counter[str]()

    def count(asked: Sequence[ChatMessage]) -> str:
        questions["all"] += 1
        return reads(asked)

    assert ask(scripted(count, "reader"), bench_data, asked_once).is_whole
    assert not questions


def test_only_a_missing_arm_is_asked(bench_data: Path, tmp_path: Path) -> None:
    """A run without controls is the arm of the paper."""
    run_tasks(Bench([BenchTask.ACCEPTANCE], bench_data, tmp_path, scripted(reads, "late"), with_baselines=False))
    asked = list[str]()

    def note(question: Sequence[ChatMessage]) -> str:
        asked.append(question[-1].text)
        return reads(question)

    ask(scripted(note, "late"), bench_data, tmp_path)
    assert len(asked) == 2 * 8
    assert all(REST in text for text in asked)


WORDS = {
    kind: st.lists(st.text(letters, min_size=1, max_size=8), min_size=1)
    for kind, letters in {"title": "abcdefgh", "abstract": "ijklmnop", "body": "qrstuvwxyz"}.items()
}


@given(
    *(WORDS[kind].map(lambda words: [f"{word}9" for word in words]) for kind in ("title", "abstract", "body")),
    st.none() | st.integers(64, 100),
)
def test_a_control_never_shows_a_word_of_the_body(
    title: list[str], abstract: list[str], body: list[str], tokens: int | None
) -> None:
    paper = CasePaper("p", "v", "c", 2020, " ".join(title), "\n\n".join(abstract), Grade.EXACT, "\n\n".join(body))
    for part, hidden in ((PaperPart.TITLE, {*abstract, *body}), (PaperPart.ABSTRACT, {*body})):
        budget = TokenBudget(tokens, part=part)
        text = shown_paper(paper, budget, budget.counter()).text
        assert not hidden & set(text.split())
        assert title[0] in text
        assert text.endswith(REST)


@pytest.fixture(scope="module")
def with_meta_reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return meta_release(tmp_path_factory.mktemp("meta"))


@pytest.mark.parametrize("task", list(BenchTask))
def test_no_control_question_contains_the_text_of_its_paper(task: BenchTask, with_meta_reviews: Path) -> None:
    def questions(**options: str) -> dict[str, Sample]:
        return {str(sample.id): sample for sample in TASKS[task](str(with_meta_reviews), **options).dataset}

    whole = questions()
    for part in CONTROLS:
        asked = questions(shown=part.value)
        assert asked.keys() == whole.keys()
        for name, sample in asked.items():
            paper = bench_paper(int(name[1:3]))
            text = "\n".join(message.text for message in sample.input if not isinstance(message, str))
            assert paper["title"] in text
            assert (paper["abstract"] in text) is (part is PaperPart.ABSTRACT)
            assert "## Introduction" not in text
            assert not any(block in text for block in paper["markdown"].split("\n\n"))
            unlike = {"shown": None}
            assert (sample.metadata or {}) | unlike == (whole[name].metadata or {}) | unlike


def test_papers_without_an_abstract_are_asked_and_counted(tmp_path: Path) -> None:
    def paper(number: int) -> dict[str, Any]:
        return bench_paper(number) | ({"abstract": None} if number in {17, 20} else {})

    release = bench_release(tmp_path / "release", paper)
    ask(scripted(reads, "m"), release, tmp_path / "logs")
    (board,) = make_boards(read_runs(tmp_path / "logs")).boards
    assert board.arms == {"mockllm/m, title and abstract": "2 questions are about papers without abstract"}
    assert {row.n for row in board.rows} == {8}


def test_hiding_the_paper_changes_nothing_else() -> None:
    case = asked_acceptance()
    texts = [
        messages(case, shown_paper(case.paper, budget, budget.counter()).text)[-1].text
        for budget in (TokenBudget(), TokenBudget(part=PaperPart.ABSTRACT), TokenBudget(part=PaperPart.TITLE))
    ]
    assert texts[1] == texts[0].replace("We sort pebbles.", f"On pebbles.\n\n{REST}")
    assert texts[2] == texts[0].replace("We sort pebbles.", REST)


def test_an_adapter_has_no_controls(bench_data: Path, tmp_path: Path) -> None:
    options = {"adapter": "sea-e"}
    bench = Bench([BenchTask.REVIEW], bench_data, tmp_path / "logs", scripted(reads), options, controls=True)
    with pytest.raises(PeercorpusError, match="'sea-e' was trained on whole papers"):
        run_tasks(bench)
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"baseline": "majority"}, "Only a model with our own prompts"),
        ({"figures": True}, "A control shows no figures"),
        ({"shown": "body"}, "Invalid option of the benchmark"),
    ],
)
def test_a_task_refuses_what_no_control_has(options: dict[str, Any], sentence: str, bench_data: Path) -> None:
    with pytest.raises(PeercorpusError, match=sentence):
        TASKS[BenchTask.REBUTTAL](str(bench_data), **{"shown": "title", **options})


def test_controls_need_a_model(run: Run, bench_data: Path, tmp_path: Path) -> None:
    arguments = ("bench", "acceptance", "--release", bench_data, "--logs", tmp_path / "logs", "--controls")
    assert_refused(run(*arguments), "whole papers: name one with --model")
    assert not (tmp_path / "logs").exists()


def test_one_command_asks_all_arms(run: Run, bench_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(rule=lambda _: completion(ACCEPT)) as stand:
        monkeypatch.setenv("LOCAL_API_KEY", "none")
        monkeypatch.setenv("LOCAL_BASE_URL", stand.url)
        arguments = ("--release", bench_data, "--model", "openai-api/local/x", "--logs", tmp_path / "logs")
        more = ("--limit", 2, "--no-baselines")
        ended = run("bench", "acceptance", *arguments, "--controls", *more)
    assert ended.code == 0, ended.err
    questions = [str(body["messages"][-1]["content"]) for body in stand.bodies]
    assert len(questions) == 3 * 2
    assert sum(REST in question for question in questions) == 2 * 2
    assert f"## acceptance: {TO_TITLE}" in ended.out
    assert "openai-api/local/x, title and abstract" in ended.out
